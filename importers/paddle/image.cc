// Images: enlarging and shrinking them, means over uneven windows, norms over groups of channels, channels as places. What is done along a
// dimension is a sum of a few elements with constant weights ("taps"); its gradient is such a sum too, of the transposed weights.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "importers/lowering/places.h"
#include "importers/paddle/taps.h"

namespace importers::paddle {

Taps transposed(const Taps& taps, int64_t from) {
  std::vector<std::vector<std::pair<int64_t, double>>> back(static_cast<size_t>(from));
  for (size_t i = 0; i < taps.places.size(); ++i) {
    for (size_t k = 0; k < taps.places[i].size(); ++k) {
      const auto [place, weight] = taps.places[i][k];
      if (weight != 0) back[static_cast<size_t>(place)].emplace_back(static_cast<int64_t>(i), weight);
    }
  }
  return {std::move(back)};
}

size_t Taps::most() const {
  size_t most = 0;
  for (const auto& of_place : places) most = std::max(most, of_place.size());
  return most;
}

Value tapped(Body& b, Value x, const Taps& taps, int64_t axis) {
  const auto n = static_cast<int64_t>(taps.places.size());
  Value sum{};
  for (size_t k = 0; k < std::max<size_t>(taps.most(), 1); ++k) {
    ir::Literal index, weight;
    bool plain = true;
    for (const auto& of_place : taps.places) {
      const auto [place, share] = k < of_place.size() ? of_place[k] : std::pair<int64_t, double>(0, 0.0);
      plain = plain && share == 1;
      const ir::Literal at = ir::scalar_literal(ir::Type::s32, place), with = ir::scalar_literal(b.type(x), share);
      index.data.insert(index.data.end(), at.data.begin(), at.data.end());
      weight.data.insert(weight.data.end(), with.data.begin(), with.data.end());
    }
    Value term = take(b, x, b.constant(ir::array_shape(ir::Type::s32, {n}), std::move(index)), axis);
    if (!plain) term = times(b, term, b.broadcast(b.constant(ir::array_shape(b.type(x), {n}), std::move(weight)), b.dims(term), {axis}));
    sum = sum.id < 0 ? term : plus(b, sum, term);
  }
  return sum;
}

namespace {

using ir::Op;

constexpr size_t kMostTaps = 128;  // that a kernel adds up for a place, along a dimension

// ---------------------------------------------------------------- interpolation

/// How an image changes its size: coordinates as phi's interpolate kernels compute them.
struct Resize {
  Dims from, to;  ///< of the spatial dimensions
  std::vector<double> ratio;
  std::vector<int64_t> axes;
  bool corners = false, middles = false;
};

std::optional<Resize> resize_of(Call& c, std::string_view slot) {
  const Dims x = c.dims(slot);
  if (x.size() < 3 || x.size() > 5) return c.fail("is no image"), std::nullopt;
  const bool last = c.text("data_format").ends_with("C") || c.text("data_layout").ends_with("C");
  Resize r;
  r.corners = c.flag("align_corners", true), r.middles = !r.corners && c.integer("align_mode", 1) == 0;
  static constexpr std::string_view kSizes[] = {"out_d", "out_h", "out_w"};
  const size_t n = x.size() - 2;
  const auto given = c.sizes("out_size", {"OutSize", "SizeTensor"});
  if (!given && (c.has("OutSize") || c.has("SizeTensor"))) return c.fail("the size is known at run time only"), std::nullopt;
  const std::vector<double> scales = c.numbers("scale", "Scale");
  if (c.has("Scale") && scales.empty()) return c.fail("the scale is known at run time only"), std::nullopt;
  for (size_t i = 0; i < n; ++i) {
    const int64_t axis = static_cast<int64_t>(i) + (last ? 1 : 2), size = x[static_cast<size_t>(axis)];
    const double scale = scales.empty() ? 0 : scales[scales.size() == n ? i : 0];
    int64_t to = given && given->size() == n ? (*given)[i] : c.integer(kSizes[3 - n + i], -1);
    if (to < 1 && scale > 0) to = static_cast<int64_t>(static_cast<double>(size) * scale);
    if (size < 1 || to < 1 || to > 65536) return c.fail("the size is not known"), std::nullopt;
    const double between = to > 1 ? static_cast<double>(size - 1) / static_cast<double>(to - 1) : 0;
    r.from.push_back(size), r.to.push_back(to), r.axes.push_back(axis);
    r.ratio.push_back(r.corners ? between : scale > 0 ? 1 / scale : static_cast<double>(size) / static_cast<double>(to));
  }
  return r;
}

using Weigh = std::vector<std::pair<int64_t, double>> (*)(const Resize&, size_t dimension, int64_t place);

std::vector<std::pair<int64_t, double>> nearest(const Resize& r, size_t d, int64_t place) {
  const double at = r.ratio[d] * static_cast<double>(place) + (r.corners ? 0.5 : 0);
  return {{std::clamp<int64_t>(static_cast<int64_t>(std::floor(at)), 0, r.from[d] - 1), 1.0}};
}
std::vector<std::pair<int64_t, double>> linear(const Resize& r, size_t d, int64_t place) {
  const double at =
      r.middles ? std::max(r.ratio[d] * (static_cast<double>(place) + 0.5) - 0.5, 0.0) : r.ratio[d] * static_cast<double>(place);
  const int64_t low = std::min(static_cast<int64_t>(at), r.from[d] - 1), high = std::min(low + 1, r.from[d] - 1);
  const double share = at - static_cast<double>(low);
  return {{low, 1 - share}, {high, share}};
}
/// Keys' kernel with a = −0.75 over the four places around.
std::vector<std::pair<int64_t, double>> cubic(const Resize& r, size_t d, int64_t place) {
  const double at = r.corners ? r.ratio[d] * static_cast<double>(place) : r.ratio[d] * (static_cast<double>(place) + 0.5) - 0.5;
  const double low = std::floor(at), t = at - low;
  const auto inner = [](double x) { return ((-0.75 + 2) * x - (-0.75 + 3)) * x * x + 1; };
  const auto outer = [](double x) { return ((-0.75 * x - 5 * -0.75) * x + 8 * -0.75) * x - 4 * -0.75; };
  const double weights[] = {outer(t + 1), inner(t), inner(1 - t), outer(2 - t)};
  std::vector<std::pair<int64_t, double>> taps;
  for (int64_t k = 0; k < 4; ++k) taps.emplace_back(std::clamp<int64_t>(static_cast<int64_t>(low) - 1 + k, 0, r.from[d] - 1), weights[k]);
  return taps;
}

Taps taps_of(const Resize& r, size_t d, Weigh weigh) {
  Taps taps;
  for (int64_t place = 0; place < r.to[d]; ++place) taps.places.push_back(weigh(r, d, place));
  return taps;
}

template <Weigh kWeigh>
void interpolate(Call& c) {
  const auto r = resize_of(c, "X");
  if (!r) return;
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    Value value = widen(b, in[0]);
    for (size_t d = 0; d < r->axes.size(); ++d) value = tapped(b, value, taps_of(*r, d, kWeigh), r->axes[d]);
    return b.convert(value, b.type(in[0]));
  }));
}
template <Weigh kWeigh>
void interpolate_grad(Call& c) {
  const auto r = resize_of(c, "X");
  if (!r) return;
  Dims expected = c.dims("X");
  std::vector<Taps> back;
  for (size_t d = 0; d < r->axes.size(); ++d) {
    expected[static_cast<size_t>(r->axes[d])] = r->to[d];
    back.push_back(transposed(taps_of(*r, d, kWeigh), r->from[d]));
    if (back.back().most() > kMostTaps) return c.fail(fmt::format("more than {} places share one", kMostTaps));
  }
  if (c.dims("Out@GRAD") != expected) return c.fail("the gradient has another size than the result");
  c.set("X@GRAD", c.fuse1({c.in("Out@GRAD")}, [&](Body& b, In in) {
    Value value = widen(b, in[0]);
    for (size_t d = back.size(); d-- > 0;) value = tapped(b, value, back[d], r->axes[d]);
    return b.convert(value, b.type(in[0]));
  }));
}

