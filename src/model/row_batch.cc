// Two statements, one for many rows and one for a row of what is left; cells wait in one array, their texts in one string.
#include "src/model/row_batch.h"

#include <fmt/format.h>

#include <algorithm>

namespace model {
namespace {

constexpr size_t kStatementRows = 32;  ///< of the wide statement: more gains nothing, and old SQLite takes 999 parameters
constexpr size_t kRows = 16 * kStatementRows;

std::string insert_sql(std::string_view table, std::string_view columns, size_t width, size_t rows) {
  std::string row = "(?";
  for (size_t i = 1; i < width; ++i) row += ",?";
  row += ')';
  std::string sql = fmt::format("INSERT INTO {} ({}) VALUES {}", table, columns, row);
  for (size_t i = 1; i < rows; ++i) sql.append(",").append(row);
  return sql;
}

}  // namespace

RowBatch::RowBatch(Background& background, Inserts inserts)
    : background_(&background), inserts_(std::make_shared<Inserts>(std::move(inserts))), most_cells_(inserts_->columns * kRows) {}

base::Result<RowBatch> RowBatch::make(Database& database, Background& background, std::string_view table, std::string_view columns) {
  const auto width = static_cast<size_t>(std::ranges::count(columns, ',')) + 1;
  ASSIGN_OR_RETURN(Statement one, database.prepare(insert_sql(table, columns, width, 1)));
  ASSIGN_OR_RETURN(Statement many, database.prepare(insert_sql(table, columns, width, kStatementRows)));
  return RowBatch(background, {std::move(one), std::move(many), width});
}

void RowBatch::flush() {
  if (rows_.cells.empty()) return;
  auto rows = std::make_shared<Rows>(std::exchange(rows_, {}));
  rows_.cells.reserve(most_cells_);
  background_->submit([inserts = inserts_, rows = std::move(rows)] { return inserts->write(*rows); });
}

/// `count` cells from `first` become the parameters 1, 2, ….
void RowBatch::Inserts::bind(Statement& statement, const Rows& rows, size_t first, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const Cell& cell = rows.cells[first + i];
    const int parameter = static_cast<int>(i) + 1;
    if (cell.kind == Statement::Kind::integer)
      statement.bind(parameter, cell.integer);
    else if (cell.kind == Statement::Kind::real)
      statement.bind(parameter, cell.real);
    else if (cell.kind == Statement::Kind::text)
      statement.bind(parameter, std::string_view(rows.texts).substr(cell.begin, cell.size));
    else
      statement.bind(parameter, Null{});
  }
}

base::Status RowBatch::Inserts::write(const Rows& rows) {
  size_t first = 0;
  for (const size_t wide = columns * kStatementRows; first + wide <= rows.cells.size(); first += wide) {
    bind(many, rows, first, wide);
    RETURN_IF_ERROR(many.step());
  }
  for (; first < rows.cells.size(); first += columns) {
    bind(one, rows, first, columns);
    RETURN_IF_ERROR(one.step());
  }
  return {};
}

}  // namespace model
