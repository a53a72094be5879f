// Elements that go to other places, the same for all values: rolls, flips, repetitions, paddings, grids; and what is made from nothing in
// the same manner.
#include <fmt/format.h>

#include <algorithm>

#include "importers/paddle/lower.h"
#include "src/base/math.h"

namespace importers::paddle {
namespace {

using ir::Op;

Dims all_of(const Dims& dims) {
  const Dims all = counting(0, rank_of(dims));
  return all;
}

// ---------------------------------------------------------------- rolls and flips

/// Each axis by its number of places, what leaves at the end comes back at the start; without axes over all elements in a row.
void rolled(Call& c, std::string_view in_slot, std::string_view out_slot, int64_t sign) {
  const Dims x = c.dims(in_slot);
  const auto shifts = c.sizes("shifts", {"ShiftsTensor"});
  const auto axes = c.sizes("axis").value_or(Dims{});
  if (!shifts || shifts->size() != std::max<size_t>(axes.size(), 1)) return c.fail("the shifts are known at run time only");
  for (const int64_t axis : axes) {
    if (axis_of(axis, rank_of(x)) < 0 || axis_of(axis, rank_of(x)) >= rank_of(x)) return c.fail("an axis lies outside");
  }
  c.set(out_slot, c.fuse1({c.in(in_slot)}, [&](Body& b, In in) {
    Value value = axes.empty() ? b.reshape(in[0], {elements_of(x)}) : in[0];
    for (size_t i = 0; i < shifts->size(); ++i) {
      const int64_t axis = axes.empty() ? 0 : axis_of(axes[i], rank_of(x)), size = std::max<int64_t>(at(b.dims(value), axis), 1);
      value = b.roll(value, axis, sign * ((*shifts)[i] % size));
    }
    return b.reshape(value, x);
  }));
}
void roll(Call& c) { rolled(c, "X", "Out", 1); }
void roll_grad(Call& c) { rolled(c, "Out@GRAD", "X@GRAD", -1); }

void flip(Call& c) {
  const auto axes = axes_of(c.sizes("axis").value_or(Dims{}), rank_of(c.dims("X")));
  if (!axes) return c.fail("an axis lies outside");
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) { return b.reverse(in[0], *axes); }));
}

// ---------------------------------------------------------------- repetitions

void tile_grad(Call& c) {
  Dims x = c.dims("X");
  auto times = c.sizes("repeat_times", {"RepeatTimes", "repeat_times_tensor"});
  if (!times) return c.fail("the repetitions are known at run time only");
  while (x.size() < times->size()) x.insert(x.begin(), 1);
  while (times->size() < x.size()) times->insert(times->begin(), 1);
  Dims split, over;
  for (size_t i = 0; i < x.size(); ++i) {
    over.push_back(static_cast<int64_t>(2 * i));
    split.insert(split.end(), {(*times)[i], x[i]});
  }
  if (elements_of(split) != elements_of(c.dims("Out@GRAD"))) return c.fail("the gradient has another size than the result");
  c.set("X@GRAD", c.fuse1({c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value sum = b.reduce(Op::add, b.reshape(widen(b, in[0]), split), over);
    return b.convert(b.reshape(sum, c.dims("X")), b.type(in[0]));
  }));
}

/// Dimensions with each element of the axis apart from its repetitions.
struct Repeated {
  Dims split, joined;
  int64_t axis;
};
std::optional<Repeated> repeated(Call& c) {
  const Dims x = c.dims("X");
  const int64_t axis = axis_of(c.integer("axis", c.integer("dim", 0)), rank_of(x)), n = c.integer("repeats", c.integer("Repeats", 0));
  if (axis < 0 || axis >= rank_of(x) || n < 1) return c.fail("the repetitions are known at run time only"), std::nullopt;
  Repeated r{x, x, axis};
  r.split.insert(r.split.begin() + axis + 1, n);
  r.joined[static_cast<size_t>(axis)] = base::saturated_int(static_cast<double>(at(x, axis)) * static_cast<double>(n));
  return r;
}
void repeat_interleave(Call& c) {
  const auto r = repeated(c);
  if (!r) return;
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    Dims places = all_of(b.dims(in[0]));
    for (int64_t& place : places) place += place > r->axis ? 1 : 0;
    return b.reshape(b.broadcast(in[0], r->split, places), r->joined);
  }));
}
void repeat_interleave_grad(Call& c) {
  const auto r = repeated(c);
  if (!r) return;
  if (c.dims("Out@GRAD") != r->joined) return c.fail("the gradient has another size than the result");
  c.set("X@GRAD", c.fuse1({c.in("Out@GRAD")}, [&](Body& b, In in) {
    return b.convert(b.reduce(Op::add, b.reshape(widen(b, in[0]), r->split), {r->axis + 1}), b.type(in[0]));
  }));
}

