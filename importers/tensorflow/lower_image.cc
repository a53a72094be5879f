// Images: pools and their gradients, places that become channels and back, enlarged images, norms over neighbouring channels. Each is one
// kernel.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "importers/lowering/places.h"
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
  const double whole = std::accumulate(space.window.begin(), space.window.end(), 1.0, std::multiplies<>());
  if (!hangs_over) return b.binary(Op::multiply, x, 1 / whole);
  const Value seen = b.reduce_window(Op::add, b.fill(b.type(x), space.size, 1), space.windows());
  const Dims at = counting(space.format.first_space, space.format.first_space + static_cast<int64_t>(space.size.size()));
  return b.binary(Op::divide, x, b.broadcast(seen, b.dims(x), at));
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
  std::vector<ir::PadDim> pads(image.size());
  std::vector<ir::WindowDim> window(image.size());
  for (size_t s = 0; s < space.size.size(); ++s) {
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

/// How the first dimensions after the batch are cut into blocks whose places become batches: sizes of blocks, and what is padded or
/// cropped.
struct Batching {
  Dims block, edges;  ///< edges: before and after each
  int64_t count = 1;  ///< places in a block
};
Batching batching_of(Lowering& l) {
  Batching of{l.integers(1), l.integers(2)};
  const Dims dims = l.dims(0);
  if (l.error.empty() && (of.block.empty() || of.edges.size() != 2 * of.block.size() || dims.size() < of.block.size() + 1 ||
                          std::ranges::min(of.block) < 1 || std::ranges::min(of.edges) < 0 || !are_sane(of.block) || !are_sane(of.edges)))
    l.fail("has blocks that do not fit");
  for (const int64_t k : of.block) of.count *= l.error.empty() ? k : 1;
  return of;
}

/// [b, s·k, …] → [k·b, s, …], the places of a block first.
Values space_to_batch(Lowering& l) {
  const Batching of = batching_of(l);
  if (!l.error.empty()) return {};
  const Dims from = l.dims(0);
  std::vector<ir::PadDim> pads(from.size());
  Dims apart{from[0]}, order, to{from[0] * of.count};
  for (size_t d = 0; d < of.block.size(); ++d) {
    pads[d + 1] = {of.edges[2 * d], of.edges[2 * d + 1], 0};
    const int64_t size = from[d + 1] + of.edges[2 * d] + of.edges[2 * d + 1];
    if (size % of.block[d] != 0) return l.fail("has blocks that do not fit");
    apart.insert(apart.end(), {size / of.block[d], of.block[d]});
    order.push_back(static_cast<int64_t>(2 * d + 2));
    to.push_back(size / of.block[d]);
  }
  order.push_back(0);
  for (size_t d = 0; d < of.block.size(); ++d) order.push_back(static_cast<int64_t>(2 * d + 1));
  for (size_t d = of.block.size() + 1; d < from.size(); ++d)
    order.push_back(static_cast<int64_t>(apart.size())), apart.push_back(from[d]), to.push_back(from[d]);
  if (!are_sane(to)) return l.fail("is too large");
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    return b.reshape(b.transpose(b.reshape(b.pad(x[0], b.constant(b.type(x[0]), 0), pads), apart), order), to);
  })};
}

/// The reverse, whose edges are cropped.
Values batch_to_space(Lowering& l) {
  const Batching of = batching_of(l);
  if (!l.error.empty()) return {};
  const Dims from = l.dims(0);
  const auto blocks = static_cast<int64_t>(of.block.size());
  if (from[0] % of.count != 0) return l.fail("has blocks that do not fit");
  Dims apart = of.block, order{blocks}, to{from[0] / of.count};
  apart.insert(apart.end(), {from[0] / of.count});
  apart.insert(apart.end(), from.begin() + 1, from.end());
  std::vector<ir::SliceDim> slices{{0, to[0], 1}};
  for (int64_t d = 0; d < blocks; ++d) {
    order.insert(order.end(), {blocks + 1 + d, d});
    const int64_t size = from[static_cast<size_t>(d) + 1] * of.block[static_cast<size_t>(d)];
    to.push_back(size);
    slices.push_back({of.edges[static_cast<size_t>(2 * d)], size - of.edges[static_cast<size_t>(2 * d) + 1], 1});
    if (slices.back().start > slices.back().limit) return l.fail("crops more than there is");
  }
  for (auto d = static_cast<size_t>(blocks) + 1; d < from.size(); ++d)
    order.push_back(blocks + static_cast<int64_t>(d)), to.push_back(from[d]), slices.push_back({0, from[d], 1});
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    return b.slice(b.reshape(b.transpose(b.reshape(x[0], apart), order), to), slices);
  })};
}

