// A record is cut from both ends: names stand first and hold no ">> <<"; types may hold anything, so kind and role are found from behind.
#include "importers/symbols/angle.h"

#include <fmt/format.h>

#include <charconv>

#include "importers/symbols/collector.h"
#include "importers/symbols/finish.h"
#include "importers/symbols/lines.h"
#include "src/base/text.h"

namespace importers::symbols {
namespace {

constexpr std::string_view kBetween = ">> <<";

struct Record {
  std::string_view name, type, kind, role;
  int32_t line = 0;
  int64_t begin = 0, end = 0;
  std::string_view wrong;  ///< what does not fit; empty: nothing
  size_t at = 0;           ///< where, in the line
};

Record wrong(std::string_view what, size_t at) {
  Record record;
  record.wrong = what;
  record.at = at;
  return record;
}

template <typename Number>
bool take_number(std::string_view& text, Number& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || value < 0) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

Record read_record(std::string_view line) {
  if (!line.starts_with("<<") || !line.ends_with(">>")) return wrong("expected <<name>> <<line:begin-end>> <<type>> <<kind>> <<role>>", 0);
  Record record;
  const std::string_view inner = line.substr(2, line.size() - 4);
  const size_t name = inner.find(kBetween);
  if (name == std::string_view::npos) return wrong("expected '>> <<' after the name", 2);
  const size_t place = inner.find(kBetween, name + kBetween.size());
  if (place == std::string_view::npos) return wrong("expected '>> <<' after the place", name + 2);
  const size_t role = inner.rfind(kBetween);
  const size_t kind = role == 0 ? std::string_view::npos : inner.rfind(kBetween, role - 1);
  if (kind == std::string_view::npos || kind <= place) return wrong("expected type, kind and role after the place", place + 2);
  record.name = inner.substr(0, name);
  std::string_view numbers = inner.substr(name + kBetween.size(), place - name - kBetween.size());
  const bool read = take_number(numbers, record.line) && take(numbers, ':') && take_number(numbers, record.begin) && take(numbers, '-') &&
                    take_number(numbers, record.end) && numbers.empty();
  if (!read || record.end < record.begin)  // line 0: not known
    return wrong("expected line:begin-end", name + kBetween.size() + 2);
  record.type = inner.substr(place + kBetween.size(), kind - place - kBetween.size());
  record.kind = inner.substr(kind + kBetween.size(), role - kind - kBetween.size());
  record.role = inner.substr(role + kBetween.size());
  if (record.role != "ANCHOR" && record.role != "LINK") return wrong("expected the role ANCHOR or LINK", role + kBetween.size() + 2);
  return record;
}

void add(Collector& out, const Record& record) {
  model::Symbol symbol;
  symbol.name = out.intern(record.name);
  symbol.kind = out.intern(record.kind);
  symbol.type = out.intern(record.type);
  symbol.role = record.role == "ANCHOR" ? model::SymbolRole::definition : model::SymbolRole::reference;
  symbol.sort = sort_of(record.kind);
  symbol.line = record.line;
  symbol.begin_offset = record.begin;
  symbol.end_offset = record.end;
  out.add(symbol);
}

/// A cursor over a type. Depth is bounded: types of generated code nest without end.
class TypeReader {
 public:
  explicit TypeReader(std::string_view text) : rest_(text) {}

  bool read() { return alternatives(0) && (skip(), rest_.empty()); }
  const std::string& text() const { return out_; }

 private:
  static constexpr int kDeepest = 64;

  void skip() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  bool take_word(std::string_view word) {
    skip();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// T { / T }, where a T may be a function: A -> B.
  bool alternatives(int depth) {
    do {
      if (!arrow(depth)) return false;
    } while (take_word("/") && (out_ += " / ", true));
    return true;
  }
  bool arrow(int depth) {
    if (!single(depth)) return false;
    return !take_word("->") || (out_ += " -> ", arrow(depth + 1));
  }
  bool list(int depth, char open, char close, std::string_view separator, std::string_view spelled) {
    if (!take_word(std::string_view(&open, 1))) return false;
    out_ += open;
    for (bool first = true; !take_word(std::string_view(&close, 1)); first = false) {
      if (!first && !take_word(separator) && !(separator == "|" && take_word("||"))) return false;
      if (separator == "|") take_word("|");
      if (!first) out_ += spelled;
      if (!alternatives(depth)) return false;
      if (open == '{' && take_word(":") && (out_ += " : ", !alternatives(depth))) return false;
    }
    out_ += close;
    return true;
  }
  bool single(int depth) {
    if (depth > kDeepest) return false;
    skip();
    switch (rest_.empty() ? '\0' : rest_.front()) {
      case '[':
        return list(depth + 1, '[', ']', ",", ", ");
      case '(':
        return list(depth + 1, '(', ')', ",", ", ");
      case '{':
        return list(depth + 1, '{', '}', "|", " | ");
      case '<':
        return list(depth + 1, '<', '>', ",", ", ");
      default:
        return name();
    }
  }
  bool name() {
    const size_t end = std::min(rest_.find_first_of("[](){}<>|/:, "), rest_.find("->"));
    const std::string_view word = rest_.substr(0, end);
    if (word.empty()) return false;
    out_ += word;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string_view rest_;
  std::string out_;
};

}  // namespace

std::optional<std::string> canonical_type(std::string_view type) {
  TypeReader reader(type);
  if (!reader.read()) return std::nullopt;
  return reader.text();
}

Match match_angle(const Input& input) {
  Match match{Match::none, "no line is <<name>> <<line:begin-end>> <<type>> <<kind>> <<role>>"};
  int lines = 0;
  each_line(input.bytes.substr(0, size_t{1} << 16), [&](const Line& line) {
    if (!line.text.starts_with("<<")) return ++lines < 20;
    const Record record = read_record(line.text);
    if (record.wrong.empty())
      match = {Match::sure, "a line is <<name>> <<line:begin-end>> <<type>> <<kind>> <<role>>"};
    else
      match = {Match::weak, fmt::format("a line begins with <<, but: {}", record.wrong)};
    return match.how != Match::sure && ++lines < 20;
  });
  return match;
}

base::Result<model::Imported> read_angle(const Input& input, const TakeModule&) {
  Collector out(input, "symbols");
  out.index().tool = "PySonar2";
  int64_t odd_types = 0;
  ir::StringId checked{};  // types repeat: the last one need not be read again
  each_line(input.bytes, [&](const Line& line) {
    const Record record = read_record(line.text);
    if (!record.wrong.empty()) return out.drop(line.begin + record.at, record.wrong), !out.full();
    add(out, record);
    const ir::StringId type = out.index().symbols.back().type;
    if (type != checked && !canonical_type(record.type)) ++odd_types;
    checked = type;
    return !out.full();
  });
  if (odd_types > 0)
    out.note("unknown-type", fmt::format("{} records have a type that is in neither grammar; it is kept as it stands", odd_types));
  return finish(out, input);
}

}  // namespace importers::symbols
