// Arrays that are filled only in part: sizes below the bound, which are values of the program.
#pragma once

#include <memory>

#include "src/base/result.h"
#include "src/ir/module.h"

namespace replay {

/// The same program on whole arrays: each size that set-dimension-size, dynamic-reshape or SliceToDynamic gives becomes a scalar that is
/// carried beside its array, and ops that would see what lies beyond it get a neutral value there. Instructions keep their ids, new ones
/// come after them; beyond its sizes a result of the entry is 0. Null where the module has no such size. The Error names the first
/// instruction that takes a part of an array and has no rule for it.
base::Result<std::shared_ptr<const ir::Module>> with_sizes_as_values(const ir::Module& module);

}  // namespace replay
