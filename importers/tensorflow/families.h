// Which model a list of node names belongs to.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "importers/tensorflow/keras_model.h"
#include "src/model/operator_records.h"

namespace importers::tensorflow {

struct Family {
  Model model;
  std::string root;  ///< scope of the model with its slash: "resnet50/"; "": none
};

/// From names of layers (convS_blockB_K_conv, blockS_convC) and their numbers; nothing if they are of no model that is known.
std::optional<Family> recognise(std::span<const model::Operator> operators);

}  // namespace importers::tensorflow
