// SCIP indexes, as protobuf (index.scip) and as the JSON that `scip print --json` makes of them.
#pragma once

#include "importers/importer.h"

namespace importers::symbols {

Match match_scip(const Input& input);
base::Result<model::Imported> read_scip(const Input& input, const TakeModule& take);

Match match_scip_json(const Input& input);
base::Result<model::Imported> read_scip_json(const Input& input, const TakeModule& take);

}  // namespace importers::symbols
