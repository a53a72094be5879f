// Discrete Fourier transforms. Every dimension is a stage: its lines are brought together, as many as a vector has lanes, transformed side
// by side, and put back. A stage with too few lines for that but long ones splits each into a matrix: transforms of the columns, factors,
// transforms of the rows. Real values go two by two as complex ones through a transform of half the length.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <utility>

#include "replay/device/cpu/fft_passes.h"
#include "replay/device/cpu/native.h"
#include "replay/device/cpu/packed_kernels.h"
#include "replay/device/cpu/threads.h"

namespace replay::cpu {
namespace {

constexpr int kLargestRadix = 13;
constexpr int64_t kSplitFrom = 1024;  ///< points from which on a stage with few lines is split

const FftTables& tables() {
#if defined(__x86_64__)
  if (packed_kernels(Isa::avx512) != nullptr) return avx512_fft();
  if (packed_kernels(Isa::avx2) != nullptr) return avx2_fft();
#endif
  return baseline_fft();
}
template <typename T>
const FftKernels<T>& kernels();
template <>
const FftKernels<float>& kernels<float>() {
  return tables().f32;
}
template <>
const FftKernels<double>& kernels<double>() {
  return tables().f64;
}

/// e^(−2πi·k/n), exact in the reduction of k.
template <typename T>
void push_root(std::vector<T>& to, int64_t k, int64_t n) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  to.push_back(static_cast<T>(std::cos(angle)));
  to.push_back(static_cast<T>(std::sin(angle)));
}

/// Radixes whose product is n, or none where a prime factor is too large.
std::vector<int> radixes_of(int64_t n) {
  std::vector<int> out;
  for (const int radix : {4, 2, 3, 5, 7, 11, kLargestRadix}) {
    for (; n % radix == 0; n /= radix) out.push_back(radix);
  }
  return n == 1 ? out : std::vector<int>();
}

/// A plan with what it points to.
template <typename T>
class OwnedPlan {
 public:
  explicit OwnedPlan(int64_t n) {
    plan_.n = n;
    const std::vector<int> radixes = radixes_of(n);
    if (n > 1 && radixes.empty())
      set_chirp(n);
    else
      set_passes(n, radixes);
  }
  OwnedPlan(const OwnedPlan&) = delete;
  OwnedPlan& operator=(const OwnedPlan&) = delete;
  const FftPlan<T>& plan() const { return plan_; }
  /// Points of `other` that a transform needs.
  int64_t room() const { return inner_ == nullptr ? plan_.n : 2 * inner_->plan().n; }

 private:
  void set_passes(int64_t n, const std::vector<int>& radixes) {
    int64_t stride = 1;
    for (const int radix : radixes) {
      passes_.push_back({radix, n / radix, stride, factors_.size()});
      if (radix > 5) {
        for (int j = 0; j < radix; ++j) push_root(factors_, j, radix);
      }
      for (int64_t p = 0; p < n / radix; ++p) {
        for (int k = 1; k < radix; ++k) push_root(factors_, p * k, n);
      }
      n /= radix, stride *= radix;
    }
    plan_.passes = passes_.data(), plan_.pass_count = static_cast<int64_t>(passes_.size()), plan_.factors = factors_.data();
  }

  void set_chirp(int64_t n) {
    int64_t points = 1;
    while (points < 2 * n - 1) points *= 2;
    inner_ = std::make_unique<OwnedPlan>(points);
    for (int64_t k = 0; k < n; ++k)
      push_root(chirp_,
                static_cast<int64_t>(static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k) %
                                     static_cast<unsigned __int128>(2 * n)),
                2 * n);
    // The spectrum of the turned chirp, wrapped around; its own transform runs in the first lane.
    const int64_t lanes = kernels<T>().lanes;
    std::vector<T> data(static_cast<size_t>(2 * lanes * points)), other(data.size());
    for (int64_t k = 0; k < n; ++k) {
      for (const int64_t at : {k, (points - k) % points}) {
        data[static_cast<size_t>(at * 2 * lanes)] = chirp_[static_cast<size_t>(2 * k)];
        data[static_cast<size_t>((at * 2 + 1) * lanes)] = -chirp_[static_cast<size_t>(2 * k + 1)];
      }
    }
    kernels<T>().transform(inner_->plan(), data.data(), other.data());
    for (int64_t k = 0; k < points; ++k) {
      spectrum_.push_back(data[static_cast<size_t>(k * 2 * lanes)] / static_cast<T>(points));
      spectrum_.push_back(data[static_cast<size_t>((k * 2 + 1) * lanes)] / static_cast<T>(points));
    }
    plan_.inner = &inner_->plan(), plan_.chirp = chirp_.data(), plan_.spectrum = spectrum_.data();
  }

