// Shapes, interning, identities of work, cutting of modules, typed attributes.
#include "src/ir/module.h"

#include <gtest/gtest.h>

#include "importers/hlo/hlo.h"
#include "src/ir/attr.h"
#include "src/ir/builder.h"
#include "src/ir/print.h"
#include "src/ir/verify.h"
#include "tests/unit/ir/parsed.h"

namespace ir {

Module parsed(std::string_view text) {
  auto module = importers::hlo::parse(text, "test");
  EXPECT_TRUE(module.ok()) << module.error().message;
  return module.ok() ? *std::move(module) : Module();
}
namespace {

InstrRef find(const Module& module, std::string_view name) {
  for (size_t c = 0; c < module.computations.size(); ++c) {
    for (size_t i = 0; i < module.computations[c].instrs.size(); ++i) {
      if (module.name_of(module.computations[c].instrs[i]) == name) return {static_cast<CompId>(c), static_cast<InstrId>(i)};
    }
  }
  ADD_FAILURE() << "no instruction " << name;
  return {};
}

const Instr& at(const Module& module, std::string_view name) {
  const InstrRef ref = find(module, name);
  return module.instr(ref.comp, ref.instr);
}

TEST(Shape, StridesFollowTheLayout) {
  Shape shape = array_shape(Type::f32, {2, 3, 4});
  EXPECT_EQ(strides(shape), (std::vector<int64_t>{12, 4, 1}));
  shape.minor_to_major = {0, 2, 1};
  EXPECT_EQ(strides(shape), (std::vector<int64_t>{1, 8, 2}));
  EXPECT_EQ(print(shape), "f32[2,3,4]{0,2,1}");
}

TEST(Shape, SizesOfOneDoNotMakeAnotherMemory) {
  Shape a = array_shape(Type::f32, {1, 5}), b = a;
  b.minor_to_major = {0, 1};
  EXPECT_TRUE(same_physical(a, b));
  EXPECT_FALSE(same_physical(a, array_shape(Type::f32, {5, 1})));
}

TEST(Shape, LeavesOfATupleHavePaths) {
  const Shape shape = tuple_shape({array_shape(Type::f32, {2}), tuple_shape({array_shape(Type::s8, {3})})});
  const std::vector<Leaf> list = leaves(shape);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(path_text(list[1].path), "1.0");
  EXPECT_EQ(bytes(shape), 11);
}

TEST(Shape, ATupleOfHugeArraysSaturates) {
  const Shape huge = array_shape(Type::u8, {int64_t{1} << 62});
  EXPECT_GT(bytes(tuple_shape({huge, huge, huge})), 0);
}

TEST(Strings, AreStoredOnce) {
  Strings strings;
  const StringId a = strings.intern("alpha");
  for (int i = 0; i < 1000; ++i) strings.intern(std::to_string(i));
  EXPECT_EQ(strings.intern("alpha"), a);
  EXPECT_EQ(strings.view(a), "alpha");
  EXPECT_EQ(strings.intern(""), StringId::empty);
}

constexpr std::string_view kTwins = R"(HloModule m
a { p = f32[4]{0} parameter(0) ROOT n = f32[4]{0} negate(p), metadata={op_name="x"} }
b { q = f32[4]{0} parameter(0) ROOT other = f32[4]{0} negate(q) }
c { q = f32[4]{0} parameter(0) ROOT other = f32[4]{0} abs(q) }
ENTRY e {
  x = f32[4]{0} parameter(0)
  f = f32[4]{0} fusion(x), kind=kLoop, calls=a
  g = f32[4]{0} fusion(f), kind=kLoop, calls=b, metadata={op_name="y"}
  ROOT h = f32[4]{0} fusion(g), kind=kLoop, calls=c
})";

TEST(Canonical, IsTheSameForEqualWorkUnderOtherNames) {
  const Module m = parsed(kTwins);
  EXPECT_EQ(canonical(m, find(m, "f")), canonical(m, find(m, "g")));
  EXPECT_NE(canonical(m, find(m, "f")), canonical(m, find(m, "h")));
}

TEST(Canonical, TellsLayoutsAndSharedOperandsApart) {
  const Module m = parsed(R"(ENTRY e {
    x = f32[4,4]{1,0} parameter(0) y = f32[4,4]{0,1} parameter(1) z = f32[4,4] parameter(2)
    a = f32[4,4]{1,0} add(x, x) b = f32[4,4]{1,0} add(x, z) c = f32[4,4]{1,0} add(x, y) d = f32[4,4]{1,0} add(z, x) ROOT t = () tuple()
  })");
  EXPECT_EQ(canonical(m, find(m, "b")), canonical(m, find(m, "d")));  // a missing layout is the descending one
  EXPECT_NE(canonical(m, find(m, "a")), canonical(m, find(m, "b")));
  EXPECT_NE(canonical(m, find(m, "b")), canonical(m, find(m, "c")));
}

