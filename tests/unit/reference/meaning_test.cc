// What texts mean, by values worked out by hand: ops that the oracle's records lack, and places where XLA's CPU backend computes something
// else (tests/corpus/differences.tsv refers to these).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "importers/hlo/hlo.h"
#include "replay/element.h"
#include "replay/reference/reference.h"
#include "tests/unit/reference/numbers.h"

namespace replay::reference {
namespace {

/// Result of a module without parameters; of a tuple its element `leaf`.
Numbers result(const std::string& text, size_t leaf = 0) {
  const auto module = importers::hlo::parse(text, "test");
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message);
  if (!module.ok()) return {};
  Evaluator evaluator(*module, Rounding::each);
  const auto made = evaluator.run(module->entry, {});
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
  if (!made.ok()) return {};
  return numbers_of(made->shape.is_tuple() ? made->elements.at(leaf) : *made);
}

// ---- random bits: values of XLA's CPU backend for the same states

std::string bits(const std::string& algorithm, const std::string& shape,
                 const std::string& state = "{1311768467463790321, 2623536934927580642}", const char* size = "2") {
  return "HloModule m\nENTRY e { s = u64[" + std::string(size) + "]{0} constant(" + state + ")\n ROOT r = (u64[" + size + "]{0}, " + shape +
         ") rng-bit-generator(s), algorithm=" + algorithm + " }";
}

TEST(Meaning, ThreeFryAlternatesItsWordsAlongTheLargestEvenDimension) {
  EXPECT_EQ(result(bits("rng_three_fry", "u32[5]{0}"), 1), (Numbers{1596946418, 2257229198, 257883036, 1206733762, 2959745639}));
  EXPECT_EQ(result(bits("rng_three_fry", "u32[5]{0}"), 0), (Numbers{1311768467463790321.0, 2623536934927580645.0}));
  EXPECT_EQ(result(bits("rng_three_fry", "u32[3,4]{1,0}"), 1),
            (Numbers{1596946418, 2257229198, 257883036, 1206733762, 2959745639, 930092077, 3721055300, 975134316, 1566475884, 2864091706,
                     1321401262, 2412188785}));
  EXPECT_EQ(result(bits("rng_three_fry", "u16[2,2]{1,0}"), 1), (Numbers{30706, 64412, 38286, 19394}));
  EXPECT_EQ(result(bits("rng_three_fry", "u8[5]{0}"), 1), (Numbers{242, 142, 156, 194, 103}));
  EXPECT_EQ(result(bits("rng_three_fry", "u32[]"), 1), (Numbers{1596946418}));
  EXPECT_EQ(result(bits("rng_three_fry", "s64[3]{0}"), 1),
            (Numbers{static_cast<double>(static_cast<int64_t>(9694725586583255026u)), 5182882043026930588.0, 3994715055943459431.0}));
}

TEST(Meaning, PhiloxGivesFourWordsACounter) {
  const Numbers want = {3012731660, 2984934431, 4042498014, 2524004400, 3453093785};
  EXPECT_EQ(result(bits("rng_philox", "u32[5]{0}"), 1), want);
  EXPECT_EQ(result(bits("rng_default", "u32[5]{0}"), 1), want);
  EXPECT_EQ(result(bits("rng_philox", "u32[5]{0}"), 0), (Numbers{1311768467463790321.0, 2623536934927580644.0}));
  EXPECT_EQ(result(bits("rng_philox", "u16[2,2]{1,0}"), 1), (Numbers{41740, 31775, 40926, 16432}));
  EXPECT_EQ(result(bits("rng_philox", "s64[3]{0}"), 1),
            (Numbers{static_cast<double>(static_cast<int64_t>(12820195764862100236u)),
                     static_cast<double>(static_cast<int64_t>(10840516357002600414u)), 4800246459248281497.0}));
}

// ---- products

TEST(Meaning, IntegerProductsWrapToTheirType) {
  EXPECT_EQ(result(R"(HloModule m
ENTRY e { a = s8[1,2]{1,0} constant({{100, 100}})  b = s8[2,1]{1,0} constant({{2}, {1}})
  ROOT d = s8[1,1]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} })"),
            (Numbers{300 - 256}));
}

TEST(Meaning, FloatsSummedIntoIntegersAreConvertedAtTheEnd) {
  const char* text = R"(HloModule m
ENTRY e { a = f32[1,2]{1,0} constant({{0.5, 0.75}})  b = f32[2,2]{1,0} constant({{1, 1}, {2, -0.6666667}})
  ROOT d = %s[1,2]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} })";
  const auto with = [&](const char* type) { return std::string(text).replace(std::string(text).find("%s"), 2, type); };
  EXPECT_EQ(result(with("s32")), (Numbers{2, 0}));
  EXPECT_EQ(result(with("pred")), (Numbers{1, 1}));
}

