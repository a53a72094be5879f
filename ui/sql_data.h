// Running a query for the SQL panel. No ImGui in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/result.h"
#include "src/model/store.h"

namespace ui {

struct SqlAnswer {
  std::shared_ptr<const model::Rows> rows;  ///< never nullptr
  bool more = false;                        ///< there are rows beyond the limit
  double seconds = 0;
};
/// One statement that reads, at most `limit` rows. A text that holds ?1 gets the run for it.
base::Result<SqlAnswer> run_sql(const model::Reader& reader, const std::string& sql, int64_t run, size_t limit);

/// A table or view with its columns, for the tree.
struct SqlTable {
  std::string type, name;
  std::vector<std::pair<std::string, std::string>> columns;  ///< name, type
};
base::Result<std::vector<SqlTable>> read_tables(const model::Reader& reader);

/// Line and column, from 1, that a message like "SQL:2:7: …" begins with; 0, 0: it names none.
std::pair<int, int> place_of(std::string_view message);

/// The word (or character) of `text` that begins at line and column: first byte, and the byte after it. 0, 0: there is no such place.
std::pair<int, int> word_at(std::string_view text, std::pair<int, int> line_and_column);

/// Indexes of columns whose cells are numbers (or NULL) in the first thousand rows, at least one of them a number.
std::vector<int> number_columns(const model::Rows& rows);

}  // namespace ui
