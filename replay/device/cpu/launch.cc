// Runs one resolved launch.
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

}  // namespace

void run(const ReadyLaunch& launch, int threads) { std::visit(Runner{threads}, launch); }

}  // namespace replay::cpu