TEST(Extract, AnInstructionWithItsOperandsAsParameters) {
  const Module m = parsed(R"(HloModule m
    add { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }
    ENTRY e { x = f32[8]{0} parameter(0) y = f32[8]{0} negate(x) z = f32[] constant(0)
      r = f32[] reduce(y, z), dimensions={0}, to_apply=add, control-predecessors={x} ROOT k = f32[8]{0} multiply(y, y) })");
  const Module reduce = extract_instruction(m, find(m, "r"));
  EXPECT_TRUE(verify(reduce).empty());
  EXPECT_EQ(reduce.comp(reduce.entry).parameters.size(), 1u);
  EXPECT_EQ(reduce.computations.size(), 2u);
  EXPECT_TRUE(parsed(print(reduce)) == reduce);
  const Module square = extract_instruction(m, find(m, "k"));
  EXPECT_EQ(square.comp(square.entry).instrs.back().operands, (std::vector<InstrId>{0, 0}));
}

TEST(Extract, AnInstructionThatOverwritesAnOperandGetsACopyOfIt) {
  const Module m = parsed(R"(HloModule m
    ENTRY e { x = f32[8]{0} parameter(0) y = f32[8]{0} negate(x) u = f32[2]{0} parameter(1) i = s32[] parameter(2)
      ROOT d = f32[8]{0} dynamic-update-slice(y, u, i) })");
  const InstrId overwritten[] = {find(m, "y").instr};
  const Module alone = extract_instruction(m, find(m, "d"), overwritten);
  EXPECT_TRUE(verify(alone).empty());
  const Computation& entry = alone.comp(alone.entry);
  EXPECT_EQ(entry.parameters, (std::vector<InstrId>{0, 2, 3}));
  EXPECT_EQ(entry.instrs[1].op, Op::copy);
  EXPECT_EQ(entry.instrs[1].operands, (std::vector<InstrId>{0}));
  EXPECT_EQ(entry.instrs[static_cast<size_t>(entry.root)].operands, (std::vector<InstrId>{1, 2, 3}));
}

TEST(Extract, AComputationWithWhatItCalls) {
  const Module m = parsed(kTwins);
  const Module b = extract_computation(m, m.find_computation("%b"));
  EXPECT_EQ(b.computations.size(), 1u);
  EXPECT_TRUE(verify(b).empty());
}

TEST(Attributes, OfAConvolution) {
  const Module m = parsed(R"(ENTRY e { x = f32[1,8,9,3] parameter(0) k = f32[3,3,3,4] parameter(1)
    ROOT c = f32[1,4,9,4] convolution(x, k), window={pad=1_1x1_1 stride=2x1 size=3x3 rhs_reversal=0x1}, dim_labels=b01f_01io->b01f })");
  const auto window = attr_window(m, at(m, "c"));
  ASSERT_TRUE(window.ok());
  EXPECT_EQ((*window)[0].stride, 2);
  EXPECT_EQ((*window)[1].pad_high, 1);
  EXPECT_TRUE((*window)[1].reversed);
  EXPECT_EQ(attr_conv_dims(m, at(m, "c"))->kernel_spatial, (std::vector<int64_t>{0, 1}));
  EXPECT_TRUE(verify(m).empty());
}

