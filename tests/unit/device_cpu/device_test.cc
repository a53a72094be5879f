// The device on hand-made plans: what it runs, what it records, what it refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <set>

#include "replay/device/cpu/arena.h"
#include "replay/device/cpu/cache_ceilings.h"
#include "replay/device/cpu/cpu.h"
#include "replay/device/cpu/jit.h"
#include "replay/device/cpu/threads.h"

namespace replay::cpu {
namespace {

/// A function over f32 elements [begin, end): `body` makes %r from %i and the pointers %p0, %p1, ….
std::string loop_ir(const std::string& symbol, int args, const std::string& body) {
  std::string pointers;
  for (int i = 0; i < args; ++i)
    pointers += fmt::format("  %a{0} = getelementptr ptr, ptr %args, i64 {0}\n  %p{0} = load ptr, ptr %a{0}\n", i);
  return fmt::format(R"(define void @{}(ptr %args, i64 %begin, i64 %end, ptr %scratch, i64 %thread) {{
entry:
{}  br label %head
head:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %loop, label %out
loop:
{}  %next = add i64 %i, 1
  br label %head
out:
  ret void
}}
)",
                     symbol, pointers, body);
}

std::string scale_ir(const std::string& factor) {
  return loop_ir("k", 2,
                 fmt::format(R"(  %x = getelementptr float, ptr %p0, i64 %i
  %y = getelementptr float, ptr %p1, i64 %i
  %v = load float, ptr %x
  %r = fmul float %v, {}
  store float %r, ptr %y
)",
                             factor));
}

/// Parts "partial": scratch[thread] += its range; "total": out = sum over the threads. args: in, out, shared scratch (zeroed before).
std::string sum_ir() {
  return loop_ir("partial", 3, R"(  %x = getelementptr float, ptr %p0, i64 %i
  %s = getelementptr float, ptr %p2, i64 %thread
  %v = load float, ptr %x
  %w = load float, ptr %s
  %r = fadd float %v, %w
  store float %r, ptr %s
)") + loop_ir("total", 3, R"(  %x = getelementptr float, ptr %p2, i64 %i
  %v = load float, ptr %x
  %w = load float, ptr %p1
  %r = fadd float %v, %w
  store float %r, ptr %p1
)");
}

kernel::Kernel scale_kernel(int64_t count, const std::string& factor) {
  kernel::Kernel kernel;
  kernel.name = "scale_by_" + factor;
  kernel.key = "key_" + factor;
  kernel.operands = kernel.outputs = 1;
  kernel.parts = {{.symbol = "k", .count = count, .grain = 8, .chunk = 1024, .work_bytes = count * 8}};
  kernel.code = scale_ir(factor);
  return kernel;
}

kernel::Kernel sum_kernel(int64_t count, int threads) {
  kernel::Kernel kernel;
  kernel.name = "sum";
  kernel.key = "key_sum";
  kernel.operands = kernel.outputs = 1;
  kernel.scratch_bytes = 4 * threads;
  kernel.thread_scratch_bytes = 40;
  kernel.parts = {{.symbol = "partial", .count = count, .by_thread = true, .work_bytes = count * 4},
                  {.symbol = "total", .count = threads, .chunk = threads}};
  kernel.code = sum_ir();
  return kernel;
}

/// Builds plans of f32 vectors; steps run in order of their ids.
class PlanMaker {
 public:
  explicit PlanMaker(const kernel::Target& target) { plan_.target = target; }
  BufferId parameter(int64_t elements) { return add(Buffer::Kind::parameter, elements * 4, -1); }
  BufferId temporary(int64_t elements) {
    const int64_t offset = plan_.arena_bytes;
    plan_.arena_bytes += (elements * 4 + 63) / 64 * 64;
    return add(Buffer::Kind::temporary, elements * 4, offset);
  }
  int kernel(kernel::Kernel kernel) {
    plan_.kernels.push_back(std::move(kernel));
    return static_cast<int>(plan_.kernels.size()) - 1;
  }
  StepId step(std::vector<Launch> launches, Class cls = Class::kernel) {
    auto step = std::make_unique<Step>();
    step->id = static_cast<StepId>(steps_.size());
    step->name = fmt::format("step{}", step->id);
    step->cls = cls;
    step->launches = std::move(launches);
    steps_.push_back(std::move(step));
    return steps_.back()->id;
  }
  const Plan& plan() {
    plan_.steps.clear();
    for (auto& step : steps_) plan_.steps.push_back(step.get());
    return plan_;
  }

