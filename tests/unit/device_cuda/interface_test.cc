// What is declared by hand, against CUDA's own headers and libraries, where they are installed.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "replay/device/cuda/cublas.h"
#include "replay/device/cuda/driver.h"
#include "replay/device/cuda/range_config.h"
#if __has_include(<cuda.h>) && __has_include(<cupti.h>) && __has_include(<cublasLt.h>)
#define HEADERS 1
#include <cublasLt.h>
#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

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
  EXPECT_EQ(names, 41);
}

#ifdef HEADERS

/// Passed the same way: numbers of one size and kind, addresses for addresses and handles.
template <typename Ours, typename Theirs>
constexpr bool kAlike = (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) ||
                        (!std::is_pointer_v<Ours> && !std::is_pointer_v<Theirs> && sizeof(Ours) == sizeof(Theirs));

template <typename... Ours, typename Status, typename... Theirs>
constexpr bool alike(const Function<Ours...>&, Status (*)(Theirs...)) {
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
  EXPECT_ALIKE(pci_bus_id, cuDeviceGetPCIBusId);
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
  EXPECT_ALIKE(graph_nodes, cuGraphGetNodes);
}

#define EXPECT_ALIKE_LT(member, function) EXPECT_TRUE(alike(lt.member, &::function)) << #function

