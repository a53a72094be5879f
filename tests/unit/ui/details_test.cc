// Details, overview and SQL: what they show, and that it can be copied.
#include "ui/details_data.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/unit/ui/person.h"
#include "ui/sql_data.h"
#include "ui/table.h"

namespace ui {
namespace {

TEST(Facts, LeaveOutWhatIsNotKnown) {
  StepInfo step;
  step.name = "fusion.1", step.median_ns = 1500, step.flops = std::numeric_limits<double>::quiet_NaN(), step.worst_error = -1;
  RunData run;
  const std::string text = text_of(facts_of(step, run));
  EXPECT_NE(text.find("name: fusion.1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("median: 1.50 µs\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("work:"), std::string::npos) << text;
  EXPECT_EQ(text.find("worst error"), std::string::npos) << text;
}

TEST(Flags, AreCountedWithTheirShare) {
  RunData run;
  run.steps.resize(3);
  run.steps[0].flags = "too-short drifting", run.steps[0].share = 0.1;
  run.steps[1].flags = "drifting", run.steps[1].share = 0.5;
  const std::vector<FlagCount> counts = count_flags(run);
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].flag, "drifting");
  EXPECT_EQ(counts[0].steps, 2u);
  EXPECT_DOUBLE_EQ(counts[0].share, 0.6);
  EXPECT_EQ(counts[1].flag, "too-short");
}

TEST(Details, ShowTheSelectedStepAndCopyItsNumbers) {
  Person person({sample("mnist")});
  person.show("details");
  EXPECT_TRUE(person.sees("Select a step"));
  const StepInfo& step = person.session.data()->steps[10];
  person.session.select_step(step.step);
  person.look(3);
  EXPECT_TRUE(person.sees(step.name)) << screen::dump();
  person.click(step.name, Button::right);
  person.click("Copy the row");
  EXPECT_EQ(std::string(ImGui::GetClipboardText()), "name: " + step.name);
}

TEST(Details, OfAFusionNameAllThatIsKnownOfIt) {
  Person person({sample("fused")}, 1280, 1600);
  person.show("details");
  const auto& steps = person.session.data()->steps;
  const auto fusion = std::ranges::find_if(steps, [](const StepInfo& s) { return s.opcode == "fusion" && s.flops > 0; });
  ASSERT_NE(fusion, steps.end());
  person.session.select_step(fusion->step);
  person.look(4);
  for (const char* what :
       {"median", "in a pass",   "fastest",         "lower quartile", "spread (MAD)", "interval from", "samples",
        "work",   "traffic",     "saved by fusing", "of the roof",    "bound by",     "key",           "Reads and is read by",
        "Code",   "launched by", "Timeline",        "Fusion",         "Roofline",     "Graph",         "Memory"})
    EXPECT_TRUE(person.sees(what)) << what << "\n" << screen::dump();
  person.click("Fusion");
  EXPECT_EQ(person.session.selection().step, fusion->step);
  EXPECT_NE(print(person.shell.layout()).find("fusions*"), std::string::npos) << "its panel is in front";
}

TEST(Details, CopyAsATableAndAsSql) {
  Person person({sample("mnist")});
  person.show("details");
  const StepInfo& step = person.session.data()->steps[10];
  person.session.select_step(step.step);
  person.look(3);
  person.click("Copy");
  person.click("CSV");
  const std::string csv = ImGui::GetClipboardText();
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "group,name,value,digits");
  EXPECT_NE(csv.find("Step,name," + step.name), std::string::npos) << csv;
  person.click("Copy");
  person.click("SQL");
  EXPECT_NE(std::string(ImGui::GetClipboardText()).find("SELECT"), std::string::npos);
}

TEST(Details, GoToTheNextStep) {
  Person person({sample("mnist")});
  person.show("details");
  person.session.select_step(10);
  person.press('N');
  EXPECT_EQ(person.session.selection().step, 11);
  person.press('N', {.shift = true});
  EXPECT_EQ(person.session.selection().step, 10);
  person.session.select_step(0);
  person.press('N', {.shift = true});
  EXPECT_LE(person.session.selection().step, 0);
}

TEST(Overview, TellsWhatRan) {
  Person person({sample("mnist")});
  person.show("overview");
  EXPECT_TRUE(person.sees("What ran, by class")) << screen::dump();
  EXPECT_TRUE(person.sees("null"));
}

TEST(Overview, CopiesEachOfItsReports) {
  Person person({sample("mnist")});
  person.show("overview");
  for (const char* report : {"findings", "coverage", "notes"}) {
    person.click("Copy");
    person.click(std::string("Report ") + report + ", CSV");
    person.look(2);
    EXPECT_EQ(person.session.message, std::string("copied the report ") + report + " as CSV");
    EXPECT_NE(std::string(ImGui::GetClipboardText()).find(','), std::string::npos);
  }
}

TEST(Overview, SaysSettingsInWords) {
  Person person({sample("mnist")});
  person.show("overview");
  EXPECT_TRUE(person.sees("budget")) << screen::dump();
  for (const screen::Word& word : screen::words()) {
    EXPECT_EQ(word.text.find("budget_s"), std::string::npos) << word.text;
    EXPECT_EQ(word.text.find("link_gbps"), std::string::npos) << word.text;
  }
}

