// Conversions between stored element types and the arithmetic of a product: one template per direction, instantiated into a table over
// all types. f16 and bf16 with f32, which carry nearly all products, come from the instruction set's own table.
#include "replay/device/cpu/packed_convert.h"

#include <fmt/format.h>

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

namespace replay::cpu {
namespace {

using ir::Type;
constexpr size_t kTypes = static_cast<size_t>(Type::c64);  // all real types come before

/// A type stored as a C++ number of which the lowest `bits` count.
template <typename T, int Bits = 8 * static_cast<int>(sizeof(T))>
struct Number {
  using type = T;
  static constexpr int bits = Bits;
};
/// A small float stored as a code; ir::info says which float a code means.
template <typename T>
struct CodeOf {
  using type = T;
};
using C8 = CodeOf<uint8_t>;
using C16 = CodeOf<uint16_t>;
/// In the order of ir::Type.
using Stored =
    std::tuple<Number<bool>, Number<int8_t, 1>, Number<int8_t, 2>, Number<int8_t, 4>, Number<int8_t>, Number<int16_t>, Number<int32_t>,
               Number<int64_t>, Number<uint8_t, 1>, Number<uint8_t, 2>, Number<uint8_t, 4>, Number<uint8_t>, Number<uint16_t>,
               Number<uint32_t>, Number<uint64_t>, C16, C16, Number<float>, Number<double>, C8, C8, C8, C8, C8, C8, C8, C8, C8, C8, C8>;
static_assert(std::tuple_size_v<Stored> == kTypes);
template <Type T>
using StoredAs = std::tuple_element_t<static_cast<size_t>(T), Stored>;
template <typename S>
constexpr bool kIsCode = !requires {
  S::bits;
};

template <typename From, typename To, typename Function>
void each(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows, int64_t columns, Function function) {
  for (int64_t r = 0; r < rows; ++r) {
    const From* source = static_cast<const From*>(from) + r * from_stride;
    To* target = static_cast<To*>(to) + r * to_stride;
    for (int64_t c = 0; c < columns; ++c) target[c] = function(source[c]);
  }
}

template <Type T, typename Sum>
void widen_numbers(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows, int64_t columns) {
  using S = std::conditional_t<T == Type::pred, uint8_t, typename StoredAs<T>::type>;
  each<S, Sum>(from, from_stride, to, to_stride, rows, columns, [](S value) {
    if constexpr (T == Type::pred)
      return static_cast<Sum>(value != 0);
    else
      return static_cast<Sum>(value);
  });
}

template <Type T, typename Sum>
void narrow_numbers(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows, int64_t columns) {
  using S = typename StoredAs<T>::type;
  constexpr int unused = 8 * static_cast<int>(sizeof(S)) - StoredAs<T>::bits;
  each<Sum, S>(from, from_stride, to, to_stride, rows, columns, [](Sum value) {
    if constexpr (T == Type::pred)
      return value != 0;
    else if constexpr (unused > 0)
      return static_cast<S>(static_cast<S>(static_cast<uint8_t>(value) << unused) >> unused);  // s4: 12 → −4
    else
      return static_cast<S>(value);
  });
}

template <Type T, typename Sum>
void widen_codes(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows, int64_t columns) {
  using S = typename StoredAs<T>::type;
  const base::FloatFormat& format = *ir::info(T).small;
  if constexpr (sizeof(S) == 1) {
    static const std::array<Sum, 256> kValues = [&] {
      std::array<Sum, 256> values{};
      for (uint32_t code = 0; code < 256; ++code) values[code] = static_cast<Sum>(base::decode(code, format));
      return values;
    }();
    each<S, Sum>(from, from_stride, to, to_stride, rows, columns, [](S code) { return kValues[code]; });
  } else {
    each<S, Sum>(from, from_stride, to, to_stride, rows, columns, [&](S code) { return static_cast<Sum>(base::decode(code, format)); });
  }
}

template <Type T, typename Sum>
void narrow_codes(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows, int64_t columns) {
  using S = typename StoredAs<T>::type;
  const base::FloatFormat& format = *ir::info(T).small;
  each<Sum, S>(from, from_stride, to, to_stride, rows, columns,
               [&](Sum value) { return static_cast<S>(base::encode(static_cast<double>(value), format)); });
}

enum class Direction : uint8_t { widen, narrow };

/// Floats are added up as floats, whole numbers as whole numbers; only a double also takes whole numbers as operands.
template <Direction D, typename Sum, Type T>
constexpr Convert entry() {
  using S = StoredAs<T>;
  constexpr bool sum_is_float = std::is_floating_point_v<Sum>, same_kind = std::is_floating_point_v<typename S::type> == sum_is_float;
  if constexpr (kIsCode<S>) {
    if constexpr (sum_is_float) return D == Direction::widen ? widen_codes<T, Sum> : narrow_codes<T, Sum>;
  } else if constexpr (same_kind) {
    return D == Direction::widen ? widen_numbers<T, Sum> : narrow_numbers<T, Sum>;
  } else if constexpr (D == Direction::widen && std::is_same_v<Sum, double>) {
    return widen_numbers<T, Sum>;
  }
  return nullptr;
}

using Row = std::array<Convert, kTypes>;
template <Direction D, typename Sum, size_t... I>
constexpr Row row(std::index_sequence<I...>) {
  return {entry<D, Sum, static_cast<Type>(I)>()...};
}
template <Direction D, typename... Sums>
constexpr std::array<Row, sizeof...(Sums)> kRows = {row<D, Sums>(std::make_index_sequence<kTypes>{})...};
constexpr auto& kWiden = kRows<Direction::widen, float, double, uint32_t, uint64_t>;
constexpr auto& kNarrow = kRows<Direction::narrow, float, double, uint32_t, uint64_t>;

struct ArithmeticInfo {
  std::string_view text;
  int bytes;
};
constexpr ArithmeticInfo kInfo[kArithmetics] = {{"f32", 4}, {"f64", 8}, {"s32", 4}, {"s64", 8}};

bool whole(Type type) { return ir::is_integer(type) || type == Type::pred; }

}  // namespace

std::string_view text(Arithmetic arithmetic) { return kInfo[static_cast<size_t>(arithmetic)].text; }
int element_bytes(Arithmetic arithmetic) { return kInfo[static_cast<size_t>(arithmetic)].bytes; }

base::Result<Arithmetic> arithmetic_of(Type a, Type b, Type d) {
  const auto fail = [&](std::string_view what) {
    return base::Error{fmt::format("product {}·{} → {}: {}", ir::text(a), ir::text(b), ir::text(d), what)};
  };
  for (Type type : {a, b, d}) {
    if (type > Type::c128) return fail("a type without numbers; only arrays of numbers can be multiplied");
  }
  if ((ir::is_complex(a) || ir::is_complex(b)) && !ir::is_complex(d)) return fail("a complex product has no real result; convert it first");
  if (whole(d)) {
    if (!whole(a) || !whole(b)) return fail("an integer result of floats isn't defined; convert the operands first");
    return ir::bytes(d) == 8 ? Arithmetic::s64 : Arithmetic::s32;
  }
  for (Type type : {a, b, d}) {
    if (whole(type) || part_type(type) == Type::f64) return Arithmetic::f64;
  }
  return Arithmetic::f32;
}

Convert widen(Type from, Arithmetic to, const PackedKernels& kernels) {
  if (to == Arithmetic::f32 && from == Type::f16) return kernels.f16_to_f32;
  if (to == Arithmetic::f32 && from == Type::bf16) return kernels.bf16_to_f32;
  return kWiden[static_cast<size_t>(to)][static_cast<size_t>(from)];
}

Convert narrow(Arithmetic from, Type to, const PackedKernels& kernels) {
  if (from == Arithmetic::f32 && to == Type::f16) return kernels.f32_to_f16;
  if (from == Arithmetic::f32 && to == Type::bf16) return kernels.f32_to_bf16;
  return kNarrow[static_cast<size_t>(from)][static_cast<size_t>(to)];
}

}  // namespace replay::cpu
