// Nodes become lines. What a node depends on decides where and how often: on nothing that runs yet: not now; on outer loops only: one
// scalar; on the vector loop: a vector per interleaved copy, op by op over all copies, because LLVM keeps the order and latencies overlap.
#include "replay/kernel/emit.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace kernel {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kPrefetchAhead = 8192;       ///< bytes; of 1, 2, 4 and 8 KiB the best on a Sapphire Rapids
constexpr int64_t kPrefetchedArray = 1 << 20;  ///< bytes of an array that may lie outside the L2 cache

}  // namespace

void Emitter::push() {
  scopes_.emplace_back();
  bound_in_.emplace_back();
}

void Emitter::pop() {
  for (const TermId v : bound_in_.back()) {
    bound_.erase(v);
    if (v == vector_) vector_ = -1;
    if (v == rows_) rows_ = -1;
  }
  bound_in_.pop_back();
  scopes_.pop_back();
}

void Emitter::forget_dependences() {
  top().depends.clear();
  top().term_depends.clear();
}

void Emitter::bind(TermId variable, ValueId value) {
  bound_[variable] = {{value}, false};
  bound_in_.back().push_back(variable);
  forget_dependences();
}

void Emitter::bind_vector(TermId variable, ValueId first) {
  bind(variable, first);
  bound_[variable].vector = true;
  vector_ = variable;
}

void Emitter::bind_rows(TermId variable, std::vector<ValueId> values) {
  bind(variable, values[0]);
  bound_[variable].ids = std::move(values);
  rows_ = variable;
}

void Emitter::bind_node(NodeId node, std::vector<ValueId> values, bool vector, bool rows) {
  top().nodes[node] = {std::move(values), vector, rows};
  forget_dependences();
}

unsigned Emitter::depends_term(TermId id) {
  if (const auto known = top().term_depends.find(id); known != top().term_depends.end()) return known->second;
  const Term& term = graph_.terms[id];
  unsigned how = 0;
  if (term.kind == Term::Kind::variable) {
    const auto bound = bound_.find(id);
    if (bound == bound_.end()) {
      how = kUnbound;
    } else {
      how = (id == vector_ ? kVector : 0) | (id == rows_ ? kRows : 0);
    }
  } else if (term.kind == Term::Kind::value) {
    how = depends(term.node);
  } else {
    how = depends(term.base);
  }
  top().term_depends[id] = how;
  return how;
}

unsigned Emitter::depends(const Index& index) {
  unsigned how = 0;
  for (const auto& [t, c] : index.terms) how |= depends_term(t);
  return how;
}

unsigned Emitter::depends(NodeId id) {
  if (const Values* v = find(id)) return (v->vector ? kVector : 0) | (v->rows ? kRows : 0);
  if (const auto known = top().depends.find(id); known != top().depends.end()) return known->second;
  const Node& node = graph_[id];
  unsigned how = node.code == Code::parameter || node.code == Code::result ? kUnbound : 0;
  for (const NodeId in : node.in) how |= depends(in);
  how |= depends(node.index);
  if (const auto tile = tiles.find(id); tile != tiles.end()) how |= depends(tile->second.at);
  top().depends[id] = how;
  return how;
}

const Emitter::Values* Emitter::find(NodeId node) const {
  for (size_t s = scopes_.size(); s-- > 0;)
    if (const auto found = scopes_[s].nodes.find(node); found != scopes_[s].nodes.end()) return &found->second;
  return nullptr;
}

void Emitter::prepare(const std::vector<NodeId>& roots) {
  std::vector<bool> seen(graph_.size());
  std::vector<NodeId> todo(roots.begin(), roots.end()), wanted;
  std::vector<TermId> terms;
  while (!todo.empty()) {
    const NodeId id = todo.back();
    todo.pop_back();
    if (id < 0 || seen[static_cast<size_t>(id)] || find(id)) continue;
    seen[static_cast<size_t>(id)] = true;
    if (!(depends(id) & kUnbound)) wanted.push_back(id);
    const Node& node = graph_[id];
    todo.insert(todo.end(), node.in.begin(), node.in.end());
    for (const auto& [t, c] : node.index.terms) terms.push_back(t);
    while (!terms.empty()) {
      const Term& term = graph_.terms[terms.back()];
      terms.pop_back();
      if (term.kind == Term::Kind::value) todo.push_back(term.node);
      for (const auto& [t, c] : term.base.terms) terms.push_back(t);
    }
  }
  std::ranges::sort(wanted);
  for (const NodeId id : wanted) emit(id);
}

