// Pulls values through ops. A place is a list of indices, sums of loop variables; ops that move elements only change the place, so that a
// chain of transposes, slices and broadcasts costs nothing. Ops that choose (pad, concatenate) become predicates and selects whose other
// side reads at a clamped, harmless place.
#include "replay/kernel/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "replay/kernel/norm.h"
#include "replay/kernel/pick.h"
#include "replay/kernel/random.h"
#include "src/base/math.h"
#include "src/ir/attr.h"

namespace kernel {
namespace {

using ir::Op;
constexpr int kDeepest = 1500;          ///< ops in a chain: recursion is bounded
constexpr size_t kMostNodes = 200'000;  ///< values in a kernel: code size is bounded
constexpr size_t kMostFrames = 20'000;  ///< inlined calls
constexpr int64_t kLargestConstant = 1 << 16;
constexpr int64_t kWorthACut = 64;  ///< contiguous iterations that are alike

void append(std::string& key, int64_t value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); }
std::string key_of(Ref ref, const std::vector<int64_t>& path, const Place& place) {
  std::string key;
  append(key, ref.frame);
  append(key, ref.instr);
  for (const int64_t p : path) append(key, p);
  for (const Index& index : place) {
    append(key, std::numeric_limits<int64_t>::min());
    append(key, index.constant);
    for (const auto& [term, c] : index.terms) append(key, term), append(key, c);
  }
  return key;
}

const ir::Shape* leaf_shape(const ir::Shape* shape, const std::vector<int64_t>& path) {
  for (const int64_t p : path) {
    if (!shape->is_tuple() || p < 0 || static_cast<size_t>(p) >= shape->elements.size()) return shape;
    shape = &shape->elements[static_cast<size_t>(p)];
  }
  return shape;
}

/// Number of leaves before leaf `path` of a shape.
int leaf_number(const ir::Shape& shape, const std::vector<int64_t>& path) {
  const auto all = ir::leaves(shape);
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].path == path) return static_cast<int>(i);
  return 0;
}

}  // namespace

void Evaluator::open(ir::InstrRef instr) {
  const ir::Instr& i = module_.instr(instr.comp, instr.instr);
  frames_.clear();
  inputs_.clear();
  for (const ir::InstrId o : i.operands)
    for (const ir::Leaf& leaf : ir::leaves(module_.shape(module_.instr(instr.comp, o)))) inputs_.push_back(leaf.shape);
  if ((i.op == Op::fusion || i.op == Op::call) && !i.calls.empty()) {
    frames_.push_back({i.calls[0], -1, -1, {}, false});
    root_ = {0, module_.comp(i.calls[0]).root};
  } else {
    frames_.push_back({instr.comp, -1, -1, {}, true});
    root_ = {0, instr.instr};
  }
}

const ir::Shape& Evaluator::shape(Ref ref, const std::vector<int64_t>& path) const { return *leaf_shape(&shape(ref), path); }

Ref Evaluator::operand(Ref ref, size_t k) const { return {ref.frame, instr(ref).operands[k]}; }

base::Error Evaluator::unsupported(Ref ref, std::string_view why) const {
  return {fmt::format("no kernel for {} '{}': {}", ir::text(instr(ref).op), module_.name_of(instr(ref)), why)};
}

base::Error Evaluator::in_memory_first(Ref reduction) {
  retry.wanted = true, retry.materialise = reduction;
  return unsupported(reduction, "its result must be in memory");
}

bool Evaluator::is_input(Ref ref) const {
  if (ref.frame != 0) return false;
  const ir::Instr& i = instr(ref);
  if (!frames_[0].single) return i.op == Op::parameter;
  return ref != root_ && !(i.op == Op::constant && !module_.literal(i).elided);
}

/// Calls of one computation with the same operands are one frame: what is nested twice each, many levels deep, is inlined once.
int Evaluator::frame_of(Ref caller, ir::CompId comp) {
  std::vector<Maker> operands;
  for (size_t k = 0; k < instr(caller).operands.size(); ++k) operands.push_back(maker(operand(caller, k), {}, Calls::stop_at));
  const auto [it, fresh] = frame_index_.try_emplace({comp, std::move(operands)}, static_cast<int>(frames_.size()));
  if (fresh) frames_.push_back({comp, caller.frame, caller.instr, {}, false});
  return it->second;
}

