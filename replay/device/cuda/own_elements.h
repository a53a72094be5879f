// What the texts of our own kernels share: how elements of a type are read and written, and what becomes of a text.
#pragma once

#include <string>
#include <string_view>

#include "replay/kernel/kernel.h"
#include "src/base/result.h"

namespace replay::cuda {

inline constexpr int kOwnThreads = 256;  ///< of a block

/// How an element is read and written; `whole`: integers are summed as numbers of 64 bits, which wrap as those of their type do.
struct Element {
  ir::Type type;
  std::string_view stored, read, written;
  bool whole;
};
/// Null: a type without one.
const Element* element_of(ir::Type type);

/// Functions that elements of these types are read and written by.
std::string functions_for(std::initializer_list<ir::Type> types);
/// `code` behind the prelude; args: `operands`, then one result.
kernel::Kernel kernel_of(std::string name, std::string code, int64_t blocks, int operands, bool cooperates);
/// Error: a grid has no room for so many.
base::Status check_blocks(int64_t blocks);

}  // namespace replay::cuda