// ---------------------------------------------------------------- norms over groups of channels

/// Channels first: [n, groups, channels of a group, places].
struct Grouped {
  Dims x, apart;
};
std::optional<Grouped> grouped(Call& c, int64_t groups) {
  const Dims x = c.dims("X");
  if (x.size() < 2 || c.text("data_layout") == "NHWC" || c.text("data_format") == "NHWC")
    return c.fail("only channels in front are lowered"), std::nullopt;
  if (groups < 1 || x[1] % groups != 0) return c.fail("the groups do not divide the channels"), std::nullopt;
  for (const std::string_view slot : {"Scale", "Bias"}) {
    if (c.has(slot) && elements_of(c.dims(slot)) != x[1]) return c.fail("scale or bias are no vector over channels"), std::nullopt;
  }
  return Grouped{x, {x[0], groups, x[1] / groups, elements_of(Dims(x.begin() + 2, x.end()))}};
}
Value by_channel(Body& b, Value value, const Grouped& g) {
  return b.broadcast(b.reshape(widen(b, value), {g.apart[1], g.apart[2]}), g.apart, {1, 2});
}
Value by_group(Body& b, Value value, const Grouped& g) { return b.broadcast(value, g.apart, {0, 1}); }
Value mean_of(Body& b, Value value, const Grouped& g) {
  return times(b, b.reduce(Op::add, value, {2, 3}), 1 / static_cast<double>(std::max<int64_t>(g.apart[2] * g.apart[3], 1)));
}

