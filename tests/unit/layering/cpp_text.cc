// Blanks what is not code. One pass, one state: enough for the checks, which look for words and braces and never for meaning.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/layering/layering.h"

namespace layering {
namespace {

bool is_word(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// End of the literal that starts with the quote at `begin`: one past its closing quote, or the end of the text.
size_t end_of_quoted(std::string_view text, size_t begin) {
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[begin] || text[i] == '\n') {
      return i + 1;
    }
  }
  return text.size();
}

/// End of a raw string whose quote is at `begin`: R"tag( … )tag".
size_t end_of_raw(std::string_view text, size_t begin) {
  const size_t open = text.find('(', begin);
  if (open == std::string_view::npos) return text.size();
  const std::string close = ")" + std::string(text.substr(begin + 1, open - begin - 1)) + "\"";
  const size_t end = text.find(close, open);
  return end == std::string_view::npos ? text.size() : end + close.size();
}

/// End of the preprocessor line at `begin`, continuation lines included.
size_t end_of_directive(std::string_view text, size_t begin) {
  size_t end = text.find('\n', begin);
  while (end != std::string_view::npos && end > 0 && text[end - 1] == '\\') end = text.find('\n', end + 1);
  return end == std::string_view::npos ? text.size() : end;
}

/// One past the end of what starts at `i` and is no code; `i` itself if code starts there.
size_t end_of_noncode(std::string_view text, size_t i, bool line_start) {
  const auto starts = [&](std::string_view mark) { return text.substr(i, mark.size()) == mark; };
  if (starts("//")) return std::min(text.find('\n', i), text.size());
  if (starts("/*")) return std::min(text.find("*/", i + 2), text.size() - 2) + 2;
  if (line_start && text[i] == '#') return end_of_directive(text, i);
  const bool after_word = i > 0 && is_word(text[i - 1]);
  if (text[i] == '"') return i > 0 && text[i - 1] == 'R' ? end_of_raw(text, i) : end_of_quoted(text, i);
  if (text[i] == '\'' && !after_word) return end_of_quoted(text, i);  // after a word it separates digits
  return i;
}

}  // namespace

std::string code_only(std::string_view text) {
  std::string code(text);
  bool line_start = true;
  for (size_t i = 0; i < text.size();) {
    const size_t end = end_of_noncode(text, i, line_start);
    for (size_t k = i; k < end; ++k) {
      if (code[k] != '\n') code[k] = ' ';
    }
    if (end == i) {
      if (text[i] == '\n')
        line_start = true;
      else if (text[i] != ' ' && text[i] != '\t')
        line_start = false;
    }
    i = std::max(end, i + 1);
    if (end > 0 && text[i - 1] == '\n') line_start = true;
  }
  return code;
}

int line_of(std::string_view text, size_t offset) { return 1 + static_cast<int>(std::ranges::count(text.substr(0, offset), '\n')); }

std::vector<Source> read_tree(const std::string& root, const std::vector<std::string>& folders) {
  static const std::vector<std::string> kinds = {".cc", ".h", ".def", ".sql", ".py", ".sh", ".cmake", ".txt"};
  std::vector<Source> sources;
  for (const std::string& folder : folders) {
    const std::filesystem::path start = std::filesystem::path(root) / folder;
    if (!std::filesystem::exists(start)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(start)) {
      if (!entry.is_regular_file() || std::ranges::count(kinds, entry.path().extension().string()) == 0) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      sources.push_back({std::filesystem::relative(entry.path(), root).generic_string(),
                         std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>())});
    }
  }
  std::ranges::sort(sources, {}, &Source::path);
  return sources;
}

}  // namespace layering
