// Writes what an importer returned.
#pragma once

#include "src/base/result.h"
#include "src/model/database.h"
#include "src/model/store.h"

namespace model {

/// Inside a transaction of the caller. A source with the same sha256 is found, not stored again.
base::Result<ImportIds> import_source(Database& database, const Imported& imported);

}  // namespace model
