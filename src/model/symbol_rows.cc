// Definitions become rows of `symbol`, all other records of `symbol_use`; ids are known beforehand, so that each can name the other.
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/base/text.h"
#include "src/model/row_batch.h"
#include "src/model/symbols.h"

namespace model {
namespace {

/// Texts of the index, made readable once each.
class Texts {
 public:
  explicit Texts(const ir::Strings& strings) : strings_(strings), shown_(strings.size()) {}
  std::string_view of(ir::StringId id) {
    auto& text = shown_[static_cast<size_t>(id)];
    if (!text) text = base::escaped(strings_.view(id));
    return *text;
  }
  std::optional<std::string_view> or_null(ir::StringId id) { return id == ir::StringId::empty ? std::nullopt : std::optional(of(id)); }

 private:
  const ir::Strings& strings_;
  std::vector<std::optional<std::string>> shown_;
};

std::optional<int64_t> above(int64_t value, int64_t unknown) { return value > unknown ? std::optional(value) : std::nullopt; }

struct SymbolTables {
  RowBatch symbol, use, literal;
  static base::Result<SymbolTables> make(Database& database, Background& background) {
    const auto table = [&](std::string_view name, std::string_view columns) { return RowBatch::make(database, background, name, columns); };
    ASSIGN_OR_RETURN(RowBatch symbol, table("symbol",
                                            "id, source, position, name, kind, sort, type, file, line, \"column\", end_line, begin_offset, "
                                            "end_offset, within, scope, key, value"));
    ASSIGN_OR_RETURN(RowBatch use, table("symbol_use",
                                         "id, source, position, symbol, rule, confidence, role, name, type, file, line, \"column\", "
                                         "begin_offset, end_offset, within"));
    ASSIGN_OR_RETURN(RowBatch literal, table("symbol_literal", "symbol, value, line, constant"));
    return SymbolTables{std::move(symbol), std::move(use), std::move(literal)};
  }
};

class SymbolWriter {
 public:
  SymbolWriter(const SymbolIndex& index, int64_t source, SymbolTables& tables, int64_t next_symbol, int64_t next_use)
      : index_(index), source_(source), tables_(tables), texts_(index.strings), rows_(index.symbols.size()) {
    for (size_t i = 0; i < rows_.size(); ++i) rows_[i] = is_definition(index.symbols[i]) ? next_symbol++ : next_use++;
  }

  void write() {
    for (size_t i = 0; i < index_.symbols.size(); ++i) {
      if (is_definition(index_.symbols[i]))
        definition(i);
      else
        use(i);
    }
    for (const SymbolLiteral& literal : index_.literals) {
      if (const auto symbol = row(literal.within))
        tables_.literal.add(*symbol, texts_.of(literal.value), int64_t{literal.line}, std::optional<int64_t>());
    }
    constants();
    for (RowBatch* table : {&tables_.symbol, &tables_.use, &tables_.literal}) table->flush();
  }

 private:
  static bool is_definition(const Symbol& symbol) { return symbol.role == SymbolRole::definition; }
  std::optional<int64_t> row(int32_t record) const { return record < 0 ? std::nullopt : std::optional(rows_[static_cast<size_t>(record)]); }

  void definition(size_t i) {
    const Symbol& symbol = index_.symbols[i];
    tables_.symbol.add(rows_[i], source_, static_cast<int64_t>(i), texts_.of(symbol.name), texts_.of(symbol.kind), text(symbol.sort),
                       texts_.or_null(symbol.type), texts_.of(symbol.file), above(symbol.line, 0), above(symbol.column, 0),
                       above(symbol.end_line, 0), above(symbol.begin_offset, -1), above(symbol.end_offset, -1), row(symbol.within),
                       texts_.or_null(symbol.scope), texts_.or_null(symbol.key), texts_.or_null(symbol.value));
  }

  void use(size_t i) {
    const Symbol& symbol = index_.symbols[i];
    const bool is_found = symbol.target >= 0;
    tables_.use.add(rows_[i], source_, static_cast<int64_t>(i), row(symbol.target),
                    is_found ? std::optional(text(symbol.rule)) : std::nullopt,
                    is_found ? std::optional(double{symbol.confidence}) : std::nullopt, text(symbol.role), texts_.of(symbol.name),
                    texts_.or_null(symbol.type), texts_.of(symbol.file), above(symbol.line, 0), above(symbol.column, 0),
                    above(symbol.begin_offset, -1), above(symbol.end_offset, -1), row(symbol.within));
  }

  /// A function that uses a variable with a string gives that string.
  void constants() {
    for (const Symbol& use : index_.symbols) {
      if (is_definition(use) || use.target < 0 || use.within < 0) continue;
      const Symbol& constant = index_.symbols[static_cast<size_t>(use.target)];
      if (constant.value == ir::StringId::empty) continue;
      tables_.literal.add(*row(use.within), texts_.of(constant.value), int64_t{use.line}, row(use.target));
    }
  }

  const SymbolIndex& index_;
  int64_t source_;
  SymbolTables& tables_;
  Texts texts_;
  std::vector<int64_t> rows_;  ///< by record: its row, in symbol or symbol_use
};

base::Status write_index(Database& database, const SymbolIndex& index, int64_t source) {
  ASSIGN_OR_RETURN(
      Statement insert,
      database.prepare("INSERT INTO symbol_index (source, tool, text_path, newline, unit, tested, fitted) VALUES (?1, nullif(?2, ''), "
                       "nullif(?3, ''), nullif(?4, ''), nullif(?5, ''), ?6, ?7)"));
  const std::string tool = base::escaped(index.tool), path = base::escaped(index.text_path);
  return insert.run(source, std::string_view(tool), std::string_view(path), std::string_view(index.newline), std::string_view(index.unit),
                    index.tested, index.fitted);
}

}  // namespace

base::Status write_symbols(Database& database, Background& background, const SymbolIndex& index, int64_t source) {
  ASSIGN_OR_RETURN(const int64_t next_symbol, database.integer("SELECT coalesce(max(id), 0) + 1 FROM symbol"));
  ASSIGN_OR_RETURN(const int64_t next_use, database.integer("SELECT coalesce(max(id), 0) + 1 FROM symbol_use"));
  RETURN_IF_ERROR(write_index(database, index, source));
  ASSIGN_OR_RETURN(SymbolTables tables, SymbolTables::make(database, background));
  SymbolWriter(index, source, tables, next_symbol, next_use).write();
  return background.wait();
}

}  // namespace model
