// Lines are looked at by their beginnings only, so that a dump of gigabytes is searched at the speed of memory.
#include "importers/hlo/find.h"

#include <algorithm>

#include "importers/hlo/lexer.h"
#include "src/base/text.h"

namespace importers::hlo {
namespace {

constexpr size_t kLongestPrefix = 256;  ///< bytes of a line in which a logger's prefix ends

constexpr size_t kLongestPreamble = 4096;  ///< bytes before a module in which its marker stands

/// Nothing from the line's begin to `at`, or only spaces and tabs.
bool begins_line(std::string_view text, size_t at, Indent indent) {
  while (indent == Indent::any && at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  return at == 0 || text[at - 1] == '\n';
}

/// Length of `… file.cc:123] ` at the begin of a line; 0 if it has none.
size_t prefix_length(std::string_view line) {
  const std::string_view head = line.substr(0, kLongestPrefix);
  for (size_t end = head.find("] "); end != std::string_view::npos; end = head.find("] ", end + 1)) {
    size_t digits = end;
    while (digits > 0 && base::is_digit(head[digits - 1])) --digits;
    const bool numbered = digits < end && digits > 1 && head[digits - 1] == ':';
    const std::string_view file = numbered ? head.substr(0, digits - 1) : std::string_view();
    if (file.ends_with(".cc") || file.ends_with(".h") || file.ends_with(".cpp") || file.ends_with(".py")) return end + 2;
  }
  return 0;
}

template <typename Each>
void each_line(std::string_view text, Each each) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    each(begin, text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

size_t next_module(std::string_view text, size_t at, Indent indent) {
  for (size_t i = text.find(kModuleWord, at); i != std::string_view::npos; i = text.find(kModuleWord, i + 1)) {
    const size_t end = i + kModuleWord.size();
    if (end < text.size() && is_space(text[end]) && begins_line(text, i, indent)) return i;
  }
  return text.size();
}

std::vector<Part> parts_of(std::string_view text) {
  std::vector<Part> parts;
  const Indent indent = next_module(text, 0, Indent::none) < text.size() ? Indent::none : Indent::any;
  for (size_t i = next_module(text, 0, indent); i < text.size(); i = next_module(text, i + 1, indent)) parts.push_back({i, text.size()});
  for (size_t i = 0; i + 1 < parts.size(); ++i) parts[i].end = parts[i + 1].begin;
  if (parts.empty()) parts.push_back({0, text.size()});
  if (Lexer lexer(text); lexer.skip(), lexer.at() == parts[0].begin) parts[0].begin = 0;
  return parts;
}

bool has_log_prefixes(std::string_view text) {
  constexpr std::string_view kPrefixEnd = "] ";
  for (size_t i = text.find(kModuleWord); i != std::string_view::npos; i = text.find(kModuleWord, i + 1)) {
    if (!text.substr(0, i).ends_with(kPrefixEnd) || !text.substr(i + kModuleWord.size()).starts_with(' ')) continue;
    const size_t line = text.rfind('\n', i) + 1;  // npos + 1 is 0
    if (prefix_length(text.substr(line)) == i - line) return true;
  }
  return false;
}

std::string without_log_prefixes(std::string_view text) {
  std::string result(text);
  each_line(text, [&](size_t begin, std::string_view line) {
    std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(begin), prefix_length(line), ' ');
  });
  return result;
}

std::string_view file_marker(std::string_view text, size_t begin) {
  constexpr std::string_view kMarker = "// file: ";
  const size_t from = begin - std::min(begin, kLongestPreamble);
  const std::string_view before = text.substr(from, begin - from);
  const size_t at = before.rfind(kMarker);
  if (at == std::string_view::npos) return "";
  const size_t end = std::min(before.find_first_of("\r\n", at), before.size());
  Lexer rest(before, end);  // only other comments may stand between
  rest.skip();
  return rest.at_end() ? before.substr(at + kMarker.size(), end - at - kMarker.size()) : "";
}

}  // namespace importers::hlo
