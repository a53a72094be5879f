// Products for tests: operands of any type and strides, and the judge: the same sum in long double (or modulo 2^64) by three plain loops.
#pragma once

#include <complex>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "replay/plan.h"

namespace product_data {

using ir::Type;
using replay::Gemm;
using Number = std::complex<long double>;

/// How the two dimensions of a matrix lie in memory. padded: rows (columns) are further apart than they are long; scattered: neither stride
/// is 1.
enum class Layout { row, column, padded_row, padded_column, scattered };
inline constexpr Layout kLayouts[] = {Layout::row, Layout::column, Layout::padded_row, Layout::padded_column, Layout::scattered};
enum class Batch { own, shared };

inline Gemm::Operand operand(Type type, int64_t rows, int64_t columns, Layout layout = Layout::row, Batch batch = Batch::own) {
  const bool column_major = layout == Layout::column || layout == Layout::padded_column;
  const int64_t pad = layout == Layout::padded_row || layout == Layout::padded_column ? 3 : 0, step = layout == Layout::scattered ? 2 : 1;
  Gemm::Operand result{0, type, 0, 0, 0};
  result.row_stride = column_major ? step : columns * step + pad;
  result.column_stride = column_major ? rows * step + pad : step;
  if (batch == Batch::own) result.batch_stride = (column_major ? columns * result.column_stride : rows * result.row_stride) + 5;
  return result;
}

inline Gemm gemm(int64_t batch, int64_t m, int64_t n, int64_t k, Type type, Layout a = Layout::row, Layout b = Layout::row,
                 Layout d = Layout::row) {
  Gemm result;
  result.batch = batch, result.m = m, result.n = n, result.k = k;
  result.a = operand(type, m, k, a), result.b = operand(type, k, n, b), result.d = operand(type, m, n, d);
  return result;
}

inline int64_t extent(const Gemm::Operand& o, int64_t batch, int64_t rows, int64_t columns) {
  if (batch == 0 || rows == 0 || columns == 0) return 0;
  return (batch - 1) * o.batch_stride + (rows - 1) * o.row_stride + (columns - 1) * o.column_stride + 1;
}

/// The memory of one operand.
class Data {
 public:
  Data(const Gemm::Operand& operand, int64_t batch, int64_t rows, int64_t columns)
      : operand_(operand), bytes_(static_cast<size_t>(extent(operand, batch, rows, columns) * ir::bytes(operand.type))) {}
  void* data() { return bytes_.data(); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  /// Random numbers: floats in [−1, 1), integers over their whole range, in every byte (also between the elements).
  void fill(unsigned seed) {
    std::mt19937_64 random(seed);
    const Type part = operand_.type == Type::c64 ? Type::f32 : operand_.type == Type::c128 ? Type::f64 : operand_.type;
    const auto size = static_cast<size_t>(ir::bytes(part));
    for (size_t at = 0; at < bytes_.size(); at += size) {
      const long double value = ir::is_float(part) ? static_cast<long double>(random() >> 11) / 0x1p52L - 1
                                                   : static_cast<long double>(static_cast<int64_t>(random()));
      put(part, &bytes_[at], value);
    }
  }
  Number get(int64_t b, int64_t r, int64_t c) const {
    const std::byte* at = place(b, r, c);
    if (operand_.type == Type::c64) return {real(Type::f32, at), real(Type::f32, at + 4)};
    if (operand_.type == Type::c128) return {real(Type::f64, at), real(Type::f64, at + 8)};
    return real(operand_.type, at);
  }
  /// Integers and pred, sign-extended to 64 bits.
  uint64_t whole(int64_t b, int64_t r, int64_t c) const {
    return static_cast<uint64_t>(static_cast<int64_t>(real(operand_.type, place(b, r, c)))) +
           (operand_.type == Type::u64 ? high(place(b, r, c)) : 0);
  }
  void set(int64_t b, int64_t r, int64_t c, long double value) { put(operand_.type, const_cast<std::byte*>(place(b, r, c)), value); }

 private:
  const std::byte* place(int64_t b, int64_t r, int64_t c) const {
    return bytes_.data() + (b * operand_.batch_stride + r * operand_.row_stride + c * operand_.column_stride) * ir::bytes(operand_.type);
  }
  template <typename T>
  static T raw(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  static uint64_t high(const std::byte* at) { return raw<uint64_t>(at) > INT64_MAX ? 1ull << 63 : 0; }
  static long double real(Type type, const std::byte* at) {
    if (type == Type::f32) return raw<float>(at);
    if (type == Type::f64) return raw<double>(at);
    if (type == Type::pred) return raw<uint8_t>(at) != 0;
    const size_t size = static_cast<size_t>(ir::bytes(type));
    if (ir::is_small_float(type)) return base::decode(size == 1 ? raw<uint8_t>(at) : raw<uint16_t>(at), *ir::info(type).small);
    uint64_t bits = 0;
    std::memcpy(&bits, at, size);
    if (type == Type::u64) return static_cast<long double>(bits & INT64_MAX);
    if (ir::info(type).kind == ir::TypeInfo::Kind::unsigned_) return static_cast<long double>(bits);
    const int unused = 64 - static_cast<int>(size) * 8;
    return static_cast<long double>(static_cast<int64_t>(bits << unused) >> unused);
  }
  static void put(Type type, std::byte* at, long double value) {
    const auto size = static_cast<size_t>(ir::bytes(type));
    const auto write = [&](auto number) { std::memcpy(at, &number, sizeof number); };
    if (type == Type::f32) return write(static_cast<float>(value));
    if (type == Type::f64) return write(static_cast<double>(value));
    if (ir::is_small_float(type)) {
      const uint32_t code = base::encode(static_cast<double>(value), *ir::info(type).small);
      return size == 1 ? write(static_cast<uint8_t>(code)) : write(static_cast<uint16_t>(code));
    }
    auto bits = static_cast<uint64_t>(static_cast<int64_t>(value));
    if (type == Type::pred) bits &= 1;
    const int unused = ir::is_integer(type) && ir::info(type).significant_bits < 8 ? 8 - ir::info(type).significant_bits : 0;
    if (unused > 0) {
      const auto low = static_cast<uint8_t>(bits << unused);
      bits = ir::info(type).kind == ir::TypeInfo::Kind::signed_ ? static_cast<uint64_t>(static_cast<int8_t>(low) >> unused) : low >> unused;
    }
    std::memcpy(at, &bits, size);
  }

  Gemm::Operand operand_;
  std::vector<std::byte> bytes_;
};

/// The number that the low bits of `value` are in an integer type, sign-extended.
inline uint64_t wrapped(Type type, uint64_t value) {
  Data one(operand(type, 1, 1), 1, 1, 1);
  one.set(0, 0, 0, static_cast<long double>(static_cast<int64_t>(value)));
  return one.whole(0, 0, 0);
}

}  // namespace product_data
