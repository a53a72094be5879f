// Convolutions whose results are sums over features and windows, on matrix units.
//
// The window's weights are packed once. Each task takes some images and walks down their rows of results: the rows of X under them are
// taken apart into bf16 numbers, once, into a ring of rows in the second-level cache; places beside the image are zeros there, rows above
// and below it are skipped. In a row of the ring the images of a task lie side by side, place by place, so that any 16 neighbours are a
// tile for any place of the window, whatever the width is. Windows of one place need no neighbours: there a row is any run of places.
#include "replay/device/cpu/parts_convolution.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "replay/device/cpu/parts_places.h"
#include "replay/device/cpu/threads.h"
#include "src/base/math.h"

namespace replay::cpu {
namespace {

constexpr int64_t kRingBytes = 1200 << 10;  ///< of taken-apart X that stay in the second-level cache beside the sums
constexpr int64_t kMostSpatialBlocks = 6;   ///< of B that stay in the first-level cache for all rows of A
constexpr int64_t kMostSpatialImages = 16;  ///< side by side
constexpr int kTasksOfThread = 4;           ///< one core may be much slower than another
constexpr int64_t kSpatialRows = 256;       ///< of A, at least, for which a block of B is fetched

using Dim = Convolution::Dim;

/// Blocks of B that follow one another, and where in a row of A their terms are.
struct Chunk {
  int64_t window_row = 0, first_block = 0;
  std::vector<int64_t> offsets;
};

class PartsSpatial final : public Native {
 public:
  PartsSpatial(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch, std::unique_ptr<Native> fallback);
  void run(std::span<const void* const> in, std::span<void* const> out) override;
  std::string implementation() const override { return "three bf16 parts, amx"; }
  std::string precision() const override { return std::string(kPartsOperands) + "→f32"; }

 private:
  void plan_window();
  void plan_tasks(int threads);
  Magnitudes run_task(int64_t task, const float* x, const std::byte* packed, float* y, std::byte* memory) const;
  Magnitudes take_apart(const float* x, int64_t first_image, int64_t images, int64_t row, std::byte* ring) const;
  void multiply_rows(int64_t row, int64_t rows, const std::byte* packed, int64_t strip, const std::byte* ring, float* sums) const;
  void store_rows(int64_t row, int64_t rows, int64_t strip, int64_t first_image, int64_t images, const float* sums, float* y) const;

  int64_t place_bytes() const { return (3 * blocks_ | 1) * kPartsLine; }  ///< an odd number of lines: neighbours share no cache sets
  int64_t slot_bytes() const { return columns_ * images_ * place_bytes(); }
  int64_t row_tiles() const { return base::ceil_div(d_[1].out * images_, kPartsSide); }

