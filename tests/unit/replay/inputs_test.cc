// The generator against the oracle's test vectors; recipes; rules by use.
#include "replay/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "importers/hlo/hlo.h"
#include "replay/element.h"

namespace replay {
namespace {

struct Vector {
  uint64_t seed;
  const char* name;
  ir::Type type;
  std::vector<int64_t> dims;
  const char* recipe;  ///< as JSON; "" for the default
  uint64_t key, x0;
  double first, second, last;
};

// ../shared/oracle/README.md, all rows; of complex numbers the real parts.
const Vector kVectors[] = {
    {1, "0", ir::Type::f32, {8}, "", 0x4428164d786841f2, 0x718d5f684f49c921, -0.112873197, 0.710929155, -0.722151875},
    {1,
     "0",
     ir::Type::f64,
     {8},
     "",
     0x4428164d786841f2,
     0x718d5f684f49c921,
     -0.11287314802886939,
     0.71092924955035808,
     -0.72215175807966059},
    {1, "1", ir::Type::f16, {2, 4}, R"({"uniform":[0,1]})", 0x55f565d134df40e6, 0x7b010c15f5521679, 0.48046875, 0.0635375977, 0.113464355},
    {7,
     "0.1",
     ir::Type::bf16,
     {4},
     R"({"uniform":[-0.05,0.05]})",
     0x5a6b6a7145d02c97,
     0x56a3b6198cd1229c,
     -0.0161132812,
     0.0402832031,
     0.0228271484},
    {1, "2", ir::Type::s32, {16, 512}, R"({"integers":[0,30521]})", 0x5fa366f787822dff, 0xbd58eb83bae5330d, 22575, 15826, 12957},
    {1, "3", ir::Type::u8, {5}, "", 0x4044e0a267795ff7, 0x00a89f33782e5ca0, 0, 65, 94},
    {1, "4", ir::Type::pred, {64}, "", 0xd5a19f5582e14ae1, 0x3669b953988c9b62, 0, 0, 1},
    {1, "5", ir::Type::c64, {4}, "", 0x750e5f4483ee66a2, 0x55313ae197db0c78, -0.334435225, 0.518309712, 0.131090999},
    {1, "constant_36", ir::Type::s32, {16}, R"({"iota":[0,512]})", 0xc13196558ef2c05c, 0xd5d73433f8964ead, 0, 512, 7680},
    {123456789, "fc_0.w_0", ir::Type::f8e4m3fn, {1000003}, "", 0xb039d7b0a2c5a27c, 0x18ba14831eac3d73, -0.8125, -0.025390625, 0.375},
    {1, "6", ir::Type::s64, {3}, R"({"integers":[-1000000,1000000]})", 0xf0c6d153ebc084ab, 0xe081588cd92e044b, 753948, -3057, 730132},
    {1, "7", ir::Type::f32, {4}, R"({"integers":[0,1]})", 0x6dfbeffcf7db2d27, 0x0623651661cb759b, 0, 1, 1},
};

Recipe recipe_of(const std::string& json) {
  if (json.empty()) return {};
  const auto recipes = parse_recipes(R"({"params":{"p":)" + json + "}}", "test");
  EXPECT_TRUE(recipes.ok());
  return recipes->params.at("p");
}

TEST(Inputs, AgreeWithTheOraclesTestVectors) {
  for (const Vector& v : kVectors) {
    SCOPED_TRACE(std::string(v.name) + " " + v.recipe);
    EXPECT_EQ(stream_key(v.seed, v.name), v.key);
    EXPECT_EQ(stream(v.key, 0), v.x0);
    const Tensor made = generate(recipe_of(v.recipe), ir::array_shape(v.type, v.dims), v.seed, v.name);
    const auto value = [&](int64_t i) { return load_real(v.type, made.data.data(), i); };
    const double slack = v.type == ir::Type::f64 ? 0 : 5e-9;  // the table has nine digits
    EXPECT_NEAR(value(0), v.first, slack * std::fabs(v.first));
    EXPECT_NEAR(value(1), v.second, slack * std::fabs(v.second));
    EXPECT_NEAR(value(ir::elements(made.shape) - 1), v.last, slack * std::fabs(v.last));
  }
  const Tensor c = generate({}, ir::array_shape(ir::Type::c64, {4}), 1, "5");
  EXPECT_FLOAT_EQ(static_cast<float>(load_real(ir::Type::c64, c.data.data(), 3, 1)), -0.100338697f);
}

TEST(Inputs, PhysicalOrderHoldsTheSameNumbersForEveryLayout) {
  ir::Shape shape = ir::array_shape(ir::Type::f32, {7, 5, 33});
  const Tensor logical = generate({}, shape, 3, "0");
  std::vector<int64_t> order{0, 1, 2};
  do {
    shape.minor_to_major = order;
    std::vector<std::byte> physical(logical.data.size()), back(logical.data.size());
    generate_into(physical, {}, shape, 3, "0");
    to_logical(shape, physical, back);
    EXPECT_EQ(back, logical.data);
    std::vector<std::byte> again(physical.size());
    to_physical(shape, logical.data, again);
    EXPECT_EQ(again, physical);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Inputs, LargeArraysArePiecedTogetherWithoutSeams) {
  const ir::Shape shape = ir::array_shape(ir::Type::f16, {100003});
  const Tensor made = generate({}, shape, 1, "0");
  for (const int64_t i : {int64_t{0}, int64_t{16383}, int64_t{16384}, int64_t{100002}}) {
    const double u = static_cast<double>(stream(stream_key(1, "0"), static_cast<uint64_t>(i)) >> 40) * 0x1p-24;
    EXPECT_EQ(load_real(ir::Type::f16, made.data.data(), i), round_to(ir::Type::f16, static_cast<double>(static_cast<float>(-1 + 2 * u))))
        << i;
  }
}

TEST(Inputs, ValuesAndSpecialNumbersByHand) {
  const Recipe recipe = recipe_of(R"({"values":[1, "nan", "-inf", 65520, 1e-8]})");
  const Tensor made = generate(recipe, ir::array_shape(ir::Type::f16, {5}), 1, "0");
  EXPECT_EQ(load_real(ir::Type::f16, made.data.data(), 0), 1);
  EXPECT_TRUE(std::isnan(load_real(ir::Type::f16, made.data.data(), 1)));
  EXPECT_EQ(load_real(ir::Type::f16, made.data.data(), 2), -INFINITY);
  EXPECT_EQ(load_real(ir::Type::f16, made.data.data(), 3), INFINITY);
  EXPECT_EQ(load_real(ir::Type::f16, made.data.data(), 4), 0);
}

TEST(Inputs, WrongRecipesSayWhatTheyWant) {
  for (const char* bad : {"", "[]", "{", R"({"params":3})", R"({"params":{"0":[]}})", R"({"params":{"0":{"uniform":[1]}}})",
                          R"({"params":{"0":{"integers":[3,1]}}})", R"({"params":{"0":{"values":[[1,2,3]]}}})", R"({"seed":"x"})"}) {
    const auto recipes = parse_recipes(bad, "r.json");
    ASSERT_FALSE(recipes.ok()) << bad;
    EXPECT_EQ(recipes.error().message.rfind("r.json: ", 0), 0u) << recipes.error().message;
  }
}

TEST(Inputs, SmallFloatsRoundLikeTheGeneralCoder) {
  for (uint32_t bits = 0; bits < 0x10000; bits += 7) {
    const float value = std::bit_cast<float>(bits << 16 | (bits * 40503u & 0xffffu));
    if (std::isnan(value)) continue;
    EXPECT_EQ(f16_bits(value), base::encode(static_cast<double>(value), base::kF16)) << value;
    EXPECT_EQ(bf16_bits(value), base::encode(static_cast<double>(value), base::kBf16)) << value;
    const double wide = static_cast<double>(value) * (1 + 0x1p-40);
    EXPECT_EQ(round_to(ir::Type::f16, wide), base::decode(base::encode(wide, base::kF16), base::kF16)) << wide;
    EXPECT_EQ(round_to(ir::Type::bf16, wide), base::decode(base::encode(wide, base::kBf16), base::kBf16)) << wide;
  }
}

TEST(Inputs, RulesByUseKeepIndicesInRangeAndRootsPositive) {
  const auto module = importers::hlo::parse(R"(HloModule m
fused (a: s32[4], b: f32[10,3]) -> f32[4,3] {
  a = s32[4]{0} parameter(0)
  b = f32[10,3]{1,0} parameter(1)
  ROOT g = f32[4,3]{1,0} gather(b, a), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}
}
ENTRY main (i: s32[4], t: f32[10,3], v: f32[8], w: f32[3,12], m: s32[16]) -> (f32[4,12], f32[8], f16[16]) {
  i = s32[4]{0} parameter(0)
  t = f32[10,3]{1,0} parameter(1)
  v = f32[8]{0} parameter(2)
  w = f32[3,12]{1,0} parameter(3)
  m = s32[16]{0} parameter(4)
  kept = f16[16]{0} convert(m)
  r = f32[8]{0} rsqrt(v)
  f = f32[4,3]{1,0} fusion(i, t), kind=kLoop, calls=fused
  d = f32[4,12]{1,0} dot(f, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT o = (f32[4,12]{1,0}, f32[8]{0}, f16[16]{0}) tuple(d, r, kept)
}
)",
                                            "test");
  ASSERT_TRUE(module.ok()) << module.error().message;
  const InputOptions options;
  const Chooser chooser(*module, options);
  const auto chosen = [&](int64_t number) {
    const ir::Shape& shape =
        module->shape(module->instr(module->entry, module->comp(module->entry).parameters[static_cast<size_t>(number)]));
    return chooser.parameter(number, ir::leaves(shape)[0]);
  };
  EXPECT_EQ(chosen(0).recipe.text, R"({"integers":[0,9]})");
  EXPECT_EQ(chosen(1).why, "default");
  EXPECT_EQ(chosen(2).recipe.a, 0.5);
  EXPECT_EQ(chosen(3).recipe.b, 1);  // sqrt(3 / 3)
  EXPECT_EQ(chosen(4).recipe.text, R"({"integers":[0,1]})");
}

constexpr const char* kBranches = R"(HloModule m
a { x = s32[4]{0} parameter(0)
  c = f32[10]{0} constant({...})
  ROOT g = f32[4]{0} gather(c, x), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1} }
b { ROOT y = f32[4]{0} parameter(0) }
ENTRY main { p = pred[] parameter(0)
  table.1 = s32[4]{0} parameter(1)
  pair = (f32[4]{0}, f32[]) parameter(2)
  z = f32[4]{0} get-tuple-element(pair), index=0
  ROOT r = f32[4]{0} conditional(p, table.1, z), %s }
)";

