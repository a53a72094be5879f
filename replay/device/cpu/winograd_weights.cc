// Gradients of 3×3 windows by Winograd's algorithm: the factors of both images are multiplied and summed over all tiles, and the sums
// become the gradient.
//
// Where the sums are small, each thread takes its own part of the tiles, a few at a time. Otherwise all threads transform
// many tiles together, and then each sums them for some of the 36 factors; what lies between fits the last-level cache.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "replay/device/cpu/packed_kernels.h"
#include "replay/device/cpu/threads.h"
#include "replay/device/cpu/winograd.h"
#include "replay/device/cpu/winograd_tiles.h"
#include "src/base/math.h"

namespace replay::cpu {
namespace {

constexpr int64_t kSharedBytes = 20 << 20;  ///< of factors of tiles: in the last-level cache
constexpr int64_t kPartBytes = 768 << 10;   ///< of factors of tiles: in the second-level cache
constexpr int64_t kPartSums = 4 << 20;      ///< bytes of a part
constexpr int64_t kTilesOfPart = 256;       ///< of a part
constexpr int64_t kTilesOfRange = 8;        ///< that a thread transforms at a time
constexpr int64_t kMostDepth = 128;         ///< tiles that are summed in registers: a strip of them stays in the first-level cache

using Dim = Convolution::Dim;

class WinogradWeights final : public Native {
 public:
  WinogradWeights(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch);
  void run(std::span<const void* const> in, std::span<void* const> out) override;
  std::string implementation() const override {
    return fmt::format("backward weights by winograd 4x4 of 3x3, {}", packed_kernels(isa_)->name);
  }
  std::string precision() const override { return std::string(kWinogradOperands) + "→f32"; }

 private:
  struct Memory {
    float *x, *dy, *sums;  ///< [factor][tile][feature], [factor][tile][result], [factor][strip][row of tiles][row][column]
    const float* zeros;
  };
  void sum_part(int64_t part, const float* x, const float* dy, const Memory& memory) const;
  void transform(int64_t tile, int64_t at, const float* x, const float* dy, const Memory& memory) const;
  void multiply(int64_t factor, int64_t count, Tile start, const Memory& memory) const;
  void add_parts(float* sums) const;
  void transform_sums(float* sums, float* dw) const;
  float* sum(float* sums, int64_t factor, int64_t strip, int64_t row) const {
    return sums + ((factor * (results_ / strip_) + strip) * rows_ + row) * height_ * strip_;
  }

  Tiles tiles_;
  int64_t features_, results_, x_step_, dy_step_;  ///< floats between tiles: an odd number of lines, which share no sets of a cache
  int64_t row_step_, column_step_, feature_step_;  ///< of the gradient, results adjacent
  int threads_;
  std::shared_ptr<Scratch> scratch_;
  Isa isa_ = best_isa() == Isa::amx ? Isa::avx512 : best_isa();
  const TileKernels* kernels_ = &packed_kernels(isa_)->tiles[static_cast<size_t>(Arithmetic::f32)];
  const MultiplyLines* multiply_ = packed_kernels(isa_)->multiply_lines;
  const WinogradTransforms* transforms_ = &packed_kernels(isa_)->winograd;
  int64_t height_ = kernels_->rows, strip_ = kernels_->columns, rows_;
  int64_t sums_;          ///< floats of the sums of a part
  int64_t parts_ = 1;     ///< that tiles are dealt out to, one a thread; 1: threads share the work on all
  int64_t part_, chunk_;  ///< tiles of a part, tiles at a time
};

Tiles tiles_of_gradient(const Convolution& c) {
  return {c.in_features, tile_images(c, &Dim::window, &Dim::w, c.w.inner), tile_images(c, &Dim::in, &Dim::x, c.x.inner), c.dims[0].pad_low,
          c.dims[1].pad_low};
}

WinogradWeights::WinogradWeights(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch)
    : tiles_(tiles_of_gradient(op)),
      features_(op.batch),
      results_(op.out_features),
      x_step_(base::round_up(features_, 2 * kFeatures) + kFeatures),
      dy_step_(base::round_up(results_, 2 * kFeatures) + kFeatures),
      row_step_(op.dims[0].y),
      column_step_(op.dims[1].y),
      feature_step_(op.y.outer),
      threads_(threads),
      scratch_(std::move(scratch)),
      rows_(base::ceil_div(features_, height_)),
      sums_(kTileFactors * results_ * rows_ * height_) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(float));
  if (sums_ * kBytes <= kPartSums && tiles_.count() >= threads_ * kTilesOfPart) parts_ = threads_;
  part_ = base::ceil_div(tiles_.count(), parts_);
  const int64_t bytes_of_tile = kTileFactors * (x_step_ + dy_step_) * kBytes;
  const int64_t chunks = base::ceil_div(part_ * bytes_of_tile, parts_ > 1 ? kPartBytes : kSharedBytes);
  chunk_ = base::round_up(base::ceil_div(part_, chunks), kTilesOfRange);
}

void WinogradWeights::sum_part(int64_t part, const float* x, const float* dy, const Memory& memory) const {
  const int64_t begin = part * part_, end = std::min(begin + part_, tiles_.count());
  const int threads = parts_ > 1 ? 1 : threads_;
  if (begin >= end) std::fill_n(memory.sums, sums_, 0.0F);
  for (int64_t first = begin; first < end; first += chunk_) {
    const int64_t count = std::min(chunk_, end - first);
    for_ranges(base::ceil_div(count, kTilesOfRange), threads, [&](int64_t range, int64_t) {
      for (int64_t tile = range * kTilesOfRange; tile < std::min(count, (range + 1) * kTilesOfRange); ++tile)
        transform(first + tile, tile, x, dy, memory);
    });
    for_ranges(kTileFactors, threads,
               [&](int64_t factor, int64_t) { multiply(factor, count, first == begin ? Tile::first : Tile::add, memory); });
  }
}