  Convolution c_;
  Dim d_[2];  ///< rows and columns
  const PartsKernels* kernels_ = parts_kernels();
  int threads_;
  std::shared_ptr<Scratch> scratch_;
  std::unique_ptr<Native> fallback_;
  int64_t blocks_ = 0, strips_ = 0, strip_blocks_ = 0;                      ///< of 32 features; of 32 results; of B in a strip
  int64_t columns_ = 0, slots_ = 0;                                         ///< of a row in the ring; rows
  int64_t images_ = 1, groups_ = 1, bands_ = 1, band_rows_ = 1, rows_ = 1;  ///< of a task; tasks; their rows; rows at a time
  std::vector<Chunk> chunks_;
  std::vector<SideBySide> y_places_;  ///< of a row of results
  bool streams_;
};

PartsSpatial::PartsSpatial(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch, std::unique_ptr<Native> fallback)
    : c_(op), threads_(threads), scratch_(std::move(scratch)), fallback_(std::move(fallback)) {
  d_[0] = op.dims[0], d_[1] = op.dims[1];
  blocks_ = base::ceil_div(c_.in_features, kPartsSide), strips_ = base::ceil_div(c_.out_features, kPartsSide);
  strip_blocks_ = d_[0].window * d_[1].window * blocks_;
  columns_ = d_[1].out + (d_[1].window - 1) * d_[1].window_dilation;
  plan_tasks(threads);
  plan_window();
  y_places_ = side_by_side(d_[1].out, images_, d_[1].y, c_.y.outer);
  streams_ = streams(c_);
}

void PartsSpatial::plan_tasks(int threads) {
  const int64_t reach = (d_[0].window - 1) * d_[0].window_dilation;
  groups_ = std::max(base::ceil_div(c_.batch, kMostSpatialImages), std::min<int64_t>(threads, c_.batch));
  const auto fits = [&](int64_t rows) { return (rows + reach) * slot_bytes() <= kRingBytes; };
  for (images_ = base::ceil_div(c_.batch, groups_); images_ > 1 && !fits(1);) images_ = base::ceil_div(images_, 2);
  groups_ = base::ceil_div(c_.batch, images_);
  while (rows_ < d_[0].out && rows_ * d_[1].out * images_ < kSpatialRows && fits(rows_ + 1)) ++rows_;
  const int64_t most = std::max(base::ceil_div(d_[0].out, rows_), std::min(d_[0].out, base::ceil_div(threads, groups_)));
  bands_ = std::clamp(base::ceil_div(int64_t{kTasksOfThread} * threads, groups_), int64_t{1}, most);
  band_rows_ = base::ceil_div(d_[0].out, bands_);
  bands_ = base::ceil_div(d_[0].out, band_rows_);
  slots_ = rows_ + reach;
}

/// The window row by row: a chunk has places of one row alone, because rows beyond the image are skipped.
void PartsSpatial::plan_window() {
  const int64_t in_row = d_[1].window * blocks_, parts = base::ceil_div(in_row, kMostSpatialBlocks), size = base::ceil_div(in_row, parts);
  for (int64_t row = 0; row < d_[0].window; ++row) {
    for (int64_t first = 0; first < in_row; first += size) {
      Chunk chunk{row, row * in_row + first, {}};
      for (int64_t i = first; i < std::min(in_row, first + size); ++i)
        chunk.offsets.push_back(i / blocks_ * d_[1].window_dilation * images_ * place_bytes() + i % blocks_ * kPartsTriple);
      chunks_.push_back(std::move(chunk));
    }
  }
}

void PartsSpatial::run(std::span<const void* const> in, std::span<void* const> out) {
  const int64_t packed_bytes = strips_ * strip_blocks_ * kPartsBlock;
  const int64_t ring_bytes = slots_ * slot_bytes() + kPartsSide * place_bytes();
  const int64_t own_bytes = ring_bytes + rows_ * row_tiles() * kPartsSums * 4;
  std::byte* const base = scratch_->pieces(1, packed_bytes + threads_ * own_bytes).front();
  const Magnitudes w = pack_weights(c_, *kernels_, threads_, static_cast<const float*>(in[1]), base);
  std::atomic<bool> exact = true;
  for_ranges(groups_ * bands_, threads_, [&](int64_t task, int64_t thread) {
    std::byte* const own = base + packed_bytes + thread * own_bytes;
    const Magnitudes x = run_task(task, static_cast<const float*>(in[0]), base, static_cast<float*>(out[0]), own);
    if (!exact_products(x, w)) exact = false;
  });
  if (!exact) fallback_->run(in, out);
}

/// One row of X of all images of a task: place x of image n at (x·images + n).
Magnitudes PartsSpatial::take_apart(const float* x, int64_t first_image, int64_t images, int64_t row, std::byte* ring) const {
  const int64_t left = std::max<int64_t>(0, d_[1].pad_low), first = left - d_[1].pad_low;
  const int64_t count = std::min(d_[1].in - first, columns_ - left);
  std::byte* const to = ring + row % slots_ * slot_bytes() + left * images_ * place_bytes();
  Magnitudes seen;
  for (int64_t n = 0; n < images; ++n) {
    const float* const from = x + (first_image + n) * c_.x.outer + row * d_[0].x + first * d_[1].x;
    seen.merge(kernels_->split_lines(from, d_[1].x, count, c_.in_features, to + n * place_bytes(), images_ * place_bytes()));
  }
  return seen;
}

void PartsSpatial::multiply_rows(int64_t row, int64_t rows, const std::byte* packed, int64_t strip, const std::byte* ring,
                                 float* sums) const {
  const int64_t tiles = row_tiles(), last_rows = d_[1].out * images_ - (tiles - 1) * kPartsSide;
  std::vector<bool> started(static_cast<size_t>(rows));
  for (const Chunk& chunk : chunks_) {
    const std::byte* const b = packed + (strip * strip_blocks_ + chunk.first_block) * kPartsBlock;
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t from = row + r + chunk.window_row * d_[0].window_dilation - d_[0].pad_low;
      if (from < 0 || from >= d_[0].in) continue;
      PartsRows a{ring + from % slots_ * slot_bytes(), place_bytes(), kPartsLine};
      const Tile start = started[static_cast<size_t>(r)] ? Tile::add : Tile::first;
      started[static_cast<size_t>(r)] = true;
      for (int64_t t = 0; t < tiles; ++t, a.at += kPartsSide * place_bytes()) {
        const bool both = t + 1 < tiles || last_rows > kPartsSide / 2;
        kernels_->multiply[both](a, chunk.offsets.data(), static_cast<int64_t>(chunk.offsets.size()), b,
                                 sums + (r * tiles + t) * kPartsSums, start);
      }
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    if (!started[static_cast<size_t>(r)]) std::fill_n(sums + r * tiles * kPartsSums, tiles * kPartsSums, 0.F);
  }
}

void PartsSpatial::store_rows(int64_t row, int64_t rows, int64_t strip, int64_t first_image, int64_t images, const float* sums,
                              float* y) const {
  const int64_t tiles = row_tiles(), places = std::ssize(y_places_), count = std::min(kPartsSide, c_.out_features - strip * kPartsSide);
  for (int64_t r = 0; r < rows; ++r) {
    float* const base = y + strip * kPartsSide + (row + r) * d_[0].y + first_image * c_.y.outer;
    for (int64_t t = 0; t < tiles; ++t, sums += kPartsSums) {
      float* to[kPartsSide];
      const int64_t first = t * kPartsSide, here = std::min(kPartsSide, places - first);
      for (int64_t i = 0; i < here; ++i) {
        const SideBySide& place = y_places_[static_cast<size_t>(first + i)];
        to[i] = place.image < images ? base + place.offset : nullptr;
      }
      kernels_->store[streams_](sums, to, here, count);
    }
  }
}

Magnitudes PartsSpatial::run_task(int64_t task, const float* x, const std::byte* packed, float* y, std::byte* memory) const {
  const int64_t first_image = task % groups_ * images_, images = std::min(images_, c_.batch - first_image);
  const int64_t first_row = task / groups_ * band_rows_, end_row = std::min(d_[0].out, first_row + band_rows_);
  std::byte* const ring = memory;
  const int64_t ring_bytes = slots_ * slot_bytes() + kPartsSide * place_bytes();
  auto* const sums = reinterpret_cast<float*>(memory + ring_bytes);
  std::memset(ring, 0, static_cast<size_t>(ring_bytes));
  Magnitudes seen;
  int64_t next = std::max<int64_t>(0, first_row - d_[0].pad_low);
  kernels_->begin();
  for (int64_t row = first_row; row < end_row; row += rows_) {
    const int64_t rows = std::min(rows_, end_row - row);
    const int64_t below = std::min(d_[0].in, row + rows + (d_[0].window - 1) * d_[0].window_dilation - d_[0].pad_low);
    for (; next < below; ++next) seen.merge(take_apart(x, first_image, images, next, ring));
    for (int64_t strip = 0; strip < strips_; ++strip) {
      multiply_rows(row, rows, packed, strip, ring, sums);
      store_rows(row, rows, strip, first_image, images, sums, y);
    }
  }
  kernels_->end();
  return seen;
}

}  // namespace

std::unique_ptr<Native> make_parts_spatial(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch,
                                           std::unique_ptr<Native> fallback) {
  return std::make_unique<PartsSpatial>(op, threads, std::move(scratch), std::move(fallback));
}

}  // namespace replay::cpu