Maker Evaluator::maker(Ref ref, std::vector<int64_t> path, Calls calls) {
  while (!is_input(ref)) {
    const ir::Instr& i = instr(ref);
    const Frame& frame = frames_[static_cast<size_t>(ref.frame)];
    if (i.op == Op::get_tuple_element) {
      path.insert(path.begin(), ir::attr_int(module_, i, "index").value_or(0));
      ref = operand(ref, 0);
    } else if (i.op == Op::tuple && !path.empty() && static_cast<size_t>(path[0]) < i.operands.size()) {
      ref = operand(ref, static_cast<size_t>(path[0]));
      path.erase(path.begin());
    } else if ((i.op == Op::fusion || i.op == Op::call) && !i.calls.empty() && calls == Calls::enter && frames_.size() < kMostFrames) {
      const int inner = frame_of(ref, i.calls[0]);
      ref = {inner, module_.comp(i.calls[0]).root};
    } else if (i.op == Op::parameter && frame.parent >= 0 && frame.bound.empty()) {
      const Ref caller{frame.parent, frame.caller};
      if (static_cast<size_t>(i.number) >= instr(caller).operands.size()) break;
      ref = operand(caller, static_cast<size_t>(i.number));
    } else if (i.op == Op::opt_barrier || i.op == Op::domain || i.op == Op::add_dependency) {
      ref = operand(ref, 0);
    } else {
      break;
    }
  }
  return {ref, std::move(path)};
}

void Evaluator::begin(Nest& nest) {
  nest_ = &nest;
  stage_loops_.clear();
  memo_.clear();
  reductions_.clear();
  loop_of_.clear();
  first_reduction.reset();
  retry = {};
  graph().terms.wish.reset();
}

Index Evaluator::loops_of(const std::string& key, int64_t extent, std::vector<TermId>& loops) {
  auto& list = factors[key];
  if (list.empty()) list.push_back(extent);
  const auto outer = outer_factors.find(key);
  Index index;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == 1) continue;
    const auto piece = pieces.find({key, static_cast<int>(i)});
    const auto [from, to] = piece == pieces.end() ? std::pair<int64_t, int64_t>{0, list[i]} : piece->second;
    if (to - from == 1) {
      index = index * list[i] + from;
      continue;
    }
    const TermId v = graph().terms.variable(0, to - from - 1);
    loop_of_[v] = {key, static_cast<int>(i)};
    const bool is_outer = outer != outer_factors.end() && std::ranges::count(outer->second, static_cast<int>(i)) > 0;
    (is_outer ? nest_->outer : loops).push_back(v);
    index = index * list[i] + Index{from, {{v, 1}}};
  }
  return index;
}

bool Evaluator::take_wish() {
  const auto wish = graph().terms.wish;
  graph().terms.wish.reset();
  if (!wish) return false;
  const auto loop = loop_of_.find(wish->variable);
  if (loop == loop_of_.end() || pieces.contains({loop->second.key, loop->second.position})) return false;
  auto& list = factors[loop->second.key];
  const auto at = static_cast<size_t>(loop->second.position);
  const int64_t extent = list[at];
  list[at] = extent / wish->factor;
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(at) + 1, wish->factor);
  if (const auto outer = outer_factors.find(loop->second.key); outer != outer_factors.end()) {
    std::vector<int> moved;
    for (const int p : outer->second) {
      moved.push_back(p > loop->second.position ? p + 1 : p);
      if (p == loop->second.position) moved.push_back(p + 1);
    }
    outer->second = moved;
  }
  return true;
}

