// A replay's convolutions are all in one form (library.h), gradients too. cuDNN is asked for a gradient by the forward convolution that it
// is one of: what makes a gradient of a convolution is its own inverse, so it also finds that convolution. Groups are not said: cuDNN sees
// them in the numbers of features, which must lie in a run over all groups.
#include "replay/device/cuda/cudnn_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

namespace replay::cuda {
namespace {

using base::Error;
using base::Result;
using Dim = Convolution::Dim;

struct GraphType {
  ir::Type type;
  CudnnType number, sums;
};
constexpr GraphType kGraphTypes[] = {
    {ir::Type::f32, CudnnType::f32, CudnnType::f32},
    {ir::Type::f64, CudnnType::f64, CudnnType::f64},
    {ir::Type::f16, CudnnType::f16, CudnnType::f32},
    {ir::Type::bf16, CudnnType::bf16, CudnnType::f32},
};
constexpr std::string_view kGradientNames[] = {"forward", "gradient of the input", "gradient of the weights"};

Result<GraphType> type_of(const Convolution& c) {
  const auto found = std::ranges::find(kGraphTypes, c.x.type, &GraphType::type);
  if (found == std::end(kGraphTypes) || c.w.type != c.x.type || c.y.type != c.x.type)
    return Error{fmt::format("cuDNN does not convolve {} with {} into {}", ir::text(c.x.type), ir::text(c.w.type), ir::text(c.y.type))};
  return *found;
}

std::string_view name_of(CudnnType type) { return ir::text(std::ranges::find(kGraphTypes, type, &GraphType::number)->type); }

/// A window of one element is the same from both ends.
bool is_turned(const Dim& d) { return d.reversed && d.window > 1; }

/// What a convolution looks like that does not say what it is.
Gradient look_of(const Convolution& c) {
  const bool spread = std::ranges::any_of(c.dims, [](const Dim& d) { return d.base_dilation > 1; });
  const bool wide = std::ranges::any_of(c.dims, [](const Dim& d) { return d.window > 1; });
  const bool turned = wide && std::ranges::all_of(c.dims, [](const Dim& d) { return d.reversed || d.window == 1; });
  if (spread || turned) return Gradient::input;
  const bool large = !c.dims.empty() && c.dims[0].window > c.dims[0].out;
  return large ? Gradient::weights : Gradient::none;
}

/// The forward convolution of which `c` is this.
Result<Convolution> forward_of(const Convolution& c, Gradient gradient) {
  if (gradient == Gradient::none) return c;
  if (gradient == Gradient::input) return gradient_of_input(c);
  if (std::ranges::any_of(c.dims, is_turned)) return Error{"a gradient of weights that are read from their end"};
  if (std::ranges::any_of(c.dims, [](const Dim& d) { return d.base_dilation != 1; })) return Error{"places between the input's elements"};
  return gradient_of_weights(c);
}

base::Status check_window(const Convolution& c) {
  bool empty = c.groups == 0 || c.batch == 0 || c.in_features == 0 || c.out_features == 0;
  for (const Dim& d : c.dims) {
    empty = empty || d.in == 0 || d.window == 0 || d.out == 0;
    if (d.base_dilation != 1) return Error{"places between the input's elements"};
    if (d.pad_low < 0) return Error{"negative padding"};
  }
  if (empty) return Error{"a size of 0"};
  if (c.dims.size() > 3) return Error{fmt::format("windows of {} dimensions", c.dims.size())};
  const auto turned = std::ranges::count_if(c.dims, is_turned);
  if (turned > 0 && turned != std::ranges::count_if(c.dims, [](const Dim& d) { return d.window > 1; }))
    return Error{"a window that is read from its end in some dimensions only"};
  return {};
}

base::Status check_groups(const Convolution& c) {
  const bool run =
      c.x.group == c.in_features * c.x.inner && c.w.group == c.out_features * c.w.outer && c.y.group == c.out_features * c.y.inner;
  return c.groups == 1 || run ? base::Status() : Error{"groups that are no run of features"};
}

/// Behind the input: as before it if that gives the same number of places, since most kernels know only that; else the least.
Result<int64_t> pad_after(const Dim& d) {
  const int64_t least = (d.out - 1) * d.stride + (d.window - 1) * d.window_dilation + 1 - d.in - d.pad_low, most = least + d.stride - 1;
  if (most < 0) return Error{"negative padding"};
  return std::clamp(d.pad_low, std::max<int64_t>(least, 0), most);
}

/// As cuDNN knows no tensors of fewer than two dimensions of places, those that are missing have one place and stand first.
GraphTensor tensor(CudnnType type, std::array<int64_t, 2> sizes, std::array<int64_t, 2> strides, std::vector<int64_t> places,
                   std::vector<int64_t> between) {
  while (places.size() < 2) {
    between.insert(between.begin(), places.empty() ? sizes[1] * strides[1] : places[0] * between[0]);
    places.insert(places.begin(), 1);
  }
  GraphTensor made{type, {sizes.begin(), sizes.end()}, {strides.begin(), strides.end()}};
  made.dims.insert(made.dims.end(), places.begin(), places.end());
  made.strides.insert(made.strides.end(), between.begin(), between.end());
  return made;
}

/// One field of all dimensions.
std::vector<int64_t> each(const Convolution& c, int64_t Dim::*field) {
  std::vector<int64_t> values;
  std::ranges::transform(c.dims, std::back_inserter(values), [&](const Dim& d) { return d.*field; });
  return values;
}
std::vector<int64_t> two_at_least(std::vector<int64_t> values, int64_t otherwise) {
  if (values.size() < 2) values.insert(values.begin(), 2 - values.size(), otherwise);
  return values;
}

/// The factor of the sums goes into the first addition.
base::Status add_steps(ConvolutionGraph& g, const ConvolutionEpilogue& after) {
  using enum GraphStep::Kind;
  if (after == ConvolutionEpilogue()) return {};
  if (g.gradient != Gradient::none || g.sums != CudnnType::f32) return Error{"an epilogue of a gradient, or of f64"};
  double scale = after.scale;
  if (after.side) g.steps.push_back({add_side, std::exchange(scale, 1), after.side_scale});
  if (after.bias) {
    const auto type = std::ranges::find(kGraphTypes, *after.bias, &GraphType::type);
    if (type == std::end(kGraphTypes)) return Error{fmt::format("a bias of {}", ir::text(*after.bias))};
    g.steps.push_back({add_bias, std::exchange(scale, 1), 1});
    g.bias = {type->number, std::vector<int64_t>(g.y.dims.size(), 1), std::vector<int64_t>(g.y.dims.size(), 1)};
    g.bias.dims[1] = g.bias.strides[0] = g.y.dims[1];
  }
  if (scale != 1) return Error{"a factor, and nothing that is added"};
  if (after.activates) g.steps.push_back({clip, 1, 1, after.slope, after.upper});
  return {};
}

Result<ConvolutionGraph> plan_as(const Convolution& c, Gradient gradient) {
  ASSIGN_OR_RETURN(const Convolution f, forward_of(c, gradient));
  ASSIGN_OR_RETURN(const GraphType type, type_of(f));
  RETURN_IF_ERROR(check_window(f));
  RETURN_IF_ERROR(check_groups(f));
  ConvolutionGraph g;
  g.gradient = gradient, g.sums = type.sums;
  const int64_t in = f.groups * f.in_features, out = f.groups * f.out_features;
  g.x = tensor(type.number, {f.batch, in}, {f.x.outer, f.x.inner}, each(f, &Dim::in), each(f, &Dim::x));
  g.w = tensor(type.number, {out, f.in_features}, {f.w.outer, f.w.inner}, each(f, &Dim::window), each(f, &Dim::w));
  g.y = tensor(type.number, {f.batch, out}, {f.y.outer, f.y.inner}, each(f, &Dim::out), each(f, &Dim::y));
  g.turned = std::ranges::any_of(f.dims, is_turned);
  for (const Dim& d : f.dims) {
    ASSIGN_OR_RETURN(const int64_t after, pad_after(d));
    g.pad_after.push_back(after);
  }
  g.pad_after = two_at_least(g.pad_after, 0);
  g.pad_before = two_at_least(each(f, &Dim::pad_low), 0);
  g.strides = two_at_least(each(f, &Dim::stride), 1);
  g.dilations = two_at_least(each(f, &Dim::window_dilation), 1);
  RETURN_IF_ERROR(add_steps(g, c.after));
  return g;
}

enum class Order : uint8_t { features_last, features_first };

/// Dimensions from the one whose elements lie closest.
std::vector<size_t> closest_first(const GraphTensor& t, Order order) {
  std::vector<size_t> dims;
  for (size_t k = t.dims.size(); k-- > 2;) dims.push_back(k);
  dims.insert(order == Order::features_last ? dims.begin() : dims.end(), 1);
  dims.push_back(0);
  return dims;
}

std::vector<int64_t> strides_in(const GraphTensor& t, Order order) {
  std::vector<int64_t> strides(t.dims.size());
  int64_t next = 1;
  for (const size_t k : closest_first(t, order)) strides[k] = std::exchange(next, next * t.dims[k]);
  return strides;
}

bool lies_in(const GraphTensor& t, Order order) {
  const std::vector<int64_t> wanted = strides_in(t, order);
  for (size_t k = 0; k < wanted.size(); ++k)
    if (t.dims[k] > 1 && t.strides[k] != wanted[k]) return false;
  return true;
}

/// That of the input, else of the result, where they have one.
Order order_of(const ConvolutionGraph& g) {
  for (const GraphTensor* t : {&g.x, &g.y}) {
    if (lies_in(*t, Order::features_last)) return Order::features_last;
    if (lies_in(*t, Order::features_first)) return Order::features_first;
  }
  return Order::features_last;
}

/// How a tensor comes to lie in an order; nothing: it does.
std::optional<Permute> brought(const GraphTensor& t, Order order, int64_t element_bytes) {
  if (lies_in(t, order)) return std::nullopt;
  Permute how{element_bytes, 0, {}};
  const std::vector<int64_t> wanted = strides_in(t, order);
  for (size_t k = 0; k < t.dims.size(); ++k) how.dims.push_back({t.dims[k], t.strides[k], wanted[k]});
  return how;
}

/// Gives an operand the strides that it is brought into; the tensor may have places that the convolution has not.
void lay(Convolution& c, const Permute& how, Convolution::Operand& operand, int64_t Dim::*field) {
  operand.outer = how.dims[0].to, operand.inner = how.dims[1].to;
  const size_t more = how.dims.size() - c.dims.size();
  for (size_t k = 0; k < c.dims.size(); ++k) c.dims[k].*field = how.dims[k + more].to;
}

}  // namespace

/// What cannot be said as what it looks like may still be a gradient of weights: batch groups are, and a small window with dilation.
Result<ConvolutionGraph> plan_convolution(const Convolution& c) {
  if (c.gradient) return plan_as(c, *c.gradient);
  Result<ConvolutionGraph> planned = plan_as(c, look_of(c));
  if (planned.ok() || look_of(c) != Gradient::none) return planned;
  Result<ConvolutionGraph> other = plan_as(c, Gradient::weights);
  return other.ok() ? other : planned;
}

ArrangedConvolution arranged(const Convolution& c) {
  const auto graph = plan_convolution(c);
  if (!graph.ok() || !graph->steps.empty()) return {c, {}, {}, {}};
  const Order order = order_of(*graph);
  Convolution f = *forward_of(c, graph->gradient);
  const int64_t bytes = ir::bytes(c.x.type);
  std::optional<Permute> x = brought(graph->x, order, bytes), w = brought(graph->w, order, bytes), y = brought(graph->y, order, bytes);
  if (x) lay(f, *x, f.x, &Dim::x);
  if (w) lay(f, *w, f.w, &Dim::w);
  if (y) lay(f, *y, f.y, &Dim::y);
  f.x.group = f.in_features * f.x.inner, f.w.group = f.out_features * f.w.outer, f.y.group = f.out_features * f.y.inner;
  ArrangedConvolution made{*forward_of(f, graph->gradient), x, w, y};  // its own inverse
  made.op.gradient = graph->gradient;
  if (graph->gradient == Gradient::input) std::swap(made.first, made.result);
  if (graph->gradient == Gradient::weights) std::swap(made.second, made.result);
  if (made.result)
    for (Permute::Dim& d : made.result->dims) std::swap(d.from, d.to);
  return made;
}

std::string text_of(const ConvolutionGraph& g) {
  const auto list = [](const std::vector<int64_t>& values) { return fmt::format("{}", fmt::join(values, "x")); };
  std::string text = fmt::format("{} {}", kGradientNames[static_cast<size_t>(g.gradient)], name_of(g.x.type));
  const std::pair<char, const GraphTensor*> tensors[] = {{'x', &g.x}, {'w', &g.w}, {'y', &g.y}};
  for (const auto& [name, t] : tensors) text += fmt::format(", {} {} by {}", name, list(t->dims), fmt::join(t->strides, " "));
  text += fmt::format(", pad {}_{}, stride {}", list(g.pad_before), list(g.pad_after), list(g.strides));
  if (std::ranges::any_of(g.dilations, [](int64_t d) { return d != 1; })) text += ", dilation " + list(g.dilations);
  if (g.turned) text += ", window from its end";
  for (const GraphStep& step : g.steps) {
    const bool bias = step.kind == GraphStep::Kind::add_bias;
    if (step.kind == GraphStep::Kind::clip)
      text += fmt::format("; below 0 times {}, at most {}", step.slope, step.upper);
    else
      text += fmt::format("; {} times it and {} times a {}", step.alpha1, step.alpha2,
                          bias ? fmt::format("bias of {}", name_of(g.bias.type)) : "side input");
  }
  return text;
}

}  // namespace replay::cuda
