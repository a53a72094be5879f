// Op types of TensorFlow by name: what they make a machine do.
#pragma once

#include <string_view>

#include "src/model/operator_records.h"

namespace importers::tensorflow {

struct OpType {
  std::string_view name;
  model::Launches launches = model::Launches::device;
  bool auxiliary = false;  ///< serves other nodes: constants, shapes, layouts, placeholders
};

/// The registered op of this name, or nullptr. Letter case counts, as in TensorFlow's registry.
const OpType* find_op_type(std::string_view name);

}  // namespace importers::tensorflow
