// Asking for elements: dispatch to ops, scopes and memories, rounding. The idea stands in interpreter.h.
#include "replay/reference/interpreter.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include "replay/element.h"
#include "src/base/hash.h"

namespace replay::reference {
namespace {

constexpr int kMaxDepth = 3000;             ///< nested requests: ~1 KiB of stack each
constexpr int64_t kKeepElements = 1 << 26;  ///< largest array kept because it is asked for too often

/// Counts nested requests.
class Depth {
 public:
  explicit Depth(int& depth) : depth_(depth) { ++depth_; }
  ~Depth() { --depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  int& depth_;
};

/// Beyond this a device may have an infinity (or a NaN).
double largest_finite(ir::Type type) {
  if (device_type(type) == type && type != ir::Type::f32) return std::numeric_limits<double>::max();
  if (!ir::is_small_float(type)) return static_cast<double>(std::numeric_limits<float>::max());
  const base::FloatFormat& format = *ir::info(type).small;
  const auto exponents = 1 << format.exponent;
  return std::ldexp(1.0, exponents - 1 - format.bias - (format.special == base::FloatFormat::Special::ieee ? 1 : 0));
}

bool has_open_size(const ir::Shape& shape) {
  return std::ranges::any_of(shape.dims, [](int64_t size) { return size < 0; }) || std::ranges::any_of(shape.elements, has_open_size);
}

Indices count_from(int64_t first, int64_t n) {
  Indices out(static_cast<size_t>(n));
  for (size_t i = 0; i < out.size(); ++i) out[i] = first + static_cast<int64_t>(i);
  return out;
}

}  // namespace

Interpreter::Interpreter(const ir::Module& module, Rounding rounding)
    : module_(module), rounding_(rounding), open_sizes_(std::ranges::any_of(module.shapes, has_open_size)) {}

size_t Interpreter::KeyHash::operator()(const Key& key) const {
  const uint64_t parts[] = {reinterpret_cast<uintptr_t>(key.frame), static_cast<uint64_t>(key.id) << 32 | static_cast<uint32_t>(key.leaf),
                            reinterpret_cast<uintptr_t>(key.at)};
  return base::hash64({reinterpret_cast<const char*>(parts), sizeof parts});
}

void Interpreter::fail(const std::string& why) {
  if (!failed_) failure_ = why;
  failed_ = true;
}

base::Status Interpreter::take_failure() {
  if (!failed_) return {};
  failed_ = false;
  return base::Error{"reference: " + failure_};
}

IndexList Interpreter::intern(Indices indices) {
  const uint64_t hash = base::hash64({reinterpret_cast<const char*>(indices.data()), indices.size() * sizeof(int64_t)});
  const auto [first, last] = scope_->lists.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (*it->second == indices) return it->second;
  }
  return scope_->lists.emplace(hash, std::make_shared<const Indices>(std::move(indices)))->second;
}

void Interpreter::in_scope(const std::function<void()>& work) {
  Scope inner;
  Scope* const outer = scope_;
  scope_ = &inner;
  work();
  scope_ = outer;
}

const std::vector<int>& Interpreter::uses(ir::CompId comp) {
  const auto [it, is_new] = uses_.try_emplace(comp);
  if (is_new) {
    const auto& instrs = module_.comp(comp).instrs;
    it->second.resize(instrs.size());
    for (const ir::Instr& instr : instrs) {
      for (const ir::InstrId operand : instr.operands) ++it->second[static_cast<size_t>(operand)];
    }
  }
  return it->second;
}

int Interpreter::leaf_count(const ir::Shape& shape) const {
  if (!shape.is_tuple()) return 1;
  int count = 0;
  for (const ir::Shape& element : shape.elements) count += leaf_count(element);
  return count;
}

const ir::Shape& Interpreter::leaf_shape(const ir::Shape& shape, int leaf) const {
  const ir::Shape* at = &shape;
  while (at->is_tuple() && !at->elements.empty()) {
    const ir::Shape* next = &at->elements.back();
    for (const ir::Shape& element : at->elements) {
      const int count = leaf_count(element);
      if (leaf < count) {
        next = &element;
        break;
      }
      leaf -= count;
    }
    at = next;
  }
  return *at;
}

int Interpreter::leaf_offset(ir::ShapeId shape, int64_t k) {
  const auto [it, is_new] = offsets_.try_emplace(static_cast<uint32_t>(shape));
  if (is_new) {
    int sum = 0;
    for (const ir::Shape& element : module_.shape(shape).elements) {
      it->second.push_back(sum);
      sum += leaf_count(element);
    }
  }
  return k >= 0 && k < static_cast<int64_t>(it->second.size()) ? it->second[static_cast<size_t>(k)] : 0;
}

void Interpreter::round(const Frame& frame, ir::Type type, Values& values) const {
  if (values.re.empty() || frame.round == Round::none) return;
  const ir::Type target = frame.round == Round::inner && ir::is_small_float(type) ? ir::Type::f32 : type;
  if (!bounds_) {
    round_all(target, values.re);
    round_all(target, values.im);
    return;
  }
  const double largest = largest_finite(target);
  for (size_t i = 0; i < values.re.size(); ++i) {
    const double exact = values.re[i], exact_im = values.im.empty() ? 0 : values.im[i], before = bound_at(values, i);
    values.re[i] = round_to(target, exact);
    if (!values.im.empty()) values.im[i] = round_to(target, exact_im);
    const double im = values.im.empty() ? 0 : values.im[i], magnitude = std::max(std::fabs(values.re[i]), std::fabs(im));
    if (!std::isfinite(magnitude) || !std::isfinite(before)) {
      // A device may stay below the border to infinity that this value has just passed, or the other way round.
      if (before > 0 && std::isfinite(exact) && std::fabs(exact) - before < largest) set_unsure(values, i);
      if (!std::isfinite(before) && !std::isnan(values.re[i])) set_unsure(values, i);
      if (before != 0) values.bound[i] = 0;
      continue;
    }
    if (before > 0 && magnitude + before > largest) set_unsure(values, i);
    if (before > 0 || values.re[i] != exact || im != exact_im) set_bound(values, i, before + ulp(target, magnitude));
  }
}

bool Interpreter::knows_sizes(ir::CompId comp, const ir::Instr& instr) {
  if (!open_sizes_) return true;
  bool open = has_open_size(module_.shape(instr));
  for (const ir::InstrId operand : instr.operands) open = open || has_open_size(module_.shape(module_.instr(comp, operand)));
  if (open) fail(fmt::format("{} ({}) has sizes that are known at run time only", module_.name_of(instr), ir::text(instr.op)));
  return !open;
}

Batch Interpreter::compute(const OpRow& row, const Call& call) {
  if (!knows_sizes(call.frame.comp, call.instr)) return share(zeros(call.shape.type, call.count()));
  Batch made = row.eval(call);
  if (!row.rounds || kind_of(*made) == Kind::integer) return made;
  Values rounded = made.use_count() == 1 ? Values(std::move(*std::const_pointer_cast<Values>(made))) : Values(*made);
  round(call.frame, call.shape.type, rounded);
  return share(std::move(rounded));
}

/// Computes what is not yet remembered, then answers from memory.
Batch Interpreter::remembered(const OpRow& row, const Call& call) {
  Frame::Partial& partial = call.frame.partial[{call.id, call.leaf}];
  if (partial.slot.empty()) partial.values = zeros(call.shape.type, 0);
  Indices missing;
  auto next = static_cast<int64_t>(size(partial.values));
  for (const int64_t index : *call.at) {
    if (partial.slot.emplace(index, next).second) {
      missing.push_back(index);
      ++next;
    }
  }
  if (!missing.empty()) {
    const IndexList at = intern(std::move(missing));
    const Call rest{*this, call.frame, call.id, call.instr, call.shape, call.leaf, at};
    append(partial.values, *compute(row, rest));
  }
  Indices positions(call.count());
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = partial.slot.find((*call.at)[i])->second;
  return share(take(partial.values, positions));
}

bool Interpreter::asked_too_often(Frame& frame, ir::InstrId id, const ir::Shape& shape, int leaf, size_t count) const {
  if (frame.caller == nullptr || frame.in_lanes) return false;
  int64_t& asked = frame.asked[{id, leaf}];
  asked += static_cast<int64_t>(count);
  const int64_t elements = ir::elements(shape);
  return elements <= kKeepElements && asked > 2 * elements + static_cast<int64_t>(4 * kBatch);
}

Batch Interpreter::eval(Frame& frame, ir::InstrId id, int leaf, const IndexList& at) {
  const ir::Instr& instr = module_.instr(frame.comp, id);
  const ir::Shape& shape = leaf_shape(module_.shape(instr), leaf);
  if (failed_ || !shape.is_array() || (ir::elements(shape) == 0 && !at->empty())) return share(zeros(shape.type, at->size()));
  if (const auto it = frame.given.find(id); it != frame.given.end() && static_cast<size_t>(leaf) < it->second.size()) {
    return share(load(*this, *it->second[static_cast<size_t>(leaf)], *at));
  }
  const OpRow* const row = find_row(instr.op);
  const Call call{*this, frame, id, instr, shape, leaf, at};
  if (row == nullptr) return call.fail("is not supported");
  if (frame.in_lanes && !row->lanes) return call.fail("is not supported in the computation of a reduce, sort, map or scatter");
  const Depth depth(depth_);
  if (depth_ > kMaxDepth) return call.fail("is nested too deeply");
  if (row->whole != nullptr) {
    materialise(frame, id);
    return failed_ ? share(zeros(shape.type, at->size())) : eval(frame, id, leaf, at);
  }
  const bool shared = uses(frame.comp)[static_cast<size_t>(id)] > 1 || module_.shape(instr).is_tuple();
  const Key key{&frame, id, leaf, at.get()};
  if (shared) {
    if (const auto it = scope_->memo.find(key); it != scope_->memo.end()) return it->second;
  }
  if (const auto it = frame.dense.find({id, leaf}); it != frame.dense.end()) return share(take(*it->second, *at));
  if (shared && row->rounds && asked_too_often(frame, id, shape, leaf, at->size())) {
    frame.asked[{id, leaf}] = INT64_MIN / 2;
    const Batch all = share(eval_all(frame, id, leaf));
    frame.dense[{id, leaf}] = all;
    return share(take(*all, *at));
  }
  Batch made = row->heavy && frame.caller != nullptr && !frame.in_lanes ? remembered(*row, call) : compute(*row, call);
  if (shared) scope_->memo.emplace(key, made);
  return made;
}

Values Interpreter::eval_all(Frame& frame, ir::InstrId id, int leaf) {
  const ir::Shape& shape = leaf_shape(module_.shape(module_.instr(frame.comp, id)), leaf);
  const int64_t n = ir::elements(shape);
  Values all = zeros(shape.type, 0);
  for (int64_t first = 0; first < n && !failed_; first += static_cast<int64_t>(kBatch)) {
    in_scope([&] {
      const Batch piece = eval(frame, id, leaf, intern(count_from(first, std::min(n - first, static_cast<int64_t>(kBatch)))));
      append(all, *piece);
    });
  }
  return failed_ ? zeros(shape.type, static_cast<size_t>(n)) : all;
}

const ir::Module& Call::module() const { return in.module(); }

const ir::Shape& Call::operand_shape(size_t k, int leaf_of) const {
  static const ir::Shape none = ir::array_shape(ir::Type::f32, {});
  if (k >= instr.operands.size()) {
    (void)fail("lacks an operand");
    return none;
  }
  return in.leaf_shape(module().shape(module().instr(frame.comp, instr.operands[k])), leaf_of);
}

Batch Call::operand(size_t k) const {
  if (k >= instr.operands.size()) return fail("lacks an operand");
  return in.eval(frame, instr.operands[k], 0, at);
}

Batch Call::operand(size_t k, Indices indices, int leaf_of) const {
  if (k >= instr.operands.size()) return fail("lacks an operand");
  return in.eval(frame, instr.operands[k], leaf_of, in.intern(std::move(indices)));
}

Values Call::scalar(size_t k, int leaf_of) const { return *operand(k, Indices{0}, leaf_of); }

Batch Call::gathered(size_t k, const Indices& indices, int leaf_of) const {
  if (frame.in_lanes) return operand(k, indices, leaf_of);
  const int64_t elements = ir::elements(operand_shape(k, leaf_of));
  if (elements == 0) return share(zeros(operand_shape(k, leaf_of).type, indices.size()));
  Indices unique, positions(indices.size());
  if (elements <= static_cast<int64_t>(indices.size())) {
    const Batch all = operand(k, count_from(0, elements), leaf_of);
    return in.failed() ? share(zeros(all->type, indices.size())) : share(take(*all, indices));
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    if (unique.empty() || unique.back() != indices[i]) unique.push_back(indices[i]);
    positions[i] = static_cast<int64_t>(unique.size()) - 1;
  }
  if (unique.size() == indices.size()) return operand(k, std::move(unique), leaf_of);
  return share(take(*operand(k, std::move(unique), leaf_of), positions));
}

Batch Call::whole(size_t k, int leaf_of) const {
  if (k >= instr.operands.size()) return fail("lacks an operand");
  const ir::InstrId operand_id = instr.operands[k];
  Batch& kept = frame.dense[{operand_id, leaf_of}];
  if (kept == nullptr) {
    frame.dense.erase({operand_id, leaf_of});
    Batch made = share(in.eval_all(frame, operand_id, leaf_of));
    frame.dense[{operand_id, leaf_of}] = made;
    return made;
  }
  return kept;
}

Batch Call::fail(const std::string& why) const {
  in.fail(fmt::format("{} ({}) {}", module().name_of(instr), ir::text(instr.op), why));
  return share(zeros(shape.type, at->size()));
}

}  // namespace replay::reference
