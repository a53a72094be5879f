// Products run by cuBLASLt as the fake plays it: results, what is recorded of them, and what happens where it refuses.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/device_cuda/fake.h"

namespace replay::cuda {
namespace {

/// Results in f32 of a sum that is long enough to be split: two operations of the GPU a call.
constexpr const char* kLong = R"(HloModule m
ENTRY e { a = f16[24,320] parameter(0)
 b = f16[320,40] parameter(1)
 c = f16[24,40] parameter(2)
 d = f32[24,40] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 g = f16[24,40] custom-call(a, b, c), custom_call_target="__cublas$gemm", backend_config={"alpha_real":1.25,"beta":1,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]}}
 h = f32[24,40] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 ROOT r = (f32[24,40], f16[24,40], f32[24,40]) tuple(d, g, h) }
)";

const model::KernelRecord* library_record(const Replayed& run) {
  const auto found = std::ranges::find(run.kernels, "library", &model::KernelRecord::language);
  return found == run.kernels.end() ? nullptr : &*found;
}

class CublasModes : public testing::TestWithParam<const char*> {};

TEST_P(CublasModes, ResultsAndTimesAreThoseOfTheLibrary) {
  plan_fake("");
  const Replayed run = replay_on_fake(kLong, {.mode = GetParam()});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.outcome.failed_step, -1);
  ASSERT_EQ(run.classes, (std::vector<Class>{Class::library, Class::library, Class::library}));
  const model::KernelRecord* record = library_record(run);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->implementation,
            "cuBLASLt 13.1: rank 1 of 2, algorithm 66, tile 20, stages 4, split-K 2, workspace 3840 B, 2 operations");
  EXPECT_EQ(record->source, "NN 40x24x320 f16·f16→f32, ld 40 320 40, transposed; addresses 0 0 0 0 0\n");
  EXPECT_EQ(run.device.libraries.substr(run.device.libraries.size() - 15), ", cuBLASLt 13.1");
  int64_t summed_ns = 0, samples = 0;
  for (const model::Sample& sample : run.kept.samples)
    if (sample.step == 0) summed_ns += sample.duration_ns, ++samples;
  const bool counted = std::string_view(GetParam()) != "events";
  EXPECT_TRUE(!counted || summed_ns == samples * 2 * 2001) << summed_ns;
  EXPECT_EQ(fake_report().find("left behind"), std::string::npos) << fake_report();
}
INSTANTIATE_TEST_SUITE_P(Cuda, CublasModes, testing::Values("stream", "graph", "events"),
                         [](const auto& info) { return std::string(info.param); });

/// Every call that can fail, each time it is made: the product gets a kernel of ours, which says why, and is no library's.
TEST(Cublas, AProductThatIsRefusedGetsAKernelWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"cublasLtCreate", "cublasLtCreate: CUBLAS_STATUS_NOT_INITIALIZED (1)"},
      {"cublasLtMatmulDescCreate", "cublasLtMatmulDescCreate: CUBLAS_STATUS_NOT_INITIALIZED (1)"},
      {"cublasLtMatmulDescSetAttribute", "cublasLtMatmulDescSetAttribute: CUBLAS_STATUS_NOT_INITIALIZED (1)"},
      {"cublasLtMatrixLayoutCreate", "cublasLtMatrixLayoutCreate: CUBLAS_STATUS_NOT_INITIALIZED (1)"},
      {"cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceCreate: CUBLAS_STATUS_NOT_INITIALIZED (1)"},
      {"cublasLtMatmulPreferenceSetAttribute", "cublasLtMatmulPreferenceSetAttribute: CUBLAS_STATUS_NOT_INITIALIZED (1)"},
      {"cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_INITIALIZED (1)"},
  };
  constexpr const char* kOne =
      "HloModule m\nENTRY e {\n a = f32[5,7] parameter(0)\n b = f32[7,3] parameter(1)\n"
      " ROOT d = f32[5,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
  for (const auto& [function, why] : cases) {
    plan_fake(std::string("fail=") + function + ":1:1");
    const Replayed run = replay_on_fake(kOne, {});
    ASSERT_FALSE(run.error) << function << ": " << run.error->message;
    EXPECT_EQ(run.outcome.failed_step, -1) << function;
    EXPECT_EQ(run.classes.at(0), Class::kernel) << function;
    EXPECT_EQ(library_record(run), nullptr) << function;
    EXPECT_TRUE(run.kernels.at(0).implementation.ends_with(std::string("; no library: ") + why)) << run.kernels[0].implementation;
    EXPECT_EQ(fake_report().find("left behind"), std::string::npos) << function << fake_report();
  }
}