base::Result<NodeId> Evaluator::value(Ref ref, const std::vector<int64_t>& path, const Place& place) {
  const Maker made = maker(ref, path);
  const std::string key = key_of(made.ref, made.path, place);
  if (const auto known = memo_.find(key); known != memo_.end()) return known->second;
  const ir::Shape& leaf = shape(made.ref, made.path);
  if (!leaf.is_array() || !is_supported(leaf.type)) return unsupported(made.ref, fmt::format("type {}", ir::text(leaf.type)));
  if (depth_ > kDeepest) return unsupported(made.ref, "a chain of more than 1500 ops; split the fusion");
  if (graph().size() > kMostNodes) return unsupported(made.ref, "more than 200000 values in one kernel; split the fusion");
  ++depth_;
  auto node = compute(made.ref, made.path, place);
  --depth_;
  if (node.ok()) memo_.emplace(key, *node);
  return node;
}

base::Result<NodeId> Evaluator::compute(Ref ref, const std::vector<int64_t>& path, const Place& place) {
  const ir::Instr& i = instr(ref);
  if (is_input(ref)) return input(ref, input_leaf(ref, path), path, place);
  if (const auto stored = materialised.find(ref); stored != materialised.end()) return materialised_value(ref, stored->second, path, place);
  if (i.op == Op::bitcast_convert && shape(ref).rank() != shape(operand(ref, 0)).rank()) return bitcast_convert(ref, place);
  if (ir::is_elementwise(i.op) || i.op == Op::bitcast_convert) return arithmetic(ref, place);
  switch (i.op) {
    case Op::constant:
      return constant(ref, place);
    case Op::parameter: {
      const auto& bound = frames_[static_cast<size_t>(ref.frame)].bound;
      if (static_cast<size_t>(i.number) < bound.size()) return bound[static_cast<size_t>(i.number)].node;
      return unsupported(ref, "a parameter that nobody gives");
    }
    case Op::set_dimension_size:
      return value(operand(ref, 0), {}, place);
    case Op::replica_id:
    case Op::partition_id:
      return graph().integer(register_of(shape(ref).type), 0);
    case Op::pad:
      return pad(ref, place);
    case Op::concatenate:
      return concatenate(ref, place);
    case Op::dynamic_slice:
      return dynamic_slice(ref, place);
    case Op::dynamic_update_slice:
      return dynamic_update_slice(ref, place);
    case Op::gather:
      return gather(ref, place);
    case Op::map:
      return map(ref, place);
    case Op::rng_bit_generator: {
      ASSIGN_OR_RETURN(const NodeId bits, random_bits(*this, ref, path, place));
      return bits;
    }
    case Op::batch_norm_inference: {
      ASSIGN_OR_RETURN(const NodeId node, normalised(*this, ref, {}, place));
      return round_result(node, shape(ref).type);
    }
    case Op::scatter:
    case Op::sort:
    case Op::topk:
    case Op::select_and_scatter:
    case Op::batch_norm_training:
    case Op::batch_norm_grad:
      if (!frames_[static_cast<size_t>(ref.frame)].bound.empty()) return unsupported(ref, "inside a reducer");
      return in_memory_first(ref);
    case Op::reduce:
    case Op::reduce_window:
    case Op::dot:
    case Op::convolution:
      return reduction_value(ref, path, place);
    default:
      return moved(ref, path, place);
  }
}

base::Result<NodeId> Evaluator::materialised_value(Ref ref, const Materialised& stored, const std::vector<int64_t>& path,
                                                   const Place& place) {
  const int array = stored.arrays[static_cast<size_t>(leaf_number(shape(ref), path))];
  if (array < 0 && instr(ref).op == Op::select_and_scatter) return asked_of_holders(*this, ref, stored.arrays[1], place);
  if (array < 0) return normalised(*this, ref, stored.arrays, place);
  const ir::Shape& s = shape(ref, path);
  if (stored.last < 0) return load(s.type, array, linearise(s.dims, place), Held::computed);
  std::vector<int64_t> sizes = shape(operand(ref, 0)).dims;
  Place at = place;
  std::rotate(sizes.begin() + stored.last, sizes.begin() + stored.last + 1, sizes.end());
  std::rotate(at.begin() + stored.last, at.begin() + stored.last + 1, at.end());
  return load(s.type, array, linearise(sizes, at), Held::computed);
}

