// A table-valued function of SQLite, as its extension carray is one: the rows are a hidden column, whose value is a pointer that is bound.
#include "src/model/memory_rows.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <new>

namespace model {
namespace {

constexpr const char* kPointerType = "model::MemoryRows";

struct RowsCursor {
  sqlite3_vtab_cursor base;
  const MemoryRows* rows;
  size_t first;  ///< cell of the row
};

RowsCursor* cursor_of(sqlite3_vtab_cursor* base) { return reinterpret_cast<RowsCursor*>(base); }

int connect(sqlite3* db, void*, int, const char* const*, sqlite3_vtab** table, char**) {
  std::string columns;
  for (size_t i = 0; i < MemoryRows::kMostColumns; ++i) columns += fmt::format("c{}, ", i);
  *table = new (std::nothrow) sqlite3_vtab{};
  return *table == nullptr ? SQLITE_NOMEM
                           : sqlite3_declare_vtab(db, fmt::format("CREATE TABLE memory_rows({}source HIDDEN)", columns).c_str());
}

int disconnect(sqlite3_vtab* table) { return delete table, SQLITE_OK; }

/// The rows must be given: memory_rows(?1) is the constraint `source = ?1`.
int best_index(sqlite3_vtab*, sqlite3_index_info* info) {
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (constraint.iColumn != int{MemoryRows::kMostColumns} || constraint.usable == 0 || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ)
      continue;
    info->aConstraintUsage[i].argvIndex = 1;
    info->aConstraintUsage[i].omit = 1;
    info->estimatedCost = 1;
    return SQLITE_OK;
  }
  return SQLITE_CONSTRAINT;
}

int open(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
  auto* const made = new (std::nothrow) RowsCursor{};
  *cursor = &made->base;
  return made == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) { return delete cursor_of(cursor), SQLITE_OK; }

int filter(sqlite3_vtab_cursor* base, int, const char*, int count, sqlite3_value** arguments) {
  RowsCursor* const cursor = cursor_of(base);
  cursor->rows = count == 1 ? static_cast<const MemoryRows*>(sqlite3_value_pointer(arguments[0], kPointerType)) : nullptr;
  cursor->first = 0;
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) { return cursor_of(cursor)->first += cursor_of(cursor)->rows->columns, SQLITE_OK; }

int eof(sqlite3_vtab_cursor* base) {
  const RowsCursor* const cursor = cursor_of(base);
  return cursor->rows == nullptr || cursor->first >= cursor->rows->cells.size() ? 1 : 0;
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  const auto& [ignored, rows, first] = *cursor_of(base);
  if (static_cast<size_t>(column) >= rows->columns) return SQLITE_OK;  // NULL
  const MemoryCell& cell = rows->cells[first + static_cast<size_t>(column)];
  if (cell.kind == CellKind::integer)
    sqlite3_result_int64(context, cell.integer);
  else if (cell.kind == CellKind::real)
    sqlite3_result_double(context, cell.real);
  else if (cell.kind == CellKind::text)
    sqlite3_result_text64(context, rows->texts.data() + cell.begin, cell.size, SQLITE_STATIC, SQLITE_UTF8);
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = static_cast<sqlite3_int64>(cursor_of(cursor)->first);
  return SQLITE_OK;
}

constexpr sqlite3_module make_module() {
  sqlite3_module module{};
  module.xConnect = connect, module.xDisconnect = disconnect, module.xBestIndex = best_index;  // no xCreate: there without CREATE
  module.xOpen = open, module.xClose = close, module.xFilter = filter;
  module.xNext = next, module.xEof = eof, module.xColumn = column, module.xRowid = row_id;
  return module;
}
constexpr sqlite3_module kModule = make_module();

}  // namespace

int add_memory_rows(sqlite3* db) { return sqlite3_create_module(db, "memory_rows", &kModule, nullptr); }

int bind_memory_rows(sqlite3_stmt* statement, int parameter, const MemoryRows& rows) {
  return sqlite3_bind_pointer(statement, parameter, const_cast<MemoryRows*>(&rows), kPointerType, nullptr);
}

}  // namespace model
