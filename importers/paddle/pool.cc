// Pools over two and three dimensions of space and their gradients: each one kernel.
#include <algorithm>

#include "importers/paddle/lower.h"
#include "importers/paddle/taps.h"

namespace importers::paddle {
namespace {

using ir::Op;

struct Pool {
  std::vector<ir::WindowDim> window;
  Dims x;
  bool max = true, global = false, exclusive = true;
  size_t first = 2;  ///< of the dimensions of space
  size_t space() const { return x.size() - 2; }
  /// Of an image, all together.
  double places() const {
    double n = 1;
    for (size_t i = 0; i < space(); ++i) n *= static_cast<double>(x[first + i]);
    return n;
  }
  Dims beyond;              ///< what ceil_mode lets the last windows hang over the padding
  std::vector<Taps> means;  ///< of windows that differ in size, along each dimension
};

/// As many windows as asked for: element i of n has ⌊i·size / n⌋ … ⌈(i + 1)·size / n⌉ − 1.
std::optional<Pool> adaptive(Call& c, Pool pool, const Dims& counts) {
  if (counts.size() != pool.space() || !fit_windows(counts) || std::ranges::min(counts) < 1)
    return c.fail("has a window of another rank"), std::nullopt;
  pool.window.resize(pool.x.size());
  bool even = true;
  for (size_t i = 0; i < pool.space(); ++i) {
    const int64_t size = pool.x[pool.first + i], n = counts[i];
    even = even && size > 0 && size % n == 0;
    ir::WindowDim& dim = pool.window[pool.first + i];
    dim.size = dim.stride = std::max<int64_t>(size / n, 1);
    Taps taps;
    for (int64_t place = 0; place < n; ++place) {
      auto& of_place = taps.places.emplace_back();
      const int64_t from = place * size / n, to = ((place + 1) * size + n - 1) / n;
      for (int64_t k = from; k < to; ++k) of_place.emplace_back(k, 1 / static_cast<double>(to - from));
    }
    pool.means.push_back(std::move(taps));
  }
  if (even) return pool.means.clear(), pool;
  if (pool.max) return c.fail("maxima of windows that differ in size are not lowered"), std::nullopt;
  return pool;
}

std::optional<Pool> pool_of(Call& c) {
  Pool pool;
  pool.x = c.dims("X");
  if (pool.x.size() != 4 && pool.x.size() != 5) return c.fail("only pools of two or three dimensions are lowered"), std::nullopt;
  const size_t space = pool.space();
  pool.beyond = Dims(space, 0);
  pool.max = c.text("pooling_type") == "max";
  pool.first = c.text("data_format").ends_with('C') ? 1 : 2;
  pool.exclusive = c.flag("exclusive", true);
  const Dims ksize = c.sizes("ksize", {"KernelSize"}).value_or(Dims{}), strides = c.sizes("strides").value_or(Dims(space, 1)),
             paddings = c.sizes("paddings").value_or(Dims(space, 0));
  pool.global = c.flag("global_pooling") || (c.flag("adaptive") && ksize == Dims(space, 1));
  if (c.flag("adaptive") && !pool.global) return adaptive(c, std::move(pool), ksize);
  if (!pool.global && (ksize.size() != space || strides.size() != space || (paddings.size() != space && paddings.size() != 2 * space)))
    return c.fail("has a window of another rank"), std::nullopt;
  if (!fit_windows(ksize) || !fit_windows(strides) || !fit_windows(paddings)) return c.fail("has a window that is too large"), std::nullopt;
  pool.window.resize(pool.x.size());
  for (size_t i = 0; i < pool.space(); ++i) {
    const int64_t size = pool.x[pool.first + i];
    ir::WindowDim& dim = pool.window[pool.first + i];
    if (pool.global) {
      dim.size = std::max<int64_t>(size, 1);
      continue;
    }
    if (ksize[i] < 1 || strides[i] < 1) return c.fail("has a window or a stride below 1"), std::nullopt;
    dim.size = ksize[i], dim.stride = strides[i];
    dim.pad_low = paddings[paddings.size() == space ? i : 2 * i], dim.pad_high = paddings[paddings.size() == space ? i : 2 * i + 1];
    if (c.text("padding_algorithm") == "VALID") dim.pad_low = dim.pad_high = 0;
    if (c.text("padding_algorithm") == "SAME") {
      const int64_t all = std::max<int64_t>(((size + dim.stride - 1) / dim.stride - 1) * dim.stride + dim.size - size, 0);
      dim.pad_low = all / 2, dim.pad_high = all - all / 2;
    }
    const int64_t left = (size + dim.pad_low + dim.pad_high - dim.size) % dim.stride;
    if (c.flag("ceil_mode") && left > 0) pool.beyond[i] = dim.stride - left, dim.pad_high += pool.beyond[i];
    if (size + dim.pad_low + dim.pad_high < dim.size) return c.fail("the window is larger than the input"), std::nullopt;
  }
  return pool;
}

/// How many elements each window holds: those of the input or, not exclusive, of its padding too, but for what hangs over that.
Value held(Body& b, const Pool& pool, ir::Type type) {
  double all = 1;
  for (const ir::WindowDim& dim : pool.window) all *= static_cast<double>(dim.size);
  Dims counted = pool.x;
  std::vector<ir::WindowDim> window = pool.window;
  const bool hangs_over = pool.beyond != Dims(pool.beyond.size(), 0);
  for (size_t i = 0; i < pool.space() && !pool.exclusive && hangs_over; ++i) {
    ir::WindowDim& dim = window[pool.first + i];
    counted[pool.first + i] += dim.pad_low + dim.pad_high - pool.beyond[i];
    dim.pad_low = 0, dim.pad_high = pool.beyond[i];
  }
  const Value counts = b.reduce_window(Op::add, b.fill(type, counted, 1), window);
  const bool padded = std::ranges::any_of(pool.window, [](const ir::WindowDim& dim) { return dim.pad_low > 0 || dim.pad_high > 0; });
  return (pool.exclusive && padded) || hangs_over ? counts : b.like(counts, all);
}

void pool(Call& c) {
  const auto pool = pool_of(c);
  if (!pool) return;
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    if (pool->max) return b.reduce_window(Op::maximum, in[0], pool->window);
    Value x = widen(b, in[0]);
    for (size_t i = 0; i < pool->means.size(); ++i) x = tapped(b, x, pool->means[i], static_cast<int64_t>(pool->first + i));
    if (!pool->means.empty()) return b.convert(x, b.type(in[0]));
    if (pool->global) {
      const auto first = static_cast<int64_t>(pool->first);
      const Dims space = counting(first, first + static_cast<int64_t>(pool->space()));
      return b.convert(times(b, b.reduce_keep(Op::add, x, space), 1 / pool->places()), b.type(in[0]));
    }
    return b.convert(b.binary(Op::divide, b.reduce_window(Op::add, x, pool->window), held(b, *pool, b.type(x))), b.type(in[0]));
  }));
}

