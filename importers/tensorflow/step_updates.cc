// What a step does with gradients and variables: all-reduce, SGD, the broadcast of the first step. The k in cond_k and update_k counts the
// trained variables in the order of model.variables, that of AssignVariableOp_k all of them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "importers/tensorflow/step_parts.h"

namespace importers::tensorflow {
namespace {

/// k of "cond_7" for `word` "cond"; 0 of "cond" alone; -1: the component is another.
int64_t number_of(std::string_view component, std::string_view word) {
  if (!component.starts_with(word)) return -1;
  component.remove_prefix(word.size());
  if (component.empty()) return 0;
  int64_t value = -1;
  if (component.front() != '_') return -1;
  const auto [end, failed] = std::from_chars(component.data() + 1, component.data() + component.size(), value);
  return failed == std::errc() && end == component.data() + component.size() ? value : -1;
}

/// The k of the first component "word" or "word_k" of a name; -1: it has none.
int64_t number_in(std::string_view name, std::string_view word) {
  while (!name.empty()) {
    const size_t slash = std::min(name.find('/'), name.size());
    if (const int64_t number = number_of(name.substr(0, slash), word); number >= 0) return number;
    name.remove_prefix(std::min(slash + 1, name.size()));
  }
  return -1;
}

std::string with_underscores(std::string name) {
  std::ranges::replace(name, '/', '_');
  std::ranges::replace(name, ':', '_');
  return name;
}

class Updates {
 public:
  explicit Updates(Step& step) : step_(step), nodes_(step.nodes) {
    for (size_t v = 0; v < step.variables.size(); ++v)
      if (step.variables[v].trainable) trained_.push_back(v);
    find();
  }

  void run() {
    const Edge rate = learning_rate();
    for (size_t k = 0; k < trained_.size(); ++k) update(static_cast<int64_t>(k), step_.variables[trained_[k]], rate);
    count_iterations();
    broadcast();
  }

 private:
  /// One pass over the list for the names whose numbers are not known beforehand.
  void find() {
    for (size_t at = 0; at < nodes_.listed(); ++at) {
      const std::string_view name = nodes_.name(at);
      const std::string_view type = nodes_.type(at);
      if ((type == "Identity" || type == "HorovodAllreduce") && name.find("_Allreduce/cond") != std::string::npos) {
        if (const int64_t k = number_in(name, "cond"); k >= 0) reduce_[k].push_back(at);
      } else if (type == "ResourceApplyGradientDescent") {
        if (const int64_t k = number_in(name, "update"); k >= 0) updates_.emplace(k, at);
      } else if (type == "HorovodAllreduce") {
        reduce_by_name_.emplace(name.substr(name.rfind('/') + 1), at);
      } else if (type == "Const" && name.ends_with("_Allreduce/Const")) {
        nodes_.constant(std::string(name), filled_array(ir::Type::pred, {}, 0));  // more than one process?
      } else if (type == "AssignAddVariableOp") {
        iterations_.push_back(at);
      }
    }
  }

  /// The handle of a variable that is no layer's.
  Edge other(std::string name, const ir::Shape& shape, double value) {
    return nodes_.parameter(std::move(name), "VarHandleOp", shape, fmt::format(R"({{"constant": {}}})", value));
  }

  Edge learning_rate() {
    constexpr double kRate = 0.01;
    const ir::Shape scalar = ir::array_shape(ir::Type::f32, {});
    const auto hyper = [&](const std::string& read, const std::string& name, double value) {
      return nodes_.define(read, {"ReadVariableOp", {other(name, scalar, value)}, {scalar}});
    };
    if (nodes_.is_listed("SGD/Cast_1/ReadVariableOp")) hyper("SGD/Cast_1/ReadVariableOp", "SGD/momentum", 0);
    if (nodes_.is_listed("SGD/Cast/ReadVariableOp")) return hyper("SGD/Cast/ReadVariableOp", "SGD/learning_rate", kRate);
    return nodes_.constant("GradientDescent/learning_rate", filled_array(ir::Type::f32, {}, kRate));
  }

