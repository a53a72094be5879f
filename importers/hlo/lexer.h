// A cursor over HLO text: skips space and comments, and knows words, numbers, strings and balanced groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace importers::hlo {

class Lexer {
 public:
  explicit Lexer(std::string_view text, size_t at = 0) : text_(text), at_(at) {}

  std::string_view text() const { return text_; }
  size_t at() const { return at_; }
  void move_to(size_t offset) { at_ = offset; }
  bool at_end() const { return at_ >= text_.size(); }

  /// Moves over white space and comments. An unclosed comment stops it: error() says so.
  void skip() {
    if (!at_end() && text_[at_] == ' ') ++at_;
    if (!at_end() && (text_[at_] <= ' ' || text_[at_] == '/')) skip_more();
  }
  /// The byte at the cursor without skipping; 0 at the end.
  char raw(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  /// The next byte after white space.
  char peek() { return skip(), raw(); }
  bool take(char c) {
    if (peek() != c || at_end()) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view punctuation);
  /// The given word, if it stands next and is not the beginning of a longer one.
  bool take_word(std::string_view word);
  /// `[A-Za-z_][A-Za-z0-9_.-]*`, or "" (nothing moves).
  std::string_view word();
  /// A word after an optional '%'.
  std::string_view name();
  std::optional<int64_t> integer();
  /// The raw text of a string with its quotes, or "" if it has no end (the cursor stays).
  std::string_view quoted();
  /// From an opening bracket to its partner: brackets in strings and comments don't count. "" if unbalanced.
  std::string_view group();
  /// The bytes up to the next one that a value may not simply have copied: white space, a quote, a bracket, a comment.
  std::string_view plain_run();
  /// A word, a number or `b01f->bf01`: letters, digits and "_.->" in any order.
  std::string_view bare_run();
  /// From '{' to its partner, counting braces outside double-quoted strings only: JSON and MLIR dictionaries. "" if unbalanced.
  std::string_view dictionary();

  /// What the next thing is, for "expected x, got …".
  std::string found();
  /// Set when the text itself is broken: an unclosed comment, a NUL byte.
  std::string_view error() const { return error_; }

 private:
  void skip_more();
  std::string_view run_of(uint8_t classes);
  bool skip_comment();
  std::string_view text_;
  size_t at_;
  std::string_view error_;
};

bool is_space(char c);
bool starts_word(char c);
bool continues_word(char c);

}  // namespace importers::hlo
