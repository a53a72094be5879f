// Long texts: kept once each, compressed where they are long.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/model/database.h"

namespace model {

/// Row of table content with this text; made if there is none. Inside a transaction of the caller.
base::Result<int64_t> add_content(Database& database, std::string_view text);
base::Result<std::string> read_content(const Database& database, int64_t content);

}  // namespace model
