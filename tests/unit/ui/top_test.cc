// The table of steps: what it shows is computed without a window; then a person sorts, groups, filters and selects.
#include "ui/top_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "src/report/report.h"
#include "tests/unit/ui/person.h"

namespace ui {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

StepInfo step(int32_t id, std::string name, double pass_ns, std::string scope = "", std::string cls = "kernel") {
  StepInfo s;
  s.step = id, s.name = std::move(name), s.pass_ns = pass_ns, s.median_ns = pass_ns, s.calls = 1, s.n = 3;
  s.scope = std::move(scope), s.cls = std::move(cls);
  return s;
}

std::shared_ptr<const RunData> four_steps() {
  auto run = std::make_shared<RunData>();
  run->run = 1;
  run->steps = {step(0, "dot.1", 40, "a/b/c"), step(1, "fusion.2", 30, "a/b/d"), step(2, "copy.3", kNan, "", "copy"),
                step(5, "fusion.4", 30, "a/e")};
  for (StepInfo& s : run->steps) s.share = s.pass_ns / 100;
  run->pass_ns = 100;
  return run;
}

std::vector<std::string> names(const TopTable& table) {
  std::vector<std::string> out;
  for (const TopEntry& entry : table.entries) out.push_back(table.run->steps[entry.index].name);
  return out;
}

TEST(Top, SortsStepsWithoutATimeLastInBothDirections) {
  TopView view;
  view.column = top_column("pass_ns");
  EXPECT_EQ(names(arrange_top(four_steps(), {}, view)), (std::vector<std::string>{"dot.1", "fusion.2", "fusion.4", "copy.3"}));
  view.descending = false;
  EXPECT_EQ(names(arrange_top(four_steps(), {}, view)), (std::vector<std::string>{"fusion.2", "fusion.4", "dot.1", "copy.3"}));
}

TEST(Top, SortsEveryColumnUpAndDown) {
  for (size_t column = 0; column < top_columns().size(); ++column) {
    for (const bool descending : {false, true}) {
      TopView view;
      view.column = static_cast<int>(column), view.descending = descending;
      EXPECT_EQ(arrange_top(four_steps(), {}, view).entries.size(), 4u) << top_columns()[column].name;
    }
  }
}

TEST(Top, FiltersByAllWordsInAnyCaseAndSumsWhatIsShown) {
  TopView view;
  view.filter = " FUSION  a/b ";
  const TopTable table = arrange_top(four_steps(), {}, view);
  EXPECT_EQ(names(table), (std::vector<std::string>{"fusion.2"}));
  EXPECT_EQ(table.shown.steps, 1u);
  EXPECT_DOUBLE_EQ(table.shown.pass_ns, 30);
  EXPECT_DOUBLE_EQ(table.shown.share, 0.3);
  EXPECT_EQ(table.all.steps, 4u);
  EXPECT_DOUBLE_EQ(table.all.pass_ns, 100);
}

TEST(Top, GroupsByTheFirstPartsOfALayerAndAddsPartsOfAStepThatMeetThere) {
  const std::vector<StepShare> shares = {{0, "a/b/c", 0.25}, {0, "a/b/d", 0.25}, {0, "a/e", 0.5}, {1, "a/b/d", 1}, {5, "a/e", 1}};
  TopView view;
  view.grouping = Grouping::layer, view.depth = 2;
  const TopTable table = arrange_top(four_steps(), shares, view);
  ASSERT_EQ(table.groups.size(), 3u);
  EXPECT_EQ(table.groups[0].label, "a/b");
  EXPECT_DOUBLE_EQ(table.groups[0].totals.pass_ns, 50);
  EXPECT_EQ(table.groups[0].totals.steps, 2u);
  EXPECT_EQ(table.groups[1].label, "a/e");
  EXPECT_DOUBLE_EQ(table.groups[1].totals.pass_ns, 50);
  EXPECT_EQ(table.groups[2].label, "(no scope)");
  EXPECT_EQ(table.deepest, 3);
}

TEST(Top, LaysOutOpenGroupsAndFindsAStepInThem) {
  TopView view;
  view.grouping = Grouping::cls;
  const TopTable table = arrange_top(four_steps(), {}, view);
  TopLines lines;
  lines.lay_out(table, {});
  EXPECT_EQ(lines.count(), 2);
  EXPECT_EQ(lines.line_of(table, 5), -1);
  EXPECT_EQ(TopLines::group_of(table, 5), 0);
  lines.lay_out(table, {"kernel"});
  EXPECT_EQ(lines.count(), 5);
  EXPECT_EQ(lines.line(0).entry, -1);
  EXPECT_EQ(lines.line(4).group, 1);
  const int line = lines.line_of(table, 5);
  ASSERT_GT(line, 0);
  EXPECT_EQ(table.run->steps[table.entries[static_cast<size_t>(lines.line(line).entry)].index].step, 5);
  EXPECT_EQ(TopLines::group_of(table, 77), -1);
}

TEST(Top, OfNoStepsIsEmptyInEveryGrouping) {
  for (int g = 0; g < kGroupings; ++g) {
    TopView view;
    view.grouping = static_cast<Grouping>(g);
    const TopTable table = arrange_top(std::make_shared<RunData>(), {}, view);
    TopLines lines;
    lines.lay_out(table, {});
    EXPECT_EQ(lines.count(), 0);
  }
}

/// Sum of a column by the words of another.
std::map<std::string, double> sums_of(const model::Rows& rows, std::string_view word, std::string_view value) {
  const auto at = [&](std::string_view name) { return static_cast<size_t>(std::ranges::find(rows.columns, name) - rows.columns.begin()); };
  std::map<std::string, double> out;
  for (const auto& row : rows.rows) {
    if (std::isfinite(number(row[at(value)]))) out[row[at(word)].text] += number(row[at(value)]);
  }
  return out;
}

struct Pair {
  Grouping grouping;
  std::string_view report, word;
};

TEST(Top, GroupsHaveTheTimesOfTheReports) {
  for (const std::string_view name : {"bert", "mnist", "llama"}) {
    const auto reader = model::Reader::open(sample(name));
    ASSERT_TRUE(reader.ok());
    auto run = read_run(*reader, 1);
    ASSERT_TRUE(run.ok());
    const auto shared = std::make_shared<const RunData>(*std::move(run));
    for (const Pair& pair :
         {Pair{Grouping::op_type, "optypes", "type"}, Pair{Grouping::phase, "phases", "phase"}, Pair{Grouping::cls, "coverage", "class"}}) {
      const auto report = report::run(*reader, *report::find(pair.report), 1);
      ASSERT_TRUE(report.ok());
      const std::map<std::string, double> expected = sums_of(*report, pair.word, "pass_ns");
      const auto shares = read_step_shares(*reader, 1, pair.grouping);
      ASSERT_TRUE(shares.ok()) << shares.error().message;
      TopView view;
      view.grouping = pair.grouping;
      double outside = 0;  // of groups that the report has not: steps without an operator
      for (const TopGroup& group : arrange_top(shared, *shares, view).groups) {
        const auto found = expected.find(group.label);
        if (found == expected.end())
          outside += group.totals.pass_ns;
        else
          EXPECT_NEAR(group.totals.pass_ns, found->second, 1e-6 * found->second + 1e-3) << name << " " << group.label;
      }
      if (pair.grouping == Grouping::cls) {
        EXPECT_EQ(outside, 0);
      }
    }
  }
}

TEST(Top, GroupsByKernelAndSourceKeepTheSum) {
  const auto reader = model::Reader::open(sample("mnist"));
  ASSERT_TRUE(reader.ok());
  const auto shared = std::make_shared<const RunData>(*read_run(*reader, 1));
  for (const Grouping grouping : {Grouping::kernel, Grouping::source, Grouping::layer}) {
    const auto shares = read_step_shares(*reader, 1, grouping);
    ASSERT_TRUE(shares.ok()) << shares.error().message;
    TopView view;
    view.grouping = grouping;
    double sum = 0;
    for (const TopGroup& group : arrange_top(shared, *shares, view).groups) sum += group.totals.pass_ns;
    EXPECT_NEAR(sum, shared->pass_ns, 1e-5 * shared->pass_ns);
  }
}

TEST(Top, ReadsTheSamplesOfSeveralStepsInOneQuery) {
  const auto reader = model::Reader::open(sample("mnist"));
  ASSERT_TRUE(reader.ok());
  const auto run = read_run(*reader, 1);
  ASSERT_TRUE(run.ok());
  const int64_t passes = run->steps[0].n;
  ASSERT_GT(passes, 2);
  const auto all = read_samples(*reader, 1, {3, 1, 3}, 1);
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(all->steps, (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(static_cast<int64_t>(all->of(3).size()), passes);
  EXPECT_TRUE(all->of(2).empty());
  const auto half = read_samples(*reader, 1, {1}, 2);
  ASSERT_TRUE(half.ok());
  EXPECT_EQ(static_cast<int64_t>(half->of(1).size()), (passes + 1) / 2);
}

TEST(Top, CopiesWhatIsShown) {
  TopView view;
  view.filter = "fusion";
  const model::Rows steps = rows_of(arrange_top(four_steps(), {}, view));
  EXPECT_EQ(steps.columns.size(), top_columns().size());
  EXPECT_EQ(steps.rows.size(), 2u);
  view.grouping = Grouping::cls;
  const model::Rows groups = rows_of(arrange_top(four_steps(), {}, view));
  EXPECT_EQ(groups.columns[0], "class");
  ASSERT_EQ(groups.rows.size(), 1u);
  EXPECT_EQ(groups.rows[0][1].integer, 2);
}

TEST(Top, ShortensTheNameOfAnOperator) {
  EXPECT_EQ(short_op("model/encoder/layer_0/MatMul"), "layer_0/MatMul");
  EXPECT_EQ(short_op("a/b"), "a/b");
  EXPECT_EQ(short_op("/b"), "/b");
  EXPECT_EQ(short_op(""), "");
}

// ---------------------------------------------------------------- with a person

TEST(TopPanel, SelectsTheStepThatIsClicked) {
  Person person({sample("mnist")});
  person.show("top");
  const StepInfo& wanted = person.session.data()->steps[4];
  person.click(wanted.name);
  EXPECT_EQ(person.session.selection().step, wanted.step);
}

TEST(TopPanel, MovesTheSelectionWithTheArrows) {
  Person person({sample("mnist")});
  person.show("top");
  person.press(Session::kDown);
  const int32_t first = person.session.selection().step;
  EXPECT_GE(first, 0);
  person.press(Session::kDown);
  EXPECT_NE(person.session.selection().step, first);
  person.press(Session::kUp);
  EXPECT_EQ(person.session.selection().step, first);
}

TEST(TopPanel, FiltersWhatIsTypedAfterASlash) {
  Person person({sample("mnist")});
  person.show("top");
  person.press('/');
  person.type("no step is called so");
  EXPECT_TRUE(person.sees("0 of ")) << screen::dump();
}

TEST(TopPanel, GroupsWithG) {
  Person person({sample("mnist")});
  person.show("top");
  person.press('G');
  EXPECT_TRUE(person.sees(" groups")) << screen::dump();
  person.press(Session::kDown);
  person.press(Session::kEnter);
  EXPECT_TRUE(person.sees("▾")) << screen::dump();
}

TEST(TopPanel, ScrollsToAStepThatIsSelectedElsewhere) {
  Person person({sample("bert")});
  person.show("top");
  const StepInfo* last = nullptr;  // the shortest
  for (const StepInfo& s : person.session.data()->steps) {
    if (std::isfinite(s.pass_ns) && (last == nullptr || s.pass_ns < last->pass_ns)) last = &s;
  }
  ASSERT_NE(last, nullptr);
  person.session.select_step(last->step);
  person.look(4);
  EXPECT_TRUE(person.sees(last->name)) << screen::dump();
}

TEST(TopPanel, AndItsSiblingsTakeStrangeNamesInEveryGroupingAndOrder) {
  Person person({sample("hostile")});
  for (const char* panel : {"top", "fusions", "source", "compare"}) {
    person.show(panel);
    for (int i = 0; i < kGroupings; ++i) {
      person.press('G');
      for (const int key : {Session::kDown, Session::kEnter, Session::kDown, Session::kEnd, static_cast<int>('N'), static_cast<int>('V')})
        person.press(key);
    }
  }
}

TEST(TopPanel, CopiesACellAndARowByARightClick) {
  Person person({sample("mnist")});
  person.show("top");
  const StepInfo& wanted = person.session.data()->steps[4];
  person.click(wanted.name, Button::right);
  person.click("Copy the cell");
  EXPECT_EQ(std::string(ImGui::GetClipboardText()), wanted.name);
  person.click(wanted.name, Button::right);
  person.click("Copy the row");
  const std::string row = ImGui::GetClipboardText();
  EXPECT_EQ(row.substr(0, 8), "step,op,");
  EXPECT_NE(row.find("\n" + wanted.name + ","), std::string::npos) << row;
  EXPECT_NE(row.find("," + wanted.cls), std::string::npos) << row;
  EXPECT_LT(person.session.selection().step, 0) << "copying selects nothing";
}

TEST(TopPanel, CopiesTheReport) {
  Person person({sample("mnist")});
  person.show("top");
  person.click("Copy");
  person.click("Report, CSV");
  person.look(2);
  EXPECT_EQ(std::string(ImGui::GetClipboardText()).substr(0, 8), "step,op,");
}

}  // namespace
}  // namespace ui
