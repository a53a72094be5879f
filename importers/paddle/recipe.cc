// State has the values that a run would have left in it: scales, powers and rates that keep everything finite; labels and ids stay within
// their classes. What passes a value on unchanged is walked through backwards.
#include "importers/paddle/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "importers/paddle/name_index.h"

namespace importers::paddle {
namespace {

constexpr int kLongestChain = 16;

struct RecipeRule {
  std::string_view type, slot, recipe;  ///< type "": any operator
};
constexpr RecipeRule kRecipeRules[] = {
    {"", "Beta1Pow", R"({"constant": 0.9})"},
    {"", "Beta2Pow", R"({"constant": 0.999})"},
    {"", "LearningRate", R"({"constant": 0.0001})"},
    {"", "Moment1", R"({"uniform": [-0.001, 0.001]})"},
    {"", "Moment2", R"({"uniform": [0, 0.000001]})"},
    {"", "Velocity", R"({"uniform": [-0.001, 0.001]})"},
    {"", "PrevLossScaling", R"({"constant": 32768})"},
    {"check_finite_and_unscale", "Scale", R"({"constant": 32768})"},
    {"", "InGoodSteps", R"({"constant": 0})"},
    {"", "InBadSteps", R"({"constant": 0})"},
    {"batch_norm", "Variance", R"({"uniform": [0.5, 1.5]})"},
    {"batch_norm", "Mean", R"({"uniform": [-0.1, 0.1]})"},
    {"batch_norm", "Scale", R"({"uniform": [0.5, 1.5]})"},
    {"layer_norm", "Scale", R"({"uniform": [0.5, 1.5]})"},
    {"rms_norm", "Scale", R"({"uniform": [0.5, 1.5]})"},
};
/// Numbers below a size of another operand.
struct IndexRule {
  std::string_view type, slot, other;
  bool last;  ///< the other's last dimension, else its first
};
constexpr IndexRule kIndexRules[] = {
    {"softmax_with_cross_entropy", "Label", "Logits", true},
    {"c_softmax_with_cross_entropy", "Label", "Logits", true},
    {"c_embedding", "Ids", "W", false},
    {"lookup_table", "Ids", "W", false},
    {"lookup_table_v2", "Ids", "W", false},
    {"gather_nd", "Index", "X", false},
    {"gather", "Index", "X", false},
};
/// Operators whose result has the values of their operand.
constexpr std::string_view kPassing[] = {"cast",  "reshape2", "squeeze2",   "unsqueeze2", "assign",
                                         "slice", "split",    "transpose2", "expand_v2",  "flatten_contiguous_range"};

using Origins = std::unordered_map<std::string_view, std::string_view>;  ///< of variables that have the values of another

void pass_on(const Operator& op, Origins& from) {
  if (std::ranges::find(kPassing, op.type) == std::end(kPassing)) return;
  const std::string_view x = first_argument(op.inputs, op.type == "slice" ? "Input" : "X");
  for (const Slot& slot : op.outputs) {
    for (const std::string_view name : slot.arguments) {
      if (name != x && !x.empty()) from.emplace(name, x);
    }
  }
}

}  // namespace

Recipes::Recipes(const Program& program, const Sizes& sizes) {
  if (program.blocks.empty()) return;
  const std::vector<Variable>& variables = program.blocks[0].variables;
  NameIndex by_name;
  Origins from;
  for (size_t k = 0; k < variables.size(); ++k)
    by_name.find_or_add(variables[k].name, k, [&](size_t at) { return variables[at].name == variables[k].name; });
  const auto find = [&](std::string_view name) {
    const int64_t at = by_name.find(name, [&](size_t k) { return variables[k].name == name; });
    return at < 0 ? nullptr : &variables[static_cast<size_t>(at)];
  };
  const auto origin = [&](std::string_view name) {
    for (int k = 0; k < kLongestChain && from.contains(name); ++k) name = from[name];
    return name;
  };
  const auto dims_of = [&](std::string_view name) {
    const Variable* found = find(name);
    return found == nullptr ? std::vector<int64_t>() : sizes.assumed(found->type.dims);
  };
  for (const Operator& given : program.blocks[0].operators) {
    const Normal normal = paddle::normal(given, program.form);
    const Operator& op = normal.op();
    pass_on(op, from);
    for (const RecipeRule& rule : kRecipeRules) {
      const std::string_view name = rule.type.empty() || rule.type == op.type ? first_argument(op.inputs, rule.slot) : std::string_view();
      if (!name.empty()) recipes_.emplace(name, rule.recipe);
    }
    for (const IndexRule& rule : kIndexRules) {
      if (rule.type != op.type) continue;
      const std::string_view name = first_argument(op.inputs, rule.slot);
      const std::vector<int64_t> dims = dims_of(first_argument(op.inputs, rule.other));
      if (name.empty() || dims.empty()) continue;
      recipes_.emplace(origin(name),
                       fmt::format(R"({{"integers": [0, {}]}})", std::max<int64_t>((rule.last ? dims.back() : dims.front()) - 1, 0)));
    }
    if (op.type == "matmul_v2" || op.type == "mul") {  // a weight keeps the variance: ±√(3 / rows)
      const std::string_view y = first_argument(op.inputs, "Y");
      const std::vector<int64_t> dims = dims_of(y);
      if (dims.size() != 2 || dims[0] < 1) continue;
      const double bound = std::sqrt(3.0 / static_cast<double>(op.type == "mul" || op.attributes.empty() ? dims[0] : dims[0]));
      recipes_.emplace(y, fmt::format(R"({{"uniform": [{0:.6g}, {1:.6g}]}})", -bound, bound));
    }
    if (op.type == "elementwise_mul") {  // the weight of a normalisation
      const std::string_view y = first_argument(op.inputs, "Y");
      const Variable* found = find(y);
      if (found != nullptr && found->parameter && found->type.dims.size() == 1) recipes_.emplace(y, R"({"uniform": [0.5, 1.5]})");
    }
    const std::string_view master = first_argument(op.inputs, "MasterParam");
    if (master.empty()) continue;
    if (const auto same = recipes_.find(first_argument(op.inputs, "Param")); same != recipes_.end())
      recipes_.emplace(master, std::string(same->second));
  }
}

std::string Recipes::of(std::string_view variable) const {
  const auto found = recipes_.find(variable);
  return found == recipes_.end() ? "" : found->second;
}

}  // namespace importers::paddle