TEST(Attributes, OfAProductInBothFormsOfItsConfig) {
  for (
      const char* config :
      {R"("{\"alpha_real\":2,\"beta\":1,\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":[\"0\"]}}")",
       R"({"gemm_backend_config":{"alpha_real":2,"beta":1,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}})"}) {
    const Module m = parsed(std::string("ENTRY e { a = f32[2,2] parameter(0) ROOT g = f32[2,2] custom-call(a, a, a), "
                                        "custom_call_target=\"__cublas$gemm\", backend_config=") +
                            config + " }");
    const auto gemm = gemm_config(m, at(m, "g"));
    ASSERT_TRUE(gemm.ok()) << gemm.error().message;
    EXPECT_EQ(gemm->alpha, 2);
    EXPECT_EQ(gemm->beta, 1);
    EXPECT_EQ(gemm->dims.lhs_contracting, (std::vector<int64_t>{1}));
  }
}

TEST(Attributes, OfAliases) {
  const auto aliases = parse_aliases("{{0}:(1,{},may-alias),{1,2}:(3,{4},must-alias),{}:5}");
  ASSERT_TRUE(aliases.ok());
  ASSERT_EQ(aliases->size(), 3u);
  EXPECT_EQ((*aliases)[1].input, (std::vector<int64_t>{4}));
  EXPECT_EQ((*aliases)[2].parameter, 5);
}

TEST(Verify, AcceptsAndListsMixedPrecision) {
  const Module m = parsed("ENTRY e { x = f32[4] parameter(0) ROOT r = bf16[4] copy(x) }");
  EXPECT_TRUE(verify(m).empty());
  EXPECT_EQ(judge(m).mixed_precision.size(), 1u);
}

TEST(Verify, RefusesComputationsThatDoNotFitTheElements) {
  const std::string entry = "ENTRY e { x = f32[4] parameter(0) z = f32[] parameter(1) i = s32[4,1] parameter(2) ROOT r = ";
  const std::string sum = "f { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) } ";
  const std::string less = "f { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = pred[] compare(p, q), direction=LT } ";
  const std::string ints = "f { p = s32[] parameter(0) q = s32[] parameter(1) ROOT s = pred[] compare(p, q), direction=LT } ";
  const std::string one = "f { p = f32[] parameter(0) ROOT s = f32[] negate(p) } ";
  const std::string scatter =
      "f32[4] scatter(x, i, x), to_apply=f, update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1 }";
  const std::string sort = "f32[4] sort(x), dimensions={0}, to_apply=f }", reduce = "f32[] reduce(x, z), dimensions={0}, to_apply=f }";
  for (const std::string& right :
       {sum + entry + reduce, less + entry + sort, sum + entry + scatter, one + entry + "f32[4] map(x), to_apply=f }"})
    EXPECT_TRUE(verify(parsed(right)).empty()) << right;
  for (const std::string& wrong : {sum + entry + sort, one + entry + sort, ints + entry + sort, one + entry + reduce, one + entry + scatter,
                                   sum + entry + "f32[4] map(x), to_apply=f }"})
    EXPECT_EQ(verify(parsed(wrong)).size(), 1u) << wrong;
}

TEST(Verify, RefusesMixedPrecisionWhereNothingConverts) {
  for (const char* text :
       {"f { p = f64[4] parameter(0) ROOT n = f64[4] negate(p) } ENTRY e { x = f32[4] parameter(0) ROOT r = f64[4] call(x), to_apply=f }",
        "f { p = f32[4] parameter(0) ROOT n = f32[4] negate(p) } ENTRY e { x = f32[4] parameter(0) ROOT r = f64[4] call(x), to_apply=f }",
        "c { p = f32[4] parameter(0) ROOT n = pred[] constant(false) } b { p = f32[4] parameter(0) ROOT n = bf16[4] copy(p) } "
        "ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] while(x), condition=c, body=b }"}) {
    EXPECT_FALSE(verify(parsed(text)).empty()) << text;
  }
}

struct Broken {
  const char *name, *body, *what;
};
class BrokenShape : public testing::TestWithParam<Broken> {};

TEST_P(BrokenShape, IsFound) {
  const Module m = parsed(std::string("ENTRY e { x = f32[4,6]{1,0} parameter(0) s = f32[] parameter(1) i = s32[] parameter(2) "
                                      "v = f32[4] parameter(3) u = u64[3] parameter(4) ROOT r = ") +
                          GetParam().body + " }");
  const std::vector<Finding> findings = verify(m);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(m.name_of(m.instr(findings[0].at.comp, findings[0].at.instr)), "r");
  EXPECT_NE(findings[0].what.find(GetParam().what), std::string::npos) << findings[0].what;
}

INSTANTIATE_TEST_SUITE_P(
    Verify, BrokenShape,
    testing::Values(Broken{"Operands", "f32[4,6] add(x, s)", "one shape"}, Broken{"Count", "f32[4,6] negate(x, x)", "takes 1 operand"},
                    Broken{"Broadcast", "f32[6,4] broadcast(x), dimensions={0,1}", "does not stretch"},
                    Broken{"Reshape", "f32[25] reshape(x)", "number of elements"},
                    Broken{"Bitcast", "f32[25] bitcast(x)", "keeps the bytes"},
                    Broken{"TupleOfAnotherPrecision", "(f64[4,6], f32[]) tuple(x, s)", "gives (f32[4,6], f32[])"},
                    Broken{"BarrierOfAnotherPrecision", "bf16[4,6] opt-barrier(x)", "gives f32[4,6]"},
                    Broken{"Transpose", "f32[4,6] transpose(x), dimensions={1,0}", "gives f32[6,4]"},
                    Broken{"Slice", "f32[4,7] slice(x), slice={[0:4],[0:7]}", "not inside"},
                    Broken{"SliceStride", "f32[4,2] slice(x), slice={[0:4],[0:6:2]}", "gives f32[4,3]"},
                    Broken{"Pad", "f32[4,6] pad(x, s), padding=0_0x1_1", "gives f32[4,8]"},
                    Broken{"Concatenate", "f32[8,6] concatenate(x, x), dimensions={1}", "gives f32[4,12]"},
                    Broken{"Dot", "f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "differ in size"},
                    Broken{"DynamicSlice", "f32[4,7] dynamic-slice(x, i, i), dynamic_slice_sizes={4,7}", "larger"},
                    Broken{"Iota", "f32[4] iota(), iota_dimension=1", "not a dimension"},
                    Broken{"Compare", "f32[4,6] compare(x, x), direction=EQ", "gives pred[4,6]"},
                    Broken{"Convert", "s32[4,7] convert(x)", "keeps dimensions"}, Broken{"Type", "s32[4,6] negate(x)", "gives f32[4,6]"},
                    Broken{"Select", "f32[4,6] select(x, x, x)", "by pred"},
                    Broken{"Element", "f32[] get-tuple-element(x), index=0", "takes a tuple"},
                    Broken{"SizeOfNoDimension", "s32[] get-dimension-size(x), dimensions={2}", "not one dimension of f32[4,6]"},
                    Broken{"SizeOfTwoDimensions", "s32[] get-dimension-size(x), dimensions={0,1}", "not one dimension of f32[4,6]"},
                    Broken{"SizeSetNowhere", "f32[4,6] set-dimension-size(x, i), dimensions={-1}", "not one dimension of f32[4,6]"},
                    Broken{"SizeThatIsNoInteger", "f32[4,6] set-dimension-size(x, s), dimensions={0}", "the size is an s32[]"},
                    Broken{"PadOfAnotherType", "f32[4,6] pad(x, i), padding=0_0x0_0", "a scalar of its type, got s32[]"},
                    Broken{"PadBeyondAnyMachine", "f32[4,6] pad(x, s), padding=0_4611686018427387904x0_0", "more bytes than any machine"},
                    Broken{"FftOfAnotherLength", "f32[4,6] fft(x), fft_type=RFFT, fft_length={8}", "not that of f32[4,6]"},
                    Broken{"StartThatIsNoInteger", "f32[4,1] dynamic-slice(x, s, i), dynamic_slice_sizes={4,1}", "takes 2 starts"},
                    Broken{"UpdateOfAnotherType", "f32[4,6] dynamic-update-slice(x, i, i, i)", "rank and type"},
                    Broken{"IotaOfAScalar", "f32[] iota(), iota_dimension=0", "not a dimension"},
                    Broken{"BitcastToATuple", "(f32[4,6]) bitcast(x)", "takes and gives arrays"},
                    Broken{"BatchNormGradient", "(f32[4,6], f32[4], f32[4]) batch-norm-grad(x, v, v, v, v), epsilon=1, feature_index=0",
                           "has not the shape of f32[4,6]"},
                    Broken{"BitsOfTokens", "(u64[3], token[]) rng-bit-generator(u), algorithm=rng_philox", "numbers of one type"},
                    Broken{"HugePadding", "f32[4,6] pad(x, s), padding=9223372036854775807_9223372036854775807x0_0", "gives"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ir
