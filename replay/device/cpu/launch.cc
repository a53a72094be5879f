// Runs resolved launches.
#include "replay/device/cpu/launch.h"

namespace replay::cpu {
namespace {

struct Runner {
  int threads;
  void operator()(const KernelLaunch& kernel) const {
    for (const PartCall& part : kernel.parts) run(part.split, part.entry, kernel.args.data(), kernel.scratch);
  }
  void operator()(const ProductLaunch& launch) const { launch.product->run(launch.a, launch.b, launch.d); }
  void operator()(const NativeLaunch& launch) const { launch.native->run(launch.in, launch.out); }
  void operator()(const CopyLaunch& launch) const { copy(launch.to, launch.from, launch.bytes, threads); }
  void operator()(const FillLaunch& launch) const { fill(launch.to, launch.byte, launch.bytes, threads); }
};

/// A launch with its lists in `memory`.
struct Mover {
  std::pmr::memory_resource& memory;
  ReadyLaunch operator()(KernelLaunch kernel) const {
    kernel.parts = keep(kernel.parts, memory);
    kernel.args = keep(kernel.args, memory);
    return kernel;
  }
  ReadyLaunch operator()(NativeLaunch native) const {
    native.in = keep(native.in, memory);
    native.out = keep(native.out, memory);
    return native;
  }
  template <typename Flat>
  ReadyLaunch operator()(const Flat& launch) const {
    return launch;
  }
};

}  // namespace

void LaunchTable::set(std::span<const ReadyLaunch> launches) {
  memory_.release();  // and begins again where it began
  auto* const at = static_cast<ReadyLaunch*>(memory_.allocate(launches.size_bytes(), kLine));
  for (size_t i = 0; i < launches.size(); ++i) std::construct_at(at + i, std::visit(Mover{memory_}, launches[i]));
  launches_ = {at, launches.size()};
}

void LaunchTable::run(int threads) const {
  for (const ReadyLaunch& launch : launches_) std::visit(Runner{threads}, launch);
}

}  // namespace replay::cpu
