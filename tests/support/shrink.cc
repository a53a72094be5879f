// What each operation says of the sizes of its operands and its result, and the module with those that come out.
#include "tests/support/shrink.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "src/ir/attr.h"
#include "src/ir/op.h"
#include "tests/support/dims.h"

namespace support {
namespace {

using ir::Op;
using Places = std::vector<Dim>;

/// An instruction as a rule sees it.
struct At {
  Dims& dims;
  ir::InstrRef ref;

  const ir::Module& module() const { return dims.module(); }
  const ir::Instr& instr() const { return module().instr(ref.comp, ref.instr); }
  ir::InstrRef operand(size_t k) const { return {ref.comp, instr().operands.at(k)}; }
  size_t operands() const { return instr().operands.size(); }
  Places in(size_t k) const { return dims.of(operand(k)); }
  Places out(size_t leaf = 0) const { return dims.of(ref, leaf); }
  const ir::Shape& in_shape(size_t k) const { return module().shape(module().instr(ref.comp, instr().operands.at(k))); }
  const ir::Shape& shape() const { return module().shape(instr()); }
  std::vector<int64_t> attr(std::string_view key) const { return ir::attr_dims(module(), instr(), key); }
};

void fix_all(const At& at) {
  at.dims.fix(at.ref);
  for (size_t k = 0; k < at.operands(); ++k) at.dims.fix(at.operand(k));
}

void nothing(const At&) {}

bool contains(const std::vector<int64_t>& list, int64_t value) { return std::ranges::count(list, value) > 0; }

/// The places whose numbers are not in the list.
Places without(const Places& places, const std::vector<int64_t>& list) {
  Places rest;
  for (size_t d = 0; d < places.size(); ++d)
    if (!contains(list, static_cast<int64_t>(d))) rest.push_back(places[d]);
  return rest;
}

/// All arrays of the result's rank have its sizes; scalars among them say nothing.
void alike(const At& at) {
  const Places first = at.out();
  for (size_t leaf = 1; leaf < at.dims.leaves(at.ref); ++leaf) at.dims.same(first, at.out(leaf));
  for (size_t k = 0; k < at.operands(); ++k)
    if (at.in(k).size() == first.size()) at.dims.same(first, at.in(k));
}

void array_constant(const At& at) { at.dims.fix(at.ref); }

/// Leaves of the operands, one after another, are those of `to`.
void link_leaves(Dims& dims, const std::vector<ir::InstrRef>& from, ir::InstrRef to) {
  size_t next = 0;
  for (const ir::InstrRef ref : from)
    for (size_t leaf = 0; leaf < dims.leaves(ref); ++leaf) dims.same(dims.of(ref, leaf), dims.of(to, next++));
}

/// Leaves of the result are those of the operands, in order.
void tuple(const At& at) {
  std::vector<ir::InstrRef> from;
  for (size_t k = 0; k < at.operands(); ++k) from.push_back(at.operand(k));
  link_leaves(at.dims, from, at.ref);
}

void element(const At& at) {
  const int64_t index = ir::attr_int(at.module(), at.instr(), "index").value_or(0);
  size_t first = 0;
  for (int64_t k = 0; k < index; ++k)
    for (const ir::Leaf& leaf : ir::leaves(at.in_shape(0).elements[static_cast<size_t>(k)])) first += leaf.shape->is_array() ? 1 : 0;
  for (size_t leaf = 0; leaf < at.dims.leaves(at.ref); ++leaf) at.dims.same(at.out(leaf), at.dims.of(at.operand(0), first + leaf));
}

void fusion(const At& at) {
  const ir::CompId body = at.instr().calls.at(0);
  const ir::Computation& comp = at.module().comp(body);
  for (size_t k = 0; k < at.operands(); ++k) link_leaves(at.dims, {at.operand(k)}, {body, comp.parameters.at(k)});
  link_leaves(at.dims, {{body, comp.root}}, at.ref);
}

void broadcast(const At& at) {
  const auto to = at.attr("dimensions");
  const Places from = at.in(0), all = at.out();
  for (size_t d = 0; d < from.size(); ++d) at.dims.same(from[d], all[static_cast<size_t>(to[d])]);
}

void transpose(const At& at) {
  const auto from = at.attr("dimensions");
  const Places old = at.in(0), now = at.out();
  for (size_t d = 0; d < now.size(); ++d) at.dims.same(now[d], old[static_cast<size_t>(from[d])]);
}

void reduce(const At& at) {
  const size_t arrays = at.operands() / 2;
  const auto reduced = at.attr("dimensions");
  for (size_t k = 0; k < arrays; ++k) {
    at.dims.same(at.in(0), at.in(k));
    at.dims.same(without(at.in(0), reduced), at.out(k));
  }
}

/// Two ways to cut the same elements: groups of dimensions with equal products.
void regroup(Dims& dims, Places from, Places to) {
  std::erase_if(from, [&](Dim d) { return dims.size(d) == 1; });
  std::erase_if(to, [&](Dim d) { return dims.size(d) == 1; });
  for (size_t i = 0, j = 0; i < from.size() && j < to.size();) {
    Places a{from[i++]}, b{to[j++]};
    int64_t of_a = dims.size(a[0]), of_b = dims.size(b[0]);
    while (of_a != of_b && (of_a < of_b ? i < from.size() : j < to.size())) {
      Places& group = of_a < of_b ? a : b;
      const Dim next = of_a < of_b ? from[i++] : to[j++];
      (of_a < of_b ? of_a : of_b) *= dims.size(next);
      group.push_back(next);
    }
    if (a.size() == 1 && b.size() == 1) {
      dims.same(a[0], b[0]);
    } else if (a.size() == 1 || b.size() == 1) {
      dims.combine(a.size() == 1 ? a[0] : b[0], Dims::Kind::product, a.size() == 1 ? b : a);
    } else {
      for (const Places* group : {&a, &b})
        for (const Dim d : *group) dims.fix(d);
    }
  }
}

void reshape(const At& at) { regroup(at.dims, at.in(0), at.out()); }

/// Memory keeps its order: dimensions from the slowest to the fastest.
void bitcast(const At& at) {
  if (ir::bytes(at.in_shape(0).type) != ir::bytes(at.shape().type)) return fix_all(at);
  const auto in_memory = [](const ir::Shape& shape, const Places& places) {
    Places order;
    for (const int64_t d : ir::minor_to_major(shape)) order.insert(order.begin(), places[static_cast<size_t>(d)]);
    return order;
  };
  regroup(at.dims, in_memory(at.in_shape(0), at.in(0)), in_memory(at.shape(), at.out()));
}

/// What is cut off at both ends stays.
void slice(const At& at) {
  const auto cuts = ir::attr_slice(at.module(), at.instr());
  if (!cuts.ok()) return fix_all(at);
  const Places from = at.in(0), to = at.out();
  for (size_t d = 0; d < to.size(); ++d) {
    const auto& cut = cuts->at(d);
    if (at.dims.size(from[d]) == at.dims.size(to[d]))
      at.dims.same(from[d], to[d]);
    else if (cut.stride == 1)
      at.dims.combine(from[d], Dims::Kind::sum, {to[d]}, at.dims.size(from[d]) - at.dims.size(to[d]));
    else
      at.dims.fix(from[d]), at.dims.fix(to[d]);
  }
}

void pad(const At& at) {
  const auto pads = ir::attr_padding(at.module(), at.instr());
  if (!pads.ok()) return fix_all(at);
  const Places from = at.in(0), to = at.out();
  for (size_t d = 0; d < to.size(); ++d) {
    const auto& edge = pads->at(d);
    if (edge.low == 0 && edge.high == 0 && edge.interior == 0)
      at.dims.same(from[d], to[d]);
    else if (edge.interior == 0 && edge.low >= 0 && edge.high >= 0)
      at.dims.combine(to[d], Dims::Kind::sum, {from[d]}, edge.low + edge.high);
    else
      at.dims.fix(from[d]), at.dims.fix(to[d]);
  }
}

void concatenate(const At& at) {
  const auto along = static_cast<size_t>(at.attr("dimensions").at(0));
  const Places to = at.out();
  Places parts;
  for (size_t k = 0; k < at.operands(); ++k) {
    const Places from = at.in(k);
    parts.push_back(from[along]);
    for (size_t d = 0; d < to.size(); ++d)
      if (d != along) at.dims.same(from[d], to[d]);
  }
  at.dims.combine(to[along], Dims::Kind::sum, parts);
}

/// Whole dimensions of an array and of a part of it are alike, of others one element may be anywhere.
void part_of(Dims& dims, const Places& whole, const Places& part) {
  for (size_t d = 0; d < part.size(); ++d) {
    if (dims.size(whole[d]) == dims.size(part[d]))
      dims.same(whole[d], part[d]);
    else if (dims.size(part[d]) != 1)
      dims.fix(whole[d]), dims.fix(part[d]);
  }
}

void dynamic_slice(const At& at) { part_of(at.dims, at.in(0), at.out()); }

void dynamic_update_slice(const At& at) {
  at.dims.same(at.in(0), at.out());
  part_of(at.dims, at.in(0), at.in(1));
}

void gather(const At& at) {
  const ir::GatherDims how = ir::attr_gather(at.module(), at.instr());
  if (!how.operand_batching_dims.empty()) return fix_all(at);
  Places offsets;
  for (const int64_t d : how.offset_dims) offsets.push_back(at.out()[static_cast<size_t>(d)]);
  part_of(at.dims, without(at.in(0), how.collapsed_slice_dims), offsets);
  at.dims.same(without(at.in(1), {how.index_vector_dim}), without(at.out(), how.offset_dims));
  if (how.index_vector_dim < static_cast<int64_t>(at.in(1).size())) at.dims.fix(at.in(1)[static_cast<size_t>(how.index_vector_dim)]);
}

/// The places stay as many as they are, so that no more updates meet in one than do in the program: the reference rounds their sum once, a
/// kernel each step of it.
void scatter(const At& at) {
  const ir::ScatterDims how = ir::attr_scatter(at.module(), at.instr());
  if (!how.input_batching_dims.empty()) return fix_all(at);
  const size_t arrays = at.operands() / 2;
  for (size_t k = 0; k < arrays; ++k) {
    const Places updates = at.in(arrays + 1 + k);
    Places window;
    for (const int64_t d : how.update_window_dims) window.push_back(updates[static_cast<size_t>(d)]);
    at.dims.same(at.in(k), at.out(k));
    at.dims.same(at.in(k), at.in(0));
    part_of(at.dims, without(at.in(k), how.inserted_window_dims), window);
    for (const int64_t d : how.inserted_window_dims) at.dims.fix(at.in(k)[static_cast<size_t>(d)]);
    at.dims.same(without(at.in(arrays), {how.index_vector_dim}), without(updates, how.update_window_dims));
  }
  const Places indices = at.in(arrays);
  if (how.index_vector_dim < static_cast<int64_t>(indices.size())) at.dims.fix(indices[static_cast<size_t>(how.index_vector_dim)]);
}

/// Dimensions without a window are alike, those with one stay.
void window(const At& at, const Places& from, const Places& to) {
  const auto windows = ir::attr_window(at.module(), at.instr());
  if (!windows.ok()) return fix_all(at);
  for (size_t d = 0; d < to.size(); ++d) {
    const bool none =
        d >= windows->size() || (windows->at(d).size == 1 && windows->at(d).stride == 1 && at.dims.size(from[d]) == at.dims.size(to[d]));
    if (none)
      at.dims.same(from[d], to[d]);
    else
      at.dims.fix(from[d]), at.dims.fix(to[d]);
  }
}

void reduce_window(const At& at) {
  for (size_t k = 0; k < at.operands() / 2; ++k) {
    at.dims.same(at.in(0), at.in(k));
    at.dims.same(at.out(0), at.out(k));
  }
  window(at, at.in(0), at.out());
}

void select_and_scatter(const At& at) {
  at.dims.same(at.in(0), at.out());
  window(at, at.in(0), at.in(1));
}

void product(const At& at, const ir::DotDims& how) {
  const Places a = at.in(0), b = at.in(1), to = at.out();
  size_t next = 0;
  for (size_t k = 0; k < how.lhs_batch.size(); ++k) {
    at.dims.same(a[static_cast<size_t>(how.lhs_batch[k])], b[static_cast<size_t>(how.rhs_batch[k])]);
    at.dims.same(a[static_cast<size_t>(how.lhs_batch[k])], to[next++]);
  }
  for (size_t k = 0; k < how.lhs_contracting.size(); ++k)
    at.dims.same(a[static_cast<size_t>(how.lhs_contracting[k])], b[static_cast<size_t>(how.rhs_contracting[k])]);
  const auto rest = [&](const Places& places, std::vector<int64_t> taken, const std::vector<int64_t>& more) {
    taken.insert(taken.end(), more.begin(), more.end());
    for (const Dim d : without(places, taken)) at.dims.same(d, to[next++]);
  };
  rest(a, how.lhs_batch, how.lhs_contracting);
  rest(b, how.rhs_batch, how.rhs_contracting);
}

void dot(const At& at) { product(at, ir::attr_dot_dims(at.module(), at.instr())); }

/// A product as a library's call, alone or with C.
void custom_call(const At& at) {
  const auto config = ir::gemm_config(at.module(), at.instr());
  if (!ir::is_gemm_call(at.module(), at.instr()) || !config.ok() || at.operands() > 3) return fix_all(at);
  product(at, config->dims);
  if (at.operands() == 3) at.dims.same(at.in(2), at.out());
  for (size_t leaf = 1; leaf < at.dims.leaves(at.ref); ++leaf)
    for (const Dim d : at.out(leaf)) at.dims.fix(d);
}

/// Batch and features follow; what the window runs over stays.
void convolution(const At& at) {
  const auto how = ir::attr_conv_dims(at.module(), at.instr());
  const auto groups = [&](std::string_view key) { return ir::attr_int(at.module(), at.instr(), key).value_or(1); };
  if (!how.ok() || groups("feature_group_count") != 1 || groups("batch_group_count") != 1) return fix_all(at);
  const Places x = at.in(0), w = at.in(1), y = at.out();
  const auto link = [&](const Places& a, int64_t i, const Places& b, int64_t j) {
    at.dims.same(a[static_cast<size_t>(i)], b[static_cast<size_t>(j)]);
  };
  link(x, how->in_batch, y, how->out_batch);
  link(x, how->in_feature, w, how->kernel_in);
  link(w, how->kernel_out, y, how->out_feature);
  for (const int64_t d : how->in_spatial) at.dims.fix(x[static_cast<size_t>(d)]);
  for (const int64_t d : how->kernel_spatial) at.dims.fix(w[static_cast<size_t>(d)]);
  for (const int64_t d : how->out_spatial) at.dims.fix(y[static_cast<size_t>(d)]);
}

struct Rule {
  Op op;
  void (*says)(const At&);
};
constexpr Rule kRules[] = {
    {Op::parameter, nothing},
    {Op::iota, nothing},
    {Op::constant, array_constant},
    {Op::copy, tuple},
    {Op::reverse, alike},
    {Op::opt_barrier, tuple},
    {Op::map, alike},
    {Op::sort, alike},
    {Op::rng, nothing},
    {Op::tuple, tuple},
    {Op::get_tuple_element, element},
    {Op::fusion, fusion},
    {Op::broadcast, broadcast},
    {Op::transpose, transpose},
    {Op::reduce, reduce},
    {Op::reshape, reshape},
    {Op::bitcast, bitcast},
    {Op::slice, slice},
    {Op::pad, pad},
    {Op::concatenate, concatenate},
    {Op::dynamic_slice, dynamic_slice},
    {Op::dynamic_update_slice, dynamic_update_slice},
    {Op::gather, gather},
    {Op::scatter, scatter},
    {Op::reduce_window, reduce_window},
    {Op::select_and_scatter, select_and_scatter},
    {Op::dot, dot},
    {Op::custom_call, custom_call},
    {Op::convolution, convolution},
};

void apply_rule(const At& at) {
  const Op op = at.instr().op;
  if (ir::is_elementwise(op)) return alike(at);
  const auto found = std::ranges::find(kRules, op, &Rule::op);
  return found == std::end(kRules) ? fix_all(at) : found->says(at);
}

/// The computations that run on arrays: the entry and the bodies of fusions, not the scalar ones of reductions.
std::set<ir::CompId> bodies(const ir::Module& module) {
  std::set<ir::CompId> all{module.entry};
  for (const ir::Computation& comp : module.computations)
    for (const ir::Instr& instr : comp.instrs)
      if (instr.op == Op::fusion) all.insert(instr.calls.begin(), instr.calls.end());
  return all;
}

void resize(ir::Shape& shape, const std::vector<int64_t>& sizes, size_t& next) {
  if (shape.is_array())
    for (int64_t& d : shape.dims) d = sizes[next++];
  for (ir::Shape& inner : shape.elements) resize(inner, sizes, next);
}

std::string braced(const std::vector<int64_t>& list) { return fmt::format("{{{}}}", fmt::join(list, ",")); }

/// `slice={[s:l:t],…}` with the limits moved as far as the operand has become shorter.
std::string new_slice(const ir::Module& old, const ir::Instr& instr, const ir::Shape& to) {
  std::string text;
  const auto cuts = ir::attr_slice(old, instr);
  for (size_t d = 0; cuts.ok() && d < to.dims.size(); ++d) {
    const auto& cut = cuts->at(d);
    const int64_t limit = cut.stride == 1 ? cut.start + to.dims[d] : cut.limit;
    text += fmt::format("{}[{}:{}:{}]", d > 0 ? "," : "", cut.start, limit, cut.stride);
  }
  return "{" + text + "}";
}

std::string new_slice_sizes(const ir::Module& old, const ir::Instr& instr, const ir::Shape& before, const ir::Shape& after) {
  auto sizes = ir::attr_gather(old, instr).slice_sizes;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] == before.dims[d]) sizes[d] = after.dims[d];
  return braced(sizes);
}

