// Rules from names to op types, each a row of a table. Python's API names a node after its op ("Conv2D", "Conv2D_3") or after the function
// that was called ("truediv"), below the scopes of its layers; rewrites of the graph add endings and prefixes of their own. What no row
// covers has no type: a guess would look like knowledge.
#include "importers/tensorflow/names.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "importers/tensorflow/op_types.h"

namespace importers::tensorflow {
namespace {

using model::Launches;
using model::Phase;

struct Row {
  std::string_view name, type;
};

/// What Python's functions call their nodes.
constexpr Row kFunctions[] = {
    {"add", "AddV2"},
    {"sub", "Sub"},
    {"mul", "Mul"},
    {"div", "RealDiv"},
    {"truediv", "RealDiv"},
    {"div_no_nan", "DivNoNan"},
    {"floordiv", "FloorDiv"},
    {"mod", "FloorMod"},
    {"pow", "Pow"},
    {"strided_slice", "StridedSlice"},
    {"concat", "ConcatV2"},
    {"split", "Split"},
    {"stack", "Pack"},
    {"unstack", "Unpack"},
    {"range", "Range"},
    {"one_hot", "OneHot"},
    {"transpose", "Transpose"},
    {"zeros_like", "ZerosLike"},
    {"ones_like", "OnesLike"},
    {"clip_by_value", "Maximum"},
    {"AssignNewValue", "AssignVariableOp"},
    {"read", "Identity"},
    {"control_dependency", "Identity"},
    {"group_deps", "NoOp"},
};

/// Arguments that Python turns into constants below the node that takes them.
constexpr Row kArguments[] = {
    {"shape", "Const"},       {"begin", "Const"},
    {"end", "Const"},         {"size", "Const"},
    {"stack", "Const"},       {"axis", "Const"},
    {"perm", "Const"},        {"paddings", "Const"},
    {"multiples", "Const"},   {"reduction_indices", "Const"},
    {"x", "Const"},           {"y", "Const"},
    {"alpha", "Const"},       {"depth", "Const"},
    {"on_value", "Const"},    {"off_value", "Const"},
    {"delta", "Const"},       {"start", "Const"},
    {"limit", "Const"},       {"dim", "Const"},
    {"split_dim", "Const"},   {"shape_as_tensor", "Const"},
    {"lr", "Const"},          {"learning_rate", "Const"},
    {"value", "Const"},       {"beta1", "Const"},
    {"beta2", "Const"},       {"epsilon", "Const"},
    {"beta1_power", "Const"}, {"beta2_power", "Const"},
};

/// Random numbers in a range: constants and arithmetic around one op, below V/Initializer or alone.
constexpr Row kRandom[] = {{"shape", "Const"}, {"min", "Const"}, {"max", "Const"}, {"mean", "Const"}, {"stddev", "Const"}};
constexpr std::string_view kRandomScopes[] = {"random_uniform", "truncated_normal", "random_normal"};

/// Stages of Grappler's arithmetic optimizer that tell the type of the node they make.
constexpr Row kStages[] = {
    {"AddOpsRewrite_", "AddN"},
    {"HoistCommonFactor_Mul_", "Mul"},
    {"HoistCommonFactor_Add_", "AddV2"},
    {"FoldMultiplyIntoConv_scaled_", "Mul"},
    {"ConvertPow_", ""},
};
constexpr std::string_view kReorder = "ReorderCastLikeAndValuePreserving_";

constexpr Row kLayouts[] = {
    {"Transpose", "Transpose"},
    {"PermConst", "Const"},
    {"DataFormatVecPermute", "DataFormatVecPermute"},
    {"DataFormatDimMap", "DataFormatDimMap"},
};

/// Names that go on with the tensor they move.
constexpr Row kCommunication[] = {
    {"HorovodAllreduce_", "HorovodAllreduce"}, {"HorovodAllgather_", "HorovodAllgather"}, {"HorovodBroadcast_", "HorovodBroadcast"},
    {"HorovodAlltoall_", "HorovodAlltoall"},   {"BytePSPushPull_", "BytepsPushPull"},     {"BytePSBroadcast_", "BytepsBroadcast"},
};
constexpr std::string_view kCommunicationScopes[] = {"Horovod", "horovod", "BytePS", "byteps"};
constexpr std::string_view kCommunicationEndings[] = {"_Allreduce", "_Push_Pull"};

constexpr std::string_view kOptimizers[] = {
    "SGD",
    "Adam",
    "AdamW",
    "Adamax",
    "Nadam",
    "RMSprop",
    "RMSProp",
    "Adagrad",
    "Adadelta",
    "Momentum",
    "Ftrl",
    "LAMB",
    "Lion",
    "Adafactor",
    "GradientDescent",
    "ProximalAdagrad",
    "AdamWeightDecayOptimizer",
    // Keras 3
    "sgd",
    "adam",
    "adamw",
    "adamax",
    "nadam",
    "rmsprop",
    "adagrad",
    "adadelta",
    "ftrl",
    "lamb",
    "lion",
    "adafactor",
    "muon",
    "loss_scale_optimizer",
};

/// "final_shape/X_0" is made by dPRO to ask for the shape of X:0; whether it was folded into a constant, its name does not tell.
constexpr std::string_view kAsked = "final_shape/";

/// Scopes of nodes that no step of training runs.
constexpr std::string_view kAside[] = {"report_uninitialized_variables", "save", "init"};

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// "Conv2D_3" → "Conv2D": TensorFlow numbers what would be named alike.
std::string_view without_number(std::string_view component) {
  const size_t at = component.rfind('_');
  return at != std::string_view::npos && at > 0 && is_digits(component.substr(at + 1)) ? component.substr(0, at) : component;
}

std::string_view last_component(std::string_view name) { return name.substr(name.rfind('/') + 1); }
std::string_view first_component(std::string_view name) { return name.substr(0, name.find('/')); }
std::string_view directory(std::string_view name) {
  const size_t at = name.rfind('/');
  return at == std::string_view::npos ? std::string_view() : name.substr(0, at);
}

template <size_t n>
std::string_view exact(const Row (&rows)[n], std::string_view name) {
  const auto row = std::ranges::find(rows, name, &Row::name);
  return row == std::end(rows) ? std::string_view() : row->type;
}
template <size_t n>
const Row* beginning(const Row (&rows)[n], std::string_view name) {
  const auto row = std::ranges::find_if(rows, [&](const Row& r) { return name.starts_with(r.name); });
  return row == std::end(rows) ? nullptr : row;
}
template <size_t n>
bool is_one_of(const std::string_view (&words)[n], std::string_view word) {
  return std::ranges::find(words, word) != std::end(words);
}

/// Type of a component that is named after an op or a function.
std::string_view type_of_component(std::string_view component) {
  for (const std::string_view word : {component, without_number(component)}) {
    if (const OpType* type = find_op_type(word)) return type->name;
    if (const std::string_view type = exact(kFunctions, word); !type.empty()) return type;
  }
  return {};
}

/// "X-0-TransposeNHWCToNCHW-LayoutOptimizer": fan-in port and op, fan-out with one number more.
std::string_view type_of_layout(std::string_view name) {
  constexpr std::string_view kEnd = "-LayoutOptimizer";
  if (!name.ends_with(kEnd)) return {};
  name.remove_suffix(kEnd.size());
  const std::string_view op = name.substr(name.rfind('-') + 1);
  const Row* row = op.find("To") == std::string_view::npos ? nullptr : beginning(kLayouts, op);
  return row == nullptr ? std::string_view() : row->type;
}

std::string_view type_of_stage(std::string_view component) {
  if (component.starts_with(kReorder)) {
    const std::string_view rest = component.substr(kReorder.size());
    return type_of_component(rest.substr(rest.find('_') + 1));
  }
  const Row* row = beginning(kStages, component);
  return row == nullptr ? std::string_view() : row->type;
}

/// Nodes of inlined functions: ".../input/_7", ".../output/_7", ".../output_control_node/_7".
std::string_view type_of_inlined(std::string_view name) {
  const std::string_view last = last_component(name);
  if (!last.starts_with('_') || !is_digits(last.substr(1))) return {};
  const std::string_view kind = last_component(directory(name));
  if (kind == "input" || kind == "output") return "Identity";
  return kind == "input_control_node" || kind == "output_control_node" ? "NoOp" : "";
}

std::string_view type_of_loss(std::string_view name) {
  if (without_number(last_component(name)) != "xentropy") return {};
  if (name.find("sparse_softmax_cross_entropy") != std::string_view::npos) return "SparseSoftmaxCrossEntropyWithLogits";
  return name.find("softmax_cross_entropy") != std::string_view::npos ? "SoftmaxCrossEntropyWithLogits" : "";
}

/// Initial values of variables of TensorFlow 1, and what assigns them.
std::string_view type_of_variable(std::string_view name, const NameContext& context) {
  const std::string_view last = last_component(name), parent = last_component(directory(name));
  if (last == "Assign") return context.references ? "Assign" : "AssignVariableOp";
  if (is_one_of(kRandomScopes, without_number(parent))) {
    if (const std::string_view type = exact(kRandom, last); !type.empty()) return type;
  }
  const std::string_view word = without_number(last);
  if (parent == "moments" && (word == "mean" || word == "variance")) return "Mean";
  if (is_one_of(kRandomScopes, word)) return "Add";
  if (word == "zeros" || word == "ones") return context.filled.contains(name) ? "Fill" : "Const";
  return {};
}

std::string_view type_of_argument(std::string_view name) {
  const std::string_view type = exact(kArguments, without_number(last_component(name)));
  const std::string_view parent = last_component(directory(name));
  if (type.empty() || parent.empty()) return {};
  const bool below_op = is_one_of(kOptimizers, parent) || is_one_of(kRandomScopes, without_number(parent)) || parent.starts_with("zeros") ||
                        parent.starts_with("ones") || !type_of_component(parent).empty();
  return below_op ? type : std::string_view();
}

bool is_gradient(std::string_view name) {
  const std::string_view first = first_component(name);
  return first == "gradient_tape" || first == "gradients" || name.find("/gradients/") != std::string_view::npos ||
         name.find("_grad/") != std::string_view::npos || name.find("/gradient_tape/") != std::string_view::npos;
}

bool is_communication(std::string_view name, std::string_view type, const NameContext& context) {
  if (name.starts_with("Func/")) name.remove_prefix(5);
  const std::string_view first = first_component(name);
  for (const std::string_view scope : kCommunicationScopes)
    if (first.starts_with(scope)) return true;
  for (const std::string_view ending : kCommunicationEndings)
    if (without_number(first).ends_with(ending)) return true;
  for (const std::string_view word : {"Horovod", "Byteps", "Collective", "Nccl", "_Nccl"})
    if (type.starts_with(word)) return true;
  return context.broadcasts && type == "AssignVariableOp" && directory(name).empty();
}

bool is_optimizer(std::string_view name, std::string_view type) {
  for (const std::string_view word : {"ResourceApply", "ResourceSparseApply", "Apply"})
    if (type.starts_with(word)) return true;
  if (type.starts_with("AssignAdd") || type.starts_with("AssignSub")) return true;
  const std::string_view rest = name.starts_with("training/") ? name.substr(9) : name;
  return is_one_of(kOptimizers, without_number(first_component(rest))) && !is_gradient(name);
}

bool is_aside(std::string_view name) {
  return is_one_of(kAside, without_number(first_component(name))) || name.find("/Initializer/") != std::string_view::npos ||
         name.starts_with(kAsked) || name.ends_with("/Assign");
}

/// The node of a call, which stands before the names in its function: "StatefulPartitionedCall_1".
bool names_call(std::string_view component) {
  const std::string_view type = without_number(component);
  return type == "StatefulPartitionedCall" || type == "PartitionedCall";
}

/// Bytes of the calls that a name begins with, their slashes included.
size_t leading_calls(std::string_view name) {
  size_t at = 0;
  for (size_t end = name.find('/'); end != name.npos && names_call(name.substr(at, end - at)); end = name.find('/', at)) at = end + 1;
  return at;
}

}  // namespace

std::string_view node_name(std::string_view text) {
  constexpr std::string_view kOpen = "{{node ";
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  if (text.starts_with('^')) text.remove_prefix(1);
  if (text.starts_with(kOpen) && text.ends_with("}}")) text = text.substr(kOpen.size(), text.size() - kOpen.size() - 2);
  const size_t colon = text.rfind(':');
  return colon != std::string_view::npos && colon > 0 && is_digits(text.substr(colon + 1)) ? text.substr(0, colon) : text;
}

void NameContext::add(std::string_view name) {
  constexpr std::string_view kFolded = "ConstantFolding/", kReciprocal = "_recip", kInitializer = "/Initializer/";
  const std::string_view last = last_component(name);
  if (name.starts_with(kFolded) && name.ends_with(kReciprocal))
    reciprocals.insert(name.substr(kFolded.size(), name.size() - kFolded.size() - kReciprocal.size()));
  if (last == "read") references = true;
  if (last == "read" || last == "Assign") variables.insert(directory(name));
  if (last == "shape_as_tensor") filled.insert(directory(name));
  if (const size_t at = name.find(kInitializer); at != std::string_view::npos) variables.insert(name.substr(0, at));
  if (last == "ReadVariableOp" && (name.starts_with("HorovodBroadcast") || name.starts_with("BytePSBroadcast"))) broadcasts = true;
}

void NameContext::add(NameContext other) {
  reciprocals.merge(other.reciprocals);
  variables.merge(other.variables);
  filled.merge(other.filled);
  references |= other.references;
  broadcasts |= other.broadcasts;
}

std::string_view type_of_name(std::string_view name, const NameContext& context) {
  std::string_view last = last_component(name);
  for (; last.starts_with("clone_") && is_digits(last.substr(6)); last = last_component(name)) name = directory(name);
  if (name.starts_with(kAsked)) return {};
  if (const std::string_view type = type_of_layout(name); !type.empty()) return type;
  if (name.starts_with("ConstantFolding/")) return "Const";
  if (name.starts_with("ArithmeticOptimizer/")) return type_of_stage(last);
  if (const std::string_view type = type_of_inlined(name); !type.empty()) return type;
  if (const std::string_view type = type_of_variable(name, context); !type.empty()) return type;
  if (const std::string_view type = type_of_argument(name); !type.empty()) return type;
  if (const std::string_view type = type_of_component(last); !type.empty())
    return type == "RealDiv" && context.reciprocals.contains(name) ? "Mul" : type;
  if (context.variables.contains(name)) return context.references ? "VariableV2" : "VarHandleOp";
  if (const Row* row = beginning(kCommunication, last)) return row->type;
  return type_of_loss(name);
}

Phase phase_of(std::string_view name, std::string_view type, const NameContext& context) {
  name.remove_prefix(leading_calls(name));
  if (is_communication(name, type, context)) return Phase::communication;
  if (is_aside(name)) return Phase::auxiliary;
  if (is_optimizer(name, type)) return Phase::optimizer;
  const OpType* known = find_op_type(type);
  if (known != nullptr && known->auxiliary) return Phase::auxiliary;
  if (known != nullptr && known->launches == Launches::host) return Phase::host;
  const bool sums_gradients = type == "AddN" && directory(name).empty();
  return is_gradient(name) || sums_gradients ? Phase::backward : Phase::forward;
}

Launches launches_of(std::string_view type) {
  const OpType* known = find_op_type(type);
  return known == nullptr ? Launches::nothing : known->launches;
}

std::string scope_of(std::string_view name) {
  std::string_view calls = name.substr(0, leading_calls(name));
  name.remove_prefix(calls.size());
  for (const std::string_view around : {"ConstantFolding/", "ArithmeticOptimizer/", "Func/", "gradient_tape/", "gradients/"})
    if (name.starts_with(around)) name.remove_prefix(around.size());
  name = directory(name);
  while (!name.empty()) {
    std::string_view last = last_component(name);
    if (last.ends_with("_grad")) last.remove_suffix(5);
    if (type_of_component(last).empty() && !names_call(last)) break;
    name = directory(name);
  }
  if (name.empty() && calls.ends_with('/')) calls.remove_suffix(1);
  return std::string(calls).append(name);
}

model::Operator operator_of_name(std::string_view name, const NameContext& context) {
  return operator_of_name(name, type_of_name(name, context), context);
}

model::Operator operator_of_name(std::string_view name, std::string_view type, const NameContext& context) {
  model::Operator op;
  op.name = name;
  op.type = type;
  op.scope = scope_of(name);
  op.phase = phase_of(name, type, context);
  op.type_from = type.empty() ? model::Known::no : model::Known::by_name;
  op.launches = launches_of(type);
  if (type.empty()) op.note = "no rule tells the op type of this name";
  return op;
}

}  // namespace importers::tensorflow
