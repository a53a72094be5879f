// What all readers end with: records are held against the source text, get the function or class around them, and uses their definitions.
#pragma once

#include "importers/importer.h"
#include "importers/symbols/collector.h"

namespace importers::symbols {

base::Result<model::Imported> finish(Collector& out, const Input& input);

/// Do two paths of one file agree from the end: "/w/train/step.py" and "train/step.py"? The shorter must be a whole tail of the longer.
bool same_file(std::string_view a, std::string_view b);

}  // namespace importers::symbols