ir::Module branches(const char* attributes) {
  std::string text = kBranches;
  text.replace(text.find("%s"), 2, attributes);
  auto module = importers::hlo::parse(text, "test");
  EXPECT_TRUE(module.ok()) << module.error().message;
  return *std::move(module);
}

TEST(Inputs, WhatTheImporterSaysHoldsUnlessAPersonSaysOtherwise) {
  const auto module = importers::hlo::parse(R"(HloModule m

ENTRY main {
  p = s32[4]{0} parameter(0), frontend_attributes={profile_input="{\"integers\": [0, 999]}"}
  q = s32[4]{0} parameter(1), frontend_attributes={profile_input="no recipe"}
  r = s32[4]{0} parameter(2), frontend_attributes={other="x\"",profile_input="{\"constant\": 7}"}
  ROOT t = (s32[4]{0}, s32[4]{0}, s32[4]{0}) tuple(p, q, r)
})",
                                            "m.hlo");
  ASSERT_TRUE(module.ok());
  InputOptions options;
  const ir::Shape shape = ir::array_shape(ir::Type::s32, {4});
  const auto chosen = [&](int64_t number) { return Chooser(*module, options).parameter(number, {{}, &shape}); };
  EXPECT_EQ(chosen(0).why, "importer");
  EXPECT_EQ(chosen(0).recipe.b, 999);
  EXPECT_EQ(chosen(1).why, "default");
  EXPECT_EQ(chosen(2).recipe.a, 7);
  options.recipes.params["0"].kind = Recipe::Kind::constant;
  EXPECT_EQ(chosen(0).why, "recipe");
}

