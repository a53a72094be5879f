// What the timeline reads and adds up, against plain SQL over the raw samples.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "src/model/store.h"
#include "tests/unit/ui/databases.h"
#include "ui/timeline_copy.h"
#include "ui/timeline_find.h"
#include "ui/timeline_memory.h"
#include "ui/timeline_run.h"

namespace ui {
namespace {

constexpr int64_t kEver = std::numeric_limits<int64_t>::max() / 2;

class TimelineData : public ::testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    auto opened = model::Reader::open(sample(GetParam()));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    reader_.emplace(*std::move(opened));
    run_ = static_cast<int64_t>(ask("SELECT max(id) FROM run"));
    auto data = read_run(*reader_, run_);
    ASSERT_TRUE(data.ok()) << data.error().message;
    steps_ = std::make_shared<const StepModel>(std::make_shared<const RunData>(*std::move(data)));
    auto timeline = read_timeline(*reader_, run_);
    ASSERT_TRUE(timeline.ok()) << timeline.error().message;
    timeline_ = *timeline;
  }
  double ask(const std::string& sql) {
    const auto rows = reader_->query(sql);
    EXPECT_TRUE(rows.ok()) << sql;
    return rows.ok() && !rows->rows.empty() ? number(rows->rows[0][0]) : std::nan("");
  }
  timeline::Window window(const TimelineLane& lane, int level, int64_t begin_ns, int64_t end_ns) {
    const auto read = read_window(*reader_, {run_, lane.track, level, begin_ns, end_ns, lane.levels});
    EXPECT_TRUE(read.ok());
    return read.ok() ? **read : timeline::Window{};
  }
  std::vector<size_t> all_lanes() const {
    std::vector<size_t> lanes(timeline_->lanes.size());
    std::iota(lanes.begin(), lanes.end(), size_t{0});
    return lanes;
  }

  std::optional<model::Reader> reader_;
  int64_t run_ = 0;
  std::shared_ptr<const StepModel> steps_;
  std::shared_ptr<const TimelineRun> timeline_;
};

TEST_P(TimelineData, EveryLevelHasTheCountAndTheTimeOfTheSamples) {
  const double count = ask(fmt::format("SELECT count(*) FROM sample WHERE run = {} AND duration_ns > 0", run_));
  const double busy = ask(fmt::format("SELECT total(duration_ns) FROM sample WHERE run = {}", run_));
  double slices = 0, slice_ns = 0, buckets = 0, bucket_ns = 0;
  for (const TimelineLane& lane : timeline_->lanes) {
    for (const timeline::Slice& slice : window(lane, timeline::kSliceLevel, 0, kEver).slices)
      ++slices, slice_ns += static_cast<double>(slice.duration_ns);
    for (int level = lane.levels.finest; level <= lane.levels.coarsest; level += 2) {
      for (const timeline::Bucket& bucket : window(lane, level, 0, kEver).buckets) {
        if (level != lane.levels.finest) continue;
        buckets += bucket.count;
        bucket_ns += bucket.busy / 65535.0 * std::ldexp(1, level);
      }
    }
  }
  EXPECT_EQ(slices, count);
  EXPECT_EQ(buckets, count);
  EXPECT_NEAR(slice_ns, busy, 1e-9 * busy);
  EXPECT_NEAR(bucket_ns, busy, 1e-3 * busy + 1);
}

TEST_P(TimelineData, AWindowHoldsWhatOverlapsIt) {
  for (const TimelineLane& lane : timeline_->lanes) {
    const timeline::Window all = window(lane, timeline::kSliceLevel, 0, kEver);
    const int64_t length = lane.end_ns - lane.begin_ns;
    for (const int64_t part : {int64_t{2}, int64_t{7}, int64_t{100}}) {
      const int64_t begin = lane.begin_ns + length / 3, end = begin + length / part;
      size_t expected = 0;
      for (const timeline::Slice& slice : all.slices)
        expected += slice.begin_ns + slice.duration_ns >= begin && slice.begin_ns <= end ? 1 : 0;
      EXPECT_EQ(window(lane, timeline::kSliceLevel, begin, end).slices.size(), expected);
    }
  }
}

TEST_P(TimelineData, TheQuestionOfAViewCoversIt) {
  if (timeline_->lanes.empty()) GTEST_SKIP() << "no lanes";
  const TimelineLane& lane = timeline_->lanes[0];
  for (double ns_per_pixel = 0.01; ns_per_pixel < 1e9; ns_per_pixel *= 3.3) {
    const timeline::Scale scale{static_cast<double>(lane.begin_ns), ns_per_pixel, 1500};
    const WindowAsk ask = ask_for(lane.levels, scale);
    EXPECT_LE(static_cast<double>(ask.begin_ns), scale.begin_ns);
    EXPECT_GE(static_cast<double>(ask.end_ns), scale.begin_ns + scale.pixels * ns_per_pixel);
    EXPECT_TRUE(ask.level == timeline::kSliceLevel || std::ldexp(1, ask.level) <= ns_per_pixel) << "a bucket is no wider than a pixel";
  }
}

