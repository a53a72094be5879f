// LSIF dumps of language servers: vertices and edges as JSON lines, or as one array.
#pragma once

#include "importers/importer.h"

namespace importers::symbols {

Match match_lsif(const Input& input);
base::Result<model::Imported> read_lsif(const Input& input, const TakeModule& take);

}  // namespace importers::symbols
