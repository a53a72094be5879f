// The null device: runs nothing, keeps no values, and has a virtual clock driven by a roofline. Exact numbers for tests of replay, reports
// and viewer.
#pragma once

#include "replay/device.h"

namespace replay::null {

base::Result<std::unique_ptr<Device>> open(const DeviceOptions& options);

}  // namespace replay::null
