// The cursor. Character classes are one table, so that the inner loops are a load and a test.
#include "importers/hlo/lexer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "src/base/text.h"

namespace importers::hlo {
namespace {

enum : uint8_t { kSpace = 1, kStart = 2, kContinue = 4, kPlain = 8, kBare = 16 };
constexpr size_t kShown = 24;  ///< bytes of the text that a message repeats

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  for (const char c : {' ', '\t', '\r', '\n'}) classes[static_cast<uint8_t>(c)] = kSpace;
  for (size_t c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = kStart | kContinue;
  for (size_t c = '0'; c <= '9'; ++c) classes[c] = kContinue;
  classes['_'] = kStart | kContinue;
  classes['.'] = classes['-'] = kContinue;
  for (uint8_t& c : classes) c |= (c & kContinue) != 0 ? kBare : 0;
  classes['>'] = kBare;
  for (size_t c = '!'; c < 0x7f; ++c) {
    if (std::string_view("\"'/()[]{}").find(static_cast<char>(c)) == std::string_view::npos) classes[c] |= kPlain;
  }
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = make_classes();

uint8_t class_of(char c) { return kClasses[static_cast<uint8_t>(c)]; }
bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

}  // namespace

bool is_space(char c) { return class_of(c) == kSpace; }
bool starts_word(char c) { return (class_of(c) & kStart) != 0; }
bool continues_word(char c) { return (class_of(c) & kContinue) != 0; }

bool Lexer::skip_comment() {
  if (raw(1) == '/') {
    const size_t newline = text_.find('\n', at_);
    at_ = newline == std::string_view::npos ? text_.size() : newline;
    return true;
  }
  if (raw(1) != '*') return false;
  const size_t end = text_.find("*/", at_ + 2);
  if (end == std::string_view::npos) {
    error_ = "this comment has no end; add '*/'";
    return false;
  }
  at_ = end + 2;
  return true;
}

void Lexer::skip_more() {
  while (at_ < text_.size()) {
    if (is_space(text_[at_]))
      ++at_;
    else if (text_[at_] != '/' || !skip_comment())
      return;
  }
}

bool Lexer::take(std::string_view punctuation) {
  skip();
  if (!text_.substr(at_).starts_with(punctuation)) return false;
  at_ += punctuation.size();
  return true;
}

bool Lexer::take_word(std::string_view expected) {
  skip();
  const size_t begin = at_;
  if (word() == expected) return true;
  at_ = begin;
  return false;
}

std::string_view Lexer::word() {
  skip();
  if (!starts_word(raw())) return {};
  const size_t begin = at_;
  size_t end = begin + 1;
  while (end < text_.size() && continues_word(text_[end])) ++end;
  if (end < text_.size() && text_[end] == '>' && text_[end - 1] == '-') --end;  // begins an arrow: `f->g`
  at_ = end;
  return text_.substr(begin, end - begin);
}

std::string_view Lexer::name() {
  skip();
  const size_t begin = at_;
  if (raw() == '%' && starts_word(raw(1))) ++at_;
  const std::string_view result = word();
  if (result.empty()) at_ = begin;
  return result;
}

std::optional<int64_t> Lexer::integer() {
  skip();
  int64_t value = 0;
  const char* begin = text_.data() + at_;
  const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (code != std::errc()) return std::nullopt;
  at_ += static_cast<size_t>(end - begin);
  return value;
}

std::string_view Lexer::quoted() {
  const char quote = peek();
  if (quote != '"' && quote != '\'') return {};
  for (size_t end = text_.find(quote, at_ + 1); end != std::string_view::npos; end = text_.find(quote, end + 1)) {
    size_t escapes = 0;
    while (text_[end - 1 - escapes] == '\\') ++escapes;  // ends at the opening quote
    if (escapes % 2 != 0) continue;
    const std::string_view result = text_.substr(at_, end + 1 - at_);
    at_ = end + 1;
    return result;
  }
  return {};
}

std::string_view Lexer::run_of(uint8_t classes) {
  const size_t begin = at_;
  size_t end = begin;
  while (end < text_.size() && (class_of(text_[end]) & classes) != 0) ++end;
  at_ = end;
  return text_.substr(begin, end - begin);
}

std::string_view Lexer::plain_run() { return run_of(kPlain); }
std::string_view Lexer::bare_run() { return run_of(kBare); }

std::string_view Lexer::group() {
  skip();
  const size_t begin = at_;
  int64_t depth = 0;
  while (!at_end()) {
    const char c = raw();
    if (c == '"' || c == '\'') {
      if (quoted().empty()) break;
    } else if (c == '/') {
      if (!skip_comment()) break;
    } else {
      depth += opens(c) ? 1 : closes(c) ? -1 : 0;
      ++at_;
      if (depth == 0) return text_.substr(begin, at_ - begin);
      plain_run();
    }
  }
  at_ = begin;
  return {};
}

std::string_view Lexer::dictionary() {
  int64_t depth = 0;
  bool in_string = false;
  for (size_t i = at_; i < text_.size(); ++i) {
    const char c = text_[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      const std::string_view result = text_.substr(at_, i + 1 - at_);
      at_ = i + 1;
      return result;
    }
  }
  return {};
}

std::string Lexer::found() {
  skip();
  if (at_end()) return "the end of the text";
  if (raw() == '\0') return "a NUL byte";
  const size_t begin = at_;
  std::string_view shown = name();
  while (shown.empty() && (continues_word(raw()) || raw() == '+')) ++at_;  // a number
  if (at_ > begin)
    shown = text_.substr(begin, at_ - begin);
  else
    shown = text_.substr(begin, 1);
  at_ = begin;
  if (shown.size() > kShown) return fmt::format("'{}…'", base::escaped(shown.substr(0, kShown)));
  return fmt::format("'{}'", base::escaped(shown));
}

}  // namespace importers::hlo
