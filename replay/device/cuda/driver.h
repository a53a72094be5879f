// The driver's functions as a table of addresses, declared by hand: numbers and addresses only, as its binary interface has been for
// years. A test compares each with CUDA's header; others fill the table with a driver that runs on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "replay/device/cuda/libraries.h"
#include "src/base/result.h"

namespace replay::cuda {

using Address = unsigned long long;  ///< CUdeviceptr

/// One function that returns 0 or the number of an error. Without one of its own the name in the header is that of an older version.
template <typename... P>
struct Function {
  const char* symbol;
  int (*address)(P...) = nullptr;
};

/// Looks up every function of a table that has each(). The name of the first that is not there; null: all are.
template <typename Table>
const char* fill(Table& table, void* library, const Opener& opener) {
  const char* missing = nullptr;
  table.each([&](auto& function) {
    function.address = reinterpret_cast<decltype(function.address)>(opener.find(library, function.symbol));
    if (function.address == nullptr && missing == nullptr) missing = function.symbol;
  });
  return missing;
}

/// Handles (contexts, streams, modules, functions, events, graphs) are addresses.
struct Driver {
  Function<unsigned> init{"cuInit"};
  Function<int*> version{"cuDriverGetVersion"};
  Function<int*> device_count{"cuDeviceGetCount"};
  Function<int*, int> device{"cuDeviceGet"};
  Function<char*, int, int> device_name{"cuDeviceGetName"};
  Function<int*, int, int> device_attribute{"cuDeviceGetAttribute"};
  Function<char*, int, int> pci_bus_id{"cuDeviceGetPCIBusId"};
  Function<size_t*, int> device_memory{"cuDeviceTotalMem_v2"};
  Function<void**, int> retain_context{"cuDevicePrimaryCtxRetain"};
  Function<int> release_context{"cuDevicePrimaryCtxRelease_v2"};
  Function<void*> set_context{"cuCtxSetCurrent"};
  Function<int, const char**> error_name{"cuGetErrorName"};
  Function<int, const char**> error_text{"cuGetErrorString"};
  Function<Address*, size_t> allocate{"cuMemAlloc_v2"};
  Function<Address> free{"cuMemFree_v2"};
  Function<size_t*, size_t*> memory{"cuMemGetInfo_v2"};
  Function<Address, const void*, size_t> to_device{"cuMemcpyHtoD_v2"};
  Function<void*, Address, size_t> to_host{"cuMemcpyDtoH_v2"};
  Function<Address, Address, size_t, void*> copy{"cuMemcpyDtoDAsync_v2"};
  Function<Address, unsigned char, size_t, void*> fill{"cuMemsetD8Async"};
  Function<void**, const void*> load_module{"cuModuleLoadData"};
  Function<void*> unload_module{"cuModuleUnload"};
  Function<void**, void*, const char*> find_function{"cuModuleGetFunction"};
  Function<int*, int, void*> function_attribute{"cuFuncGetAttribute"};
  Function<int*, void*, int, size_t> occupancy{"cuOccupancyMaxActiveBlocksPerMultiprocessor"};
  Function<void**, unsigned> create_stream{"cuStreamCreate"};
  Function<void*> destroy_stream{"cuStreamDestroy_v2"};
  Function<void*> wait{"cuStreamSynchronize"};
  Function<void*, int> begin_capture{"cuStreamBeginCapture_v2"};
  Function<void*, void**> end_capture{"cuStreamEndCapture"};
  Function<void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**> launch{"cuLaunchKernel"};
  Function<void**, unsigned> create_event{"cuEventCreate"};
  Function<void*> destroy_event{"cuEventDestroy_v2"};
  Function<void*, void*, unsigned> record_event{"cuEventRecordWithFlags"};
  Function<float*, void*, void*> elapsed_ms{"cuEventElapsedTime"};
  Function<void**, void*, unsigned long long> instantiate{"cuGraphInstantiateWithFlags"};
  Function<void*, void*> upload_graph{"cuGraphUpload"};
  Function<void*, void*> launch_graph{"cuGraphLaunch"};
  Function<void*> destroy_instance{"cuGraphExecDestroy"};
  Function<void*> destroy_graph{"cuGraphDestroy"};
  Function<void*, void**, size_t*> graph_nodes{"cuGraphGetNodes"};

  template <typename Visitor>
  void each(Visitor&& visit) {
    const auto all = [&](auto&... functions) { (visit(functions), ...); };
    all(init, version, device_count, device, device_name, device_attribute, pci_bus_id, device_memory, retain_context, release_context,
        set_context, error_name, error_text, allocate, free, memory, to_device, to_host, copy, fill);
    all(load_module, unload_module, find_function, function_attribute, occupancy, create_stream, destroy_stream, wait, begin_capture,
        end_capture, launch, create_event, destroy_event, record_event, elapsed_ms, instantiate, upload_graph, launch_graph,
        destroy_instance, destroy_graph, graph_nodes);
  }

  /// "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2), out of memory". After an error that stays nothing is called any more.
  template <typename... P, typename... A>
  base::Status call(const Function<P...>& function, A... args) const {
    if (*lost != 0) return failure(function.symbol, *lost);
    const int code = function.address(args...);
    return code == 0 ? base::Status() : failure(function.symbol, code);
  }
  /// Of what gives things back: called in any case.
  template <typename... P, typename... A>
  base::Status give_back(const Function<P...>& function, A... args) const {
    const int code = function.address(args...);
    return code == 0 ? base::Status() : failure(function.symbol, code);
  }
  /// Notes an error that stays.
  base::Error failure(const char* symbol, int code) const;

  /// The error that stays, of all copies of this table; 0: none.
  std::shared_ptr<int> lost = std::make_shared<int>(0);
};

/// The same, with what was being done before its message.
base::Status during(std::string_view what, base::Status status);

/// Errors after which a context is of no use: the process would have to begin anew.
std::span<const int> errors_that_stay();

/// Error, with exit status 6: no driver, or one without a function of the table.
base::Result<Driver> open_driver(const Opener& opener);

/// Attributes of devices and functions that are asked for, as cuda.h numbers them.
enum class DeviceAttribute : int {
  warp = 10,
  clock_khz = 13,
  multiprocessors = 16,
  memory_clock_khz = 36,
  bus_bits = 37,
  l2_bytes = 38,
  major = 75,
  minor = 76,
};
enum class FunctionAttribute : int { shared_bytes = 1, local_bytes = 3, registers = 4 };

inline constexpr unsigned kNonBlockingStream = 1;
inline constexpr unsigned kNodeOfGraph = 1;  ///< CU_EVENT_RECORD_EXTERNAL: a recording that each launch of the graph repeats
inline constexpr int kCaptureOfThread = 1;   ///< CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: what other threads do is no error

}  // namespace replay::cuda
