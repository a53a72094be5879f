// A sample is made under a name of this process and moved to its place, so that tests that run at the same time share it.
#include "tests/unit/ui/databases.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <vector>

#include "src/model/database.h"
#include "src/model/store.h"

namespace ui {
namespace {

namespace fs = std::filesystem;

std::string profile_program() {
  const char* given = std::getenv("PROFILE_PROGRAM");  // for builds under sanitizers, to whom the program itself is nothing new
  return given != nullptr ? given : BINARY_DIR "/profile";
}

void replay(const std::string& path, const char* file, const char* options = "-f") {
  const std::string command = "'" + profile_program() + "' --replay '" SOURCE_DIR "/samples/" + file + "' --device null --repeats 5 -q " +
                              options + " -o '" + path + "' >/dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

void make_twice(const std::string& path) {
  replay(path, "mnist_train_step.hlo.txt", "-f");
  replay(path, "mnist_train_step.hlo.txt", "");
}

model::Store fresh(const std::string& path) {
  auto store = model::Store::open(path, model::OpenMode::fresh);
  EXPECT_TRUE(store.ok()) << store.error().message;
  return *std::move(store);
}

model::StepRecord step(int32_t number, std::string name, std::string opcode, std::string cls) {
  model::StepRecord record;
  record.step = number;
  record.key = "key" + std::to_string(number);
  record.name = std::move(name), record.computation = "main", record.opcode = std::move(opcode), record.cls = std::move(cls);
  record.flops = 1000.0 * number, record.bytes = 4000;
  return record;
}

model::Run small_run() {
  model::Run run;
  run.device = {"cpu", "a machine", "1", "none", 2, 10e9, 0, 100e9, {}, {}};
  run.started_unix_ns = 1'700'000'000'000'000'000;
  run.kernels = {{"k0", "add", "llvm-ir", "jit", "define void @add()", 1000, 64}};
  run.steps = {step(0, "add.1", "add", "kernel"), step(1, "fusion.2", "fusion", "kernel"), step(2, "sort.3", "sort", "skip")};
  run.steps[0].kernels = {0};
  run.steps[1].saved_bytes = 100, run.steps[1].kind = "kLoop";
  run.buffers = {{0, "x", "parameter", 128, -1, 0, 2, -1}, {1, "add.1", "temporary", 32, 0, 0, 1, -1}};
  return run;
}

/// Begins the run and saves `passes` passes of steps 0 and 1.
int64_t begin_with_passes(model::Store& store, const model::Run& run, int passes) {
  const auto id = store.begin(run);
  EXPECT_TRUE(id.ok()) << id.error().message;
  EXPECT_TRUE(store.describe(*id, run).ok());
  for (int32_t pass = 0; pass < passes; ++pass) {
    const int64_t begin_ns = 10'000 * int64_t{pass};
    const std::vector<model::Sample> samples = {{0, pass, 0, begin_ns, 2000 + pass, 1}, {1, pass, 0, begin_ns + 3000, 4000 + pass, 2}};
    EXPECT_TRUE(store.add(*id, {pass, begin_ns, begin_ns + 9000}, samples).ok());
  }
  return *id;
}

void make_no_steps(const std::string& path) {
  model::Store store = fresh(path);
  model::Run run;
  run.device.name = "null";
  const auto id = store.begin(run);
  ASSERT_TRUE(id.ok() && store.describe(*id, run).ok() && store.finish(*id, model::RunStatus::complete, {}).ok());
}

void make_interrupted(const std::string& path) {
  model::Store store = fresh(path);
  const int64_t id = begin_with_passes(store, small_run(), 3);
  ASSERT_TRUE(store.finish(id, model::RunStatus::interrupted, {}).ok());
}

void make_running(const std::string& path) {
  model::Store store = fresh(path);
  begin_with_passes(store, small_run(), 2);
}

void make_recorded(const std::string& path) {
  model::Store store = fresh(path);
  model::Imported log;
  log.source = {"log.json", "tensorflow-log", std::string(64, 'a'), "", 100, 0, 0, 2, 2, 0, "operators"};
  log.operators.resize(2);
  log.operators[0].name = "tower/MatMul", log.operators[0].type = "MatMul", log.operators[0].scope = "tower";
  log.operators[1].name = "tower/Relu", log.operators[1].type = "Relu", log.operators[1].scope = "tower";
  log.recordings.push_back({"/gpu:0", "executor log", 1'600'000'000'000'000'000, {{0, 0, 0, 500}, {1, 0, 600, 100}, {0, 1, 1000, 510}}});
  ASSERT_TRUE(store.add(log).ok());
}

std::vector<std::string> hostile_names() {
  return {"##",
          "###same",
          "%s%n%d",
          std::string("nul\0inside", 10),
          "\xff\xfe broken",
          std::string(1 << 20, 'x'),
          "",
          "a\nb\tc",
          "\xe2\x80\xae turned",
          "same",
          "same",
          "\"quoted\" 'sql' -- ; DROP TABLE run"};
}

void make_hostile(const std::string& path) {
  model::Store store = fresh(path);
  model::Run run = small_run();
  run.steps.clear();
  run.buffers.clear();
  run.device.triad_bytes_per_s = std::numeric_limits<double>::infinity();
  run.device.product_flops_per_s = 1e-300;
  const double numbers[] = {0, -1, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::denorm_min()};
  for (const std::string& name : hostile_names()) {
    const auto number = static_cast<int32_t>(run.steps.size());
    model::StepRecord record = step(number, name, name.substr(0, 100), number % 2 == 0 ? "kernel" : name.substr(0, 9));
    record.kind = record.why = record.precision = name.substr(0, 1000);
    record.flops = numbers[number % 5], record.bytes = numbers[(number + 1) % 5], record.saved_bytes = numbers[(number + 2) % 5];
    record.trips = number % 3 == 0 ? 0 : 1e18;
    record.kernels = {0};
    run.kernels[0].source = name + run.kernels[0].source;
    run.buffers.push_back({number, name, "temporary", int64_t{1} << (number * 5), number % 2 == 0 ? int64_t{-1} : int64_t{1} << 60, number,
                           number * 1000, number % 2});
    run.steps.push_back(std::move(record));
  }
  const auto id = store.begin(run);
  ASSERT_TRUE(id.ok() && store.describe(*id, run).ok());
  constexpr int64_t kLong_ns = 1'000'000'000'000'000'000;
  const std::vector<model::Sample> samples = {
      {0, 0, 0, 0, 0, 1}, {1, 0, 0, 0, kLong_ns, 1}, {2, 0, 0, kLong_ns, 1, 1000}, {3, 0, 0, 5, 5, 1}, {4, 0, 0, 5, 5, 1}};
  ASSERT_TRUE(store.add(*id, {0, 0, kLong_ns + 1}, samples).ok());
  ASSERT_TRUE(store.finish(*id, model::RunStatus::complete, {}).ok());
}

void write(const std::string& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

void execute(const std::string& path, std::string_view sql) {
  auto database = model::Database::open(path, model::Database::Access::write, std::chrono::seconds(1));
  ASSERT_TRUE(database.ok() && database->execute(sql).ok()) << path;
}

void make_version(const std::string& path, int version) {
  make_interrupted(path);
  execute(path, "PRAGMA user_version = " + std::to_string(version));
}

void make_damaged(const std::string& path) {
  make_interrupted(path);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(100);
  file << std::string(60'000, '\x5a');
}

struct Sample {
  std::string_view name;
  std::function<void(const std::string&)> make;
};

const std::vector<Sample>& table() {
  static const std::vector<Sample> rows = {
      {"mnist", [](const std::string& path) { replay(path, "mnist_train_step.hlo.txt"); }},
      {"bert", [](const std::string& path) { replay(path, "bert_pretrain_step.hlo.txt"); }},
      {"llama", [](const std::string& path) { replay(path, "llama_stage.paddle.txt"); }},
      {"resnet50", [](const std::string& path) { replay(path, "resnet50_train_step.tfnodes.txt"); }},
      {"fused", [](const std::string& path) { replay(path, "mnist_train_step.hlo.txt", "-f --unfused"); }},
      {"twice", make_twice},
      {"empty", [](const std::string& path) { fresh(path); }},
      {"no_steps", make_no_steps},
      {"interrupted", make_interrupted},
      {"running", make_running},
      {"recorded", make_recorded},
      {"hostile", make_hostile},
      {"no_file", [](const std::string&) {}},
      {"foreign", [](const std::string& path) { execute(path, "CREATE TABLE theirs (x)"); }},
      {"damaged", make_damaged},
      {"older", [](const std::string& path) { make_version(path, 1); }},
      {"newer", [](const std::string& path) { make_version(path, 9999); }},
      {"not_a_database", [](const std::string& path) { write(path, "HloModule this_is_a_text\n"); }},
      {"zero_bytes", [](const std::string& path) { write(path, ""); }},
  };
  return rows;
}

bool newer(const fs::path& made, const fs::path& than) {
  std::error_code missing;
  const auto a = fs::last_write_time(made, missing);
  if (missing) return false;
  const auto b = fs::last_write_time(than, missing);
  return missing || a > b;
}

constexpr std::string_view kGood[] = {"mnist", "bert",     "fused",       "twice",   "llama",    "resnet50",
                                      "empty", "no_steps", "interrupted", "running", "recorded", "hostile"};
constexpr std::string_view kBad[] = {"no_file", "foreign", "damaged", "older", "newer", "not_a_database", "zero_bytes"};

}  // namespace

std::string sample(std::string_view name) {
  const auto row = std::ranges::find(table(), name, &Sample::name);
  if (row == table().end()) {
    ADD_FAILURE() << "no sample '" << name << "'";
    return {};
  }
  const fs::path folder = BINARY_DIR "/ui_samples";
  fs::create_directories(folder);
  const fs::path path = folder / (std::string(name) + ".db");
  if (newer(path, profile_program()) && newer(path, "/proc/self/exe")) return path.string();
  const std::string own = path.string() + "." + std::to_string(::getpid());
  row->make(own);
  std::error_code none_was_made;
  fs::rename(own, path, none_was_made);
  return path.string();
}

std::span<const std::string_view> good_samples() { return kGood; }
std::span<const std::string_view> bad_samples() { return kBad; }

}  // namespace ui
