// Makes the plan of a replay. One walk over the entry turns instructions into steps; calls are inlined, loops and branches become trees.
//
// Values are leaves (arrays): a scope maps each instruction to the buffers of its leaves, so that tuple, get-tuple-element and bitcast cost
// nothing. What a single instruction becomes is decided by a table of builders (plan_step.cc); where buffers lie, by live ranges
// (arena.cc).
#include "replay/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "replay/plan_builder.h"
#include "replay/rewrite.h"
#include "src/base/text.h"

namespace replay {
namespace {

constexpr std::string_view kClassNames[] = {"skip", "reference", "stand-in", "library", "kernel", "copy", "host"};

constexpr int64_t kMostInstructions = 1'000'000;

/// Instructions of a computation with those of all that it calls, once per call; stops growing at kMostInstructions. n computations that
/// call the next one twice are 2^n.
int64_t expanded(const ir::Module& module, ir::CompId comp, std::vector<int64_t>& known) {
  int64_t& count = known[static_cast<size_t>(comp)];
  if (count > 0) return count;
  count = 1;  // a computation that calls itself is found by the walk
  int64_t sum = 0;
  for (const ir::Instr& instr : module.comp(comp).instrs) {
    ++sum;
    for (const ir::CompId callee : instr.calls) sum = std::min(kMostInstructions, sum + expanded(module, callee, known));
  }
  return count = std::max<int64_t>(1, sum);
}

base::Status unsupported_program(const ir::Module& module) {
  if (module.computations.empty()) return base::Error{"the module has no computation; nothing to replay"};
  std::vector<int64_t> known(module.computations.size(), 0);
  if (expanded(module, module.entry, known) >= kMostInstructions) {
    return base::Error{fmt::format("{}: its calls expand to more than {} instructions; try --computation NAME",
                                   base::escaped(module.text(module.name)), kMostInstructions)};
  }
  return {};
}

}  // namespace

std::string_view text(Class cls) { return kClassNames[static_cast<size_t>(cls)]; }

namespace {

/// Has the device a function for a product with what follows it?
Products products_for(const PlanOptions& options) {
  if (options.accepts == nullptr) return Products::apart;
  Gemm gemm;
  gemm.after.activation = Epilogue::Activation::relu;
  return options.accepts(gemm).ok() ? Products::whole : Products::apart;
}

}  // namespace

base::Result<Plan> make_plan(const ir::Module& module, const PlanOptions& options) {
  RETURN_IF_ERROR(unsupported_program(module));
  ASSIGN_OR_RETURN(const std::shared_ptr<const ir::Module> as_run, rewritten(module, products_for(options)));
  Defused defused;
  if (options.parts) defused = with_parts(as_run != nullptr ? *as_run : module, options.parts);
  const std::shared_ptr<const ir::Module> runs = defused.module != nullptr ? defused.module : as_run;
  PlanBuilder builder(runs != nullptr ? *runs : module, options, std::move(defused.fusions));
  RETURN_IF_ERROR(builder.build());
  Plan plan = builder.take();
  plan.rewritten = runs;
  for (size_t i = 0; i < plan.steps.size(); ++i) assert(plan.steps[i]->id == static_cast<StepId>(i));
  return plan;
}

std::vector<const Step*> startable(const Plan& plan) {
  std::vector<const Step*> all(plan.steps.begin(), plan.steps.end());
  for (const Variant& variant : plan.variants) {
    for (const Step& part : variant.parts) all.push_back(&part);
    if (variant.why.empty()) all.insert(all.end(), {&variant.whole, &variant.save, &variant.restore});
  }
  return all;
}

std::vector<ir::InstrId> overwritten_operands(const ir::Module& module, const Step& step) {
  std::vector<ir::InstrId> overwritten;
  const ir::Computation& comp = module.comp(step.instr.comp);
  std::span<const BufferId> rest = step.in;
  for (const ir::InstrId operand : comp.instrs[static_cast<size_t>(step.instr.instr)].operands) {
    const size_t count = ir::leaves(module.shape(comp.instrs[static_cast<size_t>(operand)])).size();
    const auto own = rest.first(std::min(count, rest.size()));
    const auto is_own = [&](const InPlace& pair) { return std::ranges::find(own, pair.operand) != own.end(); };
    if (std::ranges::any_of(step.in_place, is_own)) overwritten.push_back(operand);
    rest = rest.subspan(own.size());
  }
  return overwritten;
}

}  // namespace replay
