// Roles tell definitions from imports and uses; where a tag has none, its kind does.
#include "importers/symbols/tag.h"

#include <algorithm>

#include "importers/symbols/lines.h"

namespace importers::symbols {
namespace {

model::SymbolRole role_of(const Tag& tag) {
  const std::string_view role = tag.roles.substr(0, tag.roles.find(','));
  if (role == "imported" || role == "namespace" || role == "indirectlyImported" || role == "system" || role == "local")
    return model::SymbolRole::import;
  if (!role.empty() && role != "def") return model::SymbolRole::reference;
  const bool is_python = tag.language == "Python" || (tag.language.empty() && language_of(tag.file) == "python");
  if (role.empty() && is_python && (tag.kind == "i" || tag.kind == "I" || tag.kind == "Y" || tag.kind == "x" || tag.kind == "import"))
    return model::SymbolRole::import;
  return model::SymbolRole::definition;
}

/// What stands between the delimiters, and whether the pattern is the whole line.
struct Pattern {
  std::string text;
  bool is_whole = false;
};

Pattern pattern_of(std::string_view written) {
  Pattern pattern;
  if (written.size() < 2) return pattern;
  const char delimiter = written.front();
  written.remove_prefix(1);
  if (written.ends_with(delimiter)) written.remove_suffix(1);
  if (written.starts_with('^')) written.remove_prefix(1);
  pattern.is_whole = written.ends_with('$') && !written.ends_with("\\$");
  if (pattern.is_whole) written.remove_suffix(1);
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i] == '\\' && i + 1 < written.size()) ++i;
    pattern.text += written[i];
  }
  return pattern;
}

}  // namespace

PatternIndex::PatternIndex(std::string_view text) {
  int32_t number = 0;
  size_t passed = 0;
  each_line(text, [&](const Line& line) {
    number += static_cast<int32_t>(
        std::count(text.begin() + static_cast<std::ptrdiff_t>(passed), text.begin() + static_cast<std::ptrdiff_t>(line.begin), '\n'));
    passed = line.begin;
    whole_.try_emplace(line.text, number + 1);
    sorted_.emplace_back(line.text, number + 1);
    return true;
  });
  std::ranges::sort(sorted_);
}

int32_t PatternIndex::line_of(std::string_view written) const {
  const Pattern pattern = pattern_of(written);
  if (pattern.text.empty() || sorted_.empty()) return 0;
  if (pattern.is_whole) {
    const auto found = whole_.find(pattern.text);
    return found == whole_.end() ? 0 : found->second;
  }
  const auto found = std::ranges::lower_bound(sorted_, std::pair(std::string_view(pattern.text), 0));
  return found != sorted_.end() && found->first.starts_with(pattern.text) ? found->second : 0;
}

void add_tag(Collector& out, const Tag& tag, const PatternIndex& patterns) {
  model::Symbol symbol;
  symbol.name = out.intern(tag.name);
  symbol.kind = out.intern(tag.kind);
  symbol.type = out.intern(!tag.type.empty() ? tag.type : tag.signature);
  symbol.file = out.intern(tag.file);
  symbol.scope = out.intern(tag.scope);
  symbol.role = role_of(tag);
  symbol.sort = sort_of(tag.kind, tag.language.empty() ? language_of(tag.file) : tag.language);
  symbol.line = tag.line > 0 ? tag.line : patterns.line_of(tag.pattern);
  symbol.end_line = tag.end;
  out.add(symbol);
}

std::string unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (c == 't')
      out += '\t';
    else if (c == 'n')
      out += '\n';
    else if (c == 'r')
      out += '\r';
    else if (c == '\\')
      out += c;
    else
      out.append(1, '\\').append(1, c);
  }
  return out;
}

}  // namespace importers::symbols
