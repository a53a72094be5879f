// Labels of steps whose names begin alike can be told apart.
#include "ui/distinct.h"

#include <gtest/gtest.h>

#include <set>

#include "src/report/display.h"
#include "tests/unit/ui/databases.h"
#include "ui/roofline_data.h"

namespace ui {
namespace {

using Names = std::vector<std::string>;

Names distinct(const Names& names, size_t most) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return distinct_names(views, most);
}

TEST(Distinct, ScopesOfAllAreLeftOut) {
  EXPECT_EQ(distinct({"tower/v/conv1/Conv2D", "tower/v/conv2/Conv2D", "tower/v/gradients/tower/v/conv2/Filter"}, 36),
            (Names{"…/conv1/Conv2D", "…/conv2/Conv2D", "…/gradients/…/conv2/Filter"}));
}

// A picture from which all names go has none of the old ones.
TEST(Distinct, AreThoseOfTheNamesThatAreAsked) {
  DistinctNames texts;
  const std::vector<std::string_view> names = {"net/a", "net/b"}, others = {"other/names"};
  EXPECT_EQ(texts.of(names, 36), (Names{"…/a", "…/b"}));
  EXPECT_EQ(texts.of({}, 36), Names());
  EXPECT_EQ(texts.of(names, 36), (Names{"…/a", "…/b"}));
  EXPECT_EQ(texts.of(others, 36), Names{"other/names"});
}

TEST(Distinct, ThoseOfMostAreLeftOutWhereThereIsNoRoom) {
  EXPECT_EQ(distinct({"net/grad/conv14/conv2d/Filter", "net/grad/conv15/conv2d/Filter", "net/dense/MatMul"}, 18),
            (Names{"…/conv14/…/Filter", "…/conv15/…/Filter", "…/dense/MatMul"}));
}

TEST(Distinct, ScopesMayBeDividedByPointsAndNumbersBelongToTheirPart) {
  EXPECT_EQ(distinct({"tape.net.stage1_conv1.Filter", "tape.net.stage2_conv1.Filter.12", "tape.net.pool.MaxPool"}, 36),
            (Names{"…stage1_conv1.Filter", "…stage2_conv1.Filter.12", "…pool.MaxPool"}));
  EXPECT_EQ(distinct({"fusion.1.2", "fusion.1", "fusion"}, 36), (Names{"fusion.1.2", "fusion.1", "fusion"}));
}

TEST(Distinct, NamesWithoutScopesStayAndLongOnesAreCut) {
  EXPECT_EQ(distinct({"fusion.1", "fusion.2", "custom-call.21"}, 36), (Names{"fusion.1", "fusion.2", "custom-call.21"}));
  EXPECT_EQ(distinct({"a/b/c"}, 36), Names{"a/b/c"}) << "beside nothing else all of it is worth reading";
  EXPECT_EQ(distinct({"a/b/c", "a/b/c"}, 36), (Names{"a/b/c", "a/b/c"}));
  EXPECT_EQ(distinct({"scope/abcdefghijklmnopqrstuvwxyz"}, 9), Names{"…/ab…wxyz"});
  EXPECT_TRUE(distinct({}, 9).empty());
}

TEST(Distinct, TakesStrangeNames) {
  const Names strange = {"", "/", "//", std::string("a\0/b", 4), "\xff/\xfe", std::string(1 << 20, '/'), std::string(1 << 20, 'x') + "/y"};
  for (const std::string& label : distinct(strange, 36)) EXPECT_LE(report::display_width(label), 36u);
}

TEST(Distinct, TheLongestStepsOfTheSamplesDiffer) {
  for (const char* name : {"resnet50", "bert", "llama"}) {
    SCOPED_TRACE(name);
    const auto reader = model::Reader::open(sample(name));
    ASSERT_TRUE(reader.ok());
    const auto run = read_run(*reader, 1);
    ASSERT_TRUE(run.ok());
    std::vector<std::string_view> names;
    for (const uint32_t i : roofline_order(*run)) {
      if (names.size() < 10) names.push_back(run->steps[i].name);
    }
    const Names labels = distinct_names(names, 36);
    EXPECT_EQ(std::set(labels.begin(), labels.end()).size(), std::set(names.begin(), names.end()).size());
    std::set<std::string> begins;
    for (const std::string& label : labels) begins.insert(label.substr(0, 20));
    EXPECT_GE(begins.size(), 5u) << "they do not all begin alike";
  }
}

}  // namespace
}  // namespace ui
