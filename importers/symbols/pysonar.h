// JSON that PySonar2 writes: its dump (symbols, references, docstrings, each an array of its own) and the refs.json of its tests.
#pragma once

#include "importers/importer.h"

namespace importers::symbols {

Match match_pysonar(const Input& input);
base::Result<model::Imported> read_pysonar(const Input& input, const TakeModule& take);

}  // namespace importers::symbols
