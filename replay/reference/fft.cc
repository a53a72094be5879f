// Discrete Fourier transforms by the definition, dimension by dimension.
#include <algorithm>
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

/// Resizes dimension `along` to n (cut, or filled with zeros), then transforms its lines.
Field transformed(const Field& from, size_t along, int64_t n, bool inverse) {
  Field out{from.dims, {}};
  out.dims[along] = n;
  const Indices strides = row_major(from.dims), out_strides = row_major(out.dims);
  size_t count = 1;
  for (const int64_t d : out.dims) count *= static_cast<size_t>(d);
  out.values.resize(count);
  std::vector<Complex> roots(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k)
    roots[static_cast<size_t>(k)] =
        std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  Walker walker(out.dims);
  for (size_t i = 0; i < count; ++i) {
    const Indices& at = walker.move_to(static_cast<int64_t>(i));
    int64_t base = 0;
    for (size_t d = 0; d < at.size(); ++d) base += d == along ? 0 : at[d] * strides[d];
    Complex sum = 0;
    for (int64_t k = 0; k < std::min(n, from.dims[along]); ++k) {
      sum += from.values[static_cast<size_t>(base + k * strides[along])] * roots[static_cast<size_t>(k * at[along] % n)];
    }
    out.values[i] = inverse ? sum / static_cast<double>(n) : sum;
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
