// Rows for one table, many to a statement: a statement's fixed cost is as large as that of writing a narrow row.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/background.h"
#include "src/model/database.h"

namespace model {

/// Collects rows and has them written in the background when there are enough. What is left is written by flush(); without it those rows
/// are lost. Failures come from Background::wait().
class RowBatch {
 public:
  /// `columns`: names separated by commas, e.g. "instruction, op, share".
  static base::Result<RowBatch> make(Database& database, Background& background, std::string_view table, std::string_view columns);

  /// A row, value by value in the order of the columns. Texts are copied.
  template <typename... Values>
  void add(const Values&... values) {
    const size_t first = rows_.cells.size();
    rows_.cells.resize(first + sizeof...(values));
    Cell* cell = rows_.cells.data() + first;
    ((*cell++ = cell_of(values)), ...);
    if (rows_.cells.size() >= most_cells_ || rows_.texts.size() > kMostTexts) flush();
  }
  void flush();

 private:
  static constexpr size_t kMostTexts = size_t{1} << 20;  ///< bytes: rows with long texts are written sooner
  struct Cell {
    union {
      int64_t integer = 0;
      double real;
      size_t begin;  ///< of a text
    };
    uint32_t size = 0;  ///< of a text
    Statement::Kind kind = Statement::Kind::null;
  };
  struct Rows {
    std::vector<Cell> cells;
    std::string texts;
  };
  /// The statements for one row and for many.
  struct Inserts {
    Statement one, many;
    size_t columns;
    base::Status write(const Rows& rows);
    static void bind(Statement& statement, const Rows& rows, size_t first, size_t count);
  };
  RowBatch(Background& background, Inserts inserts);
  static Cell cell_of(int64_t value) { return {{value}, 0, Statement::Kind::integer}; }
  static Cell cell_of(int32_t value) { return cell_of(int64_t{value}); }
  static Cell cell_of(double value) { return {{.real = value}, 0, Statement::Kind::real}; }
  Cell cell_of(std::string_view value) {
    const Cell cell{{.begin = rows_.texts.size()}, static_cast<uint32_t>(value.size()), Statement::Kind::text};
    rows_.texts += value;
    return cell;
  }
  template <typename T>
  Cell cell_of(const std::optional<T>& value) {
    return value ? cell_of(*value) : Cell();
  }

  Background* background_;
  std::shared_ptr<Inserts> inserts_;  ///< shared with the jobs that are under way
  size_t most_cells_;
  Rows rows_;
};

}  // namespace model
