// One rewriting after another: sizes last, so that they see the operations that calls have become.
#include "replay/rewrite.h"

#include "replay/sizes.h"

namespace replay {

base::Result<std::shared_ptr<const ir::Module>> rewritten(const ir::Module& module, Products products) {
  const std::shared_ptr<const ir::Module> apart = with_calls_as_ops(module, products);
  ASSIGN_OR_RETURN(std::shared_ptr<const ir::Module> sized, with_sizes_as_values(apart != nullptr ? *apart : module));
  return sized != nullptr ? sized : apart;
}

}  // namespace replay
