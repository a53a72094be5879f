// From a list of node names to operators, and where the names tell a model that is known, to its module.
#include "importers/tensorflow/tensorflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <memory>
#include <utility>

#include "importers/tensorflow/families.h"
#include "importers/tensorflow/lower.h"
#include "importers/tensorflow/node_list.h"
#include "importers/tensorflow/step.h"
#include "importers/tensorflow/typed_list.h"
#include "src/base/hash.h"
#include "src/base/text.h"

namespace importers::tensorflow {
namespace {

model::Source source_of(const Input& input, const NodeList& list) {
  model::Source source;
  source.path = input.path;
  source.format = "tensorflow-nodes";
  source.bytes = static_cast<int64_t>(input.bytes.size());
  source.records = "operators";
  source.read = list.read;
  source.dropped = list.repeated + list.refused;
  source.kept = list.read - source.dropped;
  return source;
}

void note_untyped(const TypedList& list, model::Imported& imported) {
  const auto count = std::ranges::count(list.types, std::string_view());
  if (count == 0) return;
  imported.notes.push_back(
      {0, 0, "unknown-type", fmt::format("{} of {} names tell no op type; a GraphDef of the run would", count, list.size())});
}

model::Note not_replayable(std::string_view why) {
  return {0, 0, "not-replayable",
          fmt::format("{}; give a GraphDef of the run (tf.io.write_graph, or str(graph.as_graph_def(add_shapes=True)))", why)};
}

StepSizes sizes_of(const Options& options) {
  StepSizes sizes;
  if (options.batch > 0) sizes.batch = options.batch;
  if (options.image > 0) sizes.image = options.image;
  return sizes;
}

/// What the names do not tell and a replay goes by.
model::Note assumed(const Input& input, const Family& family, const StepSizes& sizes) {
  const auto from = [](int64_t given) { return given > 0 ? "given" : "assumed"; };
  return {0, 0, "inferred-model",
          fmt::format(
              "the names are those of {}: edges, shapes and attributes follow from it; batch {} ({}: --batch), images {}×{} ({}: --image), "
              "{} classes, f32 (assumed)",
              family.model.name, sizes.batch, from(input.options.batch), sizes.image, sizes.image, from(input.options.image),
              family.model.layers.back().features)};
}

void note_nodes(const StepNodes::Result& step, int64_t listed, model::Imported& imported) {
  if (step.wired < listed)
    imported.notes.push_back(
        {0, 0, "outside-the-model",
         fmt::format("{} of {} nodes are not part of the model's step (initial values, other graphs); they are kept as operators "
                     "and not replayed",
                     listed - step.wired, listed)});
  if (!step.launching.empty())
    imported.notes.push_back({0, 0, "implied-nodes",
                              fmt::format("{} nodes that launch something are not in the list; the model implies them, and they are "
                                          "replayed",
                                          step.launching.size())});
}

/// Wires the model's step, lowers it, and hands the module over with its operators.
base::Status hand_over(const Input& input, const Family& family, std::shared_ptr<const TypedList> list, model::Imported& imported,
                       const TakeModule& take) {
  const StepSizes sizes = sizes_of(input.options);
  imported.source.options = fmt::format("batch={} image={}", sizes.batch, sizes.image);
  auto wired = wire_step(family, *list, sizes);
  if (!wired.ok()) return base::Error{fmt::format("{}: {}", base::escaped(input.path), wired.error().message)};
  const auto step = std::make_shared<const StepNodes::Result>(*std::move(wired));
  const auto make = [list, step](size_t i) { return operator_of(*list, *step, i); };
  ASSIGN_OR_RETURN(std::vector<model::Operator> operators, take.ahead(imported.source, {step->operators(), make}));
  auto lowered = lower(step->graph);
  imported.notes.push_back(assumed(input, family, sizes));
  note_nodes(*step, static_cast<int64_t>(list->size()), imported);
  if (!lowered.ok()) {
    imported.operators = std::move(operators);
    imported.notes.push_back(not_replayable(lowered.error().message));
    return {};
  }
  std::ranges::move(lowered->notes, std::back_inserter(imported.notes));
  ++imported.source.modules;
  imported.source.computations += static_cast<int64_t>(lowered->module.computations.size());
  return take(imported.source, {std::move(lowered->module), std::move(operators)}, "");
}

}  // namespace

Match match_nodes(const Input& input) { return match_node_list(input.bytes); }

base::Result<model::Imported> read_nodes(const Input& input, const TakeModule& take) {
  auto sha256 = std::async(std::launch::async, base::sha256_hex, input.bytes);
  NodeList list = read_node_list(input.bytes);
  model::Imported imported;
  imported.source = source_of(input, list);
  imported.source.sha256 = sha256.get();
  imported.notes = std::exchange(list.notes, {});
  const auto typed = std::make_shared<const TypedList>(tensorflow::typed(std::move(list)));
  note_untyped(*typed, imported);
  const auto family = recognise(*typed);
  if (!family) {
    imported.operators = TakeModule::made({typed->size(), [&](size_t i) { return operator_of(*typed, i); }});
    imported.notes.push_back(not_replayable("names alone tell no shapes and no edges, and these are of no model that is known"));
    return imported;
  }
  RETURN_IF_ERROR(hand_over(input, *family, typed, imported, take));
  return imported;
}

}  // namespace importers::tensorflow
