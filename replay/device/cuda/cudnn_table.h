// cuDNN's graph functions as a table of addresses, and the numbers that they are told things by: declared by hand, as the driver's are. A
// test compares each with cuDNN's header.
#pragma once

#include <cstddef>
#include <cstdint>

#include "replay/device/cuda/driver.h"

namespace replay::cuda {

struct CudnnTable {
  Function<void**> create{"cudnnCreate"};
  Function<void*> destroy{"cudnnDestroy"};
  Function<void*, void*> set_stream{"cudnnSetStream"};
  Function<int, void**> make{"cudnnBackendCreateDescriptor"};
  Function<void*> drop{"cudnnBackendDestroyDescriptor"};
  Function<void*, int, int, int64_t, const void*> set{"cudnnBackendSetAttribute"};
  Function<void*, int, int, int64_t, int64_t*, void*> get{"cudnnBackendGetAttribute"};
  Function<void*> finalize{"cudnnBackendFinalize"};
  Function<void*, void*, void*> execute{"cudnnBackendExecute"};
  size_t (*version)() = nullptr;
  const char* (*name_of)(int) = nullptr;        ///< of an error
  void (*last_error)(char*, size_t) = nullptr;  ///< in words

  template <typename Visitor>
  void each(Visitor&& visit) {
    const auto all = [&](auto&... functions) { (visit(functions), ...); };
    all(create, destroy, set_stream, make, drop, set, get, finalize, execute);
  }
  /// "cudnnBackendFinalize: CUDNN_STATUS_NOT_SUPPORTED (3000), what the library says of it".
  template <typename... P, typename... A>
  base::Status call(const Function<P...>& function, A... args) const {
    const int code = function.address(args...);
    return code == 0 ? base::Status() : failure(function.symbol, code);
  }
  base::Error failure(const char* symbol, int code) const;
};

/// cudnnBackendDescriptorType_t, of what is made here.
enum class DescriptorKind : int {
  pointwise = 0,
  convolution = 1,
  engine = 2,
  configuration = 3,
  heuristics = 4,
  plan = 5,
  forward = 10,
  gradient_of_weights = 11,
  gradient_of_input = 12,
  pointwise_operation = 13,
  graph = 15,
  arguments = 16,
  tensor = 17,
  device = 38,
};
/// cudnnBackendAttributeType_t.
enum class ValueKind : int {
  handle = 0,
  type = 1,
  flag = 2,
  integer = 3,
  single = 4,
  real = 5,
  pointer = 6,
  convolution_mode = 7,
  heuristics_mode = 8,
  numerical_note = 11,
  pointwise_mode = 14,
  descriptor = 15,
  text = 24,
};
/// cudnnBackendAttributeName_t, of what is set or asked for.
enum class CudnnAttribute : int {
  pointwise_mode = 0,
  pointwise_sums = 1,
  relu_lower = 3,
  relu_upper = 4,
  relu_slope = 5,
  convolution_sums = 100,
  convolution_mode = 101,
  dilations = 102,
  strides = 103,
  pad_after = 104,
  pad_before = 105,
  places = 106,
  heuristics_mode = 200,
  heuristics_graph = 201,
  heuristics_results = 202,
  heuristics_device = 204,
  configuration_engine = 300,
  plan_handle = 400,
  plan_configuration = 401,
  plan_workspace = 402,
  plan_device = 407,
  forward_alpha = 700,
  forward_beta = 701,
  forward_convolution = 702,
  forward_w = 703,
  forward_x = 704,
  forward_y = 705,
  input_alpha = 706,
  input_beta = 707,
  input_convolution = 708,
  input_w = 709,
  input_dx = 710,
  input_dy = 711,
  weights_alpha = 712,
  weights_beta = 713,
  weights_convolution = 714,
  weights_dw = 715,
  weights_x = 716,
  weights_dy = 717,
  operation_pointwise = 750,
  operation_x = 751,
  operation_b = 752,
  operation_y = 753,
  operation_alpha1 = 754,
  operation_alpha2 = 755,
  graph_handle = 800,
  graph_operations = 801,
  tensor_alignment = 900,
  tensor_type = 901,
  tensor_dims = 902,
  tensor_strides = 903,
  tensor_id = 906,
  tensor_is_virtual = 907,
  argument_ids = 1000,
  argument_pointers = 1001,
  argument_workspace = 1003,
  engine_number = 1301,
  engine_notes = 1303,
  device_text = 2702,
};

}  // namespace replay::cuda
