// Operators on shapes and permutations that TensorFlow keeps on the host: their values are known when the program is read.
#include <algorithm>
#include <cstring>
#include <map>

#include "importers/tensorflow/lower_rules.h"

namespace importers::tensorflow {
namespace {

using Arrays = std::span<const Array* const>;
using Shapes = std::span<const ir::Shape* const>;

Array integers(const Dims& values, ir::Type type, bool scalar = false) {
  Array array;
  array.shape = ir::array_shape(type, scalar ? Dims{} : Dims{static_cast<int64_t>(values.size())});
  for (const int64_t value : values) {
    const ir::Literal one = ir::scalar_literal(type, value);
    array.literal.data.insert(array.literal.data.end(), one.data.begin(), one.data.end());
  }
  return array;
}

Dims values_of(const Array& array) {
  Dims values;
  for (int64_t i = 0; i < ir::elements(array.shape); ++i) values.push_back(ir::as_int(array.literal, array.shape.type, i));
  return values;
}

std::optional<Array> first(const Node&, Arrays in, Shapes, int32_t) {
  return in.empty() || in[0] == nullptr ? std::nullopt : std::optional(*in[0]);
}

std::optional<Array> shape(const Node& node, Arrays, Shapes shapes, int32_t port) {
  const auto at = static_cast<size_t>(port);
  if (at >= shapes.size() || shapes[at] == nullptr) return std::nullopt;
  return integers(shapes[at]->dims, attribute(node, "out_type", ir::Type::s32));
}

std::optional<Array> size(const Node& node, Arrays, Shapes shapes, int32_t) {
  if (shapes.empty() || shapes[0] == nullptr) return std::nullopt;
  return integers({ir::elements(*shapes[0])}, attribute(node, "out_type", ir::Type::s32), true);
}

/// Where each letter of the source format stands in the other.
Dims letters(const Node& node) {
  const std::string from = attribute(node, "src_format", std::string("NHWC")), to = attribute(node, "dst_format", std::string("NCHW"));
  Dims at;
  for (const char letter : to) at.push_back(static_cast<int64_t>(from.find(letter)));
  return at;
}

/// A vector (or rows) in the order of the other format.
std::optional<Array> permute_format(const Node& node, Arrays in, Shapes, int32_t) {
  if (in.empty() || in[0] == nullptr) return std::nullopt;
  const Dims values = values_of(*in[0]), order = letters(node);
  const size_t columns = in[0]->shape.rank() == 2 ? 2 : 1;
  if (values.size() != columns * order.size()) return std::nullopt;
  Array result = integers(values, in[0]->shape.type);
  Dims moved;
  for (const int64_t row : order) {
    if (row < 0 || row >= static_cast<int64_t>(order.size())) return std::nullopt;
    for (size_t c = 0; c < columns; ++c) moved.push_back(values[static_cast<size_t>(row) * columns + c]);
  }
  result.literal = integers(moved, in[0]->shape.type).literal;
  result.shape = in[0]->shape;
  return result;
}

/// Dimensions of the source format as dimensions of the other.
std::optional<Array> map_format(const Node& node, Arrays in, Shapes, int32_t) {
  if (in.empty() || in[0] == nullptr) return std::nullopt;
  Dims order = letters(node), mapped;
  for (const int64_t d : values_of(*in[0])) {
    const auto found = std::ranges::find(order, from_end(d, static_cast<int64_t>(order.size())));
    if (found == order.end()) return std::nullopt;
    mapped.push_back(found - order.begin());
  }
  Array result = integers(mapped, in[0]->shape.type);
  result.shape = in[0]->shape;
  return result;
}

/// The same values in another shape.
std::optional<Array> reshaped(const Node&, Arrays in, Shapes, int32_t) {
  if (in.size() < 2 || in[0] == nullptr || in[1] == nullptr) return std::nullopt;
  Array result = *in[0];
  Dims to = values_of(*in[1]);
  Dims told = to;
  for (int64_t& d : told) d = std::max<int64_t>(1, d);
  if (!are_sane(told)) return std::nullopt;
  for (int64_t& d : to) d = d < 0 ? ir::elements(in[0]->shape) / ir::elements(ir::array_shape(result.shape.type, told)) : d;
  result.shape = ir::array_shape(result.shape.type, to);
  if (ir::elements(result.shape) != ir::elements(in[0]->shape)) return std::nullopt;
  return result;
}

struct Fold {
  std::string_view type;
  std::optional<Array> (*value)(const Node&, Arrays, Shapes, int32_t);
};
constexpr Fold kFolds[] = {
    {"Identity", first},
    {"Snapshot", first},
    {"Shape", shape},
    {"ShapeN", shape},
    {"Size", size},
    {"DataFormatVecPermute", permute_format},
    {"DataFormatDimMap", map_format},
    {"Reshape", reshaped},
};

}  // namespace

std::optional<Array> fold(const Node& node, Arrays constants, Shapes shapes, int32_t port) {
  const auto found = std::ranges::find(kFolds, std::string_view(node.type), &Fold::type);
  return found == std::end(kFolds) ? std::nullopt : found->value(node, constants, shapes, port);
}

}  // namespace importers::tensorflow
