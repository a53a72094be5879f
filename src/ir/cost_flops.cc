// Flops and transcendentals by opcode (service/hlo_cost_analysis.cc of XLA; a multiply-add is 2).
#include "src/ir/cost_flops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "src/ir/attr.h"

namespace ir {
namespace {

const Shape& operand(const Module& module, const Computation& comp, const Instr& instr, size_t i) {
  return module.shape(comp.instrs[static_cast<size_t>(instr.operands[i])]);
}

double count(const Shape& shape) {
  if (!shape.is_tuple()) return static_cast<double>(elements(shape));
  return shape.elements.empty() ? 0 : count(shape.elements[0]);
}

double size_at(const Shape& shape, int64_t dim) {
  return dim >= 0 && dim < shape.rank() ? static_cast<double>(std::max<int64_t>(0, shape.dims[static_cast<size_t>(dim)])) : 1;
}

double product_of(const Shape& shape, const std::vector<int64_t>& dims) {
  double product = 1;
  for (const int64_t dim : dims) product *= size_at(shape, dim);
  return product;
}

/// Pairs of kernel and output positions that meet an element of the input, along one spatial dimension.
double valid_positions(double input, double output, const WindowDim& w) {
  if (w.pad_low == 0 && w.pad_high == 0 && w.base_dilation == 1) return static_cast<double>(w.size) * output;
  constexpr int64_t kCounted = 1 << 16;  // beyond that a border is nothing
  if (w.size > kCounted || w.base_dilation > kCounted) return static_cast<double>(w.size) * output / static_cast<double>(w.base_dilation);
  double valid = 0;
  const auto in = static_cast<int64_t>(input), out = static_cast<int64_t>(output);
  for (int64_t k = 0; k < w.size; ++k) {  // output positions o with 0 ≤ o·stride + shift ≤ last and divisible by the dilation
    const double shift = static_cast<double>(k) * static_cast<double>(w.window_dilation) - static_cast<double>(w.pad_low);
    const double last = static_cast<double>(in - 1) * static_cast<double>(w.base_dilation);
    const auto stride = static_cast<double>(w.stride);
    const double first_o = std::max(0.0, std::ceil(-shift / stride)),
                 last_o = std::min(static_cast<double>(out - 1), std::floor((last - shift) / stride));
    if (in <= 0 || last_o < first_o) continue;
    if (w.base_dilation == 1) {
      valid += last_o - first_o + 1;
      continue;
    }
    const int64_t places = w.base_dilation / std::gcd(w.base_dilation, w.stride);
    const auto period = static_cast<double>(places);
    for (double o = first_o; o <= last_o && o < first_o + period; ++o) {
      if (std::fmod(o * stride + shift, static_cast<double>(w.base_dilation)) != 0) continue;
      valid += std::floor((last_o - o) / period) + 1;
      break;
    }
  }
  return valid;
}

/// All pairs, those in the padding too, as frameworks and libraries count: window times results. Where the input is dilated each of its
/// elements meets the window instead (a gradient does the work of the convolution that it is of).
double all_positions(double input, double output, const WindowDim& w) {
  return static_cast<double>(w.size) * (w.base_dilation > 1 ? input / static_cast<double>(w.stride) : output);
}

/// Which pairs of elements count as work.
enum class Count : uint8_t { valid, all };

/// The three arrays of a forward convolution.
struct Conv {
  const Shape &input, &kernel, &output;
};

double conv_flops(const Module& module, const Instr& instr, const Conv& conv, Count counted) {
  const auto labels = attr_conv_dims(module, instr);
  const auto window = attr_window(module, instr);
  if (!labels.ok() || !window.ok() || window->size() != labels->in_spatial.size()) return 0;
  const auto groups = static_cast<double>(std::max<int64_t>(1, attr_int(module, instr, "feature_group_count").value_or(1)));
  const auto batch_groups = static_cast<double>(std::max<int64_t>(1, attr_int(module, instr, "batch_group_count").value_or(1)));
  double flops = 2 * size_at(conv.input, labels->in_feature) / groups * size_at(conv.kernel, labels->kernel_out) *
                 size_at(conv.input, labels->in_batch) / batch_groups;
  const auto positions = counted == Count::all ? all_positions : valid_positions;
  for (size_t i = 0; i < window->size(); ++i) {
    flops *= positions(size_at(conv.input, labels->in_spatial[i]), size_at(conv.output, labels->out_spatial[i]), (*window)[i]);
  }
  return flops;
}

double window_size(const Module& module, const Instr& instr) {
  const auto window = attr_window(module, instr);
  double size = 1;
  if (window.ok()) {
    for (const WindowDim& dim : *window) size *= static_cast<double>(dim.size);
  }
  return size;
}

/// A cumulative sum written as a window over one whole dimension: linear, not quadratic.
std::optional<double> cumulative_runs(const Module& module, const Instr& instr, const Shape& out) {
  const auto window = attr_window(module, instr);
  if (!window.ok() || window->size() != out.dims.size()) return std::nullopt;
  std::optional<double> runs;
  for (size_t i = 0; i < window->size(); ++i) {
    const WindowDim& dim = (*window)[i];
    const bool trivial = dim.size == 1 && dim.pad_low == 0 && dim.pad_high == 0 && dim.stride == 1;
    if (trivial) continue;
    const int64_t length = out.dims[i], pad = std::max(dim.pad_low, dim.pad_high);
    const bool whole = pad == length - 1 && dim.size == 2 * pad + 1 && dim.stride == 1;
    if (!whole || runs || length <= 0) return std::nullopt;
    runs = count(out) / static_cast<double>(length) + static_cast<double>(length) - 1;
  }
  return runs;
}

double dot_flops(const Module& module, const Instr& instr, const Shape& lhs) {
  return 2 * count(module.shape(instr)) * product_of(lhs, attr_dot_dims(module, instr).lhs_contracting);
}

double fft_flops(const Module& module, const Instr& instr, const Shape& x) {
  double flops = 8 * count(x);
  for (const int64_t length : attr_dims(module, instr, "fft_length"))
    flops *= length > 0 ? static_cast<double>(std::bit_width(static_cast<uint64_t>(length)) - 1) : 0;
  return flops;
}

double log2_ceil(double n) { return n <= 1 ? 0 : std::ceil(std::log2(n)); }

double ragged_dot_flops(const Module& module, const Instr& instr, const Shape& lhs) {
  const Shape& out = module.shape(instr);
  double flops = 2 * product_of(lhs, attr_dot_dims(module, instr).lhs_contracting);
  for (int i = static_cast<int>(attr_dims(module, instr, "rhs_group_dims").size()); i < out.rank(); ++i) flops *= size_at(out, i);
  return flops;
}

}  // namespace

Work WorkRules::plain(const Module& module, const Computation& comp, const Instr& instr) {
  const Shape& out = module.shape(instr);
  if (info(instr.op).cls == OpClass::transcendental) return {0, count(out)};
  if (is_elementwise(instr.op) || instr.op == Op::bitcast_convert) return {count(out), 0};
  if (instr.op == Op::all_reduce || instr.op == Op::all_reduce_start) return {count(out), 0};
  if (instr.op == Op::rng || instr.op == Op::rng_bit_generator) return {0, count(out)};
  if (instr.operands.empty()) return {};
  const Shape& first = operand(module, comp, instr, 0);
  switch (instr.op) {
    case Op::dot:
    case Op::scaled_dot:
      return {dot_flops(module, instr, first), 0};
    case Op::ragged_dot:
      return {ragged_dot_flops(module, instr, first), 0};
    case Op::convolution:
      return {conv_flops(module, instr, {first, operand(module, comp, instr, 1), out}, Count::valid), 0};
    case Op::sort:
      return {count(first) * log2_ceil(count(first)), 0};
    case Op::fft:
      return {fft_flops(module, instr, first), 0};
    case Op::triangular_solve:
      return {2 * size_at(first, first.rank() - 1) * count(operand(module, comp, instr, 1)), 0};
    case Op::cholesky:
      return {std::floor(count(first) * size_at(first, first.rank() - 1) / 3), 0};
    default:
      return {};
  }
}

std::optional<double> WorkRules::runs_of_callee(const Module& module, const Computation& comp, const Instr& instr) {
  if (instr.operands.empty() || instr.calls.empty()) return std::nullopt;
  const Shape& out = module.shape(instr);
  const Shape& first = operand(module, comp, instr, 0);
  switch (instr.op) {
    case Op::map:
      return count(out);
    case Op::scan:  // XLA takes the elements of operand 1: of one array the carry, so that steps are not counted
      return instr.operands.size() < 2 ? 0 : count(operand(module, comp, instr, 1));
    case Op::reduce:
      return count(first) - count(out);
    case Op::reduce_window: {
      const Shape& array = out.is_tuple() ? out.elements.at(0) : out;
      return cumulative_runs(module, instr, array).value_or((window_size(module, instr) - 1) * count(array));
    }
    case Op::scatter:
      return count(operand(module, comp, instr, instr.operands.size() / 2 + 1));
    case Op::select_and_scatter:
      return (window_size(module, instr) - 1) * count(operand(module, comp, instr, 1));
    default:
      return std::nullopt;
  }
}

double WorkRules::scatters(const Module& module, const Computation& comp, const Instr& instr) {
  return count(operand(module, comp, instr, 1));
}

std::optional<double> product_flops(const Module& module, const Computation& comp, const Instr& instr) {
  const Shape& shape = module.shape(instr);
  const Shape& result = shape.is_tuple() && !shape.elements.empty() ? shape.elements[0] : shape;
  if (instr.operands.size() < 2) return std::nullopt;
  const Shape &a = operand(module, comp, instr, 0), &b = operand(module, comp, instr, 1);
  if (is_gemm_call(module, instr)) {
    const auto config = gemm_config(module, instr);
    if (!config.ok()) return std::nullopt;
    return 2 * count(result) * product_of(a, config->dims.lhs_contracting) + (config->beta != 0 ? count(result) : 0);
  }
  if (instr.op == Op::convolution) return conv_flops(module, instr, {a, b, result}, Count::all);
  const std::string target = attr_string(module, instr, "custom_call_target");
  if (!target.starts_with("__cudnn$conv") || !attr_text(module, instr, "dim_labels")) return std::nullopt;
  if (target == "__cudnn$convBackwardInput") return conv_flops(module, instr, {result, b, a}, Count::all);
  if (target == "__cudnn$convBackwardFilter") return conv_flops(module, instr, {a, result, b}, Count::all);
  return conv_flops(module, instr, {a, b, result}, Count::all);
}

}  // namespace ir
