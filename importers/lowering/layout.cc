// Arrays that must lie alike are one class: operands and results of what works place by place, arguments and parameters, elements and
// tuples. A class that holds an image and no kernel of a convolution gets the order with adjacent features.
#include "importers/lowering/layout.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "src/ir/attr.h"

namespace importers::lowering {
namespace {

using ir::Op;

enum Role : uint8_t { none = 0, image = 1, kernel = 2 };

/// Are batch and features the first two dimensions, and space behind them?
bool space_last(int64_t batch, int64_t feature) { return batch < 2 && feature < 2; }

double product(const ir::Shape& shape, const std::vector<int64_t>& dims) {
  double size = 1;
  for (const int64_t d : dims) size *= static_cast<double>(shape.dims[static_cast<size_t>(d)]);
  return size;
}

/// Ops whose result does not lie as their operands do.
bool is_mover(Op op) {
  static constexpr Op kOps[] = {Op::reshape, Op::bitcast, Op::transpose, Op::broadcast,   Op::reduce,   Op::dot,
                                Op::gather,  Op::scatter, Op::iota,      Op::custom_call, Op::constant, Op::sort};
  return std::ranges::find(kOps, op) != std::end(kOps);
}

class Classes {
 public:
  explicit Classes(ir::Module& module) : module_(module) {
    size_t count = 0;
    for (const ir::Computation& comp : module.computations) {
      first_.emplace_back();
      for (const ir::Instr& instr : comp.instrs) {
        first_.back().push_back(count);
        const ir::Shape& shape = module.shape(instr);
        count += shape.is_tuple() ? shape.elements.size() : 1;
      }
    }
    parent_.resize(count);
    std::iota(parent_.begin(), parent_.end(), 0);
    roles_.resize(count);
  }

  void join_all() {
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      for (size_t i = 0; i < module_.computations[c].instrs.size(); ++i) join({static_cast<ir::CompId>(c), static_cast<ir::InstrId>(i)});
    }
  }

  void assign() {
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      for (size_t i = 0; i < module_.computations[c].instrs.size(); ++i) assign({static_cast<ir::CompId>(c), static_cast<ir::InstrId>(i)});
    }
  }

 private:
  const ir::Instr& instr(ir::InstrRef at) const { return module_.instr(at.comp, at.instr); }
  size_t node(ir::InstrRef at, size_t element = 0) const {
    return first_[static_cast<size_t>(at.comp)][static_cast<size_t>(at.instr)] + element;
  }
  size_t leaves(ir::InstrRef at) const {
    const ir::Shape& shape = module_.shape(instr(at));
    return shape.is_tuple() ? shape.elements.size() : 1;
  }
  size_t find(size_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  void join(size_t a, size_t b) {
    a = find(a), b = find(b);
    parent_[b] = a;
    roles_[a] |= roles_[b];
  }
  void join(ir::InstrRef a, ir::InstrRef b) {
    for (size_t leaf = 0; leaf < std::min(leaves(a), leaves(b)); ++leaf) join(node(a, leaf), node(b, leaf));
  }
  void mark(ir::InstrRef at, Role role) { roles_[find(node(at))] |= role; }

  void join(ir::InstrRef at) {
    const ir::Instr& i = instr(at);
    const auto operand = [&](size_t k) { return ir::InstrRef{at.comp, i.operands[k]}; };
    if (i.op == Op::fusion && i.calls.size() == 1) return join_call(at);
    if (i.op == Op::convolution) return mark_convolution(at);
    if (i.op == Op::tuple) {
      for (size_t k = 0; k < i.operands.size(); ++k) join(node(at, k), node(operand(k)));
    } else if (i.op == Op::get_tuple_element) {
      const auto index = static_cast<size_t>(ir::attr_int(module_, i, "index").value_or(0));
      if (index < leaves(operand(0))) join(node(at), node(operand(0), index));
    } else if (!is_mover(i.op)) {
      for (size_t k = 0; k < i.operands.size(); ++k) {
        if (module_.shape(instr(operand(k))).rank() == module_.shape(i).rank()) join(node(at), node(operand(k)));
      }
    }
  }

  void join_call(ir::InstrRef at) {
    const ir::Instr& i = instr(at);
    const ir::Computation& callee = module_.comp(i.calls[0]);
    for (size_t k = 0; k < std::min(callee.parameters.size(), i.operands.size()); ++k)
      join(ir::InstrRef{i.calls[0], callee.parameters[k]}, ir::InstrRef{at.comp, i.operands[k]});
    join(at, ir::InstrRef{i.calls[0], callee.root});
  }

  /// A window larger than the result is that of a kernel's gradient: both operands are images then, and the result is a kernel.
  void mark_convolution(ir::InstrRef at) {
    const ir::Instr& i = instr(at);
    const auto dims = ir::attr_conv_dims(module_, i);
    if (!dims.ok()) return;
    const ir::InstrRef x{at.comp, i.operands[0]}, w{at.comp, i.operands[1]};
    const bool gradient = product(module_.shape(instr(w)), dims->kernel_spatial) > product(module_.shape(i), dims->out_spatial);
    if (space_last(dims->in_batch, dims->in_feature)) mark(x, image);
    if (!gradient) mark(w, kernel);
    if (gradient && space_last(dims->kernel_in, dims->kernel_out)) mark(w, image);
    if (gradient) mark(at, kernel);
    if (!gradient && space_last(dims->out_batch, dims->out_feature)) mark(at, image);
  }

  /// The shape with adjacent features: {1, n-1, …, 2, 0}.
  static ir::Shape last(ir::Shape shape) {
    const int64_t rank = shape.rank();
    shape.minor_to_major = {1};
    for (int64_t d = rank - 1; d >= 2; --d) shape.minor_to_major.push_back(d);
    shape.minor_to_major.push_back(0);
    shape.has_layout = true;
    return shape;
  }
  bool is_image(size_t node, const ir::Shape& shape) { return shape.rank() >= 4 && roles_[find(node)] == image; }

  void assign(ir::InstrRef at) {
    ir::Shape shape = module_.shape(instr(at));
    bool changed = false;
    for (size_t leaf = 0; leaf < leaves(at); ++leaf) {
      ir::Shape& of = shape.is_tuple() ? shape.elements[leaf] : shape;
      if (!is_image(node(at, leaf), of)) continue;
      of = last(of);
      changed = true;
    }
    ir::Instr& i = module_.comp(at.comp).instrs[static_cast<size_t>(at.instr)];
    const bool from_image = i.op == Op::bitcast && is_image(node({at.comp, i.operands[0]}), module_.shape(instr({at.comp, i.operands[0]})));
    if (i.op == Op::bitcast && (changed || from_image)) i.op = Op::reshape;  // what lies otherwise is no longer the same bytes
    if (changed) i.shape = module_.intern(shape);
  }

  ir::Module& module_;
  std::vector<std::vector<size_t>> first_;  ///< node of leaf 0, by computation and instruction
  std::vector<size_t> parent_;
  std::vector<uint8_t> roles_;  ///< of a class, at its root
};

}  // namespace

void channels_last(ir::Module& module) {
  const auto convolves = [](const ir::Instr& instr) { return instr.op == Op::convolution; };
  if (std::ranges::none_of(module.computations, [&](const ir::Computation& c) { return std::ranges::any_of(c.instrs, convolves); })) return;
  Classes classes(module);
  classes.join_all();
  classes.assign();
}

}  // namespace importers::lowering