  FftPlan<T> plan_;
  std::vector<FftPass> passes_;
  std::vector<T> factors_, chirp_, spectrum_;
  std::unique_ptr<OwnedPlan> inner_;
};

enum class Real : uint8_t { none, forward, inverse };
enum class Array : uint8_t { in, temporary, out };

/// Points of a line in one array: numbers (halves of complex ones) between them, to the imaginary part, and how many there are.
struct Side {
  Array array;
  int64_t step, imaginary, points;
};
/// A dimension over which lines are repeated, in numbers of either side.
struct Lines {
  int64_t size, from, to;
};

template <typename T>
struct Stage {
  std::shared_ptr<const OwnedPlan<T>> plan;
  Side from, to;
  std::vector<Lines> lines;
  bool swapped = false;  ///< an inverse transform
  T scale = 1;
  Real real = Real::none;
  std::vector<T> roots;    ///< of real values in pairs
  std::vector<T> factors;  ///< for each point and each index of the innermost lines: the split of long lines
  int64_t line_count() const {
    int64_t count = 1;
    for (const Lines& l : lines) count *= l.size;
    return count;
  }
  /// Points that are in the buffers at once.
  int64_t room() const { return std::max({plan->plan().n + 1, from.points, to.points}); }
};

int64_t number_stride(const ir::Shape& shape, size_t dim) { return ir::strides(shape)[dim] * (ir::is_complex(shape.type) ? 2 : 1); }

template <typename T>
class Transform final : public Native {
 public:
  Transform(const Fft& op, int threads, std::shared_ptr<Scratch> scratch) : threads_(threads), scratch_(std::move(scratch)) {
    if (ir::elements(op.to) == 0) return;
    const size_t rank = op.from.dims.size(), first = rank - op.lengths.size();
    const bool backward = op.kind == Fft::Kind::ifft || op.kind == Fft::Kind::irfft;
    // A real result comes last, a real operand first: all other stages stay in one complex array.
    std::vector<size_t> dims;
    for (size_t d = first; d + 1 < rank; ++d) dims.push_back(d);
    dims.insert(op.kind == Fft::Kind::irfft ? dims.end() : dims.begin(), rank - 1);
    const ir::Shape middle = op.kind == Fft::Kind::irfft ? ir::array_shape(op.from.type, op.from.dims) : op.to;
    const Array middle_array = op.kind == Fft::Kind::irfft ? Array::temporary : Array::out;
    if (op.kind == Fft::Kind::irfft && dims.size() > 1) temporary_ = 2 * ir::elements(middle);
    for (size_t i = 0; i < dims.size(); ++i) {
      const bool is_first = i == 0, is_last = i + 1 == dims.size();
      const ir::Shape &from = is_first ? op.from : middle, &to = is_last ? op.to : middle;
      add(op, dims[i], {from, is_first ? Array::in : middle_array}, {to, is_last ? Array::out : middle_array}, backward);
    }
    for (const Stage<T>& stage : stages_)
      room_ = std::max(room_, 2 * kernels<T>().lanes * (stage.room() + std::max(stage.room(), stage.plan->room())));
  }

  void run(std::span<const void* const> in, std::span<void* const> out) override {
    const int64_t room = (room_ + 15) / 16 * 16;
    T* const memory = reinterpret_cast<T*>(scratch_->pieces(1, (threads_ * room + temporary_) * static_cast<int64_t>(sizeof(T))).front());
    T* const arrays[] = {static_cast<T*>(const_cast<void*>(in[0])), memory + threads_ * room, static_cast<T*>(out[0])};
    for (const Stage<T>& stage : stages_) run_stage(stage, arrays, memory, room);
  }
  std::string implementation() const override { return fmt::format("fft {}", tables().name); }
  std::string precision() const override { return sizeof(T) == 4 ? "f32" : "f64"; }

 private:
  struct Place {
    const ir::Shape& shape;
    Array array;
  };

  std::shared_ptr<const OwnedPlan<T>> plan_for(int64_t n) {
    auto& known = plans_[n];
    if (known == nullptr) known = std::make_shared<const OwnedPlan<T>>(n);
    return known;
  }
  void add(const Fft& op, size_t dim, const Place& from, const Place& to, bool backward);
  void add_split(Stage<T> stage);
  void run_stage(const Stage<T>& stage, T* const* arrays, T* memory, int64_t room) const;
  void run_lines(const Stage<T>& stage, int64_t first, int lines, T* const* arrays, T* memory) const;

