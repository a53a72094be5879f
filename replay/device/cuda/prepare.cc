// In the order that fails cheapest: sizes, then kernels, then memory.
#include "replay/device/cuda/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "replay/device/cuda/own_kernels.h"

namespace replay::cuda {
namespace {

using base::Error;
using base::Result;
using base::Status;

std::string precision_of(const Gemm& gemm) {
  const bool wide = gemm.a.type == ir::Type::f64 || gemm.b.type == ir::Type::f64 || gemm.d.type == ir::Type::f64;
  const std::string_view sums = ir::is_float(gemm.d.type) ? (wide ? "f64" : "f32") : "s64";
  return fmt::format("{}×{}→{}→{}", ir::text(gemm.a.type), ir::text(gemm.b.type), sums, ir::text(gemm.d.type));
}

Status check_memory(const Layout& layout, const Gpu& gpu) {
  size_t free = 0, total = 0;
  RETURN_IF_ERROR(gpu.driver().call(gpu.driver().memory, &free, &total));
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
  Status add(const Launch& launch) {
    ASSIGN_OR_RETURN(kernel::Kernel made, own_kernel(launch));
    const std::string key = made.key;
    const auto [at, fresh] = own_.emplace(key, Own{std::move(made), static_cast<int>(all_.size())});
    if (fresh) all_.push_back(&at->second.kernel);
    return {};
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
  };
  std::map<std::string, Own> own_;  ///< by key
  std::vector<const kernel::Kernel*> all_;
};

bool is_kernel(const Launch& launch) { return !std::holds_alternative<Copy>(launch) && !std::holds_alternative<Fill>(launch); }

class Resolver {
 public:
  Resolver(const Kernels& kernels, const std::vector<Loaded>& loaded, const Prepared& ready)
      : kernels_(kernels), loaded_(loaded), ready_(ready) {}

  ReadyStep resolve(const Step& step) const {
    ReadyStep made{std::string(step.name), {}, {}, "", ""};
    if (step.cls == Class::skip || step.cls == Class::reference) {
      made.why = fmt::format("{}: is no step for the cuda device; report it as a bug", step.name);
      return made;
    }
    for (const Launch& launch : step.launches) {
      if (const auto* gemm = std::get_if<Gemm>(&launch); gemm != nullptr && made.precision.empty()) made.precision = precision_of(*gemm);
      if (is_kernel(launch))
        add_kernel(launch, made);
      else
        add_move(launch, made);
    }
    return made;
  }

 private:
  void add_kernel(const Launch& launch, ReadyStep& step) const {
    const auto number = static_cast<size_t>(kernels_.of(launch));
    const auto& parts = kernels_.all()[number]->parts;
    std::vector<Address> args;
    for (const BufferId buffer : args_of(launch)) args.push_back(buffer < 0 ? 0 : ready_.address(buffer));
    step.records.push_back(static_cast<int32_t>(number));
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
  const Prepared& ready_;
};

Result<Kernels> kernels_of(const Plan& plan) {
  Kernels kernels(plan);
  for (const Step* step : startable(plan)) {
    for (const Launch& launch : step->launches) {
      if (!is_kernel(launch) || std::holds_alternative<KernelCall>(launch)) continue;
      if (const Status added = kernels.add(launch); !added.ok()) return Error{fmt::format("{}: {}", step->name, added.error().message)};
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

Result<std::unique_ptr<Prepared>> prepare(const Plan& plan, const Gpu& gpu, const Workshop& workshop) {
  auto ready = std::make_unique<Prepared>(gpu.driver());
  ASSIGN_OR_RETURN(ready->layout, lay_out(plan, kGuard));
  RETURN_IF_ERROR(check_memory(ready->layout, gpu));
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const Kernels kernels, kernels_of(plan));
  ASSIGN_OR_RETURN(const std::vector<Loaded> loaded, ready->modules.load(kernels.all(), workshop));
  for (const Loaded& one : loaded) ready->records.push_back(one.record);
  const auto compiled = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(ready->parameters.allocate(ready->layout.parameter_bytes));
  RETURN_IF_ERROR(ready->arena.allocate(ready->layout.arena_bytes));
  ready->times = {std::chrono::nanoseconds(compiled - begin).count(),
                  std::chrono::nanoseconds(std::chrono::steady_clock::now() - compiled).count()};
  const Resolver resolver(kernels, loaded, *ready);
  for (const Step* step : startable(plan)) ready->steps.push_back(resolver.resolve(*step));
  return ready;
}

}  // namespace replay::cuda
