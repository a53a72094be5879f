// Rows of step_stats and of what is made of them: which device they are of, and which operator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "importers/tensorflow/log.h"

namespace importers::tensorflow {

/// What a device's rows are: operators that ran on the host, launches (host clock) of operators that run on an accelerator, kernels on its
/// streams, copies.
enum class Rows : uint8_t { host, launches, kernels, copies };

struct DeviceRows {
  std::string name;
  Rows rows = Rows::host;
};
/// "/job:…/cpu:0", "/job:…/device:GPU:0", "/gpu:0/stream:13", "/gpu:0/memcpy".
DeviceRows device_rows(std::string name);
/// What the times of such rows are: "kernels on the device".
std::string_view device_timer(Rows rows);

/// The operator of a row: kernels belong to the operator that launched them; copies are operators of their own, of type
/// Memcpy, which the rows of a stream and those of /memcpy share.
int32_t operator_of_row(Log& log, const DeviceRows& device, std::string_view node, std::string_view type, int64_t line);

/// One text a result; nothing is set if one of them is empty.
void set_shapes(model::Operator& op, const std::vector<std::string>& shapes);

}  // namespace importers::tensorflow
