// The layered drawing of graphs, and the panel that shows a program's.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "tests/unit/ui/person.h"
#include "ui/graph_data.h"
#include "ui/graph_layout.h"

namespace ui {
namespace {

constexpr LayoutGaps kGaps{10, 20};

std::vector<NodeSize> boxes(size_t n) { return std::vector<NodeSize>(n, {40, 12}); }

void expect_no_overlap(const Layout& drawn, std::span<const NodeSize> sizes) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Placed& a = drawn.nodes[i];
    EXPECT_GE(a.x - sizes[i].width / 2, -0.01);
    EXPECT_LE(a.x + sizes[i].width / 2, drawn.width + 0.01);
    EXPECT_LE(a.y + sizes[i].height / 2, drawn.height + 0.01);
    for (size_t j = i + 1; j < sizes.size(); ++j) {
      const Placed& b = drawn.nodes[j];
      if (a.level == b.level) {
        EXPECT_GE(std::abs(a.x - b.x) + 0.01, (sizes[i].width + sizes[j].width) / 2 + kGaps.between);
      }
    }
  }
}

TEST(GraphLayout, LevelsAreLongestPathsAndReadersStandBelow) {
  const GraphEdge edges[] = {{0, 1}, {1, 2}, {0, 2}, {2, 3}};
  const Layout drawn = layout(boxes(4), edges, kGaps);
  EXPECT_EQ(drawn.nodes[0].level, 0);
  EXPECT_EQ(drawn.nodes[1].level, 1);
  EXPECT_EQ(drawn.nodes[2].level, 2);
  EXPECT_EQ(drawn.nodes[3].level, 3);
  ASSERT_EQ(drawn.routes.size(), 4u);
  for (const Route& route : drawn.routes) {
    EXPECT_LT(drawn.nodes[route.edge.from].y, drawn.nodes[route.edge.to].y);
    EXPECT_EQ(route.points.size() % 2, 0u);
    EXPECT_FLOAT_EQ(route.points.front().y, drawn.nodes[route.edge.from].y + 6);
    EXPECT_FLOAT_EQ(route.points.back().y, drawn.nodes[route.edge.to].y - 6);
  }
}

TEST(GraphLayout, AnEdgeThatPassesALevelGoesBesideItsBoxes) {
  const GraphEdge edges[] = {{0, 1}, {1, 2}, {0, 2}};
  const auto sizes = boxes(3);
  const Layout drawn = layout(sizes, edges, kGaps);
  const auto passing = std::ranges::find(drawn.routes, GraphEdge{0, 2}, &Route::edge);
  ASSERT_NE(passing, drawn.routes.end());
  ASSERT_EQ(passing->points.size(), 4u);
  EXPECT_GT(std::abs(passing->points[1].x - drawn.nodes[1].x), sizes[1].width / 2) << "through the box";
}

TEST(GraphLayout, OrdersLevelsSoThatNothingCrossesThatNeedNot) {
  // Two rows of five, joined in reverse.
  std::vector<GraphEdge> edges;
  for (uint32_t i = 0; i < 5; ++i) edges.push_back({i, 9 - i});
  EXPECT_EQ(crossings(layout(boxes(10), edges, kGaps)), 0u);
}

TEST(GraphLayout, AnOperandStandsAboveItsFirstReaderNotAtTheTop) {
  const GraphEdge edges[] = {{0, 1}, {1, 2}, {2, 3}, {4, 3}};
  EXPECT_EQ(layout(boxes(5), edges, kGaps).nodes[4].level, 2);
}

TEST(GraphLayout, TakesCyclesLoopsDoublesAndWrongEdges) {
  const GraphEdge edges[] = {{0, 1}, {1, 2}, {2, 1}, {2, 2}, {0, 1}, {7, 1}, {1, 700}, {2, 3}};
  const auto sizes = boxes(4);
  const Layout drawn = layout(sizes, edges, kGaps);
  ASSERT_EQ(drawn.nodes.size(), 4u);
  expect_no_overlap(drawn, sizes);
  for (const Route& route : drawn.routes) EXPECT_LT(drawn.nodes[route.edge.from].level, drawn.nodes[route.edge.to].level);
  EXPECT_TRUE(layout({}, edges, kGaps).nodes.empty());
}

