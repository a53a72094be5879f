// Source indexes become rows, and operators get the symbols that they come from.
#pragma once

#include <cstdint>

#include "src/base/result.h"
#include "src/model/background.h"
#include "src/model/database.h"
#include "src/model/symbol_index.h"

namespace model {

/// Writes an index. Done when `background` has no more jobs.
base::Status write_symbols(Database& database, Background& background, const SymbolIndex& index, int64_t source);

/// Joins programs to symbols: those of one source, or (source 0) of all, as after a new index. Where there are no symbols nothing is read.
base::Status join_symbols(Database& database, int64_t source);

}  // namespace model
