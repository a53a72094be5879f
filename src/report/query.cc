// The table of queries is the files of queries/, embedded: the first comment line is the sentence.
#include "src/report/query.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "embedded/report_queries.h"
#include "src/report/sql_comment.h"

namespace report {
namespace {

constexpr auto kQueries = [] {
  std::array<Query, std::size(query_sql::embedded::kFiles)> table{};
  for (size_t i = 0; i < table.size(); ++i) {
    const auto& file = query_sql::embedded::kFiles[i];
    table[i] = {file.name, first_comment(file.text), file.text};
  }
  return table;
}();

const Query& named(std::string_view name) {
  const auto* query = std::ranges::find(kQueries, name, &Query::name);
  assert(query != kQueries.end());
  return *query;
}

}  // namespace

std::span<const Query> queries() { return kQueries; }

std::string_view sql_of(std::string_view name) { return named(name).sql; }

base::Result<model::Rows> ask(const model::Reader& reader, std::string_view name, std::span<const model::Cell> parameters) {
  return reader.query(named(name).sql, parameters);
}

base::Result<model::Cursor> start(const model::Reader& reader, std::string_view name, std::span<const model::Cell> parameters) {
  return reader.start(named(name).sql, parameters);
}

model::Cell cell(int64_t value) { return {model::Cell::Kind::integer, value, 0, {}}; }
model::Cell cell(double value) { return {model::Cell::Kind::real, 0, value, {}}; }
model::Cell cell(std::string_view value) { return {model::Cell::Kind::text, 0, 0, std::string(value)}; }

}  // namespace report
