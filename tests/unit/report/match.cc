// Which step is which: one rule a case, and a million steps in a second or two.
#include "src/report/match.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

namespace report {
namespace {

Identity step(std::string key, std::string name, std::string opcode = "fusion", std::string shape = "f32[8]") {
  return {std::move(key), std::move(name), "main", std::move(opcode), "", std::move(shape)};
}

/// "0:key 2:neighbours -": the partner of each step of `after`.
std::string show(const std::vector<Match>& matches) {
  std::string out;
  for (const Match& m : matches) {
    if (!out.empty()) out += " ";
    out += m.before < 0 ? "-" : fmt::format("{}:{}", m.before, text(m.by));
  }
  return out;
}

std::string matched(const std::vector<Identity>& before, const std::vector<Identity>& after) { return show(match(before, after)); }

TEST(Match, ByKeyThroughRenamesAndAnotherOrder) {
  EXPECT_EQ(matched({step("k1", "a"), step("k2", "b")}, {step("k2", "x"), step("k1", "y")}), "1:key 0:key");
}

TEST(Match, OfEqualKeysTheOnesWithTheSameNameGoTogether) {
  EXPECT_EQ(matched({step("k", "layer_0"), step("k", "layer_1")}, {step("k", "layer_1"), step("k", "layer_0")}), "1:key 0:key");
  EXPECT_EQ(matched({step("k", "a"), step("k", "b"), step("k", "c")}, {step("k", "c"), step("k", "z")}), "2:key 0:key");
}

TEST(Match, ByNameWhereTheKeyChanged) {
  EXPECT_EQ(matched({step("k1", "a"), step("k2", "b")}, {step("k1", "a"), step("k9", "b")}), "0:key 1:name");
  EXPECT_EQ(matched({step("", "a")}, {step("", "a")}), "0:name");
}

TEST(Match, ANameWithAnotherShapeIsSaidToBeOne) {
  EXPECT_EQ(matched({step("k1", "a")}, {step("k2", "a", "fusion", "f32[16]")}), "0:name, other shape");
}

TEST(Match, ANameOfAnotherOpcodeIsAnotherStep) { EXPECT_EQ(matched({step("k1", "a")}, {step("k2", "a", "dot")}), "-"); }

TEST(Match, TheSameComputationComesFirst) {
  Identity inner = step("", "add.1"), outer = inner;
  inner.computation = "body";
  EXPECT_EQ(matched({inner, outer}, {outer, inner}), "1:name 0:name");
  Identity renamed = outer;
  renamed.computation = "main.7";
  EXPECT_EQ(matched({outer}, {renamed}), "0:name");
}

TEST(Match, ByPlaceBetweenMatchedSteps) {
  EXPECT_EQ(matched({step("k1", "a"), step("k2", "b", "dot"), step("k3", "c", "add"), step("k4", "d")},
                    {step("k1", "a"), step("k7", "x", "dot"), step("k8", "y", "add"), step("k4", "d")}),
            "0:key 1:neighbours 2:neighbours 3:key");
}

TEST(Match, APlaceBeforeTheFirstMatchedStepIsAPlaceToo) {
  EXPECT_EQ(matched({step("k1", "a", "dot"), step("k2", "b")}, {step("k9", "x", "dot"), step("k2", "b")}), "0:neighbours 1:key");
}

TEST(Match, ByTheStepAfterWhereTheOneBeforeIsNew) {
  EXPECT_EQ(matched({step("k0", "s"), step("k1", "a", "dot"), step("k2", "b")},
                    {step("k0", "s"), step("k9", "x", "copy"), step("k8", "y", "dot"), step("k2", "b")}),
            "0:key - 1:neighbours 2:key");
}

TEST(Match, AnotherPlaceOrShapeIsNoMatch) {
  EXPECT_EQ(matched({step("k1", "a", "dot"), step("k2", "b"), step("k3", "c")}, {step("k2", "b"), step("k9", "x", "dot"), step("k3", "c")}),
            "1:key - 2:key");
  EXPECT_EQ(matched({step("k2", "b"), step("k1", "a", "dot")}, {step("k2", "b"), step("k9", "x", "dot", "f32[9]")}), "0:key -");
}

TEST(Match, ProgramsWithNothingInCommonHaveNoNeighbours) {
  EXPECT_EQ(matched({step("k1", "a"), step("k2", "b")}, {step("k3", "x"), step("k4", "y")}), "- -");
}

TEST(Match, NoStepsAtAll) {
  EXPECT_EQ(matched({}, {}), "");
  EXPECT_EQ(matched({step("k", "a")}, {}), "");
  EXPECT_EQ(matched({}, {step("k", "a")}), "-");
}

TEST(Match, NobodyIsMatchedTwice) {
  std::vector<Identity> before, after;
  for (int i = 0; i < 200; ++i) before.push_back(step(fmt::format("k{}", i % 7), fmt::format("n{}", i % 11), i % 3 ? "add" : "dot"));
  for (int i = 0; i < 150; ++i) after.push_back(step(fmt::format("k{}", i % 5), fmt::format("n{}", i % 13), i % 2 ? "add" : "dot"));
  std::vector<int> uses(before.size());
  for (const Match& m : match(before, after)) {
    if (m.before >= 0) ++uses[static_cast<size_t>(m.before)];
  }
  EXPECT_LE(*std::ranges::max_element(uses), 1);
}

/// Half by key, a quarter by name, a quarter by place; all keys of a layer equal, as in a deep model.
TEST(Match, AMillionSteps) {
  constexpr int kSteps = 1'000'000;
  std::vector<Identity> before, after;
  for (int i = 0; i < kSteps; ++i) {
    const bool by_key = i % 4 < 2, by_name = i % 4 == 2;
    before.push_back(step(by_key ? fmt::format("k{}", i % 1000) : "b" + std::to_string(i), fmt::format("before.{}", i)));
    after.push_back(
        step(by_key ? fmt::format("k{}", i % 1000) : "a" + std::to_string(i), fmt::format("{}.{}", by_name ? "before" : "after", i)));
  }
  const std::clock_t begin = std::clock();  // of this process: other programs do not count
  const std::vector<Match> matches = match(before, after);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  for (int i = 0; i < kSteps; ++i) ASSERT_EQ(matches[static_cast<size_t>(i)].before, i) << i;
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 20) << "not linear any more?";
}

}  // namespace
}  // namespace report
