// Gradients of weights on matrix units: dW[place, c, k] = Σ_p x[p + place, c]·dy[p, k], sums over all places of all images.
//
// Terms of a sum are places, so X is turned while it is taken apart: a line of A holds one feature at 32 places. A task takes some images
// and walks down their rows of results, a band of rows at a time. In a row the images lie side by side, place by place, so a place of the
// window is an offset along the line; places beside the image are zeros, rows above and below it are skipped. Where windows have one place
// a row is any run of places. Each task sums all of its part of dW, in tiles; in the end tasks that share a part are added up.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "replay/device/cpu/parts.h"
#include "replay/device/cpu/parts_convolution.h"
#include "replay/device/cpu/parts_places.h"
#include "replay/device/cpu/threads.h"
#include "src/base/math.h"

namespace replay::cpu {
namespace {

constexpr int64_t kLinesBytes = 1000 << 10;          ///< of X taken apart that stay in the second-level cache
constexpr int64_t kMostRun = 1024, kLeastRun = 256;  ///< places of a row where windows have one place
constexpr int64_t kMostWeightsImages = 16;           ///< side by side
constexpr int64_t kMostWeightsBlocks = 6;            ///< of B that stay in the first-level cache for all lines of A
constexpr int64_t kBandSumsBytes = 16 << 20;         ///< of all bands of rows
constexpr int kBandsOfThread = 4;
constexpr int64_t kMostSumsBytes = 64 << 20;  ///< of all tasks: then they share features of X out instead

using Dim = Convolution::Dim;

/// A dimension of the forward pass.
struct Spatial {
  int64_t in, out, window, stride, pad, x, y, w;
};
Spatial spatial_of(const Dim& d) { return {d.in, d.window, d.out, d.window_dilation, d.pad_low, d.x, d.w, d.y}; }

int64_t up_to_block(int64_t x) { return base::ceil_div(x, kPartsSide) * kPartsSide; }

class PartsWeights final : public Native {
 public:
  PartsWeights(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch, std::unique_ptr<Native> fallback);
  void run(std::span<const void* const> in, std::span<void* const> out) override;
  std::string implementation() const override { return "backward weights in three bf16 parts, amx"; }
  std::string precision() const override { return std::string(kPartsOperands) + "→f32"; }

 private:
  struct Memory {
    std::byte *lines, *packed;
    float* sums;
  };
  struct Seen {
    Magnitudes x, y;
  };
  void plan_runs();
  void plan_images();
  void plan_features();
  void plan_bands();
  Seen run_task(int64_t task, const float* x, const float* dy, const Memory& memory) const;
  Magnitudes pack_band(const float* dy, int64_t group, int64_t row, int64_t rows, std::byte* packed) const;
  Magnitudes take_apart(const float* x, int64_t group, int64_t row, int64_t rows, int64_t feature, int64_t features,
                        std::byte* lines) const;
  void multiply(int64_t row, int64_t rows, int64_t features, const Memory& memory, float* sums) const;
  void add_up(const std::vector<float*>& sums, float* dw) const;
  const float* x_line(const float* x, int64_t group, int64_t row, int64_t place) const;
  const float* y_line(const float* dy, int64_t group, int64_t row, int64_t place) const;

  bool pointwise() const { return d_[0].window == 1 && d_[1].window == 1; }
  int64_t taps() const { return d_[0].window * d_[1].window; }
  int64_t line_places() const { return slots_ * slot_places_ + kPartsSide; }
  int64_t part_bytes() const { return 2 * line_places(); }
  int64_t line_bytes() const { return (3 * part_bytes() / kPartsLine | 1) * kPartsLine; }
  int64_t feature_sums(int64_t features) const { return base::ceil_div(features, kPartsSide) * strips_ * taps() * kPartsSums; }
  int64_t terms() const { return pointwise() ? terms_ : d_[1].out * images_; }