  int threads_;
  std::shared_ptr<Scratch> scratch_;
  std::map<int64_t, std::shared_ptr<const OwnedPlan<T>>> plans_;
  std::vector<Stage<T>> stages_;
  int64_t room_ = 0, temporary_ = 0;  ///< numbers: of a thread, of the array between stages
};

template <typename T>
void Transform<T>::add(const Fft& op, size_t dim, const Place& from, const Place& to, bool backward) {
  const int64_t n = op.lengths[dim - (op.from.dims.size() - op.lengths.size())];
  const bool last = dim + 1 == op.from.dims.size();
  Stage<T> stage;
  stage.swapped = backward;
  stage.scale = backward ? static_cast<T>(1.0 / static_cast<double>(n)) : T{1};
  stage.from = {from.array, number_stride(from.shape, dim), 1, from.shape.dims[dim]};
  stage.to = {to.array, number_stride(to.shape, dim), 1, to.shape.dims[dim]};
  for (size_t d = 0; d < op.from.dims.size(); ++d) {
    if (d != dim && from.shape.dims[d] > 1)
      stage.lines.push_back({from.shape.dims[d], number_stride(from.shape, d), number_stride(to.shape, d)});
  }
  std::ranges::stable_sort(stage.lines, std::greater{}, &Lines::from);
  const bool real_from = last && op.kind == Fft::Kind::rfft, real_to = last && op.kind == Fft::Kind::irfft;
  if ((real_from || real_to) && n % 2 == 0) {
    Side& side = real_from ? stage.from : stage.to;
    side = {side.array, 2 * side.step, side.step, n / 2};
    stage.real = real_from ? Real::forward : Real::inverse;
    for (int64_t k = 0; k <= n / 2; ++k) push_root(stage.roots, k, n);
    if (real_to) stage.scale = static_cast<T>(2.0 / static_cast<double>(n));
    stage.plan = plan_for(n / 2);
  } else {
    if (real_from) stage.from.imaginary = 0;
    if (real_to) stage.to.imaginary = 0, stage.real = Real::inverse;
    stage.plan = plan_for(n);
  }
  if (stage.real == Real::none && n >= kSplitFrom && stage.line_count() < kernels<T>().lanes) return add_split(std::move(stage));
  stages_.push_back(std::move(stage));
}

/// n = a·b points as a matrix, point i·b + j at (i, j): transforms of the columns, factors e^(−2πi·jk/n), transforms of the rows. Result
/// k + a·l is number l of row k.
template <typename T>
void Transform<T>::add_split(Stage<T> stage) {
  const int64_t n = stage.plan->plan().n;
  int64_t a = 1;
  for (int64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) a = d;
  }
  const int64_t b = n / a;
  if (a < kernels<T>().lanes || stage.from.points != n || stage.to.points != n) {
    stages_.push_back(std::move(stage));
    return;
  }
  const int64_t lines = stage.line_count();
  temporary_ = std::max(temporary_, 2 * n * lines);
  Stage<T> columns, rows;
  columns.plan = plan_for(a), rows.plan = plan_for(b);
  columns.swapped = rows.swapped = stage.swapped;
  columns.from = {stage.from.array, b * stage.from.step, stage.from.imaginary, a};
  columns.to = {Array::temporary, 2 * b, 1, a};
  rows.from = {Array::temporary, 2, 1, b};
  rows.to = {stage.to.array, a * stage.to.step, stage.to.imaginary, b};
  rows.scale = stage.scale;
  int64_t step = 2 * n * lines;
  for (const Lines& l : stage.lines) {
    step /= l.size;
    columns.lines.push_back({l.size, l.from, step});
    rows.lines.push_back({l.size, step, l.to});
  }
  columns.lines.push_back({b, stage.from.step, 2});
  rows.lines.push_back({a, 2 * b, stage.to.step});
  for (int64_t k = 0; k < a; ++k) {
    for (int64_t j = 0; j < b; ++j) push_root(columns.factors, j * k, n);
  }
  stages_.push_back(std::move(columns));
  stages_.push_back(std::move(rows));
}