TEST(Cublas, WhereTheFirstChoiceDoesNotRunTheNextDoes) {
  plan_fake("fail=cublasLtMatmul:1:15");
  const Replayed run = replay_on_fake(kLong, {.passes = 1});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.classes.at(0), Class::library);
  EXPECT_EQ(library_record(run)->implementation,
            "cuBLASLt 13.1: rank 2 of 2, algorithm 66, tile 20, stages 4, split-K 1, workspace 0 B, 1 operation");
}

/// The fake's first choice for a long sum makes two operations, its second one.
TEST(Cublas, TheFastestOfTheFirstChoicesRunsWhereTheyAreTimed) {
  plan_fake("");
  const Replayed run = replay_on_fake(kLong, {.passes = 1, .autotune = 5});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.outcome.failed_step, -1);
  const model::KernelRecord* record = library_record(run);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->implementation,
            "cuBLASLt 13.1: rank 2 of 2, algorithm 66, tile 20, stages 4, split-K 1, workspace 0 B, 1 operation, the fastest of 2");
  ASSERT_EQ(record->trials.size(), 2u);
  EXPECT_NEAR(record->trials[0].median_ns, 2 * 2001, 1);
  EXPECT_NEAR(record->trials[1].median_ns, 2001, 1);
  EXPECT_EQ(record->trials[0].implementation, "cuBLASLt 13.1: rank 1 of 2, algorithm 66, tile 20, stages 4, split-K 2, workspace 3840 B");
  EXPECT_FALSE(record->trials[0].chosen);
  EXPECT_TRUE(record->trials[1].chosen);
}

TEST(Cublas, TypesThatItDoesNotMultiplyGetAKernel) {
  plan_fake("");
  const Replayed run = replay_on_fake(
      "HloModule m\nENTRY e {\n a = s16[5,7] parameter(0)\n b = s16[7,3] parameter(1)\n"
      " ROOT d = s32[5,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
      {});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.classes.at(0), Class::kernel);
  EXPECT_TRUE(run.kernels.at(0).implementation.ends_with("; no library: cuBLASLt does not multiply s16 and s16 into s32"));
  EXPECT_EQ(fake_calls(fake_report(), "cublasLtCreate"), 0);
}

/// By the library, and where there is none by a kernel of ours that says so. Factors are real.
TEST(Cublas, ComplexNumbersAreMultiplied) {
  const auto text = [](const std::string& type) {
    return "HloModule m\nENTRY e {\n a = " + type + "[5,7] parameter(0)\n b = " + type + "[7,3] parameter(1)\n c = " + type +
           "[5,3] parameter(2)\n ROOT d = " + type +
           "[5,3] custom-call(a, b, c), custom_call_target=\"__cublas$gemm\", backend_config={\"alpha_real\":1.25,\"alpha_imag\":0,"
           "\"beta\":0.5,\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":[\"0\"],"
           "\"lhs_batch_dimensions\":[],\"rhs_batch_dimensions\":[]}}\n}\n";
  };
  for (const std::string type : {"c64", "c128"}) {
    plan_fake("");
    const Replayed by_library = replay_on_fake(text(type), {.passes = 1});
    ASSERT_FALSE(by_library.error) << by_library.error->message;
    EXPECT_EQ(by_library.outcome.failed_step, -1) << type;
    EXPECT_EQ(by_library.classes.at(0), Class::library) << type;
    plan_fake("fail=cublasLtCreate:1:1");
    const Replayed by_kernel = replay_on_fake(text(type), {.passes = 1});
    ASSERT_FALSE(by_kernel.error) << by_kernel.error->message;
    EXPECT_EQ(by_kernel.outcome.failed_step, -1) << type;
    EXPECT_EQ(by_kernel.classes.at(0), Class::kernel) << type;
    EXPECT_TRUE(by_kernel.kernels.at(0).implementation.ends_with("; no library: cublasLtCreate: CUBLAS_STATUS_NOT_INITIALIZED (1)"));
  }
}

/// What has neither a call of a library nor a kernel of that form, but a kernel made of its text.
TEST(Cublas, AProductThatIsMadeOfItsTextSaysWhy) {
  plan_fake("");
  const Replayed run = replay_on_fake(
      "HloModule m\nENTRY e {\n a = f8e4m3fn[5,7] parameter(0)\n b = f8e4m3fn[7,3] parameter(1)\n"
      " ROOT d = f8e4m3fn[5,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
      {.passes = 1});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.classes.at(0), Class::kernel);
  EXPECT_TRUE(run.kernels.at(0).implementation.ends_with("; no library: no product kernel of f8e4m3fn and f8e4m3fn into f8e4m3fn"))
      << run.kernels[0].implementation;
}

