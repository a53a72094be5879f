// Which kind of convolution in parts a convolution is, and what its kinds share.
#include "replay/device/cpu/parts_convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "replay/device/cpu/parts_places.h"
#include "replay/device/cpu/threads.h"
#include "src/base/math.h"

namespace replay::cpu {
namespace {

using Dim = Convolution::Dim;

constexpr int64_t kStreamedBytes = 16 << 20;
constexpr int64_t kFewestFeatures = 32;  ///< below, blocks of 32 are filled up with zeros

bool all_of(const Convolution& c, auto predicate) { return std::ranges::all_of(c.dims, predicate); }

/// Places of X under windows of one place, all inside it.
bool is_pointwise(const Convolution& c) {
  return all_of(c, [](const Dim& d) {
    const bool inside = d.base_dilation == 1 ? (d.out - 1) * d.stride < d.in : d.stride == 1;
    return d.window == 1 && d.pad_low == 0 && inside;
  });
}

/// Images lie densely, so that zeros between places are one run.
bool is_dense(const Convolution& c) {
  int64_t expected = c.out_features;
  for (size_t i = c.dims.size(); i-- > 0; expected *= c.dims[i].out) {
    if (c.dims[i].y != expected) return false;
  }
  return c.y.outer == expected;
}

using MakeParts = std::unique_ptr<Native> (*)(const Convolution&, int, std::shared_ptr<Scratch>, std::unique_ptr<Native>);

/// Null: none of them.
MakeParts make_of(const Convolution& c) {
  double window = 1, out = 1;
  for (const Dim& d : c.dims) window *= static_cast<double>(d.window), out *= static_cast<double>(d.out);
  if (window > out) {
    const bool few = c.batch < kFewestFeatures || c.out_features < kFewestFeatures;
    const bool simple = all_of(c, [&](const Dim& d) { return d.base_dilation == 1 && !d.reversed && d.stride == 1; });
    const bool strides = out == 1 ? all_of(c, [](const Dim& d) { return d.pad_low == 0 && (d.window - 1) * d.window_dilation < d.in; })
                                  : all_of(c, [](const Dim& d) { return d.window_dilation == 1 && d.pad_low >= 0; });
    return !few && simple && strides && c.x.outer == 1 && c.w.outer == 1 ? make_parts_weights : nullptr;
  }
  if (c.in_features < kFewestFeatures || c.out_features < kFewestFeatures) return nullptr;
  if (c.x.inner != 1 || c.y.inner != 1 || (c.w.outer != 1 && c.w.inner != 1)) return nullptr;
  if (is_pointwise(c)) return is_dense(c) || all_of(c, [](const Dim& d) { return d.base_dilation == 1; }) ? make_parts_pointwise : nullptr;
  return all_of(c, [](const Dim& d) { return d.stride == 1 && d.base_dilation == 1; }) ? make_parts_spatial : nullptr;
}

}  // namespace

bool streams(const Convolution& c) {
  const bool gaps = std::ranges::any_of(c.dims, [](const Dim& d) { return d.base_dilation > 1; });
  int64_t bytes = c.batch * c.out_features * 4;
  for (const Dim& d : c.dims) bytes *= d.out;
  return !gaps && bytes >= kStreamedBytes;
}

Magnitudes pack_weights(const Convolution& c, const PartsKernels& kernels, int threads, const float* w, std::byte* packed) {
  const Dim &rows = c.dims[0], &columns = c.dims[1];
  const int64_t blocks = base::ceil_div(c.in_features, kPartsSide), strip_blocks = rows.window * columns.window * blocks;
  std::vector<Magnitudes> seen(static_cast<size_t>(strip_blocks));
  const std::vector<float> zeros(static_cast<size_t>(c.out_features));
  for_ranges(strip_blocks, threads, [&](int64_t index, int64_t) {
    const int64_t block = index % blocks, row = index / blocks / columns.window, column = index / blocks % columns.window;
    const auto place = [](const Dim& d, int64_t k) { return (d.reversed ? d.window - 1 - k : k) * d.w; };
    const float* const from = w + place(rows, row) + place(columns, column) + block * kPartsSide * c.w.inner;
    const int64_t terms = std::min(kPartsSide, c.in_features - block * kPartsSide);
    Magnitudes& here = seen[static_cast<size_t>(index)];
    std::byte* const to = packed + index * kPartsBlock;
    if (c.w.outer != 1) {
      here = kernels.pack_turned(from, c.w.outer, terms, c.out_features, to, strip_blocks * kPartsBlock);
      return;
    }
    const float* lines[kPartsSide];
    for (int64_t i = 0; i < kPartsSide; ++i) lines[i] = i < terms ? from + i * c.w.inner : zeros.data();
    here = kernels.pack_columns(lines, c.out_features, to, strip_blocks * kPartsBlock);
  });
  Magnitudes all;
  for (const Magnitudes& m : seen) all.merge(m);
  return all;
}

base::Result<std::unique_ptr<Native>> make_parts_convolution(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch,
                                                             std::unique_ptr<Native>& fallback) {
  const bool f32 = op.x.type == ir::Type::f32 && op.w.type == ir::Type::f32 && op.y.type == ir::Type::f32;
  if (parts_kernels() == nullptr || !f32) return base::Error{"convolution in parts: no matrix unit, or not f32"};
  const MakeParts make = op.dims.size() == 2 && op.groups == 1 && op.flops() > 0 ? make_of(op) : nullptr;
  if (make == nullptr) return base::Error{"convolution in parts: another shape; use oneDNN's"};
  return make(op, threads, std::move(scratch), std::move(fallback));
}

}  // namespace replay::cpu
