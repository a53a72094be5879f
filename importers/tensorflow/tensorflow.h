// TensorFlow's programs and logs.
#pragma once

#include "importers/importer.h"

namespace importers::tensorflow {

/// Lists of node names. Where the names tell a known model, its step is replayable; other lists hand over operators alone.
Match match_nodes(const Input& input);
base::Result<model::Imported> read_nodes(const Input& input, const TakeModule& take);

}  // namespace importers::tensorflow
