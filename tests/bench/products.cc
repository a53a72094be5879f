// Matrix products of the samples, timed: ours in f16 and f32 against oneDNN's f32 matmul on the same shapes. Prints JSON.
//   bench_products [THREADS=2] [ROUNDS=5] [wall|cpu] [SHAPE]
// Every round runs all variants of a shape one after another; a variant's share is the median over rounds of (time of the matmul) /
// (its time), which a machine that speeds up and slows down disturbs little. cpu: processor time, for one thread on a busy machine.
// SHAPE: only shapes whose text contains it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "replay/device/cpu/dnnl.h"
#include "replay/device/cpu/packed.h"

namespace {

using ir::Type;
using replay::Gemm;
using replay::cpu::Product;
using replay::cpu::Scratch;

struct Shape {
  const char* set;
  int count;  ///< calls a step
  int64_t batch, m, n, k;
  const char* transposed;  ///< of A and B: "NT" is A·Bᵀ with B stored n × k
  double alpha, beta;
  std::string text() const { return fmt::format("{} {}x{}x{}x{} {}", set, batch, m, n, k, transposed); }
  double flops() const { return 2.0 * static_cast<double>(batch * m) * static_cast<double>(n * k); }
};
constexpr Shape kShapes[] = {
    {"bert", 8, 1, 8192, 768, 768, "NN", 1, 0},    {"bert", 2, 1, 8192, 3072, 768, "NN", 1, 0},
    {"bert", 2, 1, 8192, 768, 3072, "NN", 1, 0},   {"bert", 2, 1, 8192, 3072, 768, "NT", 1, 0},
    {"bert", 2, 1, 8192, 768, 3072, "NT", 1, 0},   {"bert", 8, 1, 8192, 768, 768, "NT", 1, 0},
    {"bert", 2, 1, 768, 3072, 8192, "TN", 1, 0},   {"bert", 2, 1, 3072, 768, 8192, "TN", 1, 0},
    {"bert", 6, 1, 768, 768, 8192, "NN", 1, 0},    {"bert", 1, 1, 1216, 30528, 768, "NT", 1, 0},
    {"bert", 1, 1, 1216, 768, 30528, "NN", 1, 0},  {"bert", 1, 1, 30528, 768, 1216, "TN", 1, 0},
    {"bert", 2, 1, 768, 768, 8192, "TN", 1, 0},    {"bert", 4, 192, 512, 512, 64, "NN", 1, 0},
    {"bert", 2, 192, 512, 64, 512, "NN", 1, 0},    {"bert", 2, 192, 512, 64, 512, "TN", 1, 0},
    {"bert", 2, 192, 512, 64, 512, "NN", .125, 0}, {"bert", 2, 192, 64, 512, 512, "NN", 1, 0},
    {"bert", 1, 1, 1216, 768, 768, "NN", 1, 1},    {"bert", 1, 1, 1216, 768, 768, "NT", 1, 0},
    {"bert", 1, 1, 768, 768, 1216, "TN", 1, 0},    {"bert", 1, 1, 8192, 768, 8, "NN", 1, 0},
    {"bert", 1, 1, 8, 768, 8192, "TN", 1, 0},      {"bert", 1, 1, 16, 768, 768, "NN", 1, 1},
    {"bert", 1, 1, 16, 768, 768, "NT", 1, 0},      {"bert", 1, 1, 768, 768, 16, "TN", 1, 0},
    {"bert", 1, 1, 16, 8, 768, "NN", 1, 0},        {"bert", 1, 1, 16, 768, 8, "NT", 1, 0},
    {"bert", 1, 1, 768, 8, 16, "TN", 1, 0},        {"mnist", 1, 1, 32, 128, 784, "NN", 1, 1},
    {"mnist", 1, 1, 32, 10, 128, "NN", 1, 1},      {"mnist", 1, 1, 32, 128, 10, "NT", 1.25, 0},
    {"mnist", 1, 1, 784, 128, 32, "TN", 1, 0},     {"mnist", 1, 1, 128, 10, 32, "TN", 1, 0},
};

Gemm gemm_of(const Shape& s, Type type) {
  Gemm g;
  g.batch = s.batch, g.m = s.m, g.n = s.n, g.k = s.k, g.alpha = s.alpha, g.beta = s.beta;
  const bool ta = s.transposed[0] == 'T', tb = s.transposed[1] == 'T';
  g.a = {0, type, s.m * s.k, ta ? 1 : s.k, ta ? s.m : 1};
  g.b = {0, type, s.k * s.n, tb ? 1 : s.n, tb ? s.k : 1};
  g.d = {0, type, s.m * s.n, s.n, 1};
  return g;
}

struct Variant {
  const char* name;
  Type type;
  base::Result<std::unique_ptr<Product>> (*make)(const Gemm&, int threads, const std::shared_ptr<Scratch>&);
};
base::Result<std::unique_ptr<Product>> matmul(const Gemm& gemm, int threads, const std::shared_ptr<Scratch>& scratch) {
  ASSIGN_OR_RETURN(std::unique_ptr<Product> fallback, replay::cpu::make_packed(gemm, threads, scratch));
  return replay::cpu::make_dnnl_matmul(gemm, threads, scratch, std::move(fallback));
}
base::Result<std::unique_ptr<Product>> chosen(const Gemm& gemm, int threads, const std::shared_ptr<Scratch>& scratch) {
  return replay::cpu::make_product(gemm, threads, scratch);
}
base::Result<std::unique_ptr<Product>> packed(const Gemm& gemm, int threads, const std::shared_ptr<Scratch>& scratch) {
  return replay::cpu::make_packed(gemm, threads, scratch);
}
constexpr Variant kVariants[] = {
    {"onednn_matmul_f32", Type::f32, matmul}, {"f32", Type::f32, chosen},       {"f16", Type::f16, chosen}, {"bf16", Type::bf16, chosen},
    {"packed_f16", Type::f16, packed},        {"packed_f32", Type::f32, packed}};
constexpr size_t kVariantCount = std::size(kVariants);

double now_s(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Operands of every type: small whole numbers, which all types hold, so that no variant meets special values.
std::vector<std::byte> numbers(Type type, int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count * ir::bytes(type)));
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(i * 2654435761 >> 7 & 7) - 3.5F;
    std::byte* at = &bytes[static_cast<size_t>(i * ir::bytes(type))];
    if (type == Type::f32) {
      std::memcpy(at, &value, sizeof value);
    } else {
      const auto code = static_cast<uint16_t>(base::encode(value, *ir::info(type).small));
      std::memcpy(at, &code, sizeof code);
    }
  }
  return bytes;
}

