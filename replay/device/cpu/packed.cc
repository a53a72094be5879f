// The packed product, after Goto and van de Geijn ("Anatomy of High-Performance Matrix Multiplication", 2008). D is cut into blocks, one
// task of a thread each. A task walks K in steps of some hundred terms; per step it packs its columns of B and, a few strips at a time, its
// rows of A into the order in which the inner loop reads them, widening small types on the way. Sums of all steps stay in wide tiles; after
// the last step alpha and beta are applied and each element is rounded once.
//
// A complex product is four real ones over the same tiles: re = Ar·Br − Ai·Bi and im = Ar·Bi + Ai·Br are two planes with two terms each.
#include "replay/device/cpu/packed.h"

#include <fmt/format.h>
#include <omp.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "replay/device/cpu/gemm_form.h"
#include "replay/device/cpu/packed_convert.h"
#include "replay/device/cpu/packed_tables.h"
#include "replay/device/cpu/parts.h"
#include "src/base/math.h"

namespace replay::cpu {
namespace {

constexpr int64_t kBlockColumns = 1024;          // of D in one task
constexpr int64_t kBlockElements = 1536 * 1024;  // sums that a task keeps in tiles between steps of K: 6 MiB of f32
constexpr int64_t kStripGap = 16;                // elements between strips of A
constexpr double kSerialTerms = 32 * 1024;       // below this many multiply-adds threads cost more than they save

/// An operand, or a part of it: the address of element (0, 0) and steps in bytes.
struct View {
  std::byte* at;
  int64_t row_step, column_step;
  int size;  ///< bytes of an element (of its real or imaginary part)
  View from(int64_t row, int64_t column) const { return {at + row * row_step + column * column_step, row_step, column_step, size}; }
  View transposed() const { return {at, column_step, row_step, size}; }
  bool adjacent() const { return column_step == size; }
};

/// What stays the same for all blocks of one operand.
struct Operand {
  int64_t batch_step = 0, row_step = 0, column_step = 0;  ///< bytes
  int size = 0;
  Convert widen = nullptr;
  bool same_type = false;  ///< stored as it is summed: needs no conversion
  View view(const void* base, int64_t batch, int64_t offset) const {
    return {static_cast<std::byte*>(const_cast<void*>(base)) + batch * batch_step + offset, row_step, column_step, size};
  }
};

enum class Sign : uint8_t { plus, minus };
/// One real product that is added to a plane of D: where its parts lie in an element of A and B.
struct Term {
  int64_t a_offset, b_offset;
  Sign sign;
};
struct Plane {
  int64_t d_offset;
  std::vector<Term> terms;
};

std::vector<Plane> planes_of(ir::Type a, ir::Type b, ir::Type d) {
  if (!ir::is_complex(d)) return {{0, {{0, 0, Sign::plus}}}};
  const int64_t ai = ir::bytes(a) / 2, bi = ir::bytes(b) / 2, di = ir::bytes(d) / 2;
  Plane real{0, {{0, 0, Sign::plus}}}, imaginary{di, {}};
  if (ir::is_complex(a) && ir::is_complex(b)) real.terms.push_back({ai, bi, Sign::minus});
  if (ir::is_complex(b)) imaginary.terms.push_back({0, bi, Sign::plus});
  if (ir::is_complex(a)) imaginary.terms.push_back({ai, 0, Sign::plus});
  return {real, imaginary};
}

/// How D is cut: blocks of block_rows × block_columns, a task each, in a grid.
struct Cut {
  int64_t block_rows, block_columns, row_blocks, column_blocks;
};

/// Blocks that are as large as the tiles between steps of K allow, then cut further along the longer side until the threads' shares differ
/// little.
Cut cut_of(const Gemm& g, int threads, const TileKernels& tiles) {
  const auto grid = [&](int64_t row_blocks, int64_t column_blocks) {
    const int64_t rows = base::round_up(base::ceil_div(std::max<int64_t>(g.m, 1), row_blocks), tiles.rows);
    const int64_t columns = base::round_up(base::ceil_div(std::max<int64_t>(g.n, 1), column_blocks), tiles.columns);
    return Cut{rows, columns, base::ceil_div(g.m, rows), base::ceil_div(g.n, columns)};
  };
  const auto share = [&](const Cut& cut) {  // 1: every thread gets the same
    const int64_t tasks = std::max<int64_t>(g.batch * cut.row_blocks * cut.column_blocks, 1);
    return static_cast<double>(tasks) / static_cast<double>(base::round_up(tasks, threads));
  };
  const int64_t column_blocks = base::ceil_div(std::max<int64_t>(g.n, 1), kBlockColumns);
  const int64_t row_blocks = base::ceil_div(
      std::max<int64_t>(g.m, 1), kBlockElements / std::min(base::round_up(std::max<int64_t>(g.n, 1), tiles.columns), kBlockColumns));
  Cut best = grid(row_blocks, column_blocks);
  if (static_cast<double>(g.batch * g.m) * static_cast<double>(g.n * g.k) < kSerialTerms) return best;
  for (int64_t more = 1; more < 2 * threads && share(best) < 0.9; ++more) {
    const Cut next = g.m >= g.n ? grid(row_blocks + more, column_blocks) : grid(row_blocks, column_blocks + more);
    if (share(next) > share(best)) best = next;
  }
  return best;
}

/// Pieces of one thread's memory: their sizes in bytes while a product is planned, their places while it runs.
template <typename T>
struct Pieces {
  T a, b, tiles, lines, other, narrow, gathered;
};
using Workspace = Pieces<std::byte*>;

int64_t total(const Pieces<int64_t>& sizes) {
  return sizes.a + sizes.b + sizes.tiles + sizes.lines + sizes.other + sizes.narrow + sizes.gathered;
}

Workspace carve(std::byte* from, const Pieces<int64_t>& sizes) {
  const auto next = [&](int64_t bytes) { return std::exchange(from, from + bytes); };
  return {next(sizes.a), next(sizes.b), next(sizes.tiles), next(sizes.lines), next(sizes.other), next(sizes.narrow), next(sizes.gathered)};
}

void negate_f32(std::byte* data, int64_t count) {
  for (float *x = reinterpret_cast<float*>(data), *end = x + count; x < end; ++x) *x = -*x;
}
void negate_f64(std::byte* data, int64_t count) {
  for (double *x = reinterpret_cast<double*>(data), *end = x + count; x < end; ++x) *x = -*x;
}

class Packed final : public Product {
 public:
  Packed(const Form& form, Arithmetic arithmetic, int threads, const PackedKernels& kernels, std::shared_ptr<Scratch> scratch);
  void run(const void* a, const void* b, void* d) override;
  std::string implementation() const override { return fmt::format("packed {} {}", text(arithmetic_), halved() ? "amx" : kernels_->name); }
  std::string precision() const override {
    const bool swapped = order_ == Order::swapped;
    return fmt::format("{}×{}→{}→{}", ir::text(swapped ? gemm_.b.type : gemm_.a.type), ir::text(swapped ? gemm_.a.type : gemm_.b.type),
                       text(arithmetic_), ir::text(gemm_.d.type));
  }
  int64_t scratch_bytes() const override { return threads_ * total(sizes_); }

