// The face of the reference: frames for what callers bring, and results as tensors.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include "replay/element.h"
#include "replay/reference/ops.h"
#include "replay/rewrite.h"

namespace replay::reference {
namespace {

/// Leaves of a view as arrays, in order.
void add_leaves(const View& view, Leaves& leaves) {
  if (view.shape->is_tuple()) {
    for (const View& element : view.elements) add_leaves(element, leaves);
    return;
  }
  auto array = std::make_shared<Array>();
  array->shape = *view.shape;
  array->data = view.data;
  if (view.shape->is_array()) array->strides = ir::strides(*view.shape);
  if (array->strides == row_major(array->shape.dims)) array->strides.clear();
  leaves.push_back(std::move(array));
}

void add_leaves(const Tensor& tensor, Leaves& leaves) {
  if (tensor.shape.is_tuple()) {
    for (const Tensor& element : tensor.elements) add_leaves(element, leaves);
    return;
  }
  auto array = std::make_shared<Array>();
  array->shape = tensor.shape;
  array->data = tensor.data.data();
  leaves.push_back(std::move(array));
}

/// A tensor of `shape` from leaves, taken in order from `next`.
Tensor tensor_of(const ir::Shape& shape, const Leaves& leaves, size_t& next) {
  Tensor out;
  if (shape.is_tuple()) {
    out.shape = shape;
    for (const ir::Shape& element : shape.elements) out.elements.push_back(tensor_of(element, leaves, next));
    return out;
  }
  const Array& array = *leaves[next++];
  out.shape = shape.is_array() ? ir::array_shape(shape.type, shape.dims) : shape;
  if (!shape.is_array()) return out;
  const auto bytes = static_cast<size_t>(ir::bytes(out.shape));
  if (array.data != nullptr && array.strides.empty()) {
    out.data.assign(array.data, array.data + bytes);
    return out;
  }
  out.data.resize(bytes);
  if (array.data != nullptr) {
    to_logical(array.shape, {array.data, bytes}, out.data);
    return out;
  }
  if (array.values == nullptr) return out;  // no elements
  const Values& v = *array.values;
  for (size_t i = 0; i < v.re.size(); ++i) store_real(shape.type, out.data.data(), static_cast<int64_t>(i), v.re[i]);
  for (size_t i = 0; i < v.im.size(); ++i) store_real(shape.type, out.data.data(), static_cast<int64_t>(i), v.im[i], 1);
  for (size_t i = 0; i < v.integer.size(); ++i) store_integer(shape.type, out.data.data(), static_cast<int64_t>(i), v.integer[i]);
  return out;
}

}  // namespace

Leaves leaves_of(const Tensor& tensor) {
  Leaves leaves;
  add_leaves(tensor, leaves);
  return leaves;
}

Tensor tensor_of(const ir::Shape& shape, const Leaves& leaves) {
  size_t next = 0;
  return tensor_of(shape, leaves, next);
}

struct Evaluator::Impl {
  Interpreter in;
  const ir::Module& module;

  Impl(const ir::Module& m, Rounding rounding) : in(m, rounding), module(m) {}

  /// A frame in which the operands of an instruction are given.
  base::Result<Frame> frame_of(ir::InstrRef at, std::span<const View> operands) const {
    const ir::Instr& instr = module.instr(at.comp, at.instr);
    if (operands.size() != instr.operands.size()) {
      return base::Error{
          fmt::format("reference: {} takes {} operands, {} are given", module.name_of(instr), instr.operands.size(), operands.size())};
    }
    Frame frame;
    frame.comp = at.comp;
    for (size_t k = 0; k < operands.size(); ++k) {
      Leaves leaves;
      add_leaves(operands[k], leaves);
      frame.given[instr.operands[k]] = std::move(leaves);
    }
    return frame;
  }

  base::Result<Tensor> tensor(const ir::Shape& shape, const Leaves& leaves) {
    RETURN_IF_ERROR(in.take_failure());
    if (leaves.size() != static_cast<size_t>(in.leaf_count(shape)))
      return base::Error{"reference: a result has another number of leaves than its shape"};
    const std::vector<ir::Leaf> wanted = ir::leaves(shape);
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (wanted[k].shape->is_array() && leaves[k]->shape.dims != wanted[k].shape->dims)
        return base::Error{"reference: a result has other dimensions than its shape says"};
    }
    return tensor_of(shape, leaves);
  }

