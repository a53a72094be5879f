// Streams and copies have devices of their own in step_stats; what the host does for an accelerator stands under the accelerator's name.
#include "importers/tensorflow/device_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace importers::tensorflow {

DeviceRows device_rows(std::string name) {
  const bool stream = name.find("/stream:") != name.npos;
  const bool copies = name.ends_with("/memcpy");
  const bool accelerator = name.find("gpu:") != name.npos || name.find("GPU:") != name.npos;
  const Rows rows = copies ? Rows::copies : stream ? Rows::kernels : accelerator ? Rows::launches : Rows::host;
  return {std::move(name), rows};
}

std::string_view device_timer(Rows rows) {
  constexpr std::string_view kTimers[] = {"operators on the host", "launches from the host", "kernels on the device", "copies"};
  return kTimers[static_cast<size_t>(rows)];
}

int32_t operator_of_row(Log& log, const DeviceRows& device, std::string_view node, std::string_view type, int64_t line) {
  const bool copies = device.rows == Rows::copies || type.starts_with("MEMCPY");
  const std::string name = copies ? fmt::format("{} (copy)", node) : std::string(node);
  if (copies || device.rows == Rows::kernels) {
    if (const int32_t known = log.find(name); known >= 0) return known;
  }
  return log.op(name, copies ? "Memcpy" : type, device.name, line);
}

void set_shapes(model::Operator& op, const std::vector<std::string>& shapes) {
  if (shapes.empty() || std::ranges::any_of(shapes, &std::string::empty)) return;
  op.shape = shapes.size() == 1 ? shapes[0] : fmt::format("({})", fmt::join(shapes, ", "));
  op.shape_from = model::Known::given;
}

}  // namespace importers::tensorflow