 private:
  /// A task: its place in D and the workspace of its thread.
  struct Task {
    int64_t batch, row, column, rows, columns;
    const Workspace& memory;
  };

  Operand operand(const Gemm::Operand& from) const;
  Pieces<int64_t> sizes() const;
  void run_tasks(const void* a, const void* b, void* d) const;
  void run_task(int64_t index, const Workspace& memory, const void* a, const void* b, void* d) const;
  void run_plane(const Task& task, const Plane& plane, const void* a, const void* b, void* d) const;
  void multiply_block(const Task& task, int64_t row, int64_t rows, int64_t depth, Tile start, const View* finished) const;
  void pack_halves_of_a(const View& view, int64_t rows, int64_t depth, const Workspace& memory) const;
  void pack_strips_of_b(const View& view, int64_t columns, int64_t depth, const Workspace& memory) const;
  void pack_a(const View& view, int64_t rows, int64_t depth, Sign sign, const Workspace& memory) const;
  void pack_b(const View& view, int64_t columns, int64_t depth, const Workspace& memory) const;
  void pack_lines(const Operand& operand, const View& view, int64_t count, int64_t depth, TileKernels::Split split, int64_t width,
                  int64_t stride, std::byte* packed, const Workspace& memory) const;
  void load(const Operand& operand, const View& view, int64_t rows, int64_t columns, std::byte* to, int64_t to_stride,
            const Workspace& memory) const;
  void store(std::byte* tile, const View& to, int64_t rows, int64_t columns, const Workspace& memory) const;
  bool a_in_strips() const { return a_.row_step == a_.size && a_.column_step != a_.size; }
  bool halved() const { return tiles_->halve_row != nullptr; }
  /// Terms of K as packed: matrix units take whole blocks, the last of them ends in zeros.
  int64_t padded(int64_t depth) const { return halved() ? base::round_up(depth, kMatrixDepth) : depth; }
  int64_t row_stride() const { return tiles_->depth + kRowStride - kDepth; }
  /// Elements of a strip of A, with room for what split writes behind it.
  int64_t a_strip(int64_t depth) const {
    if (halved()) return tiles_->rows * padded(depth);
    return a_in_strips() ? tiles_->rows * depth + kStripGap : tiles_->rows * kRowStride;
  }
  int64_t b_strip(int64_t depth) const { return tiles_->columns * padded(depth); }
  bool one_step() const { return gemm_.k <= tiles_->depth && planes_.front().terms.size() == 1; }
  std::byte* at(std::byte* piece, int64_t element) const { return piece + element * bytes_; }

