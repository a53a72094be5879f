// Convolutions whose windows have one place: products of all places of all images, their features, and the weights. Strides only leave out
// places of X, or leave zeros between those of Y.
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

constexpr int64_t kRowsBytes = 1000 << 10;   ///< of X taken apart that stay in the second-level cache
constexpr int64_t kMostRows = 512;           ///< of a task
constexpr int64_t kMostDepth = 16;           ///< blocks of 32 features taken apart at a time
constexpr int64_t kMostPointwiseBlocks = 6;  ///< of B that stay in the first-level cache for all rows

Places places_of(const Convolution& c) {
  std::vector<Places::Loop> loops{{c.batch, c.x.outer, c.y.outer}};
  for (const auto& d : c.dims) {
    const int64_t b = d.base_dilation;
    loops.push_back({b == 1 ? d.out : std::min(d.in, base::ceil_div(d.out, b)), d.x * d.stride, d.y * b});
  }
  return Places(std::move(loops));
}

class PartsPointwise final : public Native {
 public:
  PartsPointwise(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch, std::unique_ptr<Native> fallback);
  void run(std::span<const void* const> in, std::span<void* const> out) override;
  std::string implementation() const override { return "three bf16 parts, amx"; }
  std::string precision() const override { return std::string(kPartsOperands) + "→f32"; }

 private:
  Magnitudes run_task(int64_t task, const float* x, const std::byte* packed, float* y, std::byte* memory) const;
  Magnitudes take_apart(const float* x, int64_t first, int64_t rows, int64_t block, int64_t depth, std::byte* to) const;
  void multiply(int64_t rows, int64_t block, int64_t depth, const std::byte* a, const std::byte* b, float* sums) const;
  void store(int64_t first, int64_t rows, int64_t strip, const float* sums, float* y) const;
  int64_t row_bytes() const { return (3 * depth_ | 1) * kPartsLine; }
  int64_t rows_bytes() const { return (rows_ + kPartsSide) * row_bytes(); }
  int64_t tiles() const { return base::ceil_div(rows_, kPartsSide); }

  Convolution c_;
  const PartsKernels* kernels_ = parts_kernels();
  int threads_;
  std::shared_ptr<Scratch> scratch_;
  std::unique_ptr<Native> fallback_;
  Places places_;
  bool streams_;
  bool has_gaps_;  ///< zeros between the places of Y
  int64_t blocks_, strips_, depth_, rows_ = 1, tasks_ = 1;
};

PartsPointwise::PartsPointwise(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch, std::unique_ptr<Native> fallback)
    : c_(op),
      threads_(threads),
      scratch_(std::move(scratch)),
      fallback_(std::move(fallback)),
      places_(places_of(op)),
      streams_(streams(op)),
      has_gaps_(std::ranges::any_of(op.dims, [](const auto& d) { return d.base_dilation > 1; })),
      blocks_(base::ceil_div(op.in_features, kPartsSide)),
      strips_(base::ceil_div(op.out_features, kPartsSide)),
      depth_(base::ceil_div(blocks_, base::ceil_div(blocks_, kMostDepth))) {
  const int64_t count = places_.count(), most = std::clamp<int64_t>(kRowsBytes / row_bytes(), 2 * kPartsSide, kMostRows);
  rows_ = base::ceil_div(count, base::ceil_div(base::ceil_div(count, most), threads_) * threads_);
  tasks_ = base::ceil_div(count, rows_);
}

void PartsPointwise::run(std::span<const void* const> in, std::span<void* const> out) {
  const int64_t packed_bytes = strips_ * blocks_ * kPartsBlock;
  const int64_t own_bytes = rows_bytes() + (depth_ < blocks_ ? strips_ : 1) * tiles() * kPartsSums * 4;
  std::byte* const base = scratch_->pieces(1, packed_bytes + threads_ * own_bytes).front();
  const Magnitudes w = pack_weights(c_, *kernels_, threads_, static_cast<const float*>(in[1]), base);
  std::atomic<bool> exact = true;
  for_ranges(tasks_, threads_, [&](int64_t task, int64_t thread) {
    std::byte* const own = base + packed_bytes + thread * own_bytes;
    const Magnitudes x = run_task(task, static_cast<const float*>(in[0]), base, static_cast<float*>(out[0]), own);
    if (!exact_products(x, w)) exact = false;
  });
  if (!exact) fallback_->run(in, out);
}