  Convolution c_;
  Spatial d_[2];
  int64_t in_features_, batch_;  ///< of the forward pass
  const PartsKernels* kernels_ = parts_kernels();
  int threads_;
  std::shared_ptr<Scratch> scratch_;
  std::unique_ptr<Native> fallback_;
  Places places_;
  std::vector<SideBySide> x_places_, y_places_;  ///< of a row
  std::vector<float> zeros_;
  int64_t strips_ = 0;                                             ///< of 32 result features
  int64_t terms_ = 0, row_blocks_ = 0;                             ///< places of a row, blocks of them
  int64_t slots_ = 0, slot_places_ = 0;                            ///< rows of X of a band; places of one
  int64_t images_ = 1, image_groups_ = 1, groups_ = 1, rows_ = 1;  ///< side by side; groups of them; times bands; rows at a time
  int64_t row_count_ = 0, band_rows_ = 0;                          ///< of all; of a group
  int64_t features_ = 0;                                           ///< of X taken apart at a time
  int64_t shares_ = 1, share_ = 0;                                 ///< of the features of X; features of one
};

Places places_of(const Convolution& c, const Spatial (&d)[2]) {
  return Places(
      {{c.in_features, c.x.inner, c.w.inner}, {d[0].out, d[0].x * d[0].stride, d[0].y}, {d[1].out, d[1].x * d[1].stride, d[1].y}});
}

PartsWeights::PartsWeights(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch, std::unique_ptr<Native> fallback)
    : c_(op),
      d_{spatial_of(op.dims[0]), spatial_of(op.dims[1])},
      in_features_(op.batch),
      batch_(op.in_features),
      threads_(threads),
      scratch_(std::move(scratch)),
      fallback_(std::move(fallback)),
      places_(places_of(op, d_)),
      zeros_(static_cast<size_t>(up_to_block(std::max(op.batch, op.out_features)))),
      strips_(base::ceil_div(op.out_features, kPartsSide)) {
  plan_features();
  if (pointwise())
    plan_runs();
  else
    plan_images();
  plan_bands();
}

/// Few features: each task sums all of dW. Many: tasks share the features of X.
void PartsWeights::plan_features() {
  const int64_t all = feature_sums(in_features_) * 4;
  shares_ = std::min(std::clamp<int64_t>(threads_ * all / kMostSumsBytes, 1, threads_), base::ceil_div(in_features_, kPartsSide));
  share_ = up_to_block(base::ceil_div(in_features_, shares_));
  shares_ = base::ceil_div(in_features_, share_);
}

void PartsWeights::plan_runs() {
  terms_ = std::clamp(kLinesBytes / (6 * (share_ + c_.out_features)) / kPartsSide * kPartsSide, kLeastRun, kMostRun);
  row_count_ = base::ceil_div(places_.count(), terms_);
  row_blocks_ = terms_ / kPartsSide;
  slots_ = 1, slot_places_ = terms_;
  features_ = std::clamp(kLinesBytes / line_bytes() / kPartsSide * kPartsSide, kPartsSide, share_);
}

void PartsWeights::plan_images() {
  image_groups_ = base::ceil_div(batch_, kMostWeightsImages);
  images_ = base::ceil_div(batch_, image_groups_);
  row_count_ = d_[0].out;
  row_blocks_ = base::ceil_div(terms(), kPartsSide);
  x_places_ = side_by_side(d_[1].out + d_[1].window - 1, images_, d_[1].x, c_.x.inner);
  y_places_ = side_by_side(d_[1].out, images_, d_[1].y, c_.w.inner);
  slot_places_ = up_to_block(std::ssize(x_places_));
}

/// Bands of rows: several a thread, as long as their sums are few, because one core may be much slower than another.
void PartsWeights::plan_bands() {
  const int64_t sums = shares_ * feature_sums(share_) * 4;
  const int64_t most = std::clamp<int64_t>(kBandSumsBytes / sums, base::ceil_div(threads_, shares_), int64_t{kBandsOfThread} * threads_);
  band_rows_ = base::ceil_div(row_count_, std::clamp<int64_t>(most / image_groups_, 1, row_count_));
  groups_ = image_groups_ * base::ceil_div(row_count_, band_rows_);
  if (pointwise()) return;
  features_ = kPartsSide;
  for (rows_ = band_rows_; rows_ > 1; --rows_) {
    slots_ = rows_ + d_[0].window - 1;
    if (line_bytes() * features_ <= kLinesBytes) break;
  }
  slots_ = rows_ + d_[0].window - 1;
  features_ = std::clamp(kLinesBytes / line_bytes() / kPartsSide * kPartsSide, kPartsSide, share_);
}

void PartsWeights::run(std::span<const void* const> in, std::span<void* const> out) {
  const auto *x = static_cast<const float*>(in[0]), *dy = static_cast<const float*>(in[1]);
  const int64_t lines_bytes = features_ * line_bytes(), packed_bytes = rows_ * row_blocks_ * strips_ * kPartsBlock;
  const int64_t sums_bytes = feature_sums(share_) * 4, own_bytes = lines_bytes + packed_bytes, tasks = groups_ * shares_;
  std::byte* const base = scratch_->pieces(1, tasks * sums_bytes + threads_ * own_bytes).front();
  std::vector<float*> sums;
  for (int64_t task = 0; task < tasks; ++task) sums.push_back(reinterpret_cast<float*>(base + task * sums_bytes));
  std::vector<Seen> seen(static_cast<size_t>(tasks));
  for_ranges(tasks, threads_, [&](int64_t task, int64_t thread) {
    std::byte* const own = base + tasks * sums_bytes + thread * own_bytes;
    seen[static_cast<size_t>(task)] = run_task(task, x, dy, {own, own + lines_bytes, sums[static_cast<size_t>(task)]});
  });
  Seen all;
  for (const Seen& s : seen) all.x.merge(s.x), all.y.merge(s.y);
  if (!exact_products(all.x, all.y)) return fallback_->run(in, out);
  add_up(sums, static_cast<float*>(out[0]));
}

/// The features of X at a place of a row; zeros beside the image. Rows begin `pad` columns left of it.
const float* PartsWeights::x_line(const float* x, int64_t group, int64_t row, int64_t place) const {
  if (pointwise()) {
    const int64_t index = row * terms_ + place;
    return index < places_.count() ? x + places_.at(index).first : zeros_.data();
  }
  if (place >= std::ssize(x_places_) || row < 0 || row >= d_[0].in) return zeros_.data();
  const SideBySide& at = x_places_[static_cast<size_t>(place)];
  const bool inside = at.image < batch_ - group * images_ && at.column >= d_[1].pad && at.column < d_[1].pad + d_[1].in;
  return inside ? x + group * images_ * c_.x.inner + row * d_[0].x + at.offset - d_[1].pad * d_[1].x : zeros_.data();
}

const float* PartsWeights::y_line(const float* dy, int64_t group, int64_t row, int64_t place) const {
  if (pointwise()) {
    const int64_t index = row * terms_ + place;
    return index < places_.count() ? dy + places_.at(index).second : zeros_.data();
  }
  if (place >= std::ssize(y_places_)) return zeros_.data();
  const SideBySide& at = y_places_[static_cast<size_t>(place)];
  return at.image < batch_ - group * images_ ? dy + group * images_ * c_.w.inner + row * d_[0].y + at.offset : zeros_.data();
}

/// dY of some rows: for each strip of features all its blocks.
Magnitudes PartsWeights::pack_band(const float* dy, int64_t group, int64_t row, int64_t rows, std::byte* packed) const {
  const int64_t strip_bytes = rows_ * row_blocks_ * kPartsBlock;
  Magnitudes seen;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t block = 0; block < row_blocks_; ++block) {
      const float* lines[kPartsSide];
      for (int64_t i = 0; i < kPartsSide; ++i) lines[i] = y_line(dy, group, row + r, block * kPartsSide + i);
      seen.merge(kernels_->pack_columns(lines, c_.out_features, packed + (r * row_blocks_ + block) * kPartsBlock, strip_bytes));
    }
  }
  return seen;
}