/// What a norm saves for its gradient.
enum class Saves : uint8_t { variance, inverse_deviation };

/// (x − mean) / √(variance + ε)·scale + bias, over each group of channels of each image.
void norm(Call& c, int64_t groups, Saves saves, const std::array<std::string_view, 2>& saved) {
  const auto g = grouped(c, groups);
  if (!g) return;
  Values operands{c.in("X")};
  const bool scales = c.has("Scale"), shifts = c.has("Bias");
  if (scales) operands.push_back(c.in("Scale"));
  if (shifts) operands.push_back(c.in("Bias"));
  const double epsilon = c.number("epsilon", 1e-5);
  const Dims of_saved = saves == Saves::variance ? Dims{g->apart[0], g->apart[1]} : Dims{g->apart[0] * g->apart[1]};
  const Values results = c.program().fuse(operands, [&](Body& b, In in) {
    const Value x = b.reshape(widen(b, in[0]), g->apart);
    const Value mean = mean_of(b, x, *g), centred = b.binary(Op::subtract, x, by_group(b, mean, *g));
    const Value variance = mean_of(b, times(b, centred, centred), *g), r = b.unary(Op::rsqrt, plus(b, variance, epsilon));
    Value y = times(b, centred, by_group(b, r, *g));
    if (scales) y = times(b, y, by_channel(b, in[1], *g));
    if (shifts) y = plus(b, y, by_channel(b, in[scales ? 2 : 1], *g));
    return Values{b.convert(b.reshape(y, g->x), b.type(in[0])), b.reshape(mean, of_saved),
                  b.reshape(saves == Saves::variance ? variance : r, of_saved)};
  });
  c.set("Y", results[0]);
  c.set(saved[0], results[1]);
  c.set(saved[1], results[2]);
}

/// With x̂ = (x − mean)·r, g = dY·scale: dX = r·(g − mean(g) − x̂·mean(g·x̂)); dScale = Σ dY·x̂, dBias = Σ dY.
void norm_grad(Call& c, int64_t groups, Saves saves, const std::array<std::string_view, 2>& saved) {
  const auto g = grouped(c, groups);
  if (!g) return;
  const Dims of_group{g->apart[0], g->apart[1]}, channels{g->x[1]};
  if (elements_of(c.dims(saved[0])) != elements_of(of_group) || elements_of(c.dims(saved[1])) != elements_of(of_group))
    return c.fail("the saved statistics have another size");
  const bool scales = c.has("Scale");
  Values operands{c.in("X"), c.in(saved[0]), c.in(saved[1]), c.in("Y@GRAD")};
  if (scales) operands.push_back(c.in("Scale"));
  std::vector<std::string_view> slots;
  for (const std::string_view slot : {"X@GRAD", "Scale@GRAD", "Bias@GRAD"}) {
    if (c.wants(slot)) slots.push_back(slot);
  }
  const double epsilon = c.number("epsilon", 1e-5);
  const Values results = c.program().fuse(operands, [&](Body& b, In in) {
    const Value x = b.reshape(widen(b, in[0]), g->apart), dy = b.reshape(widen(b, in[3]), g->apart);
    Value r = b.reshape(widen(b, in[2]), of_group);
    if (saves == Saves::variance) r = b.unary(Op::rsqrt, plus(b, r, epsilon));
    const Value spread = by_group(b, r, *g), mean = by_group(b, b.reshape(widen(b, in[1]), of_group), *g);
    const Value hat = times(b, b.binary(Op::subtract, x, mean), spread);
    const Value weighted = scales ? times(b, dy, by_channel(b, in[4], *g)) : dy;
    const Value pull =
        plus(b, by_group(b, mean_of(b, weighted, *g), *g), times(b, hat, by_group(b, mean_of(b, times(b, weighted, hat), *g), *g)));
    Values made;
    for (const std::string_view slot : slots) {
      if (slot == "X@GRAD")
        made.push_back(b.convert(b.reshape(times(b, spread, b.binary(Op::subtract, weighted, pull)), g->x), b.type(in[0])));
      else
        made.push_back(b.convert(b.reshape(b.reduce(Op::add, slot == "Scale@GRAD" ? times(b, dy, hat) : dy, {0, 3}), channels),
                                 scales ? b.type(in[4]) : b.type(x)));
    }
    return made;
  });
  for (size_t k = 0; k < slots.size(); ++k) c.set(slots[k], results[k]);
}

