// Every distinct convolution of a program, timed: ours against the best that oneDNN alone reaches for it, reorders included. Prints JSON.
//   bench_convolutions PROGRAM [ROUNDS=5] [THREADS=2] [BATCH=32] [NAME]
// Every round runs all variants of a convolution one after another, every second one backwards; the ratio is the median over rounds of (our
// time) / (the least time of oneDNN's variants), which a machine that speeds up and slows down disturbs little. NAME: only convolutions
// whose name contains it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "importers/importer.h"
#include "replay/device/cpu/dnnl.h"
#include "src/base/file.h"

namespace {

using replay::Convolution;
using replay::cpu::Native;
using replay::cpu::Scratch;

template <typename T>
T must(base::Result<T> result) {
  if (result.ok()) return *std::move(result);
  fmt::print(stderr, "bench_convolutions: {}\n", result.error().message);
  std::exit(1);
}

struct Shape {
  Convolution op;
  std::string name;
  int count = 0;
};

std::vector<Shape> shapes_of(const ir::Module& module) {
  std::vector<Shape> shapes;
  std::map<std::string, size_t> known;
  for (ir::CompId comp = 0; comp < static_cast<ir::CompId>(module.computations.size()); ++comp) {
    const auto& instrs = module.computations[static_cast<size_t>(comp)].instrs;
    for (ir::InstrId i = 0; i < static_cast<ir::InstrId>(instrs.size()); ++i) {
      if (instrs[static_cast<size_t>(i)].op != ir::Op::convolution) continue;
      const auto made = replay::library_op(module, {comp, i});
      const auto* const convolution = made.ok() ? std::get_if<Convolution>(made->get()) : nullptr;
      if (convolution == nullptr) continue;
      const auto [at, fresh] = known.try_emplace(replay::text_of(**made), shapes.size());
      if (fresh) shapes.push_back({*convolution, std::string(module.name_of(instrs[static_cast<size_t>(i)])), 0});
      ++shapes[at->second].count;
    }
  }
  return shapes;
}

struct Arrays {
  std::vector<float> x, w, y;
};

int64_t extent(const Convolution& c, const Convolution::Operand& o, int64_t outer, int64_t inner, int64_t Convolution::Dim::*size,
               int64_t Convolution::Dim::*stride) {
  int64_t last = (c.groups - 1) * o.group + (outer - 1) * o.outer + (inner - 1) * o.inner;
  for (const auto& d : c.dims) last += (d.*size - 1) * (d.*stride);
  return last + 1;
}

Arrays arrays_of(const Convolution& c) {
  using D = Convolution::Dim;
  Arrays a;
  a.x.resize(static_cast<size_t>(extent(c, c.x, c.batch, c.in_features, &D::in, &D::x)));
  a.w.resize(static_cast<size_t>(extent(c, c.w, c.out_features, c.in_features, &D::window, &D::w)));
  a.y.resize(static_cast<size_t>(extent(c, c.y, c.batch, c.out_features, &D::out, &D::y)));
  uint32_t state = 1;
  for (auto* array : {&a.x, &a.w}) {
    for (float& value : *array) {
      state = state * 1664525 + 1013904223;
      value = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31F;
    }
  }
  return a;
}

struct Variant {
  std::string name, implementation;
  std::unique_ptr<Native> native;
  std::vector<double> seconds;
};

std::vector<Variant> variants_of(const Convolution& op, int threads, const std::shared_ptr<Scratch>& scratch) {
  using Formats = replay::cpu::DnnlFormats;
  std::vector<Variant> out;
  out.push_back({"ours", "", must(replay::cpu::make_convolution(op, threads, scratch)), {}});
  constexpr std::pair<const char*, Formats> kFormats[] = {{"as they lie", Formats::as_they_lie},
                                                          {"weights preferred", Formats::images_as_they_lie},
                                                          {"all preferred", Formats::preferred},
                                                          {"winograd", Formats::winograd}};
  for (const auto& [name, formats] : kFormats) {
    if (auto made = replay::cpu::make_dnnl_convolution(op, threads, scratch, nullptr, formats); made.ok())
      out.push_back({name, "", *std::move(made), {}});
  }
  for (Variant& v : out) v.implementation = v.native->implementation();
  return out;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Largest difference from the first of oneDNN's results, in units of the largest result.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(double{a[i]} - double{b[i]}));
    largest = std::max(largest, std::abs(double{b[i]}));
  }
  return largest > 0 ? most / largest : most;
}