TEST(CudaInterface, FunctionsOfCublasLtTakeWhatTheHeaderSays) {
  const CublasLt lt;
  EXPECT_ALIKE_LT(create, cublasLtCreate);
  EXPECT_ALIKE_LT(destroy, cublasLtDestroy);
  EXPECT_ALIKE_LT(make_product, cublasLtMatmulDescCreate);
  EXPECT_ALIKE_LT(drop_product, cublasLtMatmulDescDestroy);
  EXPECT_ALIKE_LT(set_product, cublasLtMatmulDescSetAttribute);
  EXPECT_ALIKE_LT(make_matrix, cublasLtMatrixLayoutCreate);
  EXPECT_ALIKE_LT(drop_matrix, cublasLtMatrixLayoutDestroy);
  EXPECT_ALIKE_LT(set_matrix, cublasLtMatrixLayoutSetAttribute);
  EXPECT_ALIKE_LT(make_preference, cublasLtMatmulPreferenceCreate);
  EXPECT_ALIKE_LT(drop_preference, cublasLtMatmulPreferenceDestroy);
  EXPECT_ALIKE_LT(set_preference, cublasLtMatmulPreferenceSetAttribute);
  EXPECT_ALIKE_LT(choose, cublasLtMatmulAlgoGetHeuristic);
  EXPECT_ALIKE_LT(ask_algorithm, cublasLtMatmulAlgoConfigGetAttribute);
  EXPECT_ALIKE_LT(multiply, cublasLtMatmul);
  EXPECT_EQ(sizeof(Algorithm), sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(offsetof(Algorithm, workspace_bytes), offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
  EXPECT_EQ(offsetof(Algorithm, state), offsetof(cublasLtMatmulHeuristicResult_t, state));
}

/// Made and set by the real library, which needs no GPU for that: an attribute of another size would be refused.
TEST(CudaInterface, AttributesOfCublasLtHaveTheSizesThatAreSet) {
  const Opened library = open_library(Library::cublas_lt, system_opener());
  if (library.handle == nullptr) GTEST_SKIP() << library.why;
  CublasLt lt;
  ASSERT_EQ(fill(lt, library.handle, system_opener()), nullptr);
  void *product = nullptr, *matrix = nullptr, *preference = nullptr;
  ASSERT_EQ(lt.make_product.address(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F), 0);
  ASSERT_EQ(lt.make_matrix.address(&matrix, CUDA_R_16F, 4, 4, 4), 0);
  ASSERT_EQ(lt.make_preference.address(&preference), 0);
  const auto set = [](const auto& function, void* which, auto attribute, size_t bytes) {
    const uint64_t zero = 0;
    return function.address(which, static_cast<int>(attribute), &zero, bytes);
  };
  using enum ProductAttribute;
  for (const auto which : {op_a, op_b, epilogue, bias_type})
    EXPECT_EQ(set(lt.set_product, product, which, 4), 0) << static_cast<int>(which);
  for (const auto which : {ProductAttribute::bias, aux, aux_ld, aux_batch_stride, a_scale, b_scale, d_scale})
    EXPECT_EQ(set(lt.set_product, product, which, 8), 0) << static_cast<int>(which);
  EXPECT_EQ(set(lt.set_matrix, matrix, MatrixAttribute::batch, 4), 0);
  EXPECT_EQ(set(lt.set_matrix, matrix, MatrixAttribute::batch_stride, 8), 0);
  EXPECT_EQ(set(lt.set_preference, preference, PreferenceAttribute::workspace_bytes, 8), 0);
  for (const auto which : {PreferenceAttribute::alignment_a, PreferenceAttribute::alignment_b, PreferenceAttribute::alignment_c,
                           PreferenceAttribute::alignment_d})
    EXPECT_EQ(set(lt.set_preference, preference, which, 4), 0) << static_cast<int>(which);
  EXPECT_EQ(lt.drop_preference.address(preference), 0);
  EXPECT_EQ(lt.drop_matrix.address(matrix), 0);
  EXPECT_EQ(lt.drop_product.address(product), 0);
}

TEST(CudaInterface, NumbersOfCublasLtAreTheHeaders) {
  EXPECT_EQ(static_cast<int>(CudaType::f32), CUDA_R_32F);
  EXPECT_EQ(static_cast<int>(CudaType::f64), CUDA_R_64F);
  EXPECT_EQ(static_cast<int>(CudaType::f16), CUDA_R_16F);
  EXPECT_EQ(static_cast<int>(CudaType::bf16), CUDA_R_16BF);
  EXPECT_EQ(static_cast<int>(CudaType::s8), CUDA_R_8I);
  EXPECT_EQ(static_cast<int>(CudaType::s32), CUDA_R_32I);
  EXPECT_EQ(static_cast<int>(CudaType::f8e4m3), CUDA_R_8F_E4M3);
  EXPECT_EQ(static_cast<int>(CudaType::f8e5m2), CUDA_R_8F_E5M2);
  EXPECT_EQ(static_cast<int>(ComputeType::f32), CUBLAS_COMPUTE_32F);
  EXPECT_EQ(static_cast<int>(ComputeType::f64), CUBLAS_COMPUTE_64F);
  EXPECT_EQ(static_cast<int>(ComputeType::s32), CUBLAS_COMPUTE_32I);
  EXPECT_EQ(static_cast<int>(ProductAttribute::op_a), CUBLASLT_MATMUL_DESC_TRANSA);
  EXPECT_EQ(static_cast<int>(ProductAttribute::op_b), CUBLASLT_MATMUL_DESC_TRANSB);
  EXPECT_EQ(static_cast<int>(ProductAttribute::epilogue), CUBLASLT_MATMUL_DESC_EPILOGUE);
  EXPECT_EQ(static_cast<int>(ProductAttribute::bias), CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  EXPECT_EQ(static_cast<int>(ProductAttribute::aux), CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
  EXPECT_EQ(static_cast<int>(ProductAttribute::aux_ld), CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
  EXPECT_EQ(static_cast<int>(ProductAttribute::aux_batch_stride), CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE);
  EXPECT_EQ(static_cast<int>(ProductAttribute::a_scale), CUBLASLT_MATMUL_DESC_A_SCALE_POINTER);
  EXPECT_EQ(static_cast<int>(ProductAttribute::b_scale), CUBLASLT_MATMUL_DESC_B_SCALE_POINTER);
  EXPECT_EQ(static_cast<int>(ProductAttribute::d_scale), CUBLASLT_MATMUL_DESC_D_SCALE_POINTER);
  EXPECT_EQ(static_cast<int>(ProductAttribute::bias_type), CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
  EXPECT_EQ(static_cast<int>(MatrixAttribute::batch), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  EXPECT_EQ(static_cast<int>(MatrixAttribute::batch_stride), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  EXPECT_EQ(static_cast<int>(PreferenceAttribute::workspace_bytes), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  EXPECT_EQ(static_cast<int>(PreferenceAttribute::alignment_a), CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
  EXPECT_EQ(static_cast<int>(PreferenceAttribute::alignment_d), CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
  EXPECT_EQ(static_cast<int>(AlgorithmAttribute::id), CUBLASLT_ALGO_CONFIG_ID);
  EXPECT_EQ(static_cast<int>(AlgorithmAttribute::tile), CUBLASLT_ALGO_CONFIG_TILE_ID);
  EXPECT_EQ(static_cast<int>(AlgorithmAttribute::split_k), CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  EXPECT_EQ(static_cast<int>(AlgorithmAttribute::stages), CUBLASLT_ALGO_CONFIG_STAGES_ID);
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

/// Sizes that the headers' macros give, and where fields lie.
#define EXPECT_SIZE(ours, theirs) EXPECT_EQ(range::ours().bytes, CUpti_##theirs##_Params_STRUCT_SIZE) << #theirs
#define EXPECT_PLACE(ours, field, theirs, its)                                                               \
  EXPECT_EQ(offsetof(range::ours, field), offsetof(CUpti_##theirs##_Params, its)) << #theirs << "." << #its; \
  EXPECT_EQ(sizeof(range::ours::field), sizeof(CUpti_##theirs##_Params::its)) << #theirs << "." << #its

// Table: one line a field.
TEST(CountersInterface, HostParametersAreLaidOutAsInTheHeaders) {
  EXPECT_SIZE(MakeHost, Profiler_Host_Initialize);
  EXPECT_PLACE(MakeHost, type, Profiler_Host_Initialize, profilerType);
  EXPECT_PLACE(MakeHost, chip, Profiler_Host_Initialize, pChipName);
  EXPECT_PLACE(MakeHost, availability, Profiler_Host_Initialize, pCounterAvailabilityImage);
  EXPECT_PLACE(MakeHost, host, Profiler_Host_Initialize, pHostObject);
  EXPECT_SIZE(DropHost, Profiler_Host_Deinitialize);
  EXPECT_PLACE(DropHost, host, Profiler_Host_Deinitialize, pHostObject);
  EXPECT_SIZE(AskMetric, Profiler_Host_GetMetricProperties);
  EXPECT_PLACE(AskMetric, host, Profiler_Host_GetMetricProperties, pHostObject);
  EXPECT_PLACE(AskMetric, metric, Profiler_Host_GetMetricProperties, pMetricName);
  EXPECT_PLACE(AskMetric, type, Profiler_Host_GetMetricProperties, metricType);
  EXPECT_SIZE(AddMetrics, Profiler_Host_ConfigAddMetrics);
  EXPECT_PLACE(AddMetrics, host, Profiler_Host_ConfigAddMetrics, pHostObject);
  EXPECT_PLACE(AddMetrics, metrics, Profiler_Host_ConfigAddMetrics, ppMetricNames);
  EXPECT_PLACE(AddMetrics, count, Profiler_Host_ConfigAddMetrics, numMetrics);
  EXPECT_SIZE(ConfigSize, Profiler_Host_GetConfigImageSize);
  EXPECT_PLACE(ConfigSize, host, Profiler_Host_GetConfigImageSize, pHostObject);
  EXPECT_PLACE(ConfigSize, config_bytes, Profiler_Host_GetConfigImageSize, configImageSize);
  EXPECT_SIZE(GetConfig, Profiler_Host_GetConfigImage);
  EXPECT_PLACE(GetConfig, host, Profiler_Host_GetConfigImage, pHostObject);
  EXPECT_PLACE(GetConfig, config_bytes, Profiler_Host_GetConfigImage, configImageSize);
  EXPECT_PLACE(GetConfig, config, Profiler_Host_GetConfigImage, pConfigImage);
  EXPECT_SIZE(CountPasses, Profiler_Host_GetNumOfPasses);
  EXPECT_PLACE(CountPasses, config_bytes, Profiler_Host_GetNumOfPasses, configImageSize);
  EXPECT_PLACE(CountPasses, config, Profiler_Host_GetNumOfPasses, pConfigImage);
  EXPECT_PLACE(CountPasses, passes, Profiler_Host_GetNumOfPasses, numOfPasses);
  EXPECT_SIZE(Evaluate, Profiler_Host_EvaluateToGpuValues);
  EXPECT_PLACE(Evaluate, host, Profiler_Host_EvaluateToGpuValues, pHostObject);
  EXPECT_PLACE(Evaluate, data, Profiler_Host_EvaluateToGpuValues, pCounterDataImage);
  EXPECT_PLACE(Evaluate, data_bytes, Profiler_Host_EvaluateToGpuValues, counterDataImageSize);
  EXPECT_PLACE(Evaluate, range, Profiler_Host_EvaluateToGpuValues, rangeIndex);
  EXPECT_PLACE(Evaluate, metrics, Profiler_Host_EvaluateToGpuValues, ppMetricNames);
  EXPECT_PLACE(Evaluate, count, Profiler_Host_EvaluateToGpuValues, numMetrics);
  EXPECT_PLACE(Evaluate, values, Profiler_Host_EvaluateToGpuValues, pMetricValues);
}

// Table: one line a field.
TEST(CountersInterface, GpuParametersAreLaidOutAsInTheHeaders) {
  EXPECT_SIZE(Initialize, Profiler_Initialize);
  EXPECT_SIZE(ChipName, Device_GetChipName);
  EXPECT_PLACE(ChipName, device, Device_GetChipName, deviceIndex);
  EXPECT_PLACE(ChipName, chip, Device_GetChipName, pChipName);
  EXPECT_SIZE(Enable, RangeProfiler_Enable);
  EXPECT_PLACE(Enable, context, RangeProfiler_Enable, ctx);
  EXPECT_PLACE(Enable, profiler, RangeProfiler_Enable, pRangeProfilerObject);
  EXPECT_SIZE(OfProfiler, RangeProfiler_Disable);
  EXPECT_PLACE(OfProfiler, profiler, RangeProfiler_Disable, pRangeProfilerObject);
  EXPECT_SIZE(OfProfiler, RangeProfiler_Start);
  EXPECT_PLACE(OfProfiler, profiler, RangeProfiler_Start, pRangeProfilerObject);
  EXPECT_SIZE(OfProfiler, RangeProfiler_PopRange);
  EXPECT_PLACE(OfProfiler, profiler, RangeProfiler_PopRange, pRangeProfilerObject);
  EXPECT_SIZE(DataSize, RangeProfiler_GetCounterDataSize);
  EXPECT_PLACE(DataSize, profiler, RangeProfiler_GetCounterDataSize, pRangeProfilerObject);
  EXPECT_PLACE(DataSize, metrics, RangeProfiler_GetCounterDataSize, pMetricNames);
  EXPECT_PLACE(DataSize, count, RangeProfiler_GetCounterDataSize, numMetrics);
  EXPECT_PLACE(DataSize, ranges, RangeProfiler_GetCounterDataSize, maxNumOfRanges);
  EXPECT_PLACE(DataSize, nodes, RangeProfiler_GetCounterDataSize, maxNumRangeTreeNodes);
  EXPECT_PLACE(DataSize, data_bytes, RangeProfiler_GetCounterDataSize, counterDataSize);
  EXPECT_SIZE(StartData, RangeProfiler_CounterDataImage_Initialize);
  EXPECT_PLACE(StartData, profiler, RangeProfiler_CounterDataImage_Initialize, pRangeProfilerObject);
  EXPECT_PLACE(StartData, data_bytes, RangeProfiler_CounterDataImage_Initialize, counterDataSize);
  EXPECT_PLACE(StartData, data, RangeProfiler_CounterDataImage_Initialize, pCounterData);
  EXPECT_SIZE(SetConfig, RangeProfiler_SetConfig);
  EXPECT_PLACE(SetConfig, profiler, RangeProfiler_SetConfig, pRangeProfilerObject);
  EXPECT_PLACE(SetConfig, config_bytes, RangeProfiler_SetConfig, configSize);
  EXPECT_PLACE(SetConfig, config, RangeProfiler_SetConfig, pConfig);
  EXPECT_PLACE(SetConfig, data_bytes, RangeProfiler_SetConfig, counterDataImageSize);
  EXPECT_PLACE(SetConfig, data, RangeProfiler_SetConfig, pCounterDataImage);
  EXPECT_PLACE(SetConfig, range, RangeProfiler_SetConfig, range);
  EXPECT_PLACE(SetConfig, replay, RangeProfiler_SetConfig, replayMode);
  EXPECT_PLACE(SetConfig, ranges, RangeProfiler_SetConfig, maxRangesPerPass);
  EXPECT_PLACE(SetConfig, levels, RangeProfiler_SetConfig, numNestingLevels);
  EXPECT_PLACE(SetConfig, first_level, RangeProfiler_SetConfig, minNestingLevel);
  EXPECT_PLACE(SetConfig, pass, RangeProfiler_SetConfig, passIndex);
  EXPECT_PLACE(SetConfig, target_level, RangeProfiler_SetConfig, targetNestingLevel);
  EXPECT_SIZE(Stop, RangeProfiler_Stop);
  EXPECT_PLACE(Stop, profiler, RangeProfiler_Stop, pRangeProfilerObject);
  EXPECT_PLACE(Stop, pass, RangeProfiler_Stop, passIndex);
  EXPECT_PLACE(Stop, level, RangeProfiler_Stop, targetNestingLevel);
  EXPECT_PLACE(Stop, all_passes, RangeProfiler_Stop, isAllPassSubmitted);
  EXPECT_SIZE(Push, RangeProfiler_PushRange);
  EXPECT_PLACE(Push, profiler, RangeProfiler_PushRange, pRangeProfilerObject);
  EXPECT_PLACE(Push, name, RangeProfiler_PushRange, pRangeName);
  EXPECT_SIZE(Decode, RangeProfiler_DecodeData);
  EXPECT_PLACE(Decode, profiler, RangeProfiler_DecodeData, pRangeProfilerObject);
  EXPECT_PLACE(Decode, dropped, RangeProfiler_DecodeData, numOfRangeDropped);
  EXPECT_SIZE(CountRanges, RangeProfiler_GetCounterDataInfo);
  EXPECT_PLACE(CountRanges, data, RangeProfiler_GetCounterDataInfo, pCounterDataImage);
  EXPECT_PLACE(CountRanges, data_bytes, RangeProfiler_GetCounterDataInfo, counterDataImageSize);
  EXPECT_PLACE(CountRanges, ranges, RangeProfiler_GetCounterDataInfo, numTotalRanges);
  EXPECT_SIZE(NameRange, RangeProfiler_CounterData_GetRangeInfo);
  EXPECT_PLACE(NameRange, data, RangeProfiler_CounterData_GetRangeInfo, pCounterDataImage);
  EXPECT_PLACE(NameRange, data_bytes, RangeProfiler_CounterData_GetRangeInfo, counterDataImageSize);
  EXPECT_PLACE(NameRange, range, RangeProfiler_CounterData_GetRangeInfo, rangeIndex);
  EXPECT_PLACE(NameRange, delimiter, RangeProfiler_CounterData_GetRangeInfo, rangeDelimiter);
  EXPECT_PLACE(NameRange, name, RangeProfiler_CounterData_GetRangeInfo, rangeName);
}

TEST(CountersInterface, EveryNameIsInTheLibrary) {
  const auto functions = RangeFunctions::open(system_opener());
  if (!functions.ok()) GTEST_SKIP() << functions.error().message;
  int names = 0;
  RangeFunctions(*functions).each([&](const auto&) { ++names; });
  EXPECT_EQ(names, 23);
  EXPECT_EQ(range::kRangeProfiler, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
  EXPECT_EQ(range::kUserRange, CUPTI_UserRange);
  EXPECT_EQ(range::kUserReplay, CUPTI_UserReplay);
}

#endif

}  // namespace
}  // namespace replay::cuda
