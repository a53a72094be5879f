// Convolutions. f32 goes to oneDNN where one of its passes fits, f16 and bf16 too, widened before and narrowed after. Everything else is a
// product: the elements under the windows of some results are gathered as the rows of a matrix (zeros where a window hangs over the edge or
// between dilated elements), and that times the kernel as a matrix gives those results. All types, dilations, reversals, paddings and
// groups are this one case; dilated operands are first taken apart (convolution_phases.cc).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "replay/device/cpu/convolution_phases.h"
#include "replay/device/cpu/dnnl.h"
#include "replay/device/cpu/long_weights.h"
#include "replay/device/cpu/packed_convert.h"
#include "replay/device/cpu/parts_convolution.h"
#include "replay/device/cpu/threads.h"
#include "replay/device/cpu/winograd.h"

namespace replay::cpu {
namespace {

using base::Result;

constexpr int64_t kMatrixBytes = 1 << 20;  ///< of gathered elements a thread: stays in the second-level cache
constexpr int64_t kFewestRows = 48;
constexpr int64_t kMostTerms = 1 << 14;  ///< of a sum that are gathered at a time

/// One loop over results (batch, spatial) or over the terms of a sum (features, window).
struct Loop {
  int64_t size = 1;
  int spatial = -1;   ///< the dimension whose place it moves; −1: it moves X directly
  int64_t step = 0;   ///< of that place, or in elements of X
  int64_t x = 0;      ///< elements of X between neighbours
  int64_t other = 0;  ///< elements of Y (results) or of W (terms) between neighbours
};

std::vector<Loop> result_loops(const Convolution& c) {
  std::vector<Loop> loops{{c.batch, -1, c.x.outer, c.x.outer, c.y.outer}};
  for (size_t s = 0; s < c.dims.size(); ++s) {
    const Convolution::Dim& d = c.dims[s];
    loops.push_back({d.out, static_cast<int>(s), d.stride, d.x * d.stride, d.y});
  }
  std::erase_if(loops, [](const Loop& l) { return l.size == 1; });
  std::ranges::stable_sort(loops, std::greater{}, &Loop::other);
  return loops;
}

std::vector<Loop> term_loops(const Convolution& c) {
  std::vector<Loop> loops{{c.in_features, -1, c.x.inner, c.x.inner, c.w.inner}};
  for (size_t s = 0; s < c.dims.size(); ++s) {
    const Convolution::Dim& d = c.dims[s];
    loops.push_back({d.window, static_cast<int>(s), d.window_dilation, d.x * d.window_dilation, d.reversed ? -d.w : d.w});
  }
  std::erase_if(loops, [](const Loop& l) { return l.size == 1; });
  std::ranges::stable_sort(loops, std::greater{}, &Loop::x);
  return loops;
}

int64_t product_of(const std::vector<Loop>& loops) {
  int64_t out = 1;
  for (const Loop& l : loops) out *= l.size;
  return out;
}

/// How many of the innermost loops make one sequence in Y.
size_t collapsing(const std::vector<Loop>& loops) {
  size_t count = 0;
  for (size_t i = loops.size(); i-- > 0; ++count) {
    if (count > 0 && loops[i].other != loops[i + 1].other * loops[i + 1].size) break;
  }
  return count;
}

/// Where X is read: an offset by what moves directly, and a place in each padded and dilated dimension.
struct Place {
  int64_t offset = 0;
  std::vector<int64_t> at;
};

/// Moves to iteration `linear` of the loops; `step` is what one iteration moves a spatial place.
void move(Place& place, std::span<const Loop> loops, int64_t linear) {
  for (size_t i = loops.size(); i-- > 0; linear /= loops[i].size) {
    const int64_t index = linear % loops[i].size;
    if (loops[i].spatial < 0)
      place.offset += index * loops[i].step;
    else
      place.at[static_cast<size_t>(loops[i].spatial)] += index * loops[i].step;
  }
}

/// Offset in X along `d` of a place; nothing where a zero is.
std::optional<int64_t> offset_of(const Convolution::Dim& d, int64_t at) {
  if (at < 0 || at % d.base_dilation != 0 || at / d.base_dilation >= d.in) return std::nullopt;
  return at / d.base_dilation * d.x;
}

/// `count` elements `step` apart.
template <typename T>
void copy_strided(const T* from, int64_t step, T* to, int64_t count) {
  if (step == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i) to[i] = from[i * step];
}

/// Gathers the elements of one line of the matrix, run by run of the innermost loop.
template <typename T>
class Line {
 public:
  Line(const Convolution& c, const std::vector<Loop>& loops) : c_(c), loops_(loops), inner_(loops.empty() ? Loop{} : loops.back()) {}

