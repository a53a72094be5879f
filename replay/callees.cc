// Texts name a conditional's branches by one list or by two attributes, which may come in either order.
#include "replay/callees.h"

#include "src/ir/attr.h"

namespace replay {

std::vector<ir::CompId> branches_of(const ir::Module& module, const ir::Instr& conditional) {
  std::vector<ir::CompId> branches = ir::attr_calls(module, conditional, "branch_computations");
  for (const char* key : {"true_computation", "false_computation"}) {
    const auto named = ir::attr_calls(module, conditional, key);
    branches.insert(branches.end(), named.begin(), named.end());
  }
  return branches;
}

}  // namespace replay
