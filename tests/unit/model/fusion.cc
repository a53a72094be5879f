// Fusions beside their parts in the store: the view says what the raw samples say, and why where they say nothing.
#include <random>

#include "fixture.h"

namespace model {
namespace {

class FusionTest : public StoreTest {
 protected:
  /// `passes` of `rounds` comparisons each: the fusion takes about 2000 ns, its parts `ratio` times that, both with noise of 3 % and drift.
  void save(int passes, int rounds, double ratio, const FusionRecord& fusion, RunStatus status = RunStatus::complete) {
    auto store = Store::open(path(), OpenMode::append);
    const auto ids = store->add(imported(kProgram));
    model::Run described = tiny_run(*ids);
    described.fusions = {fusion};
    const auto run = store->begin(described);
    std::mt19937 random(static_cast<unsigned>(passes));
    std::normal_distribution<double> noise(1, 0.03);
    for (int32_t pass = 0; pass < passes; ++pass) {
      std::vector<Sample> samples = tiny_samples(pass);
      const double drift = 1 + 0.2 * pass / passes;
      for (const int32_t variant : {1, 2}) {
        for (int32_t round = 0; round < rounds; ++round) {
          const double ns = 2000 * drift * (variant == 1 ? ratio : 1) * noise(random);
          samples.insert(samples.end() - 1, {0, pass, variant, 10'000 * pass + 3000, static_cast<int64_t>(4 * ns), 4, round});
        }
      }
      ASSERT_TRUE(store->add(*run, {pass, 10'000 * pass, 10'000 * pass + 9000}, samples).ok());
    }
    ASSERT_TRUE(store->finish(*run, status, {}).ok());
  }
  static FusionRecord two_parts() {
    return {
        0, false, 416, 128, 32, "", {{"e", "exponential", "kernel", 0, 256, 0, 900, -1}, {"r", "reduce", "kernel", 32, 160, 1, 1200, 0.5}}};
  }
};

/// Medians of both sides and of their ratio, by pairs.
constexpr std::string_view kRecomputedCosts = R"(
WITH pair AS (
  SELECT a.run, a.step, 1.0 * a.duration_ns / a.executions AS fused, 1.0 * b.duration_ns / b.executions AS parts
  FROM sample a JOIN sample b ON b.run = a.run AND b.pass = a.pass AND b.step = a.step AND b.round = a.round AND b.variant = 1
  WHERE a.variant = 2),
place AS (
  SELECT *, parts / fused AS ratio, count(*) OVER (PARTITION BY run, step) AS n,
         row_number() OVER (PARTITION BY run, step ORDER BY fused) AS f, row_number() OVER (PARTITION BY run, step ORDER BY parts) AS p,
         row_number() OVER (PARTITION BY run, step ORDER BY parts / fused) AS r FROM pair),
middle AS (
  SELECT run, step, max(n) AS n, avg(CASE WHEN f IN ((n + 1) / 2, n / 2 + 1) THEN fused END) AS fused,
         avg(CASE WHEN p IN ((n + 1) / 2, n / 2 + 1) THEN parts END) AS parts,
         avg(CASE WHEN r IN ((n + 1) / 2, n / 2 + 1) THEN ratio END) AS ratio FROM place GROUP BY run, step)
SELECT count(*), sum(v.pairs = m.n), sum(abs(v.fused_ns - m.fused) < 1e-6), sum(abs(v.unfused_ns - m.parts) < 1e-6),
       sum(abs(v.measured_saved_ns - m.fused * (m.ratio - 1) * v.calls) < 1e-6), sum(abs(v.measured_saved_percent - 100 * (1 - 1 / m.ratio)) < 1e-9)
FROM middle m JOIN fusion_cost v ON v.run = m.run AND v.step = m.step)";

TEST_F(FusionTest, TheViewAgreesWithTheSamplesInPlainSql) {
  for (const int passes : {1, 2, 5, 10, 37}) save(passes, passes % 3 + 1, 1.3, two_parts());
  EXPECT_EQ(ask(path(), kRecomputedCosts), "5|5|5|5|5|5");
}

TEST_F(FusionTest, VerdictsComeWithTheirUncertainty) {
  save(10, 4, 1.3, two_parts());
  save(10, 4, 0.8, two_parts());
  save(10, 4, 1.0, two_parts());
  EXPECT_EQ(ask(path(),
                "SELECT verdict, p_value < 0.05, measured_saved_low_ns < measured_saved_ns AND measured_saved_ns < measured_saved_high_ns "
                "FROM fusion_cost ORDER BY run"),
            "pays|1|1 costs|1|1 neutral|0|1");
  EXPECT_EQ(ask(path(), "SELECT asked, measured, refused, pays, neutral, costs FROM fusion_total ORDER BY run"),
            "1|1|0|1|0|0 1|1|0|0|0|1 1|1|0|0|1|0");
  EXPECT_EQ(ask(path(), "SELECT part, name, opcode, class, kernel, median_ns, worst_error FROM fusion_part WHERE run = 1"),
            "0|e|exponential|kernel|0|900.000000|NULL 1|r|reduce|kernel|1|1200.000000|0.500000");
}

TEST_F(FusionTest, WithoutAMeasurementTheReasonIsTold) {
  save(3, 0, 1, two_parts(), RunStatus::interrupted);
  save(3, 0, 1, {0, false, 0, 0, 0, "its part x has no machine code", {}});
  EXPECT_EQ(ask(path(), "SELECT verdict, measured_saved_ns, why FROM fusion_cost ORDER BY run"),
            "NULL|NULL|the run ended before its parts had run NULL|NULL|its part x has no machine code");
  EXPECT_EQ(ask(path(), "SELECT asked, measured, refused FROM fusion_total ORDER BY run"), "1|0|0 1|0|1");
}

TEST_F(FusionTest, TheStepsOwnStatisticsAndLaneAreOfItsOwnSamples) {
  save(5, 2, 1.3, two_parts());
  EXPECT_EQ(ask(path(), "SELECT n, median_ns FROM step_time WHERE step = 0"), "5|2020.000000");
  EXPECT_EQ(ask(path(), "SELECT variant, n FROM step_stat WHERE step = 0"), "0|5 1|10 2|10");
  EXPECT_EQ(ask(path(), "SELECT track > 0 AS compared, sum(length(data)) / 24 FROM slice_level WHERE level = -1 GROUP BY 1"), "0|10 1|20");
}

}  // namespace
}  // namespace model
