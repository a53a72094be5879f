// Arithmetic of one instruction, by the rules of XLA's HloCostAnalysis. Shared by all methods.
#pragma once

#include <optional>

#include "src/ir/module.h"

namespace ir {

struct Work {
  double flops = 0, transcendentals = 0;
};

/// `callee(id)` gives the work of one run of a computation. Calls, fusions and loops are not looked at here; custom calls have none.
class WorkRules {
 public:
  template <typename Callee>
  static Work of(const Module& module, const Computation& comp, const Instr& instr, Callee callee) {
    const std::optional<double> runs = runs_of_callee(module, comp, instr);
    if (!runs) return plain(module, comp, instr);
    Work work;
    for (const CompId id : instr.calls) {  // select-and-scatter has two, with different counts
      const Work one = callee(id);
      const double count = instr.op == Op::select_and_scatter && id != instr.calls[0] ? scatters(module, comp, instr) : *runs;
      work.flops += count * one.flops;
      work.transcendentals += count * one.transcendentals;
    }
    return work;
  }

 private:
  static Work plain(const Module& module, const Computation& comp, const Instr& instr);
  static std::optional<double> runs_of_callee(const Module& module, const Computation& comp, const Instr& instr);
  static double scatters(const Module& module, const Computation& comp, const Instr& instr);
};

/// 2 per multiply-add of a convolution, padding included, or of a product in a custom call (gemm, convolution); nothing for other
/// instructions.
std::optional<double> product_flops(const Module& module, const Computation& comp, const Instr& instr);

}  // namespace ir
