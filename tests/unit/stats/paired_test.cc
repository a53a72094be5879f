// Comparisons of pairs: the tests behind verdicts against known values, and verdicts against noise with heavy tails.
#include "src/stats/paired.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

namespace stats {
namespace {

TEST(Student, AgreesWithTables) {
  EXPECT_NEAR(student_two_sided(12.7062, 1), 0.05, 1e-6);
  EXPECT_NEAR(student_two_sided(2.2281, 10), 0.05, 1e-5);
  EXPECT_NEAR(student_two_sided(-3.1693, 10), 0.01, 1e-5);
  EXPECT_NEAR(student_quantile(0.05, 4), 2.7764, 1e-4);
  EXPECT_NEAR(student_quantile(0.05, 1000), 1.9623, 1e-4);
  EXPECT_EQ(student_two_sided(0, 5), 1);
}

TEST(SignTest, CountsTails) {
  EXPECT_DOUBLE_EQ(sign_test(0, 5), 2.0 / 32);
  EXPECT_DOUBLE_EQ(sign_test(2, 10), 2.0 * (1 + 10 + 45) / 1024);
  EXPECT_EQ(sign_test(5, 10), 1);
  EXPECT_EQ(sign_test(0, 0), 1);
  EXPECT_GT(sign_test(0, 5000), -1);  // 2^-5000 is no double
}

TEST(Pairs, OfExactTimesAreCertain) {
  const std::vector<double> fused{100, 100, 100}, parts{150, 150, 150};
  const Paired pair = compare_pairs(fused, parts);
  EXPECT_EQ(pair.n, 3);
  EXPECT_EQ(pair.first_median, 100);
  EXPECT_EQ(pair.second_median, 150);
  EXPECT_EQ(pair.ratio, 1.5);
  EXPECT_DOUBLE_EQ(pair.ratio_low, 1.5);
  EXPECT_DOUBLE_EQ(pair.ratio_high, 1.5);
  EXPECT_EQ(pair.p_value, 0);
  EXPECT_EQ(compare_pairs(fused, fused).p_value, 1);
}

TEST(Pairs, OneIsNoProof) {
  const std::vector<double> fused{100}, parts{200};
  const Paired pair = compare_pairs(fused, parts);
  EXPECT_EQ(pair.ratio, 2);
  EXPECT_TRUE(std::isnan(pair.ratio_low));
  EXPECT_EQ(pair.p_value, 1);
  EXPECT_EQ(judge_pairs({{pair}})[0].verdict, PairVerdict::same);
}

TEST(Pairs, WhatSlowsBothLeavesTheRatioAlone) {
  std::vector<double> fused, parts;
  for (int i = 0; i < 20; ++i) {
    const double slow = i % 3 == 0 ? 10 : 1;
    fused.push_back(100 * slow);
    parts.push_back(120 * slow);
  }
  const Paired pair = compare_pairs(fused, parts);
  EXPECT_DOUBLE_EQ(pair.ratio, 1.2);
  EXPECT_DOUBLE_EQ(pair.ratio_low, 1.2);
  EXPECT_LT(pair.p_value, 1e-5);
}

TEST(Judged, CorrectsForTheirNumber) {
  std::vector<Paired> pairs(4);
  pairs[0] = {20, 1, 1.1, 1.1, 1, 1, 0.001};
  pairs[1] = {20, 1, 1.1, 1.1, 1, 1, 0.02};
  pairs[2] = {20, 1, 0.9, 0.9, 1, 1, 0.04};
  pairs[3] = {20, 1, 1.1, 1.1, 1, 1, 0.5};
  const std::vector<Judged> judged = judge_pairs(pairs);  // p · 4 / rank, not above what follows
  EXPECT_DOUBLE_EQ(judged[0].p_value, 0.004);
  EXPECT_DOUBLE_EQ(judged[1].p_value, 0.04);
  EXPECT_DOUBLE_EQ(judged[2].p_value, 0.04 * 4 / 3);
  EXPECT_DOUBLE_EQ(judged[3].p_value, 0.5);
  EXPECT_EQ(judged[0].verdict, PairVerdict::second_slower);
  EXPECT_EQ(judged[1].verdict, PairVerdict::second_slower);
  EXPECT_EQ(judged[2].verdict, PairVerdict::same);
  EXPECT_TRUE(judge_pairs({}).empty());
}

TEST(Judged, ADifferenceTooSmallToMatterIsNone) {
  const Paired sure{1000, 1, 1.005, 1.005, 1.004, 1.006, 0};
  EXPECT_EQ(judge_pairs({{sure}})[0].verdict, PairVerdict::same);
}

/// Logarithms (in 1e-4) of ratios that BERT's fusions gave beside themselves on a shared machine, one fusion a line.
std::vector<std::vector<double>> recorded_noise() {
  std::ifstream file(SOURCE_DIR "/tests/unit/stats/noise.txt");
  std::vector<std::vector<double>> noise;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    noise.emplace_back();
    for (double value; words >> value;) noise.back().push_back(value * 1e-4);
  }
  return noise;
}

constexpr double kFused_ns = 1000;

/// Time of the parts: drawn from a fusion's noise, the sides by lot as the order of runs is.
double drawn_ns(const std::vector<double>& noise, double ratio, std::mt19937& random) {
  const double sign = random() % 2 == 0 ? 1 : -1;
  return kFused_ns * ratio * std::exp(sign * noise[random() % noise.size()]);
}

Paired drawn(const std::vector<double>& noise, size_t pairs, double ratio, std::mt19937& random) {
  std::vector<double> fused(pairs, kFused_ns), parts;
  for (size_t i = 0; i < pairs; ++i) parts.push_back(drawn_ns(noise, ratio, random));
  return compare_pairs(fused, parts);
}

TEST(Verdicts, OnRecordedNoiseNeitherCryWolfNorSleep) {
  const auto noise = recorded_noise();
  ASSERT_GT(noise.size(), 50u);
  std::mt19937 random(1);
  int wrong = 0, fusions = 0, called = 0, planted = 0;
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<Paired> pairs;
    for (size_t i = 0; i < noise.size(); ++i) pairs.push_back(drawn(noise[i], 200, i % 10 == 0 ? 1.05 : 1, random));
    const auto judged = judge_pairs(pairs);
    for (size_t i = 0; i < noise.size(); ++i) {
      const bool slowed = i % 10 == 0;
      (slowed ? planted : fusions) += 1;
      if (slowed && judged[i].verdict == PairVerdict::second_slower) ++called;
      if (!slowed && judged[i].verdict != PairVerdict::same) ++wrong;
    }
  }
  EXPECT_LT(wrong, 0.01 * fusions) << wrong << " of " << fusions;
  EXPECT_GE(called, 0.95 * planted) << called << " of " << planted;
}

