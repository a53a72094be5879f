// Small graphs written in code, and what they compute by the reference.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "importers/tensorflow/lower.h"
#include "replay/reference/reference.h"
#include "src/ir/print.h"

namespace importers::tensorflow {

using Dims = std::vector<int64_t>;
using Numbers = std::vector<double>;

/// A node's output, the first if no other is named.
struct Output : Edge {
  Output(int node, int port = 0) : Edge{node, port} {}  // NOLINT(google-explicit-constructor): a node is its first output
};

/// Nodes by number; a constant of integers is what TensorFlow keeps shapes and dimensions in.
struct SmallGraph {
  Graph graph{"small", {}};

  int feed(const std::string& name, Dims dims, ir::Type type = ir::Type::f32) {
    Node& node = add(name, "Placeholder", {});
    node.shapes = {ir::array_shape(type, std::move(dims))};
    return last();
  }
  int variable(const std::string& name, Dims dims) {
    add(name, "VarHandleOp", {}).shapes = {ir::array_shape(ir::Type::f32, std::move(dims))};
    return last();
  }
  int integers(const Dims& values, bool scalar = false) {
    Array array;
    array.shape = ir::array_shape(ir::Type::s32, scalar ? Dims{} : Dims{static_cast<int64_t>(values.size())});
    for (const int64_t value : values) {
      const ir::Literal one = ir::scalar_literal(ir::Type::s32, value);
      array.literal.data.insert(array.literal.data.end(), one.data.begin(), one.data.end());
    }
    add("const_" + std::to_string(graph.nodes.size()), "Const", {}).attributes.set("value", array);
    return last();
  }
  int op(const std::string& type, const std::vector<Output>& inputs, Attributes attributes = {}) {
    add(type + "_" + std::to_string(graph.nodes.size()), type, {inputs.begin(), inputs.end()}).attributes = std::move(attributes);
    return last();
  }
  int last() const { return static_cast<int>(graph.nodes.size()) - 1; }

 private:
  Node& add(const std::string& name, const std::string& type, const std::vector<Edge>& inputs) {
    Node& node = graph.nodes.emplace_back();
    node.name = name;
    node.type = type;
    node.inputs = inputs;
    return node;
  }
};

inline replay::Tensor tensor(const ir::Shape& shape, const Numbers& numbers) {
  replay::Tensor result{ir::array_shape(shape.type, shape.dims), {}, {}};
  for (const double number : numbers) {
    const ir::Literal one =
        ir::is_float(shape.type) ? ir::scalar_literal(shape.type, number) : ir::scalar_literal(shape.type, static_cast<int64_t>(number));
    result.data.insert(result.data.end(), one.data.begin(), one.data.end());
  }
  return result;
}

inline Numbers numbers(const replay::Tensor& tensor) {
  const ir::Literal literal{tensor.data, {}, false};
  Numbers result;
  for (int64_t i = 0; i < ir::elements(tensor.shape); ++i) result.push_back(ir::as_double(literal, tensor.shape.type, i));
  return result;
}

/// The program's results for inputs by name; `notes`: how many it makes.
inline std::vector<Numbers> computed(const Graph& graph, const std::map<std::string, Numbers>& inputs, size_t notes = 0) {
  const auto lowered = lower(graph);
  if (!lowered.ok()) {
    ADD_FAILURE() << lowered.error().message;
    return {};
  }
  EXPECT_EQ(lowered->notes.size(), notes) << (lowered->notes.empty() ? "" : lowered->notes[0].text);
  const ir::Module& module = lowered->module;
  const ir::Computation& entry = module.comp(module.entry);
  std::vector<replay::Tensor> arguments;
  for (const ir::InstrId id : entry.parameters) {
    const ir::Instr& instr = entry.instrs[static_cast<size_t>(id)];
    arguments.push_back(tensor(module.shape(instr), inputs.at(std::string(module.name_of(instr)))));
  }
  const auto result = replay::reference::Evaluator(module, replay::Rounding::each).run(module.entry, arguments);
  if (!result.ok()) {
    ADD_FAILURE() << result.error().message << "\n" << ir::print(module);
    return {};
  }
  std::vector<Numbers> results;
  for (const replay::Tensor& element : result->elements) results.push_back(numbers(element));
  return results;
}

/// Numbers between -1 and 1 that differ, none of them near 0 or near each other by accident.
inline Numbers varied(size_t count, double scale = 1) {
  Numbers result;
  for (size_t i = 0; i < count; ++i) {
    const double fraction = static_cast<double>((i * 37 + 11) % 101) / 50.5 - 1;
    result.push_back(scale * (fraction + (fraction < 0 ? -0.05 : 0.05)));
  }
  return result;
}

/// One result of a graph of one operator on x, whose dimensions are given, and what `write` adds.
inline Numbers of(Dims dims, const Numbers& x, const std::function<void(SmallGraph&, int)>& write, ir::Type type = ir::Type::f32) {
  SmallGraph small;
  write(small, small.feed("x", std::move(dims), type));
  const auto results = computed(small.graph, {{"x", x}});
  return results.empty() ? Numbers{} : results[0];
}

/// To f32's precision; NaN and infinities exactly.
inline void expect_near(const Numbers& got, const Numbers& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isfinite(expected[i]))
      EXPECT_NEAR(got[i], expected[i], 2e-6 * (1 + std::abs(expected[i]))) << what << ", element " << i;
    else
      EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(got[i]) : got[i] == expected[i]) << what << ", element " << i << ": " << got[i];
  }
}

}  // namespace importers::tensorflow
