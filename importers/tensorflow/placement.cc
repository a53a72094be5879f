// The same node is announced up to three times (stdout, the log, and after oneDNN's rewrite). Eager execution places every operator as a
// small graph first: where it is announced ("Executing op"), the announcements are what ran, and the small graphs are passed over.
#include "importers/tensorflow/placement.h"

#include <fmt/format.h>

#include "importers/tensorflow/log.h"

namespace importers::tensorflow {
namespace {

constexpr std::string_view kExecuting = "Executing op ", kIn = " in device ";
constexpr std::string_view kJob = "/job:";
constexpr std::string_view kPlacementWhy =
    "placements tell names, types and devices, but no shapes and no inputs; give a GraphDef of the run to replay it";

struct Placed {
  std::string_view name, type, device;
};

/// "name: (Op): /job:…" and, before 1.14, "name: (Op)/job:…". Names empty: another line.
Placed placed(std::string_view text) {
  const size_t open = text.find(": (");
  if (open == text.npos || open == 0 || text.substr(0, open).find(' ') != text.npos) return {};
  const size_t close = text.find(')', open);
  if (close == text.npos) return {};
  std::string_view device = text.substr(close + 1);
  if (device.starts_with(": ")) device.remove_prefix(2);
  if (!device.starts_with(kJob)) return {};
  return {text.substr(0, open), text.substr(open + 3, close - open - 3), device};
}

Placed executing(std::string_view text) {
  const size_t in = text.find(kIn);
  if (!text.starts_with(kExecuting) || in == text.npos) return {};
  const std::string_view type = text.substr(kExecuting.size(), in - kExecuting.size());
  return {type, type, text.substr(in + kIn.size())};
}

/// Eager operators have no names: "MatMul", "MatMul_1", … as a graph would name them.
void add_eager(Log& log, std::unordered_map<std::string, int64_t>& seen, const Placed& op, const LogLine& line) {
  const int64_t n = seen[std::string(op.type)]++;
  log.op(n == 0 ? std::string(op.type) : fmt::format("{}_{}", op.type, n), op.type, op.device, line.number);
  log.keep();
}

}  // namespace

Match match_placement(const Input& input) {
  int lines = 0;
  bool found = false;
  each_log_line(input.bytes.substr(0, size_t{1} << 22), [&](const LogLine& line) {
    found = !placed(line.text).name.empty() || !executing(line.text).name.empty();
    return !found && ++lines < 10'000;
  });
  if (found) return {Match::likely, "lines of placement: 'name: (Op): /job:…'"};
  return {Match::none, "no line places an op on a device"};
}

base::Result<model::Imported> read_placement(const Input& input, const TakeModule&) {
  const bool eager = input.bytes.find(kExecuting) != std::string_view::npos;
  Log log(input, "tensorflow-placement", "placements");
  std::unordered_map<std::string, int64_t> seen;
  int64_t small_graphs = 0, repeated = 0;
  each_log_line(input.bytes, [&](const LogLine& line) {
    if (const Placed op = executing(line.text); !op.name.empty()) return add_eager(log, seen, op, line), true;
    const Placed op = placed(line.text);
    if (op.name.empty()) return true;
    if (eager) return ++small_graphs, log.pass_over(), true;
    const size_t known = log.size();
    log.op(op.name, op.type, op.device, line.number);
    if (log.size() == known) return ++repeated, log.pass_over(), true;
    return log.keep(), true;
  });
  if (repeated > 0) log.note("repeated", fmt::format("{} lines place a node again", repeated));
  if (small_graphs > 0)
    log.note("eager", fmt::format("{} lines place eager operators before they are announced; the announcements are kept", small_graphs));
  log.note("graph-order",
           eager ? "operators stand in the order of execution" : "nodes stand in the graph's order, which is not that of execution");
  return log.finish(kPlacementWhy);
}

}  // namespace importers::tensorflow