Magnitudes PartsWeights::take_apart(const float* x, int64_t group, int64_t row, int64_t rows, int64_t feature, int64_t features,
                                    std::byte* lines_at) const {
  const int64_t slots = rows + d_[0].window - 1, used = std::min(features, in_features_ - feature);
  Magnitudes seen;
  for (int64_t slot = 0; slot < slots; ++slot) {
    for (int64_t first = 0; first < slot_places_; first += kPartsSide) {
      const float* lines[kPartsSide];
      for (int64_t i = 0; i < kPartsSide; ++i) {
        const float* const line = x_line(x, group, row + slot - d_[0].pad, first + i);
        lines[i] = line == zeros_.data() ? line : line + feature;
      }
      seen.merge(kernels_->split_turned(lines, used, lines_at + 2 * (slot * slot_places_ + first), line_bytes(), part_bytes()));
    }
  }
  return seen;
}

/// All lines of A times all of the band's B: a chunk of B for every place of the window and every 32 features.
void PartsWeights::multiply(int64_t row, int64_t rows, int64_t features, const Memory& memory, float* sums) const {
  const int64_t groups = base::ceil_div(features, kPartsSide),
                size = base::ceil_div(row_blocks_, base::ceil_div(row_blocks_, kMostWeightsBlocks));
  int64_t offsets[kMostWeightsBlocks];
  for (int64_t i = 0; i < kMostWeightsBlocks; ++i) offsets[i] = i * kPartsLine;
  for (int64_t strip = 0; strip < strips_; ++strip) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t first = 0; first < row_blocks_; first += size) {
        const std::byte* const b = memory.packed + ((strip * rows_ + r) * row_blocks_ + first) * kPartsBlock;
        for (int64_t tap = 0; tap < taps(); ++tap) {
          const int64_t down = tap / d_[1].window, from = row + r + down - d_[0].pad;
          if (!pointwise() && (from < 0 || from >= d_[0].in)) continue;
          const int64_t place = (r + down) * slot_places_ + tap % d_[1].window * images_ + first * kPartsSide;
          for (int64_t g = 0; g < groups; ++g) {
            kernels_->multiply[1]({memory.lines + g * kPartsSide * line_bytes() + 2 * place, line_bytes(), part_bytes()}, offsets,
                                  std::min(size, row_blocks_ - first), b, sums + ((g * strips_ + strip) * taps() + tap) * kPartsSums,
                                  Tile::add);
          }
        }
      }
    }
  }
}

