// What the texts of our own kernels share: how elements of a type are read and written, and what becomes of a text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "replay/kernel/kernel.h"
#include "src/base/result.h"

namespace replay::cuda {

inline constexpr int kOwnThreads = 256;  ///< of a block

/// Integers are summed as numbers of 64 bits, which wrap as those of their type do.
enum class Sums : uint8_t { real, whole, complex };
/// How an element is read and written.
struct Element {
  ir::Type type;
  std::string_view stored, read, written;
  Sums sums;
};
/// Null: a type without one.
const Element* element_of(ir::Type type);

/// The type of sums, the bytes of one, and what it is when it has come to its end: that type, `end` before it, and the type of its factors.
struct Accumulator {
  std::string_view text;
  int64_t bytes;
  std::string_view result, end, factor;
};
/// Of products of elements of these types, into the last of them.
Accumulator accumulator_of(std::initializer_list<ir::Type> types);
/// May products of `a` and `b` be summed and stored as `d`: are they of one kind, or integers whose sums become floats?
bool multiplies(ir::Type a, ir::Type b, ir::Type d);

/// Functions that elements of these types are read and written by.
std::string functions_for(std::initializer_list<ir::Type> types);
/// `code` behind the prelude; args: `operands`, then one result.
kernel::Kernel kernel_of(std::string name, std::string code, int64_t blocks, int operands, bool cooperates);
/// Error: a grid has no room for so many.
base::Status check_blocks(int64_t blocks);

}  // namespace replay::cuda