int Evaluator::input_leaf(Ref ref, const std::vector<int64_t>& path) const {
  const ir::Computation& comp = module_.comp(frames_[0].comp);
  int leaf = 0;
  if (!frames_[0].single) {
    for (int64_t n = 0; n < instr(ref).number; ++n) {
      const auto p = static_cast<size_t>(comp.parameters[static_cast<size_t>(n)]);
      leaf += static_cast<int>(ir::leaves(module_.shape(comp.instrs[p])).size());
    }
  } else {
    for (const ir::InstrId o : instr(root_).operands) {
      if (o == ref.instr) break;
      leaf += static_cast<int>(ir::leaves(module_.shape(comp.instrs[static_cast<size_t>(o)])).size());
    }
  }
  return leaf + leaf_number(shape(ref), path);
}

/// Memory has the layout of the operand; the parameter inside a fusion may say another.
base::Result<NodeId> Evaluator::input(Ref ref, int leaf, const std::vector<int64_t>& path, const Place& place) {
  const ir::Shape& inside = shape(ref, path);
  const ir::Shape& memory = static_cast<size_t>(leaf) < inputs_.size() ? *inputs_[static_cast<size_t>(leaf)] : inside;
  if (!ir::same_dims(inside, memory)) return unsupported(ref, "its shape is not that of the operand");
  return load(memory.type, leaf, element_of(memory, place), Held::stored);
}

NodeId Evaluator::load(ir::Type type, int array, const Index& at, Held held) {
  if (ir::is_complex(type)) {
    const Reg reg = register_of(type);
    return graph().pair(graph().load(reg, array, at * 2), graph().load(reg, array, at * 2 + 1));
  }
  const bool stored = held == Held::stored || type == ir::Type::pred;
  const NodeId loaded = graph().load(stored ? storage_of(type) : register_of(type), array, at);
  return stored ? from_storage(graph(), loaded, type) : loaded;
}

void Evaluator::store(std::vector<Store>& to, int array, const Index& at, Typed value, Held held) {
  const Index place = graph().terms.normal(at);
  if (ir::is_complex(value.type)) {
    for (size_t k = 0; k < 2; ++k) to.push_back({array, place * 2 + static_cast<int64_t>(k), graph().part(value.node, k)});
    return;
  }
  const bool stored = held == Held::stored || value.type == ir::Type::pred;
  to.push_back({array, place, stored ? to_storage(graph(), value.node, value.type) : value.node});
}

base::Result<NodeId> Evaluator::constant(Ref ref, const Place& place) {
  const ir::Shape& s = shape(ref);
  const ir::Literal& literal = module_.literal(instr(ref));
  const int64_t count = ir::elements(s), size = ir::bytes(s.type);
  if (literal.elided) return unsupported(ref, "its value is elided in the text");
  if (static_cast<int64_t>(literal.data.size()) != count * size || count == 0) return unsupported(ref, "no value");
  bool uniform = true;
  for (int64_t e = 1; e < count && uniform; ++e)
    uniform = std::memcmp(literal.data.data(), literal.data.data() + e * size, static_cast<size_t>(size)) == 0;
  if (uniform) {
    const Reg reg = register_of(s.type);
    if (!is_float(reg)) return graph().integer(reg, ir::as_int(literal, s.type, 0));
    const NodeId re = graph().real(reg, ir::as_double(literal, s.type, 0));
    return ir::is_complex(s.type) ? graph().pair(re, graph().real(reg, ir::as_double(literal, s.type, 0, 1))) : re;
  }
  if (count * size > kLargestConstant) return unsupported(ref, "a constant of more than 64 KiB inside a fusion");
  size_t array = 0;
  while (array < out_.arrays.size() && (out_.arrays[array].kind != Array::Kind::constant || out_.arrays[array].data != literal.data))
    ++array;
  if (array == out_.arrays.size()) out_.arrays.push_back({Array::Kind::constant, 0, 0, count * size, literal.data});
  return load(s.type, static_cast<int>(array), linearise(s.dims, place), Held::stored);
}