struct Measured {
  std::string implementation;
  std::vector<double> seconds;
};

std::vector<Measured> measure(const Shape& shape, int threads, int rounds, clockid_t clock) {
  std::vector<Measured> result(kVariantCount);
  std::vector<std::unique_ptr<Product>> products;
  std::vector<std::vector<std::byte>> a, b, d;
  const auto scratch = std::make_shared<Scratch>();
  for (size_t i = 0; i < kVariantCount; ++i) {
    auto made = kVariants[i].make(gemm_of(shape, kVariants[i].type), threads, scratch);
    products.push_back(made.ok() ? std::move(*made) : nullptr);
    result[i].implementation = made.ok() ? products[i]->implementation() : made.error().message;
    a.push_back(numbers(kVariants[i].type, shape.batch * shape.m * shape.k));
    b.push_back(numbers(kVariants[i].type, shape.batch * shape.k * shape.n));
    d.push_back(numbers(kVariants[i].type, shape.batch * shape.m * shape.n));
  }
  const int calls = std::max(1, static_cast<int>(2e7 / shape.flops()));
  for (int round = -1; round < rounds; ++round) {  // round -1 warms up
    for (size_t i = 0; i < kVariantCount; ++i) {
      if (products[i] == nullptr) continue;
      const double begin = now_s(clock);
      for (int call = 0; call < calls; ++call) products[i]->run(a[i].data(), b[i].data(), d[i].data());
      if (round >= 0) result[i].seconds.push_back((now_s(clock) - begin) / calls);
    }
  }
  return result;
}

/// Median over rounds of the matmul's time over the variant's.
double share(const std::vector<Measured>& all, size_t variant) {
  std::vector<double> ratios;
  for (size_t round = 0; round < all[variant].seconds.size(); ++round)
    ratios.push_back(all[0].seconds[round] / all[variant].seconds[round]);
  return ratios.empty() ? 0 : median(ratios);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2, rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const clockid_t clock = argc > 3 && std::strcmp(argv[3], "cpu") == 0 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  std::vector<double> total_s(kVariantCount);  // of bert, weighted by calls, in units of the matmul's time
  fmt::print("{{\"library\": \"{}\", \"threads\": {}, \"rounds\": {}, \"shapes\": [", replay::cpu::dnnl_version_text(), threads, rounds);
  const char* separator = "\n";
  for (const Shape& shape : kShapes) {
    if (argc > 4 && shape.text().find(argv[4]) == std::string::npos) continue;
    const std::vector<Measured> measured = measure(shape, threads, rounds, clock);
    fmt::print("{}{{\"shape\": \"{}\", \"count\": {}", separator, shape.text(), shape.count);
    for (size_t i = 0; i < kVariantCount; ++i) {
      if (measured[i].seconds.empty()) continue;
      const double seconds = median(measured[i].seconds), relative = share(measured, i);
      fmt::print(", \"{}\": {{\"us\": {:.1f}, \"gflops\": {:.1f}, \"share\": {:.3f}, \"implementation\": \"{}\"}}", kVariants[i].name,
                 seconds * 1e6, shape.flops() / seconds * 1e-9, relative, measured[i].implementation);
      if (std::strcmp(shape.set, "bert") == 0) total_s[i] += shape.count * median(measured[0].seconds) / relative;
    }
    fmt::print("}}");
    std::fflush(stdout);
    separator = ",\n";
  }
  fmt::print("],\n\"bert_share_of_onednn_matmul_f32\": {{");
  for (size_t i = 0; i < kVariantCount; ++i) fmt::print("{}\"{}\": {:.3f}", i == 0 ? "" : ", ", kVariants[i].name, total_s[0] / total_s[i]);
  fmt::print("}}}}\n");
  return 0;
}
