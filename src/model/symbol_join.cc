// Source lines first: a line's symbol is the innermost function or type that holds it, in the file whose path agrees best from the end.
// Operators without such a line are looked up by their names.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/model/symbol_names.h"
#include "src/model/symbols.h"

namespace model {
namespace {

constexpr int kDeepest = 64;           ///< functions within functions that are climbed
constexpr size_t kMostOfOperator = 8;  ///< symbols of one operator by its lines

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of("/\\") + 1); }

/// Whole parts in which two paths agree from the end, and whether the shorter agrees wholly.
struct Agreement {
  int parts = 0;
  bool is_whole = false;
};

Agreement agreement(std::string_view a, std::string_view b) {
  Agreement result;
  while (!a.empty() && !b.empty() && base_name(a) == base_name(b)) {
    ++result.parts;
    const auto up = [](std::string_view path) { return path.substr(0, path.size() - std::min(path.size(), base_name(path).size() + 1)); };
    a = up(a), b = up(b);
  }
  result.is_whole = a.empty() || b.empty() || a == "." || b == ".";
  return result;
}

/// The functions and types of one file in one index, by line.
class IndexedFile {
 public:
  explicit IndexedFile(std::string_view path) : path_(path) {}
  const std::string& path() const { return path_; }

  /// In the order of lines. `end_line`: INT64_MAX where it is not known; `within`: the symbol around it, 0: none.
  void add(int64_t symbol, int64_t line, int64_t end_line, int64_t within) {
    block_of_.emplace(symbol, blocks_.size());
    blocks_.push_back({symbol, line, end_line, within});
  }

  /// Innermost symbol that holds the line, or 0.
  int64_t symbol_at(int64_t line) const {
    const auto after = std::ranges::upper_bound(blocks_, line, {}, &Block::line);
    if (after == blocks_.begin()) return 0;
    const Block* block = &*(after - 1);
    for (int i = 0; i < kDeepest && block->end_line < line; ++i) {
      const auto outer = block_of_.find(block->within);
      if (outer == block_of_.end()) return 0;
      block = &blocks_[outer->second];
    }
    return block->end_line < line ? 0 : block->symbol;
  }

 private:
  struct Block {
    int64_t symbol, line, end_line, within;
  };
  std::string path_;
  std::vector<Block> blocks_;
  std::unordered_map<int64_t, size_t> block_of_;  ///< by symbol
};

class Symbols {
 public:
  static base::Result<Symbols> load(const Database& database) {
    Symbols symbols;
    RETURN_IF_ERROR(symbols.load_symbols(database));
    RETURN_IF_ERROR(symbols.load_strings(database));
    for (size_t i = 0; i < symbols.files_.size(); ++i) symbols.by_base_name_[std::string(base_name(symbols.files_[i].path()))].push_back(i);
    return symbols;
  }

  const SymbolNames& names() const { return names_; }

  struct Found {
    int64_t symbol = 0;
    double confidence = 0;
  };
  Found at(std::string_view path, int64_t line) {
    const Best& best = best_file(path);
    if (best.file == nullptr) return {};
    return {best.file->symbol_at(line), best.confidence};
  }

 private:
  struct Best {
    const IndexedFile* file = nullptr;
    double confidence = 0;
  };

  /// The newest index first: what it has, older ones of the same file do not count again among the names.
  base::Status load_symbols(const Database& database) {
    ASSIGN_OR_RETURN(
        Statement rows,
        database.prepare("SELECT id, source, name, file, line, end_line, within FROM symbol WHERE sort IN ('function', 'type') "
                         "ORDER BY source DESC, file, line, id"));
    std::vector<std::pair<int64_t, std::string>> names;
    std::unordered_set<std::string> seen;
    int64_t source = 0;
    while (true) {
      ASSIGN_OR_RETURN(const bool row, rows.step());
      if (!row) break;
      const std::string_view name = rows.text(2);
      if (seen.insert(fmt::format("{}:{}:{}", rows.integer(4), base_name(rows.text(3)), name)).second)
        names.emplace_back(rows.integer(0), name);
      else
        repeated_.insert(rows.integer(0));
      add_block(rows, std::exchange(source, rows.integer(1)) != rows.integer(1));
    }
    for (auto symbol = names.rbegin(); symbol != names.rend(); ++symbol) names_.add_symbol(symbol->first, symbol->second);
    return {};
  }

  void add_block(const Statement& row, bool is_new_source) {
    if (row.kind(4) == Statement::Kind::null) return;
    const std::string_view path = row.text(3);
    if (is_new_source || files_.empty() || files_.back().path() != path) files_.emplace_back(path);
    const bool has_end = row.kind(5) != Statement::Kind::null;
    files_.back().add(row.integer(0), row.integer(4), has_end ? row.integer(5) : INT64_MAX, row.integer(6));
  }

  base::Status load_strings(const Database& database) {
    ASSIGN_OR_RETURN(Statement rows,
                     database.prepare("SELECT symbol, value, constant IS NOT NULL FROM symbol_literal ORDER BY symbol, line"));
    while (true) {
      ASSIGN_OR_RETURN(const bool row, rows.step());
      if (!row) return {};
      if (!repeated_.contains(rows.integer(0))) names_.add_string(rows.integer(0), rows.text(1), rows.integer(2) != 0);
    }
  }

