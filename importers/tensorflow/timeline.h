// Chrome traces of timeline.Timeline(step_stats): the operators of one run with their times.
#pragma once

#include "importers/importer.h"

namespace importers::tensorflow {

Match match_timeline(const Input& input);
/// Operators with types, inputs and the shapes of tensor snapshots; a recording for each device as of step_stats.
base::Result<model::Imported> read_timeline(const Input& input, const TakeModule& take);

}  // namespace importers::tensorflow
