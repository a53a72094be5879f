// Logs line by line: prefixes, pairs of begin and end, shapes, tables.
#include <fmt/format.h>

#include <ctime>

#include "importers/tensorflow/log.h"
#include "importers/tensorflow/vlog.h"
#include "tests/unit/tensorflow_logs/fixture.h"

using importers::tensorflow::log_line;
using importers::tensorflow::node_summary;

namespace {

constexpr std::string_view kOld = "2017-01-02 03:04:05: I tensorflow/core/common_runtime/executor.cc:1269] ";
constexpr std::string_view kDevice = "/job:localhost/replica:0/task:0/device:CPU:0";

/// A line of TensorFlow 1.13 to 2.15 at a number of µs in the second.
std::string line(int micros, std::string_view text) {
  return fmt::format("2023-01-02 03:04:05.{:06}: I tensorflow/core/common_runtime/executor.cc:826] {}\n", micros, text);
}

const model::Recording::Timing& timing(const model::Imported& from, size_t i, size_t recording = 0) {
  return from.recordings.at(recording).timings.at(i);
}

}  // namespace

TEST(LogLine, ThreePrefixesAndNone) {
  const auto dated = log_line("2023-01-02 03:04:05.123456: I tensorflow/core/common_runtime/executor.cc:826] text");
  EXPECT_EQ(dated.file, "executor.cc");
  EXPECT_EQ(dated.text, "text");
  EXPECT_EQ(dated.at_ns, 1672628645123456000);
  EXPECT_EQ(log_line(fmt::format("{}x", kOld)).at_ns, 1483326245000000000);
  const auto absl = log_line("I0000 00:00:1795823645.658042   20378 executor.cc:879] a");
  EXPECT_EQ(absl.file, "executor.cc");
  EXPECT_EQ(absl.at_ns, 1795823645658042000);
  const auto local = log_line("I1127 23:57:48.114775 27517 file.cc:1606] a");
  EXPECT_EQ(local.text, "a");
  EXPECT_EQ(local.at_ns, (int64_t{330} * 86400 + 23 * 3600 + 57 * 60 + 48) * 1'000'000'000 + 114775000);
  EXPECT_EQ(log_line("MatMul: (MatMul): /job:x").text, "MatMul: (MatMul): /job:x");
  EXPECT_FALSE(log_line("I0000 00:00:99999999999999 1 executor.cc:1] a").at_ns);
  EXPECT_FALSE(log_line("9018-01-02 03:04:05.123456: I tensorflow/core/common_runtime/executor.cc:826] text").at_ns);
}

TEST(NodeSummary, BracesFunctionsAndNestedAttributes) {
  const auto node = node_summary(
      R"({{function_node __inference_f_1}} {{node a/b}} = Op[T=DT_FLOAT, f=g[x=[1, 2]], s="](", v=Tensor<type: int32 shape: [2] values: 1 2>](x, y:1, ^z) is dead device: d)");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->name, "a/b");
  EXPECT_EQ(node->type, "Op");
  EXPECT_EQ(node->inputs, "x, y:1, ^z");
  EXPECT_EQ(node->rest, " is dead device: d");
  const auto attributes = importers::tensorflow::summary_attributes(node->attributes);
  ASSERT_EQ(attributes.size(), 4);
  EXPECT_EQ(attributes[1].second, "g[x=[1, 2]]");
  EXPECT_EQ(attributes[2].second, "\"](\"");
  EXPECT_EQ(attributes[3].second, "Tensor<type: int32 shape: [2] values: 1 2>");
  EXPECT_FALSE(node_summary("no summary"));
}

TEST(Vlog, OldLinesWithoutBraces) {
  const model::Imported read = imported(fmt::format(
      "{}Process node: 3 step 2 w/read = Identity[T=DT_FLOAT, _class=[\"loc:@w\"], _device=\"/job:localhost/replica:0/task:0/gpu:0\"](w)\n",
      kOld));
  const model::Operator read_op = op(read, "w/read");
  EXPECT_EQ(read_op.type, "Identity");
  EXPECT_EQ(read_op.device, "/job:localhost/replica:0/task:0/gpu:0");
  EXPECT_EQ(read_op.inputs, std::vector<std::string>{"w"});
  EXPECT_EQ(read_op.scope, "w");
  EXPECT_FALSE(note(read, "no-times").empty());
}

