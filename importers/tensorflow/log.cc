// Prefixes of log lines, and the collector of operators and times.
#include "importers/tensorflow/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "importers/tensorflow/node_kind.h"
#include "src/base/hash.h"
#include "src/base/text.h"

namespace importers::tensorflow {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kLastSecond = 8'000'000'000;  ///< what fits in 64 bits of ns
constexpr int64_t kLastNs = kLastSecond * kSecond / 2;
constexpr int64_t kLastYear = 2200;
constexpr int64_t kLongestNs = 1'000'000 * kSecond;      ///< a million such times can be added
constexpr int64_t kLogYear2000 = 946'684'800 * kSecond;  ///< times before it count from something else than 1970

/// A cursor over the start of a line.
struct Prefix {
  std::string_view rest;

  bool take(char c) {
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
  }
  void blanks() { rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size())); }
  /// Up to `most` digits; -1: none.
  int64_t digits(size_t most) {
    size_t n = 0;
    int64_t value = 0;
    for (; n < std::min(most, rest.size()) && rest[n] >= '0' && rest[n] <= '9'; ++n) value = value * 10 + (rest[n] - '0');
    rest.remove_prefix(n);
    return n == 0 ? -1 : value;
  }
  /// ".123456" in ns; 0 if there is no point.
  int64_t fraction() {
    if (!take('.')) return 0;
    int64_t value = 0, unit = kSecond;
    while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
      unit /= 10;
      value += unit * (rest[0] - '0');
      rest.remove_prefix(1);
    }
    return value;
  }
  bool severity() {
    const bool is = !rest.empty() && std::string_view("IWEFV").find(rest[0]) != std::string_view::npos;
    if (is) rest.remove_prefix(1);
    return is;
  }
};

int64_t days(int64_t year, int64_t month, int64_t day) {
  using namespace std::chrono;
  const auto date = std::chrono::year(static_cast<int>(year)) / static_cast<unsigned>(month) / static_cast<unsigned>(day);
  return sys_days(date).time_since_epoch().count();
}

/// "03:04:05.123456"; also "00:00:1795823645.658042", absl's seconds since 1970.
std::optional<int64_t> clock_ns(Prefix& at) {
  const int64_t hour = at.digits(2);
  if (hour < 0 || !at.take(':')) return std::nullopt;
  const int64_t minute = at.digits(2);
  if (minute < 0 || !at.take(':')) return std::nullopt;
  const int64_t second = at.digits(10);
  if (second < 0 || second > kLastSecond) return std::nullopt;
  const int64_t fraction = at.fraction();
  return ((hour * 60 + minute) * 60 + second) * kSecond + fraction;
}

/// "2023-01-02 03:04:05.123456: I "
std::optional<int64_t> dated(Prefix& at) {
  const int64_t year = at.digits(4);
  if (year < 1970 || year > kLastYear || !at.take('-')) return std::nullopt;
  const int64_t month = at.digits(2);
  if (month < 1 || !at.take('-')) return std::nullopt;
  const int64_t day = at.digits(2);
  if (day < 1 || !at.take(' ')) return std::nullopt;
  const auto clock = clock_ns(at);
  if (!clock || !at.take(':')) return std::nullopt;
  at.blanks();
  if (!at.severity() || !at.take(' ')) return std::nullopt;
  return days(year, month, day) * 24 * 3600 * kSecond + *clock;
}

/// "I1127 23:57:48.114775 27517 "
std::optional<int64_t> absl_dated(Prefix& at) {
  if (!at.severity()) return std::nullopt;
  const int64_t month = at.digits(2), day = at.digits(2);
  if (month < 0 || day < 0 || !at.take(' ')) return std::nullopt;
  const auto clock = clock_ns(at);
  if (!clock) return std::nullopt;
  at.blanks();
  if (at.digits(10) < 0 || !at.take(' ')) return std::nullopt;
  return (month == 0 ? 0 : days(1970, month, day) * 24 * 3600 * kSecond) + *clock;
}

}  // namespace

LogLine log_line(std::string_view line) {
  LogLine result;
  result.text = line;
  Prefix at{line};
  std::optional<int64_t> time = dated(at);
  if (!time) {
    at = {line};
    time = absl_dated(at);
  }
  if (!time) return result;
  const size_t bracket = at.rest.find("] ");
  const size_t end = bracket == at.rest.npos ? at.rest.find(']') : bracket;
  const std::string_view place = at.rest.substr(0, end);
  const size_t colon = place.rfind(':');
  if (end == at.rest.npos || colon == place.npos || place.find(' ') != place.npos) return result;
  const size_t slash = place.rfind('/', colon);
  result.file = place.substr(slash == place.npos ? 0 : slash + 1, colon - (slash == place.npos ? 0 : slash + 1));
  result.at_ns = time;
  result.text = at.rest.substr(std::min(end + (bracket == at.rest.npos ? 1 : 2), at.rest.size()));
  return result;
}

