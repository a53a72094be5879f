// Protobuf text, whatever its messages are: events for what is large, trees for what is small.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"

namespace importers::tensorflow {

/// A field, and behind it in one row the fields of its message.
struct Field {
  std::string_view name;
  std::string_view value;  ///< of scalars, as written: "8", "DT_FLOAT", "\"a\\000\""; several strings side by side are one value
  uint32_t size = 1;       ///< rows of the field and of all that it holds
  bool is_message = false;
  size_t at = 0;  ///< of the name in the text
};

/// The fields of a message in the order of the text.
class Message {
 public:
  Message() = default;
  explicit Message(std::span<const Field> rows) : rows_(rows) {}

  /// Calls `each(field, message)` for its own fields; the message is empty where the field is a scalar.
  template <typename Each>
  void each(Each each) const {
    for (size_t i = 0; i < rows_.size(); i += rows_[i].size) each(rows_[i], Message(rows_.subspan(i + 1, rows_[i].size - 1)));
  }
  /// The last field of that name, as protobuf decides; nullptr: none.
  const Field* find(std::string_view name) const;
  Message message(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Of a string or a word, without quotes and escapes; "" if there is none.
  std::string text(std::string_view name) const;
  std::string_view word(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise = 0) const;
  double number(std::string_view name, double otherwise = 0) const;

 private:
  std::span<const Field> rows_;
};

/// Walks over protobuf text. Path and text must outlive it. Known: comments, `{…}` and `<…>`, `[a, b]` for repetition, separators,
/// extension names in brackets, and the words with a slash that debug output puts at the start of a message (goo.gle/debugproto).
class TextProto {
 public:
  enum class Event : uint8_t { scalar, open, close, end, bad };

  TextProto(std::string_view path, std::string_view text, size_t begin = 0) : path_(path), text_(text), at_(begin) {}

  /// A scalar field, the start of a message, the end of one, the end of the text, or an error that stays.
  Event next();
  /// Of the last event.
  const Field& field() const { return field_; }
  size_t at() const { return at_; }
  size_t depth() const { return open_.size(); }
  base::Error error() const;

  /// Takes '{' or '<' where a message stands alone, as in a log line; message() or skip() follow.
  bool open_message();
  /// Passes over what is left of the message that is open, its end included.
  base::Status skip();
  /// Reads it instead. The rows are valid until the next call, the texts in them as long as the text.
  base::Result<Message> message();

 private:
  static constexpr size_t kDeepest = 100;  ///< as protobuf's own reader

  Event fail(std::string what);
  Event close(char bracket);
  std::optional<Event> value();
  std::optional<Event> next_in_list();
  std::optional<Event> next_field();
  void skip_space();
  bool take(char c);
  std::string_view word();
  bool quoted();

  std::string_view path_, text_;
  size_t at_ = 0;
  std::string open_;                     ///< brackets that are open: '}', '>', ']'
  std::vector<std::string_view> lists_;  ///< names of the lists that are open
  Field field_;
  std::string wrong_;
  std::vector<Field> rows_;
  std::vector<size_t> parents_;
};

bool is_quoted(std::string_view value);
/// A value without its quotes, escapes replaced (C's: \n \" \\ \x1b \033 …); words stay as they are.
std::string unquoted(std::string_view value);
/// Decimal, 0x…, with a sign; nothing else.
std::optional<int64_t> whole(std::string_view value);
/// Also "inf", "-inf", "nan", "1.5f".
std::optional<double> real(std::string_view value);

}  // namespace importers::tensorflow
