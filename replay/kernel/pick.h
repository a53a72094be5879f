// Select-and-scatter: each window picks an element, where the source is combined.
#pragma once

#include "replay/kernel/update.h"

namespace kernel {

/// How an array says which element a window picks: by its linear place, or by the step in the window; -1: the window holds none.
enum class Picked : uint8_t { place, step };
inline Reg register_of(Picked as) { return as == Picked::place ? Reg::i64 : Reg::i32; }

/// Do few enough windows hold an element that it can ask them all?
bool asks_holders(Evaluator& evaluator, Ref ref);
/// Stores what each window picks, in the order in which the source lies in memory.
base::Status pick_elements(Evaluator& evaluator, Ref ref, int picks, Picked as, Nest& nest);
/// Element `place` of the result, from steps that were picked.
base::Result<NodeId> asked_of_holders(Evaluator& evaluator, Ref ref, int picks, const Place& place);
/// The source's elements in order, each combined at the place that its window picked.
base::Status scatter_picked(Evaluator& evaluator, Ref ref, int picks, const Updated& target, Nest& nest);

}  // namespace kernel
