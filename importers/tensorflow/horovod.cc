// Every tensor is a "process" of the trace: its spans nest. The outermost are the operations, those inside are what they consist of.
#include "importers/tensorflow/horovod.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "importers/tensorflow/log.h"
#include "importers/tensorflow/node_kind.h"
#include "importers/tensorflow/trace_json.h"
#include "src/base/math.h"

namespace importers::tensorflow {
namespace {

constexpr std::string_view kNegotiate = "NEGOTIATE_";
constexpr std::string_view kHorovodTimer = "Horovod timeline";
constexpr std::string_view kHorovodWhy = "Horovod's timeline tells of communication alone; give a GraphDef of the step to replay it";
constexpr size_t kHorovodDeepest = 64;

struct HorovodTypeRow {
  std::string_view span, type;
};
constexpr HorovodTypeRow kHorovodTypes[] = {{"ALLREDUCE", "HorovodAllreduce"},
                                            {"ALLGATHER", "HorovodAllgather"},
                                            {"BROADCAST", "HorovodBroadcast"},
                                            {"ALLTOALL", "HorovodAlltoall"},
                                            {"REDUCESCATTER", "HorovodReducescatter"},
                                            {"ADASUM", "HorovodAllreduce"},
                                            {"JOIN", "HorovodJoin"},
                                            {"BARRIER", "HorovodBarrier"}};

std::string type_of(std::string_view span) {
  if (span.starts_with(kNegotiate)) return "HorovodNegotiate";
  const auto row = std::ranges::find(kHorovodTypes, span, &HorovodTypeRow::span);
  return row == std::end(kHorovodTypes) ? std::string(span) : std::string(row->type);
}

/// "[64, 3]" and "float32" → f32[64,3]; type empty: not told.
struct HorovodTensor {
  std::string text;
  double bytes = 0;
};
HorovodTensor tensor_of(std::string_view type, std::string_view shape) {
  const auto element = element_type(type);
  const bool plain = shape.size() >= 2 && shape.find_first_not_of("[]0123456789, ") == shape.npos;
  if (!element || !plain) return {};
  HorovodTensor tensor{fmt::format("{}[", ir::text(*element)), static_cast<double>(ir::bytes(*element))};
  double size = -1;
  for (const char c : shape.substr(1)) {
    if (c >= '0' && c <= '9') size = std::max(size, 0.0) * 10 + (c - '0');
    if ((c == ',' || c == ']') && size >= 0) tensor.bytes *= std::exchange(size, -1);
    if (c != ' ') tensor.text += c;
  }
  return tensor;
}

struct Span {
  std::string name;
  int64_t begin_ns;
};

/// What is known of a tensor while its trace is read.
struct Track {
  std::string tensor;
  std::vector<Span> open;
  std::map<std::string, int64_t> inside_ns;  ///< time by activity in the operation that is open
};

class HorovodReader {
 public:
  explicit HorovodReader(const Input& input) : input_(input), log_(input, "horovod-timeline", "operations") {}

  base::Result<model::Imported> run() {
    ASSIGN_OR_RETURN(const size_t cut, read_trace(input_, [&](const TraceEvent& event) { take(event); }));
    if (cut != std::string_view::npos) log_.note("cut-short", "the list of events is not closed: the run was stopped, or goes on");
    for (const auto& [process, track] : tracks_) {
      if (!track.open.empty()) log_.drop(0, fmt::format("'{}' of '{}' has no end", track.open[0].name, track.tensor));
    }
    for (const auto& [op, activities] : activities_) describe(op, activities);
    return log_.finish(kHorovodWhy);
  }

 private:
  void take(const TraceEvent& event) {
    Track& track = tracks_[event.process];
    if (event.phase == "M" && event.name == "process_name" && !event.argument("name").empty()) track.tensor = event.argument("name");
    if (event.phase == "B") {
      if (track.open.size() >= kHorovodDeepest) return log_.drop(0, "spans lie too deep");
      track.open.push_back({event.name, event.begin_ns});
    }
    if (event.phase == "E") end(track, event);
    if (event.phase == "X" && !track.open.empty() && event.duration_ns > 0) add(track.inside_ns[event.name], event.duration_ns);
  }

  static void add(int64_t& ns, int64_t more) { ns = base::saturated_sum(ns, more); }

  void end(Track& track, const TraceEvent& event) {
    if (track.open.empty()) return log_.drop(0, "a span ends that has not begun");
    const Span span = std::move(track.open.back());
    track.open.pop_back();
    const int64_t duration = std::max<int64_t>(0, event.begin_ns - span.begin_ns);
    if (!track.open.empty()) {
      add(track.inside_ns[span.name], duration);
      return;
    }
    log_.keep();
    const int32_t op = operation(track, span);
    const HorovodTensor tensor = tensor_of(event.argument("dtype"), event.argument("shape"));
    if (!tensor.text.empty() && log_[op].shape.empty()) log_[op].shape = tensor.text, log_[op].shape_from = model::Known::given;
    Activities& activities = activities_[op];
    if (!tensor.text.empty()) activities.bytes = tensor.bytes;
    for (const auto& [name, ns] : track.inside_ns) add(activities.ns[name], ns);
    track.inside_ns.clear();
    log_.time("", kHorovodTimer, {op, activities.passes++, span.begin_ns, duration});
  }

  int32_t operation(const Track& track, const Span& span) {
    const std::string type = type_of(span.name), tensor = track.tensor.empty() ? "unnamed" : track.tensor;
    const bool negotiates = type == "HorovodNegotiate";
    std::string name = negotiates ? tensor + " (negotiation)" : tensor;
    if (const int32_t known = log_.find(name); known >= 0 && log_[known].type != type) name += fmt::format(" ({})", type);
    const int32_t op = log_.op(name, type, "", 0);
    log_[op].phase = model::Phase::communication;
    if (negotiates) log_[op].launches = model::Launches::host;
    return op;
  }

  struct Activities {
    std::map<std::string, int64_t> ns;
    double bytes = -1;
    int32_t passes = 0;
  };

  void describe(int32_t op, const Activities& activities) {
    nlohmann::json attributes = nlohmann::json::object();
    if (activities.bytes >= 0) attributes["link_bytes"] = activities.bytes < 1e18 ? static_cast<int64_t>(activities.bytes) : 0;
    for (const auto& [name, ns] : activities.ns) attributes["activities_ns"][name] = ns;
    if (!attributes.empty()) log_[op].attributes = attributes.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  const Input& input_;
  Log log_;
  std::map<int64_t, Track> tracks_;
  std::map<int32_t, Activities> activities_;
};

}  // namespace

Match match_horovod(const Input& input) {
  const std::string_view head = trace_head(input.bytes);
  for (const std::string_view word : {"NEGOTIATE_", "HorovodAllreduce", "\"CYCLE_START\"", "_ALLREDUCE\""}) {
    if (head.starts_with('[') && head.find(word) != head.npos) return {Match::likely, "an array of trace events with Horovod's activities"};
  }
  return {Match::none, "no array of trace events with Horovod's activities"};
}

base::Result<model::Imported> read_horovod(const Input& input, const TakeModule&) { return HorovodReader(input).run(); }

}  // namespace importers::tensorflow
