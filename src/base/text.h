// Text with places: positions of errors, names that are near, and numbers with three digits and a unit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/base/result.h"

namespace base {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Place {
  int64_t line = 1, column = 1;
};  ///< both from 1; a column counts bytes

Place place_of(std::string_view text, size_t offset);
/// "dump.hlo:12:7: expected ')', got '%x'" and below it the source line (cut around the place if long) and a caret.
Error error_at(std::string_view source, std::string_view text, size_t offset, std::string_view what);

/// Without the bytes of `blanks` at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n");

/// The candidate nearest to `word` (edit distance ≤ 1/3 of its length), or "" when none is near: "did you mean …?"
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// Bytes that are not printable (controls, broken UTF-8) as escapes: safe on a terminal, never more than one line.
std::string escaped(std::string_view bytes);
/// The same without a copy where nothing needs an escape, as in most names. The bytes must stay while the text is used.
class Shown {
 public:
  explicit Shown(std::string_view bytes);
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  operator std::string_view() const { return text_; }
  std::string_view text() const { return text_; }

 private:
  std::string made_;
  std::string_view text_;
};

std::string human_bytes(double bytes);      ///< "1.50 GB" (powers of ten)
std::string human_seconds(double seconds);  ///< "12.3 ms"

}  // namespace base