TEST_P(TimelineData, ABoxAddsUpAsSqlDoes) {
  if (timeline_->lanes.empty()) GTEST_SKIP() << "no lanes";
  const int64_t length = timeline_->end_ns - timeline_->begin_ns;
  for (const int64_t part : {int64_t{1}, int64_t{3}, int64_t{50}}) {
    const int64_t a = timeline_->begin_ns + length / 5, b = a + length / part;
    const auto box = sum_box(*reader_, {steps_, timeline_}, {a, b, all_lanes(), nullptr, 0});
    ASSERT_TRUE(box.ok());
    const std::string inside =
        fmt::format("FROM sample WHERE run = {} AND duration_ns > 0 AND begin_ns < {} AND begin_ns + duration_ns > {}", run_, b, a);
    EXPECT_EQ(static_cast<double>(box->sums.count), ask("SELECT count(*) " + inside));
    EXPECT_EQ(static_cast<double>(box->steps), ask("SELECT count(DISTINCT step) " + inside));
    EXPECT_DOUBLE_EQ(box->sums.whole_ns, ask("SELECT total(duration_ns) " + inside));
    EXPECT_DOUBLE_EQ(box->sums.inside_ns,
                     ask(fmt::format("SELECT total(min(begin_ns + duration_ns, {}) - max(begin_ns, {})) ", b, a) + inside));
  }
}

TEST_P(TimelineData, ASearchFindsEverySampleOfItsSteps) {
  for (const StepQuery& query : {StepQuery{"fusion", false}, StepQuery{"FUSION|dot", true}, StepQuery{"^fusion", true}}) {
    const auto steps = match_steps(*steps_->run, query);
    ASSERT_TRUE(steps.ok());
    std::string numbers = "-1";
    for (size_t i = 0; i < steps->size(); ++i) {
      if ((*steps)[i] != 0) numbers += fmt::format(",{}", steps_->run->steps[i].step);
    }
    const auto found = find_occurrences(*reader_, {steps_, timeline_}, *steps);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(static_cast<double>((*found)->duration_ns.size()),
              ask(fmt::format("SELECT count(*) FROM sample WHERE run = {} AND duration_ns > 0 AND step IN ({})", run_, numbers)))
        << query.text;
  }
}

TEST_P(TimelineData, ACopyHasWhatIsInView) {
  const double end = static_cast<double>(timeline_->end_ns), middle = std::floor(end / 2);
  const auto happened = slices_shown(*reader_, {steps_, timeline_}, {0, middle});
  ASSERT_TRUE(happened.ok()) << happened.error().message;
  EXPECT_EQ(static_cast<double>(happened->rows.size()),
            std::min(ask(fmt::format("SELECT count(*) FROM sample WHERE run = {} AND begin_ns <= {:.0f}", run_, middle)), 1e5));
  const auto medians = slices_shown(*reader_, {steps_, nullptr}, {0, 4e18});
  ASSERT_TRUE(medians.ok()) << medians.error().message;
  double sum = 0, last = 0;
  for (const std::vector<model::Cell>& row : medians->rows) {
    EXPECT_NEAR(number(row[5]), sum, 1e-9 * sum) << "begin_ns";
    sum += number(row[6]), last = number(row[6]);
  }
  EXPECT_NEAR(sum, steps_->run->pass_ns, 1e-9 * sum);
  const auto tail = slices_shown(*reader_, {steps_, nullptr}, {sum - last / 2, 4e18});
  ASSERT_TRUE(tail.ok());
  EXPECT_EQ(tail->rows.size(), medians->rows.empty() ? 0u : 1u);
}

TEST_P(TimelineData, LiveMemoryIsThatOfTheView) {
  const auto memory = read_memory(*reader_, *steps_);
  ASSERT_TRUE(memory.ok());
  if ((*memory)->live_bytes.values().empty()) GTEST_SKIP() << "no buffers";
  EXPECT_EQ((*memory)->peak_bytes, ask(fmt::format("SELECT max(live_bytes) FROM memory WHERE run = {}", run_)));
  const auto sum = std::accumulate((*memory)->live_bytes.values().begin(), (*memory)->live_bytes.values().end(), 0.0);
  EXPECT_EQ(sum, ask(fmt::format("SELECT total(live_bytes) FROM memory WHERE run = {}", run_)));
  for (const auto& row : (*memory)->rows) {
    for (size_t i = 1; i < row.size(); ++i) EXPECT_GT(row[i].first, row[i - 1].last);
  }
}