 private:
  BufferId add(Buffer::Kind kind, int64_t bytes, int64_t offset) {
    Buffer buffer;
    buffer.kind = kind;
    buffer.bytes = bytes;
    buffer.offset = offset;
    plan_.buffers.push_back(buffer);
    return static_cast<BufferId>(plan_.buffers.size()) - 1;
  }
  Plan plan_;
  std::vector<std::unique_ptr<Step>> steps_;
};

std::unique_ptr<Device> device(int threads, int64_t limit = 0, const std::string& cpu = "") {
  DeviceOptions options;
  options.threads = threads;
  options.memory_limit_bytes = limit;
  options.cpu = cpu;
  auto opened = open(options);
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  return *std::move(opened);
}

void write(Device& device, BufferId buffer, const std::vector<float>& values) {
  const auto status = device.write(buffer, std::as_bytes(std::span(values)));
  ASSERT_TRUE(status.ok()) << status.error().message;
}

std::vector<float> read(Device& device, BufferId buffer, size_t elements) {
  std::vector<float> values(elements);
  const auto status = device.read(buffer, std::as_writable_bytes(std::span(values)));
  EXPECT_TRUE(status.ok()) << status.error().message;
  return values;
}

std::vector<float> counting(size_t elements) {
  std::vector<float> values(elements);
  for (size_t i = 0; i < elements; ++i) values[i] = static_cast<float>(i % 10);
  return values;
}

/// x → 2x → Σ, then Σ copied, and a buffer filled.
struct Chain {
  Chain(Device& device, int64_t n) : maker(device.target()) {
    const int threads = device.target().threads;
    x = maker.parameter(n), y = maker.temporary(n), sum = maker.temporary(1), copied = maker.temporary(1),
    partials = maker.temporary(threads);
    const int scale = maker.kernel(scale_kernel(n, "2.0")), add = maker.kernel(sum_kernel(n, threads));
    maker.step({KernelCall{scale, {x, y}}});
    maker.step({Fill{partials, 0}, Fill{sum, 0}, KernelCall{add, {y, sum, partials}}, Copy{sum, copied}});
  }
  void run(Device& device) {
    for (const StepId step : {0, 1}) ASSERT_TRUE(device.start(step, 1).ok());
  }
  PlanMaker maker;
  BufferId x, y, sum, copied, partials;
};

TEST(CpuDevice, RunsKernelsCopiesAndFillsOnOneThreadAndMore) {
  for (const int threads : {1, 2, 3})
    for (const int64_t n : {1, 1000, 100'003}) {
      SCOPED_TRACE(testing::Message() << threads << " threads, " << n);
      auto d = device(threads);
      Chain chain(*d, n);
      ASSERT_TRUE(d->prepare(chain.maker.plan()).ok());
      const auto values = counting(static_cast<size_t>(n));
      write(*d, chain.x, values);
      chain.run(*d);
      auto expected = values;
      for (float& v : expected) v *= 2;
      EXPECT_EQ(read(*d, chain.y, expected.size()), expected);
      EXPECT_EQ(read(*d, chain.copied, 1)[0], std::accumulate(expected.begin(), expected.end(), 0.0f));
    }
}

TEST(CpuDevice, RunsCodeMadeForAnOlderProcessor) {
  auto d = device(2, 0, "haswell");
  EXPECT_EQ(d->target().lanes, 8);
  EXPECT_EQ(d->target().registers, 16);
  Chain chain(*d, 5000);
  ASSERT_TRUE(d->prepare(chain.maker.plan()).ok());
  write(*d, chain.x, std::vector<float>(5000, 1));
  chain.run(*d);
  EXPECT_EQ(read(*d, chain.sum, 1)[0], 10000);
}

TEST(CpuDevice, TwoDevicesInOneProcessDoNotShareMemory) {
  auto one = device(1), two = device(2);
  Chain a(*one, 3000), b(*two, 3000);
  ASSERT_TRUE(one->prepare(a.maker.plan()).ok());
  ASSERT_TRUE(two->prepare(b.maker.plan()).ok());
  write(*one, a.x, std::vector<float>(3000, 1));
  write(*two, b.x, std::vector<float>(3000, 2));
  a.run(*one);
  b.run(*two);
  a.run(*one);
  EXPECT_EQ(read(*one, a.sum, 1)[0], 6000);
  EXPECT_EQ(read(*two, b.sum, 1)[0], 12000);
}

TEST(CpuDevice, APlanMayBePreparedAfterAnother) {
  auto d = device(2);
  for (const int64_t n : {2000, 100, 4000}) {
    Chain chain(*d, n);
    ASSERT_TRUE(d->prepare(chain.maker.plan()).ok());
    write(*d, chain.x, std::vector<float>(static_cast<size_t>(n), 3));
    chain.run(*d);
    EXPECT_EQ(read(*d, chain.sum, 1)[0], static_cast<float>(6 * n));
    EXPECT_EQ(d->finish()->size(), 2u);
  }
}

TEST(CpuDevice, ProductsOfEqualShapeShareOneRecord) {
  auto d = device(2);
  PlanMaker maker(d->target());
  Gemm gemm;
  gemm.m = 2, gemm.n = 3, gemm.k = 4;
  gemm.a = {maker.parameter(8), ir::Type::f32, 0, 4, 1};
  gemm.b = {maker.parameter(12), ir::Type::f32, 0, 3, 1};
  gemm.d = {maker.temporary(6), ir::Type::f32, 0, 3, 1};
  Gemm again = gemm;
  again.d.buffer = maker.temporary(6);
  maker.step({gemm}, Class::library);
  maker.step({again}, Class::library);
  const auto status = d->prepare(maker.plan());
  ASSERT_TRUE(status.ok()) << status.error().message;
  write(*d, gemm.a.buffer, {1, 2, 3, 4, 5, 6, 7, 8});
  write(*d, gemm.b.buffer, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1});
  ASSERT_TRUE(d->start(0, 1).ok());
  ASSERT_TRUE(d->start(1, 1).ok());
  for (const BufferId result : {gemm.d.buffer, again.d.buffer}) EXPECT_EQ(read(*d, result, 6), (std::vector<float>{5, 6, 7, 13, 14, 15}));
  ASSERT_EQ(d->kernels().size(), 1u);
  EXPECT_EQ(d->kernels()[0].language, "library");
  EXPECT_EQ(d->kernels_of(0), d->kernels_of(1));
  EXPECT_EQ(d->precision_of(0), "f32×f32→f32→f32");
}

