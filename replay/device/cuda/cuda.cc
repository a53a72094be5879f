// Refuses with the reason: what is missing on this machine, or in this program.
#include "replay/device/cuda/cuda.h"

#include <fmt/format.h>

#include "replay/device/cuda/libraries.h"

namespace replay::cuda {

std::string why_no_gpu() {
  const Presence driver = look_at(Library::driver, system_opener());
  if (!driver.usable())
    return driver.file.empty() ? fmt::format("no NVIDIA driver ({})", driver.why)
                               : fmt::format("NVIDIA's driver {} is of no use: {}", driver.file, driver.why);
  return "this version makes kernels for GPUs and checks them on the host, but does not run them yet";
}

base::Result<std::unique_ptr<Device>> open(const DeviceOptions&) {
  return base::Error{fmt::format("device cuda: {}; use --device cpu, or see profile doctor", why_no_gpu()), base::Exit::missing_capability};
}

}  // namespace replay::cuda
