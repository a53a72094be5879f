// The timeline at scale: makes a database of many slices with the writer of the store, opens it as the viewer does, and zooms over it.
//
//   bench_timeline make FILE.db STEPS PASSES      10000 × 100 are 1 M slices, 10000 × 1000 are 10 M
//   bench_timeline show FILE.db [INPUTS]          prints a JSON object; 3000 inputs if not given
//
// Frames are timed twice: by the wall, which a shared machine stretches, and as CPU time of the thread that draws.
#include <fmt/format.h>
#include <imgui.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "src/model/store.h"
#include "tests/bench/must.h"
#include "tests/bench/stage.h"
#include "ui/timeline_panel.h"

namespace {

using bench::cpu_ms;
using bench::must;
using bench::wall_ms;

model::Run synthetic_run(int steps) {
  constexpr const char* kOpcodes[] = {"fusion", "dot", "reduce", "copy", "convolution"};
  model::Run run;
  run.device = {"null", "synthetic", "", "", 1, 10e9, 0, 100e9, {}, {}};
  for (int i = 0; i < steps; ++i) {
    model::StepRecord step;
    step.step = i;
    step.opcode = kOpcodes[i % 5];
    step.name = fmt::format("{}.{}", step.opcode, i);
    step.computation = "main", step.kind = i % 5 == 0 ? "kLoop" : "", step.cls = "kernel", step.key = fmt::format("{:032x}", i / 3);
    step.flops = 1e6, step.bytes = 1e6;
    run.steps.push_back(step);
    run.buffers.push_back({i, step.name, "temporary", 4096 + 997 * (i % 401), 0, i, std::min(steps - 1, i + 10 + i % 300), -1});
  }
  return run;
}

std::vector<model::Sample> synthetic_pass(int steps, int32_t pass, int64_t begin_ns) {
  std::vector<model::Sample> samples;
  for (int32_t i = 0; i < steps; ++i) {
    const int64_t duration_ns = 500 + int64_t{i % 97} * (i % 97) * 3 + (pass * 7919 + i) % 400;
    samples.push_back({i, pass, 0, begin_ns, duration_ns, 1});
    begin_ns += duration_ns + ((i / 2000) % 5 == 3 ? 40'000 : 300);  // a part of each pass is mostly idle
  }
  return samples;
}

void make(const std::string& path, int steps, int passes) {
  auto store = must(model::Store::open(path, model::OpenMode::fresh));
  const model::Run run = synthetic_run(steps);
  const int64_t id = must(store.begin(run));
  must(store.describe(id, run));
  int64_t begin_ns = 5'000'000;
  for (int32_t pass = 0; pass < passes; ++pass) {
    const std::vector<model::Sample> samples = synthetic_pass(steps, pass, begin_ns);
    const int64_t end_ns = samples.back().begin_ns + samples.back().duration_ns;
    must(store.add(id, {pass, begin_ns, end_ns}, samples));
    begin_ns = end_ns + 2'000'000;
  }
  must(store.finish(id, model::RunStatus::complete, {}));
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e3;
}

/// Without the pages of the database that are mapped: those are the system's to take back.
double own_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::strtod(line.c_str() + 8, nullptr) / 1e3;
  }
  return 0;
}

/// The timeline on a stage.
class Stage {
 public:
  explicit Stage(const std::string& path) : stage_(path, {kWidth, kHeight}) {}

  void frame(const ui::Pointer& pointer, std::vector<ui::Session::Key> keys) { stage_.frame(panel, pointer, std::move(keys)); }
  bool is_drawn() const {
    return !panel.runs().empty() && panel.runs()[0]->timeline() != nullptr && panel.runs()[0]->steps() != nullptr &&
           !panel.runs()[0]->lanes().empty() && !panel.rows().empty();
  }

  static constexpr float kWidth = 1280, kHeight = 800;
  ui::TimelinePanel panel;

 private:
  bench::Stage stage_;
};

