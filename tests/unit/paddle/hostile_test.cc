// Any bytes give an import or an error: cut files, random edits, deep nesting, long lists. And 50 MB in a second or two.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "importers/paddle/listing.h"
#include "src/base/file.h"
#include "tests/support/hostile.h"
#include "tests/unit/paddle/run.h"

namespace importers::paddle {
namespace {

/// Reads and lowers; what comes out is of no interest here. True if it was imported.
bool survives(std::string_view text) {
  const auto result = keep_modules(Input{"hostile", text}, [](const Input& in, const TakeModule& take) { return read(in, take); });
  EXPECT_EQ(support::flaw_of(result), "");
  return result.ok();
}

/// Small texts of all forms; the sample, of which some lines are enough.
std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const std::string_view name :
       {"own/mlp.legacy.txt", "own/mlp.pir.txt", "community_control_flow_2_oldir.txt", "community_pir_save_load_2_pir.txt",
        "fluid1.x_protobuf_text_0.txt", "community_QA_learning_0_pir.txt"}) {
    if (const auto text = base::read_file(fmt::format("{}/corpus/paddle/{}", shared_folder(), name)); text.ok()) texts.push_back(*text);
  }
  texts.emplace_back(R"(class GraphModule(paddle.nn.Layer):
    def forward(self, parameter_0, data_0):
        # pd_op.embedding: (1x21x128xf32) <- (1x21xi64, 30000x128xf32)
        embedding_0 = paddle._C_ops.embedding(data_0, parameter_0, 0, False)
)");
  return texts;
}

TEST(Hostile, CutFilesAreReadOrRefused) {
  for (const std::string& text : seeds()) {
    for (size_t part = 0; part < 200; ++part) survives(std::string_view(text).substr(0, text.size() * part / 200));
  }
}

TEST(Hostile, EditedFilesAreReadOrRefused) {
  std::mt19937 random(1);
  for (const std::string& text : seeds()) {
    for (int round = 0; round < 400; ++round) survives(support::edited(text, random));
  }
}

TEST(Hostile, DeepNestingIsRefused) {
  constexpr size_t kDeep = 200'000;
  const std::string open(kDeep, '['), brace(kDeep, '{');
  EXPECT_FALSE(survives("{\n(%0) = \"a\" () {x:" + open + "} : () -> tensor<f32>\n}"));
  EXPECT_FALSE(survives("{\n(%0) = \"a\" () {} : () -> " + [] {
    std::string types;
    for (size_t i = 0; i < kDeep; ++i) types += "vec[";
    return types;
  }()));
  std::string regions = "{\n";
  for (size_t i = 0; i < kDeep; ++i) regions += "() = \"pd_op.if\" (%0) {} -> {\n";
  EXPECT_FALSE(survives(regions));
  std::string messages = "blocks { ";
  for (size_t i = 0; i < kDeep; ++i) messages += "x { ";
  EXPECT_FALSE(survives(messages));
  std::string list = "{ // block 0\n    {Out=['a']} = relu(inputs={X=['b']}, x = " + open + ")\n}\n";
  EXPECT_FALSE(survives(list));
}

TEST(Hostile, BlocksThatRunEachOtherEnd) {
  std::string text;
  for (int k = 0; k < 40; ++k) {
    text += fmt::format("{{ // block {}\n    var c : LOD_TENSOR.shape(1,).dtype(bool).stop_gradient(True)\n", k);
    for (int twice = 0; twice < 2; ++twice)
      text += fmt::format("    {{Out=[]}} = conditional_block(inputs={{Cond=['c']}}, sub_block = block[{}])\n", (k + 1) % 40);
    text += "}\n";
  }
  survives(text);
}

/// A list of twice the list before it, 64 times: more elements than atoms, were it taken apart.
TEST(Hostile, ListsOfListsAreNotSpread) {
  std::string text = "{\n    (%0) = \"pd_op.data\" () {dtype:float32,name:\"x\",shape:[2]} : () -> tensor<2xf32>\n";
  for (int k = 0; k < 64; ++k)
    text += fmt::format(
        "    (%{0}) = \"builtin.combine\" (%{1}, %{1}) {{}} : (tensor<2xf32>, tensor<2xf32>) -> vec[tensor<2xf32>,tensor<2xf32>]\n", k + 1,
        k);
  EXPECT_TRUE(survives(text + "}\n"));
}

