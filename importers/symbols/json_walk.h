// A JSON text as events with paths: a member is told by the names that lead to it, an element by the path of its array. The numbers of
// {"documents": [{"range": [8, 0]}]} have the path "documents/range".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"

namespace importers::symbols {

/// A number, a string, a boolean or null. Text is valid during the call.
struct JsonValue {
  enum class Kind : uint8_t { null, boolean, integer, real, text } kind = Kind::null;
  int64_t integer = 0;
  std::string_view text;
  bool is_text() const { return kind == Kind::text; }
  bool is_integer() const { return kind == Kind::integer; }
};

/// Takes the events of a text. Paths: "" the whole text, "a/b" member b of member a (arrays between them leave no trace). Parts of a path
/// beyond the eighth, and names longer than 64 bytes, are "*": what nests deeper has no meaning to any index.
class JsonWalk {
 public:
  virtual ~JsonWalk() = default;
  /// An object or array begins; `path` as above.
  virtual void open(std::string_view path, bool is_object) = 0;
  virtual void close(std::string_view path, bool is_object) = 0;
  virtual void value(std::string_view path, const JsonValue& value) = 0;
};

/// Walks a whole text. An Error shows the place: `offset` is where `text` begins in `whole`.
base::Status walk_json(std::string_view text, JsonWalk& walk, std::string_view path, std::string_view whole, size_t offset);

}  // namespace importers::symbols
