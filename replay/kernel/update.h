// Ops that change a part of an array: the nests that run after the copy.
#pragma once

#include <vector>

#include "replay/kernel/evaluate.h"

namespace kernel {

/// Where the changed array is.
struct Updated {
  int array = 0;
  ir::Shape shape;          ///< with the layout that it has there
  bool stored_type = true;  ///< false: in register types
};

/// Threads share out the destination: the stage runs only where `row` of `owned` is the thread's.
void own(Graph& graph, Nest& nest, Stage& stage, const Index& row, int64_t owned);
/// All updates in order; a thread does those whose destination rows it owns. The element is rounded to its type after each update.
base::Status scatter_updates(Evaluator& evaluator, Ref scatter, const std::vector<Updated>& targets, Nest& nest);
/// The elements of a dynamic-update-slice's update.
base::Status slice_update(Evaluator& evaluator, Ref update, const Updated& target, Nest& nest);

}  // namespace kernel
