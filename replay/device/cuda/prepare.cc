// In the order that fails cheapest: sizes, then memory, then calls of libraries, then kernels for what they do not do.
#include "replay/device/cuda/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "replay/device/cuda/own_kernels.h"
#include "replay/device/cuda/routines.h"

namespace replay::cuda {
namespace {

using base::Error;
using base::Result;
using base::Status;

std::string precision_of(ir::Type a, ir::Type b, ir::Type d) {
  const bool wide = a == ir::Type::f64 || b == ir::Type::f64 || d == ir::Type::f64;
  const std::string_view sums = ir::is_complex(d) ? ir::text(d) : !ir::is_float(a) ? "s64" : wide ? "f64" : "f32";
  return fmt::format("{}×{}→{}→{}", ir::text(a), ir::text(b), sums, ir::text(d));
}

/// Of a product or convolution; "" of other launches.
std::string precision_of(const Launch& launch) {
  if (const auto* gemm = std::get_if<Gemm>(&launch)) return precision_of(gemm->a.type, gemm->b.type, gemm->d.type);
  const auto* call = std::get_if<LibraryCall>(&launch);
  const auto* c = call == nullptr ? nullptr : std::get_if<Convolution>(call->op.get());
  return c == nullptr ? "" : precision_of(c->x.type, c->w.type, c->y.type);
}

Status check_memory(const Layout& layout, const Gpu& gpu) {
  size_t free = 0, total = 0;
  RETURN_IF_ERROR(during("how much memory is free", gpu.driver().call(gpu.driver().memory, &free, &total)));
  return check_fits(layout.parameter_bytes + layout.arena_bytes, static_cast<int64_t>(free) - kReserved);
}

/// Kernels of the plan and ours, and which of them each launch is.
class Kernels {
 public:
  explicit Kernels(const Plan& plan) {
    for (const kernel::Kernel& kernel : plan.kernels) all_.push_back(&kernel);
  }
  Kernels(Kernels&&) = default;  // addresses of a map's elements stay
  Kernels(const Kernels&) = delete;
  /// `why`: no library runs it.
  Status add(const Launch& launch, const std::string& why) {
    ASSIGN_OR_RETURN(kernel::Kernel made, own_kernel(launch));
    const std::string key = made.key;
    const auto [at, fresh] = own_.emplace(key, Own{std::move(made), static_cast<int>(all_.size()), why});
    if (fresh) all_.push_back(&at->second.kernel);
    return {};
  }
  /// Says beside each kernel that does a library's work why it does.
  void add_reasons(const Plan& plan, std::vector<model::KernelRecord>& records) const {
    for (const auto& [kernel, why] : plan.refused) records[static_cast<size_t>(kernel)].implementation += "; no library: " + why;
    for (const auto& [key, own] : own_)
      if (!own.why.empty()) records[static_cast<size_t>(own.number)].implementation += "; no library: " + own.why;
  }
  int of(const Launch& launch) const {
    const auto* call = std::get_if<KernelCall>(&launch);
    return call != nullptr ? call->kernel : own_.at(own_kernel(launch)->key).number;
  }
  const std::vector<const kernel::Kernel*>& all() const { return all_; }

 private:
  struct Own {
    kernel::Kernel kernel;
    int number;
    std::string why;
  };
  std::map<std::string, Own> own_;  ///< by key
  std::vector<const kernel::Kernel*> all_;
};

bool is_kernel(const Launch& launch) { return !std::holds_alternative<Copy>(launch) && !std::holds_alternative<Fill>(launch); }

class Resolver {
 public:
  Resolver(const Kernels& kernels, const std::vector<Loaded>& loaded, const Routines& routines, const Prepared& ready)
      : kernels_(kernels), loaded_(loaded), routines_(routines), ready_(ready) {}

  ReadyStep resolve(const Step& step) const {
    ReadyStep made{std::string(step.name), {}, {}, "", step.cls == Class::library ? Class::kernel : step.cls, ""};
    if (step.cls == Class::skip || step.cls == Class::reference) {
      made.why = fmt::format("{}: is no step for the cuda device; report it as a bug", step.name);
      return made;
    }
    for (const Launch& launch : step.launches) {
      if (made.precision.empty()) made.precision = precision_of(launch);
      if (auto routine = routines_.of(launch))
        add_routine(*std::move(routine), routines_.record_of(launch), made);
      else if (is_kernel(launch))
        add_kernel(launch, made);
      else
        add_move(launch, made);
    }
    if (!made.why.empty()) made.launches.clear();
    return made;
  }