  void gather(const T* x, const Place& start, int64_t first, int64_t count, T* to) const {
    for (int64_t done = 0; done < count;) {
      const int64_t linear = first + done, at = linear % inner_.size, run = std::min(inner_.size - at, count - done);
      Place place = start;
      if (!loops_.empty()) move(place, std::span(loops_).first(loops_.size() - 1), linear / inner_.size);
      gather_run(x, place, at, run, to + done);
      done += run;
    }
  }

 private:
  void gather_run(const T* x, const Place& place, int64_t first, int64_t count, T* to) const {
    int64_t offset = place.offset;
    for (size_t s = 0; s < c_.dims.size(); ++s) {
      if (static_cast<int>(s) == inner_.spatial) continue;
      const auto own = offset_of(c_.dims[s], place.at[s]);
      if (!own) {
        std::memset(static_cast<void*>(to), 0, static_cast<size_t>(count) * sizeof(T));
        return;
      }
      offset += *own;
    }
    if (inner_.spatial < 0) return copy_strided(x + offset + first * inner_.step, inner_.step, to, count);
    const Convolution::Dim& d = c_.dims[static_cast<size_t>(inner_.spatial)];
    const int64_t at = place.at[static_cast<size_t>(inner_.spatial)] + first * inner_.step;
    if (d.base_dilation == 1) return gather_inside(x + offset, d, at, count, to);
    for (int64_t i = 0; i < count; ++i) {
      const auto own = offset_of(d, at + i * inner_.step);
      to[i] = own ? x[offset + *own] : T{};
    }
  }

  /// Of places at, at + step, … those in [0, in) are one range.
  void gather_inside(const T* x, const Convolution::Dim& d, int64_t at, int64_t count, T* to) const {
    const int64_t step = inner_.step;
    const int64_t from = std::clamp<int64_t>(at >= 0 ? 0 : (-at + step - 1) / step, 0, count);
    const int64_t until = std::clamp<int64_t>(at >= d.in ? 0 : (d.in - at + step - 1) / step, from, count);
    std::fill(to, to + from, T{});
    if (until > from) copy_strided(x + (at + from * step) * d.x, step * d.x, to + from, until - from);
    std::fill(to + until, to + count, T{});
  }

  const Convolution& c_;
  const std::vector<Loop>& loops_;
  Loop inner_;
};

struct Wide {
  uint64_t words[2];
};

/// How many results and terms of a sum one product takes, and whether it adds to what earlier terms gave.
struct Piece {
  int64_t rows, terms;
  bool adds;
  auto operator<=>(const Piece&) const = default;
};

class Gathered final : public Native {
 public:
  static Result<std::unique_ptr<Native>> make(const Convolution& c, int threads, std::shared_ptr<Scratch> scratch) {
    auto out = std::unique_ptr<Gathered>(new Gathered(c, threads, std::move(scratch)));
    if (out->result_count() > 0) RETURN_IF_ERROR(out->plan());
    return std::unique_ptr<Native>(std::move(out));
  }

  void run(std::span<const void* const> in, std::span<void* const> out) override;
  std::string implementation() const override {
    return products_.empty() ? "nothing to compute" : "gathered, " + products_.begin()->second->implementation();
  }
  std::string precision() const override { return products_.empty() ? "" : products_.begin()->second->precision(); }

 private:
  Gathered(const Convolution& c, int threads, std::shared_ptr<Scratch> scratch);
  int64_t result_count() const { return c_.groups * c_.out_features * row_count_ * outer_count_; }
  base::Status plan();
  Result<std::unique_ptr<Native>> arrange_kernel() const;
  Result<std::unique_ptr<Product>> product_for(const Piece& piece) const;
  void gather(const void* x, std::byte* matrix, const Place& start, int64_t row, int64_t term, const Piece& piece) const;
  template <typename T>
  void gather_as(const void* x, std::byte* matrix, const Place& start, int64_t row, int64_t term, const Piece& piece) const;
  void run_rows(const std::byte* x, const std::byte* w, std::byte* y, const Place& start, std::byte* matrix);

