// One small module for every opcode with a kernel and every type of element.
#pragma once

#include <string>
#include <vector>

namespace cuda_text {

/// HLO texts of modules whose root is the operation, on arrays of 3 × 40 elements; those that are no valid HLO (the logarithm of a pred)
/// are left out.
std::vector<std::string> opcode_and_type_modules();

}  // namespace cuda_text
