// Images: pools and their gradients, places that become channels and back, enlarged images, norms over neighbouring channels. Each is one
// kernel.
#include <algorithm>

#include "importers/tensorflow/images.h"

namespace importers::tensorflow {
namespace {

using ir::Op;

Values max_pool(Lowering& l) {
  const Space space = pool_of(l, l.dims(0));
  if (!l.error.empty()) return {};
  return l.fuse([&](Body& b, std::span<const Value> x) { return Values{b.reduce_window(Op::maximum, x[0], space.windows_of_image())}; });
}

/// (input, result, gradient of the result). The result is not read: where the greatest element lies is found again.
Values max_pool_grad(Lowering& l) {
  const Space space = pool_of(l, l.dims(0));
  if (!l.error.empty() || !space.gives(l.dims(2))) return l.fail(l.error.empty() ? "has a gradient of another size" : l.error);
  return {l.program.fuse1({{l.in(0), l.in(2)}},
                          [&](Body& b, std::span<const Value> x) { return b.select_and_scatter(x[0], space.windows_of_image(), x[1]); })};
}

/// x by the number of elements that each window holds: padding does not count.
Value shared_out(Body& b, Value x, const Space& space) {
  const bool hangs_over = std::ranges::any_of(space.padding, [](const Padding& p) { return p.low > 0 || p.high > 0; });
  if (!hangs_over) return b.binary(Op::multiply, x, 1 / static_cast<double>(space.window[0] * space.window[1]));
  const Value seen = b.reduce_window(Op::add, b.fill(b.type(x), space.size, 1), space.windows());
  return b.binary(Op::divide, x, b.broadcast(seen, b.dims(x), {space.format.first_space, space.format.first_space + 1}));
}

Values avg_pool(Lowering& l) {
  const Space space = pool_of(l, l.dims(0));
  if (!l.error.empty()) return {};
  return l.fuse([&](Body& b, std::span<const Value> x) {
    return Values{shared_out(b, b.reduce_window(Op::add, x[0], space.windows_of_image()), space)};
  });
}

/// (sizes of the input, gradient of the result): each element's share of all windows that see it, a sum over windows of the dilated shares.
Values avg_pool_grad(Lowering& l) {
  const Dims image = l.integers(0);
  if (!l.error.empty()) return {};
  const Space space = pool_of(l, image);
  if (!l.error.empty() || !space.gives(l.dims(1))) return l.fail(l.error.empty() ? "has a gradient of another size" : l.error);
  std::vector<ir::PadDim> pads(4);
  std::vector<ir::WindowDim> window(4);
  for (size_t s = 0; s < 2; ++s) {
    const auto d = static_cast<size_t>(space.format.first_space) + s;
    const int64_t low = space.window[s] - 1 - space.padding[s].low, dilated = (space.result[s] - 1) * space.stride[s] + 1;
    pads[d] = {low, space.size[s] - 1 + space.window[s] - dilated - low, space.stride[s] - 1};
    window[d].size = space.window[s];
  }
  return {l.program.fuse1({{l.in(1)}}, [&](Body& b, std::span<const Value> x) {
    const Value share = shared_out(b, x[0], space);
    return b.reduce_window(Op::add, b.pad(share, b.constant(b.type(share), 0), pads), window);
  })};
}

/// Blocks of places as channels (depth): NHWC, [n, h·k, w·k, c] ↔ [n, h, w, k·k·c].
enum class Way : uint8_t { to_depth, to_space };
template <Way kWay>
Values blocks(Lowering& l) {
  const Dims from = l.dims(0);
  const int64_t k = attribute(l.node, "block_size", int64_t{1});
  if (from.size() != 4 || k < 1 || k > 1024 || attribute(l.node, "data_format", std::string("NHWC")) != "NHWC")
    return l.fail("is no NHWC image");
  if (kWay == Way::to_depth ? from[1] % k != 0 || from[2] % k != 0 : from[3] % (k * k) != 0) return l.fail("has blocks that do not fit");
  return l.fuse([&](Body& b, std::span<const Value> x) {
    if (kWay == Way::to_depth) {
      const Value apart = b.reshape(x[0], {from[0], from[1] / k, k, from[2] / k, k, from[3]});
      return Values{b.reshape(b.transpose(apart, {0, 1, 3, 2, 4, 5}), {from[0], from[1] / k, from[2] / k, k * k * from[3]})};
    }
    const int64_t channels = from[3] / (k * k);
    const Value apart = b.reshape(x[0], {from[0], from[1], from[2], k, k, channels});
    return Values{b.reshape(b.transpose(apart, {0, 1, 3, 2, 4, 5}), {from[0], from[1] * k, from[2] * k, channels})};
  });
}

/// (image, [height, width]) where the new size is a multiple: each place repeats.
Values resize_nearest(Lowering& l) {
  const Dims from = l.dims(0), to = l.integers(1);
  if (!l.error.empty() || from.size() != 4 || to.size() != 2 || std::ranges::min(from) < 1) return l.fail("its size is not known");
  if (attribute(l.node, "align_corners", false) || to[0] < 1 || to[1] < 1 || to[0] % from[1] != 0 || to[1] % from[2] != 0 ||
      !are_sane({from[0], to[0], to[1], from[3]}))
    return l.fail("enlarges by no whole number");
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    const Value wide = b.broadcast(x[0], {from[0], from[1], to[0] / from[1], from[2], to[1] / from[2], from[3]}, {0, 1, 3, 5});
    return b.reshape(wide, {from[0], to[0], to[1], from[3]});
  })};
}
/// (gradient, [height, width] of the input): what was repeated is summed.
Values resize_nearest_grad(Lowering& l) {
  const Dims from = l.dims(0), to = l.integers(1);
  if (!l.error.empty() || from.size() != 4 || to.size() != 2 || std::ranges::min(to) < 1) return l.fail("its size is not known");
  if (attribute(l.node, "align_corners", false) || from[1] % to[0] != 0 || from[2] % to[1] != 0)
    return l.fail("enlarges by no whole number");
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    return b.reduce(Op::add, b.reshape(x[0], {from[0], to[0], from[1] / to[0], to[1], from[2] / to[1], from[3]}), {2, 4});
  })};
}