template <typename T>
void Transform<T>::run_stage(const Stage<T>& stage, T* const* arrays, T* memory, int64_t room) const {
  const int lanes = kernels<T>().lanes;
  const int64_t inner = stage.lines.empty() ? 1 : stage.lines.back().size, total = stage.line_count();
  // Factors go along the innermost lines, so that a vector of lines must not leave them there.
  const bool aligned = !stage.factors.empty();
  const int64_t per_inner = (inner + lanes - 1) / lanes, groups = aligned ? total / inner * per_inner : (total + lanes - 1) / lanes;
  const int64_t bytes = total * stage.room() * 2 * static_cast<int64_t>(sizeof(T));
  for_ranges(groups, bytes < kParallelBytes ? 1 : threads_, [&](int64_t group, int64_t thread) {
    const int64_t first = aligned ? group / per_inner * inner + group % per_inner * lanes : group * lanes;
    const int64_t end = aligned ? (group / per_inner + 1) * inner : total;
    run_lines(stage, first, static_cast<int>(std::min<int64_t>(lanes, end - first)), arrays, memory + thread * room);
  });
}

/// The missing half of a spectrum of real values.
template <typename T>
void complete(T* points, int64_t n, int lanes) {
  for (int64_t k = n / 2 + 1; k < n; ++k) {
    for (int i = 0; i < lanes; ++i) {
      points[2 * lanes * k + i] = points[2 * lanes * (n - k) + i];
      points[2 * lanes * k + lanes + i] = -points[2 * lanes * (n - k) + lanes + i];
    }
  }
  for (int i = 0; i < lanes; ++i) points[lanes + i] = 0;
}

/// Real and imaginary parts change places.
template <typename T>
void swap_parts(T* points, int64_t n, int lanes) {
  for (int64_t k = 0; k < n; ++k) std::swap_ranges(points + 2 * lanes * k, points + 2 * lanes * k + lanes, points + 2 * lanes * k + lanes);
}

template <typename T>
void Transform<T>::run_lines(const Stage<T>& stage, int64_t first, int lines, T* const* arrays, T* memory) const {
  const FftKernels<T>& k = kernels<T>();
  int64_t from_offsets[64], to_offsets[64];
  bool from_adjacent = lines == k.lanes && stage.from.imaginary == 1, to_adjacent = lines == k.lanes && stage.to.imaginary == 1;
  for (int i = 0; i < lines; ++i) {
    int64_t rest = first + i;
    from_offsets[i] = to_offsets[i] = 0;
    for (size_t d = stage.lines.size(); d-- > 0; rest /= stage.lines[d].size) {
      from_offsets[i] += rest % stage.lines[d].size * stage.lines[d].from;
      to_offsets[i] += rest % stage.lines[d].size * stage.lines[d].to;
    }
    from_adjacent = from_adjacent && from_offsets[i] == from_offsets[0] + 2 * i;
    to_adjacent = to_adjacent && to_offsets[i] == to_offsets[0] + 2 * i;
  }
  const int64_t n = stage.plan->plan().n;
  T *const data = memory, *const other = memory + 2 * k.lanes * stage.room();
  const bool half = !stage.roots.empty(), odd_inverse = stage.real == Real::inverse && !half;
  // Half spectra of real values are joined as they are; swapping comes after that.
  const bool swap_in = stage.swapped && stage.real == Real::none;
  k.load({arrays[static_cast<size_t>(stage.from.array)], stage.from.step, stage.from.imaginary, stage.from.points, from_offsets, lines,
          from_adjacent},
         swap_in, data);
  if (odd_inverse) complete(data, n, k.lanes);
  if (half && stage.real == Real::inverse) k.join_real(data, n, stage.roots.data());
  if (stage.swapped && !swap_in) swap_parts(data, n, k.lanes);
  k.transform(stage.plan->plan(), data, other);
  if (half && stage.real == Real::forward) k.split_real(data, n, stage.roots.data());
  if (!stage.factors.empty())
    k.twist(data, n, stage.factors.data() + 2 * (first % stage.lines.back().size), 2 * stage.lines.back().size, lines);
  k.store(
      data, stage.swapped, stage.scale,
      {arrays[static_cast<size_t>(stage.to.array)], stage.to.step, stage.to.imaginary, stage.to.points, to_offsets, lines, to_adjacent});
}

}  // namespace

base::Result<std::unique_ptr<Native>> make_fft(const Fft& op, int threads, std::shared_ptr<Scratch> scratch) {
  const bool wide = op.from.type == ir::Type::f64 || op.from.type == ir::Type::c128;
  if (wide) return std::unique_ptr<Native>(std::make_unique<Transform<double>>(op, threads, std::move(scratch)));
  return std::unique_ptr<Native>(std::make_unique<Transform<float>>(op, threads, std::move(scratch)));
}

}  // namespace replay::cpu
