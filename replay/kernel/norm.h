// Batch norms: statistics of each feature in memory, the rest element by element.
#pragma once

#include "replay/kernel/evaluate.h"

namespace kernel {

/// batch-norm-training: mean and variance of each feature in `arrays`; batch-norm-grad: the gradients of scale and offset.
base::Status feature_sums(Evaluator& evaluator, Ref ref, const std::vector<int>& arrays, Nest& nest);
/// Leaf 0 at a place. `arrays`: what feature_sums stored (empty: batch-norm-inference).
base::Result<NodeId> normalised(Evaluator& evaluator, Ref ref, const std::vector<int>& arrays, const Place& place);

}  // namespace kernel
