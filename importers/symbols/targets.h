// What is around each record, and which definition each use means.
#pragma once

#include <vector>

#include "importers/symbols/collector.h"
#include "importers/symbols/source_text.h"

namespace importers::symbols {

/// Gives definitions of functions and types their last line, and every record the innermost of them that holds it. From the text where one
/// is given and it is Python; else from what the index tells; else a definition is taken to last until the next that is not in it.
/// `in_text`: which records stand in it, as hold_against found.
void find_extents(Collector& out, const SourceText* source, const std::vector<bool>& in_text);

/// Gives uses their definitions: by the index's own keys where it has them, else by the rules of model::TargetRule.
void find_targets(Collector& out, const SourceText* source, const std::vector<bool>& in_text);

/// Is a definition of this kind reached through an object: a method, an attribute?
bool is_member_kind(std::string_view kind);

}  // namespace importers::symbols