constexpr int64_t kMostPlaces = 1 << 16;  ///< along a dimension of an image that is made larger or smaller

/// Where the new places of a dimension lie between the old ones: the place before, the one after, and how far between.
struct Between {
  Array before, after, share;
};
Between between(const Node& node, int64_t from, int64_t to) {
  const bool corners = attribute(node, "align_corners", false) && to > 1, half = attribute(node, "half_pixel_centers", false);
  const double step =
      corners ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : static_cast<double>(from) / static_cast<double>(to);
  Between b;
  b.before.shape = b.after.shape = ir::array_shape(ir::Type::s32, {to});
  b.share.shape = ir::array_shape(ir::Type::f32, {to});
  const auto add = [](Array& array, const ir::Literal& one) {
    array.literal.data.insert(array.literal.data.end(), one.data.begin(), one.data.end());
  };
  for (int64_t i = 0; i < to; ++i) {
    const double at = half ? (static_cast<double>(i) + 0.5) * step - 0.5 : static_cast<double>(i) * step, low = std::floor(at);
    add(b.before, ir::scalar_literal(ir::Type::s32, std::clamp<int64_t>(static_cast<int64_t>(low), 0, from - 1)));
    add(b.after, ir::scalar_literal(ir::Type::s32, std::clamp<int64_t>(static_cast<int64_t>(std::ceil(at)), 0, from - 1)));
    add(b.share, ir::scalar_literal(ir::Type::f32, at - low));
  }
  return b;
}
/// (image, [height, width]): each new place is a mean of the four old ones around it, weighted by nearness.
Values resize_bilinear(Lowering& l) {
  const Dims from = l.dims(0), to = l.integers(1);
  if (!l.error.empty() || from.size() != 4 || to.size() != 2 || std::ranges::min(from) < 1) return l.fail("its size is not known");
  if (std::ranges::min(to) < 1 || std::ranges::max(to) > kMostPlaces || !are_sane({from[0], to[0], to[1], from[3]}))
    return l.fail("is too large");
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    Value image = b.convert(x[0], ir::Type::f32);
    for (const int64_t d : {1, 2}) {
      const Between at = between(l.node, from[static_cast<size_t>(d)], to[static_cast<size_t>(d - 1)]);
      const Value before = take(b, image, b.constant(at.before.shape, at.before.literal), d);
      const Value after = take(b, image, b.constant(at.after.shape, at.after.literal), d);
      const Value share = b.broadcast(b.constant(at.share.shape, at.share.literal), b.dims(before), {d});
      image = b.binary(Op::add, before, b.binary(Op::multiply, b.binary(Op::subtract, after, before), share));
    }
    return image;
  })};
}

/// (gradient [b, H, W, c], image [b, h, w, c]): each place of the gradient is shared out to the old ones that it lay between.
Values resize_bilinear_grad(Lowering& l) {
  const Dims from = l.dims(0), to = l.dims(1);
  if (from.size() != 4 || to.size() != 4 || std::ranges::min(to) < 1 || std::ranges::max(from) > kMostPlaces)
    return l.fail("its size is not known");
  const ir::CompId add = l.program.reducer(Op::add, ir::Type::f32);
  return {l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    Value gradient = b.convert(x[0], ir::Type::f32);
    for (const int64_t d : {1, 2}) {
      const Between at = between(l.node, to[static_cast<size_t>(d)], from[static_cast<size_t>(d)]);
      const Dims in_front = d == 1 ? Dims{1, 0, 2, 3} : Dims{2, 0, 1, 3}, back = d == 1 ? Dims{1, 0, 2, 3} : Dims{1, 2, 0, 3};
      const Value rows = b.transpose(gradient, in_front);
      const Value after = b.binary(Op::multiply, rows, b.broadcast(b.constant(at.share.shape, at.share.literal), b.dims(rows), {0}));
      Dims dims = b.dims(rows);
      dims[0] = to[static_cast<size_t>(d)];
      Value sums = b.fill(ir::Type::f32, dims, 0);
      sums = give(b, sums, b.constant(at.before.shape, at.before.literal), b.binary(Op::subtract, rows, after), 0, add);
      sums = give(b, sums, b.constant(at.after.shape, at.after.literal), after, 0, add);
      gradient = b.transpose(sums, back);
    }
    return b.convert(gradient, l.shape(1).type);
  })};
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