/// A program of one call, whose text lacks the two braces that end its configuration.
std::string program(std::string_view parameters, std::string_view call) {
  std::string text = "HloModule m\nENTRY e {\n";
  text += parameters;
  text += "\n ROOT d = ";
  text += call;
  return text + "}}\n}\n";
}
std::string config(const char* epilogue, const char* beta, const char* right = "0") {
  return std::string(", backend_config={\"gemm_backend_config\":{\"alpha_real\":0.5,\"beta\":") + beta +
         ",\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":[\"" + right +
         "\"],\"lhs_batch_dimensions\":[],\"rhs_batch_dimensions\":[]},\"epilogue\":\"" + epilogue + "\"";
}

struct Whole {
  const char* name;
  std::string text;
  const char* source;  ///< what cuBLASLt was asked for
};

std::vector<Whole> whole_calls() {
  const std::string lt = ", custom_call_target=\"__cublas$lt$matmul\"", f8 = ", custom_call_target=\"__cublas$lt$matmul$f8\"";
  const std::string ab = " a = f16[5,7] parameter(0)\n b = f16[7,8] parameter(1)";
  const std::string bias = "\n v = f16[8] parameter(2)", c = "\n c = f16[5,8] parameter(3)";
  const std::string e4m3 =
      " a = f8e4m3fn[16,32] parameter(0)\n b = f8e4m3fn[16,32] parameter(1)\n s = f32[] parameter(2)\n t = f32[] parameter(3)";
  const std::string results = "(f16[5,8], f16[5,8], s8[64]) custom-call(";
  return {
      {"relu", program(ab, "f16[5,8] custom-call(a, b)" + lt + config("RELU", "0")),
       "NN 8x5x7 f16·f16→f16, ld 8 7 8, alpha 0.5 beta 0, epilogue 2, transposed"},
      {"bias", program(ab + bias, "(f16[5,8], s8[64]) custom-call(a, b, v)" + lt + config("BIAS", "0")),
       "NN 8x5x7 f16·f16→f16, ld 8 7 8, alpha 0.5 beta 0, epilogue 4 with a bias of f16, transposed"},
      {"bias_relu_c", program(ab + bias + c, "(f16[5,8], s8[64]) custom-call(a, b, c, v)" + lt + config("BIAS_RELU", "1")),
       "NN 8x5x7 f16·f16→f16, ld 8 7 8, alpha 0.5 beta 1, epilogue 6 with a bias of f16, transposed"},
      {"bias_gelu_aux", program(ab + bias, results + "a, b, v)" + lt + config("BIAS_GELU_AUX", "0")),
       "NN 8x5x7 f16·f16→f16, ld 8 7 8, alpha 0.5 beta 0, epilogue 164 with a bias of f16, transposed"},
      {"f8", program(e4m3, "(bf16[16,16], s8[64]) custom-call(a, b, s, t)" + f8 + config("DEFAULT", "0", "1")),
       "TN 16x16x32 f8e4m3fn·f8e4m3fn→bf16, ld 32 32 16, alpha 0.5 beta 0, transposed"},
  };
}

TEST(CublasWhole, CallsWithAnEpilogueAreOneLaunchAndAgreeWithTheReference) {
  for (const Whole& one : whole_calls()) {
    plan_fake("");
    const Replayed run = replay_on_fake(one.text, {.passes = 1});
    ASSERT_FALSE(run.error) << one.name << ": " << run.error->message;
    EXPECT_EQ(run.outcome.failed_step, -1) << one.name;
    EXPECT_EQ(std::ranges::count(run.classes, Class::library), 1) << one.name;
    ASSERT_NE(library_record(run), nullptr) << one.name;
    const std::string& source = library_record(run)->source;
    EXPECT_EQ(source.substr(0, source.find(';')), one.source) << one.name;
  }
}

TEST(CublasWhole, WithoutTheLibraryOneKernelDoesTheSame) {
  for (const Whole& one : whole_calls()) {
    plan_fake("fail=cublasLtCreate:1:1");
    const Replayed run = replay_on_fake(one.text, {.passes = 1});
    ASSERT_FALSE(run.error) << one.name << ": " << run.error->message;
    EXPECT_EQ(run.outcome.failed_step, -1) << one.name;
    EXPECT_EQ(library_record(run), nullptr) << one.name;
    EXPECT_EQ(std::ranges::count_if(run.kernels, [](const auto& kernel) { return kernel.name.starts_with("product_"); }), 1) << one.name;
  }
}

TEST(CublasWhole, ACallTakenApartHasTheValuesOfTheWhole) {
  for (const Whole& one : whole_calls()) EXPECT_EQ(apart_and_whole(one.text), "") << one.name;
}

}  // namespace
}  // namespace replay::cuda
