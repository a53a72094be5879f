// Custom calls are known by their name alone: nothing else vouches for their operands and results. One that does not fit is refused.
#include <gtest/gtest.h>

#include "importers/hlo/hlo.h"
#include "replay/inputs.h"
#include "replay/reference/reference.h"

namespace replay::reference {
namespace {

struct Broken {
  const char *name, *operands, *call, *message;
};
constexpr Broken kBroken[] = {
    {"FunctionOfFewer", "x = f32[2]{0} parameter(0)", R"(f32[4]{0} custom-call(x), custom_call_target="AwsNeuronGelu")",
     "its result's shape"},
    {"FunctionOfIntegers", "x = s32[2]{0} parameter(0)", R"(f32[2]{0} custom-call(x), custom_call_target="AwsNeuronSilu")", "takes floats"},
    {"FunctionOfNothing", "", R"(f32[2]{0} custom-call(), custom_call_target="xla_builder.math.Acos")", "lacks an operand"},
    {"NextAfterFewer", "x = f32[2]{0} parameter(0)  y = f32[1]{0} parameter(1)",
     R"(f32[2]{0} custom-call(x, y), custom_call_target="xla_builder.math.NextAfter")", "its result's shape"},
    {"NextAfterOtherType", "x = f32[2]{0} parameter(0)  y = s32[2]{0} parameter(1)",
     R"(f32[2]{0} custom-call(x, y), custom_call_target="xla_builder.math.NextAfter")", "f32 or f64"},
    {"VectorsOfMore", "x = c64[2,2]{1,0} parameter(0)",
     R"((c64[2,4]{1,0}, f32[2]{0}, s32[]) custom-call(x), custom_call_target="lapack_cheevd_ffi")", "4 elements of c64 as result 0"},
    {"ValuesOfIntegers", "x = f32[2,2]{1,0} parameter(0)",
     R"((f32[2,2]{1,0}, s32[2]{0}, s32[]) custom-call(x), custom_call_target="lapack_ssyevd_ffi")", "2 elements of f32 as result 1"},
    {"PivotsOfMore", "x = f32[2,2]{1,0} parameter(0)",
     R"((f32[2,2]{1,0}, s32[9]{0}, s32[]) custom-call(x), custom_call_target="lapack_sgetrf_ffi")", "2 elements of s32 as result 1"},
    {"ReflectionsOfIntegers", "x = f32[2,2]{1,0} parameter(0)  t = s32[2]{0} parameter(1)",
     R"(f32[2,2]{1,0} custom-call(x, t), custom_call_target="lapack_sorgqr_ffi")", "its matrices' type"},
    {"MoreOfTopK", "x = f32[4]{0} parameter(0)", R"((f32[2]{0}, s32[3]{0}) custom-call(x), custom_call_target="TopK")", "as result 1"},
    {"ProductOfMore", "a = f32[2,3]{1,0} parameter(0)  b = f32[3,2]{1,0} parameter(1)",
     R"(f32[2,9]{1,0} custom-call(a, b), custom_call_target="__cublas$gemm", backend_config={"alpha_real":1,"alpha_imag":0,"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]},"epilogue":"DEFAULT"})",
     "other dimensions"},
    {"BatchesOfMore", "a = f32[4,2,3]{2,1,0} parameter(0)  b = f32[2,3,2]{2,1,0} parameter(1)",
     R"(f32[4,2,2]{2,1,0} custom-call(a, b), custom_call_target="__cublas$gemm", backend_config={"alpha_real":1,"alpha_imag":0,"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":["2"],"rhs_contracting_dimensions":["1"],"lhs_batch_dimensions":["0"],"rhs_batch_dimensions":["0"]},"epilogue":"DEFAULT"})",
     "do not fit"},
    {"ProductPlusFewer", "a = f32[2,3]{1,0} parameter(0)  b = f32[3,2]{1,0} parameter(1)  c = f32[1,2]{1,0} parameter(2)",
     R"(f32[2,2]{1,0} custom-call(a, b, c), custom_call_target="__cublas$gemm", backend_config={"alpha_real":1,"alpha_imag":0,"beta":1,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]},"epilogue":"DEFAULT"})",
     "other dimensions"},
    {"GroupsThatDoNotDivide", "x = f32[1,4,3]{2,1,0} parameter(0)  w = f32[2,2,3]{2,1,0} parameter(1)",
     R"((f32[1,3,2]{2,1,0}, u8[0]{0}) custom-call(x, w), window={size=2}, dim_labels=bf0_0io->bf0, feature_group_count=2, custom_call_target="__cudnn$convForward")",
     "do not fit its dimension labels"},
    {"NoDilation", "x = f32[1,1,3]{2,1,0} parameter(0)  w = f32[2,1,1]{2,1,0} parameter(1)",
     R"((f32[1,1,2]{2,1,0}, u8[0]{0}) custom-call(x, w), window={size=2 lhs_dilate=0}, dim_labels=bf0_0io->bf0, custom_call_target="__cudnn$convForward")",
     "dilations ≥ 1"},
};

class CallThatDoesNotFit : public testing::TestWithParam<Broken> {};

TEST_P(CallThatDoesNotFit, IsRefused) {
  const std::string text = std::string("HloModule m\nENTRY e {\n") + GetParam().operands + "\nROOT r = " + GetParam().call + "\n}\n";
  const auto module = importers::hlo::parse(text, "test");
  ASSERT_TRUE(module.ok()) << module.error().message;
  std::vector<Tensor> arguments;
  for (const ir::InstrId parameter : module->comp(module->entry).parameters)
    arguments.push_back(generate({}, module->shape(module->comp(module->entry).instrs[static_cast<size_t>(parameter)]), 1, "x"));
  const auto made = Evaluator(*module, Rounding::each).run(module->entry, arguments);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find(GetParam().message), std::string::npos) << made.error().message;
}

INSTANTIATE_TEST_SUITE_P(Of, CallThatDoesNotFit, testing::ValuesIn(kBroken), [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace replay::reference