void Emitter::emit(NodeId id) {
  const Node& node = graph_[id];
  const unsigned how = depends(id);
  if (node.code == Code::load) {
    top().nodes[id] = emit_load(id, how);
    return;
  }
  Values values{{}, (how & kVector) != 0, (how & kRows) != 0};
  for (int row = 0; row < (values.rows ? spread.rows : 1); ++row)
    for (int v = 0; v < (values.vector ? spread.vectors : 1); ++v)
      values.ids.push_back(emit_copy(node, row, v, values.vector ? spread.lanes : 1));
  top().nodes[id] = std::move(values);
}

ValueId Emitter::emit_copy(const Node& node, int row, int vector, int lanes) {
  if (node.code == Code::constant) return list.constant(node.type, 1, node.imm);
  if (node.code == Code::index) {
    if (lanes > 1) return vector_index(node.index, row, vector, node.type);
    const ValueId value = scalar_index(node.index, row);
    return node.type == Reg::i64 ? value : list.op(Code::trunc, node.type, 1, {value});
  }
  std::vector<ValueId> args;
  args.reserve(node.in.size());
  for (const NodeId in : node.in) args.push_back(value(in, row, vector, lanes));
  return list.op(node.code, node.type, lanes, std::move(args), node.imm);
}

bool Emitter::contiguous(const Index& index) {
  if (vector_ < 0 || coefficient(index, vector_) != 1) return false;
  return std::ranges::none_of(index.terms, [&](const auto& t) { return t.first != vector_ && (depends_term(t.first) & kVector); });
}

/// Every line that the vectors at `pointer` will reach soon. The processor looks ahead by instructions: where a byte costs many of them
/// (halves, exp), it looks too short a way ahead.
void Emitter::prefetch(int array, ValueId pointer) {
  if (lowered_.arrays[static_cast<size_t>(array)].bytes < kPrefetchedArray) return;
  const int size = bytes(list.reg(pointer));
  for (int64_t at = 0; at < int64_t{spread.vectors} * spread.lanes * size; at += kLine)
    list.put({Line::Kind::prefetch, {}, list.reg(pointer), 1, -1, {pointer}, (at + kPrefetchAhead) / size, {}, false});
}

Emitter::Values Emitter::emit_load(NodeId id, unsigned how) {
  const Node& node = graph_[id];
  const auto tile = tiles.find(id);
  const Index& at = tile == tiles.end() ? node.index : tile->second.at;
  const int array = tile == tiles.end() ? static_cast<int>(node.imm) : tile->second.array;
  Values values{{}, (how & kVector) != 0, (how & kRows) != 0};
  for (int row = 0; row < (values.rows ? spread.rows : 1); ++row) {
    if (!values.vector || contiguous(at)) {
      const ValueId pointer = list.pointer(array, node.type, scalar_index(at, row));
      const int lanes = values.vector ? spread.lanes : 1;
      if (lanes > 1 && spread.mask < 0) prefetch(array, pointer);
      for (int v = 0; v < (values.vector ? spread.vectors : 1); ++v)
        values.ids.push_back(list.load(pointer, lanes, int64_t{v} * lanes, values.vector && lanes > 1 ? spread.mask : -1));
      continue;
    }
    for (int v = 0; v < spread.vectors; ++v) {
      const ValueId where = vector_index(at, row, v, Reg::i64);
      if (spread.lanes == 1) {
        values.ids.push_back(list.load(list.pointer(array, node.type, where), 1, 0));
        continue;
      }
      std::vector<ValueId> args{where};
      if (spread.mask >= 0) args.push_back(spread.mask);
      values.ids.push_back(list.add({Line::Kind::gather, {}, node.type, spread.lanes, -1, std::move(args), array, {}, false}));
    }
  }
  return values;
}