/// f16(0.1) · f16(0.1) has 22 bits, which f64 holds and f32 holds too; two such products with a large one between need more than f32.
TEST(Meaning, ProductsOfHalvesIntoDoublesAreNotRoundedToF32) {
  EXPECT_EQ(result(R"(HloModule m
ENTRY e { a = f16[1,2]{1,0} constant({{1024, 0.0009765625}})  b = f16[2,1]{1,0} constant({{1024}, {0.0009765625}})
  ROOT d = f64[1,1]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} })"),
            (Numbers{1048576 + 0x1p-20}));
}

constexpr const char* kRagged = R"(HloModule m
ENTRY e {
  a = f32[4,2]{1,0} constant({{1, 2}, {3, 4}, {5, 6}, {7, 8}})
  b = f32[2,2,1]{2,1,0} constant({{{1}, {10}}, {{100}, {1000}}})
  g = s32[2]{0} constant({1, 2})
  ROOT d = f32[4,1]{1,0} ragged-dot(a, b, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
})";

TEST(Meaning, RaggedRowsMeetTheMatrixOfTheirGroup) { EXPECT_EQ(result(kRagged), (Numbers{21, 4300, 6500, 0})); }

TEST(Meaning, RaggedContractionsGiveOneProductAGroup) {
  EXPECT_EQ(result(R"(HloModule m
ENTRY e {
  a = f32[1,4]{1,0} constant({{1, 2, 3, 4}})
  b = f32[4,1]{1,0} constant({{1}, {10}, {100}, {1000}})
  g = s32[3]{0} constant({1, 0, 2})
  ROOT d = f32[3,1,1]{2,1,0} ragged-dot(a, b, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}
})"),
            (Numbers{1, 0, 320}));
}

