// Three moves. Flatten: the body with calls (and inner fusions) inlined, operands before users. Fold: which broadcasts an elementwise
// operation reads through, and from that what is needed at all. Emit: the new computation, with a small fusion for each operation that
// reads through something.
#include "replay/defuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "replay/order.h"
#include "replay/plan_builder.h"
#include "src/ir/attr.h"

namespace replay {
namespace {

using Id = ir::InstrId;

constexpr int kMostFusions = 50;       ///< of fusions in fusions
constexpr int kMostCalls = 10'000;     ///< inlined in one body: files may nest calls so that they double with each level
constexpr uint8_t kLongestChain = 16;  ///< of broadcasts of broadcasts that are read through

const ir::Instr& at(const ir::Computation& comp, Id id) { return comp.instrs[static_cast<size_t>(id)]; }

class Taker {
 public:
  Taker(ir::Module& module, Parts parts) : module_(module), parts_(parts) {}

  Apart take(ir::CompId fused, const std::string& name) {
    flat_.name = module_.strings.intern(name + ".parts");
    const auto root = flatten(fused, {}, 0);
    if (!root) return {-1, why_, 0};
    flat_.root = *root;
    fold();
    Apart apart;
    apart.body = emit();
    return apart;
  }

 private:
  // --- flatten ----------------------------------------------------------------------------------------------------------------------
  Id add(ir::Instr instr) {
    flat_.instrs.push_back(std::move(instr));
    return static_cast<Id>(flat_.instrs.size()) - 1;
  }

  /// Nothing: `why_` says what can't run apart.
  std::optional<Id> flatten(ir::CompId id, const std::vector<Id>& arguments, int depth) {
    if (depth > kMostFusions) return refuse(fmt::format("its calls nest deeper than {}", kMostFusions));
    if (++calls_ > kMostCalls) return refuse(fmt::format("it makes more than {} calls", kMostCalls));
    const ir::Computation comp = module_.comp(id);  // a copy: emit() adds computations, this does not, but ids are all that is kept
    std::vector<Id> placed(comp.instrs.size(), -1);
    for (const Id old : topological(comp)) {
      const auto made = place(comp, old, arguments, placed, depth);
      if (!made) return std::nullopt;
      placed[static_cast<size_t>(old)] = *made;
    }
    return placed[static_cast<size_t>(comp.root)];
  }

  std::optional<Id> place(const ir::Computation& comp, Id old, const std::vector<Id>& arguments, const std::vector<Id>& placed, int depth) {
    ir::Instr instr = at(comp, old);
    if (instr.op == ir::Op::parameter && depth > 0) return arguments.at(static_cast<size_t>(instr.number));
    for (Id& operand : instr.operands) operand = placed[static_cast<size_t>(operand)];
    const bool inner = instr.op == ir::Op::fusion && parts_ == Parts::ops;
    if ((inner || instr.op == ir::Op::call) && instr.calls.size() == 1) return flatten(instr.calls[0], instr.operands, depth + 1);
    const ir::OpClass cls = ir::info(instr.op).cls;
    const bool loops = instr.op == ir::Op::while_ || instr.op == ir::Op::conditional;
    if (loops || cls == ir::OpClass::order || cls == ir::OpClass::collective)
      return refuse(fmt::format("{}: a {} is no launch of its own", module_.name_of(instr), ir::text(instr.op)));
    std::erase_if(instr.attrs, [&](const ir::Attr& attr) { return module_.text(attr.key) == "control-predecessors"; });
    if (instr.op == ir::Op::reshape && keeps_order(module_.shape(at(flat_, instr.operands.at(0))), module_.shape(instr)))
      instr.op = ir::Op::bitcast, instr.attrs.clear();
    const bool is_parameter = instr.op == ir::Op::parameter;
    const Id made = add(std::move(instr));
    if (is_parameter) {
      const auto number = static_cast<size_t>(flat_.instrs.back().number);
      if (flat_.parameters.size() <= number) flat_.parameters.resize(number + 1, -1);
      flat_.parameters[number] = made;
    }
    return made;
  }

  std::optional<Id> refuse(std::string why) {
    why_ = std::move(why);
    return std::nullopt;
  }

  // --- fold -------------------------------------------------------------------------------------------------------------------------
  /// Is the value only read through: made of nothing, or of a smaller array by repeating it?
  uint8_t repeats(Id id) const {
    const ir::Instr& instr = at(flat_, id);
    if (instr.op == ir::Op::iota) return 1;
    const bool moves = instr.op == ir::Op::bitcast || instr.op == ir::Op::reshape;
    if (instr.op != ir::Op::broadcast && !moves) return 0;
    const uint8_t inner = repeating_[static_cast<size_t>(instr.operands.at(0))];
    if (inner >= kLongestChain || (moves && inner == 0)) return 0;
    return static_cast<uint8_t>(inner + 1);
  }
  bool reads_through(const ir::Instr& user) const { return ir::is_elementwise(user.op) && module_.shape(user).is_array(); }

  /// What a user needs in memory: its operands, or what the broadcasts that it reads through are made of.
  void need(Id operand, bool through) {
    if (through && repeating_[static_cast<size_t>(operand)] > 0) {
      for (const Id inner : at(flat_, operand).operands) need(inner, true);
    } else {
      needed_[static_cast<size_t>(operand)] = true;
    }
  }

