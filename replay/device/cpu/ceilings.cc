// Triads through the same JIT and the same threads as the kernels that are compared with them, and large products through the same code
// as the steps' products. Ordinary and streaming stores alternate, so that drift of the machine hits both; the best pass counts.
#include "replay/device/cpu/ceilings.h"
#include "src/base/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "replay/device/cpu/arena.h"
#include "replay/device/cpu/host.h"
#include "replay/device/cpu/parts_convolution.h"
#include "replay/device/cpu/product.h"

namespace replay::cpu {
namespace {

using base::Error;
using base::Result;
using base::Status;

constexpr int64_t kLargestArray = 256 << 20, kSmallestArray = 8 << 20;  ///< bytes
constexpr double kTriadSeconds = 0.6, kProductSeconds = 0.6;
constexpr int kMostPasses = 9;
constexpr int64_t kProductSize = 2048;

template <typename Body>
double time_of(const Body& body) {
  const double begin = base::now_s();
  body();
  return base::now_s() - begin;
}

/// Bytes of one of three arrays: four times the last cache, as far as memory goes.
int64_t array_bytes(int64_t free_bytes) {
  const int64_t wanted = std::clamp(4 * caches().l3_bytes, kSmallestArray, kLargestArray);
  return std::min(wanted, free_bytes / 6) / 4096 * 4096;
}

Status measure_triads(Jit& jit, int threads, int64_t bytes, Ceilings& found) {
  ASSIGN_OR_RETURN(const Code ordinary, jit.compile({triad_ir(jit.lanes(), Stores::ordinary), {"triad"}}));
  ASSIGN_OR_RETURN(const Code streaming, jit.compile({triad_ir(jit.lanes(), Stores::streaming), {"triad"}}));
  ASSIGN_OR_RETURN(const Pages pages, Pages::make(3 * bytes, threads));
  void* args[] = {pages.data(), pages.data() + bytes, pages.data() + 2 * bytes};
  const int64_t elements = bytes / 4;
  const auto rate = [&](const Code& code) {
    return 3.0 * static_cast<double>(bytes) /
           time_of([&] { run_triad(reinterpret_cast<Entry>(code.entries[0]), args, elements, threads); });
  };
  const double begin = base::now_s();
  for (int pass = 0; pass < kMostPasses && (pass < 2 || base::now_s() - begin < kTriadSeconds); ++pass) {
    found.triad_bytes_per_s = std::max(found.triad_bytes_per_s, rate(ordinary));
    found.triad_streaming_bytes_per_s = std::max(found.triad_streaming_bytes_per_s, rate(streaming));
  }
  return {};
}

template <typename Body>
double best_rate(double flops, const Body& body) {
  double rate = 0;
  const double begin = base::now_s();
  for (int pass = 0; pass < kMostPasses && (pass < 2 || base::now_s() - begin < kProductSeconds); ++pass)
    rate = std::max(rate, flops / time_of(body));
  return rate;
}

/// Floating point operations per second of a large product of matrices of one type.
Result<double> product_rate(ir::Type type, int threads) {
  constexpr int64_t n = kProductSize;
  const int64_t bytes = n * n * ir::bytes(type);
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = n;
  for (auto* operand : {&gemm.a, &gemm.b, &gemm.d}) *operand = {.type = type, .batch_stride = 0, .row_stride = n, .column_stride = 1};
  ASSIGN_OR_RETURN(const auto product, make_product(gemm, threads));
  ASSIGN_OR_RETURN(const Pages pages, Pages::make(3 * bytes, threads));
  return best_rate(gemm.flops(), [&] { product->run(pages.data(), pages.data() + bytes, pages.data() + 2 * bytes); });
}

/// The same of f32 in parts, as a convolution of one place; 0 where there is no matrix unit.
Result<double> parts_rate(int threads) {
  constexpr int64_t n = kProductSize;
  Convolution op;
  op.in_features = op.out_features = n;
  op.x.inner = op.y.inner = op.w.outer = 1, op.w.inner = n;
  op.x.outer = op.y.outer = n * n;
  op.dims = {{.in = n, .out = n, .x = n, .y = n}, {.x = n, .y = n}};
  std::unique_ptr<Native> none;
  const auto made = make_parts_convolution(op, threads, std::make_shared<Scratch>(), none);
  if (!made.ok()) return 0.0;
  ASSIGN_OR_RETURN(const Pages pages, Pages::make(3 * n * n * 4, threads));
  std::byte* const data = pages.data();
  const void* const in[] = {data, data + n * n * 4};
  void* const out[] = {data + 2 * n * n * 4};
  return best_rate(op.flops(), [&] { (*made)->run(in, out); });
}

Status measure_products(int threads, Ceilings& found) {
  ASSIGN_OR_RETURN(found.product_flops_per_s, product_rate(ir::Type::f32, threads));
  for (const ir::Type type : {ir::Type::f16, ir::Type::bf16}) {
    ASSIGN_OR_RETURN(const double rate, product_rate(type, threads));
    found.products.emplace_back(fmt::format("{0}×{0}→f32", ir::text(type)), rate);
  }
  ASSIGN_OR_RETURN(const double rate, parts_rate(threads));
  if (rate > 0) found.products.emplace_back(kPartsOperands, rate);
  return {};
}

}  // namespace

std::string triad_ir(int lanes, Stores stores) {
  const std::string hint = stores == Stores::streaming ? ", !nontemporal !0" : "";
  std::string three;
  for (int i = 0; i < lanes; ++i) three += fmt::format("{}float 3.0", i ? ", " : "");
  std::string body;
  for (int u = 0; u < 4; ++u) {
    body += fmt::format(R"(  %i{0} = add i64 %i, {1}
  %pa{0} = getelementptr float, ptr %a, i64 %i{0}
  %pb{0} = getelementptr float, ptr %b, i64 %i{0}
  %pd{0} = getelementptr float, ptr %d, i64 %i{0}
  %va{0} = load <{2} x float>, ptr %pa{0}, align {3}
  %vb{0} = load <{2} x float>, ptr %pb{0}, align {3}
  %r{0} = call <{2} x float> @llvm.fma.v{2}f32(<{2} x float> %vb{0}, <{2} x float> <{4}>, <{2} x float> %va{0})
  store <{2} x float> %r{0}, ptr %pd{0}, align {3}{5}
)",
                        u, u * lanes, lanes, lanes * 4, three, hint);
  }
  return fmt::format(R"(declare <{0} x float> @llvm.fma.v{0}f32(<{0} x float>, <{0} x float>, <{0} x float>)
define internal void @body(ptr noalias %a, ptr noalias %b, ptr noalias %d, i64 %begin, i64 %end) noinline nounwind {{
entry:
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
{1}  %next = add i64 %i, {2}
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %out
out:
  ret void
}}
define void @triad(ptr %args, i64 %begin, i64 %end, ptr %scratch, i64 %thread) nounwind {{
  %pb = getelementptr ptr, ptr %args, i64 1
  %pd = getelementptr ptr, ptr %args, i64 2
  %a = load ptr, ptr %args
  %b = load ptr, ptr %pb
  %d = load ptr, ptr %pd
  call void @body(ptr %a, ptr %b, ptr %d, i64 %begin, i64 %end)
  ret void
}}
!0 = !{{i32 1}}
)",
                     lanes, body, 4 * lanes);
}

void run_triad(Entry triad, void* const* args, int64_t elements, int threads) {
  kernel::Part part{.symbol = "triad", .count = elements, .grain = 64};
  part.chunk = std::max<int64_t>(64 << 10, elements / (16 * threads));
  part.work_bytes = elements * 12;
  run(split(part, threads, threads), triad, args, {});
}

Result<Ceilings> measure_ceilings(Jit& jit, int threads, int64_t free_bytes) {
  Ceilings found;
  const int64_t bytes = array_bytes(free_bytes);
  if (bytes >= kSmallestArray) RETURN_IF_ERROR(measure_triads(jit, threads, bytes, found));
  if (free_bytes / 2 > 3 * kProductSize * kProductSize * 4) RETURN_IF_ERROR(measure_products(threads, found));
  return found;
}

}  // namespace replay::cpu
