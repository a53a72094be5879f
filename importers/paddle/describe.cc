// Phases come from op_role where the text has it (paddle/fluid/framework/op_proto_maker.h), in PIR from where the gradients stand.
// Recomputed operators are the forward ones that stand again in the backward pass: their results carry `.subprog_N`.
#include "importers/paddle/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "importers/paddle/attribute.h"
#include "importers/paddle/lower.h"
#include "importers/paddle/signature.h"
#include "src/base/json_text.h"
#include "src/base/text.h"
#include "src/ir/shape.h"

namespace importers::paddle {
namespace {

enum Role : int64_t { kBackward = 1, kOptimize = 2, kDistributed = 8, kSchedule = 16 };

constexpr std::string_view kOptimizers[] = {"adam",        "adamw",           "momentum", "sgd",    "lamb",
                                            "merged_adam", "merged_momentum", "adagrad",  "rmsprop"};
constexpr std::string_view kValues[] = {"full",
                                        "full_int_array",
                                        "fill_constant",
                                        "assign_value",
                                        "data",
                                        "feed",
                                        "fetch",
                                        "builtin.parameter",
                                        "builtin.get_parameter",
                                        "builtin.constant",
                                        "builtin.combine",
                                        "builtin.split",
                                        "builtin.slice",
                                        "builtin.set_parameter",
                                        "builtin.shadow_output",
                                        "shape",
                                        "shape64"};
constexpr std::string_view kLaunchNothing[] = {"data",
                                               "feed",
                                               "fetch",
                                               "builtin.parameter",
                                               "builtin.get_parameter",
                                               "builtin.constant",
                                               "builtin.combine",
                                               "builtin.split",
                                               "builtin.slice",
                                               "builtin.set_parameter",
                                               "builtin.shadow_output",
                                               "cf.yield",
                                               "recv_v2",
                                               "send_v2",
                                               "nop",
                                               "shadow_feed"};
constexpr std::string_view kMixedPrecision[] = {"check_finite_and_unscale", "update_loss_scaling"};

bool is_in(std::string_view word, std::span<const std::string_view> words) { return std::ranges::find(words, word) != words.end(); }

bool is_communication(std::string_view type) {
  return type.starts_with("c_allreduce") || type.starts_with("c_reduce") || type.starts_with("c_broadcast") ||
         type.starts_with("c_allgather") || type.starts_with("c_concat") || type.starts_with("mp_allreduce") || type == "all_reduce" ||
         type == "all_gather" || type == "reduce_scatter" || type == "c_reducescatter" || type == "alltoall" || type == "send_v2" ||
         type == "recv_v2" || type == "partial_send" || type == "partial_recv" || type == "broadcast" || type == "p_send" ||
         type == "p_recv";
}

bool on_host(const Operator& op) {
  const std::string_view device = op.attribute("op_device"), place = plain_value(op.attribute("place"));
  return device == "cpu" || flag_of(op.attribute("force_cpu")).value_or(false) || place == "Place(cpu)" ||
         op.attribute("kernel_key").find("backend:CPU|") != std::string_view::npos;
}

/// A value as JSON: numbers and truth values as they are, the rest as text.
std::string json_of(std::string_view value) {
  if (const std::string_view plain = plain_value(value); plain == "True" || plain == "true" || plain == "False" || plain == "false")
    return plain[0] == 'T' || plain[0] == 't' ? "true" : "false";
  if (const auto integer = integer_of(value)) return std::to_string(*integer);
  if (const auto number = number_of(value)) return nlohmann::json(*number).dump();
  return base::json_text(base::escaped(text_of(value)));
}

/// By name; of several values of a name the last.
std::string json_object(std::vector<std::pair<std::string_view, std::string>>& values) {
  std::ranges::stable_sort(values, {}, [](const auto& value) { return value.first; });
  std::string object = "{";
  for (size_t k = 0; k < values.size(); ++k) {
    if (k + 1 < values.size() && values[k + 1].first == values[k].first) continue;
    if (object.size() > 1) object += ',';
    base::append_json(object, base::escaped(values[k].first));
    object.append(":").append(values[k].second);
  }
  return object += '}';
}

/// Said of every operator, or said elsewhere.
constexpr std::string_view kLeftOut[] = {"op_role",         "op_namescope",  "op_device",   "op_role_var",
                                         "with_quant_attr", "stop_gradient", "persistable", "is_persistable",
                                         "op_callstack",    "struct_name",   "place",       "use_calc_stream"};

}  // namespace

Describer::Describer(const Program& program, std::string_view text) : program_(program), text_(text) {
  const Block& block = program.blocks[0];
  for (size_t k = 0; k < block.operators.size(); ++k) {
    if (!plain_type(block.operators[k]).ends_with("_grad")) continue;
    first_gradient_ = std::min(first_gradient_, k);
    last_gradient_ = k;
  }
}

/// Each block once, from a stack of our own: a hostile text may nest as deep as it is long.
std::vector<Described> Describer::named() {
  struct Frame {
    size_t block, next, place;
  };
  std::vector<Described> all;
  size_t operators = 0;
  for (const Block& block : program_.blocks) operators += block.operators.size();
  all.reserve(operators);
  std::vector<bool> seen(program_.blocks.size(), false);
  for (size_t first = 0; first < program_.blocks.size(); ++first) {
    if (seen[first]) continue;
    seen[first] = true;
    std::vector<Frame> open{{first, 0, 0}};
    while (!open.empty()) {
      Frame& frame = open.back();
      const std::vector<Operator>& operators = program_.blocks[frame.block].operators;
      if (frame.next == operators.size()) {
        open.pop_back();
        continue;
      }
      const Operator& op = operators[frame.next++];
      const size_t place = open.size() == 1 ? frame.next - 1 : frame.place;
      all.push_back(named(op, place));
      for (auto inner = op.blocks.rbegin(); inner != op.blocks.rend(); ++inner) {
        const auto block = static_cast<size_t>(*inner);
        if (block >= seen.size() || seen[block]) continue;
        seen[block] = true;
        open.push_back({block, 0, place});
      }
    }
  }
  return all;
}

model::Phase Describer::phase_of(const Operator& op, size_t place) const {
  const std::string_view type = plain_type(op);
  if (is_communication(type)) return model::Phase::communication;
  if (is_in(type, kOptimizers) || is_in(type, kMixedPrecision)) return model::Phase::optimizer;
  if (const auto role = integer_of(op.attribute("op_role"))) {
    if ((*role & kOptimize) != 0 || (*role & kSchedule) != 0) return model::Phase::optimizer;
    if ((*role & kBackward) != 0) return model::Phase::backward;
    return model::Phase::forward;
  }
  if (type.ends_with("_grad")) return model::Phase::backward;
  if (is_in(type, kValues)) return model::Phase::auxiliary;
  if (first_gradient_ == SIZE_MAX || place < first_gradient_) return model::Phase::forward;
  return place < last_gradient_ ? model::Phase::backward : model::Phase::optimizer;
}

std::string Describer::scope_of(const Operator& op) const {
  std::string_view scope = op.attribute("op_namescope");
  if (scope.empty()) scope = text_of(op.attribute("struct_name"));
  while (scope.starts_with('/')) scope.remove_prefix(1);
  while (scope.ends_with('/')) scope.remove_suffix(1);
  return base::escaped(scope);
}

std::string Describer::attributes_of(const Operator& op) const {
  std::vector<std::pair<std::string_view, std::string>> values;  // as JSON
  const auto tell = [&](std::string_view name, std::string json) { values.emplace_back(name, std::move(json)); };
  for (const Attribute& attribute : op.attributes) {
    if (!is_in(attribute.name, kLeftOut)) tell(attribute.name, json_of(attribute.value));
  }
  const std::string_view type = plain_type(op);
  const auto results_end_with = [&](std::string_view mark) {
    return std::ranges::any_of(op.outputs, [&](const Slot& slot) {
      return std::ranges::any_of(slot.arguments, [&](std::string_view name) { return name.find(mark) != std::string_view::npos; });
    });
  };
  if (const auto role = integer_of(op.attribute("op_role"))) tell("role", std::to_string(*role));
  if (!type.ends_with("_grad") && results_end_with(".subprog_") && !results_end_with("@GRAD")) tell("recompute", "true");
  if (const auto ring = integer_of(op.attribute("ring_id"))) tell("ring", std::to_string(*ring));
  if (is_in(type, kMixedPrecision)) tell("mixed_precision", "true");
  if ((type == "sum" || type == "add_n") && !op.inputs.empty()) tell("accumulates", std::to_string(op.inputs[0].arguments.size()));
  if (!op.distribution.empty()) tell("dist_attr", base::json_text(base::escaped(op.distribution)));
  if (op.id >= 0) tell("id", std::to_string(op.id));
  return json_object(values);
}

int64_t Describer::line_of(size_t offset) {
  const size_t to = std::min(offset, text_.size());
  if (to < at_) at_ = 0, line_ = 1;
  for (; (at_ = text_.find('\n', at_)) < to; ++at_) ++line_;
  at_ = to;
  return line_;
}

Described Describer::named(const Operator& op, size_t place) {
  const std::string_view type = shown_type(op);
  return {&op, place, line_of(op.offset), fmt::format("{}_{}", base::escaped(type), counts_[type]++)};
}

model::Operator Describer::describe(const Described& described) const {
  const Operator& op = *described.op;
  model::Operator made;
  made.name = described.name;
  made.type = base::escaped(shown_type(op));
  made.line = described.line;
  made.shape = described.shape;
  made.shape_from = made.shape.empty() ? model::Known::no : model::Known::given;
  made.note = described.note;
  made.scope = scope_of(op);
  made.phase = phase_of(op, described.place);
  made.launches = is_in(plain_type(op), kLaunchNothing) ? model::Launches::nothing
                  : on_host(op)                         ? model::Launches::host
                                                        : model::Launches::device;
  made.device = base::escaped(op.attribute("op_device"));
  made.attributes = attributes_of(op);
  for (const Slot& slot : op.inputs) {
    for (const std::string_view name : slot.arguments) {
      if (!name.empty()) made.inputs.push_back(base::escaped(name));
    }
  }
  return made;
}

}  // namespace importers::paddle
