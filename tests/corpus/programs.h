// Records of ../shared/programs in the form that the corpus has: one for each text, before and after XLA's optimisation.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/reference/oracle.h"

namespace corpus {

/// Of every NAME.oracle.json in the folder that has texts, by name. Inputs come from NAME.recipe.json where the record has none.
std::vector<oracle::Json> program_records(const std::string& folder);

}  // namespace corpus
