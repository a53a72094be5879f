// Sort and top-k: what is compared, and where.
#pragma once

#include <vector>

#include "replay/kernel/evaluate.h"

namespace kernel {

/// What a sort (or a top-k) works on: operands along one dimension, and the positions along it for top-k.
struct Sorting {
  int64_t dimension = 0;
  std::vector<int64_t> sizes;   ///< of the operands, logical
  std::vector<ir::Type> types;  ///< of what is sorted
};
base::Result<Sorting> sorting_of(Evaluator& evaluator, Ref ref);
/// Stores element `linear` of each operand, with the sorted dimension last.
base::Status sort_input(Evaluator& evaluator, Ref ref, const Sorting& sorting, const std::vector<int>& arrays, Nest& nest);
/// Pairs of arrays, one per type.
base::Result<Merge> merge_of(Evaluator& evaluator, Ref ref, const Sorting& sorting, const std::vector<std::pair<int, int>>& arrays);

}  // namespace kernel
