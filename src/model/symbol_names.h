// Which symbols an operator's name speaks of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace model {

/// A guess, with the words and numbers of table op_symbol.
struct SymbolGuess {
  int64_t symbol = 0;
  std::string_view rule;
  double confidence = 0;
};

/// Names and strings of functions and types, to be found in operators' names. Scopes are made of Python strings, seldom of identifiers:
/// what is found is a guess, the more doubtful the more symbols share the name.
class SymbolNames {
 public:
  void add_symbol(int64_t symbol, std::string_view name) {
    by_name_[std::string(name)].push_back(symbol);
    by_scope_[normal(name)].push_back(symbol);
  }
  /// A string that function `symbol` gives as a name or a scope; by a variable, or as it stands.
  void add_string(int64_t symbol, std::string_view value, bool is_constant) {
    (is_constant ? constants_ : literals_)[std::string(value)].push_back(symbol);
  }

  /// Best first, one for each symbol, at most kMostGuesses; of equal ones those that were added last.
  std::vector<SymbolGuess> guesses(std::string_view op_name) const;

 private:
  static constexpr size_t kMostGuesses = 8;
  using Index = std::unordered_map<std::string, std::vector<int64_t>>;
  static std::string normal(std::string_view name);
  Index by_name_, by_scope_, literals_, constants_;
};

}  // namespace model
