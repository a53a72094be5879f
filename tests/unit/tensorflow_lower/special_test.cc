// Functions that HLO lacks, operators on bits and fake quantisation, against values of TensorFlow 2.21.
#include <cmath>
#include <limits>

#include "tests/unit/tensorflow_lower/small_graph.h"

namespace importers::tensorflow {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
const Numbers kPoints{-2.5, -0.3, 0, 0.2, 0.9, 3.75};

TEST(Special, FunctionsAreTensorFlows) {
  const std::pair<std::string, Numbers> functions[] = {
      {"Asin", {kNaN, -0.3046927, 0, 0.2013579, 1.119769, kNaN}},
      {"Acos", {kNaN, 1.875489, 1.570796, 1.369438, 0.4510269, kNaN}},
      {"Atan", {-1.19029, -0.2914568, 0, 0.1973956, 0.7328151, 1.310194}},
      {"Sinh", {-6.050205, -0.3045203, 0, 0.201336, 1.026517, 21.24878}},
      {"Cosh", {6.132289, 1.045339, 1, 1.020067, 1.433086, 21.2723}},
      {"Asinh", {-1.647231, -0.2956731, 0, 0.1986901, 0.8088669, 2.032225}},
      {"Acosh", {kNaN, kNaN, kNaN, kNaN, kNaN, 1.996632}},
      {"Atanh", {kNaN, -0.3095196, 0, 0.2027325, 1.472219, kNaN}},
      {"Lgamma", {-0.05624371, 1.46484, kInfinity, 1.524064, 0.06637626, 1.486816}},
      {"Digamma", {1.103157, 2.11331, kNaN, -5.28904, -0.7549267, 1.182537}},
  };
  for (const auto& [type, expected] : functions)
    expect_near(of({6}, kPoints, [&](SmallGraph& s, int in) { s.op(type, {in}); }), expected, type);
}

TEST(Special, EndsOfRangesStayFinite) {
  const Numbers large{-80, 60, 1e20, 1e-8};
  expect_near(of({4}, large, [](SmallGraph& s, int in) { s.op("Asinh", {in}); }), {-5.0752129, 4.7875611, 46.744849, 1e-8}, "Asinh");
  EXPECT_EQ(of({2}, {-1e-8, 88.9}, [](SmallGraph& s, int in) { s.op("Sinh", {in}); })[0], static_cast<double>(-1e-8f));
  EXPECT_TRUE(std::isfinite(of({1}, {88.9}, [](SmallGraph& s, int in) { s.op("Sinh", {in}); })[0]));  // e^88.9 is not
}

TEST(Special, BitsAreShiftedAndCounted) {
  const Numbers x{-5, 7, 0, 1};
  const auto with = [&](const std::string& type, const Dims& other) {
    return of(
        {4}, x,
        [&](SmallGraph& s, int in) {
          other.empty() ? s.op(type, {in}) : s.op(type, {in, s.integers(other)});
        },
        ir::Type::s32);
  };
  EXPECT_EQ(with("RightShift", {1, 1, 1, 0}), (Numbers{-3, 3, 0, 1}));
  EXPECT_EQ(with("LeftShift", {1, 2, 3, 4}), (Numbers{-10, 28, 0, 16}));
  EXPECT_EQ(with("Invert", {}), (Numbers{4, -8, -1, -2}));
  EXPECT_EQ(with("PopulationCount", {}), (Numbers{31, 3, 0, 1}));
  EXPECT_EQ(with("BitwiseXor", {3, 3, 3, 3}), (Numbers{-8, 4, 3, 2}));
  EXPECT_EQ(with("BitwiseAnd", {3, 3, 3, 3}), (Numbers{3, 3, 0, 1}));
}

TEST(Special, BitsAreReadAsOtherTypes) {
  const auto read = [](Dims dims, const Numbers& x, ir::Type from, ir::Type to) {
    return of(
        std::move(dims), x,
        [&](SmallGraph& s, int in) {
          s.op("Bitcast", {in}, {{"type", to}});
        },
        from);
  };
  EXPECT_EQ(read({2}, {1.0, -2.0}, ir::Type::f32, ir::Type::s32), (Numbers{0x3f800000, -0x40000000}));
  EXPECT_EQ(read({1}, {0x01020304}, ir::Type::s32, ir::Type::u8), (Numbers{4, 3, 2, 1}));
  EXPECT_EQ(read({1, 4}, {4, 3, 2, 1}, ir::Type::u8, ir::Type::s32), (Numbers{0x01020304}));
}

TEST(Special, CrossProductsInfinitiesAndNearness) {
  EXPECT_EQ(of({2, 3}, {1, 2, 3, 4, 5, 7},
               [](SmallGraph& s, int in) {
                 const int parts = s.op("Unpack", {in}, {{"axis", int64_t{0}}, {"num", int64_t{2}}});
                 s.op("Cross", {Output(parts, 0), Output(parts, 1)});
               }),
            (Numbers{-1, 5, -3}));
  EXPECT_EQ(of({3}, {-kInfinity, 1, kNaN}, [](SmallGraph& s, int in) { s.op("IsInf", {in}); }), (Numbers{1, 0, 0}));
  EXPECT_EQ(of({2}, {1e-6, 1e-4}, [](SmallGraph& s, int in) { s.op("ApproximateEqual", {in, s.op("ZerosLike", {in})}); }), (Numbers{1, 0}));
}

/// One result of an operator on x [3, 2] and ends of ranges.
Numbers quantised(const std::string& type, const Dims& ends, const Numbers& min, const Numbers& max, const Attributes& attributes,
                  int port = -1) {
  SmallGraph small;
  const int x = small.feed("x", {3, 2}), low = small.feed("min", ends), high = small.feed("max", ends);
  const bool is_gradient = port >= 0;
  const int g = is_gradient ? small.feed("g", {3, 2}) : -1;
  const int made = is_gradient ? small.op(type, {g, x, low, high}, attributes) : small.op(type, {x, low, high}, attributes);
  if (port > 0) small.op("Identity", {Output(made, port)});
  std::map<std::string, Numbers> values{{"x", kPoints}, {"min", min}, {"max", max}};
  if (is_gradient) values["g"] = {1, 2, 3, 4, 5, 6};
  return computed(small.graph, values)[0];
}

TEST(FakeQuantisation, RoundsAsTensorFlow) {
  expect_near(of({6}, kPoints,
                 [](SmallGraph& s, int in) {
                   s.op("FakeQuantWithMinMaxArgs", {in}, {{"min", -1.0}, {"max", 2.1}, {"num_bits", int64_t{4}}});
                 }),
              {-1.033333, -0.2066667, 0, 0.2066667, 0.8266667, 2.066667}, "Args");
  expect_near(quantised("FakeQuantWithMinMaxVars", {}, {-2.2}, {3.1}, {{"num_bits", int64_t{3}}, {"narrow_range", true}}),
              {-1.766667, 0, 0, 0, 0.8833334, 3.533334}, "Vars");
  const Attributes four{{"num_bits", int64_t{4}}};
  expect_near(quantised("FakeQuantWithMinMaxVarsPerChannel", {2}, {-1, -3}, {2, 1}, four), {-1, -0.2666667, 0, 0.2666667, 1, 1.066667},
              "PerChannel");
  const std::string scalar = "FakeQuantWithMinMaxVarsGradient", channels = "FakeQuantWithMinMaxVarsPerChannelGradient";
  EXPECT_EQ(quantised(scalar, {}, {-1}, {2.1}, four, 0), (Numbers{0, 2, 3, 4, 5, 0}));
  EXPECT_EQ(quantised(scalar, {}, {-1}, {2.1}, four, 1), (Numbers{1}));
  EXPECT_EQ(quantised(scalar, {}, {-1}, {2.1}, four, 2), (Numbers{6}));
  EXPECT_EQ(quantised(channels, {2}, {-1, -3}, {2, 1}, four, 1), (Numbers{1, 0}));
  EXPECT_EQ(quantised(channels, {2}, {-1, -3}, {2, 1}, four, 2), (Numbers{0, 6}));
}

TEST(FakeQuantisation, ThereAndBackKeepsZero) {
  const std::string type = "QuantizeAndDequantizeV2";
  const Attributes found{{"num_bits", int64_t{4}}};
  const Attributes given{{"num_bits", int64_t{4}}, {"range_given", true}, {"narrow_range", true}, {"round_mode", std::string("HALF_UP")}};
  expect_near(quantised(type, {}, {0}, {0}, found), {-2.678571, -0.5357143, 0, 0, 1.071429, 3.75}, "range found");
  expect_near(quantised(type, {}, {-1}, {2}, given), {-2, -0.2857143, 0, 0.2857143, 0.8571429, 2}, "range given");
}

}  // namespace
}  // namespace importers::tensorflow
