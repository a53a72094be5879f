// Convolutions of images and their gradients: each a library call. The gradient of the input is a convolution of the dilated gradient with
// the turned filter; that of the filter one whose window is the gradient, with the batch as what is summed. A filter [h, w, in, m] of a
// depthwise convolution is one of `in` groups with m results each.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "importers/tensorflow/images.h"

namespace importers::tensorflow {
namespace {

/// How many groups, and the filter as [h, w, in / groups, out], or [d, h, w, in / groups, out].
struct Groups {
  int64_t count = 1;
  Dims filter;
  Dims space() const { return {filter.begin(), filter.end() - 2}; }
  int64_t inputs() const { return filter[filter.size() - 2]; }
  int64_t outputs() const { return filter.back(); }
  std::string_view digits() const { return std::string_view("012").substr(0, filter.size() - 2); }
};
Groups groups_of(Lowering& l, const Dims& image, const Dims& filter) {
  const size_t rank = l.node.type.find("3D") == std::string::npos ? 4 : 5;
  if (image.size() != rank || filter.size() != rank || std::ranges::min(filter) < 1 || !are_sane(filter))
    return l.fail("its sizes are not known"), Groups{1, Dims(rank, 1)};
  const int64_t features = image[static_cast<size_t>(format_of(l.node).features)];
  const bool depthwise = l.node.type.find("Depthwise") != std::string::npos;
  const Groups groups =
      depthwise ? Groups{filter[2], {filter[0], filter[1], 1, filter[2] * filter[3]}} : Groups{features / filter[rank - 2], filter};
  if (groups.count < 1 || groups.count * groups.inputs() != features || groups.outputs() % groups.count != 0)
    l.fail("has groups that do not divide its features");
  return groups;
}

/// What the forward convolution is, as an instruction of a body.
struct Forward {
  Groups groups;
  Body::Convolution convolution;
  int64_t features = 3;  ///< dimension of the features
  Value write(Body& b, Value image, Value filter) const { return b.convolution(image, b.reshape(filter, groups.filter), convolution); }
};
Forward forward_of(Lowering& l) {
  const Dims image = l.dims(0);
  const Groups groups = groups_of(l, image, l.dims(1));
  if (!l.error.empty()) return {};
  const Space space = space_of(l, image, groups.space());
  return {
      groups, {space.windows(), fmt::format("{0}_{1}io->{0}", space.letters(), groups.digits()), groups.count, 1}, space.format.features};
}

Values convolution(Lowering& l) {
  const Forward forward = forward_of(l);
  return l.error.empty() ? Values{forward.write(l.entry(), l.in(0), l.in(1))} : Values{};
}
Values fused_convolution(Lowering& l) {
  const Forward forward = forward_of(l);
  if (!l.error.empty()) return {};
  return fused(l, forward.features, [&](Body& b, std::span<const Value> x) { return forward.write(b, x[0], x[1]); });
}

/// [h, w, i, g·m] → [h, w, g·i, m]: the filter with inputs and results exchanged in each group.
Value exchanged(Body& b, Value filter, const Groups& groups) {
  const int64_t m = groups.outputs() / groups.count, d = static_cast<int64_t>(groups.space().size());
  Dims apart = groups.space(), together = apart, order(static_cast<size_t>(d));
  std::iota(order.begin(), order.end(), 0);
  apart.insert(apart.end(), {groups.inputs(), groups.count, m});
  together.insert(together.end(), {m, groups.count * groups.inputs()});
  order.insert(order.end(), {d + 2, d + 1, d});
  return b.reshape(b.transpose(b.reshape(filter, apart), order), together);
}

/// (sizes of the input, filter, gradient of the result). One group is a library call; several are one kernel: the filter is turned inside.
Values input_grad(Lowering& l) {
  const Dims image = l.integers(0), gradient = l.dims(2);
  const Groups groups = groups_of(l, image, l.dims(1));
  if (!l.error.empty()) return {};
  const Space space = space_of(l, image, groups.space());
  if (!l.error.empty() || !space.gives(gradient)) return l.fail(l.error.empty() ? "has a gradient of another size" : l.error);
  Body::Convolution c;
  for (size_t s = 0; s < space.size.size(); ++s) {
    const int64_t dilated = (space.result[s] - 1) * space.stride[s] + 1, low = space.extent(s) - 1 - space.padding[s].low;
    c.window.push_back(
        {space.window[s], 1, low, space.size[s] - 1 + space.extent(s) - dilated - low, space.stride[s], space.dilation[s], true});
  }
  c.labels = fmt::format("{0}_{1}{2}->{0}", space.letters(), groups.digits(), groups.count == 1 ? "oi" : "io");
  if (groups.count == 1) return {l.entry().convolution(l.in(2), l.in(1), c)};
  c.feature_groups = groups.count;
  return {l.program.fuse1({{l.in(2), l.in(1)}}, [&](Body& b, std::span<const Value> x) {
    return b.convolution(x[0], exchanged(b, b.reshape(x[1], groups.filter), groups), c);
  })};
}

/// (input, sizes of the filter, gradient of the result): the gradient slides over the input with the batch as what is summed; groups of
/// features are groups of the batch there.
Values filter_grad(Lowering& l) {
  const Dims image = l.dims(0), gradient = l.dims(2), sizes = l.integers(1);
  if (!l.error.empty()) return {};
  const Groups groups = groups_of(l, image, sizes);
  if (!l.error.empty()) return {};
  const Space space = space_of(l, image, groups.space());
  if (!l.error.empty() || !space.gives(gradient)) return l.fail(l.error.empty() ? "has a gradient of another size" : l.error);
  Body::Convolution c;
  for (size_t s = 0; s < space.size.size(); ++s) {
    const int64_t whole = (space.result[s] - 1) * space.stride[s] + 1, low = space.padding[s].low;
    c.window.push_back({space.result[s], space.dilation[s], low, space.extent(s) - 1 + whole - space.size[s] - low, 1, space.stride[s]});
  }
  const std::string_view d = groups.digits();
  c.labels = space.format.first_space == 2 ? fmt::format("fb{0}_io{0}->{0}bf", d) : fmt::format("f{0}b_i{0}o->{0}bf", d);
  c.batch_groups = groups.count;
  return {l.entry().reshape(l.entry().convolution(l.in(0), l.in(2), c), sizes)};
}

constexpr Rule kConvolutionRules[] = {
    {"Conv2D", convolution, 2},
    {"DepthwiseConv2dNative", convolution, 2},
    {"_FusedConv2D", fused_convolution, 2},
    {"_FusedDepthwiseConv2dNative", fused_convolution, 2},
    {"Conv3D", convolution, 2},
    {"Conv2DBackpropInput", input_grad, 3},
    {"Conv2DBackpropFilter", filter_grad, 3},
    {"Conv3DBackpropInputV2", input_grad, 3},
    {"Conv3DBackpropFilterV2", filter_grad, 3},
    {"DepthwiseConv2dNativeBackpropInput", input_grad, 3},
    {"DepthwiseConv2dNativeBackpropFilter", filter_grad, 3},
};

}  // namespace

std::span<const Rule> convolution_rules() { return kConvolutionRules; }

}  // namespace importers::tensorflow
