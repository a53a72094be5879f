// Events of category Op are rows of step_stats; processes are its devices, named "<device> Compute". Tensor objects tell shapes.
#include "importers/tensorflow/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "importers/tensorflow/attribute_text.h"
#include "importers/tensorflow/device_rows.h"
#include "importers/tensorflow/log.h"
#include "importers/tensorflow/node_kind.h"
#include "importers/tensorflow/text_proto.h"
#include "importers/tensorflow/trace_json.h"

namespace importers::tensorflow {
namespace {

constexpr std::string_view kCompute = " Compute", kInput = "input";
constexpr std::string_view kTimelineWhy =
    "a timeline tells names, types, inputs and times, but neither attributes nor constants; give a GraphDef of the run to replay it";

class TimelineReader {
 public:
  explicit TimelineReader(const Input& input) : input_(input), log_(input, "tensorflow-timeline", "events") {}

  base::Result<model::Imported> run() {
    ASSIGN_OR_RETURN(const size_t cut, read_trace(input_, [&](const TraceEvent& event) { take(event); }));
    if (cut != std::string_view::npos) log_.note("cut-short", "the trace ends inside its list of events");
    add_shapes();
    return log_.finish(kTimelineWhy);
  }

 private:
  void take(const TraceEvent& event) {
    if (event.phase == "M" && event.name == "process_name") name_device(event);
    if (event.phase == "X" && event.category == "Op") operation(event);
    if (event.phase == "O" && event.category == "Tensor") tensor(event);
  }

  void name_device(const TraceEvent& event) {
    std::string_view name = event.argument("name");
    if (name.ends_with(kCompute)) devices_[event.process] = device_rows(std::string(name.substr(0, name.size() - kCompute.size())));
  }

  void operation(const TraceEvent& event) {
    const std::string_view name = event.argument("name"), type = event.argument("op");
    if (name.empty()) return log_.drop(0, fmt::format("an event '{}' names no node", event.name));
    log_.keep();
    const DeviceRows& device = devices_[event.process];
    const int32_t op = operator_of_row(log_, device, name, type, 0);
    if (log_[op].inputs.empty()) {
      for (const auto& [key, value] : event.arguments) {
        if (key.starts_with(kInput)) log_[op].inputs.push_back(value);
      }
    }
    log_.time(device.name, fmt::format("timeline: {}", device_timer(device.rows)), {op, 0, event.begin_ns, event.duration_ns});
  }

  void tensor(const TraceEvent& event) {
    const std::string text = fmt::format("{{{}}}", event.argument("tensor_description"));
    TextProto proto(input_.path, text);
    if (!proto.open_message()) return;
    const auto message = proto.message();
    if (!message.ok()) return;
    const InputName of = input_name(event.name);
    std::vector<std::string>& shapes = shapes_[std::string(of.node)];
    const auto port = static_cast<size_t>(std::min(of.port, 1 << 10));
    shapes.resize(std::max(shapes.size(), port + 1));
    shapes[port] = tensor_text(*message);
  }

  void add_shapes() {
    for (const auto& [name, shapes] : shapes_) {
      const int32_t op = log_.find(name);
      if (op >= 0) set_shapes(log_[op], shapes);
    }
  }

  const Input& input_;
  Log log_;
  std::unordered_map<int64_t, DeviceRows> devices_;
  std::unordered_map<std::string, std::vector<std::string>> shapes_;
};

}  // namespace

Match match_timeline(const Input& input) {
  const std::string_view head = trace_head(input.bytes);
  const auto has = [&](std::string_view text) { return head.find(text) != head.npos; };
  if (has("\"traceEvents\"") && has(" Compute\"") && has("process_name")) return {Match::sure, "a Chrome trace with '<device> Compute'"};
  return {Match::none, "no Chrome trace with a process '<device> Compute'"};
}

base::Result<model::Imported> read_timeline(const Input& input, const TakeModule&) { return TimelineReader(input).run(); }

}  // namespace importers::tensorflow