/// Each use of a long list is a short line.
TEST(Hostile, LongListsMayBeUsedOften) {
  constexpr int kMany = 20'000;
  std::string values, types, text = "{\n    (%0) = \"pd_op.data\" () {dtype:float32,name:\"x\",shape:[2]} : () -> tensor<2xf32>\n";
  for (int k = 0; k < kMany; ++k) values += k == 0 ? "%0" : ", %0", types += k == 0 ? "tensor<2xf32>" : ",tensor<2xf32>";
  text += fmt::format("    (%1) = \"builtin.combine\" ({}) {{}} : ({}) -> vec[{}]\n", values, types, types);
  for (int k = 0; k < kMany; ++k) {
    const std::string_view type = k % 2 == 0 ? "builtin.split" : "pd_op.unheard";
    text += fmt::format("    (%{}) = \"{}\" (%1) {{}} : (vec[tensor<2xf32>]) -> tensor<2xf32>\n", k + 2, type);
  }
  EXPECT_TRUE(survives(text + "}\n"));
}

TEST(Hostile, NamesMayHoldAnything) {
  const std::string name = "a\"\x01\xFF{}()<>\t%";
  EXPECT_TRUE(survives("{ // block 0\n    var " + name + " : LOD_TENSOR.shape(2,).dtype(float32).stop_gradient(True)\n    {Out=['" + name +
                       "']} = exp(inputs={X=['" + name + "']}, op_role = 0)\n}\n"));
  EXPECT_TRUE(
      survives("{ // block 0\n    var x : LOD_TENSOR.shape(9223372036854775807, 9223372036854775807).dtype(float32).stop_gradient(True)\n  "
               "  {Out=['y']} = exp(inputs={X=['x']}, op_role = 0)\n}\n"));
}

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string long_readable(size_t bytes) {
  std::string text = "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1\n";
  for (size_t k = 0; text.size() < bytes / 5; ++k)
    text += fmt::format("    var linear_{}.tmp_0 : LOD_TENSOR.shape(1, 2048, 4096).dtype(float16).stop_gradient(False)\n", k);
  for (size_t k = 0; text.size() < bytes; ++k)
    text += fmt::format(
        "    {{Out=['linear_{0}.tmp_0']}} = matmul_v2(inputs={{X=['linear_{0}.tmp_0'], Y=['w_{0}']}}, op_device = , op_namescope = "
        "//auto_parallel/rc_2/, op_role = 0, op_role_var = [], trans_x = False, trans_y = False, with_quant_attr = False)\n",
        k);
  return text + "}\n";
}

std::string long_pir(size_t bytes) {
  std::string text =
      "{\n    (%0) = \"pd_op.data\" () {dtype:float32,name:\"x\",place:Place(undefined:0),shape:[64,64]} : () -> tensor<64x64xf32>\n";
  for (size_t k = 1; text.size() < bytes; ++k)
    text += fmt::format(
        "    (%{}) = \"pd_op.add\" (%{}, %0) {{stop_gradient:[false],struct_name:\"/Linear/\"}} : (tensor<64x64xf32>, tensor<64x64xf32>) "
        "-> tensor<64x64xf32>\n",
        k, k - 1);
  return text + "}\n";
}

/// Generous for slow machines and sanitizers; twice the text may take little more than twice the time.
TEST(Hostile, LongFilesTakeLinearTime) {
  for (const auto& make : {long_readable, long_pir}) {
    const std::string small = make(5u << 20), large = make(20u << 20);
    const auto list = [](const std::string& text) { return seconds([&] { EXPECT_TRUE(read_listing({"long.txt", text}).ok()); }); };
    list(small);
    const double once = list(small), four = list(large);
    std::printf("listing: %.0f MB/s\n", static_cast<double>(large.size()) / 1e6 / four);
    EXPECT_LT(four, 12 * once + 0.5);
  }
}

}  // namespace
}  // namespace importers::paddle
