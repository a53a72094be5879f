// The table of devices.
#include "replay/device/devices.h"

#include <fmt/format.h>

#include "replay/device/cpu/cpu.h"
#include "replay/device/cpu/host.h"
#include "replay/device/cuda/cuda.h"
#include "replay/device/null/null.h"
#include "replay/device/reference/reference.h"

namespace replay {
namespace {

constexpr DeviceKind kKinds[] = {
    {"cpu", "this machine: kernels through LLVM, products through oneDNN and a packed kernel", cpu::open},
    {"cuda", "an NVIDIA GPU: kernels through NVRTC, times through CUPTI; not yet run on one", cuda::open},
    {"null", "runs nothing; a virtual clock driven by the cost model", null::open},
    {"reference", "what HLO means, evaluated on the host: right, not representative in time", reference::open},
};

}  // namespace

std::span<const DeviceKind> device_kinds() { return kKinds; }

base::Result<std::unique_ptr<Device>> open_device(std::string_view name, const DeviceOptions& options) {
  for (const DeviceKind& kind : kKinds) {
    if (kind.name != name) continue;
    DeviceOptions limited = options;  // also for devices that know nothing of control groups
    if (limited.memory_limit_bytes == 0) limited.memory_limit_bytes = cpu::available_bytes();
    return kind.open(limited);
  }
  return base::Error{fmt::format("no device '{}'", name), base::Exit::wrong_use};
}

}  // namespace replay
