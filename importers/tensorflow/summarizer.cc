// A table is a header with column names in brackets and rows below it: what a column means is told by its name, since versions differ in
// which they have.
#include "importers/tensorflow/summarizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "importers/tensorflow/log.h"
#include "importers/tensorflow/text_proto.h"
#include "src/base/text.h"

namespace importers::tensorflow {
namespace {

constexpr std::string_view kSummarizerSection = "==============", kRunOrder = "Run Order", kCsv = "node type,";
constexpr std::string_view kInitialization = "Profiling Info for Benchmark Initialization", kProfile = "Profiling Info";
constexpr std::string_view kSummarizerTimer = "StatSummarizer: averages of the benchmark's runs";
constexpr std::string_view kSummarizerWhy =
    "a StatSummarizer table tells types, names and times, but neither shapes nor inputs; give a GraphDef of the model to replay it";
constexpr double kNanosOfMilli = 1e6, kMostMillis = 1e9;

/// What a column holds.
enum class Column : uint8_t { other, type, start, average, first, memory, calls, name };
struct ColumnRow {
  std::string_view title;
  Column column;
};
constexpr ColumnRow kColumns[] = {{"node type", Column::type},     {"start", Column::start},    {"first", Column::first},
                                  {"first_ms", Column::first},     {"avg ms", Column::average}, {"avg_ms", Column::average},
                                  {"mem KB", Column::memory},      {"mem_kb", Column::memory},  {"times called", Column::calls},
                                  {"times_called", Column::calls}, {"name", Column::name},      {"Name", Column::name}};

Column column_of(std::string_view title) {
  const auto row = std::ranges::find(kColumns, title, &ColumnRow::title);
  return row == std::end(kColumns) ? Column::other : row->column;
}

/// At commas: `most` parts, the last with all the rest.
std::vector<std::string_view> split_commas(std::string_view text, size_t most) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < most && text.find(',') != text.npos) {
    parts.push_back(base::trimmed(text.substr(0, text.find(','))));
    text.remove_prefix(text.find(',') + 1);
  }
  parts.push_back(base::trimmed(text, " \t"));
  return parts;
}

/// At tabs and at runs of two blanks or more.
std::vector<std::string_view> split_columns(std::string_view text) {
  std::vector<std::string_view> parts;
  for (text = base::trimmed(text, " \t"); !text.empty();) {
    size_t end = text.find_first_of("\t ");
    while (end < text.size() && text[end] == ' ' && !text.substr(end + 1).starts_with(' ')) end = text.find_first_of("\t ", end + 1);
    end = std::min(end, text.size());
    parts.push_back(base::trimmed(text.substr(0, end), " \t"));
    text = base::trimmed(text.substr(end), " \t");
  }
  return parts;
}

/// "[node type]  [start] …" or "node type, first, …"; empty: another line.
std::vector<Column> header(std::string_view line, bool csv) {
  std::vector<Column> columns;
  if (csv) {
    for (const std::string_view title : split_commas(line, 64)) columns.push_back(column_of(title));
    return columns;
  }
  for (size_t close = line.find(']'); close != line.npos; close = line.find(']')) {
    const size_t open = line.substr(0, close).rfind('[');
    if (open != line.npos) columns.push_back(column_of(line.substr(open + 1, close - open - 1)));
    line.remove_prefix(close + 1);
  }
  return columns;
}

/// "[model/a/Relu]:3" (TensorFlow Lite) → "model/a/Relu:3".
std::string plain_name(std::string_view name) {
  const size_t close = name.rfind(']');
  if (!name.starts_with('[') || close == name.npos) return std::string(name);
  return fmt::format("{}{}", name.substr(1, close - 1), name.substr(close + 1));
}

int64_t nanos(double millis) { return std::llround(std::clamp(millis, 0.0, kMostMillis) * kNanosOfMilli); }

