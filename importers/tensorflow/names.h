// What the name of a TensorFlow node tells: op type, phase, what it launches, the part of the model.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "src/model/operator_records.h"

namespace importers::tensorflow {

/// A name without what logs and edges write around it: '^', ":n", quotes, "{{node …}}". A view into `text`.
std::string_view node_name(std::string_view text);

/// What the other names of a program say about one of them.
struct NameContext {
  std::unordered_set<std::string_view> reciprocals;  ///< nodes X that have a ConstantFolding/X_recip: their division became a Mul
  std::unordered_set<std::string_view> variables;    ///< names V that have V/Assign, V/read or V/Initializer/…
  std::unordered_set<std::string_view> filled;       ///< names X that have X/shape_as_tensor: too large for a constant
  bool references = false;                           ///< variables of TensorFlow 1 that are no resources: V/read
  bool broadcasts = false;                           ///< the first step, which broadcasts variables: AssignVariableOp_k take them
  void add(std::string_view name);
  void add(NameContext other);
};

/// The op type that a name tells, "" if no rule covers it. In linear time, for any bytes.
std::string_view type_of_name(std::string_view name, const NameContext& context = {});
/// The phase of a node, from its name and its type ("" if not known).
model::Phase phase_of(std::string_view name, std::string_view type, const NameContext& context = {});
/// What a node of this type launches. Types that the registry lacks: nothing that is known of.
model::Launches launches_of(std::string_view type);
/// Part of the model: the directories of the name, without those that gradients and rewrites of graphs put around it.
/// "gradient_tape/resnet50/conv1_conv/Conv2D/Conv2DBackpropFilter" → "resnet50/conv1_conv".
/// Calls before it stay: "StatefulPartitionedCall/gradient_tape/net/dense/MatMul" → "StatefulPartitionedCall/net/dense".
std::string scope_of(std::string_view name);

/// Everything together; the second of a name whose type has been told.
model::Operator operator_of_name(std::string_view name, const NameContext& context = {});
model::Operator operator_of_name(std::string_view name, std::string_view type, const NameContext& context);

}  // namespace importers::tensorflow
