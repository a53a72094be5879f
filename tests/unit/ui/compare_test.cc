// Two runs: the rows of report::compare as records, sorted and filtered; then a person compares a run with itself and with another.
#include "ui/compare_data.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tests/unit/ui/person.h"

namespace ui {
namespace {

ComparedStep step(std::string name, std::string verdict, double percent, double change_ns) {
  ComparedStep s;
  s.name = std::move(name), s.verdict = std::move(verdict), s.percent = percent, s.change_ns = change_ns;
  return s;
}

Compared three() {
  Compared c;
  c.steps = {step("a", "same", 1, 10), step("b", "faster", -20, -500), step("c", "slower?", 30, 100)};
  return c;
}

std::vector<std::string> names(const Compared& c, const CompareView& view) {
  std::vector<std::string> out;
  for (const uint32_t i : arrange_compared(c, view)) out.push_back(c.steps[i].name);
  return out;
}

TEST(Compared, StepsAreSortedByTheSizeOfTheirChange) {
  CompareView view;
  view.column = compare_column("change_a_pass_ns");
  EXPECT_EQ(names(three(), view), (std::vector<std::string>{"b", "c", "a"}));
  view.column = compare_column("change_percent");
  EXPECT_EQ(names(three(), view), (std::vector<std::string>{"c", "a", "b"}));
}

TEST(Compared, StepsAreFilteredByVerdictWhetherSureOrNot) {
  CompareView view;
  view.verdict = "slower";
  EXPECT_EQ(names(three(), view), (std::vector<std::string>{"c"}));
  view.verdict = "", view.words = "FASTER";
  EXPECT_EQ(names(three(), view), (std::vector<std::string>{"b"}));
}

TEST(Compared, ARunWithItselfIsTheSameAndKnowsItsSteps) {
  const auto reader = model::Reader::open(sample("mnist"));
  ASSERT_TRUE(reader.ok());
  const auto comparison = report::compare({*reader, 1}, {*reader, 1});
  ASSERT_TRUE(comparison.ok()) << comparison.error().message;
  const Compared c = compared(*comparison);
  EXPECT_EQ(c.matched, static_cast<int64_t>(c.steps.size()));
  EXPECT_EQ(c.slower + c.faster + c.fresh + c.gone, 0);
  EXPECT_TRUE(c.differences.empty());
  const auto run = read_run(*reader, 1);
  ASSERT_TRUE(run.ok());
  for (const ComparedStep& s : c.steps) {
    EXPECT_EQ(s.before_step, s.after_step);
    ASSERT_NE(run->find(s.after_step), nullptr);
    EXPECT_EQ(run->find(s.after_step)->name, s.name);
  }
}

TEST(ComparePanel, SaysThatThereIsNoOtherRun) {
  Person person({sample("mnist")});
  person.show("compare");
  EXPECT_TRUE(person.sees("no other run")) << screen::dump();
}

TEST(ComparePanel, ComparesRunsOfTwoFilesAndSelectsAStep) {
  const std::string copy = ::testing::TempDir() + "/profile_compare_test" + std::to_string(::getpid()) + ".db";
  std::filesystem::copy_file(sample("mnist"), copy, std::filesystem::copy_options::overwrite_existing);
  Person person({sample("mnist"), copy});
  person.show("compare");
  EXPECT_TRUE(person.sees("steps matched")) << screen::dump();
  person.press(Session::kDown);
  const int32_t first = person.session.selection().step;
  EXPECT_GE(first, 0);
  person.press(Session::kDown);
  EXPECT_NE(person.session.selection().step, first);
  std::filesystem::remove(copy);
}

}  // namespace
}  // namespace ui
