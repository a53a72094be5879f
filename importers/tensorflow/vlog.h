// Logs of the executor and of its memory: "Process node: …", "… kernel done: …", "__LOG_MEMORY__ …".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/importer.h"

namespace importers::tensorflow {

Match match_vlog(const Input& input);
/// Operators with types, inputs and attributes in the order of execution, shapes from memory lines; times where lines of kernels that are
/// done stand. Constant folding (step -1) is passed over.
base::Result<model::Imported> read_vlog(const Input& input, const TakeModule& take);

/// What SummarizeNode writes: "{{node a/b}} = Op[key=value, …](input, input:1, ^control)", with or without braces.
struct NodeSummary {
  std::string_view name, type;
  std::string_view attributes, inputs;  ///< between the brackets
  std::string_view rest;                ///< behind the parenthesis
};
std::optional<NodeSummary> node_summary(std::string_view text);
/// "key=value, …" at its own commas: those in brackets, braces, angles and quotes belong to a value.
std::vector<std::pair<std::string_view, std::string_view>> summary_attributes(std::string_view text);
/// "[[8,16], [4]]" → "f32[8,16]" …, as HLO writes one or several results; "" if a size is not known.
std::string summary_shapes(std::string_view shapes, std::string_view type);

}  // namespace importers::tensorflow
