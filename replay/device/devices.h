// The devices: one row of a table each.
#pragma once

#include "replay/device.h"

namespace replay {

std::span<const DeviceKind> device_kinds();
base::Result<std::unique_ptr<Device>> open_device(std::string_view name, const DeviceOptions& options);

}  // namespace replay
