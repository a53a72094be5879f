// AttrValue, TensorProto and TensorShapeProto, and the element types of outputs, which no GraphDef writes down: each op derives them from
// an attribute of its own.
#include "importers/tensorflow/attribute_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

#include "importers/tensorflow/node_kind.h"
#include "src/base/json_text.h"

namespace importers::tensorflow {
namespace {

constexpr int64_t kMostShown = 16;  ///< elements of a constant that are worth a look

/// Which list of a TensorProto holds what.
enum class Holds : uint8_t { integers, bits, f32, f64, c64, c128, bools };
struct ListRow {
  std::string_view field;
  Holds holds;
};
constexpr ListRow kLists[] = {
    {"float_val", Holds::f32},    {"double_val", Holds::f64},   {"int_val", Holds::integers},    {"int64_val", Holds::integers},
    {"bool_val", Holds::bools},   {"half_val", Holds::bits},    {"uint32_val", Holds::integers}, {"uint64_val", Holds::integers},
    {"scomplex_val", Holds::f32}, {"dcomplex_val", Holds::f64},
};

void append(std::vector<std::byte>& data, const void* value, size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(value);
  data.insert(data.end(), begin, begin + bytes);
}

void append(std::vector<std::byte>& data, std::string_view value, Holds holds, size_t element) {
  if (holds == Holds::f32) {
    const auto number = static_cast<float>(real(value).value_or(0));
    append(data, &number, sizeof number);
  } else if (holds == Holds::f64) {
    const double number = real(value).value_or(0);
    append(data, &number, sizeof number);
  } else {
    const int64_t number = holds == Holds::bools ? value == "true" || value == "1" || value == "t" : whole(value).value_or(0);
    append(data, &number, std::min(element, sizeof number));
  }
}

/// The typed lists, at most `bytes`.
std::vector<std::byte> listed(Message tensor, size_t element, size_t bytes) {
  std::vector<std::byte> data;
  tensor.each([&](const Field& field, Message) {
    if (field.is_message || data.size() >= bytes) return;
    const auto row = std::ranges::find(kLists, field.name, &ListRow::field);
    if (row != std::end(kLists)) append(data, field.value, row->holds, element);
  });
  data.resize(std::min(std::max(data.size(), element), bytes));  // none: zero
  return data;
}

/// What is missing at the end is the last value again.
void repeat_last(std::vector<std::byte>& data, size_t element, size_t bytes) {
  const size_t given = data.size();
  data.resize(bytes);
  for (size_t at = given; at < bytes; at += element) std::memcpy(&data[at], &data[at - element], std::min(element, bytes - at));
}

/// Bytes of an array of these sizes; nothing if one is unknown or they are beyond memory.
std::optional<int64_t> array_bytes(ir::Type type, const std::vector<int64_t>& sizes) {
  int64_t total = ir::bytes(type);
  for (const int64_t size : sizes) {
    if (size < 0 || (size > 0 && total > (int64_t{1} << 50) / size)) return std::nullopt;
    total *= size;
  }
  return total;
}

std::vector<std::string> words_of(Message list, std::string_view name) {
  std::vector<std::string> words;
  list.each([&](const Field& field, Message message) {
    if (field.name != name) return;
    const auto type = name == "type" ? element_type(field.value) : std::nullopt;
    words.push_back(type ? std::string(ir::text(*type)) : field.is_message ? message.text("name") : unquoted(field.value));
  });
  return words;
}

std::optional<Attribute> list_value(Message list) {
  std::string_view kind;
  list.each([&](const Field& field, Message) { kind = kind.empty() ? field.name : kind; });
  if (kind == "f") {
    std::vector<double> numbers;
    list.each([&](const Field& field, Message) { numbers.push_back(real(field.value).value_or(0)); });
    return numbers;
  }
  if (kind == "i" || kind == "b" || kind.empty()) {
    std::vector<int64_t> numbers;
    list.each(
        [&](const Field& field, Message) { numbers.push_back(kind == "b" ? field.value == "true" : whole(field.value).value_or(0)); });
    return numbers;
  }
  if (kind == "shape") {
    std::vector<std::string> shapes;
    list.each([&](const Field&, Message message) {
      const auto sizes = shape_sizes(message);
      shapes.push_back(sizes ? nlohmann::json(*sizes).dump() : "?");
    });
    return shapes;
  }
  return words_of(list, kind);
}

struct OutputRow {
  std::string_view type;
  int port;  ///< -1: every output
  std::string_view attribute;
  ir::Type otherwise;  ///< opaque: none
};

/// Ops whose outputs do not have the type that T or dtype tells.
constexpr OutputRow kOutputs[] = {
    {"Cast", -1, "DstT", ir::Type::opaque},
    {"Bitcast", -1, "type", ir::Type::opaque},
    {"Shape", -1, "out_type", ir::Type::s32},
    {"ShapeN", -1, "out_type", ir::Type::s32},
    {"Size", -1, "out_type", ir::Type::s32},
    {"Rank", -1, "", ir::Type::s32},
    {"ArgMax", -1, "output_type", ir::Type::s64},
    {"ArgMin", -1, "output_type", ir::Type::s64},
    {"Where", -1, "", ir::Type::s64},
    {"Range", -1, "Tidx", ir::Type::s32},
    {"TopKV2", 1, "index_type", ir::Type::s32},
    {"Unique", 1, "out_idx", ir::Type::s32},
    {"Equal", -1, "", ir::Type::pred},
    {"NotEqual", -1, "", ir::Type::pred},
    {"Less", -1, "", ir::Type::pred},
    {"LessEqual", -1, "", ir::Type::pred},
    {"Greater", -1, "", ir::Type::pred},
    {"GreaterEqual", -1, "", ir::Type::pred},
    {"LogicalAnd", -1, "", ir::Type::pred},
    {"LogicalOr", -1, "", ir::Type::pred},
    {"LogicalNot", -1, "", ir::Type::pred},
    {"IsFinite", -1, "", ir::Type::pred},
    {"IsNan", -1, "", ir::Type::pred},
    {"IsInf", -1, "", ir::Type::pred},
    {"All", -1, "", ir::Type::pred},
    {"Any", -1, "", ir::Type::pred},
    {"InTopKV2", -1, "", ir::Type::pred},
    {"VarIsInitializedOp", -1, "", ir::Type::pred},
    {"BroadcastGradientArgs", -1, "T", ir::Type::s32},
    {"FusedBatchNormV2", 0, "T", ir::Type::f32},
    {"FusedBatchNormV2", -1, "U", ir::Type::f32},
    {"FusedBatchNormV3", 0, "T", ir::Type::f32},
    {"FusedBatchNormV3", -1, "U", ir::Type::f32},
    {"_FusedBatchNormEx", 0, "T", ir::Type::f32},
    {"_FusedBatchNormEx", -1, "U", ir::Type::f32},
    {"FusedBatchNormGradV2", 0, "T", ir::Type::f32},
    {"FusedBatchNormGradV2", -1, "U", ir::Type::f32},
    {"FusedBatchNormGradV3", 0, "T", ir::Type::f32},
    {"FusedBatchNormGradV3", -1, "U", ir::Type::f32},
    {"GatherV2", -1, "Tparams", ir::Type::opaque},
    {"Gather", -1, "Tparams", ir::Type::opaque},
    {"GatherNd", -1, "Tparams", ir::Type::opaque},
    {"QuantizeV2", 0, "T", ir::Type::opaque},
    {"QuantizeV2", -1, "", ir::Type::f32},
    {"FakeQuantWithMinMaxArgs", -1, "", ir::Type::f32},
    {"FakeQuantWithMinMaxArgsGradient", -1, "", ir::Type::f32},
    {"FakeQuantWithMinMaxVars", -1, "", ir::Type::f32},
    {"FakeQuantWithMinMaxVarsGradient", -1, "", ir::Type::f32},
    {"FakeQuantWithMinMaxVarsPerChannel", -1, "", ir::Type::f32},
    {"FakeQuantWithMinMaxVarsPerChannelGradient", -1, "", ir::Type::f32},
    {"ResizeBilinear", -1, "", ir::Type::f32},
    {"ResizeBicubic", -1, "", ir::Type::f32},
    {"CropAndResize", -1, "", ir::Type::f32},
    {"CTCLoss", -1, "", ir::Type::f32},
    {"FFT", -1, "Tcomplex", ir::Type::c64},
    {"FFT2D", -1, "Tcomplex", ir::Type::c64},
    {"FFT3D", -1, "Tcomplex", ir::Type::c64},
    {"IFFT", -1, "Tcomplex", ir::Type::c64},
    {"IFFT2D", -1, "Tcomplex", ir::Type::c64},
    {"IFFT3D", -1, "Tcomplex", ir::Type::c64},
    {"RFFT", -1, "Tcomplex", ir::Type::c64},
    {"RFFT2D", -1, "Tcomplex", ir::Type::c64},
    {"RFFT3D", -1, "Tcomplex", ir::Type::c64},
    {"IRFFT", -1, "Treal", ir::Type::f32},
    {"IRFFT2D", -1, "Treal", ir::Type::f32},
    {"IRFFT3D", -1, "Treal", ir::Type::f32},
    {"Real", -1, "Tout", ir::Type::f32},
    {"Imag", -1, "Tout", ir::Type::f32},
    {"Angle", -1, "Tout", ir::Type::f32},
    {"ComplexAbs", -1, "Tout", ir::Type::f32},
    {"Complex", -1, "Tout", ir::Type::c64},
    {"MaxPoolWithArgmax", 1, "Targmax", ir::Type::s64},
    {"LowerBound", -1, "out_type", ir::Type::s32},
    {"UpperBound", -1, "out_type", ir::Type::s32},
    {"Bucketize", -1, "out_type", ir::Type::s32},
    {"Multinomial", -1, "output_dtype", ir::Type::s64},
    {"RandomUniformInt", -1, "Tout", ir::Type::opaque},
    {"NonMaxSuppressionV2", -1, "", ir::Type::s32},
    {"NonMaxSuppressionV3", -1, "", ir::Type::s32},
    {"StatelessRandomGetKeyCounter", -1, "", ir::Type::u64},
    {"StatelessRandomUniformV2", -1, "dtype", ir::Type::f32},
};

/// What most ops call the type of their outputs.
constexpr std::string_view kTypeAttributes[] = {"T", "dtype", "output_type", "out_type", "Tparams", "Tidx"};
/// Of calls and of what gives several unlike results: a type for each.
constexpr std::string_view kTypeLists[] = {"Tout", "output_types", "dtypes"};

std::optional<ir::Type> type_attribute(const Node& node, std::string_view name) {
  const auto* type = find_attribute<ir::Type>(node, name);
  return type == nullptr ? std::nullopt : std::optional(*type);
}

/// Appends an attribute's value.
struct ToJson {
  std::string& out;

