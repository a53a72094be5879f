// Runs: what is saved when, what the views make of it, and that statistics agree with the raw samples in plain SQL.
#include "src/timeline/timeline.h"
#include "tests/unit/model/fixture.h"

namespace model {
namespace {

class RunTest : public StoreTest {
 protected:
  Store open_store() {
    auto store = Store::open(path(), OpenMode::append);
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
    return *std::move(store);
  }
  /// A complete run with `passes` passes.
  void save_run(int passes) {
    Store store = open_store();
    const auto ids = store.add(imported(kProgram));
    const auto run = store.begin(tiny_run(*ids));
    ASSERT_TRUE(run.ok()) << run.error().message;
    for (int32_t pass = 0; pass < passes; ++pass)
      ASSERT_TRUE(store.add(*run, {pass, 10'000 * pass, 10'000 * pass + 9'000}, tiny_samples(pass)).ok());
    const base::Status finished = store.finish(*run, RunStatus::complete, {});
    ASSERT_TRUE(finished.ok()) << finished.error().message;
  }
};

TEST_F(RunTest, IsVisibleAsRunningAndGrowsPassByPass) {
  Store store = open_store();
  const auto ids = store.add(imported(kProgram));
  const auto run = store.begin(tiny_run(*ids));
  const auto reader = Reader::open(path());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ(ask(*reader, "SELECT status FROM run"), "running");
  for (int32_t pass = 0; pass < 3; ++pass) {
    ASSERT_TRUE(store.add(*run, {pass, 0, 1}, tiny_samples(pass)).ok());
    EXPECT_EQ(ask(*reader, "SELECT count(*) FROM sample"), std::to_string(2 * (pass + 1)));
  }
  EXPECT_EQ(ask(*reader, "SELECT count(*) FROM step_time WHERE median_ns IS NULL"), "2");
}

TEST_F(RunTest, KeepsDeviceOptionsKernelsStepsBuffersAndNotes) {
  save_run(1);
  EXPECT_EQ(ask(path(), "SELECT name, threads FROM device"), "null|1");
  EXPECT_EQ(ask(path(), "SELECT limits, name, provenance, format('%g', per_s) FROM ceiling"),
            "compute|f16×f16→f32|measured|2e+11 compute|f32×f32→f32|measured|1e+11 memory|triad|measured|1e+10");
  EXPECT_EQ(ask(path(), "SELECT name, value FROM device_detail"), "cache|1 MB");
  EXPECT_EQ(ask(path(), "SELECT name, value FROM run_option"), "rounding|border seed|1");
  EXPECT_EQ(ask(path(), "SELECT k.name, c.plain FROM kernel k JOIN content c ON c.id = k.content"),
            "fused|define void @fused() neg|define void @neg()");
  EXPECT_EQ(ask(path(), "SELECT s.name, i.name, s.worst_error IS NULL FROM step s JOIN instruction i ON i.id = s.instruction"),
            "f|f|1 n|n|1");
  EXPECT_EQ(ask(path(), "SELECT name, \"offset\", alias_of FROM buffer"), "x|NULL|NULL f|0|NULL n|64|NULL");
  EXPECT_EQ(ask(path(), "SELECT code FROM note WHERE run = 1"), "load");
  EXPECT_EQ(ask(path(), "SELECT * FROM pragma_foreign_key_check"), "");
}

TEST_F(RunTest, KeepsClocksAroundPassesAndSaysWhatSlowedThem) {
  {
    Store store = open_store();
    const auto ids = store.add(imported(kProgram));
    const auto run = store.begin(tiny_run(*ids));
    const Clocks fast{1980, 2619, 400'000, 60, 1}, slow{1005, 2619, 412'000, 71, 4 | 32}, silent{};
    ASSERT_TRUE(store.add(*run, {0, 0, 9'000, fast, fast}, tiny_samples(0)).ok());
    ASSERT_TRUE(store.add(*run, {1, 10'000, 19'000, fast, slow}, tiny_samples(1)).ok());
    ASSERT_TRUE(store.add(*run, {2, 20'000, 29'000, silent, std::nullopt}, tiny_samples(2)).ok());
    ASSERT_TRUE(store.finish(*run, RunStatus::complete, {}).ok());
  }
  EXPECT_EQ(ask(path(), "SELECT pass, moment, multiprocessor_mhz, slowed_by FROM clocks"),
            "0|after|1980|1 0|before|1980|1 1|after|1005|36 1|before|1980|1 2|before|NULL|NULL");
  EXPECT_EQ(ask(path(), "SELECT pass, pass_ns, multiprocessor_mhz, format('%g', power_w), temperature_c, slowed_by FROM throttling"),
            "0|9000|1980|400|60| 1|9000|1005|412|71|power cap, heat (driver) 2|9000|NULL|0|NULL|");
}

TEST_F(RunTest, KeepsWhatALibraryCouldHaveRun) {
  {
    Store store = open_store();
    const auto ids = store.add(imported(kProgram));
    model::Run what = tiny_run(*ids);
    what.kernels[1].trials = {{1, "engine 1", 4000.5, 10, false}, {3, "engine 38", 2000, 10, true}};
    const auto run = store.begin(what);
    ASSERT_TRUE(run.ok()) << run.error().message;
    ASSERT_TRUE(store.describe(*run, what).ok());
  }
  EXPECT_EQ(ask(path(), "SELECT kernel, rank, implementation, format('%g', median_ns), executions, chosen FROM kernel_trial"),
            "1|1|engine 1|4000.5|10|0 1|3|engine 38|2000|10|1");
}

TEST_F(RunTest, DescribedAgainReplacesWhatWasKnown) {
  Store store = open_store();
  const auto ids = store.add(imported(kProgram));
  model::Run what = tiny_run(*ids);
  const auto run = store.begin(what);
  what.steps[0].worst_error = 0.25;
  what.device.triad_bytes_per_s = 20e9;
  what.kernels.pop_back();
  ASSERT_TRUE(store.describe(*run, what).ok());
  EXPECT_EQ(ask(path(), "SELECT worst_error FROM step WHERE step = 0"), "0.250000");
  EXPECT_EQ(ask(path(),
                "SELECT (SELECT count(*) FROM device), (SELECT count(*) FROM step), (SELECT count(*) FROM kernel), (SELECT count(*) FROM "
                "note WHERE run = 1)"),
            "1|2|1|1");
  EXPECT_EQ(ask(path(), "SELECT format('%g', per_s) FROM ceiling WHERE name = 'triad'"), "2e+10");
}

TEST_F(RunTest, KernelsOfASecondRunShareTheirSource) {
  save_run(1);
  save_run(1);
  EXPECT_EQ(ask(path(), "SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM kernel), (SELECT count(*) FROM content)"), "2|4|3");
}

TEST_F(RunTest, FailsForASecondPassOfTheSameNumberAndKeepsTheFirst) {
  Store store = open_store();
  const auto ids = store.add(imported(kProgram));
  const auto run = store.begin(tiny_run(*ids));
  ASSERT_TRUE(store.add(*run, {0, 0, 1}, tiny_samples(0)).ok());
  EXPECT_FALSE(store.add(*run, {0, 0, 1}, tiny_samples(0)).ok());
  ASSERT_TRUE(store.add(*run, {1, 0, 1}, tiny_samples(1)).ok());
  EXPECT_EQ(ask(path(), "SELECT count(*) FROM pass"), "2");
}

// Quantiles by linear interpolation, the median absolute deviation: what summarize() computes, in SQL that anybody can run.
constexpr std::string_view kRecomputedSummaries = R"(
WITH value AS (SELECT run, step, variant, 1.0 * duration_ns / executions AS ns FROM sample),
ranked AS (SELECT run, step, variant, ns, row_number() OVER w - 1 AS rank, count(*) OVER (PARTITION BY run, step, variant) AS n
           FROM value WINDOW w AS (PARTITION BY run, step, variant ORDER BY ns)),
quantile AS (
  SELECT r.run, r.step, r.variant, q.p, max(r.n) AS n,
         sum(CASE WHEN r.rank = CAST(q.p * (r.n - 1) AS INTEGER) THEN r.ns * (1 - (q.p * (r.n - 1) - CAST(q.p * (r.n - 1) AS INTEGER)))
                  WHEN r.rank = CAST(q.p * (r.n - 1) AS INTEGER) + 1 THEN r.ns * (q.p * (r.n - 1) - CAST(q.p * (r.n - 1) AS INTEGER)) ELSE 0 END) AS ns
  FROM ranked r JOIN (SELECT 0.25 AS p UNION ALL SELECT 0.5 UNION ALL SELECT 0.75) q GROUP BY r.run, r.step, r.variant, q.p),
deviation AS (SELECT v.run, v.step, v.variant, abs(v.ns - m.ns) AS ns, row_number() OVER (PARTITION BY v.run, v.step, v.variant ORDER BY abs(v.ns - m.ns)) - 1 AS rank, m.n AS n
              FROM value v JOIN quantile m ON m.run = v.run AND m.step = v.step AND m.variant = v.variant AND m.p = 0.5),
mad AS (SELECT run, step, variant, avg(ns) AS ns FROM deviation WHERE rank IN ((n - 1) / 2, n / 2) GROUP BY run, step, variant)
SELECT count(*), sum(abs(s.q1_ns - a.ns) < 1e-6), sum(abs(s.median_ns - b.ns) < 1e-6), sum(abs(s.q3_ns - c.ns) < 1e-6), sum(abs(s.mad_ns - d.ns) < 1e-6), sum(s.n = b.n)
FROM step_stat s
JOIN quantile a ON a.run = s.run AND a.step = s.step AND a.variant = s.variant AND a.p = 0.25
JOIN quantile b ON b.run = s.run AND b.step = s.step AND b.variant = s.variant AND b.p = 0.5
JOIN quantile c ON c.run = s.run AND c.step = s.step AND c.variant = s.variant AND c.p = 0.75
JOIN mad d ON d.run = s.run AND d.step = s.step AND d.variant = s.variant)";

TEST_F(RunTest, StatisticsAgreeWithTheSamplesInPlainSql) {
  for (const int passes : {1, 2, 5, 10, 37}) save_run(passes);
  EXPECT_EQ(ask(path(), kRecomputedSummaries), "10|10|10|10|10|10");
}

TEST_F(RunTest, GivenStatisticsArePreferred) {
  Store store = open_store();
  const auto ids = store.add(imported(kProgram));
  const auto run = store.begin(tiny_run(*ids));
  ASSERT_TRUE(store.add(*run, {0, 0, 1}, tiny_samples(0)).ok());
  const StepStat given{1, 0, 1, 5, 1, 2, 3, 4, 1, 2, 4, "throttled"};
  ASSERT_TRUE(store.finish(*run, RunStatus::interrupted, std::span(&given, 1)).ok());
  EXPECT_EQ(ask(path(), "SELECT step, median_ns, calls, flags FROM step_stat"),
            "0|2000.000000|1.000000|few-samples 1|3.000000|5.000000|throttled");
  EXPECT_EQ(ask(path(), "SELECT status, finished_unix_ns > started_unix_ns FROM run"), "interrupted|1");
}

TEST_F(RunTest, TimelineHoldsEverySample) {
  save_run(700);
  EXPECT_EQ(ask(path(), "SELECT DISTINCT track FROM slice_level"), "0");
  EXPECT_EQ(ask(path(), "SELECT sum(length(data)) / 24, count(*) FROM slice_level WHERE level = -1"), "1400|3");
  const auto reader = Reader::open(path());
  const auto rows = reader->query("SELECT data FROM slice_level WHERE level = (SELECT max(level) FROM slice_level)");
  const auto buckets = timeline::buckets_of(std::as_bytes(std::span(rows->rows.at(0).at(0).text)));
  uint64_t count = 0;
  for (const auto& bucket : *buckets) count += bucket.count;
  EXPECT_EQ(count, 1400u);
}

TEST_F(RunTest, ViewsGiveExactNumbers) {
  save_run(5);
  // Fusion: 2020 ns, 160 B, 32 FLOP; negation: 1500 ns an execution. Roof: 10 GB/s, 100 GFLOP/s.
  EXPECT_EQ(ask(path(), "SELECT name, op, kind, median_ns, spread_percent, share_percent FROM top"),
            "f|layer_0/Exp|fusion:kInput|2020.000000|0.495050|57.386364 n|NULL|negate|1500.000000|0.000000|42.613636");
  EXPECT_EQ(
      ask(path(), "SELECT bound_by, attainable_ns, format('%.4f', gb_per_s), format('%.4f', roof_percent) FROM roofline WHERE name = 'f'"),
      "memory|16.000000|0.0792|0.7921");
  EXPECT_EQ(ask(path(), "SELECT name, parts, launches, parts_bytes, saved_bytes, saved_ns FROM fusion_cost"),
            "f|2|1|416.000000|256.000000|25.600000");
  EXPECT_EQ(ask(path(), "SELECT short_name, phase, pass_ns FROM op_time ORDER BY pass_ns DESC"),
            "layer_0/Exp|forward|1616.000000 (no metadata)||1500.000000 layer_0/Sum|backward|404.000000");
  EXPECT_EQ(ask(path(), "SELECT layer, depth, pass_ns, self_ns, forward_ns, backward_ns FROM layer_time ORDER BY layer"),
            "model|0|2020.000000|0.000000|1616.000000|404.000000 model/layer_0|1|2020.000000|2020.000000|1616.000000|404.000000");
  EXPECT_EQ(ask(path(), "SELECT class, steps, steps_percent, flops, flops_percent, bytes, share_percent FROM coverage"),
            "kernel|2|100.000000|40.000000|100.000000|224.000000|100.000000");
  EXPECT_EQ(ask(path(), "SELECT name, live_bytes FROM memory"), "f|160 n|192");
}

TEST_F(RunTest, AViewOfOneRunDoesNotSeeAnother) {
  save_run(1);
  save_run(5);
  EXPECT_EQ(ask(path(), "SELECT run, count(*), round(sum(share_percent)) FROM top GROUP BY run"), "1|2|100.000000 2|2|100.000000");
  EXPECT_EQ(ask(path(), "SELECT run, median_ns FROM top WHERE name = 'f'"), "1|2000.000000 2|2020.000000");
}

TEST_F(RunTest, ClosedStoresHaveNoFilesBesideThem) {
  save_run(3);
  EXPECT_FALSE(std::filesystem::exists(path() + "-wal"));
  EXPECT_EQ(ask(path(), "SELECT journal_mode FROM pragma_journal_mode"), "delete");
}

}  // namespace
}  // namespace model
