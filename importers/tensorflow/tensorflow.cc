// From a list of node names to operators, and where the names tell a model that is known, to its module.
#include "importers/tensorflow/tensorflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "importers/tensorflow/names.h"
#include "importers/tensorflow/node_list.h"
#include "src/base/hash.h"

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
  operators.reserve(list.names.size());
  std::unordered_map<int64_t, size_t> by_id;
  for (const ListedName& listed : list.names) {
    model::Operator op = operator_of_name(listed.name, context);
    op.line = listed.line;
    op.attributes = attributes_of(list, listed);
    if (listed.number >= 0) by_id.emplace(listed.number, operators.size());
    operators.push_back(std::move(op));
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
  source.sha256 = base::sha256_hex(input.bytes);
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

}  // namespace

Match match_nodes(const Input& input) { return match_node_list(input.bytes); }

base::Result<model::Imported> read_nodes(const Input& input, const TakeModule&) {
  NodeList list = read_node_list(input.bytes);
  model::Imported imported;
  imported.source = source_of(input, list);
  imported.notes = std::move(list.notes);
  imported.operators = operators_of(list);
  if (std::ranges::find(imported.operators, "", &model::Operator::type) != imported.operators.end())
    imported.notes.push_back(untyped(imported.operators));
  imported.notes.push_back({0, 0, "not-replayable",
                            "names alone tell no shapes and no edges, and these are of no model that is known; give a GraphDef of the run "
                            "(tf.io.write_graph, or str(graph.as_graph_def(add_shapes=True)))"});
  return imported;
}

}  // namespace importers::tensorflow
