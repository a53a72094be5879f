// One pass over the characters: strings, comments and brackets are skipped, which leaves the logical lines; a block lasts until a logical
// line that is indented no deeper than its head.
#include "importers/symbols/python.h"
#include "src/base/text.h"

#include <algorithm>

namespace importers::symbols {
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

namespace {

std::string_view first_word(std::string_view text) {
  return text.substr(0, static_cast<size_t>(std::ranges::find_if_not(text, is_word) - text.begin()));
}

/// The word that ends `text`, spaces behind it left out.
std::string_view last_word(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  size_t begin = text.size();
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return text.substr(begin);
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  PythonText run() {
    while (at_ < text_.size()) step();
    end_statement();
    close(-1);
    return std::move(found_);
  }

 private:
  static constexpr size_t kLongestName = 256;  ///< how far back a call's name or keyword is looked for
  struct Open {
    int32_t block = 0, indent = 0;
  };

  void step() {
    const char c = text_[at_];
    if (c == '\n') return newline();
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    }
    if (c == '\\') return skip_escape();
    if (c != ' ' && c != '\t' && c != '\r' && !in_statement_) begin_statement();
    if (c == '"' || c == '\'') return string(c);
    if (c == '(' || c == '[' || c == '{') ++brackets_;
    if ((c == ')' || c == ']' || c == '}') && brackets_ > 0) --brackets_;
    ++at_;
  }

  void newline() {
    if (brackets_ == 0) end_statement();
    ++at_;
    ++line_;
    if (!in_statement_) line_begin_ = at_;
  }

  /// A backslash joins lines; elsewhere it means nothing here.
  void skip_escape() {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_, ++line_;
  }

  void begin_statement() {
    in_statement_ = true;
    statement_ = at_;
    const int32_t indent = indentation();
    close(indent);
    std::string_view rest = text_.substr(at_, 4096);
    if (first_word(rest) == "async") rest = base::trimmed(rest.substr(5));
    const std::string_view word = first_word(rest);
    if (word != "def" && word != "class") return;
    const std::string_view name = first_word(base::trimmed(rest.substr(word.size())));
    if (name.empty()) return;
    const int32_t parent = open_.empty() ? -1 : open_.back().block;
    open_.push_back({static_cast<int32_t>(found_.blocks.size()), indent});
    found_.blocks.push_back({name, line_, line_, parent, word == "class"});
  }

  void end_statement() {
    if (in_statement_) last_line_ = line_;
    in_statement_ = false;
  }

  /// Ends the blocks that a statement at `indent` does not belong to.
  void close(int32_t indent) {
    for (; !open_.empty() && open_.back().indent >= indent; open_.pop_back()) {
      found_.blocks[static_cast<size_t>(open_.back().block)].end_line =
          std::max(last_line_, found_.blocks[static_cast<size_t>(open_.back().block)].line);
    }
  }

  int32_t indentation() const {
    int32_t columns = 0;
    for (size_t i = line_begin_; i < at_; ++i) columns = text_[i] == '\t' ? columns / 8 * 8 + 8 : columns + 1;
    return columns;
  }

  void string(char quote) {
    const size_t begin = at_;
    const int32_t line = line_;
    const bool is_long = text_.substr(at_).starts_with(quote == '"' ? "\"\"\"" : "'''");
    at_ += is_long ? 3 : 1;
    const size_t inside = at_;
    while (at_ < text_.size() && !ends_string(quote, is_long)) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      if (text_[at_] == '\n') ++line_;
      ++at_;
    }
    if (!is_long) keep_literal(begin, {{}, text_.substr(inside, at_ - inside), line});
    at_ = std::min(text_.size(), at_ + (is_long ? 3 : at_ < text_.size() && text_[at_] == quote ? 1 : 0));
  }

  bool ends_string(char quote, bool is_long) const {
    if (!is_long) return text_[at_] == quote || text_[at_] == '\n';  // a short string that is not closed ends with its line
    return text_[at_] == quote && text_.substr(at_).starts_with(quote == '"' ? "\"\"\"" : "'''");
  }

  /// Keeps NAME = "value", name="value", scope="value" and …scope("value").
  void keep_literal(size_t begin, Literal literal) {
    if (literal.value.empty()) return;
    const size_t from = std::max(statement_, begin - std::min(begin, kLongestName));
    std::string_view before = text_.substr(from, begin - from);
    before = before.substr(0, before.find_last_not_of(" \t\r\n") + 1);
    if (before.ends_with('=') && !before.ends_with("==")) {
      before.remove_suffix(1);
      literal.name = last_word(before);
      const bool assigns = brackets_ == 0 && literal.name == base::trimmed(before);
      const bool named = literal.name == "name" || literal.name.ends_with("scope");
      if (brackets_ > 0) literal.name = {};
      if ((assigns && !literal.name.empty()) || (brackets_ > 0 && named)) found_.literals.push_back(literal);
    } else if (before.ends_with('(')) {
      before.remove_suffix(1);
      if (last_word(before).ends_with("scope")) found_.literals.push_back(literal);
    }
  }

  std::string_view text_;
  PythonText found_;
  std::vector<Open> open_;
  size_t at_ = 0, line_begin_ = 0, statement_ = 0;
  int32_t line_ = 1, last_line_ = 1;
  int brackets_ = 0;
  bool in_statement_ = false;
};

}  // namespace

PythonText read_python(std::string_view text) { return Scanner(text).run(); }

}  // namespace importers::symbols
