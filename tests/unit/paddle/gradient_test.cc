// Every gradient operator against finite differences of its forward operator: L = Σ out·w, dL/dx by (L(x + h) − L(x − h)) / 2h in f64.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "importers/paddle/lower.h"
#include "tests/unit/paddle/run.h"

namespace importers::paddle {
namespace {

/// An operand: a slot that stands several times is a list. `lo`, `hi`: its numbers lie between; whole for integers.
struct Operand {
  std::string slot;
  std::vector<int64_t> dims;
  double lo = 0.3, hi = 1.7;
  std::string dtype = "float64";
};
struct Case {
  std::string forward;  ///< its gradient is `forward`_grad
  std::vector<Operand> operands;
  std::string out = "Out", attributes = "";
  std::vector<std::pair<std::string, std::string>> others;  ///< further outputs: slot, dtype
  std::vector<int64_t> out_dims;                            ///< for the declaration alone
};

std::string dims_text(const std::vector<int64_t>& dims) {
  return dims.size() == 1 ? fmt::format("{},", dims[0]) : fmt::format("{}", fmt::join(dims, ", "));
}
std::string variable(const std::string& name, const std::string& dtype, const std::vector<int64_t>& dims) {
  return fmt::format("    var {} : LOD_TENSOR.shape({}).dtype({}).stop_gradient(False)\n", name, dims_text(dims), dtype);
}

/// `X=['X_0', 'X_1'], Y=['Y_0']`: operands by slot, under the names that `suffix` ends.
std::string slots(const std::vector<Operand>& operands, const std::string& slot_end, const std::string& name_end) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool again = i > 0 && operands[i - 1].slot == operands[i].slot;
    const std::string name = fmt::format("'{}_{}{}'", operands[i].slot, i, name_end);
    if (again)
      parts.back() += ", " + name;
    else
      parts.push_back(fmt::format("{}{}=[{}", operands[i].slot, slot_end, name));
  }
  for (std::string& part : parts) part += "]";
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string output_slots(const Case& c) {
  std::string text = fmt::format("{}=['out']", c.out);
  for (const auto& [slot, dtype] : c.others) text += fmt::format(", {0}=['{0}_out']", slot);
  return text;
}

/// The forward operator, and its gradient where asked for; what is fetched is the out, or the gradients of the real operands.
std::string program(const Case& c, bool gradient) {
  std::string text = "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1\n";
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const Operand& o = c.operands[i];
    const std::string name = fmt::format("{}_{}", o.slot, i);
    text += variable(name, o.dtype, o.dims) + variable(name + "@GRAD", o.dtype, o.dims);
  }
  text += variable("out", "float64", {-1}) + variable("out@GRAD", "float64", c.out_dims);
  for (const auto& [slot, dtype] : c.others) text += variable(slot + "_out", dtype, {-1});
  const std::string attributes = c.attributes.empty() ? "op_role = 0" : c.attributes;
  text += fmt::format("\n    {{{}}} = {}(inputs={{{}}}, {})\n", output_slots(c), c.forward, slots(c.operands, "", ""), attributes);
  if (!gradient) return text + "    {} = fetch(inputs={X=['out']}, col = 0)\n}\n";
  std::string results;
  std::vector<std::string> fetches;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const Operand& o = c.operands[i];
    if (o.dtype != "float64") continue;
    const bool again = i > 0 && c.operands[i - 1].slot == o.slot;
    const std::string name = fmt::format("'{}_{}@GRAD'", o.slot, i);
    if (again)
      results.insert(results.size() - 1, ", " + name);
    else
      results += fmt::format("{}{}@GRAD=[{}]", results.empty() ? "" : ", ", o.slot, name);
    fetches.push_back(name);
  }
  text += fmt::format("    {{{}}} = {}_grad(inputs={{{}, {}, {}@GRAD=['out@GRAD']}}, {})\n", results, c.forward, slots(c.operands, "", ""),
                      output_slots(c), c.out, attributes);
  for (const std::string& name : fetches) text += fmt::format("    fetch(inputs={{X=[{}]}}, col = 0)\n", name);
  return text + "}\n";
}

std::vector<double> values_of(const Operand& o, uint64_t seed) {
  const auto n = static_cast<size_t>(elements_of(o.dims));
  std::vector<double> values = spread(n, o.lo, o.hi, seed);
  if (o.dtype != "float64") {
    for (double& value : values) value = std::floor(value);
  }
  return values;
}

