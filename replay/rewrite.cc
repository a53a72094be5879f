// One rewriting after another: sizes last, so that they see the operations that calls have become.
#include "replay/rewrite.h"

#include "replay/prefix.h"
#include "replay/sizes.h"

namespace replay {

base::Result<std::shared_ptr<const ir::Module>> rewritten(const ir::Module& module, Products products) {
  std::shared_ptr<const ir::Module> run = with_calls_as_ops(module, products);
  if (auto doubled = with_prefixes_by_doubling(run != nullptr ? *run : module)) run = std::move(doubled);
  ASSIGN_OR_RETURN(std::shared_ptr<const ir::Module> sized, with_sizes_as_values(run != nullptr ? *run : module));
  return sized != nullptr ? sized : run;
}

}  // namespace replay
