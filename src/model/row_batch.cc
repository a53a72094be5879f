// Two statements, one for a full batch and one for a row of what is left; cells wait in one array, their texts in one string.
#include "src/model/row_batch.h"

#include <fmt/format.h>

#include <algorithm>

namespace model {
namespace {

constexpr size_t kRows = 32;  ///< of a batch: more gains nothing, and old SQLite takes 999 parameters

std::string insert_sql(std::string_view table, std::string_view columns, size_t width, size_t rows) {
  std::string row = "(?";
  for (size_t i = 1; i < width; ++i) row += ",?";
  row += ')';
  std::string sql = fmt::format("INSERT INTO {} ({}) VALUES {}", table, columns, row);
  for (size_t i = 1; i < rows; ++i) sql.append(",").append(row);
  return sql;
}

}  // namespace

RowBatch::RowBatch(Statement one, Statement many, size_t columns)
    : one_(std::move(one)), many_(std::move(many)), columns_(columns), cells_in_a_batch_(columns * kRows) {
  cells_.reserve(cells_in_a_batch_);
}

base::Result<RowBatch> RowBatch::make(Database& database, std::string_view table, std::string_view columns) {
  const auto width = static_cast<size_t>(std::ranges::count(columns, ',')) + 1;
  ASSIGN_OR_RETURN(Statement one, database.prepare(insert_sql(table, columns, width, 1)));
  ASSIGN_OR_RETURN(Statement many, database.prepare(insert_sql(table, columns, width, kRows)));
  return RowBatch(std::move(one), std::move(many), width);
}

void RowBatch::push(std::string_view value) {
  cells_.push_back({Statement::Kind::text, static_cast<int64_t>(texts_.size()), 0, value.size()});
  texts_ += value;
}

/// `count` cells from `first` become the parameters 1, 2, ….
void RowBatch::bind(Statement& statement, size_t first, size_t count) const {
  for (size_t i = 0; i < count; ++i) {
    const Cell& cell = cells_[first + i];
    const int parameter = static_cast<int>(i) + 1;
    if (cell.kind == Statement::Kind::integer)
      statement.bind(parameter, cell.integer);
    else if (cell.kind == Statement::Kind::real)
      statement.bind(parameter, cell.real);
    else if (cell.kind == Statement::Kind::text)
      statement.bind(parameter, std::string_view(texts_).substr(static_cast<size_t>(cell.integer), cell.size));
    else
      statement.bind(parameter, Null{});
  }
}

base::Status RowBatch::write_batch() {
  bind(many_, 0, cells_.size());
  RETURN_IF_ERROR(many_.step());
  cells_.clear();
  texts_.clear();
  return {};
}

base::Status RowBatch::flush() {
  for (size_t first = 0; first < cells_.size(); first += columns_) {
    bind(one_, first, columns_);
    RETURN_IF_ERROR(one_.step());
  }
  cells_.clear();
  texts_.clear();
  return {};
}

}  // namespace model