TEST(Settled, IsWhatIsClearOrTooSmallToMatter) {
  EXPECT_TRUE(settled({4, 1, 1.5, 1.5, 1.4, 1.6, 1e-9}));
  EXPECT_FALSE(settled({4, 1, 1.5, 1.5, 1.4, 1.6, 1e-6})) << "not so sure that it may be looked at often";
  EXPECT_TRUE(settled({40, 1, 1, 1.002, 0.995, 1.009, 0.4}));
  EXPECT_FALSE(settled({4, 1, 1, 1.002, 0.995, 1.009, 0.4})) << "few pairs lie near each other by chance";
  EXPECT_FALSE(settled({400, 1, 1, 1.01, 1.005, 1.015, 1e-12})) << "around the smallest difference that matters";
  EXPECT_FALSE(settled(compare_pairs(std::vector<double>{100}, std::vector<double>{200})));
}

/// A run as the engine makes it: after every pass comparisons that are settled end, and the others share their pairs, until as many are
/// drawn as a fixed plan of `each` for every fusion has.
std::vector<Paired> sequential(const std::vector<std::vector<double>>& noise, const std::vector<double>& ratios, size_t each,
                               std::mt19937& random) {
  constexpr size_t kRounds = 8;
  std::vector<std::vector<double>> parts(noise.size());
  std::vector<Paired> found(noise.size());
  for (size_t open = noise.size(), used = 0; open > 0 && used < each * noise.size();) {
    const size_t rounds = kRounds * noise.size() / open;
    open = 0;
    for (size_t i = 0; i < noise.size(); ++i) {
      if (settled(found[i])) continue;
      for (size_t r = 0; r < rounds; ++r) parts[i].push_back(drawn_ns(noise[i], ratios[i], random));
      found[i] = compare_pairs(std::vector<double>(parts[i].size(), kFused_ns), parts[i]);
      used += rounds;
      open += settled(found[i]) ? 0 : 1;
    }
  }
  return found;
}

TEST(Verdicts, HoldWhereComparisonsEndAsTheyAreSettled) {
  const auto noise = recorded_noise();
  std::mt19937 random(2);
  int wrong = 0, honest = 0, called = 0, planted = 0;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> ratios;
    for (size_t i = 0; i < noise.size(); ++i) ratios.push_back((i + static_cast<size_t>(trial)) % 10 == 0 ? 1.05 : 1);
    const auto judged = judge_pairs(sequential(noise, ratios, 100, random));
    for (size_t i = 0; i < noise.size(); ++i) {
      (ratios[i] > 1 ? planted : honest) += 1;
      if (ratios[i] > 1 && judged[i].verdict == PairVerdict::second_slower) ++called;
      if (ratios[i] == 1 && judged[i].verdict != PairVerdict::same) ++wrong;
    }
  }
  EXPECT_LT(wrong, 0.01 * honest) << wrong << " of " << honest;
  EXPECT_GE(called, 0.95 * planted) << called << " of " << planted;
}

}  // namespace
}  // namespace stats