  Gemm gemm_;
  Order order_;
  Arithmetic arithmetic_;
  int threads_;
  const PackedKernels* kernels_;
  const TileKernels* tiles_;
  int bytes_;  ///< of one sum
  Operand a_, b_, d_;
  Convert narrow_;
  std::vector<Plane> planes_;
  Cut cut_;
  int64_t packed_rows_;    ///< of A at a time
  Pieces<int64_t> sizes_;  ///< of one thread
  std::shared_ptr<Scratch> scratch_;
  mutable std::atomic<bool> exact_ = true;  ///< all numbers that were halved in this run are the sum of their parts
  std::unique_ptr<Packed> with_vectors_;    ///< for when one is not; null where nothing is halved
};

/// How many bf16 numbers make up any finite number of the type exactly; 0: more than two, or none of our business.
int bf16_parts(ir::Type type) {
  if (type == ir::Type::f16) return 2;
  return ir::info(type).small != nullptr ? 1 : 0;
}

/// Matrix units where operands are small floats and the product fills a tile. beta needs the old D, which a second try would not find.
const TileKernels* tiles_of(const Gemm& gemm, Arithmetic arithmetic, const PackedKernels& kernels) {
  const TileKernels* const vectors = &kernels.tiles[static_cast<size_t>(arithmetic)];
  const int a = bf16_parts(gemm.a.type), b = bf16_parts(gemm.b.type), parts = std::max(a, b);
  const bool small = gemm.m < 16 || gemm.n < 16 || gemm.k < kMatrixDepth;
  if (arithmetic != Arithmetic::f32 || a == 0 || b == 0 || small || gemm.beta != 0 || kernels.matrix[parts - 1] == nullptr) return vectors;
  return kernels.matrix[parts - 1];
}

Packed::Packed(const Form& form, Arithmetic arithmetic, int threads, const PackedKernels& kernels, std::shared_ptr<Scratch> scratch)
    : gemm_(form.gemm),
      order_(form.order),
      arithmetic_(arithmetic),
      threads_(std::max(threads, 1)),
      kernels_(&kernels),
      tiles_(tiles_of(form.gemm, arithmetic, kernels)),
      bytes_(element_bytes(arithmetic)),
      a_(operand(gemm_.a)),
      b_(operand(gemm_.b)),
      d_(operand(gemm_.d)),
      narrow_(narrow(arithmetic, part_type(gemm_.d.type), kernels)),
      planes_(planes_of(gemm_.a.type, gemm_.b.type, gemm_.d.type)),
      cut_(cut_of(gemm_, threads_, *tiles_)),
      packed_rows_(std::min(base::round_up(tiles_->packed_rows, tiles_->rows), cut_.block_rows)),
      sizes_(sizes()),
      scratch_(std::move(scratch)) {
  const int64_t tasks = gemm_.batch * cut_.row_blocks * cut_.column_blocks;
  threads_ = static_cast<int>(std::clamp<int64_t>(tasks, 1, threads_));
  if (static_cast<double>(gemm_.batch * gemm_.m) * static_cast<double>(gemm_.n * gemm_.k) < kSerialTerms) threads_ = 1;
  if (halved()) with_vectors_ = std::make_unique<Packed>(form, arithmetic, threads, *packed_kernels(Isa::avx512), scratch_);
}

Operand Packed::operand(const Gemm::Operand& from) const {
  const int64_t bytes = ir::bytes(from.type);
  Operand result{from.batch_stride * bytes,
                 from.row_stride * bytes,
                 from.column_stride * bytes,
                 static_cast<int>(ir::bytes(part_type(from.type))),
                 widen(part_type(from.type), arithmetic_, *kernels_),
                 false};
  constexpr ir::Type kSame[kArithmetics] = {ir::Type::f32, ir::Type::f64, ir::Type::s32, ir::Type::s64};
  result.same_type = part_type(from.type) == kSame[static_cast<size_t>(arithmetic_)];
  return result;
}

Pieces<int64_t> Packed::sizes() const {
  const int64_t depth = padded(std::clamp<int64_t>(gemm_.k, 1, tiles_->depth)), tile = int64_t{tiles_->rows} * tiles_->columns;
  const int64_t line = std::max({cut_.block_columns, packed_rows_, tiles_->columns * row_stride(), kMatrixDepth * packed_rows_}) + kSlack;
  const int64_t tiles = one_step() ? tile : cut_.block_rows * cut_.block_columns;
  const auto bytes = [](int64_t elements, int size) { return base::round_up(elements * size, 64); };
  return {bytes(packed_rows_ * row_stride() + kSlack, bytes_),
          bytes(cut_.block_columns * depth + kSlack, bytes_),
          bytes(tiles, bytes_),
          bytes(line, bytes_),
          bytes(tile, bytes_),
          bytes(tile, d_.size),
          bytes(line, std::max({a_.size, b_.size, d_.size}))};
}

void Packed::run(const void* a, const void* b, void* d) {
  exact_ = true;
  run_tasks(order_ == Order::swapped ? b : a, order_ == Order::swapped ? a : b, d);
  if (!exact_) with_vectors_->run(a, b, d);
}

void Packed::run_tasks(const void* a, const void* b, void* d) const {
  const int64_t tasks = gemm_.batch * cut_.row_blocks * cut_.column_blocks;
  const std::vector<std::byte*> pieces = scratch_->pieces(threads_, total(sizes_));
  if (threads_ == 1) {
    for (int64_t i = 0; i < tasks; ++i) run_task(i, carve(pieces.front(), sizes_), a, b, d);
    return;
  }
#pragma omp parallel for schedule(dynamic) num_threads(threads_)
  for (int64_t i = 0; i < tasks; ++i) run_task(i, carve(pieces[static_cast<size_t>(omp_get_thread_num())], sizes_), a, b, d);
}

void Packed::run_task(int64_t index, const Workspace& memory, const void* a, const void* b, void* d) const {
  const int64_t column = index % cut_.column_blocks * cut_.block_columns, rest = index / cut_.column_blocks;
  const int64_t row = rest % cut_.row_blocks * cut_.block_rows;
  const Task task{rest / cut_.row_blocks,
                  row,
                  column,
                  std::min(cut_.block_rows, gemm_.m - row),
                  std::min(cut_.block_columns, gemm_.n - column),
                  memory};
  for (const Plane& plane : planes_) run_plane(task, plane, a, b, d);
}

void Packed::run_plane(const Task& task, const Plane& plane, const void* a, const void* b, void* d) const {
  const View to = d_.view(d, task.batch, plane.d_offset).from(task.row, task.column);
  const int64_t terms = static_cast<int64_t>(plane.terms.size()), blocks = base::ceil_div(gemm_.k, tiles_->depth), steps = terms * blocks;
  if (steps == 0) {  // an empty sum is 0
    for (int64_t row = 0; row < task.rows; row += packed_rows_) {
      multiply_block(task, row, std::min(packed_rows_, task.rows - row), 0, Tile::first, &to);
    }
    return;
  }
  const int64_t even = padded(base::ceil_div(gemm_.k, blocks));  // 512 terms are two steps of 256, not of 384 and 128
  for (int64_t step = 0; step < steps && exact_; ++step) {
    const Term& term = plane.terms[static_cast<size_t>(step % terms)];
    const int64_t from = step / terms * even, depth = std::clamp<int64_t>(gemm_.k - from, 0, even);
    pack_b(b_.view(b, task.batch, term.b_offset).from(from, task.column), task.columns, depth, task.memory);
    const View rows_of_a = a_.view(a, task.batch, term.a_offset).from(task.row, from);
    for (int64_t row = 0; row < task.rows && exact_; row += packed_rows_) {
      const int64_t rows = std::min(packed_rows_, task.rows - row);
      pack_a(rows_of_a.from(row, 0), rows, depth, term.sign, task.memory);
      multiply_block(task, row, rows, depth, step == 0 ? Tile::first : Tile::add, step + 1 == steps ? &to : nullptr);
    }
  }
}

/// The packed rows of A times the packed columns of B; a strip of B stays in the first-level cache for all strips of A.
void Packed::multiply_block(const Task& task, int64_t row, int64_t rows, int64_t depth, Tile start, const View* finished) const {
  const int64_t height = tiles_->rows, width = tiles_->columns, row_tiles = cut_.block_rows / height;
  const TileKernels::Multiply* const multiply = a_in_strips() ? tiles_->multiply_strips : tiles_->multiply_rows;
  for (int64_t j = 0; j < task.columns; j += width) {
    for (int64_t i = 0; i < rows; i += height) {
      std::byte* const tile = at(task.memory.tiles, one_step() ? 0 : (j / width * row_tiles + (row + i) / height) * height * width);
      const int64_t count = std::min(height, rows - i);
      const std::byte *const a = at(task.memory.a, i / height * a_strip(depth)), *const b = at(task.memory.b, j / width * b_strip(depth));
      for (int64_t r = 0; finished != nullptr && r < count; ++r) __builtin_prefetch(finished->from(row + i + r, j).at, 1);
      multiply[count - 1](depth, a, b, tile, start);
      if (finished != nullptr) store(tile, finished->from(row + i, j), count, std::min(width, task.columns - j), task.memory);
    }
  }
}

void Packed::pack_a(const View& view, int64_t rows, int64_t depth, Sign sign, const Workspace& memory) const {
  if (halved()) return pack_halves_of_a(view, rows, depth, memory);
  if (a_in_strips()) {
    pack_lines(a_, view.transposed(), rows, depth, tiles_->split_rows, tiles_->rows, a_strip(depth), memory.a, memory);
  } else {
    load(a_, view, rows, depth, memory.a, kRowStride, memory);
  }
  if (sign == Sign::minus) (bytes_ == 4 ? negate_f32 : negate_f64)(memory.a, packed_rows_ * kRowStride);
}

/// Rows of K, a block of terms at a time where they lie across.
void Packed::pack_halves_of_a(const View& view, int64_t rows, int64_t depth, const Workspace& memory) const {
  const int64_t height = tiles_->rows, block = height * kMatrixDepth;
  const auto place = [&](int64_t row) { return at(memory.a, row / height * a_strip(depth) + row % height * kMatrixDepth); };
  bool exact = true;
  if (!a_in_strips()) {
    std::memset(at(memory.lines, depth), 0, static_cast<size_t>((padded(depth) - depth) * bytes_));
    for (int64_t r = 0; r < rows; ++r) {
      load(a_, view.from(r, 0), 1, depth, memory.lines, 0, memory);
      exact &= tiles_->halve_row(memory.lines, padded(depth), place(r));
    }
    if (!exact) exact_ = false;
    return;
  }
  float turned[32 * kMatrixDepth];
  for (int64_t p = 0; p < depth; p += kMatrixDepth) {
    const int64_t count = std::min(kMatrixDepth, depth - p);
    std::memset(memory.lines, 0, static_cast<size_t>(kMatrixDepth * packed_rows_ * bytes_));
    load(a_, view.from(0, p).transposed(), count, rows, memory.lines, packed_rows_, memory);
    for (int64_t r = 0; r < rows; r += height) {
      tiles_->transpose(at(memory.lines, r), packed_rows_, height, turned);
      for (int64_t i = 0; i < height; ++i)
        exact &= tiles_->halve_row(turned + i * kMatrixDepth, kMatrixDepth, place(r + i) + p / kMatrixDepth * block * bytes_);
    }
  }
  if (!exact) exact_ = false;
}

void Packed::pack_b(const View& view, int64_t columns, int64_t depth, const Workspace& memory) const {
  pack_strips_of_b(view, columns, depth, memory);
  if (!halved()) return;
  bool exact = true;
  for (int64_t j = 0; j < columns; j += tiles_->columns) {
    std::byte* const strip = at(memory.b, j / tiles_->columns * b_strip(depth));
    std::memset(at(strip, depth * tiles_->columns), 0, static_cast<size_t>((padded(depth) - depth) * tiles_->columns * bytes_));
    exact &= tiles_->halve_strip(padded(depth), strip);
  }
  if (!exact) exact_ = false;
}

void Packed::pack_strips_of_b(const View& view, int64_t columns, int64_t depth, const Workspace& memory) const {
  const int64_t width = tiles_->columns, stride = row_stride();
  if (view.row_step != view.size || view.adjacent()) {
    return pack_lines(b_, view, columns, depth, tiles_->split_columns, width, b_strip(depth), memory.b, memory);
  }
  for (int64_t j = 0; j < columns; j += width) {
    const View lines = view.from(0, j).transposed();
    const int64_t count = std::min(width, columns - j);
    std::byte* const strip = at(memory.b, j / width * b_strip(depth));
    if (b_.same_type && count == width) {
      tiles_->transpose(lines.at, lines.row_step / lines.size, depth, strip);
      continue;
    }
    if (count < width) std::memset(memory.lines, 0, static_cast<size_t>(width * stride * bytes_));
    load(b_, lines, count, depth, memory.lines, stride, memory);
    tiles_->transpose(memory.lines, stride, depth, strip);
  }
}

/// `depth` lines of `count` elements into strips of `width`, `stride` elements apart.
void Packed::pack_lines(const Operand& operand, const View& view, int64_t count, int64_t depth, TileKernels::Split split, int64_t width,
                        int64_t stride, std::byte* packed, const Workspace& memory) const {
  std::memset(at(memory.lines, count), 0, static_cast<size_t>(kSlack * bytes_));  // lanes beyond the edge: no stray denormals
  for (int64_t p = 0; p < depth; ++p) {
    load(operand, view.from(p, 0), 1, count, memory.lines, count, memory);
    split(memory.lines, count, packed + p * width * bytes_, stride);
  }
}

/// Widens rows × columns elements; columns that aren't adjacent are gathered first, line by line.
void Packed::load(const Operand& operand, const View& view, int64_t rows, int64_t columns, std::byte* to, int64_t to_stride,
                  const Workspace& memory) const {
  if (view.adjacent()) return operand.widen(view.at, view.row_step / view.size, to, to_stride, rows, columns);
  for (int64_t r = 0; r < rows; ++r) {
    const std::byte* from = view.at + r * view.row_step;
    for (int64_t c = 0; c < columns; ++c)
      std::memcpy(memory.gathered + c * view.size, from + c * view.column_step, static_cast<size_t>(view.size));
    operand.widen(memory.gathered, 0, to + r * to_stride * bytes_, 0, 1, columns);
  }
}

void Packed::store(std::byte* tile, const View& to, int64_t rows, int64_t columns, const Workspace& memory) const {
  const int64_t width = tiles_->columns;
  if (gemm_.beta != 0) {
    load(d_, to, rows, columns, memory.other, width, memory);
    tiles_->combine(tile, gemm_.alpha, memory.other, gemm_.beta);
  } else if (gemm_.alpha != 1) {
    tiles_->combine(tile, gemm_.alpha, nullptr, 0);
  }
  if (to.adjacent()) return narrow_(tile, width, to.at, to.row_step / to.size, rows, columns);
  narrow_(tile, width, memory.narrow, columns, rows, columns);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      std::memcpy(to.from(r, c).at, memory.narrow + (r * columns + c) * to.size, static_cast<size_t>(to.size));
    }
  }
}

