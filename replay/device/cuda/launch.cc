// One call of the driver or of a library a launch; all go into the stream.
#include "replay/device/cuda/launch.h"

namespace replay::cuda {
namespace {

struct Launcher {
  const Driver& driver;
  void* stream;

  base::Status operator()(const KernelLaunch& launch) const {
    std::vector<void*> args;
    args.reserve(launch.args.size());
    for (const Address& arg : launch.args) args.push_back(const_cast<Address*>(&arg));
    return driver.call(driver.launch, launch.function, launch.blocks, 1u, 1u, launch.threads, 1u, 1u, 0u, stream, args.data(), nullptr);
  }
  base::Status operator()(const CopyLaunch& launch) const { return driver.call(driver.copy, launch.to, launch.from, launch.bytes, stream); }
  base::Status operator()(const FillLaunch& launch) const { return driver.call(driver.fill, launch.to, launch.byte, launch.bytes, stream); }
  base::Status operator()(const RoutineLaunch& launch) const { return launch.routine->run(stream, launch.workspace); }
};

}  // namespace

base::Status run(const Gpu& gpu, const ReadyStep& step) {
  const Launcher launcher{gpu.driver(), gpu.stream()};
  for (const ReadyLaunch& launch : step.launches) RETURN_IF_ERROR(std::visit(launcher, launch));
  return {};
}

int64_t operations_of(const ReadyStep& step) {
  int64_t count = 0;
  for (const ReadyLaunch& launch : step.launches) {
    const auto* routine = std::get_if<RoutineLaunch>(&launch);
    count += routine != nullptr ? routine->operations : 1;
  }
  return count;
}

}  // namespace replay::cuda
