// One node_stats at a time. Rows of streams name the node whose kernel they are: the time goes to the operator that the device's own rows
// have made, or makes one.
#include "importers/tensorflow/step_stats.h"

#include <fmt/format.h>

#include <algorithm>

#include "importers/tensorflow/attribute_text.h"
#include "importers/tensorflow/device_rows.h"
#include "importers/tensorflow/log.h"
#include "importers/tensorflow/text_proto.h"
#include "src/base/text.h"
#include "src/ir/shape.h"

namespace importers::tensorflow {
namespace {

constexpr int64_t kStepStatsMicro = 1000;
constexpr std::string_view kStepStatsWhy =
    "step_stats tell names, types, shapes and times, but neither attributes nor constants; give a GraphDef of the run to replay it";

/// Nanos where they are written, else micros.
struct Times {
  int64_t begin_ns = 0, duration_ns = 0;
};

int64_t to_ns(int64_t micros) { return std::clamp<int64_t>(micros, 0, INT64_MAX / 2 / kStepStatsMicro) * kStepStatsMicro; }

Times times_of(Message row) {
  const bool nanos = row.has("all_start_nanos");
  const auto value = [&](std::string_view name) {
    return nanos ? row.integer(fmt::format("{}_nanos", name)) : to_ns(row.integer(fmt::format("{}_micros", name)));
  };
  const int64_t start = std::clamp<int64_t>(value("all_start"), 0, INT64_MAX / 4);
  const int64_t begin = std::clamp<int64_t>(value("op_start_rel"), 0, INT64_MAX / 4);
  const int64_t end = std::clamp<int64_t>(value("op_end_rel"), begin, INT64_MAX / 4);
  return {start + begin, end - begin};
}

class StepStatsReader {
 public:
  explicit StepStatsReader(const Input& input)
      : input_(input), proto_(input.path, input.bytes), log_(input, "tensorflow-step-stats", "rows") {}

  base::Result<model::Imported> run() {
    RETURN_IF_ERROR(top());
    if (graphs_ > 0) log_.note("graphs-not-read", fmt::format("{} partition or function graphs stand beside the times", graphs_));
    return log_.finish(kStepStatsWhy);
  }

 private:
  using Event = TextProto::Event;

  base::Status top() {
    while (true) {
      const Event event = proto_.next();
      if (event == Event::end) return {};
      if (event == Event::bad) return proto_.error();
      if (event != Event::open || proto_.field().name == "step_stats") continue;
      if (proto_.field().name == "dev_stats") {
        RETURN_IF_ERROR(device());
      } else {
        graphs_ += proto_.field().name.ends_with("_graphs");
        RETURN_IF_ERROR(proto_.skip());
      }
    }
  }

  base::Status device() {
    DeviceRows device;
    for (const size_t inside = proto_.depth(); proto_.depth() >= inside;) {
      const Event event = proto_.next();
      if (event == Event::bad) return proto_.error();
      const std::string_view name = proto_.field().name;
      if (event == Event::scalar && name == "device") device = device_rows(unquoted(proto_.field().value));
      if (event != Event::open) continue;
      if (name != "node_stats") {
        RETURN_IF_ERROR(proto_.skip());
        continue;
      }
      const size_t at = proto_.field().at;
      ASSIGN_OR_RETURN(const Message row, proto_.message());
      add(row, device, at);
    }
    return {};
  }

  void add(Message row, const DeviceRows& device, size_t at) {
    const std::string name = row.text("node_name"), label = row.text("timeline_label");
    if (name.empty()) return log_.drop(at, "a row has no node_name");
    log_.keep();
    const bool of_host = device.rows == Rows::host || device.rows == Rows::launches;
    const int32_t op = of_host ? node(row, name, label, device, at) : kernel(name, label, device, at);
    const Times times = times_of(row);
    log_.time(device.name, fmt::format("step_stats: {}", device_timer(device.rows)), {op, 0, times.begin_ns, times.duration_ns});
  }

  int32_t node(Message row, const std::string& name, const std::string& label, const DeviceRows& device, size_t at) {
    const TimelineLabel told = timeline_label(label);
    const size_t known = log_.size();
    const int32_t op = log_.op(name, told.type, device.name, log_.line_of(at));
    if (log_.size() == known) return op;
    log_[op].inputs = told.inputs;
    std::vector<std::string> shapes;
    row.each([&](const Field& field, Message output) {
      if (field.name == "output") shapes.push_back(tensor_text(output.message("tensor_description")));
    });
    set_shapes(log_[op], shapes);
    return op;
  }

  /// The operator whose kernel or copy a row is.
  int32_t kernel(const std::string& name, const std::string& label, const DeviceRows& device, size_t at) {
    TimelineLabel told = kernel_label(label);
    if (told.node.empty()) told = kernel_label(name);
    if (told.node.empty()) told.node = name;
    const size_t known = log_.size();
    const int32_t op = operator_of_row(log_, device, told.node, told.type, log_.line_of(at));
    if (log_.size() > known) log_[op].note = label;
    return op;
  }

  const Input& input_;
  TextProto proto_;
  Log log_;
  int64_t graphs_ = 0;
};

/// Splits at ", " outside of brackets.
std::vector<std::string> split_inputs(std::string_view text) {
  std::vector<std::string> inputs;
  while (!text.empty()) {
    const size_t end = std::min(text.find(", "), text.size());
    if (end > 0) inputs.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return inputs;
}

bool is_type(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return c == '_' || c == '>' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

}  // namespace

TimelineLabel timeline_label(std::string_view label) {
  const size_t equals = label.find(" = ");
  if (equals == label.npos) return {};
  const size_t open = label.find('(', equals + 3);
  if (open == label.npos) return {};
  TimelineLabel result{label.substr(0, equals), label.substr(equals + 3, open - equals - 3), {}};
  if (!is_type(result.type)) return {};
  const size_t close = label.rfind(')');
  if (close != label.npos && close > open) result.inputs = split_inputs(label.substr(open + 1, close - open - 1));
  return result;
}

TimelineLabel kernel_label(std::string_view label) {
  if (const size_t mark = label.find("@@"); mark != label.npos) label.remove_prefix(mark + 2);
  label = label.substr(0, label.find('#'));
  const size_t colon = label.rfind(':');
  if (colon == label.npos || colon == 0 || label.find(' ') != label.npos || !is_type(label.substr(colon + 1))) return {};
  const char first = label[colon + 1];
  if (first >= '0' && first <= '9') return {};  // an output, not a type
  return {label.substr(0, colon), label.substr(colon + 1), {}};
}

Match match_step_stats(const Input& input) {
  TextProto proto(input.path, input.bytes.substr(0, 1 << 14));
  for (int events = 0; events < 20; ++events) {
    const TextProto::Event event = proto.next();
    if (event == TextProto::Event::bad || event == TextProto::Event::end) break;
    const std::string_view name = proto.field().name;
    if (event == TextProto::Event::open && name == "dev_stats") return {Match::sure, "protobuf text with dev_stats"};
    if (proto.depth() == 0 || (proto.depth() == 1 && event == TextProto::Event::open && name != "step_stats")) break;
  }
  return {Match::none, "does not begin with `step_stats { dev_stats {`"};
}

base::Result<model::Imported> read_step_stats(const Input& input, const TakeModule&) { return StepStatsReader(input).run(); }

}  // namespace importers::tensorflow
