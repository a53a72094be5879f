// Elements are read into what sums are made in, floats of a byte or two through functions of their own.
#include "replay/device/cuda/own_elements.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "replay/kernel/cuda_launch.h"
#include "replay/kernel/cuda_prelude.h"
#include "src/base/hash.h"

namespace replay::cuda {
namespace {

constexpr Element kElements[] = {
    {ir::Type::f16, "f16", "to_f32({})", "to_f16((float)({}))", Sums::real},
    {ir::Type::bf16, "u16", "from_bf16({})", "to_bf16((float)({}))", Sums::real},
    {ir::Type::f32, "float", "{}", "(float)({})", Sums::real},
    {ir::Type::f64, "double", "{}", "(double)({})", Sums::real},
    {ir::Type::f8e4m3fn, "u8", "from_e4m3({})", "", Sums::real},  // is not written
    {ir::Type::f8e5m2, "u8", "from_e5m2({})", "", Sums::real},
    {ir::Type::s8, "i8", "(u64)(i64){}", "(i8)({})", Sums::whole},
    {ir::Type::u8, "u8", "(u64){}", "(u8)({})", Sums::whole},
    {ir::Type::s16, "i16", "(u64)(i64){}", "(i16)({})", Sums::whole},
    {ir::Type::u16, "u16", "(u64){}", "(u16)({})", Sums::whole},
    {ir::Type::s32, "i32", "(u64)(i64){}", "(i32)({})", Sums::whole},
    {ir::Type::u32, "u32", "(u64){}", "(u32)({})", Sums::whole},
    {ir::Type::s64, "i64", "(u64){}", "(i64)({})", Sums::whole},
    {ir::Type::u64, "u64", "{}", "{}", Sums::whole},
    {ir::Type::c64, "c64", "{}", "{}", Sums::complex},
    {ir::Type::c128, "c128", "{}", "{}", Sums::complex},
};

/// Several kernels may stand in one text.
constexpr std::string_view kBf16 = R"(#ifndef PROFILE_BF16
#define PROFILE_BF16
DEVICE float from_bf16(u16 x) { return bits_as<float>((u32)x << 16); }
DEVICE u16 to_bf16(float x) {
  const u32 b = bits_as<u32>(x);
  return (u16)((b & 0x7fffffffu) > 0x7f800000u ? b >> 16 | 0x40 : (b + 0x7fffu + (b >> 16 & 1)) >> 16);
}
#endif
)";

constexpr std::string_view kF8 = R"(#ifndef PROFILE_F8
#define PROFILE_F8
DEVICE float from_e5m2(u8 x) { f16 y; y.bits = (u16)(x << 8); return to_f32(y); }
DEVICE float from_e4m3(u8 x) {
  const u32 sign = (u32)(x & 0x80) << 24, e = x >> 3 & 15, m = x & 7;
  if (e == 15 && m == 7) return bits_as<float>(0x7fc00000u);
  return e == 0 ? bits_as<float>(sign | 0x3f800000u) * (float)m * 0x1p-9f : bits_as<float>(sign | (e + 120) << 23 | m << 20);
}
#endif
)";

constexpr std::string_view kComplex = R"(#ifndef PROFILE_COMPLEX
#define PROFILE_COMPLEX
template <class T> struct alignas(2 * sizeof(T)) complex_of { T re, im; };
typedef complex_of<float> c64; typedef complex_of<double> c128;
template <class T> DEVICE complex_of<T> operator*(complex_of<T> a, complex_of<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T> DEVICE complex_of<T> operator*(T a, complex_of<T> b) { return {a * b.re, a * b.im}; }
template <class T> DEVICE void operator+=(complex_of<T>& a, complex_of<T> b) { a.re += b.re, a.im += b.im; }
template <class T> DEVICE void operator*=(complex_of<T>& a, T b) { a.re *= b, a.im *= b; }
#endif
)";

}  // namespace

const Element* element_of(ir::Type type) {
  const auto found = std::ranges::find(kElements, type, &Element::type);
  return found == std::end(kElements) ? nullptr : found;
}

Accumulator accumulator_of(std::initializer_list<ir::Type> types) {
  const bool wide = std::ranges::any_of(types, [](ir::Type t) { return t == ir::Type::f64 || t == ir::Type::c128; });
  switch (element_of(*types.begin())->sums) {
    case Sums::real:
      return wide ? Accumulator{"double", 8, "double", "", "double"} : Accumulator{"float", 4, "float", "", "float"};
    case Sums::complex:
      return wide ? Accumulator{"c128", 16, "c128", "", "double"} : Accumulator{"c64", 8, "c64", "", "float"};
    case Sums::whole:
      break;
  }
  const bool becomes_real = element_of(*std::prev(types.end()))->sums == Sums::real;
  return becomes_real ? Accumulator{"u64", 8, "double", "(i64)", "double"} : Accumulator{"u64", 8, "u64", "", "u64"};
}

bool multiplies(ir::Type a, ir::Type b, ir::Type d) {
  const Element *x = element_of(a), *y = element_of(b), *z = element_of(d);
  if (x == nullptr || y == nullptr || z == nullptr || x->sums != y->sums || z->written.empty()) return false;
  if (x->sums == Sums::complex) return a == b && a == d;
  return x->sums == z->sums || x->sums == Sums::whole;
}

kernel::Kernel kernel_of(std::string name, std::string code, int64_t blocks, int operands, bool cooperates) {
  kernel::Kernel made;
  made.name = std::move(name);
  made.code = std::string(kernel::cuda::kPrelude) + std::move(code);
  made.key = base::hash128_hex(fmt::format("{} {}\n{}", blocks, operands, made.code));
  made.operands = operands;
  made.outputs = 1;
  made.language = kernel::Language::cuda;
  kernel::Part part;
  part.symbol = "k0";
  part.count = blocks;
  part.block_threads = kOwnThreads;
  part.cooperates = cooperates;
  made.parts = {part};
  return made;
}

base::Status check_blocks(int64_t blocks) {
  if (const std::string why = kernel::cuda::illegal({blocks, kOwnThreads, 0, 24}); !why.empty()) return base::Error{why};
  return {};
}

std::string functions_for(std::initializer_list<ir::Type> types) {
  const auto has = [&](ir::Type type) { return std::ranges::find(types, type) != types.end(); };
  std::string text;
  if (has(ir::Type::f8e4m3fn) || has(ir::Type::f8e5m2)) text += kF8;
  if (has(ir::Type::bf16)) text += kBf16;
  if (has(ir::Type::c64) || has(ir::Type::c128)) text += kComplex;
  return text;
}

}  // namespace replay::cuda