  Edge pass(size_t at, Edge edge, const ir::Shape& shape) {
    return nodes_.define(std::string(nodes_.name(at)), {nodes_.type(at), {edge}, {shape}});
  }

  /// What the gradient goes through on its way to the update.
  Edge reduced(int64_t k, const Variable& variable) {
    Edge edge = *variable.gradient;
    if (const auto found = reduce_.find(k); found != reduce_.end()) {
      for (const size_t at : found->second) edge = pass(at, edge, variable.shape);
      return edge;
    }
    const std::string tensor = fmt::format("HorovodAllreduce_{}_{}", with_underscores(nodes_.node(edge).name), edge.port);
    if (const auto found = reduce_by_name_.find(tensor); found != reduce_by_name_.end()) edge = pass(found->second, edge, variable.shape);
    const std::string number = k == 0 ? "" : fmt::format("_{}", k);
    const std::string scope = "DistributedGradientDescentOptimizer_Push_Pull/";
    const std::string mean = scope + "div" + number;
    if (!nodes_.is_listed(mean)) return edge;
    const Edge one = nodes_.constant("ConstantFolding/" + scope + "div_recip", filled_array(ir::Type::f32, {}, 1));
    return nodes_.define(mean, {"Mul", {edge, one}, {variable.shape}});
  }

  void update(int64_t k, Variable& variable, Edge rate) {
    std::string name = fmt::format("GradientDescent/update_{}/ResourceApplyGradientDescent", variable.name);
    if (const auto found = updates_.find(k); found != updates_.end()) name = nodes_.name(found->second);
    if (!variable.gradient || !nodes_.is_listed(name)) return;
    variable.assignments.push_back(
        nodes_.define(name, {"ResourceApplyGradientDescent", {variable.handle, rate, reduced(k, variable)}, {}, {{"use_locking", true}}}));
  }

  void count_iterations() {
    const ir::Shape scalar = ir::array_shape(ir::Type::s64, {});
    for (const size_t at : iterations_) {
      const std::string name(nodes_.name(at));
      const std::string scope = name.substr(0, name.rfind('/') + 1), first = name.substr(0, name.find('/'));
      const Edge one = nodes_.constant(scope + "Const", integer_array({1}, {}, ir::Type::s64));
      iteration_ = Variable{first + "/iter", other(first + "/iter", scalar, 0), scalar, false, {}, {}};
      iteration_.assignments = {nodes_.define(name, {"AssignAddVariableOp", {iteration_.handle, one}})};
    }
  }

  /// Every variable is read after its update and stored again; with one process nothing happens between.
  void broadcast() {
    std::vector<const Variable*> all;
    for (const Variable& variable : step_.variables) all.push_back(&variable);
    if (!iterations_.empty()) all.push_back(&iteration_);
    for (size_t k = 0; k < all.size(); ++k) {
      const std::string tail = with_underscores(all[k]->name) + "_0/ReadVariableOp";
      const std::string read = nodes_.pick({"HorovodBroadcast." + tail, "HorovodBroadcast_" + tail, "BytePSBroadcast_" + tail});
      const std::string assign = k == 0 ? "AssignVariableOp" : fmt::format("AssignVariableOp_{}", k);
      if (!nodes_.is_listed(read)) continue;
      const Edge value = nodes_.define(read, {"ReadVariableOp", {all[k]->handle}, {all[k]->shape}});
      for (const Edge& before : all[k]->assignments) nodes_.run_after(value, before);
      if (nodes_.is_listed(assign)) nodes_.define(assign, {"AssignVariableOp", {all[k]->handle, value}});
    }
  }

  Step& step_;
  StepNodes& nodes_;
  std::vector<size_t> trained_;
  std::map<int64_t, std::vector<size_t>> reduce_;  ///< nodes of cond_k in the order of the list, which is that of the data
  std::map<std::string, size_t, std::less<>> reduce_by_name_;
  std::map<int64_t, size_t> updates_;
  std::vector<size_t> iterations_;
  Variable iteration_;
};

}  // namespace

void wire_updates(Step& step) { Updates(step).run(); }

}  // namespace importers::tensorflow