  Convolution c_;
  int threads_;
  std::shared_ptr<Scratch> scratch_, product_scratch_ = std::make_shared<Scratch>();
  std::vector<Loop> rows_, outer_, terms_;  ///< results that one product can store; the others; terms of a sum
  int64_t row_count_ = 1, outer_count_ = 1, term_count_ = 1, row_step_ = 1, term_step_ = 1;
  bool by_columns_ = false;  ///< the matrix lies by columns: neighbouring results are neighbours in X
  std::map<Piece, std::unique_ptr<Product>> products_;
  std::unique_ptr<Native> arrange_;  ///< the kernel as [group][term][out feature]
};

Gathered::Gathered(const Convolution& c, int threads, std::shared_ptr<Scratch> scratch)
    : c_(c), threads_(threads), scratch_(std::move(scratch)), rows_(result_loops(c)), terms_(term_loops(c)) {
  const size_t inner = collapsing(rows_);
  outer_.assign(rows_.begin(), rows_.end() - static_cast<std::ptrdiff_t>(inner));
  rows_.erase(rows_.begin(), rows_.end() - static_cast<std::ptrdiff_t>(inner));
  row_count_ = product_of(rows_), outer_count_ = product_of(outer_), term_count_ = product_of(terms_);
}

base::Status Gathered::plan() {
  const auto adjacent = [](const std::vector<Loop>& loops) { return !loops.empty() && loops.back().x == 1; };
  by_columns_ = adjacent(rows_) && !adjacent(terms_);
  // Sums of narrow types are rounded once, so all their terms are gathered together.
  const bool exact = ir::bytes(c_.y.type) >= 4 && !ir::is_small_float(c_.y.type);
  term_step_ = std::max<int64_t>(1, exact ? std::min(term_count_, kMostTerms) : term_count_);
  const int64_t fitting = threads_ * kMatrixBytes / (term_step_ * ir::bytes(c_.x.type));
  row_step_ = std::clamp(fitting, std::min(kFewestRows, row_count_), row_count_);
  for (const int64_t rows : {row_step_, row_count_ % row_step_}) {
    for (const int64_t terms : {term_step_, term_count_ % term_step_}) {
      for (const bool adds : {false, true}) {
        if (rows == 0 || (terms == 0 && term_count_ > 0) || (adds && term_count_ <= term_step_)) continue;
        ASSIGN_OR_RETURN((products_[{rows, std::min(terms, term_count_), adds}]), product_for({rows, std::min(terms, term_count_), adds}));
      }
    }
  }
  ASSIGN_OR_RETURN(arrange_, arrange_kernel());
  return {};
}

Result<std::unique_ptr<Product>> Gathered::product_for(const Piece& piece) const {
  Gemm gemm;
  gemm.m = piece.rows, gemm.n = c_.out_features, gemm.k = piece.terms;
  gemm.a = {-1, c_.x.type, 0, by_columns_ ? 1 : piece.terms, by_columns_ ? piece.rows : 1};
  gemm.b = {-1, c_.w.type, 0, c_.out_features, 1};
  gemm.d = {-1, c_.y.type, 0, rows_.empty() ? 1 : rows_.back().other, c_.y.inner};
  gemm.beta = piece.adds ? 1 : 0;
  return make_product(gemm, threads_, product_scratch_);
}

Result<std::unique_ptr<Native>> Gathered::arrange_kernel() const {
  Permute arrange;
  arrange.element_bytes = ir::bytes(c_.w.type);
  int64_t step = c_.out_features;
  for (size_t i = terms_.size(); i-- > 0; step *= terms_[i].size) {
    arrange.dims.push_back({terms_[i].size, terms_[i].other, step});
    if (terms_[i].other < 0) arrange.from_offset -= (terms_[i].size - 1) * terms_[i].other;
  }
  arrange.dims.push_back({c_.out_features, c_.w.outer, 1});
  arrange.dims.push_back({c_.groups, c_.w.group, step});
  return make_permute(arrange, threads_, scratch_);
}

template <typename T>
void Gathered::gather_as(const void* x, std::byte* matrix, const Place& start, int64_t row, int64_t term, const Piece& piece) const {
  const Line<T> line(c_, by_columns_ ? rows_ : terms_);
  const int64_t lines = by_columns_ ? piece.terms : piece.rows, length = by_columns_ ? piece.rows : piece.terms;
  const int64_t first_line = by_columns_ ? term : row, first = by_columns_ ? row : term;
  const int64_t chunk = std::max<int64_t>(1, (8 << 10) / std::max<int64_t>(1, length));
  const int threads = lines * length * static_cast<int64_t>(sizeof(T)) < kParallelBytes ? 1 : threads_;
  for_ranges((lines + chunk - 1) / chunk, threads, [&](int64_t range, int64_t) {
    for (int64_t i = range * chunk; i < std::min(lines, (range + 1) * chunk); ++i) {
      Place place = start;
      move(place, by_columns_ ? terms_ : rows_, first_line + i);
      line.gather(static_cast<const T*>(x), place, first, length, reinterpret_cast<T*>(matrix) + i * length);
    }
  });
}

void Gathered::gather(const void* x, std::byte* matrix, const Place& start, int64_t row, int64_t term, const Piece& piece) const {
  const int64_t bytes = ir::bytes(c_.x.type);
  if (bytes == 1) return gather_as<uint8_t>(x, matrix, start, row, term, piece);
  if (bytes == 2) return gather_as<uint16_t>(x, matrix, start, row, term, piece);
  if (bytes == 4) return gather_as<uint32_t>(x, matrix, start, row, term, piece);
  if (bytes == 8) return gather_as<uint64_t>(x, matrix, start, row, term, piece);
  gather_as<Wide>(x, matrix, start, row, term, piece);
}

/// All results of the inner loops for one place of the outer ones.
void Gathered::run_rows(const std::byte* x, const std::byte* w, std::byte* y, const Place& start, std::byte* matrix) {
  const int64_t y_step = rows_.empty() ? 0 : rows_.back().other;
  for (int64_t row = 0; row < row_count_; row += row_step_) {
    for (int64_t term = 0; term == 0 || term < term_count_; term += term_step_) {
      const Piece piece{std::min(row_step_, row_count_ - row), std::min(term_step_, term_count_ - term), term > 0};
      gather(x, matrix, start, row, term, piece);
      products_.at(piece)->run(matrix, w + term * c_.out_features * ir::bytes(c_.w.type), y + row * y_step * ir::bytes(c_.y.type));
    }
  }
}

void Gathered::run(std::span<const void* const> in, std::span<void* const> out) {
  if (products_.empty()) return;
  const int64_t kernel_bytes = term_count_ * c_.out_features * ir::bytes(c_.w.type);
  const int64_t kernels_bytes = (c_.groups * kernel_bytes + 63) / 64 * 64;
  std::byte* const kernels = scratch_->pieces(1, kernels_bytes + row_step_ * term_step_ * ir::bytes(c_.x.type)).front();
  void* const arranged[] = {kernels};
  arrange_->run(in.subspan(1), arranged);
  for (int64_t group = 0; group < c_.groups; ++group) {
    for (int64_t outer = 0; outer < outer_count_; ++outer) {
      Place start{group * c_.x.group, {}};
      for (const Convolution::Dim& d : c_.dims) start.at.push_back(-d.pad_low);
      move(start, outer_, outer);
      int64_t y = group * c_.y.group, rest = outer;
      for (size_t i = outer_.size(); i-- > 0; rest /= outer_[i].size) y += rest % outer_[i].size * outer_[i].other;
      run_rows(static_cast<const std::byte*>(in[0]), kernels + group * kernel_bytes,
               static_cast<std::byte*>(out[0]) + y * ir::bytes(c_.y.type), start, kernels + kernels_bytes);
    }
  }
}

/// f16 and bf16 by an f32 convolution: operands are widened as they lie, the result is rounded once.
class Widened final : public Native {
 public:
  Widened(const Convolution& c, std::unique_ptr<Native> wide, int threads, std::shared_ptr<Scratch> scratch)
      : types_{c.x.type, c.w.type, c.y.type},
        counts_{span_of(c.groups, c.x, c.batch, c.in_features, c, &Convolution::Dim::in, &Convolution::Dim::x),
                span_of(c.groups, c.w, c.out_features, c.in_features, c, &Convolution::Dim::window, &Convolution::Dim::w),
                span_of(c.groups, c.y, c.batch, c.out_features, c, &Convolution::Dim::out, &Convolution::Dim::y)},
        wide_(std::move(wide)),
        threads_(threads),
        scratch_(std::move(scratch)) {}

