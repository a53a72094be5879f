// Instructions as library ops: attributes read and checked, sizes and physical strides in their roles. One row a kind of instruction.
#include "replay/library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "replay/decompose_body.h"
#include "src/ir/attr.h"
#include "src/ir/print.h"

namespace replay {
namespace {

using base::Error;
using base::Result;

/// An instruction with what its builders ask for.
struct Call {
  const ir::Module& module;
  const ir::Instr& instr;
  ir::CompId comp;
  size_t operands() const { return instr.operands.size(); }
  const ir::Shape& shape() const { return module.shape(instr); }
  const ir::Shape& operand(size_t k) const { return module.shape(module.instr(comp, instr.operands[k])); }
  int64_t number(std::string_view key, int64_t otherwise) const { return ir::attr_int(module, instr, key).value_or(otherwise); }
};

int64_t at(const std::vector<int64_t>& values, int64_t index) { return values[static_cast<size_t>(index)]; }

bool dynamic(const ir::Shape& shape) {
  return std::ranges::any_of(shape.dims, [](int64_t d) { return d < 0; });
}

/// Types that all library functions of this kind know.
bool is_number(ir::Type type) { return type < ir::Type::token && type != ir::Type::f8e8m0fnu; }
bool has_field(ir::Type type) { return ir::is_float(type) ? is_number(type) : ir::is_complex(type); }

/// Sums of products of `a` and `b` can be stored as `d`.
bool multiplies(ir::Type a, ir::Type b, ir::Type d) {
  const auto whole = [](ir::Type type) { return ir::is_integer(type) || type == ir::Type::pred; };
  if ((ir::is_complex(a) || ir::is_complex(b)) && !ir::is_complex(d)) return false;
  return !whole(d) || (whole(a) && whole(b));
}

/// Operands and result of a forward pass.
struct ConvolutionShapes {
  const ir::Shape &x, &w, &y;
};

Result<Convolution> convolution_between(const Call& call, const ConvolutionShapes& shapes) {
  ASSIGN_OR_RETURN(const ir::ConvDims labels, ir::attr_conv_dims(call.module, call.instr));
  ASSIGN_OR_RETURN(std::vector<ir::WindowDim> window, ir::attr_window(call.module, call.instr));
  const auto& [x, w, y] = shapes;
  const size_t spatial = labels.in_spatial.size(), rank = spatial + 2;
  if (window.empty()) window.resize(spatial);
  if (window.size() != spatial || x.dims.size() != rank || w.dims.size() != rank || y.dims.size() != rank)
    return Error{"dim_labels, window and operands differ in rank"};
  if (!is_number(x.type) || !is_number(w.type) || !is_number(y.type)) return Error{"a type without a zero"};
  if (!multiplies(x.type, w.type, y.type)) return Error{"types that have no product"};
  const int64_t feature_groups = call.number("feature_group_count", 1), batch_groups = call.number("batch_group_count", 1);
  if (feature_groups < 1 || batch_groups < 1 || (feature_groups > 1 && batch_groups > 1)) return Error{"groups of both kinds"};
  const auto xs = ir::strides(x), ws = ir::strides(w), ys = ir::strides(y);
  Convolution out;
  out.groups = feature_groups * batch_groups;
  out.batch = at(y.dims, labels.out_batch);
  out.in_features = at(w.dims, labels.kernel_in);
  out.out_features = at(w.dims, labels.kernel_out) / out.groups;
  const bool fits = at(x.dims, labels.in_batch) == out.batch * batch_groups &&
                    at(x.dims, labels.in_feature) == out.in_features * feature_groups &&
                    at(y.dims, labels.out_feature) == out.out_features * out.groups;
  if (!fits) return Error{"group counts do not fit the operands"};
  out.x = {x.type, 0, at(xs, labels.in_batch), at(xs, labels.in_feature)};
  out.x.group = batch_groups > 1 ? out.batch * out.x.outer : out.in_features * out.x.inner;
  out.w = {w.type, 0, at(ws, labels.kernel_out), at(ws, labels.kernel_in)};
  out.w.group = out.out_features * out.w.outer;
  out.y = {y.type, 0, at(ys, labels.out_batch), at(ys, labels.out_feature)};
  out.y.group = out.out_features * out.y.inner;
  for (size_t s = 0; s < spatial; ++s) {
    const ir::WindowDim& d = window[s];
    out.dims.push_back({at(x.dims, labels.in_spatial[s]), d.size, at(y.dims, labels.out_spatial[s]), d.stride, d.pad_low, d.base_dilation,
                        d.window_dilation, d.reversed, at(xs, labels.in_spatial[s]), at(ws, labels.kernel_spatial[s]),
                        at(ys, labels.out_spatial[s])});
    if (at(w.dims, labels.kernel_spatial[s]) != d.size) return Error{"the window is not the kernel's size"};
  }
  return out;
}

Result<Convolution> convolution_of(const Call& call) {
  if (call.operands() != 2) return Error{"a convolution takes two operands"};
  return convolution_between(call, {call.operand(0), call.operand(1), call.shape()});
}

Result<Fft> fft_of(const Call& call) {
  static constexpr std::array<std::string_view, 4> kKinds = {"FFT", "IFFT", "RFFT", "IRFFT"};
  if (call.operands() != 1) return Error{"an fft takes one operand"};
  const auto kind = std::ranges::find(kKinds, ir::attr_text(call.module, call.instr, "fft_type").value_or("FFT"));
  if (kind == kKinds.end()) return Error{"fft_type is none of FFT, IFFT, RFFT, IRFFT"};
  Fft out{static_cast<Fft::Kind>(kind - kKinds.begin()), ir::attr_dims(call.module, call.instr, "fft_length"), call.operand(0),
          call.shape()};
  const size_t rank = out.from.dims.size(), count = out.lengths.size();
  if (count == 0 || count > rank || out.to.dims.size() != rank) return Error{"fft_length does not fit the operand"};
  for (size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    const int64_t n = out.lengths[i], to = out.to.dims[rank - count + i];
    if (n < 1 || n > int64_t{1} << 40) return Error{"fft_length is out of range"};
    const int64_t from = out.from.dims[rank - count + i];
    if (to != (last && out.kind == Fft::Kind::rfft ? n / 2 + 1 : n)) return Error{"the result's sizes are not fft_length"};
    if (from != (last && out.kind == Fft::Kind::irfft ? n / 2 + 1 : n)) return Error{"the operand's sizes are not fft_length"};
  }
  const bool real_from = out.kind == Fft::Kind::rfft, real_to = out.kind == Fft::Kind::irfft;
  const bool types = (real_from ? out.from.type == ir::Type::f32 || out.from.type == ir::Type::f64 : ir::is_complex(out.from.type)) &&
                     (real_to ? out.to.type == ir::Type::f32 || out.to.type == ir::Type::f64 : ir::is_complex(out.to.type));
  if (!types) return Error{fmt::format("no fft from {} to {}", ir::text(out.from.type), ir::text(out.to.type))};
  return out;
}

bool are_matrices(const ir::Shape& shape) { return shape.dims.size() >= 2 && has_field(shape.type); }
bool is_square(const ir::Shape& shape) { return shape.dims.back() == shape.dims[shape.dims.size() - 2]; }

Result<Cholesky> cholesky_of(const Call& call) {
  if (call.operands() != 1 || !are_matrices(call.operand(0)) || !is_square(call.operand(0)) ||
      !ir::same_dims(call.operand(0), call.shape())) {
    return Error{"cholesky takes square matrices of floats"};
  }
  return Cholesky{call.operand(0), call.shape(), ir::attr_true(call.module, call.instr, "lower")};
}

Result<TriangularSolve> triangular_solve_of(const Call& call) {
  if (call.operands() != 2) return Error{"triangular-solve takes two operands"};
  TriangularSolve out{call.operand(0), call.operand(1), call.shape()};
  const auto flag = [&](std::string_view key) { return ir::attr_true(call.module, call.instr, key); };
  out.left = flag("left_side"), out.lower = flag("lower"), out.unit_diagonal = flag("unit_diagonal");
  const auto how = ir::attr_text(call.module, call.instr, "transpose_a").value_or("NO_TRANSPOSE");
  out.transposed = how == "TRANSPOSE" || how == "ADJOINT", out.conjugated = how == "ADJOINT";
  if (!are_matrices(out.a) || !is_square(out.a) || out.b.type != out.a.type || out.b.dims.size() != out.a.dims.size() ||
      !ir::same_dims(out.b, out.to)) {
    return Error{"triangular-solve takes square matrices and right sides of one floating type"};
  }
  const size_t rank = out.a.dims.size();
  const bool batches = std::equal(out.a.dims.begin(), out.a.dims.end() - 2, out.b.dims.begin());
  if (!batches || out.b.dims[out.left ? rank - 2 : rank - 1] != out.a.dims.back()) return Error{"triangular-solve: sizes do not fit"};
  return out;
}

using Shared = std::shared_ptr<const LibraryOp>;

/// Operand and two results: topk, and the custom calls of that name.
Result<TopK> top_k_of(const Call& call) {
  if (call.operands() != 1 || call.shape().elements.size() != 2) return Error{"topk has one operand and two results"};
  TopK out{call.operand(0), call.shape().elements[0], call.shape().elements[1]};
  out.largest = ir::attr_text(call.module, call.instr, "largest").value_or("true") == "true";
  const bool lines = !out.from.dims.empty() && ir::same_dims(out.values, ir::array_shape(out.from.type, out.values.dims)) &&
                     out.values.dims == out.places.dims && out.values.dims.size() == out.from.dims.size() &&
                     std::equal(out.from.dims.begin(), out.from.dims.end() - 1, out.values.dims.begin()) &&
                     out.values.dims.back() <= out.from.dims.back();
  if (!lines || out.places.type != ir::Type::s32 || ir::is_complex(out.from.type)) return Error{"topk: results do not fit the operand"};
  return out;
}

/// cuDNN's plain calls: (operands) → (result, workspace), dim_labels and window of the forward pass. Those with a bias, an activation or
/// a scale are not plain.
template <Gradient gradient>
Result<Convolution> cudnn_of(const Call& call) {
  const nlohmann::json config = apart::flat_config(call.module, call.instr, "cudnn_conv_backend_config");
  if (apart::number_in(config, "convresultscale", 1) != 1) return Error{"a scaled convolution"};
  if (call.operands() != 2) return Error{"more than two operands"};
  const ir::Shape& result = call.shape().is_tuple() ? call.shape().elements.at(0) : call.shape();
  const ir::Shape &a = call.operand(0), &b = call.operand(1);
  const ConvolutionShapes shapes = gradient == Gradient::none    ? ConvolutionShapes{a, b, result}
                                   : gradient == Gradient::input ? ConvolutionShapes{result, b, a}
                                                                 : ConvolutionShapes{a, result, b};
  ASSIGN_OR_RETURN(Convolution forward, convolution_between(call, shapes));
  forward.gradient = gradient;
  const bool plain = std::ranges::all_of(forward.dims, [](const Convolution::Dim& d) { return d.base_dilation == 1 && !d.reversed; });
  if (gradient == Gradient::weights && !plain) return Error{"the gradient of turned weights"};
  if (gradient == Gradient::none) return forward;
  return gradient == Gradient::input ? gradient_of_input(forward) : gradient_of_weights(forward);
}

/// A fusion that is cuDNN's call with a bias (decompose.h): x, w, the bias, a side input that lies as the result does.
Result<Convolution> biased_convolution_of(const Call& call) {
  if (call.operands() < 3) return Error{"a biased convolution without a bias"};
  const ir::Shape& result = call.shape().is_tuple() ? call.shape().elements.at(0) : call.shape();
  ASSIGN_OR_RETURN(Convolution made, convolution_between(call, {call.operand(0), call.operand(1), result}));
  const nlohmann::json config = apart::flat_config(call.module, call.instr, "cudnn_conv_backend_config");
  const std::string mode = apart::word_in(config, "activationmode");
  const auto is = [&](std::string_view name, std::string_view number) { return mode == name || mode == number; };
  ConvolutionEpilogue& after = made.after;
  made.gradient = Gradient::none;
  after.scale = apart::number_in(config, "convresultscale", 1);
  after.bias = call.operand(2).type;
  after.side = call.operands() > 3;
  if (after.side) after.side_scale = apart::number_in(config, "sideinputscale", 1);
  if (after.side && (call.operand(3).type != result.type || !ir::same_physical(call.operand(3), result)))
    return Error{"a side input that does not lie as the result does"};
  after.activates = is("krelu", "2") || is("krelu6", "3") || is("kleakyrelu", "8");
  if (!after.activates && !is("knone", "0")) return Error{"another activation"};
  if (is("krelu6", "3")) after.upper = 6;
  if (is("kleakyrelu", "8")) after.slope = apart::number_in(config, "leakyrelualpha", 0);
  return made;
}

template <auto Make>
Result<Shared> row(const Call& call) {
  ASSIGN_OR_RETURN(auto op, Make(call));
  return std::make_shared<const LibraryOp>(std::move(op));
}

struct LibraryRow {
  ir::Op op;
  Result<Shared> (*make)(const Call&);
};
constexpr LibraryRow kLibraryRows[] = {
    {ir::Op::convolution, row<convolution_of>},           {ir::Op::fft, row<fft_of>},    {ir::Op::cholesky, row<cholesky_of>},
    {ir::Op::triangular_solve, row<triangular_solve_of>}, {ir::Op::topk, row<top_k_of>},
};

struct TargetRow {
  std::string_view target;
  Result<Shared> (*make)(const Call&);
};
constexpr TargetRow kTargets[] = {
    {"TopK", row<top_k_of>},
    {"__gpu$TopK", row<top_k_of>},
    {"__cudnn$convForward", row<cudnn_of<Gradient::none>>},
    {"__cudnn$convBackwardInput", row<cudnn_of<Gradient::input>>},
    {"__cudnn$convBackwardFilter", row<cudnn_of<Gradient::weights>>},
};

struct Names {
  std::string operator()(const Convolution& c) const {
    std::string out = fmt::format("convolution_{}_{}x{}x{}x{}", ir::text(c.x.type), c.groups, c.batch, c.in_features, c.out_features);
    for (const Convolution::Dim& d : c.dims) out += fmt::format("_{}w{}", d.in, d.window);
    return out;
  }
  std::string operator()(const Fft& f) const {
    static constexpr std::string_view kNames[] = {"fft", "ifft", "rfft", "irfft"};
    return fmt::format("{}_{}_{}", kNames[static_cast<size_t>(f.kind)], ir::text(f.from.type), fmt::join(f.lengths, "x"));
  }
  std::string operator()(const Cholesky& c) const {
    return fmt::format("cholesky_{}_{}", ir::text(c.from.type), fmt::join(c.from.dims, "x"));
  }
  std::string operator()(const TriangularSolve& t) const {
    return fmt::format("triangular_solve_{}_{}", ir::text(t.a.type), fmt::join(t.b.dims, "x"));
  }
  std::string operator()(const TopK& t) const {
    return fmt::format("topk_{}_{}_{}", ir::text(t.from.type), fmt::join(t.from.dims, "x"), t.values.dims.back());
  }
  std::string operator()(const Permute& p) const {
    std::string out = fmt::format("permute_{}", p.element_bytes);
    for (const Permute::Dim& d : p.dims) out += fmt::format("_{}", d.size);
    return out;
  }
};

struct Texts {
  std::string operator()(const Convolution& c) const {
    static constexpr std::string_view kCalled[] = {"", " as the gradient of its input", " as the gradient of its weights"};
    std::string out =
        fmt::format("convolution{}: {} groups, batch {}, features {} to {}\n",
                    kCalled[static_cast<size_t>(c.gradient.value_or(Gradient::none))], c.groups, c.batch, c.in_features, c.out_features);
    const auto operand = [&](const char* name, const Convolution::Operand& o) {
      out += fmt::format("{}: {}, strides {} {} {}\n", name, ir::text(o.type), o.group, o.outer, o.inner);
    };
    operand("X", c.x), operand("W", c.w), operand("Y", c.y);
    for (const Convolution::Dim& d : c.dims) {
      out += fmt::format("{} → {}, window {} stride {} pad {} dilation {} {}{}, strides {} {} {}\n", d.in, d.out, d.window, d.stride,
                         d.pad_low, d.base_dilation, d.window_dilation, d.reversed ? " reversed" : "", d.x, d.w, d.y);
    }
    const ConvolutionEpilogue& after = c.after;
    if (after.scale != 1) out += fmt::format("times {}\n", after.scale);
    if (after.bias) out += fmt::format("and a bias of {}\n", ir::text(*after.bias));
    if (after.side) out += fmt::format("and {} of a side input\n", after.side_scale);
    if (after.activates) out += fmt::format("below 0 times {}, at most {}\n", after.slope, after.upper);
    return out;
  }
  std::string operator()(const Fft& f) const { return fmt::format("{}\n{} → {}\n", Names{}(f), ir::print(f.from), ir::print(f.to)); }
  std::string operator()(const Cholesky& c) const {
    return fmt::format("cholesky {}: {} → {}\n", c.lower ? "lower" : "upper", ir::print(c.from), ir::print(c.to));
  }
  std::string operator()(const TriangularSolve& t) const {
    return fmt::format("triangular solve {} {}{}{}{}: {}, {} → {}\n", t.left ? "left" : "right", t.lower ? "lower" : "upper",
                       t.unit_diagonal ? " unit" : "", t.transposed ? " transposed" : "", t.conjugated ? " conjugated" : "", ir::print(t.a),
                       ir::print(t.b), ir::print(t.to));
  }
  std::string operator()(const TopK& t) const {
    return fmt::format("topk {}: {} → {}, {}\n", t.largest ? "largest" : "smallest", ir::print(t.from), ir::print(t.values),
                       ir::print(t.places));
  }
  std::string operator()(const Permute& p) const {
    std::string out = fmt::format("permute elements of {} bytes from {}\n", p.element_bytes, p.from_offset);
    for (const Permute::Dim& d : p.dims) out += fmt::format("{}: {} → {}\n", d.size, d.from, d.to);
    return out;
  }
};

}  // namespace

double Convolution::flops() const {
  double out = 2.0 * static_cast<double>(groups * batch) * static_cast<double>(in_features * out_features);
  for (const Dim& d : dims) out *= static_cast<double>(d.window) * static_cast<double>(d.out);
  return out;
}

Convolution gradient_of_input(const Convolution& c) {
  Convolution out = c;
  out.in_features = c.out_features, out.out_features = c.in_features;
  out.x = c.y, out.y = c.x;
  std::swap(out.w.outer, out.w.inner);
  for (Convolution::Dim& d : out.dims) {
    d = {d.out, d.window, d.in, d.base_dilation, (d.window - 1) * d.window_dilation - d.pad_low, d.stride, d.window_dilation, !d.reversed,
         d.y,   d.w,      d.x};
  }
  return out;
}

Convolution gradient_of_weights(const Convolution& c) {
  Convolution out = c;
  out.batch = c.in_features, out.in_features = c.batch;
  std::swap(out.x.outer, out.x.inner);
  out.w = {c.y.type, c.y.group, c.y.inner, c.y.outer};
  out.y = {c.w.type, c.w.group, c.w.inner, c.w.outer};
  for (Convolution::Dim& d : out.dims) d = {d.in, d.out, d.window, d.window_dilation, d.pad_low, 1, d.stride, false, d.x, d.y, d.w};
  return out;
}

std::string name_of(const LibraryOp& op) { return std::visit(Names{}, op); }
std::string text_of(const LibraryOp& op) { return std::visit(Texts{}, op); }

Permute permute_between(const ir::Shape& from, const ir::Shape& to) {
  Permute out;
  out.element_bytes = ir::bytes(from.type);
  const auto from_strides = ir::strides(from), to_strides = ir::strides(to);
  for (size_t d = 0; d < from.dims.size(); ++d) out.dims.push_back({from.dims[d], from_strides[d], to_strides[d]});
  return out;
}

Result<Shared> library_op(const ir::Module& module, ir::InstrRef ref) {
  const ir::Instr& instr = module.instr(ref.comp, ref.instr);
  const auto found = std::ranges::find(kLibraryRows, instr.op, &LibraryRow::op);
  Result<Shared> (*make)(const Call&) = found == std::end(kLibraryRows) ? nullptr : found->make;
  if (instr.op == ir::Op::custom_call) {
    const auto known = std::ranges::find(kTargets, ir::attr_string(module, instr, "custom_call_target"), &TargetRow::target);
    make = known == std::end(kTargets) ? nullptr : known->make;
  }
  if (instr.op == ir::Op::fusion && ir::attr_string(module, instr, "custom_call_target") == "__cudnn$convBiasActivationForward")
    make = row<biased_convolution_of>;
  if (make == nullptr && instr.op == ir::Op::custom_call) return Error{"not known"};
  if (make == nullptr) return Error{fmt::format("no library function computes {}", ir::text(instr.op))};
  const Call call{module, instr, ref.comp};
  const std::vector<ir::Leaf> results = ir::leaves(call.shape());
  if (results.empty()) return Error{"no results"};
  for (const ir::Leaf& leaf : results) {
    if (!leaf.shape->is_array() || dynamic(*leaf.shape)) return Error{"results that are no arrays of known size"};
  }
  for (size_t k = 0; k < call.operands(); ++k) {
    if (!call.operand(k).is_array() || dynamic(call.operand(k))) return Error{"operands that are no arrays of known size"};
  }
  return make(call);
}

}  // namespace replay