#if defined(__x86_64__)
bool has_amx() {  // not every compiler that we support knows the names
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kBf16 = 1U << 22, kTiles = 1U << 24;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kBf16) != 0 && (d & kTiles) != 0;
}
#endif

bool whole_number(double value) { return value == std::floor(value) && std::abs(value) < 9e15; }

}  // namespace

const PackedKernels* packed_kernels(Isa isa) {
#if defined(__x86_64__)
  static const bool kAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  static const bool kAvx512 = kAvx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (isa == Isa::amx) return kAvx512 && has_amx() && amx_permitted() ? &amx_kernels() : nullptr;
  if (isa == Isa::avx512) return kAvx512 ? &avx512_kernels() : nullptr;
  if (isa == Isa::avx2) return kAvx2 ? &avx2_kernels() : nullptr;
#else
  if (isa != Isa::baseline) return nullptr;
#endif
  return &baseline_kernels();
}

const PartsKernels* parts_kernels() {
#if defined(__x86_64__)
  if (packed_kernels(Isa::amx) != nullptr) return &parts_kernels_amx();
#endif
  return nullptr;
}

Isa best_isa() {
  for (Isa isa : {Isa::amx, Isa::avx512, Isa::avx2}) {
    if (packed_kernels(isa) != nullptr) return isa;
  }
  return Isa::baseline;
}

base::Result<std::unique_ptr<Product>> make_packed(const replay::Gemm& gemm, int threads, std::shared_ptr<Scratch> scratch, Isa isa) {
  ASSIGN_OR_RETURN(const Form form, form_of(gemm));
  ASSIGN_OR_RETURN(const Arithmetic arithmetic, arithmetic_of(gemm.a.type, gemm.b.type, gemm.d.type));
  const bool integers = arithmetic == Arithmetic::s32 || arithmetic == Arithmetic::s64;
  if (integers && (!whole_number(gemm.alpha) || !whole_number(gemm.beta))) {
    return base::Error{fmt::format("product of integers: alpha {} and beta {} must be whole numbers", gemm.alpha, gemm.beta)};
  }
  const PackedKernels* kernels = packed_kernels(isa);
  if (kernels == nullptr) return base::Error{"packed product: this CPU lacks the instruction set; use the best one it has"};
  return std::unique_ptr<Product>(std::make_unique<Packed>(form, arithmetic, threads, *kernels, std::move(scratch)));
}

}  // namespace replay::cpu
