// Ids of interned strings, attributes and shapes tell equality, so an instruction is a short list of numbers; a callee in it is the number
// of its own list.
#include "src/ir/alike.h"

#include <algorithm>

namespace ir {
namespace {

constexpr size_t kFew = 16;  ///< operands among which equal ones are looked for

}  // namespace

Alike::Alike(const Module& module) : module_(module) {
  for (size_t c = 0; c + 1 < module.computations.size(); ++c) {
    begin_body(module.computations[c]);
    bodies_.push_back(number_of_key());
  }
}

void Alike::begin(const Instr& instr) {
  for (const uint32_t part :
       {static_cast<uint32_t>(instr.op), static_cast<uint32_t>(instr.shape), static_cast<uint32_t>(instr.attrs.size()),
        static_cast<uint32_t>(instr.calls.size()), static_cast<uint32_t>(instr.operands.size())})
    key_.push_back(part);
  for (const Attr& attr : instr.attrs) {
    for (const uint32_t part : {static_cast<uint32_t>(attr.key), static_cast<uint32_t>(attr.text), static_cast<uint32_t>(attr.calls)})
      key_.push_back(part);
  }
  for (const CompId callee : instr.calls) key_.push_back(bodies_[static_cast<size_t>(callee)]);
}

void Alike::begin_body(const Computation& comp) {
  key_ = {static_cast<uint32_t>(comp.root), static_cast<uint32_t>(comp.parameters.size())};
  for (const InstrId id : comp.parameters) key_.push_back(static_cast<uint32_t>(id));
  for (const Instr& instr : comp.instrs) {
    begin(instr);
    for (const InstrId id : instr.operands) key_.push_back(static_cast<uint32_t>(id));
  }
}

size_t Alike::number(const Computation& comp, const Instr& instr) {
  key_.clear();
  begin(instr);
  for (const InstrId id : instr.operands) {
    const bool few = instr.operands.size() <= kFew;
    const auto same = few ? std::ranges::find(instr.operands, id) - instr.operands.begin() : std::ptrdiff_t{id};
    key_.push_back(static_cast<uint32_t>(same));
    key_.push_back(static_cast<uint32_t>(comp.instrs[static_cast<size_t>(id)].shape));
  }
  return number_of_key();
}

uint32_t Alike::number_of_key() {
  return static_cast<uint32_t>(keys_.intern({reinterpret_cast<const char*>(key_.data()), key_.size() * sizeof(uint32_t)}));
}

}  // namespace ir
