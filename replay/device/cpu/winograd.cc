// Forward convolutions of 3×3 windows and gradients of their inputs by Winograd's algorithm.
//
// Windows become 36 matrices, and so do places of the images, some tiles at a time; these are multiplied, and the sums become the results
// of the tiles. A task takes a block of tiles through all steps, so that what lies between stays in the caches of its core. Where the
// windows are larger than the images, it takes a block of results instead: of windows of many features 36 matrices would have to come from
// memory.
#include "replay/device/cpu/winograd.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "replay/device/cpu/packed_kernels.h"
#include "replay/device/cpu/threads.h"
#include "replay/device/cpu/winograd_tiles.h"
#include "src/base/math.h"

namespace replay::cpu {
namespace {

constexpr int64_t kBlockBytes = 768 << 10;  ///< of factors and sums of a task: most of the second-level cache
constexpr int64_t kImageBytes = 20 << 20;   ///< of factors and sums of all tiles: in the last-level cache
constexpr int64_t kWindowBytes = 5 << 20;   ///< of windows of a block of results
constexpr int64_t kFewestTiles = 56;        ///< of a task: the matrices of the windows come from a farther cache

using Dim = Convolution::Dim;

class Winograd final : public Native {
 public:
  Winograd(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch, std::unique_ptr<Native> arrange);
  void run(std::span<const void* const> in, std::span<void* const> out) override;
  std::string implementation() const override { return fmt::format("winograd 4x4 of 3x3, {}", packed_kernels(isa_)->name); }
  std::string precision() const override { return std::string(kWinogradOperands) + "→f32"; }

 private:
  /// What a task takes, and where: [slot][strip][feature][column], see factor(), [factor][row of tiles][strip][row][column].
  struct Task {
    int64_t first, count;  ///< tiles
    int64_t first_strip, strips;
    float *windows, *factors, *sums;
    float* zeros;    ///< in place of places outside of the images
    float* nowhere;  ///< for results outside of them
  };
  void transform_windows(int64_t feature, const float* w, const Task& task) const;
  void transform_image(int64_t at, const float* x, const Task& task) const;
  void multiply(const Task& task) const;
  void transform_results(float* y, const Task& task) const;
  void run_blocks_of_tiles(const float* x, const float* w, float* y, float* memory) const;
  void run_blocks_of_results(const float* x, const float* w, float* y, float* memory) const;
  /// A slot is a factor of a piece of the features; a row holds some slots of a tile.
  float* factor(float* factors, int64_t slot, int64_t tile) const {
    return factors + (slot / slots_of_row_ * block_ + tile) * kRowStride + slot % slots_of_row_ * width_;
  }
  int64_t slots() const { return kTileFactors * pieces_; }
  int64_t window_floats(int64_t strips) const { return slots() * width_ * strips * strip_; }
  int64_t factor_floats() const { return base::ceil_div(slots(), slots_of_row_) * block_ * kRowStride; }
  int64_t sum_floats(int64_t strips) const { return kTileFactors * block_ * strips * strip_; }