 private:
  void add_routine(RoutineLaunch launch, size_t record, ReadyStep& step) const {
    step.launches.emplace_back(std::move(launch));
    step.records.push_back(static_cast<int32_t>(loaded_.size() + record));
    if (step.cls == Class::kernel) step.cls = Class::library;
  }
  void add_kernel(const Launch& launch, ReadyStep& step) const {
    const auto number = static_cast<size_t>(kernels_.of(launch));
    const auto& parts = kernels_.all()[number]->parts;
    std::vector<Address> args;
    for (const BufferId buffer : args_of(launch)) args.push_back(buffer < 0 ? 0 : ready_.address(buffer));
    step.records.push_back(static_cast<int32_t>(number));
    if (!loaded_[number].why.empty()) {
      step.why = fmt::format("kernel {}: {}", kernels_.all()[number]->name, loaded_[number].why);
      return;
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto& same = parts[i].same;
      const bool nothing = same[0] >= 0 && args[static_cast<size_t>(same[0])] == args[static_cast<size_t>(same[1])];
      if (nothing || parts[i].count == 0) continue;
      step.launches.emplace_back(KernelLaunch{loaded_[number].functions[i], static_cast<unsigned>(parts[i].count),
                                              static_cast<unsigned>(parts[i].block_threads), args});
    }
  }
  void add_move(const Launch& launch, ReadyStep& step) const {
    if (const auto* move = std::get_if<Copy>(&launch)) {
      const auto bytes = static_cast<size_t>(std::min(ready_.bytes(move->to), ready_.bytes(move->from)));
      if (bytes > 0) step.launches.emplace_back(CopyLaunch{ready_.address(move->to), ready_.address(move->from), bytes});
      return;
    }
    const auto& set = std::get<Fill>(launch);
    if (const int64_t bytes = ready_.bytes(set.to); bytes > 0)
      step.launches.emplace_back(FillLaunch{ready_.address(set.to), set.byte, static_cast<size_t>(bytes)});
  }

  const Kernels& kernels_;
  const std::vector<Loaded>& loaded_;
  const Routines& routines_;
  const Prepared& ready_;
};

Result<Kernels> kernels_of(const Plan& plan, const Routines& routines) {
  Kernels kernels(plan);
  for (const Step* step : startable(plan)) {
    for (const Launch& launch : step->launches) {
      if (!is_kernel(launch) || std::holds_alternative<KernelCall>(launch) || routines.of(launch)) continue;
      if (const Status added = kernels.add(launch, routines.why_not(launch)); !added.ok())
        return Error{fmt::format("{}: {}", step->name, added.error().message)};
    }
  }
  return kernels;
}

}  // namespace

Address Prepared::address(BufferId buffer) const {
  const Place& place = layout.places[static_cast<size_t>(buffer)];
  const Memory& memory = place.area == Place::Area::parameters ? parameters : arena;
  return memory.address() + static_cast<Address>(place.offset);
}

Result<std::unique_ptr<Prepared>> prepare(const Plan& plan, const Gpu& gpu, const Workshop& workshop, Libraries& libraries) {
  auto ready = std::make_unique<Prepared>(gpu.driver());
  ASSIGN_OR_RETURN(ready->layout, lay_out(plan, kGuard));
  RETURN_IF_ERROR(check_memory(ready->layout, gpu));
  const auto begin = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(during("memory of parameters", ready->parameters.allocate(ready->layout.parameter_bytes)));
  RETURN_IF_ERROR(during("memory of temporaries", ready->arena.allocate(ready->layout.arena_bytes)));
  const auto allocated = std::chrono::steady_clock::now();
  Routines routines(gpu, libraries, *ready);
  RETURN_IF_ERROR(routines.choose(plan));
  ASSIGN_OR_RETURN(const Kernels kernels, kernels_of(plan, routines));
  ASSIGN_OR_RETURN(const std::vector<Loaded> loaded, ready->modules.load(kernels.all(), workshop));
  for (const Loaded& one : loaded) ready->records.push_back(one.record);
  kernels.add_reasons(plan, ready->records);
  ready->records.insert(ready->records.end(), routines.records().begin(), routines.records().end());
  ready->times = {std::chrono::nanoseconds(std::chrono::steady_clock::now() - allocated).count(),
                  std::chrono::nanoseconds(allocated - begin).count()};
  const Resolver resolver(kernels, loaded, routines, *ready);
  for (const Step* step : startable(plan)) ready->steps.push_back(resolver.resolve(*step));
  return ready;
}

}  // namespace replay::cuda
