// Rows for one table, many to a statement: a statement's fixed cost is as large as that of writing a narrow row.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "src/model/background.h"
#include "src/model/database.h"
#include "src/model/memory_rows.h"

namespace model {

/// NULL stands for a row 0 and for an empty text: none.
inline std::optional<int64_t> or_null(int64_t row) { return row == 0 ? std::nullopt : std::optional(row); }
inline std::optional<std::string_view> or_null(std::string_view text) { return text.empty() ? std::nullopt : std::optional(text); }

/// Collects rows and has them written in the background when there are enough. What is left is written by flush(); without it those rows
/// are lost. Failures come from Background::wait().
class RowBatch {
 public:
  enum class Ids : uint8_t {
    given,  ///< as another column, or the table has none
    next,   ///< the rows are numbered on from the last one of the table, in column "id", which add() does not get
  };
  /// `columns`: names separated by commas in the order of the table, e.g. "instruction, op, share".
  static base::Result<RowBatch> make(Database& database, Background& background, std::string_view table, std::string_view columns,
                                     Ids ids = Ids::given);

  /// A row, value by value in the order of the columns. Texts are copied.
  template <typename... Values>
  void add(const Values&... values) {
    MemoryCell* cell = rows_.append(sizeof...(values));
    ((*cell++ = cell_of(values)), ...);
    if (rows_.cells.size() >= most_cells_ || rows_.texts.size() > kMostTexts) flush();
  }
  void flush();

 private:
  static constexpr size_t kMostTexts = size_t{1} << 20;  ///< bytes: rows with long texts are written sooner

  RowBatch(Background& background, Statement insert, size_t columns);
  static MemoryCell cell_of(int64_t value) { return {{value}, 0, CellKind::integer}; }
  static MemoryCell cell_of(int32_t value) { return cell_of(int64_t{value}); }
  static MemoryCell cell_of(double value) { return {{.real = value}, 0, CellKind::real}; }
  MemoryCell cell_of(std::string_view value) {
    const MemoryCell cell{{.begin = rows_.texts.size()}, static_cast<uint32_t>(value.size()), CellKind::text};
    rows_.texts += value;
    return cell;
  }
  template <typename T>
  MemoryCell cell_of(const std::optional<T>& value) {
    return value ? cell_of(*value) : MemoryCell();
  }

  Background* background_;
  std::shared_ptr<Statement> insert_;  ///< shared with the jobs that are under way
  size_t most_cells_;
  MemoryRows rows_;
};

}  // namespace model
