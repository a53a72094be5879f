// The words of the records.
#include "src/model/symbol_index.h"

#include <array>

namespace model {
namespace {

template <size_t N, typename Enum>
std::string_view word(const std::array<std::string_view, N>& words, Enum value) {
  return words[static_cast<size_t>(value)];
}

constexpr std::array<std::string_view, 5> kRoles = {"definition", "reference", "import", "write", "documentation"};
constexpr std::array<std::string_view, 6> kSorts = {"other", "module", "type", "function", "variable", "parameter"};
constexpr std::array<std::string_view, 8> kRules = {"", "given", "place", "function", "later", "type", "module", "nearest"};

}  // namespace

std::string_view text(SymbolRole role) { return word(kRoles, role); }
std::string_view text(SymbolSort sort) { return word(kSorts, sort); }
std::string_view text(TargetRule rule) { return word(kRules, rule); }

}  // namespace model
