// Scalar computations on lanes: every list of indices is n zeros, a parameter has n values, one a lane. Computations with ops that make
// arrays inside (a slice of a broadcast, a loop) run once a lane.
#include "replay/reference/ops.h"

namespace replay::reference {

bool Interpreter::fits_lanes(ir::CompId comp) {
  const auto [it, is_new] = fits_lanes_.try_emplace(comp, false);  // a computation that calls itself does not
  if (!is_new) return it->second;
  bool fits = true;
  for (const ir::Instr& instr : module_.comp(comp).instrs) {
    const OpRow* const row = find_row(instr.op);
    const ir::Shape& shape = module_.shape(instr);
    fits = fits && (row == nullptr || row->lanes) && (!shape.is_array() || ir::elements(shape) == 1);
    for (const ir::CompId callee : instr.calls) fits = fits && fits_lanes(callee);
  }
  return fits_lanes_[comp] = fits;
}

std::vector<Values> Interpreter::run_each(ir::CompId comp, const std::vector<Batch>& arguments) {
  const ir::Computation& computation = module_.comp(comp);
  const size_t n = arguments.empty() ? 0 : size(*arguments[0]);
  std::vector<Values> out;
  for (size_t i = 0; i < n && !failed_; ++i) {
    std::vector<Leaves> leaves;
    size_t next = 0;
    for (const ir::InstrId parameter : computation.parameters) {
      Leaves& own = leaves.emplace_back();
      const ir::Shape& shape = module_.shape(module_.instr(comp, parameter));
      for (int leaf = 0; leaf < leaf_count(shape) && next < arguments.size(); ++leaf) {
        auto array = std::make_shared<Array>();
        array->shape = leaf_shape(shape, leaf);
        array->values = share(repeat(*arguments[next++], i, 1));
        own.push_back(std::move(array));
      }
    }
    const Leaves root = run(comp, leaves, Round::none);
    for (size_t k = 0; k < root.size() && !failed_; ++k) {
      Values value = load(*this, *root[k], {0});
      if (i == 0)
        out.push_back(std::move(value));
      else
        append(out[k], value);
    }
  }
  return out;
}

std::vector<Values> Interpreter::run_lanes(ir::CompId comp, const std::vector<Batch>& arguments) {
  return fits_lanes(comp) ? run_lanes(comp, arguments, module_.comp(comp).root) : run_each(comp, arguments);
}

std::vector<Values> Interpreter::run_lanes(ir::CompId comp, const std::vector<Batch>& arguments, ir::InstrId wanted) {
  if (!fits_lanes(comp)) return {};
  Frame frame;
  frame.comp = comp;
  frame.round = Round::none;
  frame.lanes = &arguments;
  frame.in_lanes = true;
  const size_t n = arguments.empty() ? 0 : size(*arguments[0]);
  const int leaves = leaf_count(module_.shape(module_.instr(comp, wanted)));
  std::vector<Values> out;
  in_scope([&] {
    const IndexList at = intern(Indices(n, 0));
    for (int leaf = 0; leaf < leaves && !failed_; ++leaf) {
      Values values = *eval(frame, wanted, leaf, at);
      if (size(values) != n)
        fail("a scalar computation returns an array");
      else
        out.push_back(std::move(values));
    }
  });
  return out;
}

}  // namespace replay::reference
