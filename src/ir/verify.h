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
struct Verdict {
  std::vector<Finding> broken;
  /// Results that are floats of another precision than operands give, where no convert says so (`bf16[4] copy(f32[4] x)`). TPU compilers
  /// write such texts, XLA accepts them; the value is rounded to the declared type.
  std::vector<Finding> mixed_precision;
};
Verdict judge(const Module& module);
/// What is broken.
std::vector<Finding> verify(const Module& module);

}  // namespace ir
