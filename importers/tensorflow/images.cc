// SAME pads so that the result has ⌈size / stride⌉ places, the odd one behind; VALID does not pad; EXPLICIT tells both sides of all four
// dimensions (tensorflow/core/framework/common_shape_fns.cc).
#include "importers/tensorflow/images.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace importers::tensorflow {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;

}  // namespace

Format format_of(const Node& node) {
  const std::string usual = node.type.find("3D") == std::string::npos ? "NHWC" : "NDHWC";
  const std::string format = attribute(node, "data_format", usual);
  return format.starts_with("NC") ? Format{1, 2} : Format{format == "NDHWC" ? 4 : 3, 1};
}

Padding padding_of(const Node& node, int64_t dimension, int64_t size, int64_t window, int64_t stride) {
  const std::string how = attribute(node, "padding", std::string("VALID"));
  if (how == "EXPLICIT") {
    const Dims amounts = attribute(node, "explicit_paddings", Dims{});
    const auto at = static_cast<size_t>(2 * dimension);
    return at + 1 < amounts.size() ? Padding{amounts[at], amounts[at + 1]} : Padding{};
  }
  if (how != "SAME") return {};
  const int64_t out = (size + stride - 1) / std::max<int64_t>(1, stride);
  const int64_t total = std::max<int64_t>(0, (out - 1) * stride + window - size);
  return {total / 2, total - total / 2};
}

Space space_of(Lowering& l, const Dims& image, const Dims& window) {
  Space space{format_of(l.node), {}, window, {}, {}, {}, {}};
  const size_t rank = window.size() + 2;
  const Dims strides = attribute(l.node, "strides", Dims(rank, 1)), dilations = attribute(l.node, "dilations", Dims(rank, 1));
  if (image.size() != rank || strides.size() != rank || dilations.size() != rank) return l.fail("is no operator on images"), space;
  for (size_t s = 0; s < window.size(); ++s) {
    const auto d = static_cast<size_t>(space.format.first_space) + s;
    for (const int64_t number : {image[d], window[s], strides[d], dilations[d]}) {
      if (number < 1 || number > kLargest) return l.fail("has a window, a stride or an image of no size"), space;
    }
    space.size.push_back(image[d]);
    space.stride.push_back(strides[d]);
    space.dilation.push_back(dilations[d]);
    space.padding.push_back(padding_of(l.node, static_cast<int64_t>(d), image[d], space.extent(s), strides[d]));
    const auto [low, high] = space.padding.back();
    if (low < 0 || high < 0 || low > kLargest || high > kLargest || image[d] + low + high < space.extent(s))
      return l.fail("has a window that does not fit into its image"), space;
    space.result.push_back((image[d] + low + high - space.extent(s)) / strides[d] + 1);
  }
  return space;
}

Space pool_of(Lowering& l, const Dims& image) {
  const Dims sizes = attribute(l.node, "ksize", Dims(image.size(), 1));
  const Format format = format_of(l.node);
  const auto features = static_cast<size_t>(format.features);
  if (sizes.size() < 4 || features >= sizes.size() || sizes[0] != 1 || sizes[features] != 1)
    return l.fail("is no pool over space"), Space{};
  const auto first = sizes.begin() + format.first_space;
  return space_of(l, image, {first, first + static_cast<std::ptrdiff_t>(sizes.size()) - 2});
}

std::vector<ir::WindowDim> Space::windows() const {
  std::vector<ir::WindowDim> windows;
  for (size_t s = 0; s < size.size(); ++s) windows.push_back({window[s], stride[s], padding[s].low, padding[s].high, 1, dilation[s]});
  return windows;
}

std::vector<ir::WindowDim> Space::windows_of_image() const {
  std::vector<ir::WindowDim> all(size.size() + 2);
  std::ranges::copy(windows(), all.begin() + format.first_space);
  return all;
}

bool Space::gives(const Dims& image) const {
  return image.size() == size.size() + 2 &&
         std::ranges::equal(result, std::span(image).subspan(static_cast<size_t>(format.first_space), size.size()));
}

std::string Space::letters() const {
  const std::string_view digits = std::string_view("012").substr(0, size.size());
  return format.first_space == 2 ? fmt::format("bf{}", digits) : fmt::format("b{}f", digits);
}

}  // namespace importers::tensorflow
