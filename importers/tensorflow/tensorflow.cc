// From a list of node names to operators, and where the names tell a model that is known, to its module.
#include "importers/tensorflow/tensorflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <unordered_map>

#include "importers/tensorflow/families.h"
#include "importers/tensorflow/lower.h"
#include "importers/tensorflow/names.h"
#include "importers/tensorflow/node_list.h"
#include "importers/tensorflow/step.h"
#include "src/base/hash.h"
#include "src/base/parallel.h"
#include "src/base/text.h"

namespace importers::tensorflow {
namespace {

NameContext context_of(const NodeList& list) {
  NameContext context;
  for (const ListedName& listed : list.names) context.add(listed.name);
  return context;
}

std::string attributes_of(const NodeList& list, const ListedName& listed) {
  return listed.number < 0 ? "" : fmt::format(R"({{"{}": {}}})", list.clusters ? "cluster" : "id", listed.number);
}

std::vector<model::Operator> operators_of(const NodeList& list) {
  const NameContext context = context_of(list);
  std::vector<model::Operator> operators;
  operators.reserve(list.names.size() + list.names.size() / 16);  // with room for those that a model implies
  operators.resize(list.names.size());
  constexpr size_t kLeast = 1024;  // names that are worth a thread
  base::for_all(operators.size(), kLeast, [&](size_t i) {
    operators[i] = operator_of_name(list.names[i].name, context);
    operators[i].line = list.names[i].line;
    operators[i].attributes = attributes_of(list, list.names[i]);
  });
  std::unordered_map<int64_t, size_t> by_id;
  for (size_t i = 0; i < operators.size(); ++i) {
    if (list.names[i].number >= 0) by_id.emplace(list.names[i].number, i);
  }
  for (const auto& [before, after] : list.resource_deps) {
    const auto from = by_id.find(before), to = by_id.find(after);
    if (from != by_id.end() && to != by_id.end()) operators[to->second].inputs.push_back("^" + operators[from->second].name);
  }
  return operators;
}

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

model::Note untyped(const std::vector<model::Operator>& operators) {
  const auto count = std::ranges::count(operators, "", &model::Operator::type);
  return {0, 0, "unknown-type", fmt::format("{} of {} names tell no op type; a GraphDef of the run would", count, operators.size())};
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
  if (step.launching > 0)
    imported.notes.push_back({0, 0, "implied-nodes",
                              fmt::format("{} nodes that launch something are not in the list; the model implies them, and they are "
                                          "replayed",
                                          step.launching)});
}

/// Wires the model's step, lowers it, and hands the module over with its operators.
base::Status hand_over(const Input& input, const Family& family, std::vector<model::Operator> operators, model::Imported& imported,
                       const TakeModule& take) {
  const StepSizes sizes = sizes_of(input.options);
  const auto listed = static_cast<int64_t>(operators.size());
  imported.source.options = fmt::format("batch={} image={}", sizes.batch, sizes.image);
  auto step = wire_step(family, std::move(operators), sizes);
  if (!step.ok()) return base::Error{fmt::format("{}: {}", base::escaped(input.path), step.error().message)};
  RETURN_IF_ERROR(take.ahead(imported.source, step->operators));
  auto lowered = lower(step->graph);
  imported.notes.push_back(assumed(input, family, sizes));
  note_nodes(*step, listed, imported);
  if (!lowered.ok()) {
    imported.operators = std::move(step->operators);
    imported.notes.push_back(not_replayable(lowered.error().message));
    return {};
  }
  std::ranges::move(lowered->notes, std::back_inserter(imported.notes));
  ++imported.source.modules;
  imported.source.computations += static_cast<int64_t>(lowered->module.computations.size());
  return take(imported.source, {std::move(lowered->module), std::move(step->operators)}, "");
}

}  // namespace

Match match_nodes(const Input& input) { return match_node_list(input.bytes); }

base::Result<model::Imported> read_nodes(const Input& input, const TakeModule& take) {
  auto sha256 = std::async(std::launch::async, base::sha256_hex, input.bytes);
  NodeList list = read_node_list(input.bytes);
  model::Imported imported;
  imported.source = source_of(input, list);
  imported.source.sha256 = sha256.get();
  std::vector<model::Operator> operators = operators_of(list);
  imported.notes = std::move(list.notes);
  if (std::ranges::find(operators, "", &model::Operator::type) != operators.end()) imported.notes.push_back(untyped(operators));
  const auto family = recognise(operators);
  if (!family) {
    imported.operators = std::move(operators);
    imported.notes.push_back(not_replayable("names alone tell no shapes and no edges, and these are of no model that is known"));
    return imported;
  }
  RETURN_IF_ERROR(hand_over(input, *family, std::move(operators), imported, take));
  return imported;
}

}  // namespace importers::tensorflow