void follow(const ir::Module& old, ir::Module& made, ir::InstrRef at) {
  ir::Instr& instr = made.comp(at.comp).instrs[static_cast<size_t>(at.instr)];
  const auto set = [&](std::string_view key, const std::string& text) {
    for (ir::Attr& attr : instr.attrs)
      if (made.text(attr.key) == key) attr.text = made.strings.intern(text);
  };
  const auto& before = old.instr(at.comp, at.instr);
  const auto first = [&](const ir::Module& module) -> const ir::Shape& {
    return module.shape(module.instr(at.comp, before.operands.at(0)));
  };
  if (instr.op == Op::slice) set("slice", new_slice(old, before, made.shape(instr)));
  if (instr.op == Op::dynamic_slice) set("dynamic_slice_sizes", braced(made.shape(instr).dims));
  if (instr.op == Op::gather) set("slice_sizes", new_slice_sizes(old, before, first(old), first(made)));
}

}  // namespace

ir::Module shrunk(const ir::Module& module, int64_t most_elements) {
  Dims dims(module);
  const auto each = [&](const auto& body) {
    for (ir::CompId c = 0; c < static_cast<ir::CompId>(module.computations.size()); ++c)
      for (ir::InstrId i = 0; i < static_cast<ir::InstrId>(module.comp(c).instrs.size()); ++i) body(ir::InstrRef{c, i});
  };
  const std::set<ir::CompId> known = bodies(module);
  each([&](ir::InstrRef ref) { known.contains(ref.comp) ? apply_rule({dims, ref}) : dims.fix(ref); });
  const std::vector<int64_t> sizes = dims.solve(most_elements);
  ir::Module made = module;
  size_t next = 0;
  each([&](ir::InstrRef ref) {
    ir::Shape shape = module.shape(module.instr(ref.comp, ref.instr));
    resize(shape, sizes, next);
    made.comp(ref.comp).instrs[static_cast<size_t>(ref.instr)].shape = made.intern(shape);
  });
  each([&](ir::InstrRef ref) { follow(module, made, ref); });
  return made;
}

int64_t largest_array(const ir::Module& module) {
  int64_t most = 0;
  for (const ir::Instr& instr : module.comp(module.entry).instrs)
    for (const ir::Leaf& leaf : ir::leaves(module.shape(instr)))
      if (leaf.shape->is_array()) most = std::max(most, ir::elements(*leaf.shape));
  return most;
}

}  // namespace support