TEST(SqlPanel, RunsAQueryAndShowsItsRows) {
  Person person({sample("mnist")});
  person.show("sql");
  person.click("Run");
  EXPECT_TRUE(person.sees("rows in")) << screen::dump();
  person.click("chart");
  EXPECT_FALSE(screen::words().empty());
}

TEST(SqlPanel, HasAMenuOfColumnsThatAreCalledTheSame) {
  Person person({sample("mnist")});
  person.show("sql");
  person.click("SELECT");
  person.press('A', {.ctrl = true});
  person.type("SELECT 1 AS twice, 2 AS twice");
  person.press(Session::kEnter, {.ctrl = true});
  person.look(3);
  person.click("twice", Button::right);
  EXPECT_TRUE(person.sees("Size all columns to fit")) << screen::dump();
}

TEST(SqlPanel, ShowsTheSchema) {
  Person person({sample("mnist")});
  person.show("sql");
  EXPECT_TRUE(person.sees("step_time") || person.sees("coverage")) << screen::dump();
}

model::Reader reader_of(std::string_view name) {
  auto reader = model::Reader::open(sample(name));
  EXPECT_TRUE(reader.ok());
  return *std::move(reader);
}

TEST(Sql, StopsAtItsLimit) {
  const model::Reader reader = reader_of("mnist");
  const auto answer = run_sql(reader, "SELECT step FROM step WHERE run = ?1 ORDER BY step", 1, 3);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->rows->rows.size(), 3u);
  EXPECT_TRUE(answer->more);
  const auto all = run_sql(reader, "SELECT 1 AS x UNION SELECT 2 UNION SELECT 3", 1, 3);
  ASSERT_TRUE(all.ok());
  EXPECT_FALSE(all->more);
}

TEST(Sql, SaysWhereItIsWrongAndDoesNotWrite) {
  const model::Reader reader = reader_of("mnist");
  const auto wrong = run_sql(reader, "SELECT step\nFROM stp", 1, 10);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(place_of("SQL:2:6: no such table"), (std::pair{2, 6}));
  EXPECT_EQ(place_of("SQL: too long"), (std::pair{0, 0}));
  EXPECT_FALSE(run_sql(reader, "DELETE FROM step", 1, 10).ok());
}

TEST(Sql, FindsTheWordThatAnErrorNames) {
  constexpr std::string_view kText = "SELECT a,\n  stp.b FROM c";
  EXPECT_EQ(word_at(kText, {2, 3}), (std::pair{12, 15}));
  EXPECT_EQ(word_at(kText, {1, 9}), (std::pair{8, 9}));  // a comma
  for (const std::pair<int, int>& nowhere : {std::pair{0, 0}, {3, 1}, {2, 999}, {-1, 5}})
    EXPECT_EQ(word_at(kText, nowhere), (std::pair{0, 0}));
}

TEST(SqlPanel, SelectsTheWordThatAnErrorNames) {
  Person person({sample("mnist")});
  person.show("sql");
  person.click("SELECT");
  person.press('A', {.ctrl = true});
  person.type("SELECT stp FROM step");
  person.press(Session::kEnter, {.ctrl = true});
  person.look(4);
  EXPECT_TRUE(person.sees("line 1, column 8")) << screen::dump();
  person.type("step");  // in place of what is wrong
  person.press(Session::kEnter, {.ctrl = true});
  person.look(4);
  EXPECT_TRUE(person.sees("SELECT step FROM step")) << screen::dump();
  EXPECT_TRUE(person.sees("rows in")) << screen::dump();
}

TEST(SqlPanel, TakesATab) {
  Person person({sample("mnist")});
  person.show("sql");
  person.click("SELECT");
  person.press('A', {.ctrl = true});
  person.type("SELECT");
  person.press(Session::kTab);
  person.type("7 * 6");
  EXPECT_TRUE(person.sees("SELECT\t7 * 6")) << screen::dump();
}

TEST(RowTable, SortsNumbersAsNumbersAndNullLast) {
  using Kind = model::Cell::Kind;
  const model::Rows rows{{"x"}, {{{Kind::integer, 10, 0, {}}}, {{Kind::null, 0, 0, {}}}, {{Kind::real, 0, 9.5, {}}}}};
  EXPECT_EQ(sorted_rows(rows, {0, true}), (std::vector<int>{0, 2, 1}));
  EXPECT_EQ(sorted_rows(rows, {0, false}), (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(sorted_rows(rows, {}), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(sorted_rows(rows, {7, true}), (std::vector<int>{0, 1, 2}));
}

TEST(Sql, IsInterrupted) {
  Loader loader(sample("mnist"), Loader::Mode::worker);
  Latest<SqlAnswer> answer;
  answer.want(loader, "endless", [](const model::Reader& reader) {
    return run_sql(reader, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n", 1, 10);
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (answer.waiting() && std::chrono::steady_clock::now() < end) {
    loader.interrupt();  // again until it has begun
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_FALSE(answer.waiting());
  EXPECT_NE(answer.error(), nullptr);
}

TEST(Sql, FindsColumnsOfNumbers) {
  const model::Reader reader = reader_of("mnist");
  const auto answer = run_sql(reader, "SELECT 'a' AS t, 1 AS i, 2.5 AS r, NULL AS n UNION ALL SELECT 'b', NULL, 'x', NULL", 1, 10);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(number_columns(*answer->rows), std::vector<int>{1});
}

}  // namespace
}  // namespace ui
