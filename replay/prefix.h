// Prefix sums and the like, as frameworks write them before a compiler has seen them.
#pragma once

#include <memory>

#include "src/ir/module.h"

namespace replay {

/// The same program with reduce-windows that combine everything before (or after) each element along one dimension made into ⌈log2 n⌉
/// passes, each a fusion that combines every element with the one 1, 2, 4, … places away (Hillis and Steele 1986, "Data parallel
/// algorithms"): n·log n steps in place of n². HLO leaves the order of a reduction open, so the results are as good. Only of at least 64
/// elements, and where the reducer is begun with its neutral element. Instructions keep their ids. Null where there is none.
std::shared_ptr<const ir::Module> with_prefixes_by_doubling(const ir::Module& module);

}  // namespace replay
