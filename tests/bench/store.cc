// The store at scale: importing a program, saving a million samples pass by pass, ending the run, and the questions that reports ask.
// Prints one JSON object; times are wall clock, cpu_ms is this process's own time (a shared machine stretches the former).
//
//   bench_store FOLDER DUMP [STEPS PASSES]      FOLDER for the two databases, DUMP an HLO text; 10000 steps and 100 passes if not given
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "importers/hlo/hlo.h"
#include "src/base/file.h"
#include "src/model/store.h"
#include "src/report/report.h"
#include "tests/bench/must.h"

namespace {

using bench::must;

double cpu_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) { return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3; };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

/// Runs `work` and prints a line of the JSON object.
template <typename Work>
void measured(const char* name, Work work) {
  const auto begin = std::chrono::steady_clock::now();
  const double cpu_begin = cpu_ms();
  work();
  const double wall = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  fmt::print(",\n  \"{}\": {{\"wall_ms\": {:.2f}, \"cpu_ms\": {:.2f}}}", name, wall, cpu_ms() - cpu_begin);
}

void bench_import(const std::string& folder, const std::string& file) {
  const std::string text = must(base::read_file(file));
  for (int round = 0; round < 3; ++round) {
    const std::string path = folder + "/import.db";
    std::filesystem::remove(path);
    measured(fmt::format("import_{}", round).c_str(), [&] {
      auto store = must(model::Store::open(path, model::OpenMode::append));
      std::optional<model::Import> import;
      const auto take = [&](const model::Source& source, const importers::Program& program, std::string_view module_text) {
        if (!import) import = must(store.import(source));
        return import->add(program.module, module_text);
      };
      const model::Imported imported = must(importers::hlo::read({file, text}, take));
      must(import->finish(imported));
    });
  }
}

model::Run synthetic_run(int steps) {
  model::Run run;
  run.device = {"null", "synthetic", "", "", 1, 10e9, 0, 100e9, {}, {}};
  for (int i = 0; i < steps; ++i) {
    model::StepRecord step;
    step.step = i;
    step.name = fmt::format("fusion.{}", i);
    step.computation = "main", step.opcode = "fusion", step.kind = "kLoop", step.cls = "kernel", step.key = fmt::format("{:032x}", i);
    step.flops = 1e6, step.bytes = 1e6;
    run.steps.push_back(step);
    run.buffers.push_back({i, step.name, "temporary", 4096, 0, i, i + 10, -1});
  }
  return run;
}

std::vector<model::Sample> synthetic_pass(int steps, int32_t pass, int64_t begin_ns) {
  std::vector<model::Sample> samples;
  for (int32_t i = 0; i < steps; ++i) {
    const int64_t duration_ns = 500 + int64_t{i % 97} * (i % 97) * 3 + (pass * 7919 + i) % 400;
    samples.push_back({i, pass, 0, begin_ns, duration_ns, 1});
    begin_ns += duration_ns + 300;
  }
  return samples;
}

int64_t write_run(const std::string& path, int steps, int passes) {
  auto store = must(model::Store::open(path, model::OpenMode::append));
  int64_t run = 0;
  measured("begin", [&] { run = must(store.begin(synthetic_run(steps))); });
  int64_t begin_ns = 0;
  measured("samples", [&] {
    for (int32_t pass = 0; pass < passes; ++pass) {
      const std::vector<model::Sample> samples = synthetic_pass(steps, pass, begin_ns);
      const int64_t end_ns = samples.back().begin_ns + samples.back().duration_ns;
      must(store.add(run, {pass, begin_ns, end_ns}, samples));
      begin_ns = end_ns + 1000;
    }
  });
  measured("finish", [&] { must(store.finish(run, model::RunStatus::complete, {})); });
  return run;
}

void bench_questions(const std::string& path, int64_t run) {
  const auto reader = must(model::Reader::open(path));
  for (const report::Report& report : report::reports()) {
    measured(fmt::format("report_{}", report.name).c_str(), [&] { must(report::run(reader, report, run)); });
  }
  constexpr struct {
    const char* name;
    const char* sql;
  } kQuestions[] = {
      {"one_step",
       "SELECT sum(s.duration_ns) FROM pass p CROSS JOIN sample s ON s.run = p.run AND s.pass = p.pass AND s.step = 77 WHERE p.run = 1"},
      {"one_pass", "SELECT sum(duration_ns) FROM sample WHERE run = 1 AND pass = 50"},
      {"ten_ms",
       "SELECT count(*) FROM pass p CROSS JOIN sample s ON s.run = p.run AND s.pass = p.pass WHERE p.run = 1 AND p.end_ns >= 1000000000 "
       "AND "
       "p.begin_ns <= 1010000000 AND s.begin_ns BETWEEN 1000000000 AND 1010000000"},
      {"top_20", "SELECT step, median_ns FROM step_stat WHERE run = 1 ORDER BY median_ns * calls DESC LIMIT 20"},
      {"timeline_window",
       "SELECT sum(length(data)) FROM slice_level WHERE run = 1 AND track = 0 AND level = -1 AND begin_ns BETWEEN 1000000000 AND "
       "1010000000"},
  };
  for (const auto& question : kQuestions) measured(question.name, [&] { must(reader.query(question.sql)); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    fmt::print(stderr, "usage: bench_store FOLDER DUMP [STEPS PASSES]\n");
    return 2;
  }
  const std::string folder = argv[1], path = folder + "/samples.db";
  const int steps = argc == 5 ? std::atoi(argv[3]) : 10'000, passes = argc == 5 ? std::atoi(argv[4]) : 100;
  std::filesystem::remove(path);
  fmt::print("{{\n  \"steps\": {}, \"passes\": {}", steps, passes);
  bench_import(folder, argv[2]);
  const int64_t run = write_run(path, steps, passes);
  bench_questions(path, run);
  fmt::print(",\n  \"file_bytes\": {}\n}}\n", std::filesystem::file_size(path));
  return 0;
}
