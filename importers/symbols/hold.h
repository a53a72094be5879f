// Records against the source text: how the index counts, and where each name stands.
#pragma once

#include <string>
#include <vector>

#include "importers/symbols/collector.h"
#include "importers/symbols/source_text.h"

namespace importers::symbols {

/// Finds how the index counts in `source`, and gives every record whose name stands there its line and columns. Says in notes what was
/// found. Result: which records have a line in the text; none (an empty list) if it is not the text that the index was made of.
std::vector<bool> hold_against(Collector& out, const std::string& path, const SourceText& source);

/// Without a source text: spans that cannot be right, since an identifier is as long as its name.
void mend_spans(Collector& out);

}  // namespace importers::symbols
