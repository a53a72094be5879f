// Rows for one table, many to a statement: a statement's fixed cost is as large as that of writing a narrow row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/database.h"

namespace model {

/// Collects rows and writes them when there are enough. What is left is written by flush(); without it those rows are lost.
class RowBatch {
 public:
  /// `columns`: names separated by commas, e.g. "instruction, position, operand".
  static base::Result<RowBatch> make(Database& database, std::string_view table, std::string_view columns);

  /// A row, value by value in the order of the columns. Texts are copied.
  template <typename... Values>
  base::Status add(const Values&... values) {
    (push(values), ...);
    return cells_.size() < cells_in_a_batch_ ? base::Status() : write_batch();
  }
  base::Status flush();

 private:
  struct Cell {
    Statement::Kind kind = Statement::Kind::null;
    int64_t integer = 0;  ///< of a text: where it begins
    double real = 0;
    size_t size = 0;  ///< of a text
  };
  RowBatch(Statement one, Statement many, size_t columns);
  void push(Null) { cells_.push_back({}); }
  void push(int64_t value) { cells_.push_back({Statement::Kind::integer, value, 0, 0}); }
  void push(int32_t value) { push(int64_t{value}); }
  void push(double value) { cells_.push_back({Statement::Kind::real, 0, value, 0}); }
  void push(std::string_view value);
  template <typename T>
  void push(const std::optional<T>& value) {
    value ? push(*value) : push(Null{});
  }
  void bind(Statement& statement, size_t first, size_t count) const;
  base::Status write_batch();

  Statement one_, many_;
  size_t columns_, cells_in_a_batch_;
  std::vector<Cell> cells_;
  std::string texts_;
};

}  // namespace model