base::Result<NodeId> Evaluator::arithmetic(Ref ref, const Place& place) {
  const ir::Instr& i = instr(ref);
  ElementOp op{i.op, shape(ref).type, {}, 8, 23};
  if (i.op == Op::compare) {
    ASSIGN_OR_RETURN(op.compare, ir::attr_compare(module_, i));
  }
  op.exponent_bits = ir::attr_int(module_, i, "exponent_bits").value_or(8);
  op.mantissa_bits = ir::attr_int(module_, i, "mantissa_bits").value_or(23);
  std::vector<Typed> in;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const Ref from = operand(ref, k);
    const bool scalar = shape(from).rank() == 0;  // clamp's bounds, select's predicate
    ASSIGN_OR_RETURN(const NodeId node, value(from, {}, scalar ? Place{} : place));
    in.push_back({node, shape(maker(from, {}).ref, maker(from, {}).path).type});
  }
  const bool chooses = i.op == Op::select;  // its first operand is a predicate
  for (size_t k = chooses ? 2 : 1; k < in.size() && i.op != Op::stochastic_convert; ++k)
    if (in[k].type != in[chooses ? 1 : 0].type) return unsupported(ref, "operands of different types");
  auto node = elementwise(graph(), op, in);
  if (!node.ok()) return unsupported(ref, node.error().message);
  return round_result(*node, shape(ref).type);
}

base::Result<NodeId> Evaluator::moved(Ref ref, const std::vector<int64_t>& path, const Place& place) {
  const ir::Instr& i = instr(ref);
  if (i.op == Op::iota) {
    const auto d = static_cast<size_t>(ir::attr_int(module_, i, "iota_dimension").value_or(0));
    const Range range = graph().terms.range(place[d]);
    const bool small = range.high <= std::numeric_limits<int32_t>::max();
    const NodeId node = graph().index(small ? Reg::i32 : Reg::i64, place[d]);
    return round_result(convert(graph(), {node, small ? ir::Type::s32 : ir::Type::s64}, shape(ref).type), shape(ref).type);
  }
  if (i.operands.empty()) return unsupported(ref, "not an op of loops");
  const Ref from = operand(ref, 0);
  const ir::Shape& source = shape(from);
  const bool may_change = i.op == Op::get_dimension_size || i.op == Op::bitcast;
  if (source.is_array() && shape(ref).is_array() && source.type != shape(ref).type && !may_change)
    return unsupported(ref, "changes the element type");
  Place at(static_cast<size_t>(source.rank()));
  switch (i.op) {
    case Op::copy:
      return value(from, path, place);
    case Op::copy_start:  // (copy, original, context): the context has no meaning here
      if (!path.empty() && path[0] > 1) return graph().integer(register_of(shape(ref, path).type), 0);
      return value(from, {}, place);
    case Op::broadcast: {
      const auto dims = ir::attr_dims(module_, i, "dimensions");
      for (size_t d = 0; d < at.size(); ++d) at[d] = place[static_cast<size_t>(dims[d])];
      return value(from, {}, at);
    }
    case Op::reshape:
      return value(from, {}, delinearise(graph().terms, source.dims, linearise(shape(ref).dims, place)));
    case Op::bitcast:
      return bitcast(ref, place);
    case Op::transpose: {
      const auto dims = ir::attr_dims(module_, i, "dimensions");
      for (size_t d = 0; d < at.size(); ++d) at[static_cast<size_t>(dims[d])] = place[d];
      return value(from, {}, at);
    }
    case Op::reverse: {
      at = place;
      for (const int64_t d : ir::attr_dims(module_, i, "dimensions"))
        at[static_cast<size_t>(d)] = place[static_cast<size_t>(d)] * -1 + (source.dims[static_cast<size_t>(d)] - 1);
      return value(from, {}, at);
    }
    case Op::slice: {
      ASSIGN_OR_RETURN(const auto dims, ir::attr_slice(module_, i));
      for (size_t d = 0; d < at.size(); ++d) at[d] = place[d] * dims[d].stride + dims[d].start;
      return value(from, {}, at);
    }
    case Op::get_dimension_size: {
      const auto dims = ir::attr_dims(module_, i, "dimensions");
      const auto d = static_cast<size_t>(dims.empty() ? 0 : dims[0]);
      return graph().integer(Reg::i32, source.dims[d < source.dims.size() ? d : 0]);
    }
    default:
      return unsupported(ref, "not an op of loops");
  }
}

