// Offsets are resolved in two steps, first the line by bisection and then the column by walking the line: no table of characters is held.
#include "importers/symbols/source_text.h"

#include <algorithm>

namespace importers::symbols {
namespace {

constexpr int64_t kLongestLine = 1 << 16;  ///< with other characters than ASCII: each column walks the line

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Code units that the character which begins with `lead` takes.
int64_t units(char lead, Counting::Unit unit) { return unit == Counting::Unit::utf16 && static_cast<unsigned char>(lead) >= 0xF0 ? 2 : 1; }

std::string with_lf(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r' || i + 1 >= text.size() || text[i + 1] != '\n') out += text[i];
  }
  return out;
}

}  // namespace

std::string_view text(Counting::Newline newline) { return newline == Counting::Newline::lf ? "lf" : "crlf"; }

std::string_view text(Counting::Unit unit) {
  switch (unit) {
    case Counting::Unit::bytes:
      return "bytes";
    case Counting::Unit::characters:
      return "characters";
    case Counting::Unit::utf16:
      return "utf-16";
  }
  return "";
}

SourceText::SourceText(std::string_view text) : text_(with_lf(text)) {
  is_ascii_ = std::ranges::none_of(text_, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  int64_t characters = 0, utf16 = 0;
  const auto begin_line = [&](size_t at) {
    begins_.push_back(at);
    if (!is_ascii_) characters_.push_back(characters), utf16_.push_back(utf16);
  };
  begin_line(0);
  for (size_t i = 0; i < text_.size(); ++i) {
    if (!is_continuation(text_[i])) ++characters, utf16 += units(text_[i], Counting::Unit::utf16);
    if (text_[i] == '\n') begin_line(i + 1);
  }
  if (begins_.back() != text_.size() || begins_.size() == 1) begin_line(text_.size());
}

std::string_view SourceText::line(int32_t line) const {
  if (line < 1 || line > lines()) return {};
  std::string_view whole = std::string_view(text_).substr(line_begin(line), line_begin(line + 1) - line_begin(line));
  if (whole.ends_with('\n')) whole.remove_suffix(1);
  return whole;
}

int32_t SourceText::line_of(size_t at) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end() - 1, at);
  return static_cast<int32_t>(after - begins_.begin());
}

int64_t SourceText::unit_begin(int32_t line, Counting counting) const {
  const auto i = static_cast<size_t>(line) - 1;
  const auto in_unit = [&]() -> int64_t {
    if (is_ascii_ || counting.unit == Counting::Unit::bytes) return static_cast<int64_t>(begins_[i]);
    return counting.unit == Counting::Unit::characters ? characters_[i] : utf16_[i];
  };
  return in_unit() + (counting.newline == Counting::Newline::crlf ? line - 1 : 0);
}

size_t SourceText::at_offset(int64_t offset, Counting counting) const {
  int32_t low = 1, high = lines() + 1;  // the last line whose begin is not behind the offset
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    (unit_begin(middle, counting) <= offset ? low : high) = middle;
  }
  return at_column(low, offset - unit_begin(low, counting), counting.unit);
}

size_t SourceText::at_column(int32_t line, int64_t column, Counting::Unit unit) const {
  if (line < 1 || line > lines() || column < 0) return std::string_view::npos;
  const std::string_view text = this->line(line);
  if (is_ascii_ || unit == Counting::Unit::bytes)
    return column <= static_cast<int64_t>(text.size()) ? line_begin(line) + static_cast<size_t>(column) : std::string_view::npos;
  if (column > static_cast<int64_t>(text.size()) || static_cast<int64_t>(text.size()) > kLongestLine) return std::string_view::npos;
  size_t at = 0;
  for (int64_t passed = 0; at < text.size() && passed < column; ++at) {
    if (!is_continuation(text[at])) passed += units(text[at], unit);
    while (at + 1 < text.size() && is_continuation(text[at + 1])) ++at;
  }
  return line_begin(line) + at;
}

}  // namespace importers::symbols
