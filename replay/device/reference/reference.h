// The reference as a device: every step runs through the reference. Slow, and right: for looking at values, and for comparing devices with.
#pragma once

#include "replay/device.h"

namespace replay::reference {

base::Result<std::unique_ptr<Device>> open(const DeviceOptions& options);

}  // namespace replay::reference