TEST(GraphLayout, BoxesOfRandomGraphsNeverOverlap) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 30; ++trial) {
    const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
    const uint32_t n = 2 + below(60);
    std::vector<NodeSize> sizes;
    for (uint32_t i = 0; i < n; ++i) sizes.push_back({static_cast<float>(10 + below(90)), static_cast<float>(8 + below(30))});
    std::vector<GraphEdge> edges;
    for (uint32_t i = 0; i < n * 2; ++i) {
      const uint32_t a = below(n), b = below(n);
      edges.push_back({std::min(a, b), std::max(a, b)});
    }
    expect_no_overlap(layout(sizes, edges, kGaps), sizes);
  }
}

TEST(Neighbourhood, IsWhatIsReachedInTheHopsEitherWay) {
  const GraphEdge edges[] = {{0, 1}, {1, 2}, {2, 3}, {4, 2}, {5, 4}};
  const std::vector<double> weights(6, 1);
  const Neighbourhood near = neighbourhood(weights, edges, 2, 1, 60);
  EXPECT_EQ(std::set<uint32_t>(near.nodes.begin(), near.nodes.end()), (std::set<uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(near.nodes[0], 2u);
  EXPECT_EQ(near.left_out, 0u);
  EXPECT_EQ(neighbourhood(weights, edges, 2, 2, 60).nodes.size(), 6u);
  EXPECT_TRUE(neighbourhood(weights, edges, 77, 2, 60).nodes.empty());
}

TEST(Neighbourhood, KeepsTheHeaviestAndCountsTheRest) {
  std::vector<GraphEdge> edges;
  std::vector<double> weights = {0};
  for (uint32_t i = 1; i <= 1000; ++i) edges.push_back({0, i}), weights.push_back(i == 500 ? 9 : i == 7 ? std::nan("") : 1);
  const Neighbourhood near = neighbourhood(weights, edges, 0, 1, 10);
  EXPECT_EQ(near.nodes.size(), 10u);
  EXPECT_EQ(near.nodes[1], 500u);
  EXPECT_EQ(near.left_out, 991u);
}

// --- what is read of a program

struct Opened {
  base::Result<model::Reader> reader;
  std::shared_ptr<const RunData> run;
};
Opened opened(const char* name) {
  auto reader = model::Reader::open(sample(name));
  EXPECT_TRUE(reader.ok());
  auto run = read_run(*reader, 1);
  EXPECT_TRUE(run.ok());
  return {std::move(reader), std::make_shared<const RunData>(*std::move(run))};
}

const StepInfo* fusion_of(const RunData& run) {
  const auto found = std::ranges::find(run.steps, "fusion", &StepInfo::opcode);
  return found == run.steps.end() ? nullptr : &*found;
}

TEST(ProgramGraph, HoldsOperandsAndUsersOfTheInstruction) {
  const Opened open = opened("mnist");
  const StepInfo* step = fusion_of(*open.run);
  ASSERT_NE(step, nullptr);
  const auto graph = read_graph(*open.reader, open.run, {GraphAsk::What::near, step->instruction, 1});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->nodes[graph->centre].name, step->name);
  EXPECT_EQ(graph->nodes[graph->centre].calls.size(), 1u);
  for (const GraphEdge& edge : graph->edges) {
    EXPECT_LT(graph->nodes[edge.from].instruction, graph->nodes[edge.to].instruction) << "operands come before their readers";
  }
  for (uint32_t i = 1; i < graph->nodes.size(); ++i) {
    EXPECT_TRUE(std::ranges::any_of(
        graph->edges, [&](const GraphEdge& e) { return (e.from == i && e.to == graph->centre) || (e.to == i && e.from == graph->centre); }))
        << graph->nodes[i].name << " is a hop away";
  }
  const auto wider = read_graph(*open.reader, open.run, {GraphAsk::What::near, step->instruction, 3});
  ASSERT_TRUE(wider.ok());
  EXPECT_GT(wider->nodes.size(), graph->nodes.size());
  EXPECT_LE(wider->nodes.size(), kMostBoxes);
}

TEST(ProgramGraph, OfABodyHasItsRootAndParameters) {
  const Opened open = opened("mnist");
  const StepInfo* step = fusion_of(*open.run);
  const auto near = read_graph(*open.reader, open.run, {GraphAsk::What::near, step->instruction, 1});
  const auto body = read_graph(*open.reader, open.run, {GraphAsk::What::body, near->nodes[0].calls[0].computation, 0});
  ASSERT_TRUE(body.ok()) << body.error().message;
  EXPECT_TRUE(body->nodes[body->centre].root);
  EXPECT_TRUE(std::ranges::any_of(body->nodes, [](const ProgramNode& n) { return n.opcode == "parameter"; }));
  EXPECT_EQ(graph_rows(*body).rows.size(), body->nodes.size());
}

TEST(ProgramGraph, OfABodyThatRanAsItsPartsHasTheirTimes) {
  const Opened open = opened("fused");
  const StepInfo* step = fusion_of(*open.run);
  ASSERT_NE(step, nullptr);
  const auto near = read_graph(*open.reader, open.run, {GraphAsk::What::near, step->instruction, 1});
  ASSERT_TRUE(near.ok() && !near->nodes[near->centre].calls.empty());
  const int64_t computation = near->nodes[near->centre].calls[0].computation;
  const auto body = read_graph(*open.reader, open.run, {GraphAsk::What::body, computation, 0});
  ASSERT_TRUE(body.ok()) << body.error().message;
  const auto timed = [](const ProgramNode& node) { return node.alone_ns > 0; };
  EXPECT_GT(std::ranges::count_if(body->nodes, timed), 0);
  EXPECT_GT(body->largest_ns, 0);
  const auto copied = open.reader->query(graph_sql(*body), {});
  ASSERT_TRUE(copied.ok()) << copied.error().message;
  EXPECT_EQ(copied->rows.size(), body->nodes.size());
  Person person({sample("fused")});
  person.session.select_step(step->step);
  person.show("graph");
  person.click("open");
  EXPECT_TRUE(person.sees(" alone")) << screen::dump();
}

TEST(ProgramGraph, OfWhatIsNotThereIsAnError) {
  const Opened open = opened("mnist");
  EXPECT_FALSE(read_graph(*open.reader, open.run, {GraphAsk::What::near, 1 << 30, 2}).ok());
  EXPECT_FALSE(read_graph(*open.reader, open.run, {GraphAsk::What::body, -1, 2}).ok());
}

// --- the panel

TEST(GraphPanel, AClickSelectsAndAClickTwiceWalks) {
  Person person({sample("mnist")});
  const StepInfo* step = fusion_of(*person.session.data());
  person.session.select_step(step->step);
  person.show("graph");
  ASSERT_TRUE(person.sees(step->name)) << screen::dump();
  person.press('-');
  const screen::Word* other = nullptr;
  for (const screen::Word& word : screen::words()) {
    const auto found = std::ranges::find(person.session.data()->steps, word.text, &StepInfo::name);
    if (found != person.session.data()->steps.end() && word.text != step->name && word.visible() && word.min.y > 100) other = &word;
  }
  ASSERT_NE(other, nullptr) << screen::dump();
  const std::string name = other->text;
  person.click_at(other->middle());
  ASSERT_NE(person.session.step(), nullptr);
  EXPECT_EQ(person.session.step()->name, name);
  EXPECT_TRUE(person.sees(step->name)) << "the picture stays";
  person.double_click(name);
  EXPECT_TRUE(person.sees("→")) << "the trail leads back\n" << screen::dump();
  person.press('B');
  EXPECT_FALSE(person.sees("→"));
}

TEST(GraphPanel, OpensTheBodyOfAFusion) {
  Person person({sample("mnist")});
  person.session.select_step(fusion_of(*person.session.data())->step);
  person.show("graph");
  person.press('O');
  EXPECT_TRUE(person.sees("in ")) << screen::dump();
  person.press('B');
  person.click("open");
  EXPECT_TRUE(person.sees("in "));
}

TEST(GraphPanel, ShowsTheLongestStepWhereNoneIsSelected) {
  Person person({sample("bert")});
  person.show("graph");
  EXPECT_TRUE(person.sees("instructions of")) << screen::dump();
}

TEST(GraphPanel, SaysWhyItIsEmpty) {
  Person person({sample("recorded")});
  person.show("graph");
  EXPECT_TRUE(person.sees("has no program")) << screen::dump();
}

}  // namespace
}  // namespace ui
