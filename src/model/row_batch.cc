// One statement writes a batch: INSERT INTO t SELECT … FROM memory_rows(?1), whose rows lie in memory. Binding each value costs half again
// as much.
#include "src/model/row_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace model {
namespace {

constexpr size_t kRows = 512;  ///< of a batch: more gains nothing

}  // namespace

RowBatch::RowBatch(Background& background, Statement insert, size_t columns)
    : background_(&background), insert_(std::make_shared<Statement>(std::move(insert))), most_cells_(columns * kRows), rows_(columns) {}

base::Result<RowBatch> RowBatch::make(Database& database, Background& background, std::string_view table, std::string_view columns,
                                      Ids ids) {
  const auto width = static_cast<size_t>(std::ranges::count(columns, ',')) + 1;
  std::string values;
  for (size_t i = 0; i < width; ++i) values += fmt::format("{}c{}", i == 0 ? "" : ", ", i);
  // Where the id is NULL SQLite takes the next one, and need not look whether a row has it.
  const auto [id, no_id] = ids == Ids::next ? std::pair("id, ", "NULL, ") : std::pair("", "");
  ASSIGN_OR_RETURN(Statement insert, database.prepare(fmt::format("INSERT INTO {} ({}{}) SELECT {}{} FROM memory_rows(?1)", table, id,
                                                                  columns, no_id, values)));
  return RowBatch(background, std::move(insert), width);
}

void RowBatch::flush() {
  if (rows_.cells.empty()) return;
  auto rows = std::make_shared<MemoryRows>(std::exchange(rows_, MemoryRows(rows_.columns)));
  rows_.cells.reserve(most_cells_);
  rows_.texts.reserve(rows->texts.size());
  background_->submit([insert = insert_, rows = std::move(rows)] { return insert->run(*rows); });
}

}  // namespace model
