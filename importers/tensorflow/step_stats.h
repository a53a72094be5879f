// RunMetadata.step_stats as protobuf text: rows of nodes by device, with times.
#pragma once

#include "importers/importer.h"

namespace importers::tensorflow {

Match match_step_stats(const Input& input);
/// A recording for each device: of a GPU the kernels (its streams) apart from the launches (the rows of the device itself, on the host's
/// clock).
base::Result<model::Imported> read_step_stats(const Input& input, const TakeModule& take);

/// "dense/MatMul = MatMul(x, w:0)" taken apart; type empty: another label.
struct TimelineLabel {
  std::string_view node, type;
  std::vector<std::string> inputs;
};
TimelineLabel timeline_label(std::string_view label);
/// "volta_sgemm… @@dense/MatMul:MatMul#id" or "dense/MatMul:MatMul" → node dense/MatMul, type MatMul; "" where it is none.
TimelineLabel kernel_label(std::string_view label);

}  // namespace importers::tensorflow