TEST(Inputs, BranchesAreFoundHoweverTheirAttributesAreOrdered) {
  for (const char* attributes : {"true_computation=a, false_computation=b", "false_computation=b, true_computation=a"}) {
    const ir::Module module = branches(attributes);
    const InputOptions options;
    const Chooser chooser(module, options);
    const ir::Shape& shape = module.shape(module.instr(module.entry, module.comp(module.entry).parameters[1]));
    EXPECT_EQ(chooser.parameter(1, ir::leaves(shape)[0]).recipe.text, R"({"integers":[0,9]})") << attributes;
  }
}

TEST(Inputs, NamesThatNameNothingAreRefusedWithTheNearest) {
  const ir::Module module = branches("true_computation=a, false_computation=b");
  const auto message = [&](const char* recipes) {
    const base::Status status = check_recipe_names(module, *parse_recipes(recipes, "r.json"));
    return status.ok() ? std::string() : status.error().message;
  };
  EXPECT_EQ(message(R"({"params":{"0":{},"table.1":{},"2.1":{}},"constants":{"c":{}}})"), "");
  EXPECT_EQ(message(R"({"params":{"tabel.1":{}}})"), "--inputs: 'tabel.1' names no parameter of the program; did you mean 'table.1'?");
  EXPECT_EQ(message(R"({"params":{"weights":{}}})"),
            "--inputs: 'weights' names no parameter of the program; use a parameter's number (0; 0.1 for a leaf of a tuple) or its name");
  EXPECT_NE(message(R"({"params":{"2":{}}})"), "");  // a tuple has no values of its own
  EXPECT_EQ(message(R"({"constants":{"weights":{}}})"),
            "--inputs: 'weights' names no elided constant of the program; name a constant that the dump elides, constant({...})");
}

}  // namespace
}  // namespace replay