PartsWeights::Seen PartsWeights::run_task(int64_t task, const float* x, const float* dy, const Memory& memory) const {
  const int64_t group = task / shares_ % image_groups_, first_row = task / shares_ / image_groups_ * band_rows_;
  const int64_t end_row = std::min(row_count_, first_row + band_rows_);
  const int64_t first = task % shares_ * share_, count = std::min(share_, in_features_ - first);
  std::memset(memory.sums, 0, static_cast<size_t>(feature_sums(share_)) * sizeof(float));
  std::memset(memory.lines, 0, static_cast<size_t>(features_ * line_bytes()));
  Seen seen;
  kernels_->begin();
  for (int64_t row = first_row; row < end_row; row += rows_) {
    const int64_t rows = std::min(rows_, end_row - row);
    seen.y.merge(pack_band(dy, group, row, rows, memory.packed));
    for (int64_t feature = 0; feature < count; feature += features_) {
      const int64_t features = std::min(features_, count - feature);
      seen.x.merge(take_apart(x, group, row, rows, first + feature, features, memory.lines));
      multiply(row, rows, features, memory, memory.sums + feature_sums(feature));
    }
  }
  kernels_->end();
  return seen;
}

/// Tiles of all groups of images to dW.
void PartsWeights::add_up(const std::vector<float*>& sums, float* dw) const {
  const int64_t lines = base::ceil_div(share_, kPartsSide) * strips_ * taps();
  for_ranges(shares_ * lines, threads_, [&](int64_t index, int64_t) {
    const int64_t share = index / lines, tile = index % lines, tap = tile % taps(), strip = tile / taps() % strips_;
    const int64_t feature = share * share_ + tile / taps() / strips_ * kPartsSide;
    if (feature >= in_features_) return;
    float* const sum = sums[static_cast<size_t>(share)] + tile * kPartsSums;
    for (int64_t group = 1; group < groups_; ++group)
      kernels_->add(sums[static_cast<size_t>(group * shares_ + share)] + tile * kPartsSums, sum, kPartsSums);
    const int64_t rows = std::min(kPartsSide, in_features_ - feature), columns = std::min(kPartsSide, c_.out_features - strip * kPartsSide);
    float* const to =
        dw + tap / d_[1].window * d_[0].w + tap % d_[1].window * d_[1].w + feature * c_.y.outer + strip * kPartsSide * c_.y.inner;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t k = 0; k < columns; ++k) to[r * c_.y.outer + k * c_.y.inner] = sum[r * kPartsSide + k];
    }
  });
}

}  // namespace

std::unique_ptr<Native> make_parts_weights(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch,
                                           std::unique_ptr<Native> fallback) {
  return std::make_unique<PartsWeights>(op, threads, std::move(scratch), std::move(fallback));
}

}  // namespace replay::cpu
