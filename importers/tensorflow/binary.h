// Binary protobufs of TensorFlow as protobuf text, so that one reader serves both.
#pragma once

#include <string>

#include "importers/importer.h"

namespace importers::tensorflow {

/// GraphDef (.pb), MetaGraphDef and SavedModel.
Match match_binary_graph(const Input& input);
base::Result<model::Imported> read_binary_graph(const Input& input, const TakeModule& take);

/// RunMetadata and StepStats.
Match match_binary_step_stats(const Input& input);
base::Result<model::Imported> read_binary_step_stats(const Input& input, const TakeModule& take);

}  // namespace importers::tensorflow
