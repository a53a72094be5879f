// The cursor. Every move is bounded by what it passes over, so that a reader which never goes back is linear.
#include "importers/paddle/cursor.h"

#include <fmt/format.h>

#include <charconv>

#include "src/base/text.h"

namespace importers::paddle {
namespace {

constexpr size_t kDeepestGroup = 256;

bool is_quote(char c) { return c == '"' || c == '\''; }

char partner(char open) {
  switch (open) {
    case '(':
      return ')';
    case '[':
      return ']';
    case '{':
      return '}';
    case '<':
      return '>';
    default:
      return '\0';
  }
}

}  // namespace

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

Cursor& Cursor::skip_blanks() {
  while (peek() == ' ' || peek() == '\t' || peek() == '\r') ++at_;
  return *this;
}

Cursor& Cursor::skip_space() {
  while (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n') ++at_;
  return *this;
}

bool Cursor::take(char c) {
  if (at_end() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool Cursor::take(std::string_view word) {
  if (!rest().starts_with(word)) return false;
  at_ += word.size();
  return true;
}

std::string_view Cursor::word(std::string_view also) {
  const size_t begin = at_;
  while (!at_end() && (is_word(text_[at_]) || also.find(text_[at_]) != std::string_view::npos)) ++at_;
  return since(begin);
}

std::optional<int64_t> Cursor::integer() {
  int64_t value = 0;
  const char* end = text_.data() + text_.size();
  const auto [stop, failure] = std::from_chars(text_.data() + at_, end, value);
  if (failure != std::errc()) return std::nullopt;
  at_ = static_cast<size_t>(stop - text_.data());
  return value;
}

std::optional<std::string_view> Cursor::quoted() {
  const char quote = peek();
  if (!is_quote(quote)) return std::nullopt;
  for (size_t i = at_ + 1; i < text_.size() && text_[i] != '\n'; ++i) {
    if (text_[i] == '\\') {
      ++i;
    } else if (text_[i] == quote) {
      const std::string_view inside = text_.substr(at_ + 1, i - at_ - 1);
      at_ = i + 1;
      return inside;
    }
  }
  return std::nullopt;
}

std::string_view Cursor::group() {
  const size_t begin = at_;
  std::string closing;
  while (!at_end()) {
    const char c = text_[at_];
    if (c == '"' && !quoted()) break;
    if (c == '"') continue;
    ++at_;
    if (const char close = partner(c); close != '\0') {
      if (closing.size() == kDeepestGroup) break;
      closing.push_back(close);
    } else if (!closing.empty() && c == closing.back() && !(c == '>' && text_[at_ - 2] == '-')) {
      closing.pop_back();
      if (closing.empty()) return since(begin);
    }
    if (closing.empty()) break;
  }
  at_ = begin;
  return {};
}

std::string_view Cursor::line() const {
  const std::string_view here = rest().substr(0, rest().find('\n'));
  const size_t last = here.find_last_not_of(" \t\r");
  return last == std::string_view::npos ? std::string_view() : here.substr(0, last + 1);
}

void Cursor::skip_line() {
  const size_t newline = text_.find('\n', at_);
  at_ = newline == std::string_view::npos ? text_.size() : newline + 1;
}

base::Error Cursor::error(size_t offset, std::string_view what) const { return base::error_at(source_, text_, offset, what); }

std::string Cursor::found() const {
  if (at_end()) return "the end of the text";
  if (text_[at_] == '\n') return "the end of the line";
  return fmt::format("'{}'", base::escaped(rest().substr(0, std::min<size_t>(line().size(), 24))));
}

}  // namespace importers::paddle
