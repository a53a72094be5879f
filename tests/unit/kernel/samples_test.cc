// Every fusion and every plain op of both samples has a kernel.
#include <gtest/gtest.h>

#include <set>

#include "importers/hlo/hlo.h"
#include "replay/kernel/kernel.h"
#include "src/base/file.h"
#include "src/ir/op.h"

namespace kernel {
namespace {

bool is_loops(const ir::Instr& instr) {
  using ir::Op;
  static const std::set<Op> others{Op::parameter, Op::constant, Op::tuple, Op::get_tuple_element, Op::bitcast, Op::custom_call, Op::call};
  return !others.contains(instr.op);
}

class Samples : public testing::TestWithParam<const char*> {};

TEST_P(Samples, EveryFusionHasAKernel) {
  const auto text = base::read_file(std::string(SOURCE_DIR "/samples/") + GetParam());
  ASSERT_TRUE(text.ok()) << text.error().message;
  const auto module = importers::hlo::parse(*text, GetParam());
  ASSERT_TRUE(module.ok()) << module.error().message;
  const ir::Computation& entry = module->comp(module->entry);
  for (const int lanes : {8, 16}) {
    Target target;
    target.lanes = lanes;
    target.registers = lanes == 16 ? 32 : 16;
    target.threads = 2;
    for (ir::InstrId i = 0; i < static_cast<ir::InstrId>(entry.instrs.size()); ++i) {
      if (!is_loops(entry.instrs[static_cast<size_t>(i)])) continue;
      const auto made = make(*module, {module->entry, i}, replay::Rounding::border, target);
      EXPECT_TRUE(made.ok()) << made.error().message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernel, Samples, testing::Values("bert_pretrain_step.hlo.txt", "mnist_train_step.hlo.txt"));

}  // namespace
}  // namespace kernel