  void fold() {
    const auto count = static_cast<Id>(flat_.instrs.size());
    repeating_.assign(flat_.instrs.size(), 0);
    needed_.assign(flat_.instrs.size(), false);
    for (Id id = 0; id < count; ++id) repeating_[static_cast<size_t>(id)] = repeats(id);
    needed_[static_cast<size_t>(flat_.root)] = true;
    for (Id id = count; id-- > 0;) {
      if (!needed_[static_cast<size_t>(id)]) continue;
      const ir::Instr& user = at(flat_, id);
      for (const Id operand : user.operands) need(operand, reads_through(user));
    }
    for (const Id id : flat_.parameters) {
      if (id >= 0) needed_[static_cast<size_t>(id)] = true;
    }
  }

  // --- emit -------------------------------------------------------------------------------------------------------------------------
  ir::CompId emit() {
    ir::Computation body;
    body.name = flat_.name;
    std::vector<Id> placed(flat_.instrs.size(), -1);
    for (Id id = 0; id < static_cast<Id>(flat_.instrs.size()); ++id) {
      if (!needed_[static_cast<size_t>(id)]) continue;
      ir::Instr instr = at(flat_, id);
      const bool through =
          reads_through(instr) && std::ranges::any_of(instr.operands, [&](Id o) { return repeating_[static_cast<size_t>(o)] > 0; });
      if (through) instr = with_operands(instr);
      for (Id& operand : instr.operands) operand = placed[static_cast<size_t>(operand)];
      placed[static_cast<size_t>(id)] = static_cast<Id>(body.instrs.size());
      body.instrs.push_back(std::move(instr));
    }
    for (const Id id : flat_.parameters) body.parameters.push_back(id < 0 ? -1 : placed[static_cast<size_t>(id)]);
    body.root = placed[static_cast<size_t>(flat_.root)];
    module_.computations.push_back(std::move(body));
    return static_cast<ir::CompId>(module_.computations.size()) - 1;
  }

  /// The operation as a fusion of itself with what it reads through; its operands are still those of the flat body.
  ir::Instr with_operands(const ir::Instr& user) {
    ir::Computation inner;
    inner.name = module_.strings.intern(fmt::format("{}.with_operands", module_.name_of(user)));
    std::vector<Id> outside;
    std::map<Id, Id> known;
    ir::Instr root = user;
    for (Id& operand : root.operands) operand = inside(operand, inner, outside, known);
    inner.root = static_cast<Id>(inner.instrs.size());
    inner.instrs.push_back(std::move(root));
    module_.computations.push_back(std::move(inner));
    ir::Instr fusion;
    fusion.name = user.name, fusion.op = ir::Op::fusion, fusion.shape = user.shape, fusion.origin = user.origin,
    fusion.offset = user.offset;
    fusion.operands = std::move(outside);
    fusion.calls = {static_cast<ir::CompId>(module_.computations.size()) - 1};
    fusion.attrs.push_back({module_.strings.intern("kind"), module_.strings.intern("kLoop")});
    fusion.attrs.push_back({module_.strings.intern("calls"), {}, 1});
    return fusion;
  }

  /// Operand `id` within the small fusion: a copy of what is read through (and of constants that it repeats), a parameter for the rest.
  Id inside(Id id, ir::Computation& inner, std::vector<Id>& outside, std::map<Id, Id>& known) {
    if (const auto found = known.find(id); found != known.end()) return found->second;
    ir::Instr instr = at(flat_, id);
    const bool copied = repeating_[static_cast<size_t>(id)] > 0 || (instr.op == ir::Op::constant && !module_.literal(instr).elided);
    if (copied) {
      for (Id& operand : instr.operands) operand = inside(operand, inner, outside, known);
    } else {
      ir::Instr parameter;
      parameter.name = instr.name, parameter.shape = instr.shape, parameter.offset = instr.offset;
      parameter.number = static_cast<int64_t>(outside.size());
      instr = std::move(parameter);
      outside.push_back(id);
      inner.parameters.push_back(static_cast<Id>(inner.instrs.size()));
    }
    inner.instrs.push_back(std::move(instr));
    return known[id] = static_cast<Id>(inner.instrs.size()) - 1;
  }

  ir::Module& module_;
  Parts parts_;
  ir::Computation flat_;
  int calls_ = 0;
  std::vector<uint8_t> repeating_;  ///< by flat id: how many instructions are read through to what is stored; 0: it is stored itself
  std::vector<bool> needed_;
  std::string why_;
};

}  // namespace

Defused with_parts(const ir::Module& module, const ChooseParts& choose) {
  auto made = std::make_shared<ir::Module>(module);
  Defused out;
  std::map<std::pair<ir::CompId, Parts>, Apart> known;  // several fusions may call one computation
  for (ir::CompId comp = 0; comp < static_cast<ir::CompId>(module.computations.size()); ++comp) {
    for (Id id = 0; id < static_cast<Id>(module.comp(comp).instrs.size()); ++id) {
      const ir::Instr& instr = module.instr(comp, id);
      if (instr.op != ir::Op::fusion || instr.calls.size() != 1) continue;
      const Parts parts = choose(module.name_of(instr));
      if (parts == Parts::none || parts == Parts::itself) continue;
      const auto [apart, fresh] = known.try_emplace({instr.calls[0], parts});
      if (fresh) {
        apart->second = Taker(*made, parts).take(instr.calls[0], std::string(module.text(module.comp(instr.calls[0]).name)));
        apart->second.extra_flops = recomputed(module, instr.calls[0]).operations();
      }
      out.fusions.emplace(ir::InstrRef{comp, id}, apart->second);
    }
  }
  out.module = std::move(made);
  return out;
}

}  // namespace replay
