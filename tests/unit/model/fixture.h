// A folder of its own for each test, and a small program with a small run of it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "importers/hlo/hlo.h"
#include "src/base/file.h"
#include "src/model/store.h"

namespace model {

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() : folder_(std::filesystem::temp_directory_path() / ("store_test_" + std::to_string(::getpid()) + "_" + test_name())) {
    std::filesystem::create_directories(folder_);
  }
  ~StoreTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "run.db") const { return (folder_ / name).string(); }
  static void write(const std::string& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  static std::string bytes_of(const std::string& path) { return *base::read_file(path); }

 private:
  static std::string test_name() { return ::testing::UnitTest::GetInstance()->current_test_info()->name(); }
  std::filesystem::path folder_;
};

inline constexpr std::string_view kProgram = R"(HloModule tiny

sum (a: f32[], b: f32[]) -> f32[] {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

body (p: f32[8,4]) -> f32[8] {
  p = f32[8,4]{1,0} parameter(0)
  e = f32[8,4]{1,0} exponential(p), metadata={op_type="Exp" op_name="model/layer_0/Exp" source_file="net.py" source_line=12}
  zero = f32[] constant(0)
  ROOT r = f32[8]{0} reduce(e, zero), dimensions={1}, to_apply=sum, metadata={op_type="Sum" op_name="gradient_tape/model/layer_0/Sum"}
}

ENTRY main (x: f32[8,4]) -> f32[8] {
  x = f32[8,4]{1,0} parameter(0)
  f = f32[8]{0} fusion(x), kind=kInput, calls=body, metadata={op_type="Exp" op_name="model/layer_0/Exp"}
  ROOT n = f32[8]{0} negate(f)
}
)";

inline Imported imported(std::string_view text, const std::string& path = "tiny.hlo") {
  auto result = importers::hlo::read({path, text});
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return *std::move(result);
}

/// A run of kProgram: a fusion and a negation, a kernel each, three buffers.
inline Run tiny_run(const ImportIds& ids) {
  Run run;
  run.module = ids.modules.at(0);
  run.started_unix_ns = 1'700'000'000'000'000'000;
  run.device = {"null", "virtual", "1", "none", 1, 10e9, 0, 100e9, {{"f16×f16→f32", 200e9}}, {{"cache", "1 MB"}}};
  run.options = {{"seed", "1"}, {"rounding", "border"}};
  run.kernels = {{"k0", "fused", "llvm-ir", "jit", "define void @fused()", 1000, 64},
                 {"k1", "neg", "llvm-ir", "jit", "define void @neg()", 500, 32}};
  StepRecord fusion, negate;
  fusion.step = 0, fusion.name = "f", fusion.computation = "main", fusion.opcode = "fusion", fusion.kind = "kInput", fusion.cls = "kernel";
  fusion.key = "a", fusion.instruction = ids.first_instruction.at(0).at(2) + 1, fusion.kernels = {0}, fusion.flops = 32, fusion.bytes = 160,
  fusion.saved_bytes = 256;
  negate.step = 1, negate.name = "n", negate.computation = "main", negate.opcode = "negate", negate.cls = "kernel";
  negate.key = "b", negate.instruction = ids.first_instruction.at(0).at(2) + 2, negate.kernels = {1}, negate.flops = 8, negate.bytes = 64;
  run.steps = {fusion, negate};
  run.buffers = {{0, "x", "parameter", 128, -1, 0, 1, -1}, {1, "f", "temporary", 32, 0, 0, 1, -1}, {2, "n", "output", 32, 64, 1, 1, -1}};
  run.notes = {{0, 0, "load", "the machine was busy"}};
  return run;
}

/// Samples of pass `pass` of tiny_run: the fusion takes 2000 + 10 * (pass % 100) ns, the negation 3000 ns in two executions.
inline std::vector<Sample> tiny_samples(int32_t pass) {
  const int64_t begin_ns = 10'000 * int64_t{pass};
  return {{0, pass, 0, begin_ns, 2000 + 10 * (pass % 100), 1}, {1, pass, 0, begin_ns + 5000, 3000, 2}};
}

inline std::string text_of(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::null:
      return "NULL";
    case Cell::Kind::integer:
      return std::to_string(cell.integer);
    case Cell::Kind::real:
      return std::to_string(cell.real);
    default:
      return cell.text;
  }
}

/// All cells of a query: columns separated by '|', rows by a space.
inline std::string ask(const Reader& reader, std::string_view sql) {
  const auto rows = reader.query(sql);
  if (!rows.ok()) return rows.error().message;
  std::string out;
  for (const auto& row : rows->rows) {
    if (!out.empty()) out += ' ';
    for (size_t i = 0; i < row.size(); ++i) out += (i > 0 ? "|" : "") + text_of(row[i]);
  }
  return out;
}

inline std::string ask(const std::string& path, std::string_view sql) {
  const auto reader = Reader::open(path);
  return reader.ok() ? ask(*reader, sql) : reader.error().message;
}

}  // namespace model
