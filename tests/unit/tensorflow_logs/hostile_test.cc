// Damaged files: cut, edited, nested deeply, with long lines. Every one gives a result whose account balances, or an error with a place.
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <random>

#include "src/base/decompress.h"
#include "tests/support/hostile.h"
#include "tests/unit/tensorflow_logs/fixture.h"

namespace {

constexpr std::string_view kFiles[] = {"own/mlp.executor_session_vlog.log",
                                       "own/mlp.executor_vlog.log",
                                       "own/mlp.graphdef.pbtxt",
                                       "own/mlp.log_memory.log",
                                       "own/mlp.mark_for_compilation_annotated.pbtxt",
                                       "own/mlp.placement_eager.log",
                                       "own/mlp.step_stats.pbtxt",
                                       "own/mlp.timeline.json",
                                       "own/mlp.xplane.pb",
                                       "tf1_stat_summarizer_run_order_cc85.log",
                                       "yaroslavvb_memory_util__tanh_chain.stderr"};

void survives(std::string_view text) { EXPECT_EQ(support::flaw_of(importers::import({"hostile", text})), ""); }

class Hostile : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    auto bytes = base::read_unpacked_file((kCorpus / GetParam()).string());
    if (!bytes.ok()) GTEST_SKIP() << bytes.error().message;
    text_ = bytes->substr(0, 20'000);
  }
  std::string text_;
};

/// Of the processor: other programs on the machine do not count.
double seconds_of(std::string_view text) {
  const std::clock_t begin = std::clock();
  survives(text);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

std::string repeated(std::string_view text, size_t bytes) {
  std::string result;
  while (result.size() < bytes) result += text;
  return result;
}

}  // namespace

TEST_P(Hostile, CutAtFiveHundredPlaces) {
  for (size_t i = 0; i < 500; ++i) survives(std::string_view(text_).substr(0, text_.size() * i / 500));
}

TEST_P(Hostile, RandomEdits) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) survives(support::edited(text_, random));
}

INSTANTIATE_TEST_SUITE_P(Tensorflow, Hostile, testing::ValuesIn(kFiles), [](const auto& test) {
  std::string name(test.param);
  for (char& c : name) c = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
  return name;
});

TEST(HostileShapes, DeepNestingAndLongLines) {
  survives("node { name: \"a\" op: \"x\" " + repeated("attr { value { list { func { ", 1'000'000));
  survives("step_stats { dev_stats { " + repeated("x { ", 1'000'000));
  survives("{\"traceEvents\": [{\"name\": \"process_name\", \"args\": \" Compute\", \"x\": " + repeated("[", 1'000'000));
  survives("Process node: 1 step 2 {{node a}} = Op[" + repeated("x=[", 1'000'000));
  survives("Process node: 1 step 2 {{node a}} = Op[](" + repeated("x, ", 1'000'000) + ") device: d");
  survives("[node type]" + repeated(" [x] ", 1'000'000) + "\n" + repeated("a  ", 1'000'000));
}

/// A call in a call, an output by name, an argument handed on.
TEST(HostileShapes, FunctionsThatAreEdited) {
  const std::string text = R"(node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "shape" value { shape { dim { size: 8 } } } } }
node { name: "c" op: "f" input: "x" input: "^x" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "y" op: "Neg" input: "c:1" attr { key: "T" value { type: DT_FLOAT } } }
library {
  function { signature { name: "f" input_arg { name: "a" } output_arg { name: "b" } output_arg { name: "same" } }
    node_def { name: "d" op: "PartitionedCall" input: "a" input: "a" attr { key: "f" value { func { name: "g" } } } }
    node_def { name: "n" op: "Neg" input: "d:output:0" attr { key: "T" value { placeholder: "T" } } }
    ret { key: "b" value: "n:y:0" } ret { key: "same" value: "a" } control_ret { key: "n" value: "n" } }
  function { signature { name: "g" input_arg { name: "p" } input_arg { name: "q" } output_arg { name: "r" } }
    node_def { name: "u" op: "Unique" input: "p" } node_def { name: "m" op: "Mul" input: "u:idx:0" input: "q" input: "^u" }
    ret { key: "r" value: "m:z:0" } }
})";
  survives(text);
  std::mt19937 random(11);
  for (int i = 0; i < 1000; ++i) survives(support::edited(text, random));
}

/// Ten times the text must not take a hundred times as long.
TEST(HostileShapes, TimeIsLinear) {
  const std::string_view lines[] = {
      "2023-01-02 03:04:05.000001: I tensorflow/core/common_runtime/executor.cc:826] Process node: 1 step 2 {{node a}} = "
      "MatMul[T=DT_FLOAT](x, y) device: d\n",
      "2023-01-02 03:04:05.000001: I tensorflow/core/common_runtime/executor.cc:826] Process node: 1 step broken Process node: \n",
      "a/b: (MatMul): /job:localhost/replica:0/task:0/device:GPU:0\n",
      "node { name: \"a\" op: \"x\" input: \"b\" }\n",
      "step_stats { dev_stats { device: \"a\" node_stats { node_name: \"b\" all_start_micros: 1 } } }\n",
      "[node type]  [avg ms]  [Name]\n a  1  b\n"};
  for (const std::string_view line : lines) {
    const double small = seconds_of(repeated(line, 1 << 19)), large = seconds_of(repeated(line, 10 << 19));
    EXPECT_LT(large, 30 * small + 0.5) << line;
    fmt::print("{:.0f} MB/s: {}\n", 5.24288 / large, line.substr(0, 60));
  }
}
