// One sweep over each file's records in the order of their places, with the stack of definitions that are open.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "importers/symbols/python.h"
#include "importers/symbols/targets.h"

namespace importers::symbols {
namespace {

using model::Symbol;
using model::SymbolRole;
using model::SymbolSort;

bool opens(const Symbol& symbol) {
  return symbol.role == SymbolRole::definition && (symbol.sort == SymbolSort::function || symbol.sort == SymbolSort::type);
}

/// From the text: blocks of Python and the records that define them.
class FromPython {
 public:
  FromPython(Collector& out, const SourceText& source) : index_(out.index()), python_(read_python(source.text())), lines_(source.lines()) {
    for (int32_t b = 0; b < static_cast<int32_t>(python_.blocks.size()); ++b)
      block_at_.try_emplace(python_.blocks[static_cast<size_t>(b)].line, b);
    around_lines();
  }

  void run(Collector& out, const std::vector<bool>& held) {
    records_.assign(python_.blocks.size(), -1);
    for (int32_t i = 0; i < static_cast<int32_t>(index_.symbols.size()); ++i) {
      if (held[static_cast<size_t>(i)]) find_definition(i);
    }
    for (size_t i = 0; i < index_.symbols.size(); ++i) {
      if (held[i] && index_.symbols[i].line > 0) index_.symbols[i].within = record_around(index_.symbols[i], static_cast<int32_t>(i));
    }
    keep_literals(out, held);
  }

 private:
  /// The innermost block of each line.
  void around_lines() {
    around_.assign(static_cast<size_t>(lines_) + 1, -1);
    std::vector<int32_t> open;
    size_t next = 0;
    for (int32_t line = 1; line <= lines_; ++line) {
      while (!open.empty() && block(open.back()).end_line < line) open.pop_back();
      for (; next < python_.blocks.size() && python_.blocks[next].line == line; ++next) open.push_back(static_cast<int32_t>(next));
      around_[static_cast<size_t>(line)] = open.empty() ? -1 : open.back();
    }
  }
  const Block& block(int32_t b) const { return python_.blocks[static_cast<size_t>(b)]; }

  void find_definition(int32_t record) {
    Symbol& symbol = index_.symbols[static_cast<size_t>(record)];
    const auto found = block_at_.find(symbol.line);
    if (found == block_at_.end() || symbol.role != SymbolRole::definition || symbol.sort == SymbolSort::parameter) return;
    if (block(found->second).name != index_.view(symbol.name) || records_[static_cast<size_t>(found->second)] >= 0) return;
    records_[static_cast<size_t>(found->second)] = record;
    symbol.end_line = block(found->second).end_line;
  }

  int32_t record_around(const Symbol& symbol, int32_t record) const {
    int32_t b = symbol.line <= lines_ ? around_[static_cast<size_t>(symbol.line)] : -1;
    // A function's own name belongs to what is around the function.
    if (b >= 0 && block(b).line == symbol.line && block(b).name == index_.view(symbol.name) && symbol.sort != SymbolSort::parameter)
      b = block(b).parent;
    while (b >= 0 && (records_[static_cast<size_t>(b)] < 0 || records_[static_cast<size_t>(b)] == record)) b = block(b).parent;
    return b < 0 ? -1 : records_[static_cast<size_t>(b)];
  }

  /// Values of variables go to their records; what calls are given as name or scope, to the function around.
  void keep_literals(Collector& out, const std::vector<bool>& held) {
    std::unordered_map<int32_t, const Literal*> assigned;
    for (const Literal& literal : python_.literals) {
      if (!literal.name.empty()) {
        assigned.try_emplace(literal.line, &literal);
        continue;
      }
      int32_t b = literal.line <= lines_ ? around_[static_cast<size_t>(literal.line)] : -1;
      while (b >= 0 && records_[static_cast<size_t>(b)] < 0) b = block(b).parent;
      if (b >= 0) index_.literals.push_back({records_[static_cast<size_t>(b)], out.intern(literal.value), literal.line});
    }
    for (size_t i = 0; i < index_.symbols.size(); ++i) {
      Symbol& symbol = index_.symbols[i];
      const auto found = held[i] && symbol.role == SymbolRole::definition ? assigned.find(symbol.line) : assigned.end();
      if (found != assigned.end() && found->second->name == index_.view(symbol.name)) symbol.value = out.intern(found->second->value);
    }
  }