/// Arguments in the order of the module's parameters, which carry the variables' names.
std::vector<replay::Tensor> arguments(const ir::Module& module, const Case& c, const std::vector<std::vector<double>>& values,
                                      const std::vector<double>& weight) {
  std::vector<replay::Tensor> made;
  const ir::Computation& entry = module.comp(module.entry);
  for (const ir::InstrId id : entry.parameters) {
    const ir::Instr& instr = entry.instrs[static_cast<size_t>(id)];
    const std::string name(module.name_of(instr));
    const ir::Shape& shape = module.shape(instr);
    bool found = false;
    for (size_t i = 0; i < c.operands.size() && !found; ++i) {
      if (name != fmt::format("{}_{}", c.operands[i].slot, i)) continue;
      made.push_back(array(shape.type, shape.dims, values[i]));
      found = true;
    }
    if (!found) made.push_back(array(shape.type, shape.dims, weight));
  }
  return made;
}

double loss(const ir::Module& module, const Case& c, const std::vector<std::vector<double>>& values, const std::vector<double>& weight) {
  const std::vector<replay::Tensor> results = evaluated(module, arguments(module, c, values, {}));
  const std::vector<double> out = results.empty() ? std::vector<double>() : numbers(results[0]);
  double sum = 0;
  for (size_t i = 0; i < std::min(out.size(), weight.size()); ++i) sum += out[i] * weight[i];
  return sum;
}

void check(Case c) {
  SCOPED_TRACE(c.forward + " " + c.attributes);
  const model::Imported forward = imported(program(c, false));
  ASSERT_EQ(forward.modules.size(), 1u);
  for (const model::Note& note : forward.notes) ASSERT_NE(note.code, "not-lowered") << note.text;
  std::vector<std::vector<double>> values;
  for (size_t i = 0; i < c.operands.size(); ++i) values.push_back(values_of(c.operands[i], 17 * i + 1));
  const std::vector<replay::Tensor> first = evaluated(forward.modules[0], arguments(forward.modules[0], c, values, {}));
  ASSERT_FALSE(first.empty());
  c.out_dims = first[0].shape.dims;
  const std::vector<double> weight = spread(static_cast<size_t>(ir::elements(first[0].shape)), -1, 1, 5);

  const model::Imported backward = imported(program(c, true));
  ASSERT_EQ(backward.modules.size(), 1u);
  for (const model::Note& note : backward.notes) {
    const bool wrong = note.code == "not-lowered" || note.text.find("@GRAD is declared") != std::string::npos;
    ASSERT_FALSE(wrong) << note.text;
  }
  const std::vector<replay::Tensor> gradients = evaluated(backward.modules[0], arguments(backward.modules[0], c, values, weight));
  size_t k = 0;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    if (c.operands[i].dtype != "float64") continue;
    ASSERT_LT(k, gradients.size());
    const std::vector<double> told = numbers(gradients[k++]);
    ASSERT_EQ(told.size(), values[i].size());
    for (size_t e = 0; e < told.size(); ++e) {
      constexpr double kStep = 1e-5;
      std::vector<std::vector<double>> moved = values;
      moved[i][e] += kStep;
      const double above = loss(forward.modules[0], c, moved, weight);
      moved[i][e] -= 2 * kStep;
      const double below = loss(forward.modules[0], c, moved, weight);
      const double measured = (above - below) / (2 * kStep);
      EXPECT_NEAR(told[e], measured, 1e-6 * std::max(1.0, std::fabs(measured))) << c.operands[i].slot << "[" << e << "]";
    }
  }
}

Case unary(const std::string& type, double lo = 0.3, double hi = 1.7, const std::string& attributes = "") {
  return {type, {{"X", {2, 3}, lo, hi}}, "Out", attributes, {}, {}};
}
Case binary(const std::string& type, std::vector<int64_t> x, std::vector<int64_t> y, const std::string& attributes = "axis = -1") {
  return {type, {{"X", std::move(x)}, {"Y", std::move(y), 0.4, 1.9}}, "Out", attributes, {}, {}};
}
Case viewed(const std::string& type, std::vector<int64_t> x, const std::string& attributes) {
  return {type, {{"X", std::move(x)}}, "Out", attributes, {{"XShape", "float64"}}, {}};
}

