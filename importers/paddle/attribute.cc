// Values of attributes. A value is parsed where a lowering asks for it, so that what nobody asks for costs nothing.
#include "importers/paddle/attribute.h"
#include "src/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace importers::paddle {
namespace {

struct Spelling {
  std::string_view text;
  double value;
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Spelling kSpellings[] = {
    {"True", 1},
    {"true", 1},
    {"False", 0},
    {"false", 0},
    {"inf", kInfinity},
    {"-inf", -kInfinity},
    {"Infinity", kInfinity},
    {"-Infinity", -kInfinity},
    {"nan", std::numeric_limits<double>::quiet_NaN()},
};

}  // namespace

std::string_view plain_value(std::string_view value) {
  value = base::trimmed(value);
  if (value.starts_with('(')) {
    const size_t close = value.find(')');
    if (close != std::string_view::npos) value = base::trimmed(value.substr(close + 1));
  }
  for (const std::string_view array : {"IntArray[", "array["}) {
    if (value.starts_with(array)) return value.substr(array.size() - 1);
  }
  return value;
}

std::optional<double> number_of(std::string_view value) {
  value = plain_value(value);
  for (const auto& [text, number] : kSpellings) {
    if (value == text) return number;
  }
  if (value.starts_with('+')) value.remove_prefix(1);
  double number = 0;
  const auto [stop, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (stop != value.data() + value.size() || value.empty()) return std::nullopt;
  if (failure == std::errc::result_out_of_range) return value.find("e-") != std::string_view::npos ? 0 : kInfinity;
  return failure == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<int64_t> integer_of(std::string_view value) {
  value = plain_value(value);
  int64_t integer = 0;
  const auto [stop, failure] = std::from_chars(value.data(), value.data() + value.size(), integer);
  if (!value.empty() && failure == std::errc() && stop == value.data() + value.size()) return integer;
  const auto number = number_of(value);
  if (!number || std::trunc(*number) != *number || std::fabs(*number) > 9e15) return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::optional<bool> flag_of(std::string_view value) {
  const auto number = number_of(value);
  return number ? std::optional(*number != 0) : std::nullopt;
}

std::vector<std::string_view> items_of(std::string_view value) {
  value = plain_value(value);
  if (value.starts_with('[') && value.ends_with(']') && value.size() >= 2) value = value.substr(1, value.size() - 2);
  std::vector<std::string_view> items;
  size_t begin = 0;
  int depth = 0;
  char quote = '\0';
  for (size_t i = 0; i <= value.size(); ++i) {
    const char c = i < value.size() ? value[i] : ',';
    if (quote != '\0' && i < value.size()) {
      if (c == '\\')
        ++i;
      else if (c == quote)
        quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '(' || c == '{') {
      ++depth;
    } else if (c == ']' || c == ')' || c == '}') {
      --depth;
    } else if (c == ',' && (depth <= 0 || i == value.size())) {
      if (const std::string_view item = base::trimmed(value.substr(begin, i - begin)); !item.empty()) items.push_back(item);
      begin = i + 1;
    }
  }
  return items;
}

std::optional<std::vector<int64_t>> integers_of(std::string_view value) {
  std::vector<int64_t> integers;
  for (const std::string_view item : items_of(value)) {
    const auto integer = integer_of(item);
    if (!integer) return std::nullopt;
    integers.push_back(*integer);
  }
  return integers;
}

std::string_view text_of(std::string_view value) {
  value = plain_value(value);
  if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0]) return value.substr(1, value.size() - 2);
  return value;
}

}  // namespace importers::paddle