  void run(std::span<const void* const> in, std::span<void* const> out) override {
    std::byte* at = scratch_->pieces(1, 4 * (counts_[0] + counts_[1] + counts_[2] + 48)).front();
    const PackedKernels& kernels = *packed_kernels(best_isa());
    const void* wide[3];
    for (size_t i = 0; i < 3; ++i) {
      const bool f32 = types_[i] == ir::Type::f32;
      wide[i] = f32 ? (i < 2 ? in[i] : out[0]) : at;
      if (f32) continue;
      if (i < 2) convert(widen(types_[i], Arithmetic::f32, kernels), in[i], ir::bytes(types_[i]), at, 4, counts_[i]);
      at += (counts_[i] + 15) / 16 * 64;
    }
    void* const result[] = {const_cast<void*>(wide[2])};
    wide_->run(std::span(wide, 2), result);
    if (types_[2] != ir::Type::f32)
      convert(narrow(Arithmetic::f32, types_[2], kernels), wide[2], 4, out[0], ir::bytes(types_[2]), counts_[2]);
  }
  std::string implementation() const override { return wide_->implementation() + ", converted"; }
  std::string precision() const override {
    return fmt::format("{}×{}→f32→{}", ir::text(types_[0]), ir::text(types_[1]), ir::text(types_[2]));
  }

