// Each way of counting is tried on all records; the one by which most names stand where the index says is how its tool counted.
#include "importers/symbols/hold.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "importers/symbols/finish.h"
#include "importers/symbols/python.h"
#include "src/base/text.h"

namespace importers::symbols {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

/// Ways of counting that differ in this text; where several fit equally, the first one holds.
std::vector<Counting> countings(const SourceText& source) {
  using Newline = Counting::Newline;
  using Unit = Counting::Unit;
  std::vector<Counting> list;
  for (const Newline newline : {Newline::lf, Newline::crlf}) {
    for (const Unit unit : {Unit::bytes, Unit::characters, Unit::utf16}) {
      if (unit == Unit::bytes || !source.is_ascii()) list.push_back({newline, unit});
    }
  }
  return list;
}

bool has_place(const model::Symbol& symbol) { return symbol.begin_offset >= 0 || (symbol.line > 0 && symbol.column > 0); }

/// Where the record says that its name begins. Columns of records are still in the index's unit.
size_t place_of(const model::Symbol& symbol, const SourceText& source, Counting counting) {
  if (symbol.begin_offset >= 0) return source.at_offset(symbol.begin_offset, counting);
  return source.at_column(symbol.line, symbol.column - 1, counting.unit);
}

/// Where `word` stands in `line` as a word of its own.
size_t word_in(std::string_view line, std::string_view word) {
  if (word.empty()) return kNowhere;
  for (size_t at = line.find(word); at != kNowhere; at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]))) return at;
  }
  return kNowhere;
}

class Holder {
 public:
  Holder(Collector& out, const std::string& path, const SourceText& source)
      : index_(out.index()), out_(out), path_(path), source_(source) {}

  std::vector<bool> run() {
    is_only_file_ = files() == 1;
    for (size_t i = 0; i < index_.symbols.size(); ++i) {
      const model::Symbol& symbol = index_.symbols[i];
      if (is_of_text(symbol.file) && (has_place(symbol) || symbol.line > 0)) held_.push_back(i);
    }
    choose();
    if (named_ > 0 && 2 * best_fit_ <= named_) {  // most names must stand there
      out_.note("source-mismatch", fmt::format("{} of {} names stand in {} where the index has them: it is another version of the file, "
                                               "and is not used",
                                               best_fit_, named_, path_));
      return {};
    }
    std::vector<bool> stands(index_.symbols.size());
    for (const size_t i : held_) {
      settle(index_.symbols[i]);
      stands[i] = index_.symbols[i].line > 0;
    }
    if (!held_.empty()) record();
    return stands;
  }

 private:
  bool is_of_text(ir::StringId file) {
    const auto [found, fresh] = of_text_.try_emplace(static_cast<uint32_t>(file), false);
    if (fresh) found->second = is_only_file_ || file == ir::StringId::empty || same_file(index_.view(file), path_);
    return found->second;
  }
  /// Of an index of one file the text is a copy, whatever its name.
  size_t files() const {
    std::unordered_set<uint32_t> seen;
    for (const model::Symbol& symbol : index_.symbols) seen.insert(static_cast<uint32_t>(symbol.file));
    return seen.size();
  }

  bool fits(const model::Symbol& symbol, Counting counting) const {
    const std::string_view name = index_.view(symbol.name);
    if (!has_place(symbol)) return word_in(source_.line(symbol.line), name) != kNowhere;
    const size_t at = place_of(symbol, source_, counting);
    return at != kNowhere && source_.text().substr(at).starts_with(name);
  }

  void choose() {
    const auto& symbols = index_.symbols;
    named_ = std::ranges::count_if(held_, [&](size_t i) { return is_named(symbols[i]); });
    for (const Counting counting : countings(source_)) {
      const int64_t fit = std::ranges::count_if(held_, [&](size_t i) { return is_named(symbols[i]) && fits(symbols[i], counting); });
      if (fit > best_fit_) best_fit_ = fit, best_ = counting;
    }
  }