void report(const Shape& shape, int rounds, int threads, const char*& separator, double (&totals)[2]) {
  const auto scratch = std::make_shared<Scratch>();
  std::vector<Variant> variants = variants_of(shape.op, threads, scratch);
  Arrays arrays = arrays_of(shape.op);
  std::vector<float> results[2];
  for (int round = -1; round < rounds; ++round) {  // round -1 warms up
    for (size_t at = 0; at < variants.size(); ++at) {
      const size_t i = round % 2 == 0 ? at : variants.size() - 1 - at;  // what ran before fills the caches: not always the same
      const void* const in[] = {arrays.x.data(), arrays.w.data()};
      void* const out[] = {arrays.y.data()};
      const auto begin = std::chrono::steady_clock::now();
      variants[i].native->run(in, out);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (round >= 0) variants[i].seconds.push_back(seconds);
      if (round < 0 && i < 2) results[i] = arrays.y;
    }
  }
  std::vector<double> ratios;
  size_t best = 1;
  for (size_t i = 1; i < variants.size(); ++i) {
    if (median(variants[i].seconds) < median(variants[best].seconds)) best = i;
  }
  for (size_t round = 0; round < static_cast<size_t>(rounds) && variants.size() > 1; ++round)
    ratios.push_back(variants[0].seconds[round] / variants[best].seconds[round]);
  fmt::print("{}{{\"name\": \"{}\", \"count\": {}, \"gflop\": {:.3f}, \"ratio\": {:.3f}, \"difference\": {:.1e}, \"variants\": {{",
             separator, shape.name, shape.count, shape.op.flops() * 1e-9, median(ratios), difference(results[0], results[1]));
  for (size_t i = 0; i < variants.size(); ++i) {
    const double ms = median(variants[i].seconds) * 1e3;
    fmt::print("{}\"{}\": {{\"ms\": {:.3f}, \"gflops\": {:.0f}, \"implementation\": \"{}\"}}", i == 0 ? "" : ", ", variants[i].name, ms,
               shape.op.flops() / ms * 1e-6, variants[i].implementation);
  }
  fmt::print("}}}}");
  std::fflush(stdout);
  separator = ",\n";
  totals[0] += shape.count * median(variants[0].seconds);
  if (variants.size() > 1) totals[1] += shape.count * median(variants[best].seconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_convolutions PROGRAM [ROUNDS=5] [THREADS=2] [BATCH=32] [NAME]\n");
    return 2;
  }
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5, threads = argc > 3 ? std::atoi(argv[3]) : 2;
  const std::string bytes = must(base::read_file(argv[1]));
  importers::Input input{argv[1], bytes};
  input.options.batch = argc > 4 ? std::atoi(argv[4]) : 32;
  const model::Imported imported = must(importers::import(input));
  fmt::print("{{\"library\": \"{}\", \"threads\": {}, \"rounds\": {}, \"convolutions\": [", replay::cpu::dnnl_version_text(), threads,
             rounds);
  const char* separator = "\n";
  double totals[2] = {};
  for (const ir::Module& module : imported.modules) {
    for (const Shape& shape : shapes_of(module)) {
      if (argc <= 5 || shape.name.find(argv[5]) != std::string::npos) report(shape, rounds, threads, separator, totals);
    }
  }
  fmt::print("],\n\"ours_s\": {:.4f}, \"best_of_onednn_s\": {:.4f}}}\n", totals[0], totals[1]);
  return 0;
}
