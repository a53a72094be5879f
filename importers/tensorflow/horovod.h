// Horovod's timeline (HOROVOD_TIMELINE=file.json): what each tensor's communication did, and when.
#pragma once

#include "importers/importer.h"

namespace importers::tensorflow {

Match match_horovod(const Input& input);
/// An operator for each tensor and kind of communication, with shape and bytes; the n-th time of a tensor is pass n. Negotiation (waiting
/// for other ranks) is an operator of its own.
base::Result<model::Imported> read_horovod(const Input& input, const TakeModule& take);

}  // namespace importers::tensorflow
