// What type and name of a node tell about it, the same for every log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/ir/shape.h"
#include "src/model/operator_records.h"

namespace importers::tensorflow {

/// An operator with phase, scope and launches; type "": what the name tells. oneDNN's own types (_MklNativeFusedConv2D) get the framework's
/// name (_FusedConv2D), and a note. `device`: as written; "": not told.
model::Operator node_operator(std::string_view name, std::string_view type, std::string_view device, int64_t line);
/// What a node of this type launches, as node_operator tells it.
model::Launches node_launches(std::string_view type);

/// "DT_FLOAT", "DT_FLOAT_REF", "float" → f32. Nothing for resources, strings, variants and other words.
std::optional<ir::Type> element_type(std::string_view word);

/// "dense/MatMul:0" → dense/MatMul, 0; "^init" → control.
struct InputName {
  std::string_view node;
  int32_t port = 0;
  bool control = false;
};
InputName input_name(std::string_view input);

}  // namespace importers::tensorflow
