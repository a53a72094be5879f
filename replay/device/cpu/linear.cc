// Cholesky factors and triangular systems. Matrices are copied into dense rows, in the one form that the loops know: an upper factor
// A = Uᴴ·U, and a lower system L·X = B solved from the top. Blocks of rows are finished by loops over adjacent columns; what they change
// below is a product.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <type_traits>
#include <utility>

#include "replay/device/cpu/native.h"
#include "replay/device/cpu/packed.h"
#include "replay/device/cpu/packed_kernels.h"
#include "replay/device/cpu/threads.h"
#include "replay/element.h"

namespace replay::cpu {
namespace {

using base::Result;

constexpr int64_t kBlock = 64;      ///< rows finished by loops
constexpr int64_t kColumns = 128;   ///< that one task of a block takes: with the block's rows they stay in the first-level cache
constexpr int64_t kTrailing = 512;  ///< rows of the rest of a Cholesky factor that one product changes
constexpr int64_t kSmall = 64;      ///< matrices up to this size are dealt out to the threads whole

template <typename T>
constexpr ir::Type kTypeOf = std::is_same_v<T, float>                 ? ir::Type::f32
                             : std::is_same_v<T, double>              ? ir::Type::f64
                             : std::is_same_v<T, std::complex<float>> ? ir::Type::c64
                                                                      : ir::Type::c128;
template <typename T>
constexpr bool kComplex = !std::is_floating_point_v<T>;

template <typename T>
T conjugate(T value) {
  if constexpr (kComplex<T>)
    return std::conj(value);
  else
    return value;
}

template <typename T>
T load(ir::Type type, const std::byte* from, int64_t index) {
  if (type == kTypeOf<T>) return reinterpret_cast<const T*>(from)[index];
  return static_cast<T>(static_cast<float>(load_real(type, from, index)));
}
template <typename T>
void store(ir::Type type, std::byte* to, int64_t index, T value) {
  if (type == kTypeOf<T>)
    reinterpret_cast<T*>(to)[index] = value;
  else
    store_real(type, to, index, static_cast<double>(std::real(value)));
}

/// The matrices in the last two dimensions of a shape.
class Matrices {
 public:
  explicit Matrices(const ir::Shape& shape) : type(shape.type), dims_(shape.dims), strides_(ir::strides(shape)) {
    rows = dims_[dims_.size() - 2], columns = dims_.back();
    row = strides_[dims_.size() - 2], column = strides_.back();
    for (size_t d = 0; d + 2 < dims_.size(); ++d) count *= dims_[d];
  }
  int64_t offset(int64_t index) const {
    int64_t out = 0;
    for (size_t d = dims_.size() - 2; d-- > 0; index /= dims_[d]) out += index % dims_[d] * strides_[d];
    return out;
  }

  ir::Type type;
  int64_t rows, columns, row, column, count = 1;

