// libFuzzer targets: any bytes give a result or an Error; a trap is a finding. One source, one program for each FUZZ_TARGET (runner.cmake).
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "importers/hlo/hlo.h"
#include "replay/inputs.h"
#include "replay/plan.h"
#include "replay/reference/reference.h"
#include "src/ir/cost.h"
#include "src/ir/print.h"
#include "src/ir/verify.h"

namespace fuzz {
namespace {

constexpr double kSmallWork = 1e5;  ///< operations and bytes that the reference may spend on one input
constexpr int64_t kSmallArray = 1 << 12;

void require(bool right) {
  if (!right) std::abort();
}

bool sound(const ir::Module& module) { return module.entry >= 0 && ir::verify(module).empty(); }

double work(const ir::Module& module) {
  double sum = 0;
  for (size_t c = 0; c < module.computations.size(); ++c) {
    for (size_t i = 0; i < module.computations[c].instrs.size(); ++i) {
      const ir::InstrRef at{static_cast<ir::CompId>(c), static_cast<ir::InstrId>(i)};
      for (const ir::CostMethod method : ir::kCostMethods) {
        const ir::Cost cost = ir::cost(module, at, method);
        sum += cost.flops + cost.transcendentals + cost.bytes();
      }
    }
  }
  return sum;
}

/// No loops, which may be endless, and nothing large.
bool tiny(const ir::Module& module) {
  for (const ir::Computation& comp : module.computations) {
    for (const ir::Instr& instr : comp.instrs) {
      if (instr.op == ir::Op::while_) return false;
      for (const ir::Leaf& leaf : ir::leaves(module.shape(instr)))
        if (ir::elements(*leaf.shape) > kSmallArray) return false;
    }
  }
  return work(module) < kSmallWork;
}

}  // namespace

/// What parses prints, and parses again to the same module.
void parse(const ir::Module& module) {
  const auto again = importers::hlo::parse(ir::print(module), "printed");
  require(again.ok() && *again == module);
}

void verify(const ir::Module& module) { (void)ir::verify(module); }

void cost(const ir::Module& module) {
  if (sound(module)) require(!(work(module) < 0));
}

void plan(const ir::Module& module) {
  if (!sound(module)) return;
  for (const auto rounding : {replay::Rounding::each, replay::Rounding::border}) {
    replay::PlanOptions options;
    options.rounding = rounding;
    (void)replay::make_plan(module, options);
  }
}

void reference(const ir::Module& module) {
  if (!sound(module) || !tiny(module)) return;
  const ir::Computation& entry = module.comp(module.entry);
  std::vector<replay::Tensor> arguments;
  for (const ir::InstrId parameter : entry.parameters) {
    const ir::Shape& shape = module.shape(entry.instrs[static_cast<size_t>(parameter)]);
    if (shape.is_tuple()) return;
    arguments.push_back(replay::generate({}, shape, 1, "fuzz"));
  }
  (void)replay::reference::Evaluator(module, replay::Rounding::each).run(module.entry, arguments);
}

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto module = importers::hlo::parse({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (module.ok()) fuzz::FUZZ_TARGET(*module);
  return 0;
}