/// The kth vector along dimension k of a grid.
void meshgrid(Call& c) {
  const Values values = c.all("X");
  Dims grid;
  for (const Value value : values) grid.push_back(elements_of(c.entry().dims(value)));
  if (grid.empty()) return c.fail("has no operand");
  c.set_list("Out", c.program().fuse(values, [&](Body& b, In in) {
    Values made;
    for (size_t k = 0; k < in.size(); ++k) made.push_back(b.broadcast(b.reshape(in[k], {grid[k]}), grid, {static_cast<int64_t>(k)}));
    return made;
  }));
}

// ---------------------------------------------------------------- what stays of a gradient

/// dY's slices along the axis.
void stack_grad(Call& c) {
  const Dims dy = c.dims("Y@GRAD");
  const int64_t axis = axis_of(c.integer("axis", 0), rank_of(dy));
  if (axis < 0 || axis >= rank_of(dy) || at(dy, axis) > 65536) return c.fail("the axis lies outside");
  Dims each = dy;
  each.erase(each.begin() + axis);
  c.set_list("X@GRAD", c.program().fuse({{c.in("Y@GRAD")}}, [&](Body& b, In in) {
    Values parts;
    for (int64_t k = 0; k < at(dy, axis); ++k) parts.push_back(b.reshape(b.part(in[0], axis, k, k + 1), each));
    return parts;
  }));
}

void triangle_grad(Call& c) {
  const Dims dims = c.dims("Out@GRAD");
  if (dims.size() < 2) return c.fail("a vector has no triangle");
  const bool lower = c.op().type != "triu_grad" && c.flag("lower", true);
  const double diagonal = c.number("diagonal", 0);
  c.set("X@GRAD", c.fuse1({c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value row = b.iota(ir::Type::s32, dims, rank_of(dims) - 2), column = b.iota(ir::Type::s32, dims, rank_of(dims) - 1);
    const Value off = b.binary(Op::subtract, column, row);
    return b.select(b.compare(lower ? ir::Direction::LE : ir::Direction::GE, off, b.like(off, diagonal)), in[0], b.like(in[0], 0));
  }));
}

/// Where the mask is set the value.
void masked_fill(Call& c) {
  const Dims x = c.dims("X");
  if (!broadcast_fits(x, c.dims("Mask")) || elements_of(c.dims("Value")) != 1) return c.fail("the operands do not broadcast");
  const Dims both = joined(x, c.dims("Mask"));
  c.set("Out", c.fuse1({c.in("X"), c.in("Mask"), c.in("Value")}, [&](Body& b, In in) {
    const Value value = b.expand(b.reshape(b.convert(in[2], b.type(in[0])), {}), both);
    return b.select(b.expand(in[1], both), value, b.expand(in[0], both));
  }));
}
void masked_fill_grad(Call& c) {
  const Dims dims = c.dims("Out@GRAD");
  if (joined(c.dims("X"), c.dims("Mask")) != dims) return c.fail("the gradient has another size than the result");
  const Dims x = c.dims("X"), value = c.dims("Value");
  if (c.wants("X@GRAD"))
    c.set("X@GRAD", c.fuse1({c.in("Mask"), c.in("Out@GRAD")}, [&](Body& b, In in) {
      const Value dout = widen(b, in[1]);
      return b.convert(reduce_to(b, b.select(b.expand(in[0], dims), b.like(dout, 0), dout), x), b.type(in[1]));
    }));
  if (c.wants("Value@GRAD"))
    c.set("Value@GRAD", c.fuse1({c.in("Mask"), c.in("Out@GRAD")}, [&](Body& b, In in) {
      const Value dout = widen(b, in[1]);
      const Value sum = b.reduce(Op::add, b.select(b.expand(in[0], dims), dout, b.like(dout, 0)), all_of(dims));
      return b.convert(b.reshape(sum, value), b.type(in[1]));
    }));
}

// ---------------------------------------------------------------- paddings