 private:
  std::vector<int64_t> dims_, strides_;
};

template <typename T>
void subtract(T* x, const T* rows, int64_t stride, const T* c, int64_t step, int64_t count, int64_t width) {
  if constexpr (std::is_same_v<T, float>) {
    packed_kernels(best_isa())->subtract_f32(x, rows, stride, c, step, count, width);
  } else if constexpr (std::is_same_v<T, double>) {
    packed_kernels(best_isa())->subtract_f64(x, rows, stride, c, step, count, width);
  } else {
    for (int64_t k = 0; k < count; ++k) {
      for (int64_t i = 0; i < width; ++i) x[i] -= c[k * step] * rows[k * stride + i];
    }
  }
}

/// A product over parts of dense arrays: D −= A·B.
struct Update {
  std::shared_ptr<Product> product;
  int64_t a, b, d;  ///< elements
};

template <typename T>
Gemm update_of(int64_t m, int64_t n, int64_t k, Gemm::Operand a, Gemm::Operand b, Gemm::Operand d) {
  Gemm gemm;
  gemm.m = m, gemm.n = n, gemm.k = k;
  gemm.a = a, gemm.b = b, gemm.d = d;
  gemm.a.type = gemm.b.type = gemm.d.type = kTypeOf<T>;
  gemm.alpha = -1, gemm.beta = 1;
  return gemm;
}

/// Solves L·X = B for `width` columns of `count` rows; L's and X's rows are `l_stride` and `x_stride` apart.
template <typename T>
void solve_rows(const T* l, int64_t l_stride, T* x, int64_t x_stride, int64_t count, int64_t width, bool unit_diagonal) {
  for (int64_t i = 0; i < count; ++i) {
    T* row = x + i * x_stride;
    subtract(row, x, x_stride, l + i * l_stride, 1, i, width);
    if (unit_diagonal) continue;
    const T diagonal = l[i * l_stride + i];
    for (int64_t c = 0; c < width; ++c) row[c] /= diagonal;
  }
}

/// Runs `small` on each matrix by one thread where they are many and small, else `large` with all threads on each.
void for_matrices(int64_t count, int64_t n, int threads, const std::function<void(int64_t, int64_t)>& one) {
  const bool whole = n <= kSmall && count > 1;
  for_ranges(count, whole && count * n * n * n > 16 * 1024 ? threads : 1, one);
}

template <typename T>
class Factor final : public Native {
 public:
  Factor(const Cholesky& op, int threads, std::shared_ptr<Scratch> scratch)
      : from_(op.from), to_(op.to), lower_(op.lower), threads_(threads), n_(from_.rows), scratch_(std::move(scratch)) {}

  base::Status plan() {
    for (int64_t at = 0; at + kBlock < n_; at += kBlock) {
      const int64_t first = at + kBlock, rest = n_ - first;
      for (int64_t row = first; row < n_; row += kTrailing) {
        const int64_t rows = std::min(kTrailing, n_ - row), columns = n_ - row;
        // Rows of the block, conjugated, stand in `panel`, kBlock × rest.
        ASSIGN_OR_RETURN(std::shared_ptr<Product> product,
                         make_product(update_of<T>(rows, columns, kBlock, {-1, kTypeOf<T>, 0, 1, rest}, {-1, kTypeOf<T>, 0, n_, 1},
                                                   {-1, kTypeOf<T>, 0, n_, 1}),
                                      threads_, products_));
        updates_.push_back({std::move(product), row - first, at * n_ + row, row * n_ + row});
      }
    }
    return {};
  }

  void run(std::span<const void* const> in, std::span<void* const> out) override {
    const int64_t elements = n_ * n_ + kBlock * n_;
    const auto pieces = scratch_->pieces(threads_, elements * static_cast<int64_t>(sizeof(T)));
    for_matrices(from_.count, n_, threads_, [&](int64_t index, int64_t thread) {
      T* const u = reinterpret_cast<T*>(pieces[static_cast<size_t>(thread)]);
      read(static_cast<const std::byte*>(in[0]), index, u);
      if (!factor(u)) std::fill_n(u, n_ * n_, no_number());
      write(u, static_cast<std::byte*>(out[0]), index);
    });
  }
  std::string implementation() const override { return fmt::format("blocked cholesky {}", packed_kernels(best_isa())->name); }
  std::string precision() const override { return fmt::format("{}→{}→{}", ir::text(from_.type), ir::text(kTypeOf<T>), ir::text(to_.type)); }

