// Conversions between stored element types and the arithmetic of a product: one template per direction, instantiated into a table over
// all types. f16 and bf16 with f32, which carry nearly all products, come from the instruction set's own table.
#include "replay/device/cpu/packed_convert.h"

#include <fmt/format.h>

#include <array>
#include <type_traits>
#include <utility>

namespace replay::cpu {
namespace {

using ir::Type;
constexpr size_t kTypes = static_cast<size_t>(Type::c64);  // all real types come before

/// How a type is stored: a C++ number, the code of a small float (8 or 16 bits), or a number of fewer bits in a byte.
template <Type T>
struct Stored {
  using type = void;
};
template <>
struct Stored<Type::pred> {
  using type = bool;
};
template <>
struct Stored<Type::s1> {
  using type = int8_t;
  static constexpr int bits = 1;
};
template <>
struct Stored<Type::s2> {
  using type = int8_t;
  static constexpr int bits = 2;
};
template <>
struct Stored<Type::s4> {
  using type = int8_t;
  static constexpr int bits = 4;
};
template <>
struct Stored<Type::s8> {
  using type = int8_t;
};
template <>
struct Stored<Type::s16> {
  using type = int16_t;
};
template <>
struct Stored<Type::s32> {
  using type = int32_t;
};
template <>
struct Stored<Type::s64> {
  using type = int64_t;
};
template <>
struct Stored<Type::u1> {
  using type = uint8_t;
  static constexpr int bits = 1;
};
template <>
struct Stored<Type::u2> {
  using type = uint8_t;
  static constexpr int bits = 2;
};
template <>
struct Stored<Type::u4> {
  using type = uint8_t;
  static constexpr int bits = 4;
};
template <>
struct Stored<Type::u8> {
  using type = uint8_t;
};
template <>
struct Stored<Type::u16> {
  using type = uint16_t;
};
template <>
struct Stored<Type::u32> {
  using type = uint32_t;
};
template <>
struct Stored<Type::u64> {
  using type = uint64_t;
};
template <>
struct Stored<Type::f32> {
  using type = float;
};
template <>
struct Stored<Type::f64> {
  using type = double;
};
template <typename S>
concept Narrowed = requires {
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
  using S = std::conditional_t<T == Type::pred, uint8_t, typename Stored<T>::type>;
  each<S, Sum>(from, from_stride, to, to_stride, rows, columns, [](S value) {
    if constexpr (T == Type::pred)
      return static_cast<Sum>(value != 0);
    else
      return static_cast<Sum>(value);
  });
}

template <Type T, typename Sum>
void narrow_numbers(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows, int64_t columns) {
  using S = typename Stored<T>::type;
  each<Sum, S>(from, from_stride, to, to_stride, rows, columns, [](Sum value) {
    if constexpr (T == Type::pred)
      return value != 0;
    else if constexpr (Narrowed<Stored<T>>) {
      constexpr int unused = 8 - Stored<T>::bits;
      return static_cast<S>(static_cast<S>(static_cast<uint8_t>(value) << unused) >> unused);  // s4: 12 → −4
    } else {
      return static_cast<S>(value);
    }
  });
}

template <Type T, typename Sum, typename Code>
void widen_codes(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows, int64_t columns) {
  const base::FloatFormat& format = *ir::info(T).small;
  if constexpr (sizeof(Code) == 1) {
    static const std::array<Sum, 256> kValues = [&] {
      std::array<Sum, 256> values{};
      for (uint32_t code = 0; code < 256; ++code) values[code] = static_cast<Sum>(base::decode(code, format));
      return values;
    }();
    each<Code, Sum>(from, from_stride, to, to_stride, rows, columns, [](Code code) { return kValues[code]; });
  } else {
    each<Code, Sum>(from, from_stride, to, to_stride, rows, columns,
                    [&](Code code) { return static_cast<Sum>(base::decode(code, format)); });
  }
}

template <Type T, typename Sum, typename Code>
void narrow_codes(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows, int64_t columns) {
  const base::FloatFormat& format = *ir::info(T).small;
  each<Sum, Code>(from, from_stride, to, to_stride, rows, columns,
                  [&](Sum value) { return static_cast<Code>(base::encode(static_cast<double>(value), format)); });
}

template <typename Sum, Type T>
constexpr Convert widen_entry() {
  using S = typename Stored<T>::type;
  if constexpr (std::is_void_v<S>) {
    using Code = std::conditional_t<T == Type::f16 || T == Type::bf16, uint16_t, uint8_t>;
    if constexpr (std::is_floating_point_v<Sum>) return widen_codes<T, Sum, Code>;
  } else if constexpr (std::is_floating_point_v<S> ? std::is_floating_point_v<Sum> : !std::is_same_v<Sum, float>) {
    return widen_numbers<T, Sum>;
  }
  return nullptr;
}

template <typename Sum, Type T>
constexpr Convert narrow_entry() {
  using S = typename Stored<T>::type;
  if constexpr (std::is_void_v<S>) {
    using Code = std::conditional_t<T == Type::f16 || T == Type::bf16, uint16_t, uint8_t>;
    if constexpr (std::is_floating_point_v<Sum>) return narrow_codes<T, Sum, Code>;
  } else if constexpr (std::is_floating_point_v<S> == std::is_floating_point_v<Sum>) {
    return narrow_numbers<T, Sum>;
  }
  return nullptr;
}

using Row = std::array<Convert, kTypes>;
template <typename Sum, size_t... I>
constexpr Row widen_row(std::index_sequence<I...>) {
  return {widen_entry<Sum, static_cast<Type>(I)>()...};
}
template <typename Sum, size_t... I>
constexpr Row narrow_row(std::index_sequence<I...>) {
  return {narrow_entry<Sum, static_cast<Type>(I)>()...};
}
constexpr auto kAll = std::make_index_sequence<kTypes>{};
constexpr Row kWiden[kArithmetics] = {widen_row<float>(kAll), widen_row<double>(kAll), widen_row<uint32_t>(kAll),
                                      widen_row<uint64_t>(kAll)};
constexpr Row kNarrow[kArithmetics] = {narrow_row<float>(kAll), narrow_row<double>(kAll), narrow_row<uint32_t>(kAll),
                                       narrow_row<uint64_t>(kAll)};

struct ArithmeticInfo {
  std::string_view text;
  int bytes;
};
constexpr ArithmeticInfo kInfo[kArithmetics] = {{"f32", 4}, {"f64", 8}, {"s32", 4}, {"s64", 8}};

bool whole(Type type) { return ir::is_integer(type) || type == Type::pred; }

}  // namespace

std::string_view text(Arithmetic arithmetic) { return kInfo[static_cast<size_t>(arithmetic)].text; }
int element_bytes(Arithmetic arithmetic) { return kInfo[static_cast<size_t>(arithmetic)].bytes; }
Type part_type(Type type) { return type == Type::c64 ? Type::f32 : type == Type::c128 ? Type::f64 : type; }

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
