// A plan and the device that is to run it.
#pragma once

#include "replay/device.h"
#include "replay/plan.h"
#include "src/base/result.h"

namespace replay {

/// Device::prepare(); what the device can't start after all becomes a skip with its reason, parts of fusions included, and the rest runs.
base::Status prepare(Plan& plan, Device& device);

}  // namespace replay
