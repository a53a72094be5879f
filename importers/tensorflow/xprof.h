// What TensorFlow's profiler writes: <host>.trace.json(.gz) and <host>.xplane.pb.
#pragma once

#include "importers/importer.h"

namespace importers::tensorflow {

Match match_xprof(const Input& input);
base::Result<model::Imported> read_xprof(const Input& input, const TakeModule& take);

/// An XSpace: planes of lines of events, as binary protobuf.
Match match_xplane(const Input& input);
base::Result<model::Imported> read_xplane(const Input& input, const TakeModule& take);

}  // namespace importers::tensorflow
