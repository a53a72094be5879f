// A cursor over the canonical text of an attribute.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ir {

struct AttrScan {
  std::string_view rest;

  bool at_end() const { return rest.empty(); }
  bool take(char c) {
    if (rest.empty() || rest.front() != c) return false;
    return rest.remove_prefix(1), true;
  }
  std::optional<int64_t> integer() {
    int64_t value = 0;
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (code != std::errc()) return std::nullopt;
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    return value;
  }
  /// Letters, '_' and '-'.
  std::string_view word() {
    size_t n = 0;
    while (n < rest.size() &&
           (rest[n] == '_' || rest[n] == '-' || (rest[n] >= 'a' && rest[n] <= 'z') || (rest[n] >= 'A' && rest[n] <= 'Z')))
      ++n;
    const std::string_view word = rest.substr(0, n);
    rest.remove_prefix(n);
    return word;
  }
};

}  // namespace ir
