// Appending instructions to a computation: programs are rewritten without moving what is there, so ids stay.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/ir/module.h"

namespace replay {

using Attrs = std::vector<std::pair<std::string, std::string>>;  ///< key, text

/// Works on one computation. References to instructions are valid until the next one is added.
class Editor {
 public:
  using Id = ir::InstrId;
  Editor(ir::Module& module, ir::CompId comp) : module_(module), comp_(comp) {}
  ir::Module& module() { return module_; }
  ir::CompId comp() const { return comp_; }
  ir::Instr& instr(Id id) { return module_.comp(comp_).instrs[static_cast<size_t>(id)]; }
  const ir::Shape& shape(Id id) { return module_.shape(instr(id)); }
  Id operand(Id id, size_t k) { return instr(id).operands[k]; }

  /// New instructions are named after `id` and have its origin.
  void begin(Id id) { at_ = id; }
  Id add(ir::Op op, const ir::Shape& shape, std::vector<Id> operands, const Attrs& attrs = {});
  /// The instruction calls `callee`, its one, under `key`: "to_apply", "calls".
  void set_call(Id id, std::string_view key, ir::CompId callee);
  /// The instruction as it is, again.
  Id copy_of(Id id);
  /// In place: users of `id` see the new value.
  void become(Id id, ir::Op op, std::vector<Id> operands, const Attrs& attrs = {});
  void become(Id id, Id value) { become(id, ir::Op::bitcast, {value}); }

  /// s32 scalars; computed here where both sides are constants.
  Id number(int64_t value);
  std::optional<int64_t> known(Id id);
  Id arithmetic(ir::Op op, Id left, Id right);
  Id arithmetic(ir::Op op, Id left, int64_t right) { return arithmetic(op, left, number(right)); }
  Id scalar(Id size);  ///< as s32[]

  /// `x` with `value` (a scalar of its type) where a coordinate is not below its dimension's size.
  Id masked(Id x, const std::map<int64_t, Id>& sizes, Id value);
  Id zero(ir::Type type);
  Id iota(const ir::Shape& like, int64_t dim);  ///< s32
  Id spread(Id scalar, const ir::Shape& like);  ///< of the scalar's type
  Id below(const ir::Shape& like, int64_t dim, Id size);

 private:
  ir::Module& module_;
  ir::CompId comp_;
  Id at_ = 0;
  int64_t count_ = 0;
  std::map<Id, int64_t> known_;
  std::map<int64_t, Id> numbers_;
};

/// "{1,2}"
std::string braced(const std::vector<int64_t>& list);

}  // namespace replay