TEST(Meaning, AScaleStandsForItsBlock) {
  EXPECT_EQ(result(R"(HloModule m
ENTRY e {
  a = f32[1,4]{1,0} constant({{1, 2, 3, 4}})
  b = f32[4,1]{1,0} constant({{1}, {1}, {1}, {1}})
  s = f32[1,2]{1,0} constant({{10, 0.5}})
  t = f32[1,1]{1,0} constant({{2}})
  ROOT d = f32[1,1]{1,0} scaled-dot(a, b, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"),
            (Numbers{2 * (10 * 3 + 0.5 * 7)}));
}

TEST(Meaning, CudnnsGradientsSumTheProductsOfTheForwardConvolution) {
  const std::string x = "x = f32[1,1,3]{2,1,0} constant({{{1, 2, 3}}})\n", w = "w = f32[2,1,1]{2,1,0} constant({{{10}}, {{1}}})\n",
                    y = "y = f32[1,1,2]{2,1,0} constant({{{1, 4}}})\n";
  const auto call = [](const char* shape, const char* operands, const char* target, const char* more = "") {
    return std::string("ROOT c = (") + shape + ", u8[0]{0}) custom-call(" + operands + "), window={size=2}, dim_labels=bf0_0io->bf0, " +
           "custom_call_target=\"__cudnn$conv" + target + "\"" + more + "\n}";
  };
  const std::string begin = "HloModule m\nENTRY e {\n";
  EXPECT_EQ(result(begin + x + w + call("f32[1,1,2]{2,1,0}", "x, w", "Forward")), (Numbers{12, 23}));
  EXPECT_EQ(result(begin + y + w + call("f32[1,1,3]{2,1,0}", "y, w", "BackwardInput")), (Numbers{10, 41, 4}));
  EXPECT_EQ(result(begin + x + y + call("f32[2,1,1]{2,1,0}", "x, y", "BackwardFilter")), (Numbers{1 + 8, 2 + 12}));
  const std::string bias = "b = f32[1]{0} constant({-20})\n";
  EXPECT_EQ(result(begin + x + w + bias +
                   call("f32[1,1,2]{2,1,0}", "x, w, b", "BiasActivationForward",
                        R"(, backend_config="{\"activationMode\":\"2\",\"convResultScale\":1}")")),
            (Numbers{0, 3}));
}

// ---- reductions: an initial value is combined once

TEST(Meaning, AReduceCombinesItsInitialValueOnceWhateverItsLength) {
  const std::string add =
      "HloModule m\nadd { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\nENTRY e { two = f32[] constant(2)\n";
  EXPECT_EQ(result(add + "x = f32[1,2]{1,0} constant({{3, 4}})\n ROOT r = f32[2]{0} reduce(x, two), dimensions={0}, to_apply=add }"),
            (Numbers{5, 6}));  // XLA drops the initial value where the dimension has one element
  EXPECT_EQ(result(add + "i = f32[128]{0} iota(), iota_dimension=0\n ROOT r = f32[] reduce(i, two), dimensions={0}, to_apply=add }"),
            (Numbers{127 * 64 + 2}));  // XLA's vectors begin with it in every lane
}

TEST(Meaning, AWindowOfOnePlaceCombinesItsInitialValue) {
  EXPECT_EQ(result(R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[] constant(42)  one = f32[] constant(1)  ROOT r = f32[] reduce-window(x, one), to_apply=add })"),
            (Numbers{43}));
}

TEST(Meaning, AScatterOfSeveralArraysMayTakeOneArrayTwice) {
  const std::string text = R"(HloModule m
put { a = s32[] parameter(0)  b = s32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)  ROOT t = (s32[], s32[]) tuple(c, d) }
ENTRY e { x = s32[3]{0} iota(), iota_dimension=0  i = s32[3]{0} constant({2, 1, 0})  u = s32[3]{0} constant({10, 11, 12})
  v = s32[3]{0} constant({20, 21, 22})
  ROOT s = (s32[3]{0}, s32[3]{0}) scatter(x, x, i, u, v), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=put })";
  EXPECT_EQ(result(text, 0), (Numbers{12, 11, 10}));
  EXPECT_EQ(result(text, 1), (Numbers{22, 21, 20}));
}

TEST(Meaning, PaddingMayBeNegativeInFrontOfAWindow) {
  EXPECT_EQ(result(R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[5]{0} constant({1, 2, 4, 8, 16})  z = f32[] constant(0)
  ROOT r = f32[3]{0} reduce-window(x, z), window={size=2 pad=-1_0}, to_apply=add })"),
            (Numbers{6, 12, 24}));
}

// ---- the rest

TEST(Meaning, ComputationsOfAReduceMayMakeArrays) {
  EXPECT_EQ(result(R"(HloModule m
inner { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
odd { a = f32[] parameter(0)  b = f32[] parameter(1)
  both = f32[2,2]{1,0} broadcast(b), dimensions={}
  cut = f32[1,2]{1,0} slice(both), slice={[0:1], [0:2]}
  z = f32[] constant(0)
  twice = f32[] reduce(cut, z), dimensions={0,1}, to_apply=inner
  ROOT c = f32[] add(a, twice) }
ENTRY e { x = f32[3]{0} constant({1, 2, 3})  z = f32[] constant(0)  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=odd })"),
            (Numbers{12}));
}

TEST(Meaning, AMatrixThatIsNotPositiveDefiniteHasNoFactor) {
  const Numbers made = result(R"(HloModule m
ENTRY e { a = f32[2,2,2]{2,1,0} constant({{{4, 0}, {2, 2}}, {{1, 0}, {2, 1}}})  ROOT c = f32[2,2,2]{2,1,0} cholesky(a), lower=true })");
  ASSERT_EQ(made.size(), 8u);
  EXPECT_EQ(Numbers(made.begin(), made.begin() + 4), (Numbers{2, 0, 1, 1}));
  for (size_t i = 4; i < 8; ++i) EXPECT_TRUE(std::isnan(made[i])) << i;
}

TEST(Meaning, ATransformOfNoPointsIsZero) {
  EXPECT_EQ(result("HloModule m\nENTRY e { x = c64[1]{0} constant({(3, 4)})  f = c64[1]{0} fft(x), fft_type=FFT, fft_length={0}  ROOT r = "
                   "f32[1]{0} real(f) }"),
            (Numbers{0}));
}

/// Real parts of X[k] = Σ_j x[j]·exp(−2πi·jk/n), x[j] = j² mod 7.
Numbers transform_by_definition(int64_t n) {
  Numbers out;
  for (int64_t k = 0; k < n; ++k) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j)
      sum += static_cast<double>(j * j % 7) * std::cos(2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n));
    out.push_back(sum);
  }
  return out;
}

// Powers of two, products of small primes, a large prime, small primes times a large one: each is cut another way.
TEST(Meaning, TransformsOfEveryLengthAreTheDefinitionsSums) {
  for (const int64_t n : {1, 2, 3, 8, 30, 49, 61, 64, 67, 134, 201, 360, 1009, 2018}) {
    const std::string size = std::to_string(n);
    const Numbers made =
        result("HloModule m\nENTRY e { i = s32[" + size + "]{0} iota(), iota_dimension=0  q = s32[" + size +
               "]{0} multiply(i, i)  s = s32[] constant(7)  b = s32[" + size + "]{0} broadcast(s), dimensions={}  m = s32[" + size +
               "]{0} remainder(q, b)  c = c128[" + size + "]{0} convert(m)  f = c128[" + size + "]{0} fft(c), fft_type=FFT, fft_length={" +
               size + "}  ROOT r = f64[" + size + "]{0} real(f) }");
    const Numbers expected = transform_by_definition(n);
    ASSERT_EQ(made.size(), expected.size());
    for (size_t k = 0; k < made.size(); ++k) EXPECT_NEAR(made[k], expected[k], 1e-12 * 7 * static_cast<double>(n)) << n << ": " << k;
  }
}