  /// The indexed file that agrees best with a path of a program; of equals that of the newest index.
  const Best& best_file(std::string_view path) {
    const auto [known, fresh] = best_.try_emplace(std::string(path));
    Best& best = known->second;
    if (!fresh) return best;
    const auto same_name = by_base_name_.find(std::string(base_name(path)));
    if (same_name == by_base_name_.end()) return best;
    int most = 0;
    for (const size_t i : same_name->second) {
      const Agreement agrees = agreement(files_[i].path(), path);
      if (agrees.parts <= most) continue;
      most = agrees.parts;
      best = {&files_[i], agrees.is_whole ? 0.95 : agrees.parts > 1 ? 0.8 : 0.6};
    }
    return best;
  }

  SymbolNames names_;
  std::vector<IndexedFile> files_;
  std::unordered_set<int64_t> repeated_;  ///< symbols of older indexes that a newer one has too
  std::unordered_map<std::string, std::vector<size_t>> by_base_name_;
  std::unordered_map<std::string, Best> best_;
};

class Join {
 public:
  Join(Database& database, Symbols symbols, int64_t source) : database_(database), symbols_(std::move(symbols)), source_(source) {}

  base::Status run() {
    RETURN_IF_ERROR(clear());
    RETURN_IF_ERROR(places());
    RETURN_IF_ERROR(operators());
    return {};
  }

 private:
  /// Of one source there are no rows yet: a source is imported once.
  base::Status clear() { return source_ != 0 ? base::Status() : database_.execute("DELETE FROM place_symbol; DELETE FROM op_symbol"); }

  std::string of_source(std::string_view column) const { return source_ == 0 ? "" : fmt::format(" AND {} = {}", column, source_); }

  /// Every line that a program names, and the operators there.
  base::Status places() {
    ASSIGN_OR_RETURN(
        Statement rows,
        database_.prepare("SELECT DISTINCT i.op, i.place, s.text, p.line FROM source r JOIN module m ON m.source = r.id JOIN "
                          "computation c ON c.module = m.id JOIN instruction i ON i.id >= c.first_instruction AND i.id < "
                          "c.first_instruction + c.instructions JOIN place p ON p.id = i.place JOIN string s ON s.id = p.file WHERE "
                          "p.line > 0" +
                          of_source("r.id")));
    ASSIGN_OR_RETURN(Statement insert,
                     database_.prepare("INSERT OR IGNORE INTO place_symbol (place, symbol, confidence) VALUES (?1, ?2, ?3)"));
    while (true) {
      ASSIGN_OR_RETURN(const bool row, rows.step());
      if (!row) return {};
      const Symbols::Found found = symbols_.at(rows.text(2), rows.integer(3));
      if (found.symbol == 0) continue;
      RETURN_IF_ERROR(insert.run(rows.integer(1), found.symbol, found.confidence));
      if (rows.kind(0) == Statement::Kind::null) continue;
      std::vector<SymbolGuess>& of_op = by_line_[rows.integer(0)];
      const bool is_new = std::ranges::find(of_op, found.symbol, &SymbolGuess::symbol) == of_op.end();
      if (is_new && of_op.size() < kMostOfOperator) of_op.push_back({found.symbol, "line", found.confidence});
    }
  }

  /// By line where that is known, else by name.
  base::Status operators() {
    ASSIGN_OR_RETURN(Statement rows, database_.prepare("SELECT id, name FROM op WHERE 1" + of_source("source")));
    ASSIGN_OR_RETURN(insert_, database_.prepare("INSERT INTO op_symbol (op, rank, symbol, rule, confidence) VALUES (?1, ?2, ?3, ?4, ?5)"));
    while (true) {
      ASSIGN_OR_RETURN(const bool row, rows.step());
      if (!row) return {};
      const auto told = by_line_.find(rows.integer(0));
      RETURN_IF_ERROR(write(rows.integer(0), told != by_line_.end() ? told->second : symbols_.names().guesses(rows.text(1))));
    }
  }

  base::Status write(int64_t op, const std::vector<SymbolGuess>& guesses) {
    for (size_t rank = 0; rank < guesses.size(); ++rank) {
      const SymbolGuess& guess = guesses[rank];
      RETURN_IF_ERROR(insert_->run(op, static_cast<int64_t>(rank), guess.symbol, guess.rule, guess.confidence));
    }
    return {};
  }

  Database& database_;
  Symbols symbols_;
  int64_t source_;
  std::unordered_map<int64_t, std::vector<SymbolGuess>> by_line_;  ///< by operator
  std::optional<Statement> insert_;
};

}  // namespace

base::Status join_symbols(Database& database, int64_t source) {
  ASSIGN_OR_RETURN(const int64_t any, database.integer("SELECT EXISTS (SELECT 1 FROM symbol)"));
  if (any == 0) return {};
  ASSIGN_OR_RETURN(Symbols symbols, Symbols::load(database));
  return Join(database, std::move(symbols), source).run();
}

}  // namespace model