void WinogradWeights::transform(int64_t tile, int64_t at, const float* x, const float* dy, const Memory& memory) const {
  const float *places[kTileFactors], *results[kTileResults * kTileResults];
  float* to[kTileFactors];
  tiles_.large(tile, x, memory.zeros, places);
  for (int64_t f = 0; f < kTileFactors; ++f) to[f] = memory.x + (f * chunk_ + at) * x_step_;
  transforms_->image(places, to, features_);
  tiles_.small(tile, dy, memory.zeros, results);
  for (int64_t f = 0; f < kTileFactors; ++f) to[f] = memory.dy + (f * chunk_ + at) * dy_step_;
  transforms_->result_gradient(results, to, results_);
}

void WinogradWeights::multiply(int64_t factor, int64_t count, Tile start, const Memory& memory) const {
  for (int64_t tile = 0; tile < count; tile += kMostDepth, start = Tile::add) {
    const int64_t depth = std::min(kMostDepth, count - tile);
    const float* const a = memory.x + (factor * chunk_ + tile) * x_step_;
    const float* const b = memory.dy + (factor * chunk_ + tile) * dy_step_;
    for (int64_t strip = 0; strip * strip_ < results_; ++strip) {
      for (int64_t row = 0; row < rows_; ++row) {
        float* const to = sum(memory.sums, factor, strip, row);
        multiply_[std::min(height_, features_ - row * height_) - 1](
            {depth, a + row * height_, x_step_, b + strip * strip_, dy_step_, to, start, to, 0});
      }
    }
  }
}

void WinogradWeights::add_parts(float* sums) const {
  for_ranges(parts_ > 1 ? kTileFactors : 0, threads_, [&](int64_t factor, int64_t) {
    const int64_t count = sums_ / kTileFactors;
    float* const to = sums + factor * count;
    for (int64_t part = 1; part < parts_; ++part)
      for (int64_t i = 0; i < count; ++i) to[i] += to[part * sums_ + i];
  });
}

void WinogradWeights::transform_sums(float* sums, float* dw) const {
  for_ranges(features_, threads_, [&](int64_t feature, int64_t) {
    const float* from[kTileFactors];
    float* to[kTileWindow * kTileWindow];
    for (int64_t strip = 0; strip * strip_ < results_; ++strip) {
      for (int64_t f = 0; f < kTileFactors; ++f) from[f] = sum(sums, f, strip, feature / height_) + feature % height_ * strip_;
      for (int64_t i = 0; i < kTileWindow * kTileWindow; ++i)
        to[i] = dw + i / kTileWindow * row_step_ + i % kTileWindow * column_step_ + feature * feature_step_ + strip * strip_;
      transforms_->window_gradient(from, to, strip_);
    }
  });
}

void WinogradWeights::run(std::span<const void* const> in, std::span<void* const> out) {
  const int64_t x_floats = kTileFactors * chunk_ * x_step_, dy_floats = kTileFactors * chunk_ * dy_step_;
  const int64_t zeros = base::round_up(std::max(features_, results_), kFeatures);
  auto* const memory = reinterpret_cast<float*>(
      scratch_->pieces(1, (zeros + parts_ * (sums_ + x_floats + dy_floats)) * static_cast<int64_t>(sizeof(float))).front());
  std::fill_n(memory, zeros, 0.0F);
  float *const sums = memory + zeros, *const factors = sums + parts_ * sums_;
  for_ranges(parts_, threads_, [&](int64_t part, int64_t) {
    float* const own = factors + part * (x_floats + dy_floats);
    sum_part(part, static_cast<const float*>(in[0]), static_cast<const float*>(in[1]), {own, own + x_floats, sums + part * sums_, memory});
  });
  add_parts(sums);
  transform_sums(sums, static_cast<float*>(out[0]));
}

}  // namespace

base::Result<std::unique_ptr<Native>> make_winograd_weights(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch) {
  const bool f32 = op.x.type == ir::Type::f32 && op.w.type == ir::Type::f32 && op.y.type == ir::Type::f32;
  const bool dense = op.groups == 1 && op.dims.size() == 2 && std::ranges::all_of(op.dims, [](const Dim& d) {
                       return d.out == kTileWindow && d.stride == 1 && d.base_dilation == 1 && d.window_dilation == 1 && !d.reversed;
                     });
  if (!f32 || !dense || op.flops() == 0) return base::Error{"winograd: no f32 gradient of dense 3×3 windows"};
  if (op.x.outer != 1 || op.w.outer != 1 || op.y.inner != 1) return base::Error{"winograd: features that are not adjacent"};
  if (op.batch % kFeatures != 0 || op.out_features % kStrip != 0) return base::Error{"winograd: features that fill no vectors"};
  if (!tiles_of_gradient(op).worth(op.batch, op.out_features)) return base::Error{"winograd: transforms would outweigh products"};
  return std::unique_ptr<Native>(std::make_unique<WinogradWeights>(op, threads, std::move(scratch)));
}

}  // namespace replay::cpu
