// Whatever bytes come, for every text format of TensorFlow and Paddle alike: a result whose account balances, or an error with the file's
// name; never a crash, and time that grows with the input. (Symbol indexes have tests of their own.) PROFILE_HOSTILE=full runs the counts
// that take minutes: tools/nightly.sh does.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <random>

#include "importers/importer.h"
#include "src/base/text.h"
#include "src/model/store.h"
#include "tests/support/hostile.h"

namespace {

bool is_full() { return std::getenv("PROFILE_HOSTILE") != nullptr; }

std::string repeated(std::string_view text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += text;
  return result;
}

/// A small file of a format. "NAME" stands where a person may write any name.
struct Seed {
  const char* format;
  const char* text;
  const char* nests;  ///< what nests in it: repeated at its end, and in the middle
};
constexpr Seed kSeeds[] = {
    {"tensorflow-nodes",
     "model/dense/MatMul\nmodel/NAME/BiasAdd\ngradient_tape/model/dense/MatMul/MatMul_1\nSGD/SGD/update/ResourceApplyGradientDescent 7\n"
     "model/dense/BiasAdd/ReadVariableOp\nArithmeticOptimizer/ReorderCastLikeAndValuePreserving_float_Transpose\nmodel/x/clone_0\n",
     "a/"},
    {"tensorflow-graph",
     "node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"shape\" value { shape { dim "
     "{ size: -1 } dim { size: 4 } } } } }\n"
     "node { name: \"w/NAME\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 4 } dim { "
     "size: 2 } } float_val: 0.5 } } } attr { key: \"dtype\" value { type: DT_FLOAT } } }\n"
     "node { name: \"y\" op: \"MatMul\" input: \"x\" input: \"w/NAME:0\" attr { key: \"T\" value { type: DT_FLOAT } } attr { key: "
     "\"transpose_a\" value { b: false } } }\n"
     "node { name: \"z\" op: \"Relu\" input: \"y\" input: \"^x\" attr { key: \"T\" value { type: DT_FLOAT } } }\n"
     "node { name: \"d\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } "
     "tensor_content: \"\\001\\000\\000\\000\\010\\000\\000\\000\" } } } }\n"
     "node { name: \"r\" op: \"Reshape\" input: \"z\" input: \"d\" attr { key: \"T\" value { type: DT_FLOAT } } attr { key: "
     "\"_output_shapes\" value { list { shape { dim { size: 1 } dim { size: 8 } } } } } }\nversions { producer: 1 }\n",
     "attr { value { list { func { "},
    {"tensorflow-vlog",
     "2023-01-02 03:04:05.000001: I tensorflow/core/common_runtime/executor.cc:826] Process node: 1 step 2 {{node model/NAME/MatMul}} = "
     "MatMul[T=DT_FLOAT, _output_shapes=[[8,16]], transpose_a=false](x, y) device: /job:localhost/replica:0/task:0/device:GPU:0\n"
     "I0000 00:00:1795823616.519822   20229 executor.cc:879] Process node: 0 step -34 {{node _SOURCE}} = NoOp[]() device: d\n"
     "2023-01-02 03:04:05.000007: I tensorflow/core/framework/log_memory.cc:34] __LOG_MEMORY__ MemoryLogTensorOutput { step_id: 2 "
     "kernel_name: \"model/NAME/MatMul\" tensor { dtype: DT_FLOAT shape { dim { size: 8 } } } }\n",
     "[x={("},
    {"tensorflow-placement",
     "model/NAME/MatMul: (MatMul): /job:localhost/replica:0/task:0/device:GPU:0\n"
     "2023-01-02 03:04:05.000001: I tensorflow/core/common_runtime/placer.cc:114] y: (Placeholder): "
     "/job:localhost/replica:0/task:0/device:CPU:0\n",
     ": ("},
    {"tensorflow-step-stats",
     "step_stats { dev_stats { device: \"/job:localhost/replica:0/task:0/device:GPU:0\" node_stats { node_name: \"model/NAME/MatMul\" "
     "all_start_micros: 100 op_start_rel_micros: 1 op_end_rel_micros: 9 all_end_rel_micros: 10 output { tensor_description { dtype: "
     "DT_FLOAT shape { dim { size: 8 } } } } timeline_label: \"MatMul = MatMul(x, y)\" } } }\n",
     "x { "},
    {"tensorflow-timeline",
     "{\"traceEvents\": [{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\": \"/device:GPU:0 Compute\"}},\n"
     "{\"ph\": \"X\", \"cat\": \"Op\", \"name\": \"MatMul\", \"pid\": 1, \"tid\": 0, \"ts\": 100, \"dur\": 9, \"args\": {\"name\": "
     "\"model/NAME/MatMul\", \"op\": \"MatMul\", \"input0\": \"x\"}}]}\n",
     "[{\"a\": "},
    {"tensorflow-summarizer",
     "============ Run Order ============\n\t[node type]\t[start]\t[first]\t[avg ms]\t[%]\t[cdf%]\t[mem KB]\t[times "
     "called]\t[Name]\n\tConv2D\t0.401\t3.169\t3.169\t0.023%\t0.025%\t3211.264\t1\tmodel/NAME/conv\n\tRelu\t3.761\t0.150\t0.150\t0.001%\t"
     "0.027%\t0.000\t1\tconv2d0\n",
     "[x]\t"},
    {"horovod-timeline",
     "[\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\": \"HorovodAllreduce_NAME\"}},\n"
     "{\"ph\": \"B\", \"name\": \"NEGOTIATE_ALLREDUCE\", \"ts\": 1, \"pid\": 1},\n{\"ph\": \"E\", \"ts\": 5, \"pid\": 1},\n"
     "{\"ph\": \"B\", \"name\": \"ALLREDUCE\", \"ts\": 6, \"pid\": 1, \"args\": {\"dtype\": \"float32\", \"shape\": \"[64]\"}},\n"
     "{\"ph\": \"E\", \"ts\": 9, \"pid\": 1},\n",
     "[{\"a\": "},
    {"paddle",
     "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1\n"
     "    var NAME : LOD_TENSOR.shape(-1, 16).dtype(float32).stop_gradient(True)\n"
     "    persist trainable param w : LOD_TENSOR.shape(16, 8).dtype(float32).stop_gradient(False)\n"
     "    var y : LOD_TENSOR.shape(-1, 8).dtype(float32).stop_gradient(False)\n"
     "    var r : LOD_TENSOR.shape(-1, 8).dtype(float32).stop_gradient(False), dist_attr = {x: [1, 2]}\n\n"
     "    {Out=['y']} = matmul_v2(inputs={X=['NAME'], Y=['w']}, op_device = , op_namescope = /a/, op_role = 0, op_role_var = [], trans_x = "
     "False, trans_y = False)\n"
     "    {Out=['r']} = relu(inputs={X=['y']}, op_role = 0, shape = [1, -1], s = a, b)\n}\n",
     "[{("},
    {"paddle",
     "{\n    (%0) = \"pd_op.data\" () {dtype:float32,name:\"NAME\",place:Place(undefined:0),shape:[-1,16],stop_gradient:[true]} : () -> "
     "tensor<-1x16xf32>\n"
     "    (%1) = \"builtin.parameter\" () {parameter_name:\"w\",persistable:[true]} : () -> tensor<16x8xf32>\n"
     "    (%2) = \"pd_op.matmul\" (%0, %1) {stop_gradient:[false],transpose_x:false,transpose_y:false} : (tensor<-1x16xf32>, "
     "tensor<16x8xf32>) -> tensor<-1x8xf32>\n"
     "    (%3) = \"builtin.combine\" (%2, <<NULL VALUE>>) {} : (tensor<-1x8xf32>) -> vec[tensor<-1x8xf32>,tensor<f32>]\n"
     "    (%4) = \"pd_op.if\" (%0) {} : (tensor<b>) -> tensor<8xf32> {\n        () = \"cf.yield\" (%2) {} : (tensor<-1x8xf32>) -> \n"
     "    } else {\n    }\n}\n",
     "vec[{("},
    {"paddle",
     "blocks {\n  idx: 0\n  parent_idx: -1\n  vars {\n    name: \"NAME\"\n    type {\n      type: LOD_TENSOR\n      lod_tensor {\n        "
     "tensor {\n          data_type: FP32\n          dims: -1\n          dims: 16\n        }\n      }\n    }\n    persistable: false\n  "
     "}\n"
     "  vars { name: \"y\" type { type: LOD_TENSOR lod_tensor { tensor { data_type: FP32 dims: -1 dims: 16 } } } }\n"
     "  ops {\n    inputs {\n      parameter: \"X\"\n      arguments: \"NAME\"\n    }\n    outputs {\n      parameter: \"Out\"\n      "
     "arguments: \"y\"\n    }\n    type: \"relu\"\n    attrs {\n      name: \"op_role\"\n      type: INT\n      i: 0\n    }\n  }\n}\n",
     "x { "},
    {"paddle",
     "class GraphModule(paddle.nn.Layer):\n    def forward(self, parameter_0, data_0):\n"
     "        # pd_op.embedding: (1x21x128xf32) <- (1x21xi64, 30000x128xf32)\n"
     "        embedding_0 = paddle._C_ops.embedding(data_0, parameter_0, 0, False)\n"
     "        # pd_op.scale: (1x21x128xf32) <- (1x21x128xf32, 1xf32)\n"
     "        scale_0 = paddle._C_ops.scale(embedding_0, full_0, float(\"0\"), True)\n",
     "(["},
};

std::string with_name(const Seed& seed, std::string_view name) {
  std::string text = seed.text;
  for (size_t at = text.find("NAME"); at != text.npos; at = text.find("NAME", at + name.size())) text.replace(at, 4, name);
  return text;
}

/// Read as its format, whatever it looks like. True: it was imported.
bool survives(const char* format, std::string_view bytes) {
  importers::Input input{"hostile", bytes};
  input.options.as = format;
  const auto imported = importers::import(input);
  EXPECT_EQ(support::flaw_of(imported), "");
  return imported.ok();
}

class HostileText : public testing::TestWithParam<Seed> {
 protected:
  const char* format() const { return GetParam().format; }
  std::string seed() const { return with_name(GetParam(), "name"); }
};

TEST_P(HostileText, TheSeedIsKnownByItsContentAndRead) {
  const std::string text = seed();
  EXPECT_GE(importers::match({"hostile", text}), importers::Match::weak);
  EXPECT_TRUE(survives(format(), text));
}

TEST_P(HostileText, EveryCutIsHandled) {
  const std::string text = seed();
  const size_t parts = is_full() ? text.size() : 125;
  for (size_t part = 0; part < parts; ++part) survives(format(), std::string_view(text).substr(0, text.size() * part / parts));
}

TEST_P(HostileText, RandomEditsAreHandled) {
  const std::string text = seed();
  std::mt19937 random(11);
  for (int round = is_full() ? 10'000 : 150; round > 0; --round) survives(format(), support::edited(text, random));
}

TEST_P(HostileText, DeepNestingIsHandled) {
  const std::string deep = repeated(GetParam().nests, is_full() ? 1'000'000 : 100'000), text = seed();
  survives(format(), deep);
  survives(format(), text + deep);
  survives(format(), text.substr(0, text.size() / 2) + deep + text.substr(text.size() / 2));
  survives(format(), with_name(GetParam(), deep));
}

/// What is stored can be shown anywhere.
TEST_P(HostileText, NamesMayHoldAnything) {
  const std::string path = testing::TempDir() + "hostile" + std::to_string(::getpid()) + ".db";  // tests run at the same time
  for (const std::string& name : support::hostile_names()) {
    const std::string text = with_name(GetParam(), name);
    importers::Input input{"hostile", text};
    input.options.as = format();
    const auto imported = importers::import(input);
    if (!imported.ok()) continue;
    auto store = model::Store::open(path, model::OpenMode::fresh);
    ASSERT_TRUE(store.ok()) << store.error().message;
    const auto ids = store->add(*imported);
    ASSERT_TRUE(ids.ok()) << ids.error().message;
    const auto reader = model::Reader::open(path);
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    const auto rows = reader->query("SELECT name FROM op UNION ALL SELECT short_name FROM op UNION ALL SELECT text FROM note");
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    for (const auto& row : rows->rows) EXPECT_EQ(row[0].text, base::escaped(row[0].text));
  }
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(, HostileText, testing::ValuesIn(kSeeds), [](const auto& test) {
  std::string name = fmt::format("{}_{}", test.param.format, test.index);
  std::ranges::replace(name, '-', '_');
  return name;
});

// ---------------------------------------------------------------- many lines

struct Many {
  const char* format;
  int64_t lines;  ///< of the full count
  std::string (*line)(int64_t k);
  const char *head, *end;
};
/// Ten million lines where a line is a record of a list; fewer where each becomes an operator of a module that is lowered.
const Many kMany[] = {
    {"tensorflow-nodes", 10'000'000, [](int64_t k) { return fmt::format("m{}/l{}/MatMul\n", k / 100, k); }, "", ""},
    {"tensorflow-placement", 10'000'000, [](int64_t k) { return fmt::format("m/l{}: (MatMul): /device:GPU:0\n", k % 1000); }, "", ""},
    {"tensorflow-vlog", 10'000'000,
     [](int64_t k) {
       return fmt::format(
           "2023-01-02 03:04:05.000001: I executor.cc:826] Process node: 1 step {} {{{{node a{}}}}} = MatMul[](x) device: d\n", k / 1000,
           k % 1000);
     },
     "", ""},
    {"symbols", 10'000'000,
     [](int64_t k) {
       return fmt::format("<<n{}>> <<{}:{}-{}>> <<?>> <<SCOPE>> <<{}>>\n", k % 5000, k / 3 + 1, 9 * k, 9 * k + 5,
                          k % 5 == 0 ? "ANCHOR" : "LINK");
     },
     "", ""},
    {"ctags", 10'000'000, [](int64_t k) { return fmt::format("n{}\tf{}.py\t{};\"\tf\n", k % 5000, k / 1000, k % 1000 + 1); }, "", ""},
    {"tensorflow-step-stats", 10'000'000,
     [](int64_t k) {
       return fmt::format("node_stats {{ node_name: \"a{}\" all_start_micros: {} op_end_rel_micros: 9 all_end_rel_micros: 10 }}\n",
                          k % 1000, 20 * k);
     },
     "step_stats { dev_stats { device: \"/device:GPU:0\"\n", "} }\n"},
    {"tensorflow-timeline", 10'000'000,
     [](int64_t k) {
       return fmt::format(
           "{{\"ph\": \"X\", \"cat\": \"Op\", \"name\": \"MatMul\", \"pid\": 1, \"tid\": 0, \"ts\": {}, \"dur\": 9, \"args\": {{\"name\": "
           "\"a{}\", \"op\": \"MatMul\"}}}},\n",
           20 * k, k % 1000);
     },
     "{\"traceEvents\": [", "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\": \"/device:GPU:0 Compute\"}}]}\n"},
    {"horovod-timeline", 10'000'000,
     [](int64_t k) {
       return fmt::format("{{\"ph\": \"{}\", \"name\": \"ALLREDUCE\", \"ts\": {}, \"pid\": {}}},\n", k % 2 == 0 ? 'B' : 'E', 5 * k,
                          k / 2 % 1000);
     },
     "[\n", ""},
    {"tensorflow-graph", 500'000,
     [](int64_t k) { return fmt::format("node {{ name: \"n{}\" op: \"NoOp\" input: \"^n{}\" }}\n", k, k == 0 ? 0 : k - 1); }, "",
     "versions { producer: 1 }\n"},
    {"paddle", 1'000'000,
     [](int64_t k) { return fmt::format("    var v{} : LOD_TENSOR.shape(2, 3).dtype(float32).stop_gradient(True)\n", k); },
     "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1\n", "}\n"},
};

/// Of the processor: other programs on the machine do not count.
double seconds_of(const Many& many, int64_t lines) {
  std::string text = many.head;
  for (int64_t k = 0; k < lines; ++k) text += many.line(k);
  text += many.end;
  const std::clock_t begin = std::clock();
  survives(many.format, text);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%s: %lld lines, %.1f MB/s\n", many.format, static_cast<long long>(lines), 1e-6 * static_cast<double>(text.size()) / seconds);
  return seconds;
}

class ManyLines : public testing::TestWithParam<Many> {};

/// The bound is loose; what is quadratic exceeds it.
TEST_P(ManyLines, TimeGrowsWithTheLines) {
  const int64_t lines = GetParam().lines / (is_full() ? 1 : 50);
  const double small = seconds_of(GetParam(), lines / 10), large = seconds_of(GetParam(), lines);
  EXPECT_LT(large, 30 * small + 0.5);
}

INSTANTIATE_TEST_SUITE_P(, ManyLines, testing::ValuesIn(kMany), [](const auto& test) {
  std::string name = test.param.format;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