TEST(CpuDevice, RecordsSamplesOnOneClock) {
  auto d = device(2);
  Chain chain(*d, 1000);
  ASSERT_TRUE(d->prepare(chain.maker.plan()).ok());
  ASSERT_TRUE(d->start(0, 3).ok());
  ASSERT_TRUE(d->start(1, 1).ok());
  const auto samples = d->finish();
  ASSERT_TRUE(samples.ok());
  ASSERT_EQ(samples->size(), 2u);
  EXPECT_EQ((*samples)[0].step, 0);
  EXPECT_EQ((*samples)[0].executions, 3);
  EXPECT_GE((*samples)[0].begin_ns, 0);
  EXPECT_GT((*samples)[0].duration_ns, 0);
  EXPECT_GE((*samples)[1].begin_ns, (*samples)[0].begin_ns + (*samples)[0].duration_ns);
  EXPECT_TRUE(d->finish()->empty());
}

TEST(CpuDevice, RecordsWhatWasCompiled) {
  auto d = device(1);
  Chain chain(*d, 1000);
  ASSERT_TRUE(d->prepare(chain.maker.plan()).ok());
  const auto kernels = d->kernels();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "scale_by_2.0");
  EXPECT_EQ(kernels[0].key, "key_2.0");
  EXPECT_EQ(kernels[0].source, scale_ir("2.0"));
  EXPECT_GT(kernels[0].compile_ns, 0);
  EXPECT_GT(kernels[0].code_bytes, 0);
  EXPECT_EQ(d->kernels_of(1), std::vector<int32_t>{1});
  EXPECT_EQ(d->precision_of(1), "");
  EXPECT_TRUE(d->kernels_of(7).empty());
}

TEST(CpuDevice, RefusesStepsOfTheReference) {
  auto d = device(1);
  PlanMaker maker(d->target());
  maker.step({}, Class::reference);
  maker.step({}, Class::skip);
  ASSERT_TRUE(d->prepare(maker.plan()).ok());
  for (const StepId step : {0, 1, 2, -1}) EXPECT_FALSE(d->start(step, 1).ok()) << step;
}

TEST(CpuDevice, AKernelThatDoesNotCompileIsNamed) {
  auto d = device(1);
  PlanMaker maker(d->target());
  maker.kernel(scale_kernel(8, "2.0"));
  maker.kernel(scale_kernel(8, "two"));
  const auto status = d->prepare(maker.plan());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message.find("kernel scale_by_two: llvm-ir:"), 0u) << status.error().message;
}