 private:
  /// The transpose of the lower triangle is the conjugate's upper one, so its factor is L's transpose.
  void read(const std::byte* from, int64_t index, T* u) const {
    const int64_t base = from_.offset(index);
    const int64_t row = lower_ ? from_.column : from_.row, column = lower_ ? from_.row : from_.column;
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t j = i; j < n_; ++j) u[i * n_ + j] = load<T>(from_.type, from, base + i * row + j * column);
    }
  }
  void write(const T* u, std::byte* to, int64_t index) const {
    const int64_t base = to_.offset(index), row = lower_ ? to_.column : to_.row, column = lower_ ? to_.row : to_.column;
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t j = 0; j < n_; ++j) store<T>(to_.type, to, base + i * row + j * column, u[i * n_ + j]);
    }
  }
  static T no_number() {
    if constexpr (kComplex<T>) return {NAN, NAN};
    return static_cast<T>(NAN);
  }

  /// False where the matrix is not positive definite: then it has no factor, and every element of the result is NaN.
  bool factor(T* u) {
    size_t next = 0;
    for (int64_t at = 0; at < n_; at += kBlock) {
      const int64_t rows = std::min(kBlock, n_ - at), rest = n_ - at - rows;
      if (!factor_diagonal(u + at * n_ + at, rows)) return false;
      if (rest == 0) break;
      T* const panel = u + n_ * n_;
      finish_rows(u + at * n_ + at, rows, rest, panel);
      for (int64_t row = at + rows; row < n_; row += kTrailing, ++next) {
        const Update& update = updates_[next];
        update.product->run(panel + update.a, u + update.b, u + update.d);
      }
    }
    for (int64_t i = 0; i < n_; ++i) std::fill_n(u + i * n_, i, T{});
    return true;
  }
  bool factor_diagonal(T* u, int64_t rows) const {
    T column[kBlock];
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; k < i; ++k) column[k] = conjugate(u[k * n_ + i]);
      subtract(u + i * n_ + i, u + i, n_, column, 1, i, rows - i);
      const auto pivot = std::real(u[i * n_ + i]);
      if (!(pivot > 0)) return false;
      const auto diagonal = std::sqrt(pivot);
      u[i * n_ + i] = diagonal;
      for (int64_t j = i + 1; j < rows; ++j) u[i * n_ + j] /= diagonal;
    }
    return true;
  }
  /// Right of a finished diagonal block: Uᴴ·X = A, and the conjugate of X for the product.
  void finish_rows(T* u, int64_t rows, int64_t rest, T* panel) const {
    std::vector<T> l(static_cast<size_t>(rows * rows));
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; k <= i; ++k) l[static_cast<size_t>(i * rows + k)] = conjugate(u[k * n_ + i]);
    }
    const int64_t tasks = (rest + kColumns - 1) / kColumns;
    for_ranges(tasks, threads_, [&](int64_t task, int64_t) {
      const int64_t first = task * kColumns, width = std::min(kColumns, rest - first);
      T* const x = u + rows + first;
      solve_rows(l.data(), rows, x, n_, rows, width, false);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t c = 0; c < width; ++c) panel[i * rest + first + c] = conjugate(x[i * n_ + c]);
      }
    });
  }

  Matrices from_, to_;
  bool lower_;
  int threads_;
  int64_t n_;
  std::shared_ptr<Scratch> scratch_, products_ = std::make_shared<Scratch>();
  std::vector<Update> updates_;  ///< in order
};

template <typename T>
class Solve final : public Native {
 public:
  Solve(const TriangularSolve& op, int threads, std::shared_ptr<Scratch> scratch)
      : op_(op),
        a_(op.a),
        b_(op.b),
        to_(op.to),
        threads_(threads),
        n_(a_.rows),
        width_(op.left ? b_.columns : b_.rows),
        scratch_(std::move(scratch)) {
    // Seen from the left: X·op(A) = B is op(A)ᵀ·Xᵀ = Bᵀ. An upper system is a lower one with rows and columns in reverse order.
    turned_ = op.transposed == op.left;
    backward_ = op.lower == turned_;
  }

  base::Status plan() {
    for (int64_t at = 0; at + kBlock < n_ && width_ > 0; at += kBlock) {
      const int64_t first = at + kBlock;
      ASSIGN_OR_RETURN(std::shared_ptr<Product> product,
                       make_product(update_of<T>(n_ - first, width_, kBlock, {-1, kTypeOf<T>, 0, n_, 1}, {-1, kTypeOf<T>, 0, width_, 1},
                                                 {-1, kTypeOf<T>, 0, width_, 1}),
                                    threads_, products_));
      updates_.push_back({std::move(product), first * n_ + at, at * width_, first * width_});
    }
    return {};
  }

