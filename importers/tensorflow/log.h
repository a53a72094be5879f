// What all logs end with: operators in the order in which they are first seen, recordings by device, the account of records.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/importer.h"
#include "src/ir/hash_index.h"

namespace importers::tensorflow {

/// One line of a log, taken apart where it has a prefix: "2023-01-02 03:04:05.123456: I tensorflow/core/…/executor.cc:826] ", absl's
/// "I0000 00:00:1795823645.658042   20378 executor.cc:879] " and "I1127 23:57:48.114775 27517 file.cc:1606] ".
struct LogLine {
  std::string_view text;         ///< behind the prefix, without line end
  std::string_view file;         ///< base name of the source file that wrote it: "executor.cc"; empty: no prefix
  std::optional<int64_t> at_ns;  ///< since 1970; without a year in the line since the start of one
  size_t begin = 0;              ///< of `text` in the log
  int64_t number = 0;            ///< from 1
};
LogLine log_line(std::string_view line);

/// Calls `each(LogLine)` for every line; false stops.
template <typename Each>
void each_log_line(std::string_view text, Each each) {
  int64_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view whole = text.substr(at, end - at);
    if (whole.ends_with('\r')) whole.remove_suffix(1);
    LogLine line = log_line(whole);
    line.begin = at + (whole.size() - line.text.size());
    line.number = ++number;
    if (!each(line)) return;
    at = end + 1;
  }
}

class Log {
 public:
  /// `records`: what the log has one of an entry: "executions", "rows". Input must outlive it.
  Log(const Input& input, std::string_view format, std::string_view records);

  /// The operator of that name on that device ("": not told), added if it is new. The same name on another device is another operator.
  int32_t op(std::string_view name, std::string_view type, std::string_view device, int64_t line);
  /// Of a name alone; -1: none.
  int32_t find(std::string_view name) const;
  model::Operator& operator[](int32_t op) { return operators_[static_cast<size_t>(op)]; }
  size_t size() const { return operators_.size(); }

  void keep(int64_t records = 1) { read_ += records; }
  /// A record that cannot be used; `offset` in the input. Offsets must not fall.
  void drop(size_t offset, std::string_view why);
  void note(std::string code, std::string text) { notes_.push_back({0, 0, std::move(code), std::move(text)}); }
  /// A record that is understood and does not belong to the run.
  void pass_over() { ++read_, ++dropped_, ++passed_over_; }
  /// The line of an offset; offsets must not fall.
  int64_t line_of(size_t offset);

  /// Adds a time; `begin_ns` since 1970 or since whatever the log counts from.
  void time(std::string_view device, std::string_view timer, model::Recording::Timing timing);
  int64_t timings() const { return timings_; }

  /// Everything, with times counted from the first; an Error if there is no operator. `why`: why the log cannot be replayed.
  base::Result<model::Imported> finish(std::string_view why);

 private:
  static constexpr int64_t kMostNotes = 20;  ///< of dropped records one by one

  const Input& input_;
  std::string_view format_, records_;
  std::vector<model::Operator> operators_;
  ir::HashIndex by_name_;  ///< of operators_
  std::vector<model::Recording> recordings_;
  std::vector<model::Note> notes_;
  std::string first_reason_;
  size_t first_dropped_ = 0, placed_ = 0;
  int64_t line_ = 1, read_ = 0, dropped_ = 0, passed_over_ = 0, timings_ = 0, cut_ = 0;
};

}  // namespace importers::tensorflow
