// A program as values: interned strings, shapes and origins, and equality by content.
#include "src/ir/module.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "src/base/hash.h"

namespace ir {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15u + (hash << 6) + (hash >> 2);
  return hash * 0xBF58476D1CE4E5B9u;
}

uint64_t hash_of(const Shape& shape) {
  uint64_t hash = static_cast<uint64_t>(shape.type);
  for (const int64_t dim : shape.dims) hash = mix(hash, static_cast<uint64_t>(dim));
  for (const int64_t dim : shape.minor_to_major) hash = mix(hash, static_cast<uint64_t>(dim));
  if (!shape.layout_rest.empty()) hash = mix(hash, base::hash64(shape.layout_rest));
  for (const Shape& element : shape.elements) hash = mix(hash, hash_of(element));
  return hash;
}

uint64_t hash_of(const Origin& origin) {
  uint64_t hash = mix(static_cast<uint64_t>(origin.op_type), static_cast<uint64_t>(origin.op_name));
  hash = mix(hash, static_cast<uint64_t>(origin.source_file));
  hash = mix(hash, static_cast<uint64_t>(origin.source_line));
  hash = mix(hash, static_cast<uint64_t>(origin.stack_frame_id));
  return mix(hash, static_cast<uint64_t>(origin.rest));
}

/// Finds an equal value in `values` through `index` or appends it.
template <typename T>
uint32_t intern_in(std::vector<T>& values, HashIndex& index, const T& value) {
  const uint32_t at = index.find_or_add(hash_of(value), values.size(), [&](uint32_t i) { return values[i] == value; });
  if (at == values.size()) values.push_back(value);
  return at;
}

/// Compares parts of two modules by content.
struct Comparison {
  const Module& a;
  const Module& b;

  bool same(StringId x, StringId y) const { return a.text(x) == b.text(y); }
  bool same(const Attr& x, const Attr& y) const {
    return same(x.key, y.key) && same(x.text, y.text) && x.calls == y.calls && x.braces == y.braces;
  }
  bool same(const std::vector<Attr>& x, const std::vector<Attr>& y) const {
    return std::ranges::equal(x, y, [this](const Attr& l, const Attr& r) { return same(l, r); });
  }
  bool same(const Origin* x, const Origin* y) const {
    if (x == nullptr || y == nullptr) return x == y;
    return same(x->op_type, y->op_type) && same(x->op_name, y->op_name) && same(x->source_file, y->source_file) &&
           x->source_line == y->source_line && x->source_column == y->source_column && x->source_end_line == y->source_end_line &&
           x->source_end_column == y->source_end_column && x->stack_frame_id == y->stack_frame_id && same(x->rest, y->rest);
  }
  bool same_literal(const Instr& x, const Instr& y) const {
    const bool left = x.literal != LiteralId::none, right = y.literal != LiteralId::none;
    return left == right && (!left || a.literal(x) == b.literal(y));
  }
  bool same(const Instr& x, const Instr& y) const {
    return same(x.name, y.name) && x.op == y.op && x.number == y.number && x.operands == y.operands && x.calls == y.calls &&
           a.shape(x) == b.shape(y) && same(a.origin(x), b.origin(y)) && same(x.attrs, y.attrs) && same_literal(x, y);
  }
  bool same(const Computation& x, const Computation& y) const {
    return same(x.name, y.name) && x.root == y.root && same(x.execution_thread, y.execution_thread) && x.parameters == y.parameters &&
           std::ranges::equal(x.instrs, y.instrs, [this](const Instr& l, const Instr& r) { return same(l, r); });
  }
};

}  // namespace

Strings::Strings() : begin_{0, 0} {}  // string 0 is the empty one, and not in the index

StringId Strings::intern(std::string_view text) {
  if (text.empty()) return StringId::empty;
  const auto same = [&](uint32_t id) { return view(static_cast<StringId>(id)) == text; };
  const uint32_t id = index_.find_or_add(base::hash64(text), size(), same);
  if (id == size()) {
    bytes_.append(text);
    begin_.push_back(static_cast<uint32_t>(bytes_.size()));
  }
  return static_cast<StringId>(id);
}

ShapeId Module::intern(const Shape& shape) { return static_cast<ShapeId>(intern_in(shapes, shape_index_, shape)); }

OriginId Module::intern(const Origin& origin) { return static_cast<OriginId>(intern_in(origins, origin_index_, origin)); }

LiteralId Module::add(Literal literal) {
  literals.push_back(std::move(literal));
  return static_cast<LiteralId>(literals.size() - 1);
}

CompId Module::find_computation(std::string_view name) const {
  if (name.starts_with('%')) name.remove_prefix(1);
  const auto it = std::ranges::find_if(computations, [&](const Computation& c) { return text(c.name) == name; });
  return it == computations.end() ? -1 : static_cast<CompId>(it - computations.begin());
}

bool Module::operator==(const Module& other) const {
  const Comparison compare{*this, other};
  return compare.same(name, other.name) && entry == other.entry && compare.same(attrs, other.attrs) &&
         compare.same(stack_frames, other.stack_frames) &&
         std::ranges::equal(computations, other.computations,
                            [&](const Computation& l, const Computation& r) { return compare.same(l, r); });
}

}  // namespace ir
