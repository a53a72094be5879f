// What the cpu device costs and what the machine can do: ceilings, the price of an OpenMP region, of a step and of a sample. JSON on
// stdout.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "replay/device/cpu/cpu.h"
#include "replay/device/cpu/threads.h"

namespace {

using replay::Device;

/// Median of what each call took, in ns.
template <typename Body>
double median_ns(int repeats, const Body& body) {
  std::vector<double> spent;
  for (int i = 0; i < repeats; ++i) {
    const double begin = omp_get_wtime();
    body();
    spent.push_back((omp_get_wtime() - begin) * 1e9);
  }
  std::nth_element(spent.begin(), spent.begin() + repeats / 2, spent.end());
  return spent[static_cast<size_t>(repeats / 2)];
}

/// One step whose kernel returns at once.
struct EmptyStep {
  explicit EmptyStep(const Device& device) {
    kernel::Kernel kernel;
    kernel.name = "empty";
    kernel.parts = {{.symbol = "k"}};
    kernel.code = "define void @k(ptr %args, i64 %begin, i64 %end, ptr %scratch, i64 %thread) {\n  ret void\n}\n";
    plan.target = device.target();
    plan.kernels = {kernel};
    step.launches = {replay::KernelCall{0, {}}};
    plan.steps = {&step};
  }
  replay::Step step;
  replay::Plan plan;
};

nlohmann::json measure(Device& device) {
  auto record = device.describe();
  const int threads = record.threads;
  EmptyStep empty(device);
  if (auto status = device.prepare(empty.plan); !status.ok()) return {{"error", status.error().message}};
  constexpr int kMany = 1000;
  const double one = median_ns(kMany, [&] { (void)device.start(0, 1); });
  const double many = median_ns(20, [&] { (void)device.start(0, kMany); });
  const double region = median_ns(kMany, [&] { replay::cpu::for_ranges(threads, threads, [](int64_t, int64_t) {}); });
  if (auto status = device.measure_ceilings(record); !status.ok()) return {{"error", status.error().message}};
  return {{"model", record.model},
          {"libraries", record.libraries},
          {"triad_gb_per_s", record.triad_bytes_per_s / 1e9},
          {"triad_streaming_gb_per_s", record.triad_streaming_bytes_per_s / 1e9},
          {"product_gflops", record.product_flops_per_s / 1e9},
          {"region_ns", region},
          {"sample_ns", one},
          {"execution_ns", many / kMany}};
}

}  // namespace

int main(int argc, char** argv) {
  auto device = replay::cpu::open({.threads = argc > 1 ? std::atoi(argv[1]) : 0});
  if (!device.ok()) {
    std::fprintf(stderr, "bench_ceilings: %s\n", device.error().message.c_str());
    return 1;
  }
  std::puts(measure(**device).dump(2).c_str());
  return 0;
}