  void operator()(const Array& array) const {
    const std::string shape = ir::print(array.shape, ir::LayoutPrint::without);
    if (array.literal.elided || is_spread(array) || ir::elements(array.shape) > kMostShown) return (*this)(shape);
    (*this)(shape + " " + ir::print(array.literal, array.shape));
  }
  void operator()(const Boxed<Array>& array) const { (*this)(*array); }
  void operator()(ir::Type type) const { base::append_json(out, ir::text(type)); }
  void operator()(const std::string& text) const { base::append_json(out, text); }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(int64_t value) const { fmt::format_to(std::back_inserter(out), "{}", value); }
  void operator()(double value) const { out += nlohmann::json(value).dump(); }
  template <typename T>
  void operator()(const std::vector<T>& values) const {
    out += '[';
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out += ',';
      (*this)(values[i]);
    }
    out += ']';
  }
};

}  // namespace

std::optional<std::vector<int64_t>> shape_sizes(Message shape) {
  if (shape.word("unknown_rank") == "true") return std::nullopt;
  std::vector<int64_t> sizes;
  shape.each([&](const Field& field, Message dim) {
    if (field.name == "dim") sizes.push_back(std::max(int64_t{-1}, dim.integer("size")));
  });
  return sizes;
}

std::optional<Array> tensor_value(Message tensor) {
  const auto type = element_type(tensor.word("dtype"));
  const auto sizes = shape_sizes(tensor.message("tensor_shape"));
  if (!type || *type >= ir::Type::token || !sizes) return std::nullopt;
  const auto bytes = array_bytes(*type, *sizes);
  if (!bytes) return std::nullopt;
  Array array{ir::array_shape(*type, *sizes), {}};
  const auto element = static_cast<size_t>(ir::bytes(*type)), size = static_cast<size_t>(*bytes);
  const std::string content = tensor.text("tensor_content");
  if (!content.empty() && content.size() != size) return std::nullopt;
  std::vector<std::byte>& data = array.literal.data;
  data = content.empty() ? listed(tensor, element, size) : std::vector<std::byte>();
  append(data, content.data(), content.size());
  if (data.size() == element && size > static_cast<size_t>(kMostShown) * element) return array;
  if (*bytes > (ir::is_float(*type) ? kMostFloats : kMostIntegers)) {
    if (!ir::is_float(*type)) return std::nullopt;
    data.clear();
    array.literal.elided = true;
  } else if (data.size() < size) {
    repeat_last(data, element, size);
  }
  return array;
}