class SummarizerReader {
 public:
  explicit SummarizerReader(const Input& input) : input_(input), log_(input, "tensorflow-summarizer", "rows") {}

  base::Result<model::Imported> run() {
    const bool ordered = input_.bytes.find(kRunOrder) != std::string_view::npos;
    each_log_line(input_.bytes, [&](const LogLine& line) { return take(line, ordered), true; });
    if (!ordered) log_.note("no-run-order", "rows stand in the order of their table: the log has no table 'Run Order'");
    if (elsewhere_ > 0) log_.note("other-tables", fmt::format("{} rows of other tables are passed over", elsewhere_));
    return log_.finish(kSummarizerWhy);
  }

 private:
  void take(const LogLine& line, bool ordered) {
    if (line.text.find(kProfile) != line.text.npos) preparing_ = line.text.find(kInitialization) != line.text.npos;
    if (line.text.find(kSummarizerSection) != line.text.npos) {
      columns_.clear();
      ++tables_;
      wanted_ = !preparing_ && (ordered ? line.text.find(kRunOrder) != line.text.npos : rows_ == 0);
      return;
    }
    const bool csv = line.text.starts_with(kCsv);
    if (csv || line.text.find("[node type]") != line.text.npos) {
      columns_ = header(line.text, csv);
      csv_ = csv;
      if (tables_ == 0) wanted_ = true;
      if (std::ranges::find(columns_, Column::name) == columns_.end()) columns_.clear();  // sums by type
      return;
    }
    if (!columns_.empty() && !base::trimmed(line.text, " \t").empty()) row(line);
  }

  void row(const LogLine& line) {
    const auto parts = csv_ ? split_commas(line.text, columns_.size()) : split_columns(line.text);
    if (parts.size() < columns_.size()) return columns_.clear();  // the table has ended
    if (!wanted_) return ++elsewhere_, log_.pass_over();
    std::string_view type, name;
    double start = -1, average = 0, memory = 0, calls = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const double number = real(parts[i]).value_or(0);
      if (columns_[i] == Column::type) type = parts[i];
      if (columns_[i] == Column::name) name = parts[i];
      if (columns_[i] == Column::start) start = number;
      if (columns_[i] == Column::average) average = number;
      if (columns_[i] == Column::memory) memory = number;
      if (columns_[i] == Column::calls) calls = number;
    }
    if (name.empty() || type.empty()) return log_.drop(line.begin, "a row has no name or no type");
    ++rows_;
    log_.keep();
    const int32_t op = log_.op(plain_name(name), type, "", line.number);
    log_[op].attributes = fmt::format(R"({{"memory_bytes": {:.0f}, "times_called": {:.0f}}})", std::clamp(memory, 0.0, 1e15) * 1000,
                                      std::clamp(calls, 0.0, 1e15));
    const int64_t begin = start < 0 ? at_ns_ : nanos(start);
    log_.time("", kSummarizerTimer, {op, 0, begin, nanos(average)});
    at_ns_ = begin + nanos(average);
  }

  const Input& input_;
  Log log_;
  std::vector<Column> columns_;  ///< of the table that is open; empty: none
  bool csv_ = false, wanted_ = false, preparing_ = false;
  int64_t tables_ = 0, rows_ = 0, elsewhere_ = 0;
  int64_t at_ns_ = 0;  ///< where the next row begins that does not say it
};

}  // namespace

Match match_summarizer(const Input& input) {
  const std::string_view head = input.bytes.substr(0, size_t{1} << 24);
  if (head.find("[node type]") != head.npos) return {Match::sure, "a table with [node type]"};
  if (head.find("node type, ") != head.npos && head.find("avg_ms") != head.npos) return {Match::sure, "CSV with 'node type' and 'avg_ms'"};
  return {Match::none, "no table has a column [node type]"};
}

base::Result<model::Imported> read_summarizer(const Input& input, const TakeModule&) { return SummarizerReader(input).run(); }

}  // namespace importers::tensorflow
