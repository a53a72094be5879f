// A kernel that a compiler refuses costs its own steps, not the run.
#include "replay/prepare.h"

namespace replay {
namespace {

void skip_what_cannot_start(Step& step, const Device& device) {
  if (step.cls == Class::skip || step.cls == Class::reference) return;
  std::string why = device.why_not(step.id);
  if (why.empty()) return;
  step.cls = Class::skip;
  step.why = std::move(why);
}

}  // namespace

base::Status prepare(Plan& plan, Device& device) {
  RETURN_IF_ERROR(device.prepare(plan));
  for (Step* step : plan.steps) skip_what_cannot_start(*step, device);
  for (Variant& variant : plan.variants)
    for (Step& part : variant.parts) skip_what_cannot_start(part, device);
  return {};
}

}  // namespace replay
