// Is a module well formed: shapes of results follow from operands and attributes.
#pragma once

#include <string>
#include <vector>

#include "src/ir/module.h"

namespace ir {

/// One broken rule: which instruction, what was expected.
struct Finding {
  InstrRef at;
  std::string what;
};
std::vector<Finding> verify(const Module& module);

}  // namespace ir
