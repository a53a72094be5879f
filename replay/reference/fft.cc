// Discrete Fourier transforms, dimension by dimension, in f64. A line of n points is cut by the prime factors of n (Cooley and Tukey 1965):
// n·Σ factors operations; what is left with large primes becomes a convolution of a power of two (Bluestein 1970), so no length is
// quadratic.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "replay/reference/ops.h"

namespace replay::reference {
namespace {

using Complex = std::complex<double>;

/// A complex array in logical order.
struct Field {
  std::vector<int64_t> dims;
  std::vector<Complex> values;
};

constexpr size_t kLargestFactor = 64;  ///< what has only larger prime factors is transformed by a convolution

enum class Direction : int8_t { forward = -1, inverse = 1 };

/// The sums of lines of n points, without the division of an inverse.
class Line {
 public:
  Line(size_t n, Direction direction) : n_(n), direction_(direction), roots_(n) {
    for (size_t k = 0; k < n; ++k) roots_[k] = root(2 * k, n);
  }
  std::vector<Complex> operator()(const std::vector<Complex>& points) {
    std::vector<Complex> out(n_);
    if (n_ > 0) transform(points.data(), 1, out.data(), n_);
    return out;
  }

 private:
  /// exp(±πi·halves/n).
  Complex root(size_t halves, size_t n) const {
    return std::polar(1.0, static_cast<int>(direction_) * std::numbers::pi * static_cast<double>(halves) / static_cast<double>(n));
  }
  static size_t least_factor(size_t n) {
    for (size_t p = 2; p * p <= n; ++p) {
      if (n % p == 0) return p;
    }
    return n;
  }
  /// out[k] = Σ_j in[j·stride]·w^{jk} for n points, n a divisor of n_.
  void transform(const Complex* in, size_t stride, Complex* out, size_t n);
  void convolve(const Complex* in, size_t stride, Complex* out, size_t n);

  size_t n_;
  Direction direction_;
  std::vector<Complex> roots_;
};

void Line::transform(const Complex* in, size_t stride, Complex* out, size_t n) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  const size_t p = least_factor(n), m = n / p, step = n_ / n;
  if (p > kLargestFactor) return convolve(in, stride, out, n);
  for (size_t r = 0; r < p; ++r) transform(in + r * stride, stride * p, out + r * m, m);
  std::array<Complex, kLargestFactor> parts;
  for (size_t k = 0; k < m; ++k) {
    for (size_t r = 0; r < p; ++r) parts[r] = out[r * m + k] * roots_[r * k * step];
    for (size_t q = 0; q < p; ++q) {
      Complex sum = 0;
      for (size_t r = 0; r < p; ++r) sum += parts[r] * roots_[r * q % p * m * step];
      out[q * m + k] = sum;
    }
  }
}

/// jk = (j² + k² − (k − j)²) / 2 makes of the sum a convolution with exp(∓πi·j²/n); j² is taken modulo 2n, where the root repeats.
void Line::convolve(const Complex* in, size_t stride, Complex* out, size_t n) {
  size_t size = 1;
  while (size < 2 * n - 1) size *= 2;
  std::vector<Complex> chirp(n), a(size), b(size);
  for (size_t j = 0; j < n; ++j) {
    chirp[j] = root(j * j % (2 * n), n);
    a[j] = in[j * stride] * chirp[j];
    b[j] = std::conj(chirp[j]);
    b[(size - j) % size] = b[j];
  }
  Line forward(size, Direction::forward), inverse(size, Direction::inverse);
  a = forward(a), b = forward(b);
  for (size_t i = 0; i < size; ++i) a[i] *= b[i];
  a = inverse(a);
  for (size_t k = 0; k < n; ++k) out[k] = a[k] * chirp[k] / static_cast<double>(size);
}

/// Resizes dimension `along` to n (cut, or filled with zeros), then transforms its lines.
Field transformed(const Field& from, size_t along, int64_t n, bool inverse) {
  Field out{from.dims, {}};
  out.dims[along] = n;
  out.values.resize(static_cast<size_t>(ir::elements(ir::array_shape(ir::Type::c128, out.dims))));
  const auto stride = static_cast<size_t>(row_major(from.dims)[along]);  // below `along` nothing changes its size
  const auto old_size = static_cast<size_t>(from.dims[along]), size = static_cast<size_t>(n);
  Line line(size, inverse ? Direction::inverse : Direction::forward);
  std::vector<Complex> points(size);
  const size_t lines = out.values.size() / size;
  for (size_t i = 0; i < lines; ++i) {
    const size_t outer = i / stride, inner = i % stride;
    for (size_t k = 0; k < size; ++k) points[k] = k < old_size ? from.values[(outer * old_size + k) * stride + inner] : Complex();
    const std::vector<Complex> sums = line(points);
    for (size_t k = 0; k < size; ++k)
      out.values[(outer * size + k) * stride + inner] = inverse ? sums[k] / static_cast<double>(n) : sums[k];
  }
  return out;
}

Field cut(const Field& from, size_t along, int64_t n) {
  Field out{from.dims, {}};
  out.dims[along] = n;
  const Indices strides = row_major(from.dims);
  size_t count = 1;
  for (const int64_t d : out.dims) count *= static_cast<size_t>(d);
  Walker walker(out.dims);
  for (size_t i = 0; i < count; ++i) {
    const Indices& at = walker.move_to(static_cast<int64_t>(i));
    int64_t place = 0;
    for (size_t d = 0; d < at.size(); ++d) place += at[d] * strides[d];
    out.values.push_back(from.values[static_cast<size_t>(place)]);
  }
  return out;
}

/// The half spectrum of a real signal of n values becomes the whole one along the last dimension (conjugate symmetry over all `rank` last
/// dims).
Field completed(const Field& half, int64_t n) {
  Field out{half.dims, {}};
  const size_t along = half.dims.size() - 1;
  out.dims[along] = n;
  const auto width = static_cast<size_t>(half.dims[along]), lines = width == 0 ? 0 : half.values.size() / width;
  for (size_t line = 0; line < lines; ++line) {
    for (int64_t k = 0; k < n; ++k) {
      const auto at = static_cast<size_t>(k <= n / 2 ? k : n - k);
      const Complex value = at < width ? half.values[line * width + at] : Complex();
      out.values.push_back(k <= n / 2 ? value : std::conj(value));
    }
  }
  return out;
}

}  // namespace