/// x / norm^beta, norm = bias + alpha·Σ x² over neighbouring channels (Krizhevsky et al. 2012).
struct LocalResponse {
  int64_t radius;
  double bias, alpha, beta;

  Value sum(Body& b, Value x) const {
    std::vector<ir::WindowDim> window(4);
    window[3] = {2 * radius + 1, 1, radius, radius};
    return b.reduce_window(Op::add, x, window);
  }
  Value norm(Body& b, Value x) const {
    return b.binary(Op::add, b.binary(Op::multiply, sum(b, b.binary(Op::multiply, x, x)), alpha), bias);
  }
};
LocalResponse local_response_of(Lowering& l, size_t image) {
  const LocalResponse of{attribute(l.node, "depth_radius", int64_t{5}), attribute(l.node, "bias", 1.0), attribute(l.node, "alpha", 1.0),
                         attribute(l.node, "beta", 0.5)};
  if (l.dims(image).size() != 4 || of.radius < 0 || of.radius > (int64_t{1} << 31)) l.fail("is no NHWC image");
  return of;
}
Values local_response(Lowering& l) {
  const LocalResponse of = local_response_of(l, 0);
  if (!l.error.empty()) return {};
  return l.fuse([&](Body& b, std::span<const Value> x) {
    return Values{b.binary(Op::divide, x[0], b.binary(Op::power, of.norm(b, x[0]), of.beta))};
  });
}

/// (gradient g, x, result y): g / norm^beta - 2·alpha·beta·x·Σ g·y / norm.
Values local_response_grad(Lowering& l) {
  const LocalResponse of = local_response_of(l, 1);
  if (!l.error.empty() || l.dims(0) != l.dims(1)) return l.fail(l.error.empty() ? "has a gradient of another size" : l.error);
  return l.fuse([&](Body& b, std::span<const Value> x) {
    const Value norm = of.norm(b, x[1]), own = b.binary(Op::divide, x[0], b.binary(Op::power, norm, of.beta));
    const Value seen = of.sum(b, b.binary(Op::divide, b.binary(Op::multiply, x[0], x[2]), norm));
    return Values{b.binary(Op::subtract, own, b.binary(Op::multiply, b.binary(Op::multiply, x[1], seen), 2 * of.alpha * of.beta))};
  });
}

constexpr Rule kImageRules[] = {
    {"MaxPool", max_pool},
    {"MaxPoolGrad", max_pool_grad, 3},
    {"AvgPool", avg_pool},
    {"AvgPool3D", avg_pool},
    {"AvgPool3DGrad", avg_pool_grad, 2},
    {"MaxPool3D", max_pool},
    {"MaxPool3DGrad", max_pool_grad, 3},
    {"AvgPoolGrad", avg_pool_grad, 2},
    {"SpaceToDepth", blocks<Way::to_depth>},
    {"DepthToSpace", blocks<Way::to_space>},
    {"SpaceToBatchND", space_to_batch, 3},
    {"BatchToSpaceND", batch_to_space, 3},
    {"ResizeBilinear", resize_bilinear, 2},
    {"ResizeBilinearGrad", resize_bilinear_grad, 2},
    {"ResizeNearestNeighbor", resize_nearest, 2},
    {"ResizeNearestNeighborGrad", resize_nearest_grad, 2},
    {"LRN", local_response},
    {"LRNGrad", local_response_grad, 3},
};

}  // namespace

std::span<const Rule> image_rules() { return kImageRules; }

}  // namespace importers::tensorflow
