// From a plan to a table of addresses, in the order that fails cheapest: sizes, then products, then kernels (in parallel), then memory.
#include "replay/device/cpu/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "src/base/hash.h"

namespace replay::cpu {
namespace {

using base::Error;
using base::Result;
using base::Status;

/// What distinguishes products: everything but the buffers.
std::string text_of(const Gemm& gemm) {
  const auto operand = [](const char* name, const Gemm::Operand& o) {
    return fmt::format("{}: {}, strides {} {} {}\n", name, ir::text(o.type), o.batch_stride, o.row_stride, o.column_stride);
  };
  return fmt::format("product of {} × {}×{}×{} (batch × M×N×K)\nalpha {}, beta {}\n", gemm.batch, gemm.m, gemm.n, gemm.k, gemm.alpha,
                     gemm.beta) +
         operand("A", gemm.a) + operand("B", gemm.b) + operand("D", gemm.d);
}

/// By whoever made the plan; a kernel without parts has nothing to compile.
bool is_compiled(const kernel::Kernel& kernel) { return kernel.entries.size() == kernel.parts.size(); }

class Preparation {
 public:
  Preparation(const Plan& plan, Jit& jit, int threads) : plan_(plan), jit_(jit), threads_(threads) {}

  Result<Prepared> run(int64_t free_bytes) {
    ASSIGN_OR_RETURN(Layout layout, lay_out(plan_));
    scratch_stride_ = thread_scratch_stride();
    const int64_t scratch_bytes = scratch_stride_ * scratch_threads();
    RETURN_IF_ERROR(check_fits(layout.parameter_bytes + layout.arena_bytes + scratch_bytes, free_bytes));
    const auto begin = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(compile_kernels());
    RETURN_IF_ERROR(create_products());
    const auto compiled = std::chrono::steady_clock::now();
    ASSIGN_OR_RETURN(ready_.arena, Arena::make(std::move(layout), threads_));
    ASSIGN_OR_RETURN(ready_.thread_scratch, Pages::make(scratch_bytes, threads_));
    ready_.times = {std::chrono::nanoseconds(compiled - begin).count(),
                    std::chrono::nanoseconds(std::chrono::steady_clock::now() - compiled).count()};
    for (const Step* step : startable(plan_)) ready_.steps.push_back(resolve(*step));
    return std::move(ready_);
  }

 private:
  struct Shared {
    Product* product;
    int32_t record;
  };
  struct SharedNative {
    Native* native;
    int32_t record;
  };

  int64_t scratch_threads() const { return std::max(threads_, plan_.target.threads); }
  int64_t thread_scratch_stride() const;
  Status compile_kernels();
  Status create_products();
  Status create_product(const Gemm& gemm);
  Status create_native(const LibraryOp& op);
  ReadyStep resolve(const Step& step) const;
  KernelLaunch resolve(const KernelCall& call) const;
  template <typename Address>
  std::span<const Address> addresses(std::span<const BufferId> buffers) const {
    std::vector<Address> made;
    for (const BufferId buffer : buffers) made.push_back(address(buffer));
    return keep(std::span<const Address>(made), *ready_.lists);
  }
  void* address(BufferId buffer) const { return buffer < 0 ? nullptr : ready_.arena.memory(buffer).data(); }
  int64_t bytes(BufferId buffer) const { return static_cast<int64_t>(ready_.arena.memory(buffer).size()); }