TEST_P(TimelineData, ThePassOfMediansTakesAsLongAsItsSteps) {
  double slices = 0, groups = 0;
  for (const timeline::Slice& slice : steps_->medians.slices()) slices += static_cast<double>(slice.duration_ns);
  EXPECT_NEAR(slices, std::min(1e18, steps_->run->pass_ns), 1 + 1e-9 * slices);
  for (const StepGroups* tree : {&steps_->scopes, &steps_->phases}) {
    groups = 0;
    for (size_t node = 0; node < tree->nodes.size(); ++node) {
      const StepGroups::Node& here = tree->nodes[node];
      double parts = 0;
      for (const int32_t child : here.children) {
        parts += tree->nodes[static_cast<size_t>(child)].pass_ns;
        EXPECT_EQ(tree->child_of(static_cast<int32_t>(node), child), child);
        EXPECT_EQ(tree->nodes[static_cast<size_t>(child)].parent, static_cast<int32_t>(node));
      }
      EXPECT_LE(parts, here.pass_ns * (1 + 1e-9) + 1) << "parts are no more than the whole";
      groups = std::max(groups, here.pass_ns);
    }
    EXPECT_DOUBLE_EQ(groups, tree->nodes[0].pass_ns);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, TimelineData, ::testing::Values("mnist", "bert", "recorded", "interrupted", "no_steps"),
                         [](const auto& row) { return std::string(row.param); });

TEST(TimelineSearch, RefusesWhatTakesForever) {
  RunData run;
  run.steps.resize(1);
  run.steps[0].name = std::string(100'000, 'a');
  EXPECT_TRUE(match_steps(run, {"(a+)+b", true}).ok()) << "an automaton does not backtrack";
  for (const char* wrong : {"a{1000}{1000}", "(a)\\1", "(", "[", "*"}) {
    const auto answer = match_steps(run, {wrong, true});
    EXPECT_TRUE(!answer.ok() || std::string_view(wrong) == "*") << wrong;
  }
  EXPECT_EQ((*match_steps(run, {std::string("a\0b", 3), false}))[0], 0);
}

Occurrences places_at(std::vector<int64_t> begins) {
  std::vector<timeline::Slice> slices;
  for (const int64_t begin : begins) slices.push_back({.begin_ns = begin, .duration_ns = 1});
  Occurrences found;
  found.duration_ns.assign(begins.size(), 1);
  found.slices = timeline::Folded(std::move(slices));
  return found;
}

TEST(TimelineSearch, WalksTheRunsInOneOrderAndRoundAgain) {
  const Occurrences a = places_at({0, 20}), b = places_at({110, 120, 130});
  const std::vector<RunPlaces> runs{{&a, 0}, {nullptr, 0}, {&b, 100}};  // b in the view: 10, 20, 30
  using Order = std::vector<std::pair<double, size_t>>;
  Order forward, backward;
  FoundPlace at{2, 0, 30};
  for (int i = 0; i < 5; ++i) at = *next_place(runs, at), forward.push_back(at.order());
  EXPECT_EQ(forward, (Order{{0, 0}, {10, 2}, {20, 0}, {20, 2}, {30, 2}}));
  for (int i = 0; i < 5; ++i) at = *place_before(runs, at), backward.push_back(at.order());
  EXPECT_EQ(backward, (Order{{20, 2}, {20, 0}, {10, 2}, {0, 0}, {30, 2}}));
  EXPECT_FALSE(next_place({{RunPlaces{}}}, at));
  EXPECT_FALSE(place_before({}, at));
}

TEST(TimelineMaxima, AreThoseOfTheStretch) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<double>((i * 7919) % 1009));
  const Maxima maxima(values);
  for (size_t begin = 0; begin < 1000; begin += 37) {
    for (size_t end = begin; end <= 1000; end += 41) {
      double most = 0;
      for (size_t i = begin; i < end; ++i) most = std::max(most, values[i]);
      ASSERT_EQ(maxima.largest(begin, end), most) << begin << " " << end;
    }
  }
  EXPECT_EQ(Maxima().largest(0, 10), 0);
}

TEST(TimelineScopes, HostilePathsMakeATree) {
  RunData run;
  for (const std::string& scope :
       {std::string("a/b"), std::string("a/b/c"), std::string(100'000, '/'), std::string(), std::string("%s##\0x", 6)}) {
    run.steps.emplace_back();
    run.steps.back().step = static_cast<int32_t>(run.steps.size()) - 1;
    run.steps.back().scope = scope;
    run.steps.back().pass_ns = 10;
  }
  std::string deep;
  for (int i = 0; i < 5'000; ++i) deep += "x/";
  run.steps.emplace_back();
  run.steps.back().scope = deep;
  const StepGroups tree = group_by_scope(run);
  EXPECT_LT(tree.nodes.size(), 200u);
  EXPECT_EQ(tree.node_of.size(), run.steps.size());
  EXPECT_EQ(tree.nodes[0].steps, static_cast<int32_t>(run.steps.size()));
}

TEST(WindowCache, StaysBelowItsBound) {
  WindowCache cache;
  for (int64_t i = 0; i < 100; ++i) {
    auto window = std::make_shared<timeline::Window>();
    window->slices.resize(50'000);
    cache.keep({1, 0, timeline::kSliceLevel, i, i + 1, {}}, window);
    EXPECT_LE(cache.bytes(), WindowCache::kMostBytes);
  }
  EXPECT_NE(cache.find({1, 0, timeline::kSliceLevel, 99, 100, {}}), nullptr);
  EXPECT_EQ(cache.find({1, 0, timeline::kSliceLevel, 0, 1, {}}), nullptr);
}

}  // namespace
}  // namespace ui