  int leaf_of(const ir::Shape& shape, const std::vector<int64_t>& path) const {
    int leaf = 0;
    const ir::Shape* at = &shape;
    for (const int64_t k : path) {
      for (int64_t e = 0; e < k; ++e) leaf += in.leaf_count(at->elements[static_cast<size_t>(e)]);
      at = &at->elements[static_cast<size_t>(k)];
    }
    return leaf;
  }

  /// What the reference lacks for this one instruction, "" if nothing.
  std::string lacks(ir::InstrRef at) const {
    const ir::Instr& instr = module.instr(at.comp, at.instr);
    if (ir::info(instr.op).cls == ir::OpClass::order && find_row(instr.op) == nullptr)
      return fmt::format("{}: talks to the world outside the device", ir::text(instr.op));
    if (find_row(instr.op) == nullptr) return fmt::format("{}: not known to the reference", ir::text(instr.op));
    return instr.op == ir::Op::custom_call ? unknown_target(module, at) : "";
  }
};

Evaluator::Evaluator(const ir::Module& module, Rounding rounding) : impl_(std::make_unique<Impl>(module, rounding)) {}
Evaluator::~Evaluator() = default;

base::Result<Tensor> Evaluator::run(ir::CompId comp, std::span<const Tensor> arguments) {
  const ir::Computation& computation = impl_->module.comp(comp);
  if (arguments.size() != computation.parameters.size()) {
    return base::Error{fmt::format("reference: {} takes {} arguments, {} are given", impl_->module.text(computation.name),
                                   computation.parameters.size(), arguments.size())};
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<const ir::Module> as_run, rewritten(impl_->module));
  if (as_run != nullptr) return Evaluator(*as_run, impl_->in.rounding()).run(comp, arguments);
  std::vector<Leaves> leaves;
  for (const Tensor& argument : arguments) leaves.push_back(leaves_of(argument));
  impl_->in.want_bounds(false);
  const Leaves root = impl_->in.run(comp, leaves, Round::each);
  return impl_->tensor(impl_->module.shape(impl_->module.instr(comp, computation.root)), root);
}

base::Result<Tensor> Evaluator::run(ir::InstrRef at, std::span<const View> operands) {
  ASSIGN_OR_RETURN(Frame frame, impl_->frame_of(at, operands));
  impl_->in.want_bounds(false);
  const Leaves root = impl_->in.materialise(frame, at.instr);
  return impl_->tensor(impl_->module.shape(impl_->module.instr(at.comp, at.instr)), root);
}

base::Result<Values> Evaluator::elements(ir::InstrRef at, std::span<const View> operands, const std::vector<int64_t>& leaf,
                                         std::span<const int64_t> indices) {
  ASSIGN_OR_RETURN(Frame frame, impl_->frame_of(at, operands));
  Interpreter& in = impl_->in;
  const ir::Shape& shape = impl_->module.shape(impl_->module.instr(at.comp, at.instr));
  const int number = impl_->leaf_of(shape, leaf);
  in.want_bounds(true);
  Values out = zeros(in.leaf_shape(shape, number).type, 0);
  for (size_t first = 0; first < indices.size() && !in.failed(); first += kBatch) {
    in.in_scope([&] {
      const auto part = indices.subspan(first, std::min(kBatch, indices.size() - first));
      append(out, *in.eval(frame, at.instr, number, in.intern(Indices(part.begin(), part.end()))));
    });
  }
  RETURN_IF_ERROR(in.take_failure());
  return out;
}

std::string Evaluator::unsupported(ir::InstrRef at) const {
  std::string missing;
  std::set<ir::CompId> seen;
  std::vector<ir::CompId> todo;
  const auto visit = [&](ir::InstrRef ref) {
    if (missing.empty()) missing = impl_->lacks(ref);
    for (const ir::CompId callee : impl_->module.instr(ref.comp, ref.instr).calls) {
      if (seen.insert(callee).second) todo.push_back(callee);
    }
  };
  visit(at);
  while (!todo.empty() && missing.empty()) {
    const ir::CompId comp = todo.back();
    todo.pop_back();
    for (size_t i = 0; i < impl_->module.comp(comp).instrs.size(); ++i) visit({comp, static_cast<ir::InstrId>(i)});
  }
  return missing;
}

}  // namespace replay::reference