  const Plan& plan_;
  Jit& jit_;
  int threads_;
  int64_t scratch_stride_ = 0;
  std::vector<Code> codes_;                                         ///< by kernel
  std::map<std::string, Shared> products_;                          ///< by text_of
  std::map<std::string, SharedNative> natives_;                     ///< by text_of
  std::shared_ptr<Scratch> scratch_ = std::make_shared<Scratch>();  ///< of all products: steps run one after another
  std::shared_ptr<Scratch> native_scratch_ = std::make_shared<Scratch>();
  Prepared ready_;
};

/// Largest need of any kernel, and lines that no two threads share.
int64_t Preparation::thread_scratch_stride() const {
  int64_t most = 0;
  for (const kernel::Kernel& kernel : plan_.kernels) most = std::max(most, kernel.thread_scratch_bytes);
  return most == 0 ? 0 : (most + kLine - 1) / kLine * kLine + 2 * kLine;
}

Status Preparation::compile_kernels() {
  if (!plan_.kernels.empty() && plan_.target.lanes > jit_.lanes())
    return Error{
        fmt::format("cpu: the plan was made for {} lanes, this device has {}; report it as a bug", plan_.target.lanes, jit_.lanes())};
  std::vector<Source> sources;
  for (const kernel::Kernel& kernel : plan_.kernels) {
    if (is_compiled(kernel)) continue;
    sources.push_back({kernel.code, {}});
    for (const kernel::Part& part : kernel.parts) sources.back().symbols.push_back(part.symbol);
  }
  auto compiled = jit_.compile(sources, threads_);
  auto next = compiled.begin();
  for (const kernel::Kernel& kernel : plan_.kernels) {
    Result<Code> code = is_compiled(kernel) ? Code{.entries = kernel.entries} : std::move(*next++);
    if (!code.ok()) return Error{fmt::format("kernel {}: {}", kernel.name, code.error().message)};
    ready_.records.push_back({.key = kernel.key,
                              .name = kernel.name,
                              .language = std::string(text(kernel.language)),
                              .implementation = is_compiled(kernel) ? "compiled before" : "jit " + jit_.cpu(),
                              .source = kernel.code,
                              .compile_ns = code->compile_ns,
                              .code_bytes = code->code_bytes});
    codes_.push_back(*std::move(code));
  }
  for (const auto& [kernel, why] : plan_.refused) ready_.records[static_cast<size_t>(kernel)].implementation += "; no library: " + why;
  return {};
}

Status Preparation::create_products() {
  for (const Step* step : startable(plan_)) {
    for (const Launch& launch : step->launches) {
      const auto* gemm = std::get_if<Gemm>(&launch);
      const auto* library = std::get_if<LibraryCall>(&launch);
      const Status status = gemm != nullptr ? create_product(*gemm) : library != nullptr ? create_native(*library->op) : Status();
      if (!status.ok()) return Error{fmt::format("{}: {}", step->name, status.error().message)};
    }
  }
  return {};
}

Status Preparation::create_product(const Gemm& gemm) {
  std::string text = text_of(gemm);
  if (products_.contains(text)) return {};
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(std::unique_ptr<Product> product, make_product(gemm, threads_, scratch_));
  const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - begin;
  const auto record = static_cast<int32_t>(ready_.records.size());
  ready_.records.push_back({.key = base::hash128_hex(text),
                            .name = fmt::format("product_{}x{}x{}x{}", gemm.batch, gemm.m, gemm.n, gemm.k),
                            .language = "library",
                            .implementation = product->implementation(),
                            .source = text,
                            .compile_ns = spent.count()});
  products_.emplace(std::move(text), Shared{product.get(), record});
  ready_.products.push_back(std::move(product));
  return {};
}

Status Preparation::create_native(const LibraryOp& op) {
  std::string text = text_of(op);
  if (natives_.contains(text)) return {};
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(std::unique_ptr<Native> native, make_native(op, threads_, native_scratch_));
  const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - begin;
  const auto record = static_cast<int32_t>(ready_.records.size());
  ready_.records.push_back({.key = base::hash128_hex(text),
                            .name = name_of(op),
                            .language = "library",
                            .implementation = native->implementation(),
                            .source = text,
                            .compile_ns = spent.count()});
  natives_.emplace(std::move(text), SharedNative{native.get(), record});
  ready_.natives.push_back(std::move(native));
  return {};
}

KernelLaunch Preparation::resolve(const KernelCall& call) const {
  const auto index = static_cast<size_t>(call.kernel);
  std::vector<PartCall> calls;
  const auto& parts = plan_.kernels[index].parts;
  const std::span<void* const> args = addresses<void*>(call.args);
  const auto arg = [&](int position) { return args[static_cast<size_t>(position)]; };
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto& same = parts[i].same;
    if (same[0] >= 0 && arg(same[0]) == arg(same[1])) continue;
    calls.push_back({reinterpret_cast<Entry>(codes_[index].entries[i]), split(parts[i], plan_.target.threads, threads_)});
  }
  return {keep(std::span<const PartCall>(calls), *ready_.lists), args, {ready_.thread_scratch.data(), scratch_stride_}};
}

ReadyStep Preparation::resolve(const Step& step) const {
  ReadyStep ready;
  if (step.cls == Class::skip || step.cls == Class::reference) {
    ready.why = fmt::format("{}: is no step for the cpu device; report it as a bug", step.name);
    return ready;
  }
  for (const Launch& launch : step.launches) {
    if (const auto* call = std::get_if<KernelCall>(&launch)) {
      ready.launches.emplace_back(resolve(*call));
      ready.records.push_back(call->kernel);
    } else if (const auto* gemm = std::get_if<Gemm>(&launch)) {
      const Shared& shared = products_.at(text_of(*gemm));
      ready.launches.emplace_back(ProductLaunch{shared.product, address(gemm->a.buffer), address(gemm->b.buffer), address(gemm->d.buffer)});
      ready.records.push_back(shared.record);
      if (ready.precision.empty()) ready.precision = shared.product->precision();
    } else if (const auto* library = std::get_if<LibraryCall>(&launch)) {
      const SharedNative& shared = natives_.at(text_of(*library->op));
      ready.launches.emplace_back(NativeLaunch{shared.native, addresses<const void*>(library->in), addresses<void*>(library->out)});
      ready.records.push_back(shared.record);
      if (ready.precision.empty()) ready.precision = shared.native->precision();
    } else if (const auto* move = std::get_if<Copy>(&launch)) {
      ready.launches.emplace_back(CopyLaunch{address(move->to), address(move->from), std::min(bytes(move->to), bytes(move->from))});
    } else {
      const auto& set = std::get<Fill>(launch);
      ready.launches.emplace_back(FillLaunch{address(set.to), set.byte, bytes(set.to)});
    }
  }
  return ready;
}

}  // namespace

Result<Prepared> prepare(const Plan& plan, Jit& jit, int threads, int64_t free_bytes) {
  return Preparation(plan, jit, threads).run(free_bytes);
}

}  // namespace replay::cpu
