// Making and migrating the tables of a store.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "src/base/result.h"
#include "src/model/database.h"

namespace model {

/// PRAGMA user_version of the files that this version writes. A change of a table raises it and adds a row to migrations().
inline constexpr int64_t kSchemaVersion = 12;

/// Statements that turn tables of version `from` into those of from + 1. Views are dropped before and made anew after.
struct Migration {
  int64_t from;
  std::string_view sql;
};
std::span<const Migration> migrations();

/// Makes tables and views, or brings those of an older version up to `version`. One transaction: all or nothing.
base::Status prepare_schema(Database& database, std::string_view schema_sql, std::span<const Migration> steps, int64_t version);

}  // namespace model
