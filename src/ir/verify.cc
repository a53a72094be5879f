// Is a module well formed: ids point where they should, and every shape follows from operands and attributes as infer.cc says. Of
// instructions that are alike the first is looked at: the others are as sound.
#include "src/ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/ir/alike.h"
#include "src/ir/infer_rules.h"

namespace ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Module& module) : module_(module) {}

  Verdict run() {
    const auto count = static_cast<CompId>(module_.computations.size());
    if (module_.entry < 0 || module_.entry >= count) return {{{{0, 0}, "the module has no entry computation"}}, {}};
    for (CompId c = 0; c < count; ++c) {
      if (!check_ids(c)) return std::move(verdict_);  // shapes cannot be looked at
    }
    Alike alike(module_);
    for (CompId c = 0; c < count; ++c) {
      const Computation& comp = module_.comp(c);
      for (size_t i = 0; i < comp.instrs.size(); ++i) {
        const size_t number = alike.number(comp, comp.instrs[i]);
        if (number >= sound_.size()) sound_.resize(2 * number + 1);
        if (!sound_[number]) sound_[number] = check_shape({c, static_cast<InstrId>(i)});
      }
    }
    return std::move(verdict_);
  }

 private:
  bool found(InstrRef at, std::string what) {
    verdict_.broken.push_back({at, std::move(what)});
    return false;
  }

  bool check_ids(CompId c) {
    const Computation& comp = module_.comp(c);
    const auto count = static_cast<InstrId>(comp.instrs.size());
    const auto is_instr = [count](InstrId id) { return id >= 0 && id < count; };
    if (!is_instr(comp.root)) return found({c, 0}, fmt::format("computation '{}' has no root", module_.text(comp.name)));
    for (InstrId i = 0; i < count; ++i) {
      const Instr& instr = module_.instr(c, i);
      const auto is_before = [i](InstrId id) { return id >= 0 && id < i; };
      const auto is_callee = [c](CompId id) { return id >= 0 && id < c; };
      if (!std::ranges::all_of(instr.operands, is_before))
        return found({c, i}, fmt::format("an operand of '{}' does not stand before it", module_.name_of(instr)));
      if (!std::ranges::all_of(instr.calls, is_callee))
        return found({c, i}, fmt::format("a computation that '{}' calls does not stand before its own", module_.name_of(instr)));
    }
    for (const InstrId id : comp.parameters) {
      if (!is_instr(id) || module_.instr(c, id).op != Op::parameter)
        return found({c, 0}, fmt::format("a parameter of '{}' is missing", module_.text(comp.name)));
    }
    return true;
  }

  /// False: something was found.
  bool check_shape(InstrRef at) {
    const Instr& instr = module_.instr(at.comp, at.instr);
    const Inferred inferred = infer_shape(module_, module_.comp(at.comp), instr);
    if (inferred.how == Inferred::broken) return found(at, fmt::format("'{}': {}", module_.name_of(instr), inferred.what));
    const std::string problem = rules::callee_problem({module_, module_.comp(at.comp), instr});
    if (!problem.empty()) found(at, fmt::format("'{}': {}", module_.name_of(instr), problem));
    if (inferred.how != Inferred::follows) return problem.empty();
    const Shape& declared = module_.shape(instr);
    if (fits(declared, inferred.shape)) return problem.empty();
    const bool loose = !only_renames(instr.op) && fits_but_for_precision(declared, inferred.shape);
    if (loose && widens(instr.op)) return problem.empty();
    std::string what = fmt::format("'{}' is declared {}, {} of its operands gives {}", module_.name_of(instr),
                                   print(declared, LayoutPrint::without), text(instr.op), print(inferred.shape, LayoutPrint::without));
    (loose ? verdict_.mixed_precision : verdict_.broken).push_back({at, std::move(what)});
    return false;
  }

  /// Whose result is what was given, under another name: nothing is there that could round it (XLA's verifier has the same list).
  static bool only_renames(Op op) { return info(op).cls == OpClass::alias || op == Op::call || op == Op::while_ || op == Op::conditional; }

  /// Where compilers write results that are wider than the operands as a matter of course.
  static bool widens(Op op) {
    const OpClass cls = info(op).cls;
    return cls == OpClass::contract || cls == OpClass::reduce || cls == OpClass::control || cls == OpClass::collective;
  }

  const Module& module_;
  Verdict verdict_;
  std::vector<bool> sound_;  ///< by number among what is alike
};

}  // namespace

Verdict judge(const Module& module) { return Verifier(module).run(); }
std::vector<Finding> verify(const Module& module) { return judge(module).broken; }

}  // namespace ir
