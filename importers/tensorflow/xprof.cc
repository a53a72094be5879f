// Names of planes and lines are metadata events, which the profiler writes first.
#include "importers/tensorflow/xprof.h"

#include <fmt/format.h>

#include <map>

#include "importers/tensorflow/profile_events.h"
#include "importers/tensorflow/trace_json.h"

namespace importers::tensorflow {
namespace {

std::string_view first_of(const TraceEvent& event, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const std::string_view value = event.argument(key); !value.empty()) return value;
  }
  return {};
}

class XprofReader {
 public:
  explicit XprofReader(const Input& input) : input_(input), events_(input, "tensorflow-profile") {}

  base::Result<model::Imported> run() {
    ASSIGN_OR_RETURN(const size_t cut, read_trace(input_, [&](const TraceEvent& event) { take(event); }));
    if (cut != std::string_view::npos) events_.note("cut-short", "the trace ends inside its list of events");
    return events_.finish();
  }

 private:
  void take(const TraceEvent& event) {
    if (event.phase == "M" && event.name == "process_name") planes_[event.process] = event.argument("name");
    if (event.phase == "M" && event.name == "thread_name") {
      lines_[{event.process, event.thread}] = event.argument("name");
      events_.add_line(planes_[event.process], event.argument("name"));
    }
    if (event.phase != "X") return;
    ProfileEvent found;
    found.plane = planes_[event.process];
    found.line = lines_[{event.process, event.thread}];
    found.name = event.name;
    found.annotation = first_of(event, {"annotation", "tf_op", "long_name"});
    found.hlo = event.argument("hlo_op");
    found.group = event.argument("group_id");
    found.begin_ns = event.begin_ns;
    found.duration_ns = event.duration_ns;
    events_.add(found);
  }

  const Input& input_;
  ProfileEvents events_;
  std::map<int64_t, std::string> planes_;                     ///< by pid
  std::map<std::pair<int64_t, int64_t>, std::string> lines_;  ///< by pid and tid
};

}  // namespace

Match match_xprof(const Input& input) {
  const std::string_view head = trace_head(input.bytes);
  const auto has = [&](std::string_view text) { return head.find(text) != head.npos; };
  const bool planes = has("\"/host:CPU\"") || has("\"/device:");
  if (has("\"traceEvents\"") && has("process_name") && planes && !has(" Compute\""))
    return {Match::sure, "a trace of the profiler's planes"};
  return {Match::none, "no Chrome trace with processes /host:CPU or /device:…"};
}

base::Result<model::Imported> read_xprof(const Input& input, const TakeModule&) { return XprofReader(input).run(); }

}  // namespace importers::tensorflow