ValueId Emitter::spread_to(ValueId value, int lanes) {
  if (list.lanes(value) == lanes) return value;
  for (size_t s = scopes_.size(); s-- > 0;)
    if (const auto found = scopes_[s].splats.find({value, lanes}); found != scopes_[s].splats.end()) return found->second;
  return top().splats[{value, lanes}] = list.splat(value, lanes);
}

ValueId Emitter::value(NodeId node, int row, int vector, int lanes) {
  if (!find(node)) emit(node);
  const Values& v = *find(node);
  const auto per_row = v.rows ? v.ids.size() / static_cast<size_t>(spread.rows) : 0;
  const size_t copy = static_cast<size_t>(row) * per_row + (v.vector ? static_cast<size_t>(vector) : 0);
  return spread_to(v.ids[copy], lanes);
}

ValueId Emitter::scalar_index(const Index& index, int row) {
  ValueId sum = list.integer(index.constant);
  for (const auto& [t, c] : index.terms) sum = list.add(list.mul(scalar_term(t, row), c), sum);
  return sum;
}

ValueId Emitter::scalar_term(TermId id, int row) {
  const Term& term = graph_.terms[id];
  if (term.kind == Term::Kind::variable) {
    const auto& ids = bound_.at(id).ids;
    return ids[id == rows_ ? static_cast<size_t>(row) : 0];
  }
  if (term.kind == Term::Kind::value) return value(term.node, row, 0, 1);
  const std::pair<TermId, int> key{id, depends_term(id) & kRows ? row : 0};
  for (size_t s = scopes_.size(); s-- > 0;)
    if (const auto found = scopes_[s].terms.find(key); found != scopes_[s].terms.end()) return found->second;
  const Range range = graph_.terms.range(term.base);
  const int64_t lift = range.low < 0 ? (-range.low + term.divisor - 1) / term.divisor : 0;  // division of what is not negative
  const ValueId x = scalar_index(term.base + lift * term.divisor, row), d = list.integer(term.divisor);
  const bool quotient = term.kind == Term::Kind::quotient;
  ValueId result = list.op(quotient ? Code::udiv : Code::urem, Reg::i64, 1, {x, d});
  if (quotient) result = list.add(result, list.integer(-lift));
  return top().terms[key] = result;
}

ValueId Emitter::vector_term(TermId id, int row, int vector, Reg reg) {
  const Term& term = graph_.terms[id];
  if (term.kind == Term::Kind::value) {
    const ValueId v = value(term.node, row, vector, spread.lanes);
    return reg == Reg::i64 ? v : list.op(Code::trunc, reg, spread.lanes, {v});
  }
  const Range range = graph_.terms.range(term.base);
  const int64_t lift = range.low < 0 ? (-range.low + term.divisor - 1) / term.divisor : 0;
  const bool narrow = range.high + lift * term.divisor <= std::numeric_limits<int32_t>::max();
  const Reg work = narrow ? Reg::i32 : Reg::i64;
  const ValueId x = vector_index(term.base + lift * term.divisor, row, vector, work);
  const bool quotient = term.kind == Term::Kind::quotient;
  ValueId result = list.op(quotient ? Code::udiv : Code::urem, work, spread.lanes, {x, list.constant(work, spread.lanes, term.divisor)});
  if (quotient && lift) result = list.add(result, list.constant(work, spread.lanes, -lift));
  if (work == reg) return result;
  return list.op(reg == Reg::i64 ? Code::sext : Code::trunc, reg, spread.lanes, {result});
}

ValueId Emitter::vector_index(const Index& index, int row, int vector, Reg reg) {
  Index uniform;
  uniform.constant = index.constant;
  const int64_t step = vector_ >= 0 ? coefficient(index, vector_) : 0;
  uniform.constant += step * vector * spread.lanes;
  for (const auto& t : index.terms)
    if (t.first == vector_ || !(depends_term(t.first) & kVector)) uniform.terms.push_back(t);
  ValueId base = scalar_index(uniform, row);
  if (reg != Reg::i64) base = list.op(Code::trunc, reg, 1, {base});
  ValueId sum = list.splat(base, spread.lanes);
  if (step != 0 && spread.lanes > 1) sum = list.add(sum, list.ramp(reg, spread.lanes, step));
  for (const auto& [t, c] : index.terms)
    if (t != vector_ && (depends_term(t) & kVector)) sum = list.add(sum, list.mul(vector_term(t, row, vector, reg), c));
  return sum;
}