std::vector<Values> fft(const Call& call) {
  const std::string type(ir::attr_text(call.module(), call.instr, "fft_type").value_or("FFT"));
  const Indices lengths = ir::attr_dims(call.module(), call.instr, "fft_length");
  const ir::Shape& shape = call.operand_shape(0);
  if (lengths.empty() || lengths.size() > shape.dims.size() ||
      std::any_of(lengths.begin(), lengths.end(), [](int64_t n) { return n < 0; })) {
    return call.fail("has lengths that do not fit its operand"), std::vector<Values>();
  }
  if (std::find(lengths.begin(), lengths.end(), 0) != lengths.end())  // a sum of nothing
    return {zeros(call.shape.type, static_cast<size_t>(ir::elements(call.shape)))};
  const Batch x = call.whole(0);
  if (kind_of(*x) == Kind::integer) return call.fail("takes floats"), std::vector<Values>();
  Field field{shape.dims, {}};
  for (size_t i = 0; i < size(*x); ++i) field.values.emplace_back(x->re[i], x->im.empty() ? 0 : x->im[i]);
  const size_t last = shape.dims.size() - 1, first = shape.dims.size() - lengths.size();
  const bool inverse = type == "IFFT" || type == "IRFFT";
  double points = 1;
  for (size_t k = 0; k + 1 < lengths.size(); ++k) {
    field = transformed(field, first + k, lengths[k], inverse);
    points *= static_cast<double>(lengths[k]);
  }
  points *= static_cast<double>(lengths.back());
  if (type == "IRFFT") field = completed(field, lengths.back());
  field = transformed(field, last, lengths.back(), inverse);
  if (type == "RFFT") field = cut(field, last, lengths.back() / 2 + 1);
  Values out = zeros(call.shape.type, field.values.size());
  double largest = 0;
  for (size_t i = 0; i < field.values.size(); ++i) {
    out.re[i] = field.values[i].real();
    if (!out.im.empty()) out.im[i] = field.values[i].imag();
    largest = std::max(largest, std::abs(field.values[i]));
  }
  for (size_t i = 0; call.in.bounds() && i < out.re.size(); ++i) set_bound(out, i, 8 * (1 + std::log2(points)) * unit(out.type) * largest);
  return {std::move(out)};
}

}  // namespace replay::reference