/// Pairs of (before, after): `pad` has them from the first dimension on.
std::optional<std::vector<ir::PadDim>> around(Call& c, const Dims& x) {
  const auto pads = c.sizes("paddings");
  if (!pads || pads->size() != 2 * x.size() || !fit_windows(*pads)) return c.fail("has paddings of another rank"), std::nullopt;
  std::vector<ir::PadDim> dims;
  for (size_t i = 0; i < x.size(); ++i) dims.push_back({(*pads)[2 * i], (*pads)[2 * i + 1], 0});
  return dims;
}
void pad(Call& c) {
  const auto dims = around(c, c.dims("X"));
  if (!dims) return;
  const double value = c.number("pad_value", 0, "PadValue");
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) { return b.pad(in[0], b.constant(b.type(in[0]), value), *dims); }));
}
void pad_grad(Call& c) {
  const Dims dout = c.dims("Out@GRAD");
  const auto dims = around(c, dout);
  if (!dims) return;
  std::vector<ir::SliceDim> inside;
  for (size_t i = 0; i < dout.size(); ++i) inside.push_back({(*dims)[i].low, dout[i] - (*dims)[i].high, 1});
  if (std::ranges::any_of(inside, [](const ir::SliceDim& dim) { return dim.start < 0 || dim.limit < dim.start; }))
    return c.fail("cuts off elements");
  c.set("X@GRAD", c.entry().slice(c.in("Out@GRAD"), inside));
}

// ---------------------------------------------------------------- numbers in order

/// Num numbers from Start to Stop.
void linspace(Call& c) {
  const Known start = c.known("Start"), stop = c.known("Stop"), num = c.known("Num");
  const auto type = c.named_type("dtype");
  if (!start || !stop || !num || start->size() != 1 || stop->size() != 1 || num->size() != 1 || !type)
    return c.fail("its limits are known at run time only");
  const double n = num->front(), step = n > 1 ? (stop->front() - start->front()) / (n - 1) : 0;
  if (!(n >= 0 && n < 1e9)) return c.fail("has more elements than a machine holds");
  c.set("Out", c.fuse1({}, [&](Body& b, In) {
    const ir::Type inner = ir::is_float(*type) ? wide(*type) : ir::Type::f64;
    return b.convert(plus(b, times(b, b.iota(inner, {static_cast<int64_t>(n)}, 0), step), start->front()), *type);
  }));
}

/// 1 on the diagonal.
void eye(Call& c) {
  const int64_t rows = c.integer("num_rows", 0, "Rows"), columns = c.integer("num_columns", rows, "Columns");
  const auto type = c.named_type("dtype");
  if (!type || rows < 0 || elements_of({rows, columns < 0 ? rows : columns}) >= int64_t{1} << 40) return c.fail("its size is not known");
  const Dims dims{rows, columns < 0 ? rows : columns};
  c.set("Out", c.fuse1({}, [&](Body& b, In) {
    return b.convert(b.compare(ir::Direction::EQ, b.iota(ir::Type::s32, dims, 0), b.iota(ir::Type::s32, dims, 1)), *type);
  }));
}

void numel(Call& c) {
  const auto n = static_cast<double>(elements_of(c.dims("X")));
  c.set_known("Out", {n});
  c.set("Out", c.entry().constant(ir::array_shape(ir::Type::s64, {}), ir::scalar_literal(ir::Type::s64, n)));
}

constexpr Row kMovedRows[] = {
    {"eye", eye, ""},
    {"flip", flip, "X"},
    {"linspace", linspace, "Start Stop Num"},
    {"masked_fill", masked_fill, "X Mask Value"},
    {"masked_fill_grad", masked_fill_grad, "X Mask Value Out@GRAD"},
    {"meshgrid", meshgrid, "X"},
    {"numel", numel, "X"},
    {"pad", pad, "X"},
    {"pad_grad", pad_grad, "Out@GRAD"},
    {"repeat_interleave", repeat_interleave, "X"},
    {"repeat_interleave_grad", repeat_interleave_grad, "X Out@GRAD"},
    {"roll", roll, "X"},
    {"roll_grad", roll_grad, "Out@GRAD"},
    {"stack_grad", stack_grad, "Y@GRAD"},
    {"tile_grad", tile_grad, "X Out@GRAD"},
    {"tril_triu_grad", triangle_grad, "Out@GRAD"},
    {"triu_grad", triangle_grad, "Out@GRAD"},
};

}  // namespace

std::span<const Row> moved_rows() { return kMovedRows; }

}  // namespace importers::paddle
