// Rows in memory that a statement reads as a table: SELECT c0, c1 FROM memory_rows(?1), where ?1 is bound to a MemoryRows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace model {

enum class CellKind : uint8_t { null, integer, real, text };

struct MemoryCell {
  union {
    int64_t integer = 0;
    double real;
    size_t begin;  ///< of a text, in MemoryRows::texts
  };
  uint32_t size = 0;  ///< of a text
  CellKind kind = CellKind::null;
};

struct MemoryRows {
  static constexpr size_t kMostColumns = 24;

  explicit MemoryRows(size_t count) : columns(count) {}
  MemoryCell* append(size_t count) { return cells.resize(cells.size() + count), cells.data() + cells.size() - count; }

  size_t columns;
  std::vector<MemoryCell> cells;  ///< row by row
  std::string texts;
};

/// Gives a connection the table `memory_rows`, and a parameter its rows, which must stay until the statement has ended. Codes of SQLite.
int add_memory_rows(sqlite3* db);
int bind_memory_rows(sqlite3_stmt* statement, int parameter, const MemoryRows& rows);

}  // namespace model
