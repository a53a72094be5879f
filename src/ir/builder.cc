// Cuts a computation or an instruction out of a module: copies what is reachable, with new ids in callees-first order.
#include "src/ir/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace ir {
namespace {

/// Copies computations from one module into another. Ids that were copied are known; callees are copied first.
class Copy {
 public:
  explicit Copy(const Module& from) : from_(from), comp_ids_(from.computations.size(), -1) {
    to_.name = string(from.name);
    to_.stack_frames = string(from.stack_frames);
  }

  CompId computation(CompId id) {
    if (comp_ids_[static_cast<size_t>(id)] >= 0) return comp_ids_[static_cast<size_t>(id)];
    const Computation& source = from_.comp(id);
    Computation copy{string(source.name), {}, source.root, string(source.execution_thread), source.parameters};
    copy.instrs.reserve(source.instrs.size());
    for (const Instr& instr : source.instrs) copy.instrs.push_back(instruction(instr));
    to_.computations.push_back(std::move(copy));
    return comp_ids_[static_cast<size_t>(id)] = static_cast<CompId>(to_.computations.size()) - 1;
  }

  /// With the operands' ids of the old module.
  Instr instruction(const Instr& source) {
    Instr copy = source;
    copy.name = string(source.name);
    copy.shape = to_.intern(from_.shape(source));
    if (source.literal != LiteralId::none) copy.literal = to_.add(from_.literal(source));
    if (const Origin* origin = from_.origin(source)) copy.origin = this->origin(*origin);
    for (Attr& attr : copy.attrs) attr.key = string(attr.key), attr.text = string(attr.text);
    for (CompId& callee : copy.calls) callee = computation(callee);
    return copy;
  }

  Instr parameter(const Instr& source, int64_t number) {
    Instr copy;
    copy.name = string(source.name);
    copy.shape = to_.intern(from_.shape(source));
    copy.number = number;
    copy.offset = source.offset;
    if (const Origin* origin = from_.origin(source)) copy.origin = this->origin(*origin);
    return copy;
  }

  /// copy(parameter), in the new module.
  Instr copy_of(const Instr& parameter, InstrId id) {
    Instr copy;
    copy.op = Op::copy;
    copy.name = intern(fmt::format("{}.copy", to_.text(parameter.name)));
    copy.shape = parameter.shape;
    copy.operands = {id};
    return copy;
  }

  StringId intern(std::string_view text) { return to_.strings.intern(text); }

  Module finish(Computation entry) {
    to_.computations.push_back(std::move(entry));
    return finish(static_cast<CompId>(to_.computations.size()) - 1);
  }
  Module finish(CompId entry) {
    to_.entry = entry;
    return std::move(to_);
  }

 private:
  StringId string(StringId id) { return to_.strings.intern(from_.text(id)); }
  OriginId origin(Origin origin) {
    for (StringId* id : {&origin.op_type, &origin.op_name, &origin.source_file, &origin.rest}) *id = string(*id);
    return to_.intern(origin);
  }

  const Module& from_;
  Module to_;
  std::vector<CompId> comp_ids_;
};

bool is_kept_constant(const Module& module, const Instr& instr) {
  return instr.literal != LiteralId::none && !module.literal(instr).elided;
}

}  // namespace

Module extract_computation(const Module& module, CompId comp) {
  Copy copy(module);
  const CompId entry = copy.computation(comp);
  return copy.finish(entry);
}

std::optional<Module> extract_fusion(const Module& module, CompId comp) {
  const Instr* caller = nullptr;
  for (const Computation& computation : module.computations) {
    for (const Instr& instr : computation.instrs) {
      if (caller == nullptr && instr.op == Op::fusion && instr.calls == std::vector<CompId>{comp}) caller = &instr;
    }
  }
  if (caller == nullptr) return std::nullopt;
  Copy copy(module);
  Computation entry;
  entry.name = copy.intern(fmt::format("{}.alone", module.text(module.comp(comp).name)));
  Instr root = copy.instruction(*caller);
  root.operands.clear();
  std::erase_if(root.attrs, [key = copy.intern("control-predecessors")](const Attr& attr) { return attr.key == key; });
  for (const InstrId id : module.comp(comp).parameters) {
    root.operands.push_back(static_cast<InstrId>(entry.instrs.size()));
    entry.parameters.push_back(static_cast<InstrId>(entry.instrs.size()));
    entry.instrs.push_back(copy.parameter(module.instr(comp, id), static_cast<int64_t>(entry.instrs.size())));
  }
  entry.root = static_cast<InstrId>(entry.instrs.size());
  entry.instrs.push_back(std::move(root));
  return copy.finish(std::move(entry));
}

Module extract_instruction(const Module& module, InstrRef ref, std::span<const InstrId> overwritten) {
  const Computation& source = module.comp(ref.comp);
  const Instr& instr = module.instr(ref.comp, ref.instr);
  Copy copy(module);
  Computation entry;
  entry.name = copy.intern(fmt::format("{}.alone", module.name_of(instr)));
  std::vector<InstrId> distinct, places;  // operands in order of first use, and where they stand in the copy
  for (const InstrId operand : instr.operands) {
    if (std::ranges::find(distinct, operand) != distinct.end()) continue;
    distinct.push_back(operand);
    const Instr& value = source.instrs[static_cast<size_t>(operand)];
    if (is_kept_constant(module, value)) {
      entry.instrs.push_back(copy.instruction(value));
    } else {
      entry.parameters.push_back(static_cast<InstrId>(entry.instrs.size()));
      entry.instrs.push_back(copy.parameter(value, static_cast<int64_t>(entry.parameters.size()) - 1));
      if (std::ranges::find(overwritten, operand) != overwritten.end())
        entry.instrs.push_back(copy.copy_of(entry.instrs.back(), entry.parameters.back()));
    }
    places.push_back(static_cast<InstrId>(entry.instrs.size()) - 1);
  }
  Instr root = copy.instruction(instr);
  const StringId predecessors = copy.intern("control-predecessors");
  std::erase_if(root.attrs, [&](const Attr& attr) { return attr.key == predecessors; });
  for (InstrId& operand : root.operands) operand = places[static_cast<size_t>(std::ranges::find(distinct, operand) - distinct.begin())];
  if (instr.op == Op::parameter) root.number = 0, entry.parameters = {static_cast<InstrId>(entry.instrs.size())};
  entry.root = static_cast<InstrId>(entry.instrs.size());
  entry.instrs.push_back(std::move(root));
  return copy.finish(std::move(entry));
}

}  // namespace ir
