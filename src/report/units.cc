// A table of suffixes: how a number is spelled, and what of the suffix stays in the heading.
#include "src/report/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/text.h"
#include "src/report/display.h"

namespace report {
namespace {

std::string three_digits(double value) {
  const double size = std::fabs(value);
  if (size == 0) return "0";
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.9995) return fmt::format("{:.2f}", value);
  return size >= 0.001 ? fmt::format("{:.3f}", value) : fmt::format("{:.1e}", value);
}

std::string with_prefix(double value, std::string_view unit) {
  static constexpr std::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  for (; std::fabs(value) >= 999.5 && prefix + 1 < std::size(kPrefixes); ++prefix) value /= 1000;
  return fmt::format("{} {}{}", prefix == 0 ? fmt::format("{:.0f}", value) : three_digits(value), kPrefixes[prefix], unit);
}

/// Counts that happen to be REAL stay counts: "24", not "24.0".
std::string plain_number(double value) {
  return value == std::trunc(value) && std::fabs(value) < 1e6 ? fmt::format("{:.0f}", value) : three_digits(value);
}

std::string time(double ns) { return ns == 0 ? "0 s" : base::human_seconds(ns * 1e-9); }
std::string size(double bytes) { return base::human_bytes(bytes); }
std::string percent(double value) { return fmt::format("{:.1f} %", value); }
std::string bytes_rate(double value) { return base::human_bytes(value) + "/s"; }
std::string flops_rate(double value) { return with_prefix(value, "FLOP/s"); }
std::string work(double value) { return with_prefix(value, "FLOP"); }

struct Unit {
  std::string_view suffix;
  std::string_view in_heading;  ///< what replaces the suffix there
  std::string (*spell)(double);
};
/// Longer suffixes before those that they end with.
constexpr Unit kUnits[] = {
    {"gb_per_s", "GB/s", three_digits},
    {"gflop_per_s", "GFLOP/s", three_digits},
    {"flop_per_byte", "FLOP/byte", three_digits},
    {"bytes_per_s", "", bytes_rate},
    {"flops_per_s", "", flops_rate},
    {"flops", "work", work},
    {"bytes", "size", size},
    {"percent", "", percent},
    {"ns", "", time},
};

/// The suffix must be a word of its own: "columns" does not end with the unit "ns".
const Unit* unit_of(std::string_view column) {
  const auto found = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& unit) {
    return column.ends_with(unit.suffix) && (column.size() == unit.suffix.size() || column[column.size() - unit.suffix.size() - 1] == '_');
  });
  return found == std::end(kUnits) ? nullptr : found;
}

}  // namespace

std::string heading(std::string_view column) {
  const Unit* unit = unit_of(column);
  std::string text(unit == nullptr ? column : column.substr(0, column.size() - unit->suffix.size()));
  while (text.ends_with('_')) text.pop_back();
  std::replace(text.begin(), text.end(), '_', ' ');
  // "saved" says enough of saved_bytes, but a column that is only a unit keeps a word.
  const bool keeps = unit != nullptr && (text.empty() || unit->spell == three_digits);
  if (keeps) text.append(text.empty() ? "" : " ").append(unit->in_heading.empty() ? unit->suffix : unit->in_heading);
  return displayable(text);
}

std::string heading(std::string_view column, std::span<const std::string> all) {
  constexpr std::string_view kShare = "_percent";
  const std::string_view whole = column.ends_with(kShare) ? column.substr(0, column.size() - kShare.size()) : std::string_view();
  return whole.empty() || std::ranges::find(all, whole) == all.end() ? heading(column) : "of " + heading(whole);
}

std::string human(const model::Cell& cell, std::string_view column) {
  using Kind = model::Cell::Kind;
  const Unit* unit = unit_of(column);
  switch (cell.kind) {
    case Kind::null:
      return "-";
    case Kind::integer:
      return unit != nullptr ? unit->spell(static_cast<double>(cell.integer)) : fmt::format("{}", cell.integer);
    case Kind::real:
      return unit != nullptr ? unit->spell(cell.real) : plain_number(cell.real);
    case Kind::text:
      return displayable(cell.text);
    case Kind::blob:
      return fmt::format("({} bytes)", cell.text.size());
  }
  return "";
}

}  // namespace report