// Table: an operator a line, with what its gradient is tried on.
const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      unary("abs", -1, 1),
      unary("clip", -1, 1, "max = 0.5, min = -0.4"),
      unary("cos"),
      unary("exp"),
      unary("gelu", -2, 2, "approximate = False"),
      unary("gelu", -2, 2, "approximate = True"),
      unary("hard_swish", -4, 4),
      unary("leaky_relu", -1, 1, "alpha = 0.1"),
      unary("log"),
      unary("pow", 0.3, 1.7, "factor = 2.0"),
      unary("pow", 0.3, 1.7, "factor = 3.5"),
      unary("reciprocal"),
      unary("relu", -1, 1),
      unary("rsqrt"),
      unary("sigmoid", -2, 2),
      unary("silu", -2, 2),
      unary("sin"),
      unary("softplus", -2, 2),
      unary("sqrt"),
      unary("square", -1, 1),
      unary("tanh", -1, 1),
      unary("acos", -0.8, 0.8),
      unary("acosh", 1.2, 2),
      unary("asin", -0.8, 0.8),
      unary("asinh", -2, 2),
      unary("atan", -2, 2),
      unary("atanh", -0.8, 0.8),
      unary("brelu", -2, 2, "t_max = 0.9, t_min = -0.8"),
      unary("ceil", 0.2, 0.8),
      unary("celu", -2, 2, "alpha = 0.7"),
      unary("cosh", -1, 1),
      unary("elu", -2, 2, "alpha = 0.7"),
      unary("erf", -2, 2),
      unary("expm1", -1, 1),
      unary("floor", 0.2, 0.8),
      unary("hard_shrink", -2, 2, "threshold = 0.4"),
      unary("hard_sigmoid", -4, 4),
      unary("log10"),
      unary("log1p"),
      unary("log2"),
      unary("logit", 0.2, 0.8, "eps = 1e-06"),
      unary("logsigmoid", -2, 2),
      unary("mish", -2, 2),
      unary("relu6", -3, 9),
      unary("round", 0.6, 0.9),
      unary("selu", -2, 2),
      unary("sinh", -1, 1),
      unary("softplus", -2, 2, "beta = 2.0"),
      unary("softshrink", -2, 2, "lambda = 0.4"),
      unary("softsign", -2, 2),
      unary("stanh", -1, 1),
      unary("swish", -2, 2, "beta = 1.5"),
      unary("tan", -1, 1),
      unary("tanh_shrink", -2, 2),
      unary("thresholded_relu", -2, 3),
      unary("trunc", 0.2, 0.8),
      binary("elementwise_add", {2, 3, 4}, {2, 3, 4}),
      binary("elementwise_add", {2, 3, 4}, {4}),
      binary("elementwise_add", {2, 3, 4}, {3}, "axis = 1"),
      binary("elementwise_sub", {2, 3}, {1, 3}),
      binary("elementwise_mul", {2, 3}, {2, 3}),
      binary("elementwise_mul", {2, 3}, {3}),
      binary("elementwise_mul", {2, 1}, {1, 3}),
      binary("elementwise_div", {2, 3}, {3}),
      binary("elementwise_max", {2, 3}, {2, 3}),
      binary("elementwise_min", {2, 3}, {2, 3}),
      binary("swiglu", {2, 3}, {2, 3}, ""),
      binary("atan2", {2, 3}, {3}),
      binary("elementwise_fmax", {2, 3}, {2, 3}),
      binary("elementwise_fmin", {2, 3}, {3}),
      binary("elementwise_mod", {2, 3}, {3}),
      binary("elementwise_pow", {2, 3}, {3}),
      {"where", {{"Condition", {2, 3}, 0, 2, "bool"}, {"X", {2, 3}}, {"Y", {2, 3}}}, "Out", "", {}, {}},
      binary("matmul_v2", {2, 3}, {3, 4}, "trans_x = False, trans_y = False"),
      binary("matmul_v2", {3, 2}, {3, 4}, "trans_x = True, trans_y = False"),
      binary("matmul_v2", {2, 3}, {4, 3}, "trans_x = False, trans_y = True"),
      binary("matmul_v2", {3, 2}, {4, 3}, "trans_x = True, trans_y = True"),
      binary("matmul_v2", {2, 2, 3}, {3, 2}, "trans_x = False, trans_y = False"),
      binary("matmul_v2", {2, 2, 3}, {2, 3}, "trans_x = False, trans_y = True"),
      binary("matmul_v2", {2, 2, 2, 3}, {2, 2, 3, 2}, "trans_x = False, trans_y = False"),
      binary("matmul_v2", {2, 1, 2, 3}, {1, 2, 2, 3}, "trans_x = False, trans_y = True"),
      binary("matmul_v2", {2, 3, 4}, {4}, "trans_x = False, trans_y = False"),
      binary("matmul_v2", {4}, {2, 4, 3}, "trans_x = False, trans_y = False"),
      binary("matmul_v2", {4}, {4}, "trans_x = False, trans_y = False"),
      binary("bmm", {2, 2, 3}, {2, 3, 2}, ""),
      {"einsum", {{"Operands", {2, 3, 4}}, {"Operands", {2, 5, 4}}}, "Out", "equation = bij,bkj->ikb", {}, {}},
      {"einsum", {{"Operands", {3}}, {"Operands", {4}}}, "Out", "equation = i,j->ij", {}, {}},
      binary("mul", {2, 2, 3}, {6, 2}, "x_num_col_dims = 1, y_num_col_dims = 1"),
      {"conv2d",
       {{"Input", {1, 2, 5, 4}}, {"Filter", {3, 2, 3, 2}}},
       "Output",
       "data_format = NCHW, dilations = [1, 1], groups = 1, padding_algorithm = EXPLICIT, paddings = [1, 0], strides = [2, 1]",
       {},
       {}},
      {"conv2d",
       {{"Input", {2, 5, 5, 1}}, {"Filter", {2, 1, 2, 2}}},
       "Output",
       "data_format = NHWC, dilations = [2, 1], groups = 1, padding_algorithm = SAME, paddings = [0, 0], strides = [1, 2]",
       {},
       {}},
      {"conv2d",
       {{"Input", {1, 4, 5, 4}}, {"Filter", {6, 2, 3, 2}}},
       "Output",
       "dilations = [1, 1], groups = 2, paddings = [1, 0], strides = [2, 1]",
       {},
       {}},
      {"conv3d",
       {{"Input", {1, 2, 3, 4, 3}}, {"Filter", {3, 2, 2, 3, 2}}},
       "Output",
       "data_format = NCDHW, dilations = [1, 1, 1], groups = 1, padding_algorithm = EXPLICIT, paddings = [1, 0, 1], strides = [1, 2, 1]",
       {},
       {}},
      {"conv3d",
       {{"Input", {1, 3, 3, 4, 4}}, {"Filter", {4, 2, 2, 2, 2}}},
       "Output",
       "data_format = NDHWC, dilations = [1, 1, 2], groups = 2, padding_algorithm = SAME, paddings = [0, 0, 0], strides = [1, 1, 1]",
       {},
       {}},
      {"conv3d_transpose",
       {{"Input", {1, 2, 2, 3, 2}}, {"Filter", {2, 2, 2, 2, 3}}},
       "Output",
       "dilations = [1, 1, 1], groups = 1, output_padding = [], paddings = [0, 1, 0], strides = [2, 1, 1]",
       {},
       {}},
      {"depthwise_conv2d",
       {{"Input", {2, 2, 5, 4}}, {"Filter", {4, 1, 3, 2}}},
       "Output",
       "dilations = [1, 2], groups = 2, paddings = [1, 1], strides = [2, 1]",
       {},
       {}},
      {"conv2d_transpose",
       {{"Input", {1, 3, 3, 2}}, {"Filter", {3, 2, 3, 2}}},
       "Output",
       "dilations = [1, 1], groups = 1, output_padding = [1, 0], paddings = [1, 0], strides = [2, 1]",
       {},
       {}},
      {"conv2d_transpose",
       {{"Input", {1, 4, 3, 2}}, {"Filter", {4, 1, 3, 2}}},
       "Output",
       "dilations = [1, 2], groups = 2, output_padding = [], paddings = [0, 1], strides = [1, 2]",
       {},
       {}},
      {"depthwise_conv2d_transpose",
       {{"Input", {1, 2, 3, 2}}, {"Filter", {2, 1, 2, 2}}},
       "Output",
       "dilations = [1, 1], groups = 2, paddings = [0, 0], strides = [2, 2]",
       {},
       {}},
      {"lookup_table_v2", {{"Ids", {2, 3}, 0, 4, "int64"}, {"W", {4, 2}}}, "Out", "padding_idx = 1", {}, {}},
      {"lookup_table_v2", {{"Ids", {2, 3}, 0, 4, "int64"}, {"W", {4, 2}}}, "Out", "padding_idx = -1", {}, {}},
      {"argsort", {{"X", {3, 4}}}, "Out", "axis = 0, descending = True", {{"Indices", "int64"}}, {}},
      {"top_k_v2", {{"X", {3, 5}}}, "Out", "axis = -1, k = 2, largest = True", {{"Indices", "int64"}}, {}},
      {"top_k_v2", {{"X", {4, 3}}}, "Out", "axis = 0, k = 2, largest = False", {{"Indices", "int64"}}, {}},
      {"gather", {{"X", {2, 4}}, {"Index", {3}, 0, 4, "int64"}}, "Out", "axis = 1", {}, {}},
      {"gather_nd", {{"X", {3, 3, 2}}, {"Index", {4, 2}, 0, 3, "int64"}}, "Out", "", {}, {}},
      {"index_add", {{"X", {4, 2}}, {"Index", {3}, 0, 4, "int64"}, {"AddValue", {3, 2}}}, "Out", "axis = 0", {}, {}},
      {"index_sample", {{"X", {2, 4}}, {"Index", {2, 3}, 0, 4, "int64"}}, "Out", "", {}, {}},
      {"index_select", {{"X", {2, 4}}, {"Index", {3}, 0, 4, "int64"}}, "Out", "dim = 1", {}, {}},
      {"take_along_axis", {{"Input", {2, 4, 2}}, {"Index", {2, 3, 2}, 0, 4, "int64"}}, "Result", "Axis = 0, axis = 1", {}, {}},
      {"put_along_axis",
       {{"Input", {2, 4}}, {"Index", {2, 1}, 0, 4, "int64"}, {"Value", {2, 1}}},
       "Result",
       "axis = 1, reduce = assign",
       {},
       {}},
      {"put_along_axis",
       {{"Input", {2, 4}}, {"Index", {2, 3}, 0, 4, "int64"}, {"Value", {2, 3}}},
       "Result",
       "axis = 1, reduce = add",
       {},
       {}},
      {"scatter", {{"X", {4, 2}}, {"Ids", {1}, 0, 4, "int64"}, {"Updates", {1, 2}}}, "Out", "overwrite = True", {}, {}},
      {"scatter", {{"X", {4, 2}}, {"Ids", {5}, 0, 4, "int64"}, {"Updates", {5, 2}}}, "Out", "overwrite = False", {}, {}},
      {"scatter_nd_add", {{"X", {3, 3, 2}}, {"Index", {4, 2}, 0, 3, "int64"}, {"Updates", {4, 2}}}, "Out", "", {}, {}},
      {"masked_fill", {{"X", {2, 3}}, {"Mask", {2, 3}, 0, 2, "bool"}, {"Value", {}}}, "Out", "", {}, {}},
      {"pad", {{"X", {2, 3}}}, "Out", "pad_value = 0.5, paddings = [1, 0, 2, 1]", {}, {}},
      {"repeat_interleave", {{"X", {2, 3}}}, "Out", "Repeats = 2, dim = 1", {}, {}},
      {"roll", {{"X", {3, 4}}}, "Out", "axis = [0, 1], shifts = [1, -2]", {}, {}},
      {"roll", {{"X", {3, 4}}}, "Out", "axis = [], shifts = [5]", {}, {}},
      {"stack", {{"X", {2, 3}}, {"X", {2, 3}}}, "Y", "axis = 1", {}, {}},
      {"strided_slice", {{"Input", {7, 4}}}, "Out", "axes = [0, 1], ends = [6, 4], starts = [1, 0], strides = [2, 3]", {}, {}},
      {"tile", {{"X", {2, 3}}}, "Out", "repeat_times = [2, 1, 3]", {}, {}},
      {"tril_triu", {{"X", {3, 4}}}, "Out", "diagonal = 1, lower = True", {}, {}},
      {"triu", {{"X", {3, 4}}}, "Out", "diagonal = 1", {}, {}},
      {"prelu", {{"X", {2, 3, 2}, -1, 1}, {"Alpha", {3}}}, "Out", "data_format = NCHW, mode = channel", {}, {}},
      {"prelu", {{"X", {2, 3}, -1, 1}, {"Alpha", {1}}}, "Out", "mode = all", {}, {}},
      {"concat", {{"X", {2, 1}}, {"X", {2, 3}}}, "Out", "axis = -1", {}, {}},
      {"expand_v2", {{"X", {1, 3}}}, "Out", "shape = [2, 2, 3]", {}, {}},
      viewed("flatten2", {2, 3, 2}, "axis = 1"),
      viewed("flatten_contiguous_range", {2, 3, 2}, "start_axis = 1, stop_axis = -1"),
      viewed("reshape2", {2, 6}, "shape = [0, -1, 2]"),
      viewed("squeeze2", {2, 1, 3}, "axes = [1]"),
      viewed("transpose2", {2, 3, 2}, "axis = [2, 0, 1]"),
      viewed("unsqueeze2", {2, 3}, "axes = [0, -1]"),
      {"slice", {{"Input", {3, 4}}}, "Out", "axes = [1, 0], decrease_axis = [0], ends = [-1, 2], starts = [1, 1]", {}, {}},
      {"masked_select", {{"X", {2, 3}}, {"Mask", {2, 3}, 0, 2, "bool"}}, "Y", "", {}, {}},
      {"flash_attn", {{"q", {2, 3, 4, 2}}, {"k", {2, 5, 2, 2}}, {"v", {2, 5, 2, 2}}}, "out", "causal = True", {}, {2, 3, 4, 2}},
      {"flash_attn",
       {{"q", {1, 4, 2, 3}}, {"k", {1, 2, 2, 3}}, {"v", {1, 2, 2, 3}}, {"attn_mask", {1, 1, 4, 2}, -1, 1, "float32"}},
       "out",
       "causal = False",
       {},
       {1, 4, 2, 3}},
      {"fused_softmax_mask_upper_triangle", {{"X", {1, 2, 3, 3}}}, "Out", "", {}, {}},
      {"fused_softmax_mask", {{"X", {2, 2, 3, 4}}, {"Mask", {2, 1, 3, 4}, -1, 1, "float32"}}, "Out", "", {}, {}},
      {"fused_rotary_position_embedding",
       {{"q", {2, 3, 2, 4}}, {"sin", {1, 3, 1, 4}, -1, 1, "float32"}, {"cos", {1, 3, 1, 4}, -1, 1, "float32"}},
       "out_q",
       "use_neox_rotary_style = True",
       {},
       {}},
      {"fused_rotary_position_embedding",
       {{"q", {2, 3, 2, 4}}, {"sin", {1, 3, 1, 4}, -1, 1, "float32"}, {"cos", {1, 3, 1, 4}, -1, 1, "float32"}},
       "out_q",
       "use_neox_rotary_style = False",
       {},
       {}},
      {"c_embedding", {{"W", {4, 3}}, {"Ids", {2, 5}, 0, 8, "int64"}}, "Out", "start_index = 2", {}, {}},
      {"c_softmax_with_cross_entropy",
       {{"Logits", {3, 4}}, {"Label", {3, 1}, 0, 4, "int64"}},
       "Loss",
       "ignore_index = -100, ring_id = 0, rank = 0, nranks = 2",
       {{"Softmax", "float64"}},
       {}},
      {"log_softmax", {{"X", {2, 4}}}, "Out", "axis = -1", {}, {}},
      {"softmax", {{"X", {2, 4}}}, "Out", "axis = -1", {}, {}},
      {"softmax", {{"X", {3, 2}}}, "Out", "axis = 0", {}, {}},
      {"mean", {{"X", {2, 3}}}, "Out", "", {}, {}},
      {"reduce_mean", {{"X", {2, 3}}}, "Out", "dim = [-1], keep_dim = True, reduce_all = False", {}, {}},
      {"reduce_mean", {{"X", {2, 3}}}, "Out", "dim = [], keep_dim = False, reduce_all = True", {}, {}},
      {"reduce_sum", {{"X", {2, 3, 2}}}, "Out", "dim = [0, 2], keep_dim = False, reduce_all = False", {}, {}},
      {"reduce_max", {{"X", {2, 3}}}, "Out", "dim = [1], keep_dim = False, reduce_all = False", {}, {}},
      {"reduce_min", {{"X", {2, 3}}}, "Out", "dim = [1], keep_dim = True, reduce_all = False", {}, {}},
      {"reduce_amax", {{"X", {2, 3}}}, "Out", "dim = [1], keep_dim = False, reduce_all = False", {}, {}},
      {"reduce_amin", {{"X", {2, 3}}}, "Out", "dim = [1], keep_dim = True, reduce_all = False", {}, {}},
      {"reduce_prod", {{"X", {2, 3}}}, "Out", "dim = [0], keep_dim = False, reduce_all = False", {}, {}},
      {"cumsum", {{"X", {2, 3}}}, "Out", "axis = 1, exclusive = False, reverse = True", {}, {}},
      {"cumsum", {{"X", {2, 3}}}, "Out", "axis = 0, exclusive = True, flatten = True", {}, {}},
      {"cumprod", {{"X", {2, 3}}}, "Out", "dim = 1", {}, {}},
      {"logsumexp", {{"X", {2, 3, 2}}}, "Out", "axis = [0, 2], keepdim = True, reduce_all = False", {}, {}},
      {"p_norm", {{"X", {2, 3}, -1, 1}}, "Out", "axis = 1, keepdim = False, porder = 2.0", {}, {}},
      {"p_norm", {{"X", {2, 3}, -1, 1}}, "Out", "axis = 0, keepdim = True, porder = 3.0", {}, {}},
      {"p_norm", {{"X", {2, 3}, -1, 1}}, "Out", "asvector = True, axis = -1, porder = 1.0", {}, {}},
      {"bce_loss", {{"X", {2, 3}, 0.2, 0.8}, {"Label", {2, 3}, 0, 2, "int64"}}, "Out", "", {}, {}},
      {"huber_loss", {{"X", {2, 3}, -2, 2}, {"Y", {2, 3}, -2, 2}}, "Out", "delta = 0.8", {{"Residual", "float64"}}, {}},
      {"kldiv_loss", {{"X", {2, 3}}, {"Target", {2, 3}, 0, 3, "int64"}}, "Loss", "reduction = batchmean", {}, {}},
      {"label_smooth", {{"X", {2, 3}}}, "Out", "epsilon = 0.1", {}, {}},
      {"log_loss", {{"Predicted", {3, 1}, 0.2, 0.8}, {"Labels", {3, 1}, 0, 2, "int64"}}, "Loss", "epsilon = 0.0001", {}, {}},
      {"nll_loss",
       {{"X", {3, 4}}, {"Label", {3}, 0, 4, "int64"}},
       "Out",
       "ignore_index = -100, reduction = mean",
       {{"Total_weight", "float64"}},
       {}},
      {"nll_loss",
       {{"X", {2, 3, 2}}, {"Label", {2, 2}, 0, 3, "int64"}},
       "Out",
       "ignore_index = 1, reduction = none",
       {{"Total_weight", "float64"}},
       {}},
      {"sigmoid_cross_entropy_with_logits",
       {{"X", {2, 3}, -2, 2}, {"Label", {2, 3}, 0, 2, "int64"}},
       "Out",
       "ignore_index = -100, normalize = True",
       {},
       {}},
      {"softmax_with_cross_entropy",
       {{"Logits", {3, 4}}, {"Label", {3, 1}, 0, 4, "int64"}},
       "Loss",
       "axis = -1, ignore_index = -100, soft_label = False, use_softmax = True",
       {{"Softmax", "float64"}},
       {}},
      {"softmax_with_cross_entropy",
       {{"Logits", {3, 4}}, {"Label", {3, 1}, 0, 3, "int64"}},
       "Loss",
       "axis = -1, ignore_index = 1, soft_label = False",
       {{"Softmax", "float64"}},
       {}},
      {"layer_norm",
       {{"X", {3, 4}}, {"Scale", {4}}, {"Bias", {4}}},
       "Y",
       "begin_norm_axis = 1, epsilon = 1e-05",
       {{"Mean", "float64"}, {"Variance", "float64"}},
       {}},
      {"batch_norm",
       {{"X", {3, 2, 2, 1}}, {"Scale", {2}}, {"Bias", {2}}, {"Mean", {2}, 0, 1, "float32"}, {"Variance", {2}, 1, 2, "float32"}},
       "Y",
       "data_layout = NCHW, epsilon = 1e-05, is_test = False, momentum = 0.9",
       {{"SavedMean", "float64"}, {"SavedVariance", "float64"}},
       {}},
      {"pool2d",
       {{"X", {1, 2, 4, 4}}},
       "Out",
       "data_format = NCHW, ksize = [2, 2], paddings = [0, 0], pooling_type = max, strides = [2, 2]",
       {},
       {}},
      {"pool2d", {{"X", {1, 2, 3, 3}}}, "Out", "adaptive = True, data_format = NCHW, ksize = [1, 1], pooling_type = avg", {}, {}},
      {"nearest_interp", {{"X", {1, 2, 3, 4}}}, "Out", "align_corners = False, align_mode = 0, out_h = 5, out_w = 7, scale = []", {}, {}},
      {"nearest_interp_v2",
       {{"X", {1, 2, 3, 4}}},
       "Out",
       "align_corners = False, align_mode = 0, out_h = 2, out_w = 7, scale = []",
       {},
       {}},
      {"bilinear_interp", {{"X", {1, 2, 3, 4}}}, "Out", "align_corners = False, align_mode = 0, out_h = 5, out_w = 7, scale = []", {}, {}},
      {"bilinear_interp_v2",
       {{"X", {1, 2, 3, 4}}},
       "Out",
       "align_corners = True, align_mode = 0, out_h = 2, out_w = 7, scale = []",
       {},
       {}},
      {"bicubic_interp", {{"X", {1, 2, 3, 4}}}, "Out", "align_corners = False, align_mode = 0, out_h = 5, out_w = 7, scale = []", {}, {}},
      {"bicubic_interp_v2", {{"X", {1, 2, 3, 4}}}, "Out", "align_corners = True, align_mode = 0, out_h = 2, out_w = 7, scale = []", {}, {}},
      {"linear_interp", {{"X", {1, 2, 4}}}, "Out", "align_corners = False, align_mode = 1, out_w = 7, scale = []", {}, {}},
      {"linear_interp_v2", {{"X", {1, 2, 4}}}, "Out", "align_corners = False, align_mode = 1, out_w = 7, scale = []", {}, {}},
      {"trilinear_interp", {{"X", {1, 1, 2, 3, 2}}}, "Out", "align_corners = False, align_mode = 0, scale = [1.5, 2.0, 1.0]", {}, {}},
      {"pixel_shuffle", {{"X", {1, 8, 2, 1}}}, "Out", "data_format = NCHW, upscale_factor = 2", {}, {}},
      {"pixel_unshuffle", {{"X", {1, 2, 4, 2}}}, "Out", "data_format = NCHW, downscale_factor = 2", {}, {}},
      {"group_norm",
       {{"X", {2, 4, 2, 1}}, {"Scale", {4}}, {"Bias", {4}}},
       "Y",
       "data_layout = NCHW, epsilon = 1e-05, groups = 2",
       {{"Mean", "float64"}, {"Variance", "float64"}},
       {}},
      {"instance_norm",
       {{"X", {2, 2, 3}}, {"Scale", {2}}, {"Bias", {2}}},
       "Y",
       "epsilon = 1e-05",
       {{"SavedMean", "float64"}, {"SavedVariance", "float64"}},
       {}},
      {"pool2d",
       {{"X", {1, 1, 5, 4}}},
       "Out",
       "ceil_mode = True, exclusive = True, ksize = [3, 2], paddings = [1, 0], pooling_type = avg, strides = [2, 3]",
       {},
       {}},
      {"pool2d",
       {{"X", {1, 1, 5, 4}}},
       "Out",
       "ceil_mode = True, exclusive = False, ksize = [3, 2], paddings = [1, 0], pooling_type = avg, strides = [2, 3]",
       {},
       {}},
      {"pool2d", {{"X", {1, 1, 5, 4}}}, "Out", "adaptive = True, ksize = [3, 2], pooling_type = avg", {}, {}},
      {"pool2d", {{"X", {1, 1, 4, 4}}}, "Out", "adaptive = True, ksize = [2, 2], pooling_type = max", {}, {}},
      {"pool3d",
       {{"X", {1, 2, 4, 3, 4}}},
       "Out",
       "ceil_mode = True, exclusive = True, ksize = [2, 2, 3], paddings = [1, 0, 1], pooling_type = avg, strides = [2, 1, 2]",
       {},
       {}},
      {"pool3d",
       {{"X", {1, 4, 3, 4, 2}}},
       "Out",
       "data_format = NDHWC, ksize = [2, 1, 2], paddings = [0, 0, 0], pooling_type = max, strides = [2, 1, 2]",
       {},
       {}},
      {"pool3d", {{"X", {1, 1, 2, 3, 2}}}, "Out", "global_pooling = True, ksize = [1, 1, 1], pooling_type = avg", {}, {}},
      {"dropout",
       {{"X", {4, 6}}},
       "Out",
       "dropout_implementation = upscale_in_train, dropout_prob = 0.3, is_test = False",
       {{"Mask", "uint8"}},
       {}},
  };
  return kCases;
}

TEST(Gradient, EqualsFiniteDifferences) {
  for (const Case& c : cases()) check(c);
}

/// A row that no case checks would be believed untested.
TEST(Gradient, OfEveryRowIsChecked) {
  std::set<std::string> checked;
  for (const Case& c : cases()) checked.insert(c.forward + "_grad");
  for (const auto rows : families()) {
    for (const Row& row : rows) {
      EXPECT_TRUE(!row.type.ends_with("_grad") || checked.contains(std::string(row.type))) << row.type;
    }
  }
}

TEST(Rows, HaveEachTypeOnce) {
  std::set<std::string_view> seen;
  for (const auto rows : families()) {
    for (const Row& row : rows) EXPECT_TRUE(seen.insert(row.type).second) << row.type;
  }
}

}  // namespace
}  // namespace importers::paddle
