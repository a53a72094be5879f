// Calls that make sizes known or unknown must be about the array that they are given.
#include "tests/unit/plan/planned.h"

namespace replay {
namespace {

/// What is said of a call whose result is `result`.
std::string refused(const std::string& target, const std::string& result, const std::string& operand) {
  const auto module = importers::hlo::parse(
      "HloModule m\n\nENTRY main {\n  x = s32[4]{0} parameter(0)\n  n = s32[] parameter(1)\n"
      "  part = s32[<=4]{0} custom-call(x, n), custom_call_target=\"SliceToDynamic\"\n"
      "  ROOT r = " +
          result + " custom-call(" + operand + "), custom_call_target=\"" + target + "\"\n}\n",
      "m.hlo");
  if (!module.ok()) return module.error().message;
  const auto plan = make_plan(*module, {});
  return plan.ok() ? "" : plan.error().message;
}

TEST(Sizes, ResultsOfPadToStaticAreItsArrayAndAnS32ForEachDimension) {
  EXPECT_EQ(refused("PadToStatic", "(s32[4]{0}, s32[])", "part"), "");
  for (const std::string wrong : {"(s64[4]{0}, s32[])", "(s32[5]{0}, s32[])", "(s32[4]{0}, s64[])", "(s32[4]{0})", "s32[4]{0}"})
    EXPECT_NE(refused("PadToStatic", wrong, "part").find("the result is not its operand's array"), std::string::npos) << wrong;
}

TEST(Sizes, TheResultOfSliceToDynamicIsAPartOfItsOperand) {
  EXPECT_EQ(refused("SliceToDynamic", "s32[<=4]{0}", "x, n"), "");
  for (const std::string wrong : {"s64[<=4]{0}", "s32[<=5]{0}"})
    EXPECT_NE(refused("SliceToDynamic", wrong, "x, n").find("the result is no part of its operand"), std::string::npos) << wrong;
}

// Texts of 2017 sort without a comparator; of a part of an array it cannot be widened.
TEST(Sizes, ASortOfAPartNeedsItsComparator) {
  const auto module = importers::hlo::parse(
      "HloModule m\n\nENTRY main {\n  x = s32[4]{0} parameter(0)\n  n = s32[] parameter(1)\n"
      "  part = s32[<=4]{0} set-dimension-size(x, n), dimensions={0}\n  ROOT s = s32[<=4]{0} sort(part), dimensions={0}\n}\n",
      "m.hlo");
  ASSERT_TRUE(module.ok()) << module.error().message;
  const auto plan = make_plan(*module, {});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().message, "s: sort lacks its computation; try --computation NAME");
}

}  // namespace
}  // namespace replay