TEST(CpuDevice, RefusesTooLargePlansBeforeItCompiles) {
  auto d = device(1, 1'000'000);
  PlanMaker maker(d->target());
  maker.parameter(500'000);
  maker.kernel(scale_kernel(8, "two"));
  const auto status = d->prepare(maker.plan());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "memory: needs 2.00 MB, 1.00 MB free; try --isolated (each step alone), --computation NAME or --instruction NAME");
}

TEST(CpuDevice, RefusesWritesOfTheWrongSize) {
  auto d = device(1);
  PlanMaker maker(d->target());
  const BufferId x = maker.parameter(4);
  ASSERT_TRUE(d->prepare(maker.plan()).ok());
  const std::vector<std::byte> bytes(15);
  EXPECT_FALSE(d->write(x, bytes).ok());
  EXPECT_FALSE(d->write(5, bytes).ok());
  EXPECT_EQ(d->memory(x).size(), 16u);
  EXPECT_TRUE(d->memory(5).empty());
}

TEST(CpuDevice, RefusesOptionsThatItCannotMeet) {
  EXPECT_FALSE(open({.threads = -1}).ok());
  EXPECT_FALSE(open({.threads = 1 << 20}).ok());
  EXPECT_FALSE(open({.cpu = "pentium-9000"}).ok());
  EXPECT_FALSE(open({.lanes = 3}).ok());
}

TEST(CpuDevice, DescribesTheMachine) {
  auto d = device(2);
  const auto record = d->describe();
  EXPECT_EQ(record.name, "cpu");
  EXPECT_EQ(record.threads, 2);
  EXPECT_NE(record.model.find("2 threads"), std::string::npos);
  EXPECT_NE(record.libraries.find("LLVM"), std::string::npos);
  EXPECT_NE(record.libraries.find("oneDNN"), std::string::npos);
  EXPECT_GT(record.details.size(), 10u);
}

TEST(CpuDevice, MeasuresCeilings) {
  auto d = device(2);
  auto record = d->describe();
  const auto status = d->measure_ceilings(record);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_GT(record.triad_bytes_per_s, 1e8);
  EXPECT_GT(record.triad_streaming_bytes_per_s, 1e8);
  EXPECT_GT(record.product_flops_per_s, 1e8);
  ASSERT_TRUE(d->measure_ceilings(record).ok());  // again: it replaces
  std::set<std::string> names;
  for (const model::CeilingRecord& c : record.ceilings) {
    EXPECT_TRUE(names.insert(c.name).second) << c.name;
    EXPECT_GT(c.per_s, 1e9) << c.name;
    EXPECT_LT(c.per_s, 1e14) << c.name << ": a sweep was left out";
    if (c.limits == model::CeilingRecord::Limits::cache) continue;
    EXPECT_EQ(c.name, "winograd f32×f32→f32");
    EXPECT_EQ(c.per_s, 16 * 9 / 36 * record.product_flops_per_s) << "36 multiplications for 4 × 4 results of 3 × 3 places";
  }
  EXPECT_TRUE(names.contains("L1 read") && names.contains("L1 copy") && names.contains("winograd f32×f32→f32"));
}

TEST(CpuDevice, SweepsReadAndCopyEveryElementOfTheirRange) {
  auto jit = Jit::make({});
  ASSERT_TRUE(jit.ok());
  const int lanes = (*jit)->lanes();
  const int64_t n = 16 * lanes;
  auto pages = Pages::make(1 << 16, 1);
  ASSERT_TRUE(pages.ok());
  auto* from = reinterpret_cast<int32_t*>(pages->data());
  int32_t *to = from + 2 * n, *sink = to + 2 * n;
  for (int64_t i = 0; i < 2 * n; ++i) from[i] = static_cast<int32_t>(i * 2654435761u), to[i] = -1;
  int64_t repeats = 3;
  void* args[] = {from, to, &repeats, sink};
  for (const Moves moves : {Moves::read, Moves::copy}) {
    auto code = (*jit)->compile({sweep_ir(lanes, moves), {"sweep"}});
    ASSERT_TRUE(code.ok()) << code.error().message;
    reinterpret_cast<Entry>(code->entries[0])(args, n, 2 * n, nullptr, 1);
    int32_t expected = 0, found = 0;
    for (int64_t i = n; i < 2 * n; ++i) expected ^= from[i];
    for (int64_t i = 0; i < 8 * lanes; ++i) found ^= sink[8 * lanes + i];
    EXPECT_EQ(found, expected);
    for (int64_t i = 0; i < 2 * n; ++i) EXPECT_EQ(to[i], moves == Moves::copy && i >= n ? from[i] : -1) << i;
  }
}

}  // namespace
}  // namespace replay::cpu
