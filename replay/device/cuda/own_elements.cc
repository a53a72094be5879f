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
    {ir::Type::f16, "f16", "to_f32({})", "to_f16((float)({}))", false},
    {ir::Type::bf16, "u16", "from_bf16({})", "to_bf16((float)({}))", false},
    {ir::Type::f32, "float", "{}", "(float)({})", false},
    {ir::Type::f64, "double", "{}", "(double)({})", false},
    {ir::Type::f8e4m3fn, "u8", "from_e4m3({})", "", false},  // is not written
    {ir::Type::f8e5m2, "u8", "from_e5m2({})", "", false},
    {ir::Type::s8, "i8", "(u64)(i64){}", "(i8)({})", true},
    {ir::Type::u8, "u8", "(u64){}", "(u8)({})", true},
    {ir::Type::s16, "i16", "(u64)(i64){}", "(i16)({})", true},
    {ir::Type::u16, "u16", "(u64){}", "(u16)({})", true},
    {ir::Type::s32, "i32", "(u64)(i64){}", "(i32)({})", true},
    {ir::Type::u32, "u32", "(u64){}", "(u32)({})", true},
    {ir::Type::s64, "i64", "(u64){}", "(i64)({})", true},
    {ir::Type::u64, "u64", "{}", "{}", true},
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

}  // namespace

const Element* element_of(ir::Type type) {
  const auto found = std::ranges::find(kElements, type, &Element::type);
  return found == std::end(kElements) ? nullptr : found;
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
  return text;
}

}  // namespace replay::cuda