 private:
  static int64_t span_of(int64_t groups, const Convolution::Operand& o, int64_t outer, int64_t inner, const Convolution& c,
                         int64_t Convolution::Dim::*size, int64_t Convolution::Dim::*stride) {
    int64_t last = (groups - 1) * o.group + (outer - 1) * o.outer + (inner - 1) * o.inner;
    for (const Convolution::Dim& d : c.dims) last += (d.*size - 1) * (d.*stride);
    return last + 1;
  }
  void convert(Convert function, const void* from, int64_t from_bytes, void* to, int64_t to_bytes, int64_t count) const {
    constexpr int64_t kChunk = 16 << 10;
    for_ranges((count + kChunk - 1) / kChunk, count * 4 < kParallelBytes ? 1 : threads_, [&](int64_t range, int64_t) {
      const int64_t first = range * kChunk;
      function(static_cast<const std::byte*>(from) + first * from_bytes, 0, static_cast<std::byte*>(to) + first * to_bytes, 0, 1,
               std::min(kChunk, count - first));
    });
  }

  ir::Type types_[3];
  int64_t counts_[3];
  std::unique_ptr<Native> wide_;
  int threads_;
  std::shared_ptr<Scratch> scratch_;
};

/// Without oneDNN: gathered, phase by phase where an operand is dilated.
Result<std::unique_ptr<Native>> make_own(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch) {
  return has_phases(op) ? make_phases(op, threads, std::move(scratch)) : Gathered::make(op, threads, std::move(scratch));
}

/// Windows of one place over few features move more memory than they multiply: parts, half as much again as f32, only cost there.
bool worth_parts(const Convolution& c) {
  constexpr int64_t kFewFeatures = 128;
  const auto count = [&](int64_t Convolution::Dim::*size) {
    int64_t out = 1;
    for (const Convolution::Dim& d : c.dims) out *= d.*size;
    return out;
  };
  const bool gradient = count(&Convolution::Dim::window) > count(&Convolution::Dim::out);
  const bool one_place = gradient ? count(&Convolution::Dim::out) == 1 : count(&Convolution::Dim::window) == 1;
  return !one_place || std::min(gradient ? c.batch : c.in_features, c.out_features) >= kFewFeatures;
}

bool is_narrow(ir::Type type) { return type == ir::Type::f32 || type == ir::Type::f16 || type == ir::Type::bf16; }

}  // namespace

Result<std::unique_ptr<Native>> make_convolution(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch) {
  ASSIGN_OR_RETURN(auto gathered, make_own(op, threads, scratch));
  if (!is_narrow(op.x.type) || !is_narrow(op.w.type) || !is_narrow(op.y.type)) return gathered;
  Convolution wide = op;
  wide.x.type = wide.w.type = wide.y.type = ir::Type::f32;
  const bool converts = op.x.type != ir::Type::f32 || op.w.type != ir::Type::f32 || op.y.type != ir::Type::f32;
  if (!converts) {
    auto library = make_dnnl_convolution(op, threads, scratch, std::move(gathered));
    if (!library.ok()) return make_own(op, threads, scratch);
    if (parts_kernels() == nullptr) {
      if (auto weights = make_long_weights(op, threads, scratch); weights.ok()) return weights;
      if (auto winograd = make_winograd(op, threads, scratch); winograd.ok()) return winograd;
      if (auto winograd = make_winograd_weights(op, threads, scratch); winograd.ok()) return winograd;
    }
    if (!worth_parts(op)) return library;
    if (auto parts = make_parts_convolution(op, threads, scratch, *library); parts.ok()) return parts;
    return library;
  }
  const auto own = std::make_shared<Scratch>();
  ASSIGN_OR_RETURN(auto wide_gathered, make_own(wide, threads, own));
  auto library = make_dnnl_convolution(wide, threads, own, std::move(wide_gathered));
  if (!library.ok()) return gathered;
  return std::unique_ptr<Native>(std::make_unique<Widened>(op, *std::move(library), threads, std::move(scratch)));
}

}  // namespace replay::cpu
