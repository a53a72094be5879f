// Types that logs give, in the words of the framework, and what names tell besides.
#include "importers/tensorflow/node_kind.h"

#include <fmt/format.h>

#include <utility>

#include "importers/tensorflow/names.h"
#include "importers/tensorflow/op_types.h"

namespace importers::tensorflow {
namespace {

struct NodeKindTypeRow {
  std::string_view word, short_word;
  ir::Type type;
};
constexpr NodeKindTypeRow kTypeRows[] = {
    {"DT_FLOAT", "float", ir::Type::f32},
    {"DT_DOUBLE", "double", ir::Type::f64},
    {"float32", "float32", ir::Type::f32},  // NumPy's words, as Horovod writes them
    {"float64", "float64", ir::Type::f64},
    {"float16", "float16", ir::Type::f16},
    {"DT_HALF", "half", ir::Type::f16},
    {"DT_BFLOAT16", "bfloat16", ir::Type::bf16},
    {"DT_BOOL", "bool", ir::Type::pred},
    {"DT_INT8", "int8", ir::Type::s8},
    {"DT_INT16", "int16", ir::Type::s16},
    {"DT_INT32", "int32", ir::Type::s32},
    {"DT_INT64", "int64", ir::Type::s64},
    {"DT_UINT8", "uint8", ir::Type::u8},
    {"DT_UINT16", "uint16", ir::Type::u16},
    {"DT_UINT32", "uint32", ir::Type::u32},
    {"DT_UINT64", "uint64", ir::Type::u64},
    {"DT_QINT8", "qint8", ir::Type::s8},
    {"DT_QUINT8", "quint8", ir::Type::u8},
    {"DT_QINT16", "qint16", ir::Type::s16},
    {"DT_QUINT16", "quint16", ir::Type::u16},
    {"DT_QINT32", "qint32", ir::Type::s32},
    {"DT_COMPLEX64", "complex64", ir::Type::c64},
    {"DT_COMPLEX128", "complex128", ir::Type::c128},
    {"DT_FLOAT8_E5M2", "float8_e5m2", ir::Type::f8e5m2},
    {"DT_FLOAT8_E4M3FN", "float8_e4m3fn", ir::Type::f8e4m3fn},
    {"DT_INT4", "int4", ir::Type::s4},
    {"DT_UINT4", "uint4", ir::Type::u4},
};

constexpr std::string_view kMkl = "_Mkl";

/// "_MklNativeFusedConv2D" → "_FusedConv2D", "_MklMatMul" → "MatMul"; others as they are.
std::string framework_type(std::string_view type) {
  constexpr std::string_view kNative = "Native";
  if (!type.starts_with(kMkl)) return std::string(type);
  type.remove_prefix(kMkl.size());
  if (type.starts_with(kNative)) type.remove_prefix(kNative.size());
  const bool internal = type.starts_with("Fused") && (!type.starts_with("FusedBatchNorm") || type.starts_with("FusedBatchNormEx"));
  return fmt::format("{}{}", internal ? "_" : "", type);
}

}  // namespace

model::Operator node_operator(std::string_view name, std::string_view type, std::string_view device, int64_t line) {
  model::Operator op;
  if (type.empty()) {
    op = operator_of_name(name);
  } else {
    op.name = name;
    op.scope = scope_of(name);
    op.type = framework_type(type);
    op.type_from = model::Known::given;
    if (op.type != type) op.note = fmt::format("ran as {}", type);
    op.phase = phase_of(name, op.type);
    op.launches = node_launches(op.type);
  }
  op.device = device;
  op.line = line;
  return op;
}

model::Launches node_launches(std::string_view type) {
  const OpType* known = type.starts_with(kMkl) ? find_op_type(framework_type(type)) : find_op_type(type);
  return known == nullptr ? model::Launches::device : known->launches;
}

std::optional<ir::Type> element_type(std::string_view word) {
  if (word.ends_with("_REF")) word.remove_suffix(4);
  for (const NodeKindTypeRow& row : kTypeRows) {
    if (row.word == word || row.short_word == word) return row.type;
  }
  return std::nullopt;
}

InputName input_name(std::string_view input) {
  InputName result{input, 0, input.starts_with('^')};
  if (result.control) result.node.remove_prefix(1);
  const size_t colon = result.node.rfind(':');
  if (colon == result.node.npos || colon + 1 == result.node.size() || result.node.size() - colon > 8) return result;
  int32_t port = 0;
  for (const char c : result.node.substr(colon + 1)) {
    if (c < '0' || c > '9') return result;
    port = port * 10 + (c - '0');
  }
  result.port = port;
  result.node = result.node.substr(0, colon);
  return result;
}

}  // namespace importers::tensorflow
