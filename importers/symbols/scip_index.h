// What both spellings of SCIP hold, and how it becomes records.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/symbols/collector.h"

namespace importers::symbols {

/// A SCIP symbol taken apart: "scip-python python rllib 0.6.0 multi_gpu_impl/Optimizer#step()." is the method `step` in
/// "multi_gpu_impl/Optimizer#"; "local 3" has no name of its own.
struct ScipName {
  std::string_view name, scope, kind;
};
ScipName scip_name(std::string_view symbol);

/// Numbers of `range`: [line, begin, end] or [line, begin, end line, end], from 0.
struct ScipRange {
  std::array<int64_t, 4> numbers{};
  int count = 0;
  void add(int64_t number) {
    if (count < 4) numbers[static_cast<size_t>(count)] = number;
    ++count;
  }
  bool is_range() const { return count == 3 || count == 4; }
  int64_t end_line() const { return count == 4 ? numbers[2] : numbers[0]; }
  int64_t end_column() const { return count == 4 ? numbers[3] : numbers[2]; }
};

struct ScipOccurrence {
  std::string symbol;
  ScipRange range, enclosing;
  int64_t roles = 0;
  size_t at = 0;  ///< offset in the input
};

/// SymbolInformation.
struct ScipSymbol {
  std::string symbol, documentation, display_name;
};

/// Collects documents: occurrences become records when their document ends, for its path may come last.
class ScipDocuments {
 public:
  explicit ScipDocuments(Collector& out) : out_(out) {}
  void add(ScipOccurrence occurrence) { occurrences_.push_back(std::move(occurrence)); }
  void add(ScipSymbol symbol) { symbols_.push_back(std::move(symbol)); }
  void end_document(std::string_view path);
  /// Types of all occurrences, when the symbols that external_symbols describes are known too.
  void end();

 private:
  struct Told {
    ir::StringId type{}, name{};
  };
  /// What a symbol's text says of itself: most stand many times.
  struct Parsed {
    ir::StringId name{}, kind{}, scope{};
    model::SymbolSort sort = model::SymbolSort::other;
    bool known = false;
  };
  ir::StringId key_of(std::string_view symbol, std::string_view path);
  const Parsed& parsed(std::string_view symbol, ir::StringId key);
  void tell(const ScipSymbol& symbol, std::string_view path);
  void add_record(const ScipOccurrence& occurrence, std::string_view path, ir::StringId file);

  Collector& out_;
  std::vector<ScipOccurrence> occurrences_;
  std::vector<ScipSymbol> symbols_;
  std::unordered_map<uint32_t, Told> told_;  ///< by key
  std::vector<Parsed> parsed_;               ///< by key
};

}  // namespace importers::symbols
