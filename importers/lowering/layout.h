// Physical order of images.
#pragma once

#include "src/ir/module.h"

namespace importers::lowering {

/// Gives images of convolutions, and everything that is computed from them place by place, the physical order in which features are
/// adjacent where the program has them as batch, feature, space (NCHW: layout {1,3,2,0}). What a framework's program says about dimensions
/// stays as it is; in which order they lie it leaves to the device, and processors are twice as quick on adjacent features. Kernels of
/// convolutions keep their order.
void channels_last(ir::Module& module);

}  // namespace importers::lowering