NodeId Evaluator::in_range(const Index& index, int64_t low, int64_t high) {
  const Index i = graph().terms.normal(index);
  const Range range = graph().terms.range(i);
  if (range.low >= low && range.high < high) return graph().integer(Reg::i1, 1);
  if (range.high < low || range.low >= high) return graph().integer(Reg::i1, 0);
  // A reduction's loops are not cut: each piece would leave a sum of its own.
  if (cuts_allowed && inside_reduction_ == 0 && !retry.cut && i.terms.size() == 1 && i.terms[0].second > 0 &&
      loop_of_.contains(i.terms[0].first)) {
    const auto [v, c] = i.terms[0];
    const LoopOf& of = loop_of_.at(v);
    const int64_t extent = graph().terms[v].range.high + 1;
    const bool innermost = of.position + 1 == static_cast<int>(factors[of.key].size());
    for (const int64_t bound : {low, high}) {
      const int64_t at = base::ceil_div(bound - i.constant, c);
      const bool worth = !innermost || std::max(at, extent - at) >= kWorthACut;
      if (at > 0 && at < extent && worth && !retry.cut) retry.cut = Retry::Cut{v, at};
    }
  }
  const bool small = std::max(std::abs(range.low), std::abs(range.high)) + std::abs(low) <= std::numeric_limits<int32_t>::max() &&
                     high - low <= std::numeric_limits<int32_t>::max();
  const Reg reg = small ? Reg::i32 : Reg::i64;
  return graph().compare(Predicate::ult, graph().index(reg, i + -low), graph().integer(reg, high - low));
}

Index Evaluator::clamped(const Index& index, int64_t low, int64_t high) {
  Index i = graph().terms.normal(index);
  const Range range = graph().terms.range(i);
  if (range.low >= low && range.high <= high) return i;
  if (range.high < low || range.low > high) return {range.high < low ? low : high, {}};
  return clamped_value({graph().index(Reg::i64, i), ir::Type::s64}, low, high);
}

Index Evaluator::clamped_value(Typed value, int64_t low, int64_t high) {
  Graph& g = graph();
  if (high <= low) return {low, {}};
  const bool sign = ir::info(value.type).kind == ir::TypeInfo::Kind::signed_;
  const Reg reg = g.type(value.node);
  NodeId node = value.node;
  if (!sign && reg == Reg::i64) {  // beyond 2^63: too large
    node = g.select(g.compare(Predicate::slt, node, g.integer(reg, 0)), g.integer(reg, high), node);
  } else {
    node = g.cast(sign ? Code::sext : Code::zext, Reg::i64, node);
  }
  const NodeId l = g.integer(Reg::i64, low), h = g.integer(Reg::i64, high);
  node = g.select(g.compare(Predicate::slt, node, l), l, node);
  node = g.select(g.compare(Predicate::sgt, node, h), h, node);
  return g.terms.value(node, {low, high});
}

base::Result<NodeId> Evaluator::map(Ref ref, const Place& place) {
  std::vector<Typed> arguments;
  for (size_t k = 0; k < instr(ref).operands.size(); ++k) {
    ASSIGN_OR_RETURN(const NodeId node, value(operand(ref, k), {}, place));
    arguments.push_back({node, shape(operand(ref, k)).type});
  }
  if (instr(ref).calls.empty()) return unsupported(ref, "no computation");
  ASSIGN_OR_RETURN(const auto results, apply(instr(ref).calls[0], arguments));
  return round_result(results[0], shape(ref).type);
}

base::Result<std::vector<NodeId>> Evaluator::apply(ir::CompId comp, std::span<const Typed> arguments) {
  const auto frame = static_cast<int>(frames_.size());
  frames_.push_back({comp, -1, -1, {arguments.begin(), arguments.end()}, false});
  const Ref root{frame, module_.comp(comp).root};
  std::vector<NodeId> results;
  for (const ir::Leaf& leaf : ir::leaves(shape(root))) {
    if (leaf.shape->rank() > 0) return unsupported(root, "gives an array where single elements are asked for");
    ASSIGN_OR_RETURN(const NodeId node, value(root, leaf.path, {}));
    results.push_back(node);
  }
  return results;
}

}  // namespace kernel
