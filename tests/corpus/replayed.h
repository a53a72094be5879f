// A module replayed once on a device, with its outputs in host memory: what every comparison with recorded outputs starts from.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "replay/device.h"
#include "replay/inputs.h"
#include "replay/plan.h"
#include "replay/tensor.h"

namespace corpus {

/// Outputs of one pass, by leaf path.
using Outputs = std::map<std::vector<int64_t>, replay::Tensor>;

/// A plan with its device. The module must outlive it.
struct Planned {
  std::unique_ptr<replay::Device> device;
  replay::Plan plan;
};
/// `threads` 0: as many as the machine has.
base::Result<Planned> plan_on(std::string_view device, const ir::Module& module, replay::Rounding rounding, int threads = 0);
/// One pass, without warm-up.
base::Result<Outputs> replay_once(Planned& planned, const replay::Recipes& recipes);

}  // namespace corpus
