// CLI11 itself converts with strtod and strtoll: "nan" passes every range, what overflows becomes the largest number, "0x10" is 16.
#include "src/cli/values.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <limits>
#include <optional>

#include "src/base/text.h"

namespace cli {
namespace {

template <typename T>
std::optional<T> parse(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A NaN is in no range.
template <typename T>
CLI::Validator between(T low, T high, const char* what) {
  const std::string range = fmt::format("{} from {} to {}", what, low, high);
  const auto check = [=](std::string& text) -> std::string {
    const std::optional<T> value = parse<T>(text);
    return value && *value >= low && *value <= high ? "" : fmt::format("expected {}, got '{}'", range, base::escaped(text));
  };
  const bool any = high == std::numeric_limits<T>::max();
  return {check, any ? "" : fmt::format("[{}..{}]", low, high), "number"};
}

}  // namespace

CLI::Validator whole_number(int64_t low, int64_t high) { return between<int64_t>(low, high, "a whole number"); }
CLI::Validator unsigned_number() { return between<uint64_t>(0, UINT64_MAX, "a whole number"); }
CLI::Validator not_empty(std::string_view what) {
  const std::string expected = fmt::format("expected {}, got ''", what);
  return {[expected](std::string& text) { return text.empty() ? expected : std::string(); }, "", "not_empty"};
}
CLI::Validator number(double low, double high) { return between<double>(low, high, "a number"); }

}  // namespace cli