int64_t channel_count(Call& c) { return c.dims("X").size() > 1 ? c.dims("X")[1] : 0; }
void group_norm(Call& c) { norm(c, c.integer("groups", 1), Saves::variance, {"Mean", "Variance"}); }
void group_norm_grad(Call& c) { norm_grad(c, c.integer("groups", 1), Saves::variance, {"Mean", "Variance"}); }
void instance_norm(Call& c) { norm(c, channel_count(c), Saves::inverse_deviation, {"SavedMean", "SavedVariance"}); }
void instance_norm_grad(Call& c) { norm_grad(c, channel_count(c), Saves::inverse_deviation, {"SavedMean", "SavedVariance"}); }

// ---------------------------------------------------------------- channels as places

/// [n, c·k·k, h, w] ↔ [n, c, h·k, w·k]
enum class Way : uint8_t { to_places, to_channels };
template <Way kWay>
void shuffle(Call& c, std::string_view from, std::string_view to, std::string_view factor) {
  const Dims x = c.dims(from);
  const int64_t k = c.integer(factor, 1);
  if (x.size() != 4 || k < 1 || k > 1024 || c.text("data_format") == "NHWC") return c.fail("is no image with channels in front");
  const bool fits = kWay == Way::to_places ? x[1] % (k * k) == 0 : x[2] % k == 0 && x[3] % k == 0;
  if (!fits) return c.fail("the factor does not divide the sizes");
  c.set(to, c.fuse1({c.in(from)}, [&](Body& b, In in) {
    if (kWay == Way::to_places) {
      const int64_t channels = x[1] / (k * k);
      const Value apart = b.transpose(b.reshape(in[0], {x[0], channels, k, k, x[2], x[3]}), {0, 1, 4, 2, 5, 3});
      return b.reshape(apart, {x[0], channels, x[2] * k, x[3] * k});
    }
    const Value apart = b.transpose(b.reshape(in[0], {x[0], x[1], x[2] / k, k, x[3] / k, k}), {0, 1, 3, 5, 2, 4});
    return b.reshape(apart, {x[0], x[1] * k * k, x[2] / k, x[3] / k});
  }));
}
void pixel_shuffle(Call& c) { shuffle<Way::to_places>(c, "X", "Out", "upscale_factor"); }
void pixel_shuffle_grad(Call& c) { shuffle<Way::to_channels>(c, "Out@GRAD", "X@GRAD", "upscale_factor"); }
void pixel_unshuffle(Call& c) { shuffle<Way::to_channels>(c, "X", "Out", "downscale_factor"); }
void pixel_unshuffle_grad(Call& c) { shuffle<Way::to_places>(c, "Out@GRAD", "X@GRAD", "downscale_factor"); }

constexpr Row kImageRows[] = {
    {"bicubic_interp", interpolate<cubic>, "X"},
    {"bicubic_interp_grad", interpolate_grad<cubic>, "X Out@GRAD"},
    {"bicubic_interp_v2", interpolate<cubic>, "X"},
    {"bicubic_interp_v2_grad", interpolate_grad<cubic>, "X Out@GRAD"},
    {"bilinear_interp", interpolate<linear>, "X"},
    {"bilinear_interp_grad", interpolate_grad<linear>, "X Out@GRAD"},
    {"bilinear_interp_v2", interpolate<linear>, "X"},
    {"bilinear_interp_v2_grad", interpolate_grad<linear>, "X Out@GRAD"},
    {"group_norm", group_norm, "X"},
    {"group_norm_grad", group_norm_grad, "X Mean Variance Y@GRAD"},
    {"instance_norm", instance_norm, "X"},
    {"instance_norm_grad", instance_norm_grad, "X SavedMean SavedVariance Y@GRAD"},
    {"linear_interp", interpolate<linear>, "X"},
    {"linear_interp_grad", interpolate_grad<linear>, "X Out@GRAD"},
    {"linear_interp_v2", interpolate<linear>, "X"},
    {"linear_interp_v2_grad", interpolate_grad<linear>, "X Out@GRAD"},
    {"nearest_interp", interpolate<nearest>, "X"},
    {"nearest_interp_grad", interpolate_grad<nearest>, "X Out@GRAD"},
    {"nearest_interp_v2", interpolate<nearest>, "X"},
    {"nearest_interp_v2_grad", interpolate_grad<nearest>, "X Out@GRAD"},
    {"pixel_shuffle", pixel_shuffle, "X"},
    {"pixel_shuffle_grad", pixel_shuffle_grad, "Out@GRAD"},
    {"pixel_unshuffle", pixel_unshuffle, "X"},
    {"pixel_unshuffle_grad", pixel_unshuffle_grad, "Out@GRAD"},
    {"trilinear_interp", interpolate<linear>, "X"},
    {"trilinear_interp_grad", interpolate_grad<linear>, "X Out@GRAD"},
};

}  // namespace

std::span<const Row> image_rows() { return kImageRows; }

}  // namespace importers::paddle
