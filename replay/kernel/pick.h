// Select-and-scatter: each window picks an element, where the source is combined.
#pragma once

#include "replay/kernel/update.h"

namespace kernel {

/// Stores the linear place of the element that each window picks, -1 if it holds none, in an array of i64.
base::Status pick_elements(Evaluator& evaluator, Ref ref, int picks, Nest& nest);
/// The source's elements in order, each combined where its window picked.
base::Status scatter_picked(Evaluator& evaluator, Ref ref, int picks, const Updated& target, Nest& nest);

}  // namespace kernel
