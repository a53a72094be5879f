// PaddlePaddle programs: the text of the old IR, protobuf text, PIR.
#pragma once

#include "importers/importer.h"

namespace importers::paddle {

Match match(const Input& input);
base::Result<model::Imported> read(const Input& input, const TakeModule& take);

}  // namespace importers::paddle
