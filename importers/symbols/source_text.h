// A source text against which records are held: where its lines begin, and how an index counts in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/symbol_index.h"

namespace importers::symbols {

/// How an index counts: line ends of the file that its tool saw, and what an offset or a column is a number of.
struct Counting {
  enum class Newline : uint8_t { lf, crlf } newline = Newline::lf;
  enum class Unit : uint8_t { bytes, characters, utf16 } unit = Unit::bytes;
};
std::string_view text(Counting::Newline newline);
std::string_view text(Counting::Unit unit);

/// The text with line ends LF, and its places.
class SourceText {
 public:
  explicit SourceText(std::string_view text);

  std::string_view text() const { return text_; }
  bool is_ascii() const { return is_ascii_; }
  int32_t lines() const { return static_cast<int32_t>(begins_.size()) - 1; }
  /// Of line `line` (from 1), without its end; empty beyond the text.
  std::string_view line(int32_t line) const;
  size_t line_begin(int32_t line) const { return begins_[static_cast<size_t>(line) - 1]; }
  int32_t line_of(size_t at) const;

  /// The byte of text() that an offset of the whole file means; npos if there is none, as between CR and LF.
  size_t at_offset(int64_t offset, Counting counting) const;
  /// The same of a column (from 0) in a line (from 1).
  size_t at_column(int32_t line, int64_t column, Counting::Unit unit) const;

 private:
  int64_t unit_begin(int32_t line, Counting counting) const;

  std::string text_;
  std::vector<size_t> begins_;               ///< of the lines, and the end
  std::vector<int64_t> characters_, utf16_;  ///< the same in these units; empty if all is ASCII
  bool is_ascii_ = true;
};

}  // namespace importers::symbols