Log::Log(const Input& input, std::string_view format, std::string_view records) : input_(input), format_(format), records_(records) {}

int32_t Log::op(std::string_view name, std::string_view type, std::string_view device, int64_t line) {
  const auto found_or_next = [&](std::string_view key) {
    return by_name_.find_or_add(base::hash64(key), operators_.size(), [&](uint32_t op) { return operators_[op].name == key; });
  };
  const auto add = [&] { operators_.push_back(node_operator(name, type, device, line)); };
  uint32_t op = found_or_next(name);
  if (op == operators_.size()) return add(), static_cast<int32_t>(op);
  const std::string& known = operators_[op].device;
  if (device.empty() || known.empty() || known == device) return static_cast<int32_t>(op);
  std::string key = fmt::format("{} on {}", name, device);
  op = found_or_next(key);
  if (op == operators_.size()) add(), operators_.back().name = std::move(key);
  return static_cast<int32_t>(op);
}

int32_t Log::find(std::string_view name) const {
  return static_cast<int32_t>(by_name_.find(base::hash64(name), [&](uint32_t op) { return operators_[op].name == name; }));
}

int64_t Log::line_of(size_t offset) {
  const size_t end = std::min(offset, input_.bytes.size());
  if (placed_ < end) {
    line_ += std::count(input_.bytes.begin() + static_cast<std::ptrdiff_t>(placed_),
                        input_.bytes.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    placed_ = end;
  }
  return line_;
}

void Log::drop(size_t offset, std::string_view why) {
  if (first_reason_.empty()) first_reason_ = why, first_dropped_ = offset;
  ++read_;
  if (++dropped_ - passed_over_ > kMostNotes) return;
  const size_t line_begin = offset == 0 ? 0 : input_.bytes.rfind('\n', offset - 1) + 1;
  const base::Place place{line_of(offset), static_cast<int64_t>(offset - line_begin) + 1};
  notes_.push_back({place.line, place.column, "dropped-record", std::string(why)});
}

void Log::time(std::string_view device, std::string_view timer, model::Recording::Timing timing) {
  auto found = std::ranges::find_if(recordings_, [&](const auto& known) { return known.device == device && known.timer == timer; });
  if (found == recordings_.end()) {
    recordings_.push_back({std::string(device), std::string(timer), 0, {}});
    found = recordings_.end() - 1;
  }
  ++timings_;
  const model::Recording::Timing told = timing;
  timing.begin_ns = std::clamp(timing.begin_ns, -kLastNs, kLastNs);
  timing.duration_ns = std::clamp(timing.duration_ns, int64_t{0}, kLongestNs);
  cut_ += timing.begin_ns != told.begin_ns || timing.duration_ns != told.duration_ns;
  found->timings.push_back(timing);
}

base::Result<model::Imported> Log::finish(std::string_view why) {
  if (operators_.empty()) {
    return base::error_at(input_.path, input_.bytes, first_dropped_, first_reason_.empty() ? "no operator is in it" : first_reason_);
  }
  if (const int64_t more = dropped_ - passed_over_ - kMostNotes; more > 0)
    note("dropped-records", fmt::format("{} more records are dropped like the {} before", more, kMostNotes));
  if (cut_ > 0) note("times-cut", fmt::format("{} times are negative, longer than 11 days or centuries away; they are cut", cut_));
  note("not-replayable", std::string(why));
  for (model::Recording& recording : recordings_) {
    const int64_t first = std::ranges::min_element(recording.timings, {}, &model::Recording::Timing::begin_ns)->begin_ns;
    for (model::Recording::Timing& timing : recording.timings) timing.begin_ns -= first;
    if (first >= kLogYear2000) recording.started_unix_ns = first;
  }
  model::Imported imported;
  model::Source& source = imported.source;
  source.path = input_.path;
  source.format = format_;
  source.sha256 = base::sha256_hex(input_.bytes);
  source.bytes = static_cast<int64_t>(input_.bytes.size());
  source.read = read_;
  source.dropped = dropped_;
  source.kept = read_ - dropped_;
  source.records = records_;
  imported.operators = std::move(operators_);
  imported.recordings = std::move(recordings_);
  imported.notes = std::move(notes_);
  return imported;
}

}  // namespace importers::tensorflow