/// Vectors of narrow elements side by side, as wide as vectors of four bytes: a streaming store of half a line runs at 60 % of the rate.
std::vector<ValueId> Emitter::joined(std::vector<ValueId> parts) {
  const int full = spread.lanes * 4;
  while (parts.size() % 2 == 0 && list.lanes(parts[0]) * bytes(list.reg(parts[0])) < full) {
    std::vector<int> order;
    for (int i = 0; i < 2 * list.lanes(parts[0]); ++i) order.push_back(i);
    for (size_t k = 0; k < parts.size(); k += 2) parts[k / 2] = list.shuffle(parts[k], parts[k + 1], order);
    parts.resize(parts.size() / 2);
  }
  return parts;
}

void Emitter::store_row(const Store& s, int row, bool vector, bool streaming) {
  const Reg reg = graph_.type(s.value);
  const int lanes = vector ? spread.lanes : 1;
  std::vector<ValueId> values;
  for (int v = 0; v < (vector ? spread.vectors : 1); ++v) values.push_back(value(s.value, row, v, lanes));
  if (!vector || contiguous(s.at)) {
    const ValueId pointer = list.pointer(s.array, reg, scalar_index(s.at, row));
    streaming = streaming && lanes > 1;
    if (streaming) values = joined(std::move(values));
    for (size_t v = 0; v < values.size(); ++v)
      list.store(pointer, values[v], static_cast<int64_t>(v) * list.lanes(values[v]), lanes > 1 ? spread.mask : -1, streaming);
    return;
  }
  for (int v = 0; v < spread.vectors; ++v) {
    const ValueId at = vector_index(s.at, row, v, Reg::i64), x = values[static_cast<size_t>(v)];
    if (lanes == 1) {
      list.store(list.pointer(s.array, reg, at), x, 0);
      continue;
    }
    std::vector<ValueId> args{at, x};
    if (spread.mask >= 0) args.push_back(spread.mask);
    list.put({Line::Kind::scatter, {}, reg, lanes, -1, std::move(args), s.array, {}, false});
  }
}

void Emitter::store(const Store& s, bool streaming) {
  prepare({s.value});
  const unsigned how = depends(s.at) | depends(s.value);
  for (int row = 0; row < (how & kRows ? spread.rows : 1); ++row) store_row(s, row, how & kVector, streaming);
}

std::vector<ValueId> Emitter::combine(const Reduction& reduction, const std::vector<ValueId>& old, const std::vector<ValueId>& fresh) {
  const size_t n = old.size();
  const int lanes = list.lanes(old[0]);
  std::unordered_map<NodeId, ValueId> done;
  std::vector<NodeId> todo(reduction.combined.begin(), reduction.combined.end());
  while (!todo.empty()) {  // operands first
    const NodeId id = todo.back();
    const Node& node = graph_[id];
    if (done.contains(id)) {
      todo.pop_back();
      continue;
    }
    size_t missing = 0;
    for (const NodeId in : node.in)
      if (!done.contains(in)) todo.push_back(in), ++missing;
    if (missing > 0) continue;
    todo.pop_back();
    if (node.code == Code::parameter) {
      const auto k = static_cast<size_t>(node.imm);
      done[id] = spread_to(k < n ? old[k] : fresh[k - n], lanes);
    } else if (node.code == Code::constant) {
      done[id] = list.constant(node.type, lanes, node.imm);
    } else {
      std::vector<ValueId> args;
      args.reserve(node.in.size());
      for (const NodeId in : node.in) args.push_back(done.at(in));
      done[id] = list.op(node.code, node.type, lanes, std::move(args), node.imm);
    }
  }
  std::vector<ValueId> results;
  results.reserve(reduction.combined.size());
  for (const NodeId id : reduction.combined) results.push_back(done.at(id));
  return results;
}

}  // namespace kernel
