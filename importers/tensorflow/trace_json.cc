// The library's parser calls back for every value, so that a trace of a million events takes the memory of one.
#include "importers/tensorflow/trace_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/text.h"

namespace importers::tensorflow {
namespace {

constexpr size_t kTraceJsonDeepest = 64;
constexpr int64_t kTraceJsonMicro = 1000;
constexpr int64_t kMostMicros = 4'000'000'000'000'000;  ///< so that neither ns nor the difference of two overflows

struct Number {
  double value = 0;
  int64_t whole = 0;
  bool is_whole = false;
  int64_t nanos() const {
    if (is_whole) return std::clamp(whole, -kMostMicros, kMostMicros) * kTraceJsonMicro;
    constexpr auto kMost = static_cast<double>(kMostMicros);
    return std::llround(std::clamp(std::isnan(value) ? 0 : value, -kMost, kMost) * kTraceJsonMicro);
  }
  std::string text() const { return is_whole ? std::to_string(whole) : fmt::format("{}", value); }
};

/// The interface that nlohmann's sax_parse calls.
class Handler {
 public:
  explicit Handler(const std::function<void(const TraceEvent&)>& each) : each_(each) {}

  bool null() { return true; }
  bool boolean(bool value) { return argument(value ? "true" : "false"); }
  bool number_integer(int64_t value) { return number({static_cast<double>(value), value, true}); }
  bool number_unsigned(uint64_t value) { return number_integer(static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX))); }
  bool number_float(double value, const std::string&) { return number({value, 0, false}); }
  bool binary(std::vector<uint8_t>&) { return true; }
  bool string(std::string& value) {
    if (depth_ != event_depth_) return argument(value);
    if (key_ == "name") event_.name = std::move(value);
    if (key_ == "ph") event_.phase = std::move(value);
    if (key_ == "cat") event_.category = std::move(value);
    return true;
  }
  bool key(std::string& value) {
    key_ = std::move(value);
    if (depth_ == event_depth_) in_arguments_ = key_ == "args";
    return true;
  }
  bool start_array(size_t) {
    if (++depth_ > kTraceJsonDeepest) return false;
    if (event_depth_ == 0 && (depth_ == 1 || (depth_ == 2 && key_ == "traceEvents"))) event_depth_ = depth_ + 1;
    return true;
  }
  bool end_array() {
    if (depth_ + 1 == event_depth_) event_depth_ = 0;
    --depth_;
    return true;
  }
  bool start_object(size_t) {
    if (++depth_ > kTraceJsonDeepest) return false;
    if (depth_ == event_depth_) event_ = {}, in_arguments_ = false;
    return true;
  }
  bool end_object() {
    if (depth_ == event_depth_ && !event_.phase.empty()) each_(event_);
    --depth_;
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& error) {
    position_ = position;
    error_ = error.what();
    return false;
  }

  size_t depth() const { return depth_; }
  size_t position() const { return position_; }
  /// Of the parser, without its class and number: "[json.exception.parse_error.101] parse error at line 1, column 2: …".
  std::string error() const {
    if (error_.empty()) return fmt::format("JSON deeper than {}", kTraceJsonDeepest);
    const size_t begin = error_.find(": ");
    return "is no JSON: " + (begin == error_.npos ? error_ : error_.substr(begin + 2));
  }

 private:
  bool number(Number value) {
    if (depth_ != event_depth_) return argument(value.text());
    if (key_ == "ts") event_.begin_ns = value.nanos();
    if (key_ == "dur") event_.duration_ns = value.nanos();
    if (key_ == "pid") event_.process = value.whole;
    if (key_ == "tid") event_.thread = value.whole;
    return true;
  }
  bool argument(std::string value) {
    if (event_depth_ > 0 && depth_ > event_depth_ && in_arguments_) event_.arguments.emplace_back(key_, std::move(value));
    return true;
  }

  const std::function<void(const TraceEvent&)>& each_;
  TraceEvent event_;
  std::string key_, error_;
  size_t depth_ = 0, event_depth_ = 0;  ///< depth of event objects; 0: not in the array of events
  size_t position_ = 0;
  bool in_arguments_ = false;
};

}  // namespace

std::string_view TraceEvent::argument(std::string_view key) const {
  const auto found = std::ranges::find(arguments, key, &std::pair<std::string, std::string>::first);
  return found == arguments.end() ? std::string_view() : std::string_view(found->second);
}

base::Result<size_t> read_trace(const Input& input, const std::function<void(const TraceEvent&)>& each) {
  Handler handler(each);
  if (nlohmann::json::sax_parse(input.bytes.begin(), input.bytes.end(), &handler, nlohmann::json::input_format_t::json))
    return std::string_view::npos;
  const size_t at = std::min(handler.position() == 0 ? 0 : handler.position() - 1, input.bytes.size());
  if (handler.depth() > kTraceJsonDeepest) return base::error_at(input.path, input.bytes, 0, handler.error());
  const bool at_end = input.bytes.find_first_not_of(" \t\r\n]}", at) == std::string_view::npos;
  if (at_end && handler.depth() > 0) return at;
  return base::error_at(input.path, input.bytes, at, handler.error());
}

std::string_view trace_head(std::string_view text) {
  constexpr size_t kHead = size_t{1} << 20;
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.starts_with('[') || text.starts_with('{') ? text.substr(0, kHead) : std::string_view();
}

}  // namespace importers::tensorflow