Magnitudes PartsPointwise::take_apart(const float* x, int64_t first, int64_t rows, int64_t block, int64_t depth, std::byte* to) const {
  const Places::Loop& inner = places_.inner();
  const int64_t features = std::min(depth * kPartsSide, c_.in_features - block * kPartsSide);
  Magnitudes seen;
  for (int64_t done = 0; done < rows;) {
    const int64_t run = std::min(rows - done, inner.size - (first + done) % inner.size);
    const float* const from = x + places_.at(first + done).first + block * kPartsSide;
    seen.merge(kernels_->split_lines(from, inner.first, run, features, to + done * row_bytes(), row_bytes()));
    done += run;
  }
  return seen;
}

/// All rows times one strip of B, `depth` blocks of it.
void PartsPointwise::multiply(int64_t rows, int64_t block, int64_t depth, const std::byte* a, const std::byte* b, float* sums) const {
  int64_t offsets[kMostDepth];
  for (int64_t i = 0; i < depth; ++i) offsets[i] = i * kPartsTriple;
  const int64_t size = base::ceil_div(depth, base::ceil_div(depth, kMostPointwiseBlocks));
  for (int64_t first = 0; first < depth; first += size) {
    const Tile start = block + first == 0 ? Tile::first : Tile::add;
    for (int64_t row = 0; row < rows; row += kPartsSide) {
      const bool both = rows - row > kPartsSide / 2;
      kernels_->multiply[both]({a + row * row_bytes(), row_bytes(), kPartsLine}, offsets + first, std::min(size, depth - first),
                               b + first * kPartsBlock, sums + row / kPartsSide * kPartsSums, start);
    }
  }
}

void PartsPointwise::store(int64_t first, int64_t rows, int64_t strip, const float* sums, float* y) const {
  const Places::Loop& inner = places_.inner();
  const int64_t count = std::min(kPartsSide, c_.out_features - strip * kPartsSide);
  int64_t left = 0;
  float* at = nullptr;
  for (int64_t row = 0; row < rows; row += kPartsSide, sums += kPartsSums) {
    float* to[kPartsSide];
    const int64_t here = std::min(kPartsSide, rows - row);
    for (int64_t i = 0; i < here; ++i, --left, at += inner.second) {
      if (left == 0) {
        at = y + places_.at(first + row + i).second + strip * kPartsSide;
        left = inner.size - (first + row + i) % inner.size;
      }
      to[i] = at;
    }
    kernels_->store[streams_](sums, to, here, count);
  }
}

Magnitudes PartsPointwise::run_task(int64_t task, const float* x, const std::byte* packed, float* y, std::byte* memory) const {
  const int64_t first = task * rows_, rows = std::min(rows_, places_.count() - first);
  auto* const sums = reinterpret_cast<float*>(memory + rows_bytes());
  if (has_gaps_) {
    const int64_t from = task == 0 ? 0 : places_.at(first).second;
    const int64_t until = task + 1 == tasks_ ? c_.batch * c_.y.outer : places_.at(first + rows).second;
    std::memset(y + from, 0, static_cast<size_t>(until - from) * sizeof(float));
  }
  Magnitudes seen;
  kernels_->begin();
  for (int64_t block = 0; block < blocks_; block += depth_) {
    const int64_t depth = std::min(depth_, blocks_ - block);
    seen.merge(take_apart(x, first, rows, block, depth, memory));
    for (int64_t strip = 0; strip < strips_; ++strip) {
      float* const own = sums + (depth_ < blocks_ ? strip * tiles() * kPartsSums : 0);
      multiply(rows, block, depth, memory, packed + (strip * blocks_ + block) * kPartsBlock, own);
      if (block + depth == blocks_) store(first, rows, strip, own, y);
    }
  }
  kernels_->end();
  return seen;
}

}  // namespace

std::unique_ptr<Native> make_parts_pointwise(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch,
                                             std::unique_ptr<Native> fallback) {
  return std::make_unique<PartsPointwise>(op, threads, std::move(scratch), std::move(fallback));
}

}  // namespace replay::cpu