/// x / (bias + alpha·Σ x²)^beta over neighbouring channels (Krizhevsky et al. 2012).
Values local_response(Lowering& l) {
  const int64_t radius = attribute(l.node, "depth_radius", int64_t{5});
  const double bias = attribute(l.node, "bias", 1.0), alpha = attribute(l.node, "alpha", 1.0), beta = attribute(l.node, "beta", 0.5);
  if (l.dims(0).size() != 4 || radius < 0 || radius > (int64_t{1} << 31)) return l.fail("is no NHWC image");
  return l.fuse([&](Body& b, std::span<const Value> x) {
    std::vector<ir::WindowDim> window(4);
    window[3] = {2 * radius + 1, 1, radius, radius};
    const Value squares = b.reduce_window(Op::add, b.binary(Op::multiply, x[0], x[0]), window);
    const Value norm = b.binary(Op::add, b.binary(Op::multiply, squares, alpha), bias);
    return Values{b.binary(Op::divide, x[0], b.binary(Op::power, norm, beta))};
  });
}

constexpr Rule kImageRules[] = {
    {"MaxPool", max_pool},
    {"MaxPoolGrad", max_pool_grad, 3},
    {"AvgPool", avg_pool},
    {"AvgPoolGrad", avg_pool_grad, 2},
    {"SpaceToDepth", blocks<Way::to_depth>},
    {"DepthToSpace", blocks<Way::to_space>},
    {"ResizeNearestNeighbor", resize_nearest, 2},
    {"ResizeNearestNeighborGrad", resize_nearest_grad, 2},
    {"LRN", local_response},
};

}  // namespace

std::span<const Rule> image_rules() { return kImageRules; }

}  // namespace importers::tensorflow
