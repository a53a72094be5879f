// SAME pads so that the result has ⌈size / stride⌉ places, the odd one behind; VALID does not pad; EXPLICIT tells both sides of all four
// dimensions (tensorflow/core/framework/common_shape_fns.cc).
#include "importers/tensorflow/images.h"

#include <algorithm>

namespace importers::tensorflow {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;

}  // namespace

Format format_of(const Node& node) {
  const std::string format = attribute(node, "data_format", std::string("NHWC"));
  return format.starts_with("NC") ? Format{1, 2} : Format{3, 1};
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
  const Dims strides = attribute(l.node, "strides", Dims{1, 1, 1, 1}), dilations = attribute(l.node, "dilations", Dims{1, 1, 1, 1});
  if (image.size() != 4 || strides.size() != 4 || dilations.size() != 4) return l.fail("is no operator on images"), space;
  for (size_t s = 0; s < 2; ++s) {
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
  const Dims sizes = attribute(l.node, "ksize", Dims{1, 1, 1, 1});
  const Format format = format_of(l.node);
  const auto d = static_cast<size_t>(format.first_space);
  if (sizes.size() != 4 || sizes[0] != 1 || sizes[static_cast<size_t>(format.features)] != 1)
    return l.fail("is no pool over space"), Space{};
  return space_of(l, image, {sizes[d], sizes[d + 1]});
}

std::vector<ir::WindowDim> Space::windows() const {
  std::vector<ir::WindowDim> windows;
  for (size_t s = 0; s < size.size(); ++s) windows.push_back({window[s], stride[s], padding[s].low, padding[s].high, 1, dilation[s]});
  return windows;
}

std::vector<ir::WindowDim> Space::windows_of_image() const {
  std::vector<ir::WindowDim> all(4);
  const std::vector<ir::WindowDim> two = windows();
  for (size_t s = 0; s < two.size(); ++s) all[static_cast<size_t>(format.first_space) + s] = two[s];
  return all;
}

bool Space::gives(const Dims& image) const {
  const auto d = static_cast<size_t>(format.first_space);
  return image.size() == 4 && image[d] == result[0] && image[d + 1] == result[1];
}

std::string_view letters_of(const Format& format) { return format.first_space == 2 ? "bf01" : "b01f"; }

}  // namespace importers::tensorflow
