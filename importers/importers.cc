// The table of importers, and the choice among them.
#include "importers/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "importers/binary.h"
#include "importers/hlo/hlo.h"
#include "importers/paddle/paddle.h"
#include "importers/symbols/angle.h"
#include "importers/symbols/ctags.h"
#include "importers/symbols/lsif.h"
#include "importers/symbols/pysonar.h"
#include "importers/symbols/scip.h"
#include "importers/tensorflow/binary.h"
#include "importers/tensorflow/graph_def.h"
#include "importers/tensorflow/horovod.h"
#include "importers/tensorflow/placement.h"
#include "importers/tensorflow/step_stats.h"
#include "importers/tensorflow/summarizer.h"
#include "importers/tensorflow/tensorflow.h"
#include "importers/tensorflow/timeline.h"
#include "importers/tensorflow/vlog.h"
#include "importers/tensorflow/xprof.h"
#include "src/base/text.h"

namespace importers {
namespace {

constexpr Importer kImporters[] = {
    {"hlo", "XLA HLO text: a dump before or after optimisation", hlo::match, hlo::read},
    {"paddle", "PaddlePaddle program: printed old IR, protobuf text, PIR, GraphNet layer", paddle::match, paddle::read},
    {"symbols", "symbol dump of PySonar2 in angle brackets", symbols::match_angle, symbols::read_angle},
    {"ctags", "tags file of ctags", symbols::match_tags, symbols::read_tags},
    {"ctags-json", "JSON lines of Universal Ctags", symbols::match_tags_json, symbols::read_tags_json},
    {"pysonar", "JSON of PySonar2: symbols, references, docstrings, refs.json", symbols::match_pysonar, symbols::read_pysonar},
    {"scip", "SCIP index (protobuf)", symbols::match_scip, symbols::read_scip},
    {"scip-json", "SCIP index as JSON", symbols::match_scip_json, symbols::read_scip_json},
    {"lsif", "LSIF dump of a language server", symbols::match_lsif, symbols::read_lsif},
    {"tensorflow-nodes", "TensorFlow: names of a graph's nodes, one a line", tensorflow::match_nodes, tensorflow::read_nodes},
    {"tensorflow-graph", "TensorFlow: GraphDef as protobuf text", tensorflow::match_graph_def, tensorflow::read_graph_def},
    {"tensorflow-graph-binary", "TensorFlow: GraphDef, MetaGraphDef, SavedModel (protobuf)", tensorflow::match_binary_graph,
     tensorflow::read_binary_graph},
    {"tensorflow-vlog", "TensorFlow: log of the executor and of its memory", tensorflow::match_vlog, tensorflow::read_vlog},
    {"tensorflow-placement", "TensorFlow: log of device placement", tensorflow::match_placement, tensorflow::read_placement},
    {"tensorflow-step-stats", "TensorFlow: step_stats of RunMetadata as text", tensorflow::match_step_stats, tensorflow::read_step_stats},
    {"tensorflow-step-stats-binary", "TensorFlow: RunMetadata and StepStats (protobuf)", tensorflow::match_binary_step_stats,
     tensorflow::read_binary_step_stats},
    {"tensorflow-timeline", "TensorFlow: Chrome trace of timeline.Timeline", tensorflow::match_timeline, tensorflow::read_timeline},
    {"tensorflow-summarizer", "TensorFlow: table of StatSummarizer", tensorflow::match_summarizer, tensorflow::read_summarizer},
    {"tensorflow-profile", "TensorFlow: trace JSON of the profiler", tensorflow::match_xprof, tensorflow::read_xprof},
    {"tensorflow-xplane", "TensorFlow: XSpace of the profiler (protobuf)", tensorflow::match_xplane, tensorflow::read_xplane},
    {"horovod-timeline", "Horovod: timeline", tensorflow::match_horovod, tensorflow::read_horovod},
};

}  // namespace

std::span<const Importer> importers() { return kImporters; }

namespace {

struct Best {
  const Importer* importer = nullptr;
  Match::How how = Match::none;
};

/// None for a binary file that is known: it holds texts that look like lines of logs.
Best best_of(const Input& input) {
  if (!binary_kind(input.bytes).empty()) return {};
  Best best;
  for (const Importer& importer : kImporters) {
    const Match match = importer.match(input);
    if (match.how > best.how) best = {&importer, match.how};
    if (best.how == Match::sure) break;  // no later one is stronger
  }
  return best;
}

}  // namespace

Match::How match(const Input& input) { return best_of(input).how; }

namespace {

/// The importer that a person named.
base::Result<const Importer*> importer_named(const std::string& name) {
  const auto found = std::ranges::find(kImporters, name, &Importer::name);
  if (found != std::end(kImporters)) return &*found;
  std::vector<std::string_view> names;
  for (const Importer& importer : kImporters) names.push_back(importer.name);
  const std::string_view near = base::nearest(name, names);
  const std::string hint =
      near.empty() ? fmt::format("the formats are {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near);
  return base::Error{fmt::format("--as {}: no such format; {}", base::escaped(name), hint), base::Exit::wrong_use};
}

/// What the file is, where that is known; else what each format missed, a line each.
base::Error unknown_file(const Input& input) {
  const auto at_start = [&](std::string_view what) { return base::Error{fmt::format("{}:1:1: {}", base::escaped(input.path), what)}; };
  const std::string binary = binary_kind(input.bytes);
  if (!binary.empty()) return at_start(binary);
  if (input.bytes.find('\0') != std::string_view::npos)
    return at_start(
        fmt::format("is no text (byte {} is 0) and no binary format that is known; dump the program as text", input.bytes.find('\0')));
  std::string missed;
  for (const Importer& importer : kImporters) {
    const std::string reason = importer.match(input).reason;
    if (reason.starts_with("this is")) return at_start(reason);
    missed += fmt::format("\n  {}: {}", importer.name, reason);
  }
  return at_start("no importer knows this file; --as NAME reads it as one of:" + missed);
}

}  // namespace

base::Result<model::Imported> import(const Input& input, const TakeModule& take) {
  if (input.bytes.empty()) return base::Error{fmt::format("{}:1:1: is empty; dump the program again", base::escaped(input.path))};
  if (!input.options.as.empty()) {
    ASSIGN_OR_RETURN(const Importer* named, importer_named(input.options.as));
    return named->read(input, take);
  }
  const Best best = best_of(input);
  return best.importer == nullptr ? unknown_file(input) : best.importer->read(input, take);
}

base::Result<model::Imported> import(const Input& input) {
  return keep_modules(input, [](const Input& in, const TakeModule& take) { return import(in, take); });
}

}  // namespace importers