/// Each element's share of all windows that hold it: a sum over windows of the shares, spread by the strides.
Value shared_back(Body& b, const Pool& pool, Value dout) {
  const Value share = b.binary(Op::divide, dout, held(b, pool, b.type(dout)));
  std::vector<ir::PadDim> pads(pool.x.size());
  std::vector<ir::WindowDim> window(pool.x.size());
  for (size_t i = pool.first; i < pool.first + pool.space(); ++i) {
    const ir::WindowDim& dim = pool.window[i];
    const int64_t low = dim.size - 1 - dim.pad_low, spread = (b.dims(dout)[i] - 1) * dim.stride + 1;
    pads[i] = {low, pool.x[i] - 1 + dim.size - spread - low, dim.stride - 1};
    window[i].size = dim.size;
  }
  return b.reduce_window(Op::add, b.pad(share, b.constant(b.type(share), 0), pads), window);
}

/// Of a maximum: to the greatest element of each window. Of a mean: the same share to all.
void pool_grad(Call& c) {
  auto pool = pool_of(c);
  if (!pool) return;
  for (size_t i = 0; i < pool->means.size(); ++i) pool->means[i] = transposed(pool->means[i], pool->x[pool->first + i]);
  c.set("X@GRAD", c.fuse1({c.in("X"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    if (pool->max) return b.select_and_scatter(in[0], pool->window, in[1]);
    Value dout = widen(b, in[1]);
    for (size_t i = 0; i < pool->means.size(); ++i) dout = tapped(b, dout, pool->means[i], static_cast<int64_t>(pool->first + i));
    if (!pool->means.empty()) return b.convert(dout, b.type(in[1]));
    if (!pool->global) return b.convert(shared_back(b, *pool, dout), b.type(in[1]));
    return b.convert(b.expand(times(b, dout, 1 / pool->places()), pool->x), b.type(in[1]));
  }));
}

constexpr Row kPoolRows[] = {
    {"pool2d", pool, "X"},
    {"pool2d_grad", pool_grad, "X Out@GRAD"},
    {"pool3d", pool, "X"},
    {"pool3d_grad", pool_grad, "X Out@GRAD"},
};

}  // namespace

std::span<const Row> pool_rows() { return kPoolRows; }

}  // namespace importers::paddle
