// SCIP ties uses to definitions by the symbol's text, which also holds its name and kind (the last descriptor and its suffix); locals are
// numbered in their document. Types stand only in documentation, as a code block.
#include "importers/symbols/scip_index.h"

#include <fmt/format.h>

#include <algorithm>

namespace importers::symbols {
namespace {

constexpr int64_t kDefinition = 1, kImport = 2, kWrite = 4;
constexpr std::string_view kLocal = "local ";
constexpr size_t kLongestType = 200;

struct Suffix {
  std::string_view text, kind;
};
constexpr Suffix kSuffixes[] = {{"#", "type"},  {"/", "namespace"}, {".", "term"},          {":", "meta"},
                                {"!", "macro"}, {")", "parameter"}, {"]", "type parameter"}};

/// Behind scheme, manager, package and version; two spaces are one space of a name.
std::string_view descriptors(std::string_view symbol) {
  for (int i = 0; i < 4; ++i) {
    size_t space = symbol.find(' ');
    while (space != std::string_view::npos && symbol.substr(space).starts_with("  ") && i > 0) space = symbol.find(' ', space + 2);
    if (space == std::string_view::npos) return {};
    symbol.remove_prefix(space + 1);
  }
  return symbol;
}

/// Where the name begins that ends at `end`: behind the suffix of the descriptor before it.
size_t name_begin(std::string_view text, size_t end) {
  if (end > 0 && text[end - 1] == '`') {
    const size_t open = end < 2 ? std::string_view::npos : text.rfind('`', end - 2);
    return open == std::string_view::npos ? 0 : open;
  }
  const size_t before = end == 0 ? std::string_view::npos : text.find_last_of("#/.:!)]([", end - 1);
  return before == std::string_view::npos ? 0 : before + 1;
}

/// "(variable) x: T" gives T, "class X:" and "def f(…)" themselves on one line.
std::string type_in(std::string_view documentation) {
  const size_t begin = documentation.find('\n');
  if (!documentation.starts_with("```") || begin == std::string_view::npos) return "";
  const std::string_view code = documentation.substr(begin + 1, documentation.find("\n```", begin) - begin - 1);
  std::string line;
  for (const char c : code.substr(0, 2 * kLongestType)) {
    const bool is_space = c == '\n' || c == ' ';
    if (!is_space || (!line.empty() && line.back() != ' ' && line.back() != '(')) line += is_space ? ' ' : c;
  }
  const size_t colon = line.find(": ");
  if (line.starts_with('(') && line.find(')') < colon && colon != std::string::npos) line.erase(0, colon + 2);
  return line.substr(0, kLongestType);
}

/// "(variable) arr: Unknown" is a local named arr.
std::string_view documented_name(std::string_view documentation) {
  const size_t open = documentation.find("\n("), close = documentation.find(") ", open);
  if (open == std::string_view::npos || close == std::string_view::npos) return "";
  const std::string_view rest = documentation.substr(close + 2);
  const size_t end = rest.find_first_of(":\n ");
  return end == std::string_view::npos || rest[end] != ':' ? "" : rest.substr(0, end);
}

model::SymbolRole role_of(int64_t roles) {
  if ((roles & kDefinition) != 0) return model::SymbolRole::definition;
  if ((roles & kImport) != 0) return model::SymbolRole::import;
  return (roles & kWrite) != 0 ? model::SymbolRole::write : model::SymbolRole::reference;
}

}  // namespace

ScipName scip_name(std::string_view symbol) {
  if (symbol.starts_with(kLocal)) return {"", "", "local"};
  const std::string_view text = descriptors(symbol);
  if (text.empty()) return {"", "", ""};
  ScipName result;
  const auto suffix = std::ranges::find_if(kSuffixes, [&](const Suffix& row) { return text.ends_with(row.text); });
  result.kind = suffix == std::end(kSuffixes) ? "" : suffix->kind;
  size_t end = text.size() - (suffix == std::end(kSuffixes) ? 0 : 1);
  if (text.ends_with(").")) {  // method: name(disambiguator).
    result.kind = "method";
    end = std::min(text.rfind('('), end);
  }
  size_t begin = name_begin(text, end);
  result.name = text.substr(begin, end - begin);
  if (result.kind == "parameter" || result.kind == "type parameter") --begin;
  if (result.kind == "meta" && result.name == "__init__" && begin > 1) {  // a Python module is the meta symbol of its namespace
    result.kind = "module";
    end = begin - 1;
    begin = name_begin(text, end);
    result.name = text.substr(begin, end - begin);
  }
  if (result.name.size() > 1 && result.name.starts_with('`')) result.name = result.name.substr(1, result.name.size() - 2);
  result.scope = text.substr(0, std::min(begin, text.size()));
  return result;
}

ir::StringId ScipDocuments::key_of(std::string_view symbol, std::string_view path) {
  return symbol.starts_with(kLocal) ? out_.intern(fmt::format("{}|{}", path, symbol)) : out_.intern(symbol);
}

const ScipDocuments::Parsed& ScipDocuments::parsed(std::string_view symbol, ir::StringId key) {
  const auto at = static_cast<size_t>(key);
  if (at >= parsed_.size()) parsed_.resize(out_.index().strings.size());
  if (!parsed_[at].known) {
    const ScipName name = scip_name(symbol);
    parsed_[at] = {out_.intern(name.name), out_.intern(name.kind), out_.intern(name.scope), sort_of(name.kind), true};
  }
  return parsed_[at];
}

void ScipDocuments::tell(const ScipSymbol& symbol, std::string_view path) {
  out_.keep();
  const std::string_view name = symbol.display_name.empty() ? documented_name(symbol.documentation) : symbol.display_name;
  const Told told{out_.intern(type_in(symbol.documentation)), symbol.symbol.starts_with(kLocal) ? out_.intern(name) : ir::StringId::empty};
  told_[static_cast<uint32_t>(key_of(symbol.symbol, path))] = told;
}

void ScipDocuments::add_record(const ScipOccurrence& occurrence, std::string_view path, ir::StringId file) {
  if (!occurrence.range.is_range()) return out_.drop(occurrence.at, "an occurrence has no range of 3 or 4 numbers");
  if (occurrence.symbol.empty()) return out_.drop(occurrence.at, "an occurrence has no symbol");  // syntax highlighting alone
  const ir::StringId key = key_of(occurrence.symbol, path);
  const Parsed& of = parsed(occurrence.symbol, key);
  model::Symbol record;
  record.name = of.name;
  record.kind = of.kind;
  record.scope = of.scope;
  record.key = key;
  record.file = file;
  record.role = role_of(occurrence.roles);
  record.sort = of.sort;
  record.line = from_one(occurrence.range.numbers[0]);
  record.column = from_one(occurrence.range.numbers[1]);
  if (occurrence.range.end_line() == occurrence.range.numbers[0]) record.end_column = from_one(occurrence.range.end_column());
  if (occurrence.enclosing.is_range()) record.end_line = from_one(occurrence.enclosing.end_line());
  out_.add(record);
}

void ScipDocuments::end_document(std::string_view path) {
  const ir::StringId file = out_.intern(path);
  for (const ScipSymbol& symbol : symbols_) tell(symbol, path);
  for (const ScipOccurrence& occurrence : occurrences_) add_record(occurrence, path, file);
  symbols_.clear();
  occurrences_.clear();
}

void ScipDocuments::end() {
  for (const ScipSymbol& symbol : symbols_) tell(symbol, "");
  for (model::Symbol& record : out_.index().symbols) {
    const auto told = told_.find(static_cast<uint32_t>(record.key));
    if (told == told_.end()) continue;
    record.type = told->second.type;
    if (record.name == ir::StringId::empty) record.name = told->second.name;
  }
}

}  // namespace importers::symbols
