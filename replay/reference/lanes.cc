// Scalar computations on lanes: every list of indices is n zeros, a parameter has n values, one a lane.
#include "replay/reference/ops.h"

namespace replay::reference {

std::vector<Values> Interpreter::run_lanes(ir::CompId comp, const std::vector<Batch>& arguments) {
  Frame frame;
  frame.comp = comp;
  frame.round = Round::none;
  frame.lanes = &arguments;
  frame.in_lanes = true;
  const size_t n = arguments.empty() ? 0 : size(*arguments[0]);
  const ir::InstrId root = module_.comp(comp).root;
  const int leaves = leaf_count(module_.shape(module_.instr(comp, root)));
  std::vector<Values> out;
  in_scope([&] {
    const IndexList at = intern(Indices(n, 0));
    for (int leaf = 0; leaf < leaves && !failed_; ++leaf) {
      Values values = *eval(frame, root, leaf, at);
      if (size(values) != n)
        fail("a scalar computation returns an array");
      else
        out.push_back(std::move(values));
    }
  });
  return out;
}

}  // namespace replay::reference
