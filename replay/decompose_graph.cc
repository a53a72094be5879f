// cuDNN's graphs of a convolution and what follows it, as XLA writes them into a call:
// "27:[f32]conv();31:[f32]scale(27);33:[f8e4m3fn]relu(31);". A node has a number, the type that it is kept in, an operation, and the
// numbers of nodes that it takes; what else it takes is the call's next operand behind x and w.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>

#include "replay/decompose_body.h"

namespace replay::apart {
namespace {

using ir::Op;

struct Node {
  std::string number, op;
  ir::Type type;
  std::vector<std::string> inputs;
};

/// Nothing: another form.
std::optional<std::vector<Node>> nodes_of(const std::string& text) {
  static const std::regex kNode(R"((\d+):\[(\w+)\](\w+)\(([\d,]*)\);)"), kNumber(R"(\d+)");
  std::vector<Node> nodes;
  std::ptrdiff_t end = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), kNode), none; at != none; ++at) {
    const std::optional<ir::Type> type = ir::find_type((*at)[2].str());
    if (!type || at->position() != end) return std::nullopt;
    end += at->length();
    const std::string inputs = (*at)[4];
    nodes.push_back({(*at)[1], (*at)[3], *type, {std::sregex_token_iterator(inputs.begin(), inputs.end(), kNumber), {}}});
  }
  if (nodes.empty() || static_cast<size_t>(end) != text.size() || nodes[0].op != "conv") return std::nullopt;
  return nodes;
}

Id elu(Body& b, Id x, Id) { return where_positive(b, x, b.op(Op::exponential_minus_one, x)); }
template <Op op>
Id of_two(Body& b, Id x, Id y) {
  return b.op(op, x, y);
}

struct Row {
  std::string_view op;
  size_t inputs;
  Id (*make)(Body&, Id, Id);
};
constexpr Row kRows[] = {
    {"add", 2, of_two<Op::add>},
    {"scale", 2, of_two<Op::multiply>},
    {"invscale", 2, of_two<Op::divide>},
    {"min", 2, of_two<Op::minimum>},
    {"max", 2, of_two<Op::maximum>},
    {"relu", 1, [](Body& b, Id x, Id) { return b.op(Op::maximum, x, b.constant(0)); }},
    {"elu", 1, elu},
};

/// Numbers beyond the last of f8 become it.
Id kept(Body& b, Id x, ir::Type type) {
  const double last = type == ir::Type::f8e4m3fn ? 448 : type == ir::Type::f8e5m2 ? 57344 : 0;
  if (last == 0) return b.as(x, type);
  return b.as(b.op(Op::minimum, b.op(Op::maximum, x, b.constant(-last)), b.constant(last)), type);
}

/// What the nodes make of the sums; `given`: shapes of the call's operands behind x and w, each a scalar or an array like the result.
class Graph {
 public:
  Graph(Body& body, std::vector<ir::Shape> given) : body_(body), given_(std::move(given)) {}

  /// -1: a node that is not known.
  Id made_of(const std::vector<Node>& nodes) {
    values_[nodes[0].number] = body_.parameter(body_.shape());
    Id last = values_[nodes[0].number];
    for (size_t k = 1; k < nodes.size(); ++k) {
      last = made_of(nodes[k]);
      if (last < 0) return -1;
      values_[nodes[k].number] = body_.as(last, body_.shape().type);
    }
    return next_ == given_.size() ? last : -1;
  }

 private:
  Id made_of(const Node& node) {
    const auto row = std::ranges::find(kRows, node.op, &Row::op);
    if (row == std::end(kRows) || node.inputs.empty() || node.inputs.size() > row->inputs) return -1;
    Id inputs[2] = {-1, -1};
    for (size_t k = 0; k < row->inputs; ++k) {
      const bool inside = k < node.inputs.size();
      const auto found = inside ? values_.find(node.inputs[k]) : values_.end();
      if (inside && found == values_.end()) return -1;
      inputs[k] = inside ? found->second : outside();
      if (inputs[k] < 0) return -1;
    }
    return kept(body_, row->make(body_, inputs[0], inputs[1]), node.type);
  }
  Id outside() {
    if (next_ == given_.size()) return -1;
    const ir::Shape& shape = given_[next_++];
    const Id parameter = body_.parameter(shape);
    if (shape.rank() == 0) return body_.spread(parameter, {});
    return shape.dims == body_.shape().dims ? body_.as(parameter, body_.shape().type) : -1;
  }

  Body& body_;
  std::vector<ir::Shape> given_;
  size_t next_ = 0;
  std::map<std::string, Id> values_;
};

}  // namespace

void take_convolution_graph_apart(Editor& edit, Id id) {
  const auto nodes = nodes_of(word_in(flat_config(edit.module(), edit.instr(id), "cudnn_conv_backend_config"), "serializedgraph"));
  const ir::Shape shape = edit.shape(id);
  const std::optional<ir::Shape> first = first_result(shape);
  if (!nodes || nodes->empty() || !first || !shape.is_tuple() || edit.instr(id).operands.size() < 2) return;
  const ir::Shape& result = *first;
  const std::vector<Id> operands = edit.instr(id).operands;
  if (nodes->back().type != result.type || !ir::is_float(result.type)) return;
  std::vector<ir::Shape> given;
  for (size_t k = 2; k < operands.size(); ++k) given.push_back(edit.shape(operands[k]));
  edit.begin(id);
  Body body(edit.module(), fmt::format("{}.graph", edit.module().name_of(edit.instr(id))), with_type(result, wide(result.type)));
  const Id made = Graph(body, given).made_of(*nodes);
  if (made < 0) {
    edit.module().computations.pop_back();  // the body
    return;
  }
  const Id product = plain_convolution(edit, id);
  std::vector<Id> arguments = {element(edit, product, 0)};
  arguments.insert(arguments.end(), operands.begin() + 2, operands.end());
  become_result(edit, id, {fused(edit, body, {made}, arguments)}, product);
}

}  // namespace replay::apart
