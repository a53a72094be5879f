// Values of attributes in protobuf text.
#pragma once

#include <optional>
#include <string>

#include "importers/tensorflow/graph.h"
#include "importers/tensorflow/text_proto.h"

namespace importers::tensorflow {

/// An AttrValue. Nothing: empty, or a shape of unknown rank.
std::optional<Attribute> attribute_value(Message value);
/// Sizes of a TensorShapeProto, -1 where one is not known; nothing if its rank is not.
std::optional<std::vector<int64_t>> shape_sizes(Message shape);
/// A TensorProto. Nothing: strings and other types without elements, sizes that do not fit its content, integers beyond kMostIntegers
/// bytes. Floats beyond kMostFloats are elided: their values do not matter to a replay. One value for many elements stays one (is_spread).
std::optional<Array> tensor_value(Message tensor);
inline constexpr int64_t kMostFloats = int64_t{1} << 20, kMostIntegers = int64_t{1} << 24;
/// The literal holds one element of many.
bool is_spread(const Array& array);

/// Of `dtype` and `shape`, as in a TensorDescription: "f32[8,32]"; "" if they tell no array.
std::string tensor_text(Message tensor);

/// JSON of the attributes that a person would want to see: no constants beyond a few elements.
std::string attributes_json(const Node& node);
/// The element type of an output, by the rules of the op; nothing if neither rule nor attribute tells it.
std::optional<ir::Type> output_type(const Node& node, size_t port);

}  // namespace importers::tensorflow
