// The queries behind the viewer's panels: like reports, but with parameters of their own (?1, ?2, … as their first lines say), and for
// drawing rather than reading. One .sql file of queries/ each, embedded.
#pragma once

#include <span>
#include <string_view>

#include "src/base/result.h"
#include "src/model/store.h"

namespace report {

struct Query {
  std::string_view name, about, sql;
};
std::span<const Query> queries();
std::string_view sql_of(std::string_view name);  ///< of a query that is there

/// Runs queries/NAME.sql. A name that is not there is our mistake (an assert); a wrong number of parameters is an Error.
base::Result<model::Rows> ask(const model::Reader& reader, std::string_view name, std::span<const model::Cell> parameters = {});
/// The same for answers that may not fit into memory. The cursor must not outlive the reader.
base::Result<model::Cursor> start(const model::Reader& reader, std::string_view name, std::span<const model::Cell> parameters = {});

model::Cell cell(int64_t value);
model::Cell cell(double value);
model::Cell cell(std::string_view value);

}  // namespace report