TEST(Vlog, EndsArePairedByStepAndIdAcrossThreads) {
  const auto node = [](std::string_view name, std::string_view type) {
    return fmt::format("{{{{node {}}}}} = {}[T=DT_FLOAT]() device: {}", name, type, kDevice);
  };
  const std::string log =
      line(100, "Process node: 1 step 8 " + node("a", "MatMul")) + line(110, "Process node: 2 step 8 " + node("b", "_Recv")) +
      line(115, "Process node: 3 step -1 " + node("fold", "Const")) + line(150, "Async kernel done: 2 step 8 " + node("b", "_Recv")) +
      line(180, "Synchronous kernel done: 1 step 8 " + node("a", "MatMul")) + line(200, "Process node: 1 step 9 " + node("a", "MatMul")) +
      line(290, "Synchronous kernel done: 1 step 9 " + node("a", "MatMul")) +
      line(300, "Synchronous kernel done: 7 step 9 " + node("c", "MatMul"));
  const model::Imported read = imported(log);
  EXPECT_EQ(read.operators.size(), 2);
  ASSERT_EQ(read.recordings.size(), 1);
  ASSERT_EQ(read.recordings[0].timings.size(), 3);
  EXPECT_EQ(timing(read, 0).duration_ns, 40'000);
  EXPECT_EQ(timing(read, 0).begin_ns, 10'000);
  EXPECT_EQ(timing(read, 1).duration_ns, 80'000);
  EXPECT_EQ(timing(read, 2).pass, 1);
  EXPECT_EQ(read.recordings[0].started_unix_ns, 1672628645000100000);
  EXPECT_EQ(read.source.read, 8);
  EXPECT_EQ(read.source.dropped, 2);
  EXPECT_EQ(note(read, "constant-folding"), "1 executions of step -1 (constant folding) are passed over");
  EXPECT_EQ(note(read, "dropped-record"), "a kernel is done whose begin the log does not have");
}

TEST(Vlog, OneDnnTypesGetTheFrameworksNames) {
  const auto node = [](std::string_view name, std::string_view type) {
    return fmt::format("Process node: 1 step 8 {{{{node {}}}}} = {}[]() device: {}", name, type, kDevice);
  };
  const model::Imported read =
      imported(line(1, node("a", "_MklMatMul")) + line(2, node("b", "_MklNativeFusedConv2D")) +
               line(3, node("c", "_MklNativeFusedBatchNormV3")) + line(4, node("d", "_MklNativeFusedBatchNormEx")));
  EXPECT_EQ(op(read, "a").type, "MatMul");
  EXPECT_EQ(op(read, "a").note, "ran as _MklMatMul");
  EXPECT_EQ(op(read, "b").type, "_FusedConv2D");
  EXPECT_EQ(op(read, "c").type, "FusedBatchNormV3");
  EXPECT_EQ(op(read, "d").type, "_FusedBatchNormEx");
}

TEST(Vlog, MemoryLinesGiveShapesAndHaveMarkers) {
  const std::string memory =
      "I0000 00:00:1795823938.694048   28005 log_memory.cc:34] __LOG_MEMORY__ MemoryLogTensorOutput { goo.gle/debugproto   step_id: 2 "
      "kernel_name: "
      "\"s\" {}tensor { dtype: DT_FLOAT shape { dim { size: 8 } dim { size: 1 } } allocation_description { requested_bytes: 32 } } }\n";
  std::string second = memory;
  second.replace(second.find("{}"), 2, "index: 1 ");
  std::string first = memory;
  first.replace(first.find("{}"), 2, "");
  const model::Imported read = imported(line(1, "Process node: 1 step 2 {{node s}} = Split[]() device: x") + second + first);
  EXPECT_EQ(op(read, "s").shape, "(f32[8,1], f32[8,1])");
  const model::Imported alone = imported(first);
  EXPECT_EQ(op(alone, "s").shape, "f32[8,1]");
}

TEST(Placement, AllSpellingsOnceEach) {
  const model::Imported read = imported(
      "a/MatMul: (MatMul): /job:localhost/replica:0/task:0/device:GPU:0\n"
      "2018-01-02 03:04:05.000001: I tensorflow/core/common_runtime/placer.cc:875] a/MatMul: "
      "(MatMul)/job:localhost/replica:0/task:0/device:GPU:0\n"
      "2018-01-02 03:04:05.000001: I tensorflow/core/common_runtime/placer.cc:875] b: (Const)/job:localhost/replica:0/task:0/cpu:0\n"
      "Device mapping:\n/job:localhost/replica:0/task:0/device:GPU:0 -> device: 0, name: Tesla V100\n");
  EXPECT_EQ(read.operators.size(), 2);
  EXPECT_EQ(op(read, "b").device, "/job:localhost/replica:0/task:0/cpu:0");
  EXPECT_EQ(op(read, "b").phase, model::Phase::auxiliary);
  EXPECT_EQ(read.source.dropped, 1);
}

TEST(StepStats, KernelsOfStreamsBelongToTheirNodes) {
  const model::Imported read = imported(R"_(step_stats {
    dev_stats { device: "/job:localhost/replica:0/task:0/device:GPU:0"
      node_stats { node_name: "dense/MatMul" all_start_micros: 1500000000000000 op_start_rel_micros: 3 op_end_rel_micros: 40
        output { tensor_description { dtype: DT_FLOAT shape { dim { size: 32 } } } }
        timeline_label: "dense/MatMul = MatMul(x, dense/MatMul/ReadVariableOp)" } }
    dev_stats { device: "/device:GPU:0/stream:all"
      node_stats { node_name: "dense/MatMul:MatMul" all_start_micros: 1500000000000010 op_end_rel_micros: 20
        timeline_label: "volta_sgemm @@dense/MatMul:MatMul#id" } } })_");
  ASSERT_EQ(read.operators.size(), 1);
  EXPECT_EQ(op(read, "dense/MatMul").shape, "f32[32]");
  EXPECT_EQ(op(read, "dense/MatMul").inputs.size(), 2);
  ASSERT_EQ(read.recordings.size(), 2);
  EXPECT_EQ(timing(read, 0, 0).duration_ns, 37'000);
  EXPECT_EQ(read.recordings[0].timer, "step_stats: launches from the host");
  EXPECT_EQ(timing(read, 0, 1).duration_ns, 20'000);
  EXPECT_EQ(timing(read, 0, 1).op, 0);
  EXPECT_EQ(read.recordings[1].started_unix_ns, 1500000000000010000);
}

TEST(Timeline, OperatorsAndSnapshots) {
  const model::Imported read = imported(R"_({"traceEvents": [
 {"ph": "M", "pid": 1, "args": {"name": "/job:localhost/replica:0/task:0/device:CPU:0 Compute"}, "name": "process_name"},
 {"ph": "X", "tid": 0, "cat": "Op", "ts": 1500000000000000, "dur": 45, "pid": 1, "name": "MatMul", "args": {"op": "MatMul", "name": "d/MatMul", "input0": "x", "input1": "w"}},
 {"ph": "O", "cat": "Tensor", "name": "d/MatMul", "pid": 2, "args": {"snapshot": {"tensor_description": "dtype: DT_FLOAT\nshape {\n  dim {\n size: 8\n }\n}\nallocation_description {\n allocator_name: mklcpu\n}\n"}}}]})_");
  EXPECT_EQ(op(read, "d/MatMul").shape, "f32[8]");
  EXPECT_EQ(op(read, "d/MatMul").inputs.size(), 2);
  EXPECT_EQ(timing(read, 0).duration_ns, 45'000);
  EXPECT_EQ(read.recordings[0].device, "/job:localhost/replica:0/task:0/device:CPU:0");
}

TEST(Summarizer, TensorFlowLiteWithoutStartAndWithInitialisation) {
  const model::Imported read = imported(
      "Profiling Info for Benchmark Initialization:\n============================== Run Order ==============================\n"
      "\t             [node type]\t  [first]\t [avg ms]\t     [%]\t  [cdf%]\t  [mem KB]\t[times called]\t[Name]\n"
      "\t AllocateTensors\t    0.066\t    0.066\t100.000%\t100.000%\t     0.000\t        1\tAllocateTensors/0\n\n"
      "Operator-wise Profiling Info for Regular Benchmark Runs:\n============================== Run Order ==============================\n"
      "\t             [node type]\t  [first]\t [avg ms]\t     [%]\t  [cdf%]\t  [mem KB]\t[times called]\t[Name]\n"
      "\t                 CONV_2D\t    1.250\t    1.500\t 50.000%\t 50.000%\t     2.000\t        1\t[a/b/Relu;a/b/Conv2D]:0\n"
      "\t                 SOFTMAX\t    0.250\t    0.250\t 50.000%\t100.000%\t     0.000\t        1\t[probs]:1\n\n"
      "============================== Top by Computation Time ==============================\n"
      "\t             [node type]\t  [first]\t [avg ms]\t     [%]\t  [cdf%]\t  [mem KB]\t[times called]\t[Name]\n"
      "\t                 CONV_2D\t    1.250\t    1.500\t 50.000%\t 50.000%\t     2.000\t        1\t[a/b/Relu;a/b/Conv2D]:0\n\n"
      "Number of nodes executed: 2\n");
  ASSERT_EQ(read.operators.size(), 2);
  EXPECT_EQ(read.operators[0].name, "a/b/Relu;a/b/Conv2D:0");
  EXPECT_EQ(read.operators[0].type, "CONV_2D");
  EXPECT_EQ(read.operators[0].attributes, R"({"memory_bytes": 2000, "times_called": 1})");
  EXPECT_EQ(timing(read, 1).begin_ns, 1'500'000);
  EXPECT_EQ(timing(read, 1).duration_ns, 250'000);
  EXPECT_EQ(read.source.dropped, 2);
}

TEST(Summarizer, WideLinesTakeLinearTime) {
  constexpr int kColumns = 1'000'000;
  const std::string table = "============ Run Order ============\n\t[[node type]]\t[avg ms]\t[name]\n\tConv2D\t1.5\ta b\n";
  std::string columns = "[x]", brackets;
  for (int i = 0; i < kColumns; ++i) columns += "\t[x]", brackets += '[';
  const std::clock_t begin = std::clock();
  const model::Imported read = imported(table + columns + "\n" + brackets + "[node type]\n" + table);
  EXPECT_LT(std::clock() - begin, 2 * CLOCKS_PER_SEC);  // quadratic: half a minute
  EXPECT_EQ(op(read, "a b").type, "Conv2D");
}

TEST(Summarizer, Csv) {
  const model::Imported read = imported(
      "node type, first, avg_ms, %, cdf%, mem KB, times called, name\n"
      "CONV_2D, 1.5, 1.25, 90%, 90%, 0, 1, [a, b]:0\nSOFTMAX, 0.1, 0.1, 10%, 100%, 0, 1, [c]:1\n");
  ASSERT_EQ(read.operators.size(), 2);
  EXPECT_EQ(read.operators[0].name, "a, b:0");
  EXPECT_EQ(timing(read, 0).duration_ns, 1'250'000);
}

TEST(Horovod, AStoppedRunHasATrailingCommaAndNoBracket) {
  const model::Imported read = imported(R"_([
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Allreduce_grads_0"}},
{"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": 100, "pid": 1},
{"ph": "X", "name": "0", "ts": 120, "pid": 1, "dur": 0},
{"ph": "E", "ts": 140, "pid": 1},
{"ph": "B", "name": "ALLREDUCE", "ts": 150, "pid": 1},
{"ph": "B", "name": "NCCL_ALLREDUCE", "ts": 160, "pid": 1},
{"ph": "E", "ts": 300, "pid": 1},
{"ph": "E", "ts": 310, "pid": 1, "args": {"dtype": "float32", "shape": "[64, 3]"}},
{"ph": "i", "name": "CYCLE_START", "ts": 400, "s": "g"},
)_");
  EXPECT_EQ(read.operators.size(), 2);
  const model::Operator reduce = op(read, "Allreduce_grads_0");
  EXPECT_EQ(reduce.type, "HorovodAllreduce");
  EXPECT_EQ(reduce.shape, "f32[64,3]");
  EXPECT_EQ(reduce.phase, model::Phase::communication);
  EXPECT_EQ(reduce.attributes, R"({"activities_ns":{"NCCL_ALLREDUCE":140000},"link_bytes":768})");
  EXPECT_EQ(op(read, "Allreduce_grads_0 (negotiation)").launches, model::Launches::host);
  EXPECT_EQ(timing(read, 1).duration_ns, 160'000);
  EXPECT_FALSE(note(read, "cut-short").empty());
}

/// Sums of what a damaged log holds stay within 64 bits, in the store's queries too.
TEST(Horovod, TimesThatNothingTakesAreCutAndNoted) {
  const model::Imported read = imported(R"_([
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "HorovodAllreduce_g"}},
{"ph": "B", "name": "ALLREDUCE", "ts": -9223372036854775808, "pid": 1},
{"ph": "B", "name": "NCCL_ALLREDUCE", "ts": -1e300, "pid": 1},
{"ph": "E", "ts": 9223372036854775807, "pid": 1},
{"ph": "B", "name": "NCCL_ALLREDUCE", "ts": -1e300, "pid": 1},
{"ph": "E", "ts": 1e300, "pid": 1},
{"ph": "E", "ts": 18446744073709551615, "pid": 1}
])_");
  EXPECT_EQ(timing(read, 0).duration_ns, 1'000'000'000'000'000);
  EXPECT_EQ(op(read, "HorovodAllreduce_g").attributes, R"({"activities_ns":{"NCCL_ALLREDUCE":9223372036854775807}})");
  EXPECT_EQ(note(read, "times-cut"), "1 times are negative, longer than 11 days or centuries away; they are cut");
}

TEST(Profile, KernelsCountOnceAndStepsArePasses) {
  const model::Imported read = imported(R"_({"displayTimeUnit":"ns","traceEvents":[
 {"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},
 {"ph":"M","pid":1,"tid":13,"name":"thread_name","args":{"name":"Stream #13(Compute)"}},
 {"ph":"M","pid":1,"tid":14,"name":"thread_name","args":{"name":"TensorFlow Ops"}},
 {"ph":"M","pid":501,"name":"process_name","args":{"name":"/host:CPU"}},
 {"ph":"X","pid":1,"tid":13,"ts":10.5,"dur":4.096,"name":"volta_sgemm","args":{"annotation":"d/MatMul:MatMul","group_id":"0"}},
 {"ph":"X","pid":1,"tid":13,"ts":20,"dur":2,"name":"MemcpyD2H","args":{"annotation":"#edge_name=copy#","group_id":"1"}},
 {"ph":"X","pid":1,"tid":14,"ts":10.5,"dur":4.096,"name":"MatMul","args":{"long_name":"d/MatMul:MatMul"}},
 {"ph":"X","pid":501,"tid":1,"ts":1,"dur":50,"name":"ExecutorState::Process"},{}]})_");
  EXPECT_EQ(read.operators.size(), 2);
  EXPECT_EQ(op(read, "d/MatMul").type, "MatMul");
  EXPECT_EQ(op(read, "MemcpyD2H").type, "Memcpy");
  ASSERT_EQ(read.recordings.size(), 1);
  EXPECT_EQ(timing(read, 0).duration_ns, 4096);
  EXPECT_EQ(timing(read, 1).pass, 1);
  EXPECT_EQ(read.source.dropped, 2);
}