bool is_spread(const Array& array) {
  return !array.literal.elided && static_cast<int64_t>(array.literal.data.size()) < ir::bytes(array.shape);
}

std::string tensor_text(Message tensor) {
  const auto type = element_type(tensor.word("dtype"));
  if (!type || *type >= ir::Type::token) return "";
  std::vector<int64_t> sizes;
  tensor.message("shape").each([&](const Field& field, Message dim) {
    if (field.name == "dim") sizes.push_back(dim.integer("size"));
  });
  return fmt::format("{}[{}]", ir::text(*type), fmt::join(sizes, ","));
}

std::optional<Attribute> attribute_value(Message value) {
  std::optional<Attribute> result;
  value.each([&](const Field& field, Message message) {
    if (field.name == "s" || field.name == "placeholder") result = unquoted(field.value);
    if (field.name == "i") result = whole(field.value).value_or(0);
    if (field.name == "f") result = real(field.value).value_or(0);
    if (field.name == "b") result = field.value == "true" || field.value == "1";
    if (field.name == "func") result = message.text("name");
    if (field.name == "list") result = list_value(message);
    if (field.name == "type") {
      const auto type = element_type(field.value);
      result = type ? Attribute(*type) : Attribute(std::string(field.value));
    }
    if (field.name == "shape") {
      if (auto sizes = shape_sizes(message)) result = std::move(*sizes);
    }
    if (field.name == "tensor") {
      if (auto array = tensor_value(message)) result = std::move(*array);
    }
  });
  return result;
}

std::string attributes_json(const Node& node) {
  constexpr size_t kUsual = 64;  // bytes of the attributes of most nodes
  std::string out;
  if (!node.attributes.empty()) out.reserve(kUsual);
  for (const auto& [name, value] : node.attributes) {
    out += out.empty() ? '{' : ',';
    base::append_json(out, name);
    out += ':';
    std::visit(ToJson{out}, value);
  }
  if (!out.empty()) out += '}';
  return out;
}

std::optional<ir::Type> output_type(const Node& node, size_t port) {
  for (const OutputRow& row : kOutputs) {
    if (row.type != node.type || (row.port >= 0 && static_cast<size_t>(row.port) != port)) continue;
    if (const auto given = type_attribute(node, row.attribute)) return given;
    if (row.otherwise != ir::Type::opaque) return row.otherwise;
  }
  for (const std::string_view name : kTypeAttributes) {
    if (const auto given = type_attribute(node, name)) return given;
  }
  for (const std::string_view name : kTypeLists) {
    const auto* types = find_attribute<std::vector<std::string>>(node, name);
    if (types != nullptr && port < types->size()) return ir::find_type((*types)[port]);
  }
  return std::nullopt;
}

}  // namespace importers::tensorflow
