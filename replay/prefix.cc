// Which windows are prefixes, and the passes that take their place.
#include "replay/prefix.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "replay/decompose_body.h"
#include "src/ir/attr.h"

namespace replay {
namespace {

using apart::Body;
using apart::Id;
using ir::Op;

constexpr int64_t kLeast = 64;  ///< elements: below, the window itself is as quick

struct Prefix {
  size_t along = 0;
  bool from_end = false;  ///< combines what comes after each element
};

/// One window over the whole of one dimension, padded so that each element sees all before it, or all after.
std::optional<Prefix> prefix_of(const ir::Shape& from, const std::vector<ir::WindowDim>& window) {
  std::optional<Prefix> found;
  if (window.size() != from.dims.size()) return found;
  for (size_t d = 0; d < window.size(); ++d) {
    const ir::WindowDim& w = window[d];
    if (w.stride != 1 || w.base_dilation != 1 || w.window_dilation != 1 || w.reversed) return std::nullopt;
    if (w.size == 1 && w.pad_low == 0 && w.pad_high == 0) continue;
    const bool before = w.pad_low == w.size - 1 && w.pad_high == 0, after = w.pad_low == 0 && w.pad_high == w.size - 1;
    if (found || w.size < from.dims[d] || from.dims[d] < kLeast || !(before || after)) return std::nullopt;
    found = Prefix{d, after};
  }
  return found;
}

/// Sums and products must begin with 0 and 1; what gives the same however often it is combined with itself may begin with anything, and a
/// reducer of several operations is taken at HLO's word.
bool begins_neutrally(const ir::Module& module, const ir::Computation& reducer, const ir::Instr& init) {
  const ir::Instr& root = reducer.instrs[static_cast<size_t>(reducer.root)];
  if (root.op != Op::add && root.op != Op::multiply) return true;
  if (reducer.instrs.size() > 3) return true;
  if (init.op != Op::constant || module.literal(init).data.empty()) return false;
  return ir::as_double(module.literal(init), module.shape(init).type, 0) == (root.op == Op::add ? 0 : 1);
}

/// Nothing: no prefix, several arrays, or a reducer of other types than theirs.
std::optional<Prefix> prefix_at(const ir::Module& module, const ir::Computation& comp, const ir::Instr& instr) {
  if (instr.op != Op::reduce_window || instr.operands.size() != 2 || instr.calls.size() != 1) return std::nullopt;
  const ir::Instr& init = comp.instrs[static_cast<size_t>(instr.operands[1])];
  const ir::Shape& from = module.shape(comp.instrs[static_cast<size_t>(instr.operands[0])]);
  const ir::Computation& reducer = module.comp(instr.calls[0]);
  const auto type_of = [&](Id id) { return module.shape(reducer.instrs[static_cast<size_t>(id)]).type; };
  const bool one_type = module.shape(instr).type == from.type && module.shape(init).type == from.type &&
                        type_of(reducer.root) == from.type &&
                        std::ranges::all_of(reducer.parameters, [&](Id p) { return type_of(p) == from.type; });
  const auto window = ir::attr_window(module, instr);
  if (!one_type || !from.dynamic.empty() || !window.ok() || !begins_neutrally(module, reducer, init)) return std::nullopt;
  return prefix_of(from, *window);
}

/// reducer(a, b) of each element.
Id mapped(Editor& edit, const ir::Shape& shape, ir::CompId reducer, Id a, Id b) {
  std::vector<int64_t> dims(shape.dims.size());
  for (size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<int64_t>(d);
  const Id id = edit.add(Op::map, shape, {a, b}, {{"dimensions", braced(dims)}});
  edit.set_call(id, "to_apply", reducer);
  return id;
}

/// `x` moved by `distance` places along the prefix's dimension, with `init` where nothing comes in.
Id moved(Editor& edit, const ir::Shape& shape, const Prefix& prefix, int64_t distance, Id x, Id init) {
  ir::Shape rest = ir::array_shape(shape.type, shape.dims);
  rest.dims[prefix.along] -= distance;
  std::string ranges, padding;
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    const int64_t by = d == prefix.along ? distance : 0, low = prefix.from_end ? by : 0;
    ranges += fmt::format("{}[{}:{}]", d > 0 ? "," : "", low, low + rest.dims[d]);
    padding += fmt::format("{}{}_{}", d > 0 ? "x" : "", by - low, low);
  }
  const Id cut = edit.add(Op::slice, rest, {x}, {{"slice", "{" + ranges + "}"}});
  return edit.add(Op::pad, shape, {cut, init}, {{"padding", padding}});
}

void double_up(Editor& edit, Id id, const Prefix& prefix) {
  const ir::Shape shape = edit.shape(id);
  const ir::CompId reducer = edit.instr(id).calls[0];
  const Id init = edit.operand(id, 1);
  Id x = edit.operand(id, 0);
  const int64_t size = shape.dims[prefix.along];
  edit.begin(id);
  for (int64_t distance = 1; distance < size; distance *= 2) {
    Body body(edit.module(), fmt::format("{}.by.{}", edit.module().name_of(edit.instr(id)), distance), shape);
    const Id here = body.parameter(edit.shape(x)), neutral = body.parameter(edit.shape(init));
    const Id there = moved(body.edit(), shape, prefix, distance, here, neutral);
    Id made = prefix.from_end ? mapped(body.edit(), shape, reducer, here, there) : mapped(body.edit(), shape, reducer, there, here);
    if (distance * 2 >= size) made = mapped(body.edit(), shape, reducer, body.spread(neutral, {}), made);
    x = apart::fused(edit, body, {made}, {x, init});
  }
  edit.become(id, x);
}

/// Computations whose instructions run as steps: not those of fusions, and what is applied to elements.
std::set<ir::CompId> stepped(const ir::Module& module) {
  std::set<ir::CompId> found;
  std::vector<ir::CompId> todo = {module.entry};
  while (!todo.empty()) {
    const ir::CompId comp = todo.back();
    todo.pop_back();
    if (!found.insert(comp).second) continue;
    for (const ir::Instr& instr : module.comp(comp).instrs) {
      if (ir::info(instr.op).cls == ir::OpClass::control && instr.op != Op::fusion)
        todo.insert(todo.end(), instr.calls.begin(), instr.calls.end());
    }
  }
  return found;
}

}  // namespace

std::shared_ptr<const ir::Module> with_prefixes_by_doubling(const ir::Module& module) {
  const auto is_window = [](const ir::Instr& instr) { return instr.op == Op::reduce_window; };
  std::shared_ptr<ir::Module> made;
  if (std::ranges::none_of(module.computations, [&](const ir::Computation& c) { return std::ranges::any_of(c.instrs, is_window); }))
    return made;
  for (const ir::CompId comp : stepped(module)) {
    for (size_t i = 0; i < module.comp(comp).instrs.size(); ++i) {
      const auto prefix = prefix_at(module, module.comp(comp), module.comp(comp).instrs[i]);
      if (!prefix) continue;
      if (made == nullptr) made = std::make_shared<ir::Module>(module);
      Editor edit(*made, comp);
      double_up(edit, static_cast<Id>(i), *prefix);
    }
  }
  return made;
}

}  // namespace replay