TEST(Meaning, AnAsynchronousPairGivesWhatItsBodyMakes) {
  EXPECT_EQ(result(R"(HloModule m
body { p = f32[2]{0} parameter(0)  ROOT n = f32[2]{0} negate(p) }
ENTRY e { x = f32[2]{0} constant({1, -2})
  s = ((f32[2]{0}), f32[2]{0}, s32[]) async-start(x), calls=body
  u = ((f32[2]{0}), f32[2]{0}, s32[]) async-update(s)
  ROOT d = f32[2]{0} async-done(u) })"),
            (Numbers{-1, 2}));
}

TEST(Meaning, TopKIsStableAndLooksThroughTheLastDimension) {
  const std::string text = R"(HloModule m
more { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=GT }
ENTRY e { x = f32[2,4]{1,0} constant({{1, 5, 5, 2}, {0, -1, 7, 3}})
  ROOT t = (f32[2,2]{1,0}, s32[2,2]{1,0}) custom-call(x), custom_call_target="TopK", called_computations={more} })";
  EXPECT_EQ(result(text, 0), (Numbers{5, 5, 7, 3}));
  EXPECT_EQ(result(text, 1), (Numbers{1, 2, 2, 3}));
}

/// Places after sorting 0 … n-1 by a comparator of two s32, l and r.
Numbers sorted_by(const std::string& n, const std::string& comparator) {
  return result("HloModule m\nless { l = s32[] parameter(0)  r = s32[] parameter(1)  k = s32[] constant(997)  " + comparator +
                " }\nENTRY e { i = s32[" + n + "]{0} iota(), iota_dimension=0  ROOT s = s32[" + n +
                "]{0} sort(i), dimensions={0}, is_stable=true, to_apply=less }");
}

// Long enough that late merges are cut into pieces.
TEST(Meaning, ALongSortIsStableWhateverItsComparatorComputes) {
  const Numbers made =
      sorted_by("20011",
                "a = s32[] multiply(l, l)  b = s32[] multiply(r, r)  x = s32[] remainder(a, k)  y = s32[] remainder(b, k)  ROOT c = pred[] "
                "compare(x, y), direction=LT");
  std::vector<int32_t> expected(20011);
  std::iota(expected.begin(), expected.end(), 0);
  const auto key = [](int32_t i) { return static_cast<int32_t>(static_cast<uint32_t>(i) * static_cast<uint32_t>(i)) % 997; };
  std::stable_sort(expected.begin(), expected.end(), [&](int32_t a, int32_t b) { return key(a) < key(b); });
  EXPECT_EQ(made, Numbers(expected.begin(), expected.end()));
}

TEST(Meaning, AComparatorThatIsNoOrderStillGivesEveryElementOnce) {
  Numbers made = sorted_by("10007", "ROOT c = pred[] compare(k, k), direction=EQ");
  std::sort(made.begin(), made.end());
  Numbers expected(10007);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(made, expected);
}

TEST(Meaning, InstructionsMayStandBeforeTheirOperands) {
  EXPECT_EQ(result(R"(HloModule m
ENTRY e { ROOT s = f32[] add(d, x)  d = f32[] multiply(x, y)  y = f32[] negate(x)  x = f32[] constant(3) })"),
            (Numbers{-6}));
}

TEST(Meaning, AScanCarriesArraysFromStepToStep) {
  const std::string text = R"(HloModule m
step { x = s32[2]{0} parameter(0)  c = s32[2]{0} parameter(1)  n = s32[2]{0} add(x, c)  ROOT t = (s32[2]{0}, s32[2]{0}) tuple(n, n) }
ENTRY e { x = s32[3,2]{1,0} constant({{1, 10}, {2, 20}, {3, 30}})  z = s32[2]{0} constant({0, 5})
  ROOT s = (s32[3,2]{1,0}, s32[2]{0}) scan(x, z), dimensions={0}, num_carries=1, to_apply=step })";
  EXPECT_EQ(result(text, 0), (Numbers{1, 15, 3, 35, 6, 65}));
  EXPECT_EQ(result(text, 1), (Numbers{6, 65}));
}

TEST(Meaning, RandomNumbersAreTheSameEveryTimeAndInRange) {
  const char* text = R"(HloModule m
ENTRY e { a = f32[] constant(2)  b = f32[] constant(3)  ROOT r = f32[100]{0} rng(a, b), distribution=rng_uniform })";
  const Numbers once = result(text), again = result(text);
  EXPECT_EQ(once, again);
  ASSERT_EQ(once.size(), 100u);
  for (const double v : once) EXPECT_TRUE(v >= 2 && v <= 3) << v;
  EXPECT_NE(once[0], once[1]);
}

}  // namespace
}  // namespace replay::reference
