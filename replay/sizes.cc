// The walk: operands before users, each instruction by the rule of its op.
#include "replay/sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "replay/custom_calls.h"
#include "replay/sizes_edit.h"
#include "src/base/text.h"
#include "src/ir/attr.h"

namespace replay {
namespace {

using sizes::Id;
using sizes::Pass;

bool makes_sizes(const ir::Module& module, const ir::Instr& instr) {
  if (instr.op == ir::Op::set_dimension_size || instr.op == ir::Op::dynamic_reshape) return true;
  return instr.op == ir::Op::custom_call && sizes::rule_of(module, instr) != nullptr;
}

bool has_sizes(const ir::Module& module, const ir::Computation& comp) {
  return std::ranges::any_of(comp.instrs, [&](const ir::Instr& instr) { return makes_sizes(module, instr); });
}

/// Operands before users; instructions that stand in a circle are left out.
std::vector<Id> in_order(const ir::Computation& comp) {
  std::vector<Id> order, ready;
  std::vector<size_t> waits(comp.instrs.size());
  std::vector<std::vector<Id>> users(comp.instrs.size());
  for (size_t i = 0; i < comp.instrs.size(); ++i) {
    waits[i] = comp.instrs[i].operands.size();
    for (const Id operand : comp.instrs[i].operands) users[static_cast<size_t>(operand)].push_back(static_cast<Id>(i));
    if (waits[i] == 0) ready.push_back(static_cast<Id>(i));
  }
  while (!ready.empty()) {
    const Id id = ready.back();
    ready.pop_back();
    order.push_back(id);
    for (const Id user : users[static_cast<size_t>(id)]) {
      if (--waits[static_cast<size_t>(user)] == 0) ready.push_back(user);
    }
  }
  return order;
}

bool takes_parts(Pass& pass, Id id) {
  const auto is_part = [&](Id operand) {
    const auto first = pass.dims.lower_bound({operand, 0});
    return first != pass.dims.end() && first->first.first == operand;
  };
  const auto& operands = pass.edit.instr(id).operands;
  return std::any_of(operands.begin(), operands.end(), is_part);
}

base::Error without_rule(const ir::Module& module, const ir::Instr& instr, std::string_view why) {
  return {fmt::format("{}: {} {}; try --computation NAME", base::escaped(module.name_of(instr)), ir::text(instr.op), why)};
}

base::Status visit(Pass& pass, Id id) {
  Editor& edit = pass.edit;
  const ir::Instr& instr = edit.instr(id);
  if (!makes_sizes(edit.module(), instr) && !takes_parts(pass, id)) return {};
  const sizes::Rule rule = sizes::rule_of(edit.module(), instr);
  if (rule == nullptr && !is_annotation(edit.module(), edit.comp(), instr))
    return without_rule(edit.module(), instr, "of an array that is filled only in part is not supported");
  edit.begin(id);
  if (rule == nullptr) return pass.set(id, 0, pass.of(edit.operand(id, 0))), base::Status();
  const base::Status done = rule(pass, id);
  return done.ok() ? done : without_rule(edit.module(), edit.instr(id), done.error().message);
}

/// Zeros beyond the sizes of what a program gives back, so that nobody sees what happens to stand there.
void clear_results(Pass& pass) {
  Editor& edit = pass.edit;
  ir::Computation& comp = edit.module().comp(edit.comp());
  const Id root = comp.root;
  const ir::Shape shape = edit.shape(root);
  edit.begin(root);
  const auto cleared = [&](Id value, int leaf) {
    return pass.of(root, leaf).empty() ? value : edit.masked(value, pass.of(root, leaf), edit.zero(edit.shape(value).type));
  };
  Id made = root;
  if (shape.is_array()) {
    made = cleared(root, 0);
  } else if (std::ranges::all_of(shape.elements, &ir::Shape::is_array)) {
    std::vector<Id> parts;
    for (size_t k = 0; k < shape.elements.size(); ++k) {
      const Id part = edit.add(ir::Op::get_tuple_element, shape.elements[k], {root}, {{"index", std::to_string(k)}});
      parts.push_back(cleared(part, static_cast<int>(k)));
    }
    made = edit.add(ir::Op::tuple, shape, parts);
  }
  edit.module().comp(edit.comp()).root = made;
}

base::Status walk(ir::Module& module, ir::CompId comp) {
  Pass pass{Editor(module, comp), {}};
  for (const Id id : in_order(module.comp(comp))) RETURN_IF_ERROR(visit(pass, id));
  const Id root = module.comp(comp).root;
  const auto first = pass.dims.lower_bound({root, 0});
  if (first == pass.dims.end() || first->first.first != root) return {};
  if (comp != module.entry) return without_rule(module, module.instr(comp, root), "gives back an array that is filled only in part");
  clear_results(pass);
  return {};
}

ir::Shape whole(ir::Shape shape) {
  if (std::ranges::all_of(shape.dims, [](int64_t d) { return d >= 0; })) shape.dynamic.clear();
  for (ir::Shape& element : shape.elements) element = whole(std::move(element));
  return shape;
}

}  // namespace

base::Result<std::shared_ptr<const ir::Module>> with_sizes_as_values(const ir::Module& module) {
  if (std::ranges::none_of(module.computations, [&](const ir::Computation& comp) { return has_sizes(module, comp); }))
    return std::shared_ptr<const ir::Module>();
  auto made = std::make_shared<ir::Module>(module);
  for (size_t i = 0; i < module.computations.size(); ++i) {
    if (has_sizes(module, module.computations[i])) RETURN_IF_ERROR(walk(*made, static_cast<ir::CompId>(i)));
  }
  for (ir::Computation& comp : made->computations) {
    for (ir::Instr& instr : comp.instrs) instr.shape = made->intern(whole(made->shape(instr)));
  }
  return std::shared_ptr<const ir::Module>(std::move(made));
}

}  // namespace replay
