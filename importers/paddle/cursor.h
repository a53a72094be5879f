// A cursor over the text of a Paddle program: blanks, words, Python strings, balanced groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/result.h"

namespace importers::paddle {

class Cursor {
 public:
  Cursor(std::string_view text, std::string_view source, size_t at = 0) : text_(text), source_(source), at_(at) {}

  std::string_view text() const { return text_; }
  std::string_view source() const { return source_; }
  size_t at() const { return at_; }
  bool at_end() const { return at_ >= text_.size(); }
  void move_to(size_t offset) { at_ = offset < text_.size() ? offset : text_.size(); }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view since(size_t begin) const { return text_.substr(begin, at_ - begin); }

  Cursor& skip_blanks();  ///< within the line
  Cursor& skip_space();   ///< over lines too
  bool take(char c);
  bool take(std::string_view word);
  /// Letters, digits and the bytes of `also`.
  std::string_view word(std::string_view also = "_");
  std::optional<int64_t> integer();
  /// A string in single or double quotes, without them; escapes stay as written. Nothing if it has no end in its line.
  std::optional<std::string_view> quoted();
  /// From an opening bracket to its partner, of any of the four kinds; brackets in strings don't count. "" if it has none.
  std::string_view group();
  /// Up to the end of the line, without its break and the blanks before it; the cursor stays.
  std::string_view line() const;
  void skip_line();

  base::Error error(std::string_view what) const { return error(at_, what); }
  base::Error error(size_t offset, std::string_view what) const;
  /// What stands here, for "expected x, got …".
  std::string found() const;

 private:
  std::string_view text_, source_;
  size_t at_;
};

bool is_word(char c);  ///< a letter, a digit or '_'

}  // namespace importers::paddle
