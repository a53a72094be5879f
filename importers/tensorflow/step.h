// From a model and the names of a list to the graph of its training step.
#pragma once

#include <cstdint>

#include "importers/tensorflow/families.h"
#include "importers/tensorflow/step_nodes.h"
#include "src/base/result.h"

namespace importers::tensorflow {

struct StepSizes {
  int64_t batch = 32;
  int64_t image = 224;
};

/// The forward pass, the gradients, the updates of SGD and the broadcast of variables, as far as the list has them. Names that the model
/// does not know are left out of the graph. Error: the image is too small for the model's windows.
base::Result<StepNodes::Result> wire_step(const Family& family, const TypedList& list, const StepSizes& sizes);

}  // namespace importers::tensorflow
