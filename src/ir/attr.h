// Typed views of attributes: parsed from their text when an op needs them. The parser itself knows no opcode.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/ir/module.h"

namespace ir {

/// Text of an attribute as written, or nothing. `key` without '='.
std::optional<std::string_view> attr_text(const Module& module, const Instr& instr, std::string_view key);
/// `{0,2}` or `3`; empty if absent.
std::vector<int64_t> attr_dims(const Module& module, const Instr& instr, std::string_view key);
std::optional<int64_t> attr_int(const Module& module, const Instr& instr, std::string_view key);
bool attr_true(const Module& module, const Instr& instr, std::string_view key);
/// The computation(s) given by `to_apply=`, `calls=`, `body=`, `branch_computations=`, …; empty if absent.
std::vector<CompId> attr_calls(const Module& module, const Instr& instr, std::string_view key);
/// A C-escaped string without quotes and escapes; other texts as they are. "" if absent.
std::string attr_string(const Module& module, const Instr& instr, std::string_view key);

struct WindowDim {
  int64_t size = 1, stride = 1, pad_low = 0, pad_high = 0, base_dilation = 1, window_dilation = 1;
  bool reversed = false;
};
base::Result<std::vector<WindowDim>> attr_window(const Module& module, const Instr& instr);

struct SliceDim {
  int64_t start = 0, limit = 0, stride = 1;
};
base::Result<std::vector<SliceDim>> attr_slice(const Module& module, const Instr& instr);

struct PadDim {
  int64_t low = 0, high = 0, interior = 0;
};
base::Result<std::vector<PadDim>> attr_padding(const Module& module, const Instr& instr);

/// Positions of batch, feature and spatial dimensions, from `b01f_01io->b01f`.
struct ConvDims {
  int64_t in_batch = 0, in_feature = 0, kernel_in = 0, kernel_out = 0, out_batch = 0, out_feature = 0;
  std::vector<int64_t> in_spatial, kernel_spatial, out_spatial;
  int64_t in_rank = 0, kernel_rank = 0, out_rank = 0;  ///< labels of each; one without a role is `?`
};
base::Result<ConvDims> attr_conv_dims(const Module& module, const Instr& instr);

struct DotDims {
  std::vector<int64_t> lhs_batch, lhs_contracting, rhs_batch, rhs_contracting;
};
/// Of a dot: its attributes.
DotDims attr_dot_dims(const Module& module, const Instr& instr);

/// A product as data: of a `dot`, or of a custom call `__cublas$gemm`, `__cublas$lt$matmul` (the flat and the nested form of
/// backend_config).
struct GemmConfig {
  double alpha = 1, beta = 0;  ///< D = epilogue(alpha·A·B + beta·C + bias)
  DotDims dims;
  std::string epilogue = "DEFAULT";
};
bool is_gemm_call(const Module& module, const Instr& instr);
base::Result<GemmConfig> gemm_config(const Module& module, const Instr& instr);

enum class Direction : uint8_t { EQ, NE, GE, GT, LE, LT };
/// Is `a` in this direction of `b`? A NaN is only NE.
template <typename T>
bool holds(Direction direction, T a, T b) {
  switch (direction) {
    case Direction::EQ:
      return a == b;
    case Direction::NE:
      return a != b;
    case Direction::GE:
      return a >= b;
    case Direction::GT:
      return a > b;
    case Direction::LE:
      return a <= b;
    case Direction::LT:
      return a < b;
  }
  return false;
}
struct Compare {
  Direction direction = Direction::EQ;
  bool total_order = false;
};
base::Result<Compare> attr_compare(const Module& module, const Instr& instr);

struct GatherDims {
  std::vector<int64_t> offset_dims, collapsed_slice_dims, start_index_map, slice_sizes, operand_batching_dims, start_indices_batching_dims;
  int64_t index_vector_dim = 0;
};
GatherDims attr_gather(const Module& module, const Instr& instr);

struct ScatterDims {
  std::vector<int64_t> update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims, input_batching_dims,
      scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
};
ScatterDims attr_scatter(const Module& module, const Instr& instr);

/// What a two-argument computation does, when it is one op on its parameters (either order): add, maximum, … Nothing for others.
std::optional<Op> simple_reducer(const Module& module, CompId comp);

/// `{ {0}: (1, {}, may-alias), … }` of input_output_alias (header) or `{{0}: (2, {})}` of output_to_operand_aliasing.
struct Alias {
  std::vector<int64_t> output;
  int64_t parameter = 0;
  std::vector<int64_t> input;
};
base::Result<std::vector<Alias>> parse_aliases(std::string_view text);

}  // namespace ir
