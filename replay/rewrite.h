// The program as it is run, where that is not as it is given.
#pragma once

#include <memory>

#include "replay/decompose.h"
#include "src/base/result.h"
#include "src/ir/module.h"

namespace replay {

/// Library calls as operations (decompose.h), prefix sums by doubling (prefix.h), sizes below the bound as values (sizes.h); null: as
/// given. Ids stay valid.
base::Result<std::shared_ptr<const ir::Module>> rewritten(const ir::Module& module, Products products = Products::apart);

}  // namespace replay
