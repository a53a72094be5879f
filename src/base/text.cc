// Places in texts, near names, safe and human spellings.
#include "src/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

namespace base {
namespace {

constexpr size_t kContext = 60;  ///< bytes shown on either side of a place

size_t line_begin(std::string_view text, size_t offset) {
  const size_t newline = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// Length of the UTF-8 sequence that starts at `at`, 0 if it is not valid (overlong forms and surrogates count as valid enough to print as
/// escapes).
size_t utf8_length(std::string_view bytes, size_t at) {
  const auto lead = static_cast<unsigned char>(bytes[at]);
  const size_t length = lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
  if (length == 0 || at + length > bytes.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(bytes[at + i]) & 0xC0) != 0x80) return 0;
  }
  const auto second = static_cast<unsigned char>(bytes[at + 1]);
  const bool control = lead == 0xC2 && second < 0xA0;  // C1 control characters move a terminal's cursor
  return control ? 0 : length;
}

/// Printable ASCII alone? Eight bytes at a time: a byte below ' ', 0x7f or above 0x7f sets its high bit in one of the terms.
bool is_plain(std::string_view bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101u, kHigh = 0x80 * kOnes;
  uint64_t odd = 0;
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= bytes.size(); i += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    odd |= word | (word - ' ' * kOnes) | (word + kOnes);
  }
  for (; i < bytes.size(); ++i) odd |= bytes[i] >= ' ' && bytes[i] < 0x7f ? 0 : kHigh;
  return (odd & kHigh) == 0;
}

std::string three_digits(double value) {
  const double magnitude = std::fabs(value);
  return magnitude >= 100 ? fmt::format("{:.0f}", value) : magnitude >= 10 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

}  // namespace

Place place_of(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n') + 1;
  return {line, static_cast<int64_t>(offset - line_begin(text, offset)) + 1};
}

Error error_at(std::string_view source, std::string_view text, size_t offset, std::string_view what) {
  offset = std::min(offset, text.size());
  const Place place = place_of(text, offset);
  const size_t begin = line_begin(text, offset);
  const size_t newline = text.find('\n', offset);
  const size_t end = newline == std::string_view::npos ? text.size() : newline;
  const size_t from = offset - begin > kContext ? offset - kContext : begin;
  const size_t to = std::min(end, offset + kContext);
  const std::string before = (from > begin ? "…" : "") + escaped(text.substr(from, offset - from));
  const std::string after = escaped(text.substr(offset, to - offset)) + (to < end ? "…" : "");
  const size_t ellipsis = from > begin ? 2 : 0;  // "…" is three bytes and one column
  return Error{fmt::format("{}:{}:{}: {}\n  {}{}\n  {}^", escaped(source), place.line, place.column, what, before, after,
                           std::string(before.size() - ellipsis, ' '))};
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  if (word.empty() || word.size() > 64) return best;
  for (const std::string_view candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best;
}

std::string escaped(std::string_view bytes) {
  if (is_plain(bytes)) return std::string(bytes);
  std::string out;
  out.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size();) {
    const char c = bytes[i];
    const size_t sequence = static_cast<unsigned char>(c) >= 0x80 ? utf8_length(bytes, i) : 0;
    if (sequence > 0) {
      out.append(bytes.substr(i, sequence));
      i += sequence;
      continue;
    }
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (c < ' ' || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));  // char is signed: bytes ≥ 0x80 are < ' '

    else
      out += c;
    ++i;
  }
  return out;
}

Shown::Shown(std::string_view bytes) : text_(bytes) {
  if (is_plain(bytes)) return;
  made_ = escaped(bytes);
  text_ = made_;
}

std::string human_bytes(double bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  for (; std::fabs(bytes) >= 999.5 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1000;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{} {}", three_digits(bytes), kUnits[unit]);
}

std::string human_seconds(double seconds) {
  static constexpr struct {
    double scale;
    const char* unit;
  } kUnits[] = {{1, "s"}, {1e3, "ms"}, {1e6, "µs"}, {1e9, "ns"}};
  const double magnitude = std::fabs(seconds);
  if (magnitude >= 120)
    return fmt::format("{}{:.0f} min {:02.0f} s", seconds < 0 ? "-" : "", std::floor(magnitude / 60), std::floor(std::fmod(magnitude, 60)));
  for (const auto& [scale, unit] : kUnits) {
    if (magnitude * scale >= 0.9995 || (scale == 1e9 && magnitude > 0)) return fmt::format("{} {}", three_digits(seconds * scale), unit);
  }
  return "0 s";
}

}  // namespace base