  void run(std::span<const void* const> in, std::span<void* const> out) override {
    const auto pieces = scratch_->pieces(threads_, (n_ * n_ + n_ * width_) * static_cast<int64_t>(sizeof(T)));
    for_matrices(a_.count, n_, threads_, [&](int64_t index, int64_t thread) {
      T* const l = reinterpret_cast<T*>(pieces[static_cast<size_t>(thread)]);
      T* const x = l + n_ * n_;
      read_factor(static_cast<const std::byte*>(in[0]), index, l);
      for_right_sides(b_, index, [&](int64_t i, int64_t c, int64_t place) {
        x[i * width_ + c] = load<T>(b_.type, static_cast<const std::byte*>(in[1]), place);
      });
      solve(l, x);
      for_right_sides(to_, index, [&](int64_t i, int64_t c, int64_t place) {
        store<T>(to_.type, static_cast<std::byte*>(out[0]), place, x[i * width_ + c]);
      });
    });
  }
  std::string implementation() const override { return fmt::format("blocked triangular solve {}", packed_kernels(best_isa())->name); }
  std::string precision() const override {
    return fmt::format("{}×{}→{}→{}", ir::text(a_.type), ir::text(b_.type), ir::text(kTypeOf<T>), ir::text(to_.type));
  }

 private:
  int64_t place(int64_t i) const { return backward_ ? n_ - 1 - i : i; }

  void read_factor(const std::byte* from, int64_t index, T* l) const {
    const int64_t base = a_.offset(index), row = turned_ ? a_.column : a_.row, column = turned_ ? a_.row : a_.column;
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t k = 0; k <= i; ++k) {
        const T value = load<T>(a_.type, from, base + place(i) * row + place(k) * column);
        l[i * n_ + k] = op_.conjugated ? conjugate(value) : value;
      }
    }
  }
  template <typename Body>
  void for_right_sides(const Matrices& m, int64_t index, const Body& body) const {
    const int64_t base = m.offset(index), along = op_.left ? m.row : m.column, across = op_.left ? m.column : m.row;
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t c = 0; c < width_; ++c) body(i, c, base + place(i) * along + c * across);
    }
  }

  void solve(const T* l, T* x) {
    const int64_t tasks = (width_ + kColumns - 1) / kColumns;
    for (int64_t at = 0, next = 0; at < n_; at += kBlock, ++next) {
      const int64_t rows = std::min(kBlock, n_ - at);
      for_ranges(tasks, n_ <= kSmall ? 1 : threads_, [&](int64_t task, int64_t) {
        const int64_t first = task * kColumns;
        solve_rows(l + at * n_ + at, n_, x + at * width_ + first, width_, rows, std::min(kColumns, width_ - first), op_.unit_diagonal);
      });
      if (at + rows == n_ || width_ == 0) continue;
      const Update& update = updates_[static_cast<size_t>(next)];
      update.product->run(l + update.a, x + update.b, x + update.d);
    }
  }

  TriangularSolve op_;
  Matrices a_, b_, to_;
  int threads_;
  int64_t n_, width_;
  bool turned_ = false, backward_ = false;
  std::shared_ptr<Scratch> scratch_, products_ = std::make_shared<Scratch>();
  std::vector<Update> updates_;
};

template <template <typename> class Op>
Result<std::unique_ptr<Native>> make_for(ir::Type type, const auto& op, int threads, std::shared_ptr<Scratch> scratch) {
  const auto made = [&]<typename T>(T) -> Result<std::unique_ptr<Native>> {
    auto native = std::make_unique<Op<T>>(op, threads, std::move(scratch));
    RETURN_IF_ERROR(native->plan());
    return std::unique_ptr<Native>(std::move(native));
  };
  if (type == ir::Type::f64) return made(double{});
  if (type == ir::Type::c64) return made(std::complex<float>{});
  if (type == ir::Type::c128) return made(std::complex<double>{});
  return made(float{});
}

}  // namespace

Result<std::unique_ptr<Native>> make_cholesky(const Cholesky& op, int threads, std::shared_ptr<Scratch> scratch) {
  return make_for<Factor>(op.from.type, op, threads, std::move(scratch));
}
Result<std::unique_ptr<Native>> make_triangular_solve(const TriangularSolve& op, int threads, std::shared_ptr<Scratch> scratch) {
  return make_for<Solve>(op.a.type, op, threads, std::move(scratch));
}

}  // namespace replay::cpu