struct Times : bench::Times {
  double mean() const {
    double sum = 0;
    for (const double t : ms) sum += t;
    return ms.empty() ? 0 : sum / static_cast<double>(ms.size());
  }
  std::string json() const { return fmt::format("{{\"mean\": {:.3f}, \"p99\": {:.3f}, \"worst\": {:.3f}}}", mean(), at(0.99), at(1)); }
};

/// Zooms in and out, pans, jumps.
void play(Stage& stage, int inputs, Times& wall, Times& cpu) {
  std::mt19937 random(1);
  const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
  ImVec2 mouse{640, 300};
  bool down = false;
  for (int i = 0; i < inputs; ++i) {
    if (below(8) == 0) mouse = {200.f + static_cast<float>(below(1080)), 60.f + static_cast<float>(below(700))};
    if (down) mouse.x += static_cast<float>(below(120)) - 60;
    down = below(down ? 4 : 12) == 0 ? !down : down;
    const bool zooms = below(2) == 0;
    const float wheel = zooms ? static_cast<float>(below(7)) - 2.5f : 0;
    std::vector<ui::Session::Key> keys;
    constexpr char kKeys[] = {'W', 'W', 'S', 'A', 'D', '[', ']'};
    if (below(6) == 0) keys.push_back({kKeys[below(sizeof kKeys)], false, false, false});
    if (below(150) == 0) keys.push_back({'F', false, false, false});
    const double wall_begin = wall_ms(), cpu_begin = cpu_ms();
    stage.frame({mouse, {down, false, false}, wheel, 0, zooms, false}, std::move(keys));
    cpu.ms.push_back(cpu_ms() - cpu_begin);
    wall.ms.push_back(wall_ms() - wall_begin);
    if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // a display would leave the loader more
  }
}

std::string machine() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "not known";
}

void show(const std::string& path, int inputs) {
  const double begin = wall_ms();
  Stage stage(path);
  const double atlas = wall_ms() - begin;
  const double opened = wall_ms();
  int frames = 0;
  for (; !stage.is_drawn() && wall_ms() - opened < 60'000; ++frames) {
    stage.frame({{-1, -1}, {}, 0, 0, false, false}, {});
    if (!stage.is_drawn()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const double first = wall_ms() - opened;
  stage.frame({{-1, -1}, {}, 0, 0, false, false}, {{'P', false, false, false}});  // as it happened
  Times wall, cpu;
  play(stage, inputs, wall, cpu);
  const bool happened = stage.panel.runs()[0]->mode() == ui::PassMode::happened;
  fmt::print("{{\"machine\": \"{}\", \"threads\": {}, \"imgui\": \"{}\",\n \"lanes\": {}, \"steps\": {}, \"as_it_happened\": {},\n",
             machine(), std::thread::hardware_concurrency(), ImGui::GetVersion(), stage.panel.runs()[0]->timeline()->lanes.size(),
             stage.panel.runs()[0]->steps()->run->steps.size(), happened);
  fmt::print(
      " \"font_atlas_ms\": {:.1f}, \"open_to_first_frame_ms\": {:.1f}, \"inputs\": {},\n \"frame_cpu_ms\": {}, \"frame_wall_ms\": {},\n",
      atlas, first, inputs, cpu.json(), wall.json());
  fmt::print(" \"peak_rss_mb\": {:.0f}, \"own_memory_mb\": {:.0f}}}\n", peak_mb(), own_mb());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 2 ? argv[1] : "";
  if (verb == "make" && argc == 5) return make(argv[2], std::atoi(argv[3]), std::atoi(argv[4])), 0;
  if (verb == "show" && argc <= 4) return show(argv[2], argc == 4 ? std::atoi(argv[3]) : 3000), 0;
  fmt::print(stderr, "usage: bench_timeline make FILE.db STEPS PASSES | show FILE.db [INPUTS]\n");
  return 2;
}
