// One cursor over the text. A list in brackets is a bracket of its own in which every value has the list's name again, so that
// `dim: [8, 16]` and `dim: 8 dim: 16` give the same events.
#include "importers/tensorflow/text_proto.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "src/base/text.h"

namespace importers::tensorflow {
namespace {

/// Characters that are passed over one by one: a table, for most of a text is made of them.
using Characters = std::array<bool, 256>;
constexpr Characters characters(std::string_view all) {
  Characters are{};
  for (const char c : all) are[static_cast<unsigned char>(c)] = true;
  return are;
}
constexpr Characters kWord = characters("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+/");
constexpr Characters kSpace = characters(" \n\t\r\f\v");

/// The first place from `at` on whose character is none of these.
size_t behind(std::string_view text, size_t at, const Characters& are) {
  while (at < text.size() && are[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

/// Bytes that a simple escape stands for.
constexpr std::string_view kEscapes = "n\nt\tr\ra\ab\bf\fv\v";

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char low = static_cast<char>(c | 32);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : 99;
}

/// Reads what follows a backslash at `at`, and moves behind it.
char escape(std::string_view text, size_t& at) {
  const char c = text[at++];
  const bool hex = c == 'x' || c == 'X';
  const int base = hex ? 16 : 8;
  if (hex || digit(c) < 8) {
    int code = hex ? 0 : digit(c);
    for (int digits = hex ? 0 : 1; digits < (hex ? 2 : 3) && at < text.size() && digit(text[at]) < base; ++digits) {
      code = code * base + digit(text[at++]);
    }
    return static_cast<char>(code);
  }
  for (size_t i = 0; i < kEscapes.size(); i += 2) {
    if (kEscapes[i] == c) return kEscapes[i + 1];
  }
  return c;
}

std::string found(std::string_view text, size_t at) {
  if (at >= text.size()) return "the end of the text";
  return fmt::format("'{}'", base::escaped(text.substr(at, 1)));
}

}  // namespace

bool is_quoted(std::string_view value) { return !value.empty() && (value[0] == '"' || value[0] == '\''); }

std::string unquoted(std::string_view value) {
  if (!is_quoted(value)) return std::string(value);
  if (value.find('\\') == value.npos && value.find(value[0], 1) == value.size() - 1) return std::string(value.substr(1, value.size() - 2));
  std::string result;
  result.reserve(value.size());
  char quote = 0;
  for (size_t at = 0; at < value.size();) {
    const char c = value[at++];
    if (quote == 0) {
      if (c == '"' || c == '\'') quote = c;  // between strings side by side stand blanks alone
    } else if (c == quote) {
      quote = 0;
    } else {
      result += c == '\\' && at < value.size() ? escape(value, at) : c;
    }
  }
  return result;
}

std::optional<int64_t> whole(std::string_view value) {
  const bool negative = value.starts_with('-');
  if (negative || value.starts_with('+')) value.remove_prefix(1);
  const bool hex = value.starts_with("0x") || value.starts_with("0X");
  if (hex) value.remove_prefix(2);
  uint64_t number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number, hex ? 16 : 10);
  if (code != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - number : number);
}

std::optional<double> real(std::string_view value) {
  const bool negative = value.starts_with('-');
  if (negative || value.starts_with('+')) value.remove_prefix(1);
  if (value.size() > 1 && (value.ends_with('f') || value.ends_with('F')) && !value.ends_with("inf")) value.remove_suffix(1);
  double number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (end != value.data() + value.size() || value.empty()) return std::nullopt;
  if (code == std::errc::result_out_of_range) number = value.find("e-") == value.npos ? std::numeric_limits<double>::infinity() : 0;
  return negative ? -number : number;
}

const Field* Message::find(std::string_view name) const {
  const Field* last = nullptr;
  each([&](const Field& field, Message) { last = field.name == name ? &field : last; });
  return last;
}

Message Message::message(std::string_view name) const {
  const Field* field = find(name);
  if (field == nullptr) return {};
  return Message(rows_.subspan(static_cast<size_t>(field - rows_.data()) + 1, field->size - 1));
}

std::string_view Message::word(std::string_view name) const {
  const Field* field = find(name);
  return field == nullptr ? std::string_view() : field->value;
}

std::string Message::text(std::string_view name) const { return unquoted(word(name)); }
int64_t Message::integer(std::string_view name, int64_t otherwise) const { return whole(word(name)).value_or(otherwise); }
double Message::number(std::string_view name, double otherwise) const { return real(word(name)).value_or(otherwise); }

base::Error TextProto::error() const { return base::error_at(path_, text_, std::min(at_, text_.size()), wrong_); }

TextProto::Event TextProto::fail(std::string what) {
  if (wrong_.empty()) wrong_ = std::move(what);
  return Event::bad;
}

void TextProto::skip_space() {
  at_ = behind(text_, at_, kSpace);
  while (at_ < text_.size() && text_[at_] == '#') at_ = behind(text_, std::min(text_.find('\n', at_), text_.size()), kSpace);
}

bool TextProto::take(char c) {
  skip_space();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

std::string_view TextProto::word() {
  const size_t begin = std::exchange(at_, behind(text_, at_, kWord));
  return text_.substr(begin, at_ - begin);
}

/// Passes over strings side by side; false if the text ends in one or none stands here.
bool TextProto::quoted() {
  size_t end = at_;
  while (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
    const char quote = text_[at_];
    size_t last = at_ + 1;
    for (; last < text_.size() && text_[last] != quote && text_[last] != '\n'; ++last) last += text_[last] == '\\';
    at_ = last;
    if (at_ >= text_.size() || text_[at_] != quote) return fail("a string does not end; dump the program again"), false;
    end = ++at_;
    skip_space();
  }
  at_ = end;
  return true;
}

TextProto::Event TextProto::close(char bracket) {
  if (open_.empty() || open_.back() != bracket) return fail(fmt::format("'{}' closes nothing that is open", bracket));
  ++at_;
  open_.pop_back();
  return Event::close;
}

/// What follows a name (or stands in a list): a message, a scalar, or the start of a list, which is no event.
std::optional<TextProto::Event> TextProto::value() {
  skip_space();
  const char c = at_ < text_.size() ? text_[at_] : '\0';
  if (c == '{' || c == '<' || c == '[') {
    if (open_.size() >= kDeepest) return fail(fmt::format("messages lie deeper than {}", kDeepest));
    if (c == '[' && !open_.empty() && open_.back() == ']') return fail("a list lies in a list");
    ++at_;
    open_ += c == '{' ? '}' : c == '<' ? '>' : ']';
    if (c == '[') return lists_.push_back(field_.name), std::nullopt;
    field_.is_message = true;
    field_.value = {};
    return Event::open;
  }
  const size_t begin = at_;
  if (is_quoted(text_.substr(begin, 1)) ? !quoted() : word().empty()) {
    return fail(fmt::format("expected a value, got {}", found(text_, at_)));
  }
  field_.is_message = false;
  field_.value = text_.substr(begin, at_ - begin);
  return Event::scalar;
}

TextProto::Event TextProto::next() {
  if (!wrong_.empty()) return Event::bad;
  while (true) {
    skip_space();
    if (at_ >= text_.size()) return open_.empty() ? Event::end : fail("the text ends inside a message; dump the program again");
    const char c = text_[at_];
    if (c == ',' || c == ';') {
      ++at_;
    } else if (c == '}' || c == '>') {
      return close(c);
    } else if (c == ']') {
      if (close(c) == Event::bad) return Event::bad;
      lists_.pop_back();
    } else if (const std::optional<Event> event = !open_.empty() && open_.back() == ']' ? next_in_list() : next_field()) {
      return *event;
    }
  }
}

std::optional<TextProto::Event> TextProto::next_in_list() {
  field_ = {};
  field_.name = lists_.back();
  field_.at = at_;
  return value();
}

/// Nothing where a debug marker or the start of a list stands.
std::optional<TextProto::Event> TextProto::next_field() {
  field_ = {};
  field_.at = at_;
  const bool bracketed = take('[');
  field_.name = word();
  if (field_.name.empty() || (bracketed && !take(']'))) return fail(fmt::format("expected a field's name, got {}", found(text_, at_)));
  if (take(':')) return value();
  if (at_ < text_.size() && (text_[at_] == '{' || text_[at_] == '<')) return value();
  if (field_.name.find('/') != field_.name.npos) return std::nullopt;
  return fail(fmt::format("expected ':' or '{{' after '{}', got {}", base::escaped(field_.name), found(text_, at_)));
}

bool TextProto::open_message() {
  const bool brace = take('{');
  if (!brace && !take('<')) return fail("expected '{'"), false;
  open_ += brace ? '}' : '>';
  return true;
}

base::Status TextProto::skip() {
  for (const size_t outside = open_.size() - 1; open_.size() > outside;) {
    if (next() == Event::bad) return error();
  }
  return {};
}

base::Result<Message> TextProto::message() {
  rows_.clear();
  parents_.clear();
  while (true) {
    const Event event = next();
    if (event == Event::bad || event == Event::end) return error();
    if (event == Event::close) {
      if (parents_.empty()) return Message(rows_);
      rows_[parents_.back()].size = static_cast<uint32_t>(rows_.size() - parents_.back());
      parents_.pop_back();
      continue;
    }
    if (event == Event::open) parents_.push_back(rows_.size());
    rows_.push_back(field_);
  }
}

}  // namespace importers::tensorflow