  Tiles tiles_;
  int64_t features_;
  int64_t window_row_, window_column_, window_feature_, window_start_ = 0;  ///< steps in the windows, results adjacent
  int threads_;
  std::shared_ptr<Scratch> scratch_;
  std::unique_ptr<Native> arrange_;  ///< brings results of the windows side by side; null: they lie so
  Isa isa_ = best_isa() == Isa::amx ? Isa::avx512 : best_isa();
  const TileKernels* kernels_ = &packed_kernels(isa_)->tiles[static_cast<size_t>(Arithmetic::f32)];
  const WinogradTransforms* transforms_ = &packed_kernels(isa_)->winograd;
  int64_t height_ = kernels_->rows, strip_ = kernels_->columns, strips_;
  int64_t pieces_, width_, slots_of_row_;  ///< features are summed `width_` at a time
  int64_t block_ = 0, block_strips_ = 0;   ///< tiles and strips of a task
};

Tiles tiles_of(const Convolution& c) {
  return {c.batch, tile_images(c, &Dim::out, &Dim::y, c.y.outer), tile_images(c, &Dim::in, &Dim::x, c.x.outer), c.dims[0].pad_low,
          c.dims[1].pad_low};
}

Winograd::Winograd(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch, std::unique_ptr<Native> arrange)
    : tiles_(tiles_of(op)),
      features_(op.in_features),
      window_row_(arrange ? kTileWindow * op.in_features * op.out_features : op.dims[0].w),
      window_column_(arrange ? op.in_features * op.out_features : op.dims[1].w),
      window_feature_(arrange ? op.out_features : op.w.inner),
      threads_(threads),
      scratch_(std::move(scratch)),
      arrange_(std::move(arrange)),
      strips_(op.out_features / strip_),
      pieces_(base::ceil_div(features_, kDepth)),
      width_(base::round_up(base::ceil_div(features_, pieces_), kFeatures)),
      slots_of_row_(kDepth / width_) {
  for (int d = 0; d < 2 && !arrange_; ++d) {
    if (!op.dims[static_cast<size_t>(d)].reversed) continue;
    int64_t& step = d == 0 ? window_row_ : window_column_;
    window_start_ += (kTileWindow - 1) * step, step = -step;
  }
  constexpr auto kBytes = static_cast<int64_t>(sizeof(float));
  const int64_t bytes_of_tile = kTileFactors * (features_ + op.out_features) * kBytes;
  block_strips_ = strips_;
  if (window_floats(strips_) * kBytes > kImageBytes && tiles_.count() * bytes_of_tile <= kImageBytes) {
    block_ = base::round_up(tiles_.count(), height_);
    block_strips_ = std::max<int64_t>(1, kWindowBytes / (window_floats(1) * kBytes));
    block_strips_ = base::ceil_div(strips_, base::round_up(base::ceil_div(strips_, block_strips_), threads_));
    return;
  }
  const int64_t fitting = std::max(kFewestTiles, kBlockBytes / bytes_of_tile);
  const int64_t blocks = base::round_up(base::ceil_div(tiles_.count(), fitting), threads_);
  block_ = base::round_up(base::ceil_div(tiles_.count(), blocks), height_);
}

void Winograd::transform_windows(int64_t feature, const float* w, const Task& task) const {
  const float* from[kTileWindow * kTileWindow];
  float* to[kTileFactors];
  const int64_t piece = feature / width_;
  for (int64_t strip = 0; strip < task.strips; ++strip) {
    const float* const start = w + window_start_ + feature * window_feature_ + (task.first_strip + strip) * strip_;
    for (int64_t i = 0; i < kTileWindow * kTileWindow; ++i)
      from[i] = start + i / kTileWindow * window_row_ + i % kTileWindow * window_column_;
    for (int64_t f = 0; f < kTileFactors; ++f)
      to[f] = task.windows + (((f * pieces_ + piece) * task.strips + strip) * width_ + feature % width_) * strip_;
    transforms_->window(from, to, strip_);
  }
}

void Winograd::transform_image(int64_t at, const float* x, const Task& task) const {
  const float* from[kTileFactors];
  float* to[kTileFactors];
  tiles_.large(task.first + at, x, task.zeros, from);
  for (int64_t piece = 0; piece < pieces_; ++piece) {
    for (int64_t f = 0; f < kTileFactors; ++f) to[f] = factor(task.factors, f * pieces_ + piece, at);
    transforms_->image(from, to, std::min(width_, features_ - piece * width_));
    for (const float*& place : from) place += width_;
  }
}

void Winograd::multiply(const Task& task) const {
  const int64_t rows = base::ceil_div(block_, height_);
  for (int64_t slot = 0; slot < slots(); ++slot) {
    const int64_t piece = slot % pieces_, depth = std::min(width_, features_ - piece * width_);
    for (int64_t strip = 0; strip < task.strips; ++strip) {
      const float* const b = task.windows + (slot * task.strips + strip) * width_ * strip_;
      for (int64_t row = 0; row * height_ < task.count; ++row)
        kernels_->multiply_rows[std::min(height_, task.count - row * height_) - 1](
            depth, factor(task.factors, slot, row * height_), b,
            task.sums + ((slot / pieces_ * rows + row) * task.strips + strip) * height_ * strip_, piece == 0 ? Tile::first : Tile::add);
    }
  }
}

void Winograd::transform_results(float* y, const Task& task) const {
  const int64_t rows = base::ceil_div(block_, height_);
  const float* from[kTileFactors];
  float *places[kTileResults * kTileResults], *to[kTileResults * kTileResults];
  for (int64_t tile = 0; tile < task.count; ++tile) {
    tiles_.small<float>(task.first + tile, y, nullptr, places);
    for (int64_t strip = 0; strip < task.strips; ++strip) {
      for (int64_t f = 0; f < kTileFactors; ++f)
        from[f] = task.sums + (((f * rows + tile / height_) * task.strips + strip) * height_ + tile % height_) * strip_;
      for (size_t i = 0; i < std::size(to); ++i)
        to[i] = places[i] == nullptr ? task.nowhere : places[i] + (task.first_strip + strip) * strip_;
      transforms_->result(from, to, strip_);
    }
  }
}

void Winograd::run_blocks_of_tiles(const float* x, const float* w, float* y, float* memory) const {
  Task all{0, 0, 0, strips_, memory, nullptr, nullptr, nullptr, nullptr};
  for_ranges(features_, threads_, [&](int64_t feature, int64_t) { transform_windows(feature, w, all); });
  const int64_t outside = base::round_up(features_, kFeatures) + strip_, own = factor_floats() + sum_floats(strips_) + outside;
  for_ranges(base::ceil_div(tiles_.count(), block_), threads_, [&](int64_t block, int64_t thread) {
    float* const at = memory + window_floats(strips_) + thread * own;
    Task task{block * block_,
              std::min(block_, tiles_.count() - block * block_),
              0,
              strips_,
              memory,
              at,
              at + factor_floats(),
              at + own - outside,
              at + own - strip_};
    std::fill_n(task.zeros, outside, 0.0F);
    for (int64_t tile = 0; tile < task.count; ++tile) transform_image(tile, x, task);
    multiply(task);
    transform_results(y, task);
  });
}

void Winograd::run_blocks_of_results(const float* x, const float* w, float* y, float* memory) const {
  const int64_t zeros = base::round_up(features_, kFeatures), own = window_floats(block_strips_) + sum_floats(block_strips_) + strip_;
  Task all{0, tiles_.count(), 0, 0, nullptr, memory + zeros, nullptr, memory, nullptr};
  std::fill_n(all.zeros, zeros, 0.0F);
  for_ranges(tiles_.count(), threads_, [&](int64_t tile, int64_t) { transform_image(tile, x, all); });
  for_ranges(base::ceil_div(strips_, block_strips_), threads_, [&](int64_t block, int64_t thread) {
    Task task = all;
    task.first_strip = block * block_strips_, task.strips = std::min(block_strips_, strips_ - task.first_strip);
    task.windows = all.factors + factor_floats() + thread * own, task.sums = task.windows + window_floats(block_strips_);
    task.nowhere = task.windows + own - strip_;
    for (int64_t feature = 0; feature < features_; ++feature) transform_windows(feature, w, task);
    multiply(task);
    transform_results(y, task);
  });
}

void Winograd::run(std::span<const void* const> in, std::span<void* const> out) {
  const bool tiles = block_strips_ == strips_;
  const int64_t outside = base::round_up(features_, kFeatures) + strip_;
  const int64_t shared = tiles ? window_floats(strips_) : factor_floats();
  const int64_t own = (tiles ? factor_floats() : window_floats(block_strips_)) + sum_floats(block_strips_) + outside;
  const int64_t arranged = arrange_ ? kTileWindow * kTileWindow * features_ * strips_ * strip_ : 0;
  auto* const memory = reinterpret_cast<float*>(
      scratch_->pieces(1, (arranged + shared + outside + threads_ * own) * static_cast<int64_t>(sizeof(float))).front());
  const auto *const x = static_cast<const float*>(in[0]), *w = static_cast<const float*>(in[1]);
  if (arrange_) {
    void* const to[] = {memory};
    arrange_->run(in.subspan(1), to);
    w = memory;
  }
  if (tiles) return run_blocks_of_tiles(x, w, static_cast<float*>(out[0]), memory + arranged);
  run_blocks_of_results(x, w, static_cast<float*>(out[0]), memory + arranged);
}

/// The windows as [row][column][feature][result], in order.
base::Result<std::unique_ptr<Native>> arrange_windows(const Convolution& op, int threads, const std::shared_ptr<Scratch>& scratch) {
  if (op.w.outer == 1) return std::unique_ptr<Native>();
  const int64_t square = op.in_features * op.out_features;
  Permute order;
  order.dims = {{op.out_features, op.w.outer, 1}, {op.in_features, op.w.inner, op.out_features}};
  int64_t to = kTileWindow * square;
  for (const Dim& d : op.dims) {
    order.dims.push_back({d.window, d.reversed ? -d.w : d.w, to});
    if (d.reversed) order.from_offset += (d.window - 1) * d.w;
    to /= kTileWindow;
  }
  return make_permute(order, threads, scratch);
}

}  // namespace

base::Result<std::unique_ptr<Native>> make_winograd(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch) {
  const bool f32 = op.x.type == ir::Type::f32 && op.w.type == ir::Type::f32 && op.y.type == ir::Type::f32;
  const bool dense = op.groups == 1 && op.dims.size() == 2 && std::ranges::all_of(op.dims, [](const Dim& d) {
                       return d.window == kTileWindow && d.stride == 1 && d.base_dilation == 1 && d.window_dilation == 1;
                     });
  if (!f32 || !dense || op.flops() == 0) return base::Error{"winograd: no dense f32 convolution of 3×3 windows"};
  if (op.x.inner != 1 || op.y.inner != 1) return base::Error{"winograd: features that are not adjacent"};
  if (op.in_features % kFeatures != 0 || op.out_features % kStrip != 0) return base::Error{"winograd: features that fill no vectors"};
  if (!tiles_of(op).worth(op.in_features, op.out_features)) return base::Error{"winograd: transforms would outweigh products"};
  ASSIGN_OR_RETURN(auto arrange, arrange_windows(op, threads, std::make_shared<Scratch>()));
  return std::unique_ptr<Native>(std::make_unique<Winograd>(op, threads, std::move(scratch), std::move(arrange)));
}

}  // namespace replay::cpu
