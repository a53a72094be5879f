// Binary protobufs give what their text gives.
#include <fmt/format.h>

#include "tests/unit/tensorflow_logs/fixture.h"

namespace {

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string number(uint32_t field, uint64_t value) { return varint(field << 3) + varint(value); }
std::string message(uint32_t field, std::string_view bytes) { return varint(field << 3 | 2) + varint(bytes.size()) + std::string(bytes); }
std::string attribute(std::string_view key, std::string_view value) { return message(5, message(1, key) + message(2, value)); }

constexpr uint64_t kFloat = 1;

std::string node(std::string_view name, std::string_view op, std::string_view rest) {
  return message(1, message(1, name) + message(2, op) + std::string(rest));
}

/// x [2,3] → reshaped by a constant with a quote and a newline among its bytes → its own ReLU.
std::string graph() {
  const std::string shape = message(7, message(2, number(1, 2)) + message(2, number(1, 3)));
  const std::string content("\"\0\0\0\n\0\0\0", 8);
  const std::string tensor = message(8, number(1, 3) + message(2, message(2, number(1, 2))) + message(4, content));
  return node("x", "Placeholder", attribute("dtype", number(6, kFloat)) + attribute("shape", shape)) +
         node("c", "Const", attribute("value", tensor)) +
         node("y", "Relu",
              message(3, "x") + message(3, "^c") + attribute("T", number(6, kFloat)) +
                  attribute("list", message(1, message(3, varint(7) + varint(300)))));
}

}  // namespace

TEST(Binary, AGraphDef) {
  const model::Imported read = imported(graph());
  EXPECT_EQ(read.source.format, "tensorflow-graph-binary");
  EXPECT_EQ(read.source.bytes, static_cast<int64_t>(graph().size()));
  ASSERT_EQ(read.modules.size(), 1);
  EXPECT_EQ(op(read, "x").shape, "f32[2,3]");
  EXPECT_EQ(op(read, "y").inputs, (std::vector<std::string>{"x", "^c"}));
  EXPECT_EQ(op(read, "y").attributes, R"({"T":"f32","list":[7,300]})");
  EXPECT_EQ(op(read, "c").attributes, R"({"value":"s32[2] {34, 10}"})");
  EXPECT_EQ(op(read, "y").line, 0);
}

TEST(Binary, ASavedModelHoldsAGraph) {
  const model::Imported read = imported(number(1, 1) + message(2, message(1, message(4, "serve")) + message(2, graph())));
  EXPECT_EQ(read.source.format, "tensorflow-graph-binary");
  EXPECT_EQ(read.source.kept, 3);
}

TEST(Binary, RunMetadata) {
  const std::string row = message(1, "d/MatMul") + number(2, 1500) + number(4, 40) +
                          message(7, message(3, number(1, kFloat) + message(2, message(2, number(1, 8))))) +
                          message(8, "d/MatMul = MatMul(x, w)");
  const model::Imported read =
      imported(message(1, message(1, message(1, "/job:localhost/replica:0/task:0/device:CPU:0") + message(2, row))));
  EXPECT_EQ(read.source.format, "tensorflow-step-stats-binary");
  EXPECT_EQ(op(read, "d/MatMul").shape, "f32[8]");
  ASSERT_EQ(read.recordings.size(), 1);
  EXPECT_EQ(read.recordings[0].timings[0].duration_ns, 40'000);
}

TEST(Binary, CutFilesAreRefused) {
  const std::string whole = graph();
  EXPECT_EQ(refusal(whole.substr(0, whole.size() - 3)), "test:1:1: is a damaged or cut protobuf; copy the file again");
}

TEST(Binary, AnXSpaceCountsFromTheStartOfTheProfile) {
  constexpr uint64_t kStart = 1'700'000'000'000'000'000;
  const auto metadata = [](uint32_t field, uint64_t id, std::string_view name) {
    return message(field, number(1, id) + message(2, number(1, id) + message(2, name)));
  };
  const std::string line = message(3, number(1, 7) + message(2, "tf_Compute/1") + number(3, 500) +
                                          message(4, number(1, 9) + number(2, 2'000'000) + number(3, 3'500'000)));
  const std::string host = message(1, number(1, 1) + message(2, "/host:CPU") + line + metadata(4, 9, "d/MatMul:_MklMatMul"));
  const std::string task =
      message(1, message(2, "Task Environment") + metadata(5, 4, "profile_start_time") + message(6, number(1, 4) + number(3, kStart)));
  const model::Imported read = imported(host + task);
  EXPECT_EQ(op(read, "d/MatMul").type, "MatMul");
  ASSERT_EQ(read.recordings.size(), 1);
  EXPECT_EQ(read.recordings[0].started_unix_ns, static_cast<int64_t>(kStart) + 2500);
  EXPECT_EQ(read.recordings[0].timings[0].duration_ns, 3500);
}

/// d calls f(x) = -x.
TEST(Binary, CallsAreFollowed) {
  const std::string body = message(3, message(1, "y") + message(2, "Neg") + message(3, "x") + attribute("T", number(6, kFloat)));
  const std::string signature = message(1, "f") + message(2, message(1, "x")) + message(3, message(1, "z"));
  const std::string function = message(
      1, message(1, signature) + body + message(4, message(1, "z") + message(2, "y:y:0")) + message(6, message(1, "y") + message(2, "y")));
  const std::string call = node("d", "PartitionedCall", message(3, "y") + attribute("f", message(10, message(1, "f"))));
  const model::Imported read = imported(graph() + call + message(2, function));
  ASSERT_EQ(read.modules.size(), 1);
  EXPECT_EQ(op(read, "d/y").type, "Neg");
  EXPECT_EQ(op(read, "d/y").inputs, (std::vector<std::string>{"y"}));
  EXPECT_EQ(op(read, "d").inputs, (std::vector<std::string>{"d/y", "^d/y"}));
  EXPECT_EQ(op(read, "d").attributes, R"({"f":"f"})");
}