  /// A module's name does not stand in its text: its place is the empty one at the start.
  static bool is_named(const model::Symbol& symbol) {
    if (symbol.name == ir::StringId::empty) return false;
    const bool is_empty =
        symbol.begin_offset >= 0 ? symbol.begin_offset == symbol.end_offset : symbol.column > 0 && symbol.column == symbol.end_column;
    return !(is_empty && symbol.sort == model::SymbolSort::module);
  }

  void settle(model::Symbol& symbol) {
    const size_t at = has_place(symbol) ? place_of(symbol, source_, best_) : at_word(symbol);
    if (at == kNowhere) return;
    if (symbol.name == ir::StringId::empty) name_from_text(symbol, at);
    const std::string_view name = index_.view(symbol.name);
    if (!is_named(symbol) || !source_.text().substr(at).starts_with(name)) return;
    symbol.line = source_.line_of(at);
    symbol.column = static_cast<int32_t>(at - source_.line_begin(symbol.line)) + 1;
    symbol.end_column = symbol.column + static_cast<int32_t>(name.size());
    const size_t last = symbol.last_offset > 0 ? source_.at_offset(symbol.last_offset, best_) : kNowhere;
    if (last != kNowhere && last > 0) symbol.end_line = source_.line_of(last - 1);
  }

  /// Of a record that tells only its line.
  size_t at_word(const model::Symbol& symbol) const {
    const size_t column = word_in(source_.line(symbol.line), index_.view(symbol.name));
    return column == kNowhere ? kNowhere : source_.line_begin(symbol.line) + column;
  }

  void name_from_text(model::Symbol& symbol, size_t at) {
    const size_t end = symbol.begin_offset >= 0 ? source_.at_offset(symbol.end_offset, best_)
                                                : source_.at_column(symbol.line, symbol.end_column - 1, best_.unit);
    if (end == kNowhere || end <= at || end - at > 256) return;
    symbol.name = out_.intern(std::string(source_.text().substr(at, end - at)));
  }

  void record() {
    const bool has_offsets = std::ranges::any_of(held_, [&](size_t i) { return index_.symbols[i].begin_offset >= 0; });
    index_.text_path = path_;
    index_.newline = has_offsets ? text(best_.newline) : "";
    index_.unit = source_.is_ascii() ? "any" : std::string(text(best_.unit));
    index_.tested = named_;
    index_.fitted = best_fit_;
    const std::string lines = !has_offsets                               ? ""
                              : best_.newline == Counting::Newline::crlf ? " if its lines end with CR LF"
                                                                         : " if its lines end with LF";
    out_.note("places-checked", fmt::format("{} of {} names stand in {} where the index has them{}; counted in {}", best_fit_, named_,
                                            path_, lines, source_.is_ascii() ? "any unit, since the file is all ASCII" : index_.unit));
  }

  model::SymbolIndex& index_;
  Collector& out_;
  const std::string& path_;
  const SourceText& source_;
  std::vector<size_t> held_;  ///< records of this text
  std::unordered_map<uint32_t, bool> of_text_;
  Counting best_;
  int64_t best_fit_ = -1, named_ = 0;
  bool is_only_file_ = false;
};

int64_t characters(std::string_view name) {
  return std::ranges::count_if(name, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace

std::vector<bool> hold_against(Collector& out, const std::string& path, const SourceText& source) {
  return Holder(out, path, source).run();
}

void mend_spans(Collector& out) {
  model::SymbolIndex& index = out.index();
  int64_t mended = 0;
  for (model::Symbol& symbol : index.symbols) {
    const int64_t span = symbol.end_offset - symbol.begin_offset;
    if (symbol.begin_offset < 0 || span == 0 || symbol.sort != model::SymbolSort::parameter) continue;
    const std::string_view name = index.view(symbol.name);
    const int64_t length = index.unit == "bytes" ? static_cast<int64_t>(name.size()) : characters(name);
    if (span == length || length == 0) continue;
    symbol.end_offset = symbol.begin_offset + length;
    ++mended;
  }
  if (mended > 0)
    out.note("mended-spans",
             fmt::format("the spans of {} parameters are not as long as their names; they are mended to begin + length", mended));
}

}  // namespace importers::symbols
