// What is declared by hand, against CUDA's own headers and libraries, where they are installed.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "replay/device/cuda/driver.h"
#if __has_include(<cuda.h>) && __has_include(<cupti.h>)
#define HEADERS 1
#include <cuda.h>
#include <cupti.h>

#include <cstddef>
#include <type_traits>
#endif

namespace replay::cuda {
namespace {

TEST(CudaInterface, EveryNameOfTheTableIsInTheDriversStub) {
  void* stub = dlopen("/usr/local/cuda/lib64/stubs/libcuda.so", RTLD_NOW | RTLD_LOCAL);
  if (stub == nullptr) GTEST_SKIP() << "no stub of the driver in /usr/local/cuda";
  int names = 0;
  Driver().each([&](const auto& function) {
    ++names;
    EXPECT_NE(dlsym(stub, function.symbol), nullptr) << function.symbol;
  });
  EXPECT_EQ(names, 39);
}

#ifdef HEADERS

/// Passed the same way: numbers of one size and kind, addresses for addresses and handles.
template <typename Ours, typename Theirs>
constexpr bool kAlike = (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) ||
                        (!std::is_pointer_v<Ours> && !std::is_pointer_v<Theirs> && sizeof(Ours) == sizeof(Theirs));

template <typename... Ours, typename... Theirs>
constexpr bool alike(const Function<Ours...>&, CUresult (*)(Theirs...)) {
  if constexpr (sizeof...(Ours) != sizeof...(Theirs))
    return false;
  else
    return (kAlike<Ours, Theirs> && ...);
}

#define EXPECT_ALIKE(member, function) EXPECT_TRUE(alike(driver.member, &::function)) << #function

TEST(CudaInterface, FunctionsTakeWhatTheHeaderSays) {
  const Driver driver;
  EXPECT_ALIKE(init, cuInit);
  EXPECT_ALIKE(version, cuDriverGetVersion);
  EXPECT_ALIKE(device_count, cuDeviceGetCount);
  EXPECT_ALIKE(device, cuDeviceGet);
  EXPECT_ALIKE(device_name, cuDeviceGetName);
  EXPECT_ALIKE(device_attribute, cuDeviceGetAttribute);
  EXPECT_ALIKE(device_memory, cuDeviceTotalMem_v2);
  EXPECT_ALIKE(retain_context, cuDevicePrimaryCtxRetain);
  EXPECT_ALIKE(release_context, cuDevicePrimaryCtxRelease_v2);
  EXPECT_ALIKE(set_context, cuCtxSetCurrent);
  EXPECT_ALIKE(error_name, cuGetErrorName);
  EXPECT_ALIKE(error_text, cuGetErrorString);
  EXPECT_ALIKE(allocate, cuMemAlloc_v2);
  EXPECT_ALIKE(free, cuMemFree_v2);
  EXPECT_ALIKE(memory, cuMemGetInfo_v2);
  EXPECT_ALIKE(to_device, cuMemcpyHtoD_v2);
  EXPECT_ALIKE(to_host, cuMemcpyDtoH_v2);
  EXPECT_ALIKE(copy, cuMemcpyDtoDAsync_v2);
  EXPECT_ALIKE(fill, cuMemsetD8Async);
  EXPECT_ALIKE(load_module, cuModuleLoadData);
  EXPECT_ALIKE(unload_module, cuModuleUnload);
  EXPECT_ALIKE(find_function, cuModuleGetFunction);
  EXPECT_ALIKE(function_attribute, cuFuncGetAttribute);
  EXPECT_ALIKE(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor);
  EXPECT_ALIKE(create_stream, cuStreamCreate);
  EXPECT_ALIKE(destroy_stream, cuStreamDestroy_v2);
  EXPECT_ALIKE(wait, cuStreamSynchronize);
  EXPECT_ALIKE(begin_capture, cuStreamBeginCapture_v2);
  EXPECT_ALIKE(end_capture, cuStreamEndCapture);
  EXPECT_ALIKE(launch, cuLaunchKernel);
  EXPECT_ALIKE(create_event, cuEventCreate);
  EXPECT_ALIKE(destroy_event, cuEventDestroy_v2);
  EXPECT_ALIKE(record_event, cuEventRecordWithFlags);
  EXPECT_ALIKE(elapsed_ms, cuEventElapsedTime);
  EXPECT_ALIKE(instantiate, cuGraphInstantiateWithFlags);
  EXPECT_ALIKE(upload_graph, cuGraphUpload);
  EXPECT_ALIKE(launch_graph, cuGraphLaunch);
  EXPECT_ALIKE(destroy_instance, cuGraphExecDestroy);
  EXPECT_ALIKE(destroy_graph, cuGraphDestroy);
}

TEST(CudaInterface, NumbersAreTheHeaders) {
  EXPECT_EQ(static_cast<int>(DeviceAttribute::major), CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(static_cast<int>(DeviceAttribute::minor), CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(static_cast<int>(DeviceAttribute::multiprocessors), CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(static_cast<int>(DeviceAttribute::l2_bytes), CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  EXPECT_EQ(static_cast<int>(DeviceAttribute::clock_khz), CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  EXPECT_EQ(static_cast<int>(DeviceAttribute::memory_clock_khz), CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  EXPECT_EQ(static_cast<int>(DeviceAttribute::bus_bits), CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  EXPECT_EQ(static_cast<int>(FunctionAttribute::registers), CU_FUNC_ATTRIBUTE_NUM_REGS);
  EXPECT_EQ(static_cast<int>(FunctionAttribute::shared_bytes), CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  EXPECT_EQ(static_cast<int>(FunctionAttribute::local_bytes), CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  EXPECT_EQ(kNonBlockingStream, CU_STREAM_NON_BLOCKING);
  EXPECT_EQ(kCaptureOfThread, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(kNodeOfGraph, CU_EVENT_RECORD_EXTERNAL);
}

/// activity.cc reads these places; CUDA 12.4's records are the beginnings of 13's.
TEST(CudaInterface, RecordsOfCuptiHaveTheirFieldsWhereTheyAreRead) {
  EXPECT_EQ(offsetof(CUpti_ActivityKernel9, start), 16u);
  EXPECT_EQ(offsetof(CUpti_ActivityKernel9, end), 24u);
  EXPECT_EQ(offsetof(CUpti_ActivityKernel9, correlationId), 92u);
  EXPECT_EQ(offsetof(CUpti_ActivityKernel9, graphNodeId), 144u);
  EXPECT_EQ(offsetof(CUpti_ActivityMemcpy5, start), 16u);
  EXPECT_EQ(offsetof(CUpti_ActivityMemcpy5, correlationId), 44u);
  EXPECT_EQ(offsetof(CUpti_ActivityMemcpy5, graphNodeId), 64u);
  EXPECT_EQ(offsetof(CUpti_ActivityMemset4, start), 16u);
  EXPECT_EQ(offsetof(CUpti_ActivityMemset4, correlationId), 44u);
  EXPECT_EQ(offsetof(CUpti_ActivityMemset4, graphNodeId), 64u);
  EXPECT_EQ(offsetof(CUpti_ActivityExternalCorrelation, externalKind), 4u);
  EXPECT_EQ(offsetof(CUpti_ActivityExternalCorrelation, externalId), 8u);
  EXPECT_EQ(offsetof(CUpti_ActivityExternalCorrelation, correlationId), 16u);
  EXPECT_EQ(offsetof(CUpti_ActivityOverhead2, overheadKind), 4u);
  EXPECT_EQ(offsetof(CUpti_ActivityOverhead2, start), 24u);
  EXPECT_EQ(offsetof(CUpti_ActivityOverhead2, end), 32u);
  EXPECT_EQ(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 3);
  EXPECT_EQ(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 10);
  EXPECT_EQ(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 39);
}

#endif

}  // namespace
}  // namespace replay::cuda
