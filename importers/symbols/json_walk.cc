// The library's event parser with a stack of path lengths; nothing of the text is kept.
#include "importers/symbols/json_walk.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/base/text.h"

namespace importers::symbols {
namespace {

constexpr size_t kDeepest = 8, kLongestName = 64;

/// nlohmann's interface of events.
class Events {
 public:
  explicit Events(JsonWalk& walk) : walk_(walk) {}

  size_t error_offset() const { return error_offset_; }
  const std::string& error() const { return error_; }

  bool null() { return value({}); }
  bool boolean(bool given) { return value({JsonValue::Kind::boolean, given ? 1 : 0, {}}); }
  bool number_integer(int64_t number) { return value({JsonValue::Kind::integer, number, {}}); }
  bool number_unsigned(uint64_t number) {
    return value({number > INT64_MAX ? JsonValue::Kind::real : JsonValue::Kind::integer, static_cast<int64_t>(number), {}});
  }
  bool number_float(double, const std::string& text) { return value({JsonValue::Kind::real, 0, text}); }
  bool string(std::string& text) { return value({JsonValue::Kind::text, 0, text}); }
  template <typename Binary>
  bool binary(Binary&) {
    return true;
  }
  bool start_object(size_t) { return open(true); }
  bool start_array(size_t) { return open(false); }
  bool end_object() { return close(true); }
  bool end_array() { return close(false); }

  bool key(std::string& name) {
    path_.resize(frames_.back());
    if (frames_.size() > kDeepest || name.size() > kLongestName) {
      if (!path_.ends_with("/*")) path_ += "/*";
      return true;
    }
    if (!path_.empty()) path_ += '/';
    path_ += name;
    return true;
  }
  template <typename Exception>
  bool parse_error(size_t offset, const std::string& token, const Exception& exception) {
    error_offset_ = offset == 0 ? 0 : offset - 1;
    const std::string_view what = exception.what();
    const size_t reason = what.find(" - ");
    error_ = reason == std::string_view::npos ? fmt::format("no JSON near '{}'", base::escaped(token))
                                              : "no JSON: " + base::escaped(what.substr(reason + 3));
    return false;
  }

 private:
  bool value(const JsonValue& value) { return walk_.value(path_, value), true; }
  bool open(bool is_object) {
    walk_.open(path_, is_object);
    frames_.push_back(path_.size());
    return true;
  }
  bool close(bool is_object) {
    path_.resize(frames_.back());
    frames_.pop_back();
    walk_.close(path_, is_object);
    return true;
  }

  JsonWalk& walk_;
  std::string path_;
  std::vector<size_t> frames_;  ///< lengths of the paths of what is open
  std::string error_;
  size_t error_offset_ = 0;
};

}  // namespace

base::Status walk_json(std::string_view text, JsonWalk& walk, std::string_view path, std::string_view whole, size_t offset) {
  Events events(walk);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &events)) return {};
  return base::error_at(path, whole, offset + std::min(events.error_offset(), text.size()), events.error());
}

}  // namespace importers::symbols