  model::SymbolIndex& index_;
  PythonText python_;
  int32_t lines_;
  std::unordered_map<int32_t, int32_t> block_at_;  ///< by line
  std::vector<int32_t> around_;                    ///< by line
  std::vector<int32_t> records_;                   ///< by block: the record that defines it, or -1
};

/// From the records alone.
class FromRecords {
 public:
  explicit FromRecords(model::SymbolIndex& index) : index_(index) {}

  void run(const std::vector<bool>& held) {
    for (size_t i = 0; i < index_.symbols.size(); ++i) {
      const Symbol& symbol = index_.symbols[i];
      if (held[i] || (symbol.begin_offset < 0 && symbol.line <= 0)) continue;
      order_.push_back({static_cast<uint32_t>(symbol.file), static_cast<int32_t>(i), position(symbol)});
    }
    std::ranges::sort(order_, [](const Item& a, const Item& b) {
      return a.file != b.file ? a.file < b.file : a.position != b.position ? a.position < b.position : a.record < b.record;
    });
    for (size_t i = 0; i < order_.size(); ++i) {
      if (i > 0 && order_[i].file != order_[i - 1].file) open_.clear();
      visit(order_[i].record);
    }
  }

 private:
  struct Item {
    uint32_t file;
    int32_t record;
    int64_t position;
  };

  static int64_t position(const Symbol& symbol) {
    return symbol.begin_offset >= 0 ? symbol.begin_offset : int64_t{symbol.line} << 24 | std::min(symbol.column, 0xffffff);
  }
  Symbol& at(int32_t record) { return index_.symbols[static_cast<size_t>(record)]; }

  void visit(int32_t record) {
    Symbol& symbol = at(record);
    const bool is_opening = opens(symbol);
    while (!open_.empty() && !holds(at(open_.back()), symbol, is_opening)) {
      Symbol& ended = at(open_.back());
      if (ended.end_line == 0 && symbol.line > 0) ended.end_line = std::max(ended.line, symbol.line - 1);
      open_.pop_back();
    }
    symbol.within = open_.empty() ? -1 : open_.back();
    if (is_opening) open_.push_back(record);
  }

  /// Without an end of its own a definition is left at the next one that is not in it.
  bool holds(const Symbol& outer, const Symbol& inner, bool is_opening) const {
    if (outer.last_offset >= 0 && inner.begin_offset >= 0) return inner.begin_offset < outer.last_offset;
    if (outer.end_line > 0 && inner.line > 0) return inner.line <= outer.end_line;
    if (!is_opening) return true;
    if (inner.scope != ir::StringId::empty) return names_scope(index_.view(inner.scope), index_.view(outer.name));
    return outer.sort == SymbolSort::type && is_member_kind(index_.view(inner.kind));
  }
  static bool names_scope(std::string_view scope, std::string_view name) {
    if (!scope.ends_with(name)) return false;
    return scope.size() == name.size() || std::string_view(".:/#").find(scope[scope.size() - name.size() - 1]) != std::string_view::npos;
  }

  model::SymbolIndex& index_;
  std::vector<Item> order_;
  std::vector<int32_t> open_;
};

}  // namespace

bool is_member_kind(std::string_view kind) {
  constexpr std::string_view kMembers[] = {"METHOD",    "CONSTRUCTOR", "ATTRIBUTE", "method", "constructor",
                                           "attribute", "member",      "m",         "field",  "property"};
  return std::ranges::find(kMembers, kind) != std::end(kMembers);
}

void find_extents(Collector& out, const SourceText* source, const std::vector<bool>& in_text) {
  const std::string_view language = language_of(out.index().text_path);
  const bool is_python = source != nullptr && !in_text.empty() && (language == "python" || language.empty());
  const std::vector<bool> held = is_python ? in_text : std::vector<bool>(out.index().symbols.size());
  if (is_python) FromPython(out, *source).run(out, held);
  FromRecords(out.index()).run(held);
}

}  // namespace importers::symbols
