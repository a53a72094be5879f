// Three sorted lists of definitions, by name and function, by name and class, and by name alone; a use is looked up by bisection in the one
// that its rule names.
#include "importers/symbols/targets.h"

#include <algorithm>
#include <vector>

namespace importers::symbols {
namespace {

using model::Symbol;
using model::SymbolRole;
using model::SymbolSort;
using model::TargetRule;

constexpr int kMostScopes = 64;  ///< around a use that are looked through

/// A definition in a sorted list.
struct Entry {
  uint32_t name;
  int32_t scope;
  int64_t position;
  int32_t record;
};

class List {
 public:
  void add(Entry entry) { entries_.push_back(entry); }
  void sort() {
    std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
      if (a.name != b.name) return a.name < b.name;
      if (a.scope != b.scope) return a.scope < b.scope;
      return a.position != b.position ? a.position < b.position : a.record < b.record;
    });
  }

  struct Found {
    int32_t before = -1, after = -1;  ///< records: nearest at or before the place, nearest behind it
    size_t count = 0;                 ///< of the name in the scope
    bool is_same_place = false;       ///< of `before`
    explicit operator bool() const { return count > 0; }
    int32_t nearest() const { return before >= 0 ? before : after; }
  };
  Found find(uint32_t name, int32_t scope, int64_t position) const {
    const auto key = [](const Entry& entry) { return std::pair(entry.name, entry.scope); };
    const auto all = std::ranges::equal_range(entries_, std::pair(name, scope), {}, key);
    const auto behind = std::ranges::upper_bound(all, position, {}, &Entry::position);
    Found found;
    found.count = static_cast<size_t>(all.size());
    if (behind != all.begin()) found.before = (behind - 1)->record, found.is_same_place = (behind - 1)->position == position;
    if (behind != all.end()) found.after = behind->record;
    return found;
  }

 private:
  std::vector<Entry> entries_;
};

class Targets {
 public:
  Targets(model::SymbolIndex& index, const SourceText* source, const std::vector<bool>& in_text)
      : index_(index), source_(source), in_text_(in_text) {}

  void run() {
    collect();
    for (size_t i = 0; i < index_.symbols.size(); ++i) {
      Symbol& symbol = index_.symbols[i];
      if (symbol.role == SymbolRole::definition || symbol.target >= 0) continue;
      if (symbol.key != ir::StringId::empty)
        by_key(symbol);
      else if (symbol.name != ir::StringId::empty)
        by_place(symbol, i);
    }
  }

 private:
  static int64_t position(const Symbol& symbol) {
    return symbol.begin_offset >= 0 ? symbol.begin_offset : int64_t{symbol.line} << 24 | std::min(symbol.column, 0xffffff);
  }
  const Symbol& at(int32_t record) const { return index_.symbols[static_cast<size_t>(record)]; }
  /// Functions and types by their record, files by negative numbers.
  static int32_t module_scope(const Symbol& symbol) { return -2 - static_cast<int32_t>(symbol.file); }
  static int32_t scope(const Symbol& symbol) { return symbol.within >= 0 ? symbol.within : module_scope(symbol); }

  int32_t type_around(const Symbol& symbol) const {
    int32_t record = symbol.within;
    for (int i = 0; record >= 0 && i < kMostScopes && at(record).sort != SymbolSort::type; ++i) record = at(record).within;
    return record;
  }

  bool is_member_definition(const Symbol& symbol) const {
    return is_member_kind(index_.view(symbol.kind)) || (symbol.within >= 0 && at(symbol.within).sort == SymbolSort::type);
  }

