// Which model a list of node names belongs to.
#pragma once

#include <optional>
#include <string>

#include "importers/tensorflow/keras_model.h"
#include "importers/tensorflow/typed_list.h"

namespace importers::tensorflow {

struct Family {
  Model model;
  std::string root;  ///< scope of the model with its slash: "resnet50/"; "": none
};

/// From names of layers (convS_blockB_K_conv, blockS_convC) and their numbers; nothing if they are of no model that is known.
std::optional<Family> recognise(const TypedList& list);

}  // namespace importers::tensorflow
