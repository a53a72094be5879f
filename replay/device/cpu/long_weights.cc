// Gradients of the weights of windows of one place: dW[c, k] = Σ_p x[p, c]·dy[p, k] over all places p of all images.
//
// The sum is long and the result small, so a task is a block of the result and a part of the sum: it keeps all sums of its block in tiles
// in the second-level cache and walks its places, some hundred at a time. Of these it packs one operand, and the other where it cannot be
// read as it lies, and while it multiplies them it prefetches the next ones: so reading them, half of the time on paper of few features,
// hides behind the products. In the end tasks that share a block are added up, in order.
#include "replay/device/cpu/long_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "replay/device/cpu/packed_kernels.h"
#include "replay/device/cpu/parts_places.h"
#include "replay/device/cpu/threads.h"
#include "src/base/math.h"

namespace replay::cpu {
namespace {

constexpr int64_t kMostFeatures = 512;       ///< of either side of a block
constexpr int64_t kPackedBytes = 448 << 10;  ///< of both operands: the second-level cache also takes the sums and the next places
constexpr int64_t kLeastPlaces = 1024;       ///< of a task
constexpr int64_t kFewestFeatures = 16;      ///< below, most of a tile would be zeros
constexpr int64_t kMostDepth = 256;
constexpr int64_t kFloatsOfLine = 16;
constexpr int64_t kMostWidth = 32;  ///< of a tile, of any instruction set
constexpr int64_t kGap = 16;        ///< floats between strips of x: whole vectors are written

using Dim = Convolution::Dim;

/// Rows of one operand: adjacent features at every place.
struct Rows {
  const float* at[kMostDepth];
};

/// Lines of the places that follow, to be brought nearer while the ones at hand are multiplied: `depth` lines, `step` floats apart, at a
/// time. Rows that lie together are one sequence; of others it goes down the rows, line by line.
class Ahead {
 public:
  struct Operand {
    const float* at;
    int64_t count, step;  ///< floats of a row, floats between rows; step 0: rows in no order, which are left to the hardware
  };
  Ahead(std::initializer_list<Operand> operands, int64_t places, int64_t depth) {
    for (const Operand& o : operands) {
      if (places == 0 || o.step == 0) continue;
      const int64_t floats = places * o.count, at_once = depth * kFloatsOfLine;
      if (o.step == o.count)
        for (int64_t at = 0; at < floats; at += at_once) lines_[count_++] = {o.at + at, kFloatsOfLine};
      else
        for (int64_t at = 0; at < o.count; at += kFloatsOfLine) lines_[count_++] = {o.at + at, o.step};
    }
  }
  struct Lines {
    const float* from;
    int64_t step;
  };
  Lines next(const float* otherwise) { return at_ < count_ ? lines_[at_++] : Lines{otherwise, 0}; }

 private:
  Lines lines_[4 * kMostFeatures / kFloatsOfLine];
  int64_t count_ = 0, at_ = 0;
};

class LongWeights final : public Native {
 public:
  LongWeights(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch);
  void run(std::span<const void* const> in, std::span<void* const> out) override;
  std::string implementation() const override { return fmt::format("backward weights as a long product, {}", packed_kernels(isa_)->name); }
  std::string precision() const override { return "f32×f32→f32→f32"; }

 private:
  /// A part of the sum of a block of the result.
  struct Task {
    int64_t row, rows, column, columns, first, last;
  };
  Task task(int64_t index) const;
  void run_task(const Task& task, const float* x, const float* dy, float* packed, float* sums) const;
  int64_t load_rows(const Task& task, int64_t place, const float* x, const float* dy, Rows& a, Rows& b) const;
  void pack_a(const Rows& rows, int64_t depth, int64_t count, float* to) const;
  void pack_b(const Rows& rows, int64_t depth, int64_t count, float* to) const;
  void add_up(const float* sums, float* dw) const;
  void add_square(const float* from, int64_t rows, int64_t columns, float* to) const;
  int64_t blocks() const { return row_blocks_ * column_blocks_; }
  int64_t strip_of_a() const { return base::round_up(height_ * depth_ + kGap, kFloatsOfLine); }