  void collect() {
    by_key_.assign(index_.strings.size(), -1);
    for (size_t i = 0; i < index_.symbols.size(); ++i) {
      const Symbol& symbol = index_.symbols[i];
      if (symbol.end_offset >= 0 && source_ == nullptr) ends_.push_back(symbol.end_offset);
      if (symbol.role != SymbolRole::definition) continue;
      const auto record = static_cast<int32_t>(i);
      int32_t& keyed = by_key_[static_cast<size_t>(symbol.key)];
      if (symbol.key != ir::StringId::empty && keyed < 0) keyed = record;
      Entry entry{static_cast<uint32_t>(symbol.name), module_scope(symbol), position(symbol), record};
      everywhere_.add(entry);
      const bool is_member = is_member_definition(symbol);
      entry.scope = is_member ? type_around(symbol) : scope(symbol);
      (is_member ? members_ : locals_).add(entry);
    }
    everywhere_.sort(), members_.sort(), locals_.sort();
    std::ranges::sort(ends_);
  }

  void by_key(Symbol& use) const {
    const int32_t found = by_key_[static_cast<size_t>(use.key)];
    if (found >= 0) set(use, found, TargetRule::given, 1.0F);
  }

  static void set(Symbol& use, int32_t target, TargetRule rule, float confidence) {
    use.target = target;
    use.rule = rule;
    use.confidence = confidence;
  }

  void by_place(Symbol& use, size_t record) const {
    const auto name = static_cast<uint32_t>(use.name);
    const int64_t place = position(use);
    const List::Found any = everywhere_.find(name, module_scope(use), place);
    if (any.is_same_place) return set(use, any.before, TargetRule::place, 1.0F);
    if (is_member_use(use, record) ? as_member(use, name, place) : as_name(use, name, place)) return;
    if (any) set(use, any.nearest(), TargetRule::nearest, any.count == 1 ? 0.6F : 0.4F);
  }

  /// x in a function means its own x, else that of the function around it, else that of the module. Classes are looked through only from
  /// directly inside them.
  bool as_name(Symbol& use, uint32_t name, int64_t place) const {
    int32_t around = use.within;
    for (int i = 0; around >= 0 && i < kMostScopes; around = at(around).within, ++i) {
      if (at(around).sort == SymbolSort::type && around != use.within) continue;
      const List::Found found = locals_.find(name, around, place);
      if (!found) continue;
      const bool is_own = around == use.within;
      if (found.before >= 0 && !is_of_comprehension(use, found))
        set(use, found.before, TargetRule::function, is_own && found.count == 1 ? 0.95F : 0.9F);
      else
        set(use, found.after, TargetRule::later, 0.8F);
      return true;
    }
    const List::Found found = locals_.find(name, module_scope(use), place);
    if (!found) return false;
    set(use, found.nearest(), TargetRule::module, found.count == 1 ? 0.95F : 0.8F);
    return true;
  }

  /// [x for x in …]: the definition stands behind the use in the same line, an older one before it in another.
  bool is_of_comprehension(const Symbol& use, const List::Found& found) const {
    return found.after >= 0 && use.line > 0 && at(found.after).line == use.line && at(found.before).line != use.line;
  }

  bool as_member(Symbol& use, uint32_t name, int64_t place) const {
    const List::Found found = members_.find(name, type_around(use), place);
    if (!found) return false;
    set(use, found.nearest(), TargetRule::type, found.count == 1 ? 0.9F : 0.8F);
    return true;
  }

  /// Is there an object before it: a.b? Without the text: does another name end one character before?
  bool is_member_use(const Symbol& use, size_t record) const {
    if (source_ != nullptr && in_text_[record] && use.column > 0) {
      const std::string_view before = source_->line(use.line).substr(0, static_cast<size_t>(use.column) - 1);
      const size_t last = before.find_last_not_of(" \t");
      return last != std::string_view::npos && before[last] == '.';
    }
    return use.begin_offset > 0 && std::ranges::binary_search(ends_, use.begin_offset - 1);
  }

  model::SymbolIndex& index_;
  const SourceText* source_;
  const std::vector<bool>& in_text_;
  List everywhere_, members_, locals_;
  std::vector<int32_t> by_key_;  ///< by StringId: record of the definition, or -1
  std::vector<int64_t> ends_;    ///< sorted ends of names, where there is no text
};

}  // namespace

void find_targets(Collector& out, const SourceText* source, const std::vector<bool>& in_text) {
  Targets(out.index(), source, in_text).run();
}

}  // namespace importers::symbols
