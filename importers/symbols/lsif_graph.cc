// A range leads over `next` edges to a set of results; that set's definition result names the ranges that define. A range is a definition
// if its tag says so or a definition result names it.
#include "importers/symbols/lsif_graph.h"

#include <algorithm>

namespace importers::symbols {
namespace {

constexpr int kLongestChain = 64;  ///< of `next` edges: cycles end

/// SymbolKind of the Language Server Protocol.
constexpr std::string_view kTagKinds[] = {"",         "file",        "module",      "namespace", "package",   "class",         "method",
                                          "property", "field",       "constructor", "enum",      "interface", "function",      "variable",
                                          "constant", "string",      "number",      "boolean",   "array",     "object",        "key",
                                          "null",     "enum member", "struct",      "event",     "operator",  "type parameter"};

std::string_view path_in(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  return uri.starts_with(kScheme) ? uri.substr(kScheme.size()) : uri;
}

/// "pkg:mod:Cls.step" names step.
std::string_view name_of_moniker(std::string_view moniker) {
  while (!moniker.empty() && std::string_view(".:#/()").find(moniker.back()) != std::string_view::npos) moniker.remove_suffix(1);
  const size_t before = moniker.find_last_of(".:#/");
  return before == std::string_view::npos ? moniker : moniker.substr(before + 1);
}

template <typename Map>
auto find_or(const Map& map, typename Map::key_type key, typename Map::mapped_type otherwise) {
  const auto found = map.find(key);
  return found == map.end() ? otherwise : found->second;
}

}  // namespace

void LsifGraph::add(const LsifElement& element, size_t at) {
  if (element.label.empty() || (element.type != "vertex" && element.type != "edge"))
    return out_.drop(at, "expected an object with type vertex or edge and a label");
  if (element.label == "range") return add_range(element, at);
  out_.keep();
  if (element.type == "edge") return add_edge(element);
  if (element.label == "metaData") out_.index().tool = element.tool + (element.tool_version.empty() ? "" : " " + element.tool_version);
  if (element.label == "document") documents_[id_of(element.id)] = out_.intern(path_in(element.uri));
  if (element.label == "moniker") monikers_[id_of(element.id)] = out_.intern(element.identifier);
}

void LsifGraph::add_range(const LsifElement& element, size_t at) {
  if (element.begin_line < 0 || element.begin_column < 0) return out_.drop(at, "a range has no start with line and character");
  out_.keep();
  model::Symbol symbol;
  symbol.name = out_.intern(element.tag_text);
  symbol.line = from_one(element.begin_line);
  symbol.column = from_one(element.begin_column);
  if (element.end_line == element.begin_line) symbol.end_column = from_one(element.end_column);
  symbol.end_line = from_one(element.full_end_line);
  symbol.role =
      element.tag_type == "definition" || element.tag_type == "declaration" ? model::SymbolRole::definition : model::SymbolRole::reference;
  if (element.tag_kind > 0 && element.tag_kind < static_cast<int64_t>(std::size(kTagKinds))) {
    const std::string_view kind = kTagKinds[element.tag_kind];
    symbol.kind = out_.intern(kind);
    symbol.sort = sort_of(kind);
  }
  const Id id = id_of(element.id);
  range_of_[id] = ranges_.size();
  ranges_.push_back({id, symbol});
}

void LsifGraph::add_edge(const LsifElement& element) {
  const Id out = id_of(element.out), in = id_of(element.in);
  if (element.label == "next") next_[out] = in;
  if (element.label == "textDocument/definition") definition_result_[out] = in;
  if (element.label == "textDocument/references") reference_result_[out] = in;
  if (element.label == "moniker") moniker_of_[out] = in;
  const bool defines = element.label == "item" && (element.property.empty() || element.property == "definitions");
  const bool contains = element.label == "contains";
  if (!defines && !contains) return;
  const auto each = [&](Id range) {
    if (contains) document_of_[range] = out;
    if (defines) definition_items_[out].push_back(range);
  };
  for (const std::string& id : element.ins) each(id_of(id));
  if (element.ins.empty()) each(in);
}

LsifGraph::Id LsifGraph::result_set(Id range) const {
  Id set = range;
  for (int i = 0; i < kLongestChain; ++i) {
    const auto next = next_.find(set);
    if (next == next_.end()) break;
    set = next->second;
  }
  return set;
}

std::unordered_map<LsifGraph::Id, int32_t> LsifGraph::definitions() const {
  std::unordered_map<Id, int32_t> found;
  const auto take = [&](const std::unordered_map<Id, Id>& results) {
    for (const auto& [set, result] : results) {
      const auto items = definition_items_.find(result);
      if (items == definition_items_.end()) continue;
      for (const Id range : items->second) {
        const auto record = range_of_.find(range);
        if (record == range_of_.end()) continue;
        const auto [kept, fresh] = found.try_emplace(set, static_cast<int32_t>(record->second));
        if (!fresh) kept->second = std::min(kept->second, static_cast<int32_t>(record->second));
      }
    }
  };
  take(definition_result_);
  take(reference_result_);
  return found;
}

void LsifGraph::end() {
  const std::unordered_map<Id, int32_t> by_set = definitions();
  for (const auto& [set, record] : by_set) ranges_[static_cast<size_t>(record)].symbol.role = model::SymbolRole::definition;
  for (Range& range : ranges_) {
    model::Symbol& symbol = range.symbol;
    const Id set = result_set(range.id);
    symbol.file = find_or(documents_, find_or(document_of_, range.id, Id{0}), ir::StringId::empty);
    const Id moniker = find_or(moniker_of_, range.id, find_or(moniker_of_, set, Id{0}));
    if (symbol.name == ir::StringId::empty) {
      const std::string name(name_of_moniker(out_.index().view(find_or(monikers_, moniker, ir::StringId::empty))));
      symbol.name = out_.intern(name);
    }
    const int32_t target = find_or(by_set, set, -1);
    if (symbol.role != model::SymbolRole::definition && target >= 0) {
      symbol.target = target;
      symbol.rule = model::TargetRule::given;
      symbol.confidence = 1.0F;
      const model::Symbol& definition = ranges_[static_cast<size_t>(target)].symbol;
      if (symbol.sort == model::SymbolSort::other) symbol.sort = definition.sort, symbol.kind = definition.kind;
    }
  }
  for (Range& range : ranges_) out_.index().symbols.push_back(range.symbol);
}

}  // namespace importers::symbols
