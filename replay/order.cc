// Depth first without recursion: chains may be as long as the file.
#include "replay/order.h"

namespace replay {

std::vector<ir::InstrId> topological(const ir::Computation& comp) {
  const auto count = static_cast<ir::InstrId>(comp.instrs.size());
  std::vector<ir::InstrId> order, stack;
  std::vector<uint8_t> state(comp.instrs.size(), 0);  // 0 new, 1 open, 2 done
  for (ir::InstrId start = 0; start < count; ++start) {
    stack.push_back(start);
    while (!stack.empty()) {
      const ir::InstrId id = stack.back();
      uint8_t& own = state[static_cast<size_t>(id)];
      if (own == 0) {
        own = 1;
        for (const ir::InstrId operand : comp.instrs[static_cast<size_t>(id)].operands) {
          if (state[static_cast<size_t>(operand)] == 0) stack.push_back(operand);
        }
        continue;
      }
      stack.pop_back();
      if (own == 1) order.push_back(id);
      own = 2;
    }
  }
  return order;
}

}  // namespace replay
