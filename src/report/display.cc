// Widths by ranges of code points (Unicode 15, East Asian Width W and F, general category Mn); wcwidth() would depend on the locale.
#include "src/report/display.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/base/text.h"

namespace report {
namespace {

struct Range {
  char32_t first, last;
};
constexpr Range kNone[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F}, {0x1AB0, 0x1AFF},
                           {0x1DC0, 0x1DFF}, {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};
constexpr Range kTwo[] = {{0x1100, 0x115F}, {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                          {0xA960, 0xA97C}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                          {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
constexpr Range kDirections[] = {{0x061C, 0x061C}, {0x200E, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x2069}};

bool within(std::span<const Range> ranges, char32_t point) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) { return point >= range.first && point <= range.last; });
}

struct Character {
  std::string_view bytes;
  char32_t point = 0;
};

/// `text` is valid UTF-8.
std::vector<Character> characters(std::string_view text) {
  std::vector<Character> list;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = std::min<size_t>(lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4, text.size() - i);
    char32_t point = length == 1 ? lead : lead & (0x7Fu >> length);
    for (size_t k = 1; k < length; ++k) point = point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3Fu);
    list.push_back({text.substr(i, length), point});
    i += length;
  }
  return list;
}

size_t width_of(const Character& character) { return within(kNone, character.point) ? 0 : within(kTwo, character.point) ? 2 : 1; }

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::string displayable(std::string_view text) {
  std::string safe = base::escaped(text);
  if (is_ascii(safe)) return safe;
  std::string out;
  for (const Character& c : characters(safe)) {
    if (within(kDirections, c.point))
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(c.point));
    else
      out += c.bytes;
  }
  return out;
}

size_t display_width(std::string_view text) {
  if (is_ascii(text)) return text.size();
  size_t width = 0;
  for (const Character& c : characters(text)) width += width_of(c);
  return width;
}

std::string cut_middle(std::string_view text, size_t width, size_t head_columns) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  const std::vector<Character> list = characters(text);
  const size_t head_width = std::min(head_columns == kHalf ? width / 2 : head_columns, width - 1), tail_width = width - 1 - head_width;
  std::string head;
  size_t used = 0;
  for (const Character& c : list) {
    used += width_of(c);
    if (used > head_width) break;
    head += c.bytes;
  }
  size_t tail_begin = text.size();
  used = 0;
  for (auto c = list.rbegin(); c != list.rend(); ++c) {
    used += width_of(*c);
    if (used > tail_width) break;
    tail_begin -= c->bytes.size();
  }
  return head + "…" + std::string(text.substr(tail_begin));
}

std::string padded(std::string_view text, size_t width, Align align) {
  const size_t own = display_width(text);
  const std::string space(width > own ? width - own : 0, ' ');
  return align == Align::left ? std::string(text) + space : space + std::string(text);
}

}  // namespace report
