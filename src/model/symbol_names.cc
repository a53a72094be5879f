// A name is taken apart at its slashes; wrappers around a part (jvp, transpose) are peeled off, and the number that makes a scope unique.
// The words of every part are looked up; the innermost part that is found counts most, since it is nearest to the operator.
#include "src/model/symbol_names.h"

#include <algorithm>

#include "src/model/operators.h"

namespace model {
namespace {

constexpr size_t kMostParts = 32, kShortestName = 3;

/// "tower_1" and "Dense_0" without the number.
/// A part of a name; `traced`: the argument of jit, which is a function's own name.
struct Part {
  std::string_view word;
  bool traced = false;
};

/// Parts between slashes and parentheses: "jit(step)/jvp(Model)/dot" gives step (traced), Model, dot.
std::vector<Part> parts_of(std::string_view name) {
  std::vector<Part> parts;
  bool traced = false;
  for (size_t begin = 0; begin <= name.size() && parts.size() < kMostParts;) {
    const size_t end = std::min(name.find_first_of("/()", begin), name.size());
    const std::string_view word = name.substr(begin, end - begin);
    const bool is_wrapper = end < name.size() && name[end] == '(';
    if (is_wrapper)
      traced = word == "jit" || word == "pjit" || word == "pmap";
    else if (!word.empty())
      parts.push_back({word, traced});
    if (end < name.size() && name[end] != '(') traced = false;
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::string SymbolNames::normal(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '_') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return out;
}

std::vector<SymbolGuess> SymbolNames::guesses(std::string_view op_name) const {
  std::vector<SymbolGuess> found;
  const auto look = [&](const Index& index, const std::string& word, std::string_view rule, double confidence) {
    const auto symbols = index.find(word);
    if (symbols == index.end() || word.empty()) return;
    const double shared = confidence / (symbols->second.size() > 1 ? 1.5 : 1.0);
    const size_t count = std::min(symbols->second.size(), kMostGuesses);
    for (size_t i = 0; i < count; ++i) found.push_back({symbols->second[symbols->second.size() - 1 - i], rule, shared});
  };
  const std::vector<Part> parts = parts_of(op_name);
  for (size_t i = parts.size(); i-- > 0;) {  // the innermost first: of equal guesses it stays in front
    const std::string word(parts[i].word), scope(without_number(parts[i].word));
    if (parts[i].traced) look(by_name_, word, "function", 0.6);
    look(literals_, scope, "literal", 0.5);
    look(constants_, scope, "constant", 0.4);
    const bool is_operator = i + 1 == parts.size() && parts.size() > 1;  // "dot_general" is no scope
    if (!is_operator && scope.size() >= kShortestName) look(by_scope_, normal(scope), "name", 0.3);
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &SymbolGuess::confidence);
  std::vector<SymbolGuess> best;
  for (const SymbolGuess& guess : found) {
    const bool is_new = std::ranges::find(best, guess.symbol, &SymbolGuess::symbol) == best.end();
    if (is_new && best.size() < kMostGuesses) best.push_back(guess);
  }
  return best;
}

}  // namespace model
