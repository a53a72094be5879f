// The roofline panel at scale: makes a database of many steps, opens it as the viewer does, and zooms, pans, recolours and selects.
//
//   bench_roofline make FILE.db STEPS       intensities and rates spread over decades, a fifth of the steps without flops
//   bench_roofline show FILE.db [INPUTS]    prints a JSON object; 600 inputs if not given
//
// Frames are timed as CPU time of the thread that draws: a shared machine stretches the wall clock.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "src/model/store.h"
#include "tests/bench/must.h"
#include "tests/bench/stage.h"

namespace {

using bench::must;
using bench::wall_ms;

void make(const std::string& path, int steps) {
  constexpr const char* kOpcodes[] = {"fusion", "dot", "reduce", "copy", "convolution", "transpose", "add"};
  constexpr const char* kClasses[] = {"kernel", "library", "copy"};
  using Limits = model::CeilingRecord::Limits;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> decade(0, 1);
  model::Run run;
  run.device = {"cpu",
                "synthetic",
                "",
                "",
                1,
                10e9,
                15e9,
                100e9,
                {{"f16×f16→f32", 200e9}},
                {},
                {{Limits::cache, "L2 read", 80e9, model::CeilingRecord::Provenance::measured, ""}}};
  std::vector<model::Sample> samples;
  int64_t begin_ns = 0;
  for (int i = 0; i < steps; ++i) {
    model::StepRecord step;
    step.step = i;
    step.opcode = kOpcodes[random() % std::size(kOpcodes)];
    step.name = fmt::format("{}.{}", step.opcode, i);
    step.computation = "main", step.cls = kClasses[random() % std::size(kClasses)], step.key = fmt::format("{:032x}", i);
    step.bytes = std::pow(10, 3 + 5 * decade(random));
    step.flops = i % 5 == 0 ? 0 : step.bytes * std::pow(10, -2 + 4 * decade(random));
    const double seconds = std::max(step.bytes / 10e9, step.flops / 100e9) * std::pow(10, 1.5 * decade(random)) + 1e-6;
    run.steps.push_back(step);
    samples.push_back({i, 0, 0, begin_ns, static_cast<int64_t>(seconds * 1e9), 1});
    begin_ns += samples.back().duration_ns;
  }
  auto store = must(model::Store::open(path, model::OpenMode::fresh));
  const int64_t id = must(store.begin(run));
  must(store.describe(id, run));
  must(store.add(id, {0, 0, begin_ns}, samples));
  must(store.finish(id, model::RunStatus::complete, {}));
}

/// The roofline on a stage.
class Stage {
 public:
  Stage(const std::string& path, ImVec2 size) : stage_(path, size), panel_(ui::make_roofline()) {}

  /// CPU time of the frame in ms.
  double frame(const ui::Pointer& pointer, std::vector<ui::Session::Key> keys) {
    const double begin = bench::cpu_ms();
    stage_.frame(*panel_, pointer, std::move(keys));
    return bench::cpu_ms() - begin;
  }
  int vertices() const { return ImGui::GetDrawData() == nullptr ? 0 : ImGui::GetDrawData()->TotalVtxCount; }

 private:
  bench::Stage stage_;
  std::unique_ptr<ui::Panel> panel_;
};

struct Times : bench::Times {
  std::string json() const {
    return fmt::format("{{\"frames\": {}, \"median\": {:.3f}, \"p99\": {:.3f}, \"worst\": {:.3f}}}", ms.size(), at(0.5), at(0.99), at(1));
  }
};

/// A frame for each kind of thing that a person does, by turns.
std::map<std::string, Times> play(Stage& stage, int inputs, ImVec2 size) {
  std::mt19937 random(1);
  const auto at = [&](float from, float to) { return from + (to - from) * static_cast<float>(random() % 1000) / 1000; };
  std::map<std::string, Times> times;
  for (int i = 0; i < inputs; ++i) {
    const ImVec2 mouse = {at(size.x * 0.3f, size.x * 0.95f), at(size.y * 0.2f, size.y * 0.5f)};
    times["hover"].ms.push_back(stage.frame({mouse, {}, 0, 0, false, false}, {}));
    times["zoom"].ms.push_back(stage.frame({mouse, {}, i % 3 == 0 ? -2.f : 1.f, 0, false, false}, {}));
    times["pan"].ms.push_back(stage.frame({mouse, {}, 0, 0, false, false}, {{i % 2 == 0 ? 'A' : 'D', false, false, false}}));
    if (i % 10 == 0) times["all"].ms.push_back(stage.frame({mouse, {}, 0, 0, false, false}, {{'F', false, false, false}}));
    if (i % 20 == 0) times["recolour"].ms.push_back(stage.frame({mouse, {}, 0, 0, false, false}, {{'C', false, false, false}}));
    if (i % 50 != 49) continue;  // a lasso around most of the plot
    const ImVec2 corners[] = {
        {size.x * 0.25f, size.y * 0.2f}, {size.x * 0.9f, size.y * 0.2f}, {size.x * 0.9f, size.y * 0.5f}, {size.x * 0.25f, size.y * 0.5f}};
    stage.frame({corners[0], {}, 0, 0, false, true}, {});
    for (int k = 0; k < 100; ++k) {
      const ImVec2 a = corners[k / 25], b = corners[(k / 25 + 1) % 4];
      const float t = static_cast<float>(k % 25) / 25;
      times["lasso drawn"].ms.push_back(
          stage.frame({{a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)}, {true, false, false}, 0, 0, false, true}, {}));
    }
    times["lasso closed"].ms.push_back(stage.frame({corners[0], {}, 0, 0, false, true}, {}));
    times["selected"].ms.push_back(stage.frame({mouse, {}, 0, 0, false, false}, {}));
    stage.frame({mouse, {}, 0, 0, false, false}, {{ui::Session::kEscape, false, false, false}});
  }
  return times;
}

void show(const std::string& path, int inputs) {
  for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{2560, 1440}}) {
    Stage stage(path, size);
    const double opened = wall_ms();
    constexpr int kDrawn = 2000;  // vertices: more than a sentence has
    double arrival = 0;
    for (int still = 0; still < 20 && wall_ms() - opened < 60e3; still += (stage.vertices() > kDrawn) ? 1 : 0) {
      arrival = std::max(arrival, stage.frame({{-1, -1}, {}, 0, 0, false, false}, {}));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    fmt::print("{{\"size\": \"{}x{}\", \"imgui\": \"{}\", \"vertices\": {}, \"frame_cpu_ms\": {{\"while it is read\": {:.3f}", size.x,
               size.y, ImGui::GetVersion(), stage.vertices(), arrival);
    for (const auto& [what, times] : play(stage, inputs, size)) fmt::print(", \"{}\": {}", what, times.json());
    fmt::print("}}}}\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 2 ? argv[1] : "";
  if (verb == "make" && argc == 4) return make(argv[2], std::atoi(argv[3])), 0;
  if (verb == "show" && argc <= 4) return show(argv[2], argc == 4 ? std::atoi(argv[3]) : 600), 0;
  fmt::print(stderr, "usage: bench_roofline make FILE.db STEPS | show FILE.db [INPUTS]\n");
  return 2;
}
