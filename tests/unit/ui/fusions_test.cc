// Fusions: sums, filters and order are computed without a window; then a person looks at them.
#include "ui/fusions_data.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>

#include "src/model/database.h"
#include "tests/unit/ui/person.h"

namespace ui {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

FusionInfo fusion(int32_t step, std::string name, std::string verdict, double measured, double modelled) {
  FusionInfo f;
  f.step = step, f.name = std::move(name), f.verdict = std::move(verdict);
  f.measured_ns = measured, f.low_ns = measured - 2, f.high_ns = measured + 2, f.modelled_ns = modelled, f.pass_ns = 10;
  return f;
}

Fusions four() {
  return summed({fusion(1, "fusion.1", "pays", 50, 40), fusion(3, "fusion.2", "costs", -7, 5), fusion(4, "fusion.3", "neutral", 1, 0),
                 fusion(9, "fusion.4", "", kNan, 30)});
}

std::vector<int32_t> steps(const Fusions& fusions, const std::vector<uint32_t>& order) {
  std::vector<int32_t> out;
  for (const uint32_t i : order) out.push_back(fusions.all[i].step);
  return out;
}

TEST(Fusions, AreSummedByVerdictAndOnlyWhereMeasured) {
  const Fusions f = four();
  EXPECT_EQ(f.measured, 3u);
  EXPECT_EQ(f.pays, 1u);
  EXPECT_EQ(f.costs, 1u);
  EXPECT_EQ(f.neutral, 1u);
  EXPECT_DOUBLE_EQ(f.measured_ns, 44);
  EXPECT_DOUBLE_EQ(f.low_ns, 38);
  EXPECT_DOUBLE_EQ(f.high_ns, 50);
  EXPECT_DOUBLE_EQ(f.cost_ns, 7);
  EXPECT_DOUBLE_EQ(f.modelled_ns, 75);
  EXPECT_DOUBLE_EQ(f.pass_ns, 40);
}

TEST(Fusions, ThatCostComeFirstWhereSavingsRise) {
  const Fusions f = four();
  FusionView view;
  view.column = fusion_column("saved_ns"), view.descending = false;
  EXPECT_EQ(steps(f, arrange_fusions(f, view)), (std::vector<int32_t>{3, 4, 1, 9}));  // what is not measured comes last
}

TEST(Fusions, AreSortedByTheirEstimatesWhereNothingWasMeasured) {
  const Fusions f = summed({fusion(1, "a", "", kNan, 40), fusion(2, "b", "", kNan, 90)});
  FusionView view;
  view.column = fusion_column("saved_ns");
  EXPECT_EQ(steps(f, arrange_fusions(f, view)), (std::vector<int32_t>{2, 1}));
}

TEST(Fusions, AreFilteredByVerdictAndWords) {
  const Fusions f = four();
  FusionView view;
  view.verdict = FusionFilter::costs;
  EXPECT_EQ(steps(f, arrange_fusions(f, view)), (std::vector<int32_t>{3}));
  view.verdict = FusionFilter::not_measured;
  EXPECT_EQ(steps(f, arrange_fusions(f, view)), (std::vector<int32_t>{9}));
  view.verdict = FusionFilter::all, view.words = "FUSION.3";
  EXPECT_EQ(steps(f, arrange_fusions(f, view)), (std::vector<int32_t>{4}));
}

TEST(Fusions, AreSortedByEveryColumn) {
  const Fusions f = four();
  for (size_t column = 0; column < fusion_columns().size(); ++column) {
    FusionView view;
    view.column = static_cast<int>(column);
    const std::vector<uint32_t> order = arrange_fusions(f, view);
    EXPECT_EQ(order.size(), 4u) << fusion_columns()[column].name;
    EXPECT_EQ(rows_of(f, order).rows.size(), 4u);
  }
}

TEST(Fusions, AreFoundByStep) {
  const Fusions f = four();
  ASSERT_NE(f.find(9), nullptr);
  EXPECT_EQ(f.find(9)->name, "fusion.4");
  EXPECT_EQ(f.find(2), nullptr);
}

TEST(FusionText, IsCutAtTheEndOfALineAndSaysHowMuchIsLeftOut) {
  const ShownText shown = shown_text("first line\nsecond line\nthird", 15);
  EXPECT_EQ(shown.text, "first line\n");
  EXPECT_EQ(shown.cut_bytes, 17u);
  EXPECT_EQ(shown_text(std::string(100, 'x'), 10).text.size(), 10u);
  EXPECT_EQ(shown_text(std::string("a\0b\tc\x1b", 6)).text, "a.b\tc.");
  EXPECT_EQ(shown_text("").cut_bytes, 0u);
}

TEST(FusionInside, HasTheInstructionsAndWhatTheyRead) {
  const auto reader = model::Reader::open(sample("bert"));
  ASSERT_TRUE(reader.ok());
  const auto fusions = read_fusions(*reader, 1);
  ASSERT_TRUE(fusions.ok()) << fusions.error().message;
  ASSERT_FALSE(fusions->all.empty());
  size_t with_edges = 0;
  for (const FusionInfo& fusion : fusions->all) {
    const auto inside = read_inside(*reader, 1, fusion.step);
    ASSERT_TRUE(inside.ok()) << inside.error().message;
    EXPECT_FALSE(inside->nodes.empty()) << fusion.name;
    EXPECT_EQ(std::ranges::count_if(inside->nodes, &FusionNode::is_root), 1) << fusion.name;
    const auto work = std::ranges::count_if(inside->nodes, [](const FusionNode& node) { return does_work(node.opcode); });
    EXPECT_EQ(static_cast<double>(work), fusion.parts) << fusion.name;
    for (const GraphEdge& edge : inside->edges) EXPECT_LT(edge.from, edge.to) << fusion.name;
    with_edges += !inside->edges.empty();
  }
  EXPECT_GT(with_edges, fusions->all.size() / 2);
}

TEST(FusionInside, OfAStepThatIsNoFusionIsEmpty) {
  const auto reader = model::Reader::open(sample("bert"));
  ASSERT_TRUE(reader.ok());
  const auto inside = read_inside(*reader, 1, 1'000'000);
  ASSERT_TRUE(inside.ok());
  EXPECT_TRUE(inside->nodes.empty());
  EXPECT_FALSE(inside->parts_timed());
}

// ---------------------------------------------------------------- with a person

TEST(FusionsPanel, SaysThatNothingWasMeasured) {
  Person person({sample("bert")});
  person.show("fusions");
  EXPECT_TRUE(person.sees("--unfused")) << screen::dump();
  EXPECT_TRUE(person.sees("modelled"));
}

TEST(FusionsPanel, SelectsTheFusionThatIsClickedAndFollowsTheSelection) {
  Person person({sample("bert")});
  person.show("fusions");
  person.press(Session::kDown);
  const int32_t first = person.session.selection().step;
  ASSERT_GE(first, 0);
  person.press(Session::kDown);
  EXPECT_NE(person.session.selection().step, first);
  const StepInfo* last = nullptr;
  for (const StepInfo& s : person.session.data()->steps) {
    if (s.opcode == "fusion") last = &s;
  }
  ASSERT_NE(last, nullptr);
  person.session.select_step(last->step);
  person.look(4);
  EXPECT_TRUE(person.sees(last->name)) << screen::dump();
}

/// BERT with measurements planted: of three fusions one pays, one is neutral, one costs, and their parts have times.
std::string measured_bert() {
  const std::string path = ::testing::TempDir() + "/profile_fusions_test" + std::to_string(::getpid()) + ".db";
  std::filesystem::copy_file(sample("bert"), path, std::filesystem::copy_options::overwrite_existing);
  auto database = model::Database::open(path, model::Database::Access::write, std::chrono::seconds(5));
  EXPECT_TRUE(database.ok());
  const base::Status planted = database->execute(
      "INSERT INTO fusion SELECT run, step, 0, 2, bytes * 2, 64, 10, '' FROM step WHERE opcode = 'fusion';"
      "INSERT INTO fusion_part SELECT s.run, s.step, p.value, 'part.' || p.value, 'add', 'kernel', 1, 100, NULL, t.median_ns * 0.6, NULL "
      "  FROM step_time s JOIN step_stat t ON t.run = s.run AND t.step = s.step, json_each('[0,1]') p WHERE s.opcode = 'fusion';"
      "INSERT INTO fusion_stat SELECT run, step, 10, median_ns, median_ns * (0.8 + step % 3 * 0.2), 0.8 + step % 3 * 0.2, "
      "  0.79 + step % 3 * 0.2, 0.81 + step % 3 * 0.2, 0.01, iif(step % 3 = 0, 'costs', iif(step % 3 = 1, 'neutral', 'pays')) "
      "  FROM step_time WHERE opcode = 'fusion';");
  EXPECT_TRUE(planted.ok()) << planted.error().message;
  return path;
}

TEST(FusionsPanel, ShowsThoseThatCostFirst) {
  const std::string path = measured_bert();
  {
    const auto reader = model::Reader::open(path);
    ASSERT_TRUE(reader.ok());
    const auto fusions = read_fusions(*reader, 1);
    ASSERT_TRUE(fusions.ok()) << fusions.error().message;
    EXPECT_EQ(fusions->measured, fusions->all.size());
    EXPECT_EQ(fusions->pays + fusions->neutral + fusions->costs, fusions->measured);
    EXPECT_GT(fusions->costs, 0u);
    Person person({path});
    person.show("fusions");
    EXPECT_TRUE(person.sees("▼ costs")) << screen::dump();
    EXPECT_FALSE(person.sees("▲ pays")) << screen::dump();
    person.press('N');
    const FusionInfo* first = fusions->find(person.session.selection().step);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->verdict, "costs");
    EXPECT_TRUE(person.sees("part.0")) << screen::dump();
    EXPECT_TRUE(person.sees("all in turn")) << screen::dump();
    person.click("▲ pay ");
    EXPECT_TRUE(person.sees("▲ pays")) << screen::dump();
    EXPECT_FALSE(person.sees("▼ costs")) << screen::dump();
    person.click("Predicted");
    EXPECT_TRUE(person.sees("measured")) << screen::dump();
  }
  std::filesystem::remove(path);
}

TEST(FusionsPanel, SaysWhyItIsEmpty) {
  Person person({sample("recorded")});
  person.show("fusions");
  EXPECT_TRUE(person.sees("no fusions")) << screen::dump();
}

}  // namespace
}  // namespace ui
