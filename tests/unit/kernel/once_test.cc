// Several results of one kernel, of which some read what others reduce: right, and no element is computed more often than it must be.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "importers/hlo/hlo.h"
#include "replay/kernel/analyse.h"
#include "replay/kernel/lower.h"
#include "src/base/file.h"
#include "tests/unit/kernel/check.h"

namespace kernel {
namespace {

/// The root of a program.
base::Result<Lowered> lowered_of(const std::string& text) {
  ASSIGN_OR_RETURN(const ir::Module module, importers::hlo::parse(text, "test"));
  return lower(module, {module.entry, module.comp(module.entry).root}, replay::Rounding::border);
}

int64_t iterations(const Lowered& lowered, const std::vector<TermId>& loops) {
  int64_t count = 1;
  for (const TermId loop : loops) count *= extent_of(lowered.graph.terms, loop);
  return count;
}

/// Bytes that are stored into outputs and scratch, over their size: 1 where each element is stored once.
double largest_share_stored(const Lowered& lowered) {
  std::vector<int64_t> stored(lowered.arrays.size(), 0);
  for (const Nest& nest : lowered.nests) {
    if (nest.merge || nest.serial) continue;
    const int64_t outer = iterations(lowered, nest.outer);
    const auto count = [&](const std::vector<Store>& stores, int64_t times) {
      for (const Store& s : stores) stored[static_cast<size_t>(s.array)] += times * bytes(lowered.graph.type(s.value));
    };
    for (const Stage& stage : nest.stages) count(stage.stores, outer * iterations(lowered, stage.loops));
    count(nest.finish, outer);
  }
  double largest = 0;
  for (size_t k = 0; k < stored.size(); ++k) {
    if (lowered.arrays[k].bytes > 0)
      largest = std::max(largest, static_cast<double>(stored[k]) / static_cast<double>(lowered.arrays[k].bytes));
  }
  return largest;
}

/// Elements of operand `array` that are loaded, over its size: how often all of it is read.
int64_t times_read(const Lowered& lowered, int array) {
  int64_t read = 0;
  for (const Nest& nest : lowered.nests)
    for (const Stage& stage : nest.stages)
      for (const Access& a : footprint(lowered.graph, roots_of(stage), stage.stores).accesses)
        if (a.array == array && !a.store) read += iterations(lowered, nest.outer) * iterations(lowered, stage.loops) * bytes(a.reg);
  return read / lowered.arrays[static_cast<size_t>(array)].bytes;
}

constexpr std::string_view kMost =
    "most { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3) g = pred[] compare(a, b), "
    "direction=GE v = f32[] select(g, a, b) w = s32[] select(g, i, j) ROOT r = (f32[], s32[]) tuple(v, w) }\n";

/// One fusion with the body; its root is a tuple of `results`.
void check_once(std::string_view parameters, std::string_view body) {
  const std::string whole = fused(parameters, body);
  const size_t line = whole.find('\n') + 1;
  const std::string text = whole.substr(0, line) + std::string(kMost) + whole.substr(line);
  check(text);
  const auto lowered = lowered_of(text);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message << "\n" << text;
  EXPECT_EQ(largest_share_stored(*lowered), 1) << print(*lowered);
}

class Rows : public testing::TestWithParam<int64_t> {};

TEST_P(Rows, AMapReadsTheSumsOfItsRows) {
  const int64_t n = GetParam();
  check_once(fmt::format("f32[37,{}]{{1,0}}", n),
             fmt::format("  z = f32[] constant(0)\n  e = f32[37,{0}]{{1,0}} exponential(p0)\n"
                         "  s = f32[37]{{0}} reduce(e, z), dimensions={{1}}, to_apply=add\n  l = f32[37]{{0}} log(s)\n"
                         "  w = f32[37,{0}]{{1,0}} broadcast(s), dimensions={{0}}\n  q = f32[37,{0}]{{1,0}} divide(e, w)\n"
                         "  ROOT r = (f32[37]{{0}}, f32[37,{0}]{{1,0}}, f32[37]{{0}}, f32[37,{0}]{{1,0}}) tuple(s, q, l, e)",
                         n));
}

TEST_P(Rows, AMapReadsTheSumsOfItsColumns) {
  const int64_t n = GetParam();
  check_once(fmt::format("f32[37,{}]{{1,0}}", n),
             fmt::format("  z = f32[] constant(0)\n  s = f32[{0}]{{0}} reduce(p0, z), dimensions={{0}}, to_apply=add\n"
                         "  w = f32[37,{0}]{{1,0}} broadcast(s), dimensions={{1}}\n  q = f32[37,{0}]{{1,0}} subtract(p0, w)\n"
                         "  ROOT r = (f32[{0}]{{0}}, f32[37,{0}]{{1,0}}) tuple(s, q)",
                         n));
}

TEST_P(Rows, AMapReadsTheSumOfAll) {
  const int64_t n = GetParam();
  check_once(fmt::format("f32[37,{}]{{1,0}}", n),
             fmt::format("  z = f32[] constant(0)\n  s = f32[] reduce(p0, z), dimensions={{0,1}}, to_apply=add\n"
                         "  w = f32[37,{0}]{{1,0}} broadcast(s), dimensions={{}}\n  q = f32[37,{0}]{{1,0}} subtract(p0, w)\n"
                         "  ROOT r = (f32[], f32[37,{0}]{{1,0}}) tuple(s, q)",
                         n));
}

TEST_P(Rows, SumsOfSumsAreNormalised) {
  const int64_t n = GetParam();
  check_once(fmt::format("f32[6,5,{}]{{2,1,0}}", n),
             fmt::format("  z = f32[] constant(0)\n  m = f32[6,5]{{1,0}} reduce(p0, z), dimensions={{2}}, to_apply=add\n"
                         "  w = f32[6,5,{0}]{{2,1,0}} broadcast(m), dimensions={{0,1}}\n  c = f32[6,5,{0}]{{2,1,0}} subtract(p0, w)\n"
                         "  q = f32[6,5,{0}]{{2,1,0}} multiply(c, c)\n"
                         "  v = f32[6,5]{{1,0}} reduce(q, z), dimensions={{2}}, to_apply=add\n"
                         "  u = f32[6,5,{0}]{{2,1,0}} broadcast(v), dimensions={{0,1}}\n  o = f32[6,5,{0}]{{2,1,0}} divide(c, u)\n"
                         "  ROOT r = (f32[6,5,{0}]{{2,1,0}}, f32[6,5]{{1,0}}, f32[6,5]{{1,0}}) tuple(o, m, v)",
                         n));
}

INSTANTIATE_TEST_SUITE_P(Once, Rows, testing::Values(1, 2, 10, 16, 37, 301), testing::PrintToStringParamName());

/// The map lies in another order than the nest of the sums: it has its own, and both read the operands once.
TEST(Once, SumsThatAMapNeedsAreReadTogether) {
  const std::string text =
      fused("f32[6,32,5,7]{1,3,2,0};f32[6,32,5,7]{1,3,2,0}",
            "  z = f32[] constant(0)\n  m = f32[6,32,5,7]{1,3,2,0} multiply(p0, p1)\n"
            "  s = f32[32]{0} reduce(p0, z), dimensions={0,2,3}, to_apply=add\n"
            "  t = f32[32]{0} reduce(m, z), dimensions={0,2,3}, to_apply=add\n  l = f32[32]{0} negate(t)\n"
            "  u = f32[6,32,5,7]{1,3,2,0} broadcast(s), dimensions={1}\n  w = f32[6,32,5,7]{1,3,2,0} broadcast(l), dimensions={1}\n"
            "  c = f32[6,32,5,7]{1,3,2,0} subtract(p0, u)\n  d = f32[6,32,5,7]{1,3,2,0} multiply(p1, w)\n"
            "  q = f32[6,32,5,7]{1,3,2,0} add(c, d)\n"
            "  ROOT r = (f32[6,32,5,7]{1,3,2,0}, f32[32]{0}, f32[32]{0}) tuple(q, l, s)");
  check(text);
  const auto lowered = lowered_of(text);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  for (const int operand : {0, 1}) EXPECT_EQ(times_read(*lowered, operand), 2) << print(*lowered);
}

/// The second sum needs the first: each is made once, in memory, and read by the map and by the results.
TEST(Once, SumsOfSumsThatAMapNeedsAreMadeOnce) {
  const std::string text =
      fused("f32[6,32,5,7]{1,3,2,0}",
            "  z = f32[] constant(0)\n  s = f32[32]{0} reduce(p0, z), dimensions={0,2,3}, to_apply=add\n"
            "  u = f32[6,32,5,7]{1,3,2,0} broadcast(s), dimensions={1}\n  c = f32[6,32,5,7]{1,3,2,0} subtract(p0, u)\n"
            "  m = f32[6,32,5,7]{1,3,2,0} multiply(c, c)\n  t = f32[32]{0} reduce(m, z), dimensions={0,2,3}, to_apply=add\n"
            "  w = f32[6,32,5,7]{1,3,2,0} broadcast(t), dimensions={1}\n  q = f32[6,32,5,7]{1,3,2,0} divide(c, w)\n"
            "  l = f32[32]{0} negate(s)\n"
            "  ROOT r = (f32[6,32,5,7]{1,3,2,0}, f32[32]{0}, f32[32]{0}) tuple(q, l, t)");
  check(text);
  const auto lowered = lowered_of(text);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  EXPECT_EQ(times_read(*lowered, 0), 3) << print(*lowered);
}

/// Row i of the map needs the sum of row j: none of the nest's.
TEST(Once, AMapReadsTheSumsOfOtherRows) {
  check_once("f32[37,37]{1,0}",
             "  z = f32[] constant(0)\n  s = f32[37]{0} reduce(p0, z), dimensions={1}, to_apply=add\n"
             "  w = f32[37,37]{1,0} broadcast(s), dimensions={1}\n  q = f32[37,37]{1,0} subtract(p0, w)\n"
             "  ROOT r = (f32[37]{0}, f32[37,37]{1,0}) tuple(s, q)");
}

TEST(Once, AMapOfAsManyElementsInOtherRows) {
  check_once("f32[12,10]{1,0}",
             "  z = f32[] constant(0)\n  s = f32[12]{0} reduce(p0, z), dimensions={1}, to_apply=add\n"
             "  t = f32[10,12]{1,0} transpose(p0), dimensions={1,0}\n  w = f32[10,12]{1,0} broadcast(s), dimensions={1}\n"
             "  q = f32[10,12]{1,0} subtract(t, w)\n  ROOT r = (f32[12]{0}, f32[10,12]{1,0}) tuple(s, q)");
}

TEST(Once, TwoReductionsOfOneAreReadTogether) {
  check_once("f32[19,23]{1,0};s32[19,23]{1,0}",
             "  z = f32[] constant(-inf)\n  o = s32[] constant(0)\n"
             "  m = (f32[19]{0}, s32[19]{0}) reduce(p0, p1, z, o), dimensions={1}, to_apply=most\n"
             "  v = f32[19]{0} get-tuple-element(m), index=0\n  i = s32[19]{0} get-tuple-element(m), index=1\n"
             "  w = f32[19,23]{1,0} broadcast(v), dimensions={0}\n  q = f32[19,23]{1,0} subtract(p0, w)\n"
             "  ROOT r = (f32[19]{0}, s32[19]{0}, f32[19,23]{1,0}) tuple(v, i, q)");
}

class FusionsOf : public testing::TestWithParam<const char*> {};

/// Updates of slices are stored beside a copy of the whole.
TEST_P(FusionsOf, StoreNoElementMoreThanTwice) {
  const auto text = base::read_file(std::string(SOURCE_DIR "/samples/") + GetParam());
  ASSERT_TRUE(text.ok()) << text.error().message;
  const auto module = importers::hlo::parse(*text, GetParam());
  ASSERT_TRUE(module.ok()) << module.error().message;
  const ir::Computation& entry = module->comp(module->entry);
  for (ir::InstrId id = 0; id < static_cast<ir::InstrId>(entry.instrs.size()); ++id) {
    const ir::Instr& instr = entry.instrs[static_cast<size_t>(id)];
    if (instr.op != ir::Op::fusion) continue;
    const auto lowered = lower(*module, {module->entry, id}, replay::Rounding::border);
    ASSERT_TRUE(lowered.ok()) << lowered.error().message;
    EXPECT_LE(largest_share_stored(*lowered), 2) << module->name_of(instr);
  }
}

INSTANTIATE_TEST_SUITE_P(Once, FusionsOf, testing::Values("bert_pretrain_step.hlo.txt", "mnist_train_step.hlo.txt"));

}  // namespace
}  // namespace kernel