  bool swapped_;
  Places places_;  ///< in the operand of the rows, in that of the columns
  int64_t rows_, columns_, row_step_, column_step_;
  int threads_;
  std::shared_ptr<Scratch> scratch_;
  Isa isa_ = best_isa() == Isa::amx ? Isa::avx512 : best_isa();
  const TileKernels* tiles_ = &packed_kernels(isa_)->tiles[static_cast<size_t>(Arithmetic::f32)];
  int64_t height_ = tiles_->rows, width_ = tiles_->columns, tile_ = height_ * width_;
  const MultiplyLines* multiply_ = packed_kernels(isa_)->multiply_lines;
  int64_t a_line_, b_line_;  ///< floats between places of either operand; 0: no constant
  bool pack_a_;
  int64_t block_rows_ = 0, block_columns_ = 0, row_blocks_ = 0, column_blocks_ = 0, parts_ = 1, part_places_ = 0, depth_ = 0;
  int64_t block_sums_ = 0, packed_floats_ = 0;
};

Places places_of(const Convolution& c, bool swapped) {
  std::vector<Places::Loop> loops{{c.in_features, c.x.inner, c.w.inner}};
  for (const Dim& d : c.dims) loops.push_back({d.window, d.x * d.window_dilation, d.w});
  if (swapped)
    for (auto& l : loops) std::swap(l.first, l.second);
  return Places(std::move(loops));
}

/// One side gives the rows, which are read as they lie where its places are evenly apart and it is one block: parts of rows would share
/// few sets of the caches. If both sides can, it is the longer one, so that less is packed.
bool swaps(const Convolution& c) {
  const Places places = places_of(c, false);
  const bool x = c.batch <= kMostFeatures && places.step(&Places::Loop::first) != 0;
  const bool dy = c.out_features <= kMostFeatures && places.step(&Places::Loop::second) != 0;
  return x == dy ? (c.batch < c.out_features) == x && c.batch != c.out_features : dy;
}

LongWeights::LongWeights(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch)
    : swapped_(swaps(op)),
      places_(places_of(op, swapped_)),
      rows_(swapped_ ? op.out_features : op.batch),
      columns_(swapped_ ? op.batch : op.out_features),
      row_step_(swapped_ ? op.y.inner : op.y.outer),
      column_step_(swapped_ ? op.y.outer : op.y.inner),
      threads_(threads),
      scratch_(std::move(scratch)),
      a_line_(places_.step(&Places::Loop::first)),
      b_line_(places_.step(&Places::Loop::second)),
      pack_a_(a_line_ == 0 || rows_ > kMostFeatures) {
  row_blocks_ = base::ceil_div(rows_, kMostFeatures), column_blocks_ = base::ceil_div(columns_, kMostFeatures);
  block_rows_ = base::round_up(base::ceil_div(rows_, row_blocks_), height_);
  block_columns_ = base::round_up(base::ceil_div(columns_, column_blocks_), width_);
  row_blocks_ = base::ceil_div(rows_, block_rows_), column_blocks_ = base::ceil_div(columns_, block_columns_);
  const int64_t places = places_.count();
  while (blocks() * parts_ % threads_ != 0 && places / (parts_ + 1) >= kLeastPlaces) ++parts_;
  const int64_t most = std::min(kMostDepth, kPackedBytes / 4 / (block_rows_ + block_columns_));
  part_places_ = base::ceil_div(places, parts_);
  depth_ = base::ceil_div(part_places_, base::ceil_div(part_places_, most));
  block_sums_ = block_rows_ * block_columns_;
  packed_floats_ = base::round_up(block_rows_ / height_ * strip_of_a() + block_columns_ * depth_ + kSlack, kFloatsOfLine);
}

LongWeights::Task LongWeights::task(int64_t index) const {
  const int64_t block = index / parts_, row = block / column_blocks_ * block_rows_, column = block % column_blocks_ * block_columns_;
  const int64_t first = std::min(index % parts_ * part_places_, places_.count());
  return {row,    std::min(block_rows_, rows_ - row),
          column, std::min(block_columns_, columns_ - column),
          first,  std::min(first + part_places_, places_.count())};
}

int64_t LongWeights::load_rows(const Task& task, int64_t place, const float* x, const float* dy, Rows& a, Rows& b) const {
  const int64_t depth = std::min(depth_, task.last - place);
  for (int64_t p = 0; p < depth; ++p) {
    const Places::Place at = places_.at(place + p);
    a.at[p] = x + at.first + task.row, b.at[p] = dy + at.second + task.column;
  }
  return std::max<int64_t>(depth, 0);
}

/// Strips of `height_` features; the pieces that are split off read whole vectors, so the last strips are copied as they are.
void LongWeights::pack_a(const Rows& rows, int64_t depth, int64_t count, float* to) const {
  const int64_t strips = std::max<int64_t>(0, (count - kFloatsOfLine) / height_), whole = strips * height_;
  for (int64_t p = 0; p < depth; ++p) {
    if (strips > 0) tiles_->split_rows(rows.at[p], whole, to + p * height_, strip_of_a());
    for (int64_t at = whole; at < count; at += height_)
      std::memcpy(to + at / height_ * strip_of_a() + p * height_, rows.at[p] + at,
                  static_cast<size_t>(std::min(height_, count - at)) * sizeof(float));
  }
}

void LongWeights::pack_b(const Rows& rows, int64_t depth, int64_t count, float* to) const {
  const int64_t whole = count / width_ * width_;
  for (int64_t p = 0; p < depth; ++p) {
    tiles_->split_columns(rows.at[p], whole, to + p * width_, depth * width_);
    if (whole == count) continue;
    float* const last = to + whole * depth + p * width_;
    std::memcpy(last, rows.at[p] + whole, static_cast<size_t>(count - whole) * sizeof(float));
    std::fill(last + count - whole, last + width_, 0.0F);
  }
}

void LongWeights::run_task(const Task& task, const float* x, const float* dy, float* packed, float* sums) const {
  const int64_t row_tiles = base::ceil_div(task.rows, height_), column_tiles = base::ceil_div(task.columns, width_);
  Rows a, b;
  float* const a_strips = packed;
  float* const b_strips = packed + block_rows_ / height_ * strip_of_a();
  for (int64_t place = task.first, depth = load_rows(task, place, x, dy, a, b); depth > 0;) {
    const float* const a_at = pack_a_ ? a_strips : a.at[0];
    const int64_t a_step = pack_a_ ? height_ : a_line_;
    const int64_t a_tile = pack_a_ ? strip_of_a() : height_;
    pack_b(b, depth, task.columns, b_strips);
    if (pack_a_) pack_a(a, depth, task.rows, a_strips);
    const Tile start = place == task.first ? Tile::first : Tile::add;
    place += depth;
    const int64_t next = load_rows(task, place, x, dy, a, b);
    Ahead ahead({{b.at[0], task.columns, b_line_}, {a.at[0], task.rows, a_line_}}, next, depth);
    for (int64_t j = 0; j < column_tiles; ++j) {
      for (int64_t i = 0; i < row_tiles; ++i) {
        const int64_t count = std::min(height_, task.rows - i * height_);
        float* const tile = sums + (j * row_tiles + i) * tile_;
        const Ahead::Lines lines = ahead.next(tile);
        multiply_[count - 1](
            {depth, a_at + i * a_tile, a_step, b_strips + j * width_ * depth, width_, tile, start, lines.from, lines.step});
      }
    }
    depth = next;
  }
}

/// Strips of columns of all parts of a block to where they belong, by squares: where columns lie apart, a square is turned first, so that
/// whole lines are written.
void LongWeights::add_up(const float* sums, float* dw) const {
  const int64_t strips = block_columns_ / width_;
  for_ranges(blocks() * strips, threads_, [&](int64_t index, int64_t) {
    const int64_t block = index / strips, strip = index % strips * width_;
    const Task part = task(block * parts_);
    const int64_t columns = std::min(width_, part.columns - strip);
    const float* const from = sums + block * parts_ * block_sums_ + strip * base::ceil_div(part.rows, height_) * height_;
    for (int64_t row = 0; row < part.rows && columns > 0; row += width_)
      add_square(from + row * width_, std::min(width_, part.rows - row), columns,
                 dw + (part.row + row) * row_step_ + (part.column + strip) * column_step_);
  });
}

void LongWeights::add_square(const float* from, int64_t rows, int64_t columns, float* to) const {
  alignas(64) float square[kMostWidth * kMostWidth], turned[kMostWidth * kMostWidth];
  std::copy_n(from, rows * width_, square);
  for (int64_t p = 1; p < parts_; ++p)
    for (int64_t i = 0; i < rows * width_; ++i) square[i] += from[p * block_sums_ + i];
  if (row_step_ == 1) {
    std::fill(square + rows * width_, square + width_ * width_, 0.0F);
    tiles_->transpose(square, width_, width_, turned);
    for (int64_t column = 0; column < columns; ++column) std::copy_n(turned + column * width_, rows, to + column * column_step_);
    return;
  }
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) to[row * row_step_ + column * column_step_] = square[row * width_ + column];
}

void LongWeights::run(std::span<const void* const> in, std::span<void* const> out) {
  const int64_t tasks = blocks() * parts_;
  const int64_t bytes = (threads_ * packed_floats_ + tasks * block_sums_) * static_cast<int64_t>(sizeof(float));
  auto* const memory = reinterpret_cast<float*>(scratch_->pieces(1, bytes).front());
  float* const sums = memory + threads_ * packed_floats_;
  const auto *const x = static_cast<const float*>(in[swapped_ ? 1 : 0]), *const dy = static_cast<const float*>(in[swapped_ ? 0 : 1]);
  for_ranges(tasks, threads_, [&](int64_t index, int64_t thread) {
    run_task(task(index), x, dy, memory + thread * packed_floats_, sums + index * block_sums_);
  });
  add_up(sums, static_cast<float*>(out[0]));
}

}  // namespace

base::Result<std::unique_ptr<Native>> make_long_weights(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch) {
  const bool f32 = op.x.type == ir::Type::f32 && op.w.type == ir::Type::f32 && op.y.type == ir::Type::f32;
  const bool one_place =
      op.groups == 1 && std::ranges::all_of(op.dims, [](const Dim& d) {
        return d.out == 1 && d.pad_low == 0 && d.base_dilation == 1 && !d.reversed && (d.window - 1) * d.window_dilation < d.in;
      });
  if (!f32 || !one_place || op.flops() == 0) return base::Error{"long product: no f32 gradient of weights of one place"};
  if (std::min(op.batch, op.out_features) < kFewestFeatures) return base::Error{"long product: too few features"};
  if (op.x.outer != 1 || op.w.outer != 1) return base::Error{"long product: features that are not adjacent"};
  return std::unique_ptr<Native>(std::make_unique<LongWeights>(op, threads, std::move(scratch)));
}

}  // namespace replay::cpu
