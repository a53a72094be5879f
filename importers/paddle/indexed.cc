// Operators that take elements by number, put them back, or order them, and their gradients. What several numbers name is summed, in f32
// where the elements are small floats.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "importers/lowering/places.h"
#include "importers/paddle/lower.h"

namespace importers::paddle {
namespace {

using ir::Op;

ir::CompId sum_of(Call& c, ir::Type type) { return c.program().reducer(Op::add, wide(type)); }

std::optional<int64_t> axis_in(Call& c, std::string_view slot, int64_t otherwise, std::string_view operand = {}) {
  const int64_t rank = rank_of(c.dims(slot)), axis = axis_of(c.integer("axis", c.integer("dim", otherwise), operand), rank);
  if (axis >= 0 && axis < rank) return axis;
  return c.fail("the axis lies outside"), std::nullopt;
}

/// A vector of numbers: [n] or [n, 1].
std::optional<Dims> vector_of(Call& c, std::string_view slot) {
  Dims index = c.dims(slot);
  if (index.size() == 2 && index[1] == 1) index.pop_back();
  if (index.empty()) index.push_back(1);
  if (index.size() == 1) return index;
  return c.fail("the index is no vector"), std::nullopt;
}

// ---------------------------------------------------------------- whole slices

void index_select(Call& c) {
  const auto axis = axis_in(c, "X", 0);
  const auto index = vector_of(c, "Index");
  if (!axis || !index) return;
  c.set("Out", c.fuse1({c.in("X"), c.in("Index")}, [&](Body& b, In in) { return take(b, in[0], b.reshape(in[1], *index), *axis); }));
}

/// Slices of dOut added where they came from: of gather and index_select.
void take_grad(Call& c, std::string_view axis_operand) {
  const Dims x = c.dims("X");
  const auto axis = axis_in(c, "X", 0, axis_operand);
  const auto index = vector_of(c, "Index");
  if (!axis || !index) return;
  Dims taken = x;
  taken[static_cast<size_t>(*axis)] = (*index)[0];
  if (elements_of(c.dims("Out@GRAD")) != elements_of(taken)) return c.fail("the gradient has another size than what was taken");
  const ir::CompId add = sum_of(c, c.type("Out@GRAD"));
  c.set("X@GRAD", c.fuse1({c.in("Index"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value dout = b.reshape(widen(b, in[1]), taken);
    return b.convert(give(b, b.fill(b.type(dout), x, 0), b.reshape(in[0], *index), dout, *axis, add), b.type(in[1]));
  }));
}
void gather_grad(Call& c) { take_grad(c, "Axis"); }
void index_select_grad(Call& c) { take_grad(c, ""); }

bool rows_fit(Call& c, const Dims& index, std::string_view updates, Dims x, int64_t axis) {
  x[static_cast<size_t>(axis)] = index[0];
  if (c.dims(updates) == x) return true;
  c.fail("the updates have another shape than the rows that they go to");
  return false;
}

/// Rows of X are replaced by those of Updates, or, not overwritten, become the sum of all that go there.
void scatter(Call& c) {
  const Dims x = c.dims("X");
  const auto index = vector_of(c, "Ids");
  if (!index || x.empty() || !rows_fit(c, *index, "Updates", x, 0)) return c.fail("the updates do not fit");
  const bool sums = !c.flag("overwrite", true);
  const ir::Type type = sums ? wide(c.type("X")) : c.type("X");
  const ir::CompId put = second_of(c.program(), type), add = sum_of(c, type);
  c.set("Out", c.fuse1({c.in("X"), c.in("Ids"), c.in("Updates")}, [&](Body& b, In in) {
    const Value ids = b.reshape(in[1], *index), updates = b.convert(in[2], type);
    Value base = b.convert(in[0], type);
    if (sums) base = give(b, base, ids, b.like(updates, 0), 0, put);
    return b.convert(give(b, base, ids, updates, 0, sums ? add : put), b.type(in[0]));
  }));
}
void scatter_grad(Call& c) {
  const Dims dout = c.dims("Out@GRAD");
  const auto index = vector_of(c, "Ids");
  if (!index || dout.empty()) return c.fail("the updates do not fit");
  Dims rows = dout;
  rows[0] = (*index)[0];
  if (c.wants("X@GRAD")) {
    const ir::CompId put = second_of(c.program(), c.type("Out@GRAD"));
    c.set("X@GRAD", c.fuse1({c.in("Ids"), c.in("Out@GRAD")}, [&](Body& b, In in) {
      return give(b, in[1], b.reshape(in[0], *index), b.fill(b.type(in[1]), rows, 0), 0, put);
    }));
  }
  if (c.wants("Updates@GRAD"))
    c.set("Updates@GRAD",
          c.fuse1({c.in("Ids"), c.in("Out@GRAD")}, [&](Body& b, In in) { return take(b, in[1], b.reshape(in[0], *index), 0); }));
}

/// Slices of AddValue added to those of X.
void index_add(Call& c) {
  const auto axis = axis_in(c, "X", 0);
  const auto index = vector_of(c, "Index");
  if (!axis || !index || !rows_fit(c, *index, "AddValue", c.dims("X"), *axis)) return;
  const ir::CompId add = sum_of(c, c.type("X"));
  c.set("Out", c.fuse1({c.in("X"), c.in("Index"), c.in("AddValue")}, [&](Body& b, In in) {
    return b.convert(give(b, widen(b, in[0]), b.reshape(in[1], *index), widen(b, in[2]), *axis, add), b.type(in[0]));
  }));
}
void index_add_grad(Call& c) {
  const auto axis = axis_in(c, "Out@GRAD", 0);
  const auto index = vector_of(c, "Index");
  if (!axis || !index) return;
  if (c.wants("X@GRAD")) c.set("X@GRAD", c.entry().unary(Op::copy, c.in("Out@GRAD")));
  if (c.wants("AddValue@GRAD"))
    c.set("AddValue@GRAD",
          c.fuse1({c.in("Index"), c.in("Out@GRAD")}, [&](Body& b, In in) { return take(b, in[1], b.reshape(in[0], *index), *axis); }));
}

// ---------------------------------------------------------------- by numbers of several dimensions

/// The dimensions that an index [a…, r] takes out of x; nothing where it has more parts than x has dimensions.
std::optional<Dims> deep(Call& c, const Dims& index, const Dims& x) {
  if (index.empty() || index.back() > rank_of(x)) return c.fail("the index has more parts than there are dimensions"), std::nullopt;
  Dims taken(index.begin(), index.end() - 1);
  taken.insert(taken.end(), x.begin() + index.back(), x.end());
  return taken;
}

void gather_nd_grad(Call& c) {
  const Dims x = c.dims("X");
  const auto taken = deep(c, c.dims("Index"), x);
  if (!taken) return;
  if (c.dims("Out@GRAD") != *taken) return c.fail("the gradient has another size than what was taken");
  const ir::CompId add = sum_of(c, c.type("Out@GRAD"));
  c.set("X@GRAD", c.fuse1({c.in("Index"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value dout = widen(b, in[1]);
    return b.convert(give_deep(b, b.fill(b.type(dout), x, 0), in[0], dout, add), b.type(in[1]));
  }));
}
void scatter_nd_add(Call& c) {
  const auto taken = deep(c, c.dims("Index"), c.dims("X"));
  if (!taken) return;
  if (c.dims("Updates") != *taken) return c.fail("the updates have another shape than what they go to");
  const ir::CompId add = sum_of(c, c.type("X"));
  c.set("Out", c.fuse1({c.in("X"), c.in("Index"), c.in("Updates")}, [&](Body& b, In in) {
    return b.convert(give_deep(b, widen(b, in[0]), in[1], widen(b, in[2]), add), b.type(in[0]));
  }));
}
void scatter_nd_add_grad(Call& c) {
  if (!deep(c, c.dims("Index"), c.dims("Out@GRAD"))) return;
  if (c.wants("X@GRAD")) c.set("X@GRAD", c.entry().unary(Op::copy, c.in("Out@GRAD")));
  if (c.wants("Updates@GRAD"))
    c.set("Updates@GRAD", c.fuse1({c.in("Index"), c.in("Out@GRAD")}, [&](Body& b, In in) { return take_deep(b, in[1], in[0]); }));
}

// ---------------------------------------------------------------- element by element along an axis

/// Whether an index has x's rank and, but along the axis, no larger sizes.
bool lies_along(Call& c, const Dims& x, const Dims& index, int64_t axis) {
  bool fits = x.size() == index.size();
  for (int64_t i = 0; fits && i < rank_of(x); ++i) fits = i == axis || at(index, i) <= at(x, i);
  if (!fits) c.fail("the index does not lie along the axis");
  return fits;
}

void take_along_axis(Call& c) {
  const auto axis = axis_in(c, "Input", 0);
  if (!axis || !lies_along(c, c.dims("Input"), c.dims("Index"), *axis)) return;
  c.set("Result", c.fuse1({c.in("Input"), c.in("Index")}, [&](Body& b, In in) { return take_along(b, in[0], in[1], *axis); }));
}

/// dOut added where its elements came from. Slots: x, index, dout, dx.
void along_grad(Call& c, const std::array<std::string_view, 4>& slots, int64_t axis) {
  const Dims x = c.dims(slots[0]), index = c.dims(slots[1]);
  if (!lies_along(c, x, index, axis)) return;
  if (c.dims(slots[2]) != index) return c.fail("the gradient has another size than what was taken");
  const ir::CompId add = sum_of(c, c.type(slots[2]));
  c.set(slots[3], c.fuse1({c.in(slots[1]), c.in(slots[2])}, [&](Body& b, In in) {
    const Value dout = widen(b, in[1]);
    return b.convert(give_along(b, b.fill(b.type(dout), x, 0), in[0], dout, axis, add), b.type(in[1]));
  }));
}
void take_along_axis_grad(Call& c) {
  if (const auto axis = axis_in(c, "Input", 0)) along_grad(c, {"Input", "Index", "Result@GRAD", "Input@GRAD"}, *axis);
}
void index_sample_grad(Call& c) { along_grad(c, {"X", "Index", "Out@GRAD", "X@GRAD"}, 1); }

void put_along_axis(Call& c) {
  const auto axis = axis_in(c, "Input", 0);
  const Dims x = c.dims("Input"), index = c.dims("Index");
  if (!axis || !lies_along(c, x, index, *axis)) return;
  const std::string_view how = c.text("reduce").empty() ? c.text("Reduce") : c.text("reduce");
  const bool sums = how == "add" || how == "sum";
  if (!sums && how != "assign") return c.fail("puts by assigning and adding are lowered");
  if (!c.flag("include_self", true)) return c.fail("sums without what was there are not lowered");
  if (!broadcast_fits(c.dims("Value"), index)) return c.fail("the values do not fit the index");
  const ir::Type type = sums ? wide(c.type("Input")) : c.type("Input");
  const ir::CompId put = sums ? sum_of(c, type) : second_of(c.program(), type);
  c.set("Result", c.fuse1({c.in("Input"), c.in("Index"), c.in("Value")}, [&](Body& b, In in) {
    const Value values = b.expand(b.convert(in[2], type), index);
    return b.convert(give_along(b, b.convert(in[0], type), in[1], values, *axis, put), b.type(in[0]));
  }));
}
/// dInput: dOut, where something was assigned 0; dValue: dOut at the index.
void put_along_axis_grad(Call& c) {
  const auto axis = axis_in(c, "Result@GRAD", 0);
  const Dims dout = c.dims("Result@GRAD"), index = c.dims("Index");
  if (!axis || !lies_along(c, dout, index, *axis)) return;
  const bool assigns = (c.text("reduce").empty() ? c.text("Reduce") : c.text("reduce")) == "assign";
  const ir::CompId put = second_of(c.program(), c.type("Result@GRAD"));
  if (c.wants("Input@GRAD"))
    c.set("Input@GRAD",
          !assigns ? c.entry().unary(Op::copy, c.in("Result@GRAD")) : c.fuse1({c.in("Index"), c.in("Result@GRAD")}, [&](Body& b, In in) {
            return give_along(b, in[1], in[0], b.fill(b.type(in[1]), index, 0), *axis, put);
          }));
  if (!c.wants("Value@GRAD")) return;
  if (c.dims("Value") != index) return c.fail("the gradient of values that are broadcast is not lowered");
  c.set("Value@GRAD", c.fuse1({c.in("Index"), c.in("Result@GRAD")}, [&](Body& b, In in) { return take_along(b, in[1], in[0], *axis); }));
}

// ---------------------------------------------------------------- order

/// Elements in order along an axis, and where they were.
Values sorted(Call& c, int64_t axis, bool descending) {
  const Dims x = c.dims("X");
  const ir::CompId order = c.program().order(descending ? ir::Direction::GT : ir::Direction::LT, c.type("X"), ir::Type::s64);
  const Values pair = c.program().fuse({{c.in("X")}}, [&](Body& b, In in) {
    const Value both = b.op(Op::sort, {{in[0], b.iota(ir::Type::s64, x, axis)}},
                            {{"dimensions", fmt::format("{{{}}}", axis)}, {"is_stable", "true"}}, nullptr, {{order}});
    return Values{b.element(both, 0), b.element(both, 1)};
  });
  return pair;
}
void argsort(Call& c) {
  const auto axis = axis_in(c, "X", -1);
  if (!axis) return;
  const Values both = sorted(c, *axis, c.flag("descending"));
  c.set("Out", both[0]);
  c.set("Indices", both[1]);
}
void argsort_grad(Call& c) {
  if (const auto axis = axis_in(c, "X", -1)) along_grad(c, {"X", "Indices", "Out@GRAD", "X@GRAD"}, *axis);
}

/// The k greatest (or least) along an axis in order, and where they were: the head of what is sorted.
void top_k(Call& c) {
  const Dims x = c.dims("X");
  const auto axis = axis_in(c, "X", -1);
  const int64_t k = c.integer("k", 1, "K");
  if (!axis || k < 0 || k > at(x, *axis)) return c.fail("k is larger than the dimension");
  const bool largest = c.flag("largest", true);
  const ir::CompId order = c.program().order(largest ? ir::Direction::GT : ir::Direction::LT, c.type("X"), ir::Type::s64);
  const Values results = c.program().fuse({{c.in("X")}}, [&](Body& b, In in) {
    const Value numbers = b.iota(ir::Type::s64, x, *axis);
    if (k == 1) {  // no need to sort
      const Value best = b.reduce_keep(largest ? Op::maximum : Op::minimum, in[0], {*axis});
      const Value places =
          b.select(b.compare(ir::Direction::EQ, in[0], b.expand(best, x)), numbers, b.like(numbers, static_cast<double>(at(x, *axis))));
      return Values{best, b.reduce_keep(Op::minimum, places, {*axis})};
    }
    const Value both =
        b.op(Op::sort, {{in[0], numbers}}, {{"dimensions", fmt::format("{{{}}}", *axis)}, {"is_stable", "true"}}, nullptr, {{order}});
    std::vector<ir::SliceDim> head;
    for (const int64_t size : x) head.push_back({0, size, 1});
    head[static_cast<size_t>(*axis)].limit = k;
    return Values{b.slice(b.element(both, 0), head), b.slice(b.element(both, 1), head)};
  });
  c.set("Out", results[0]);
  c.set("Indices", results[1]);
}
void top_k_grad(Call& c) {
  if (const auto axis = axis_in(c, "X", -1)) along_grad(c, {"X", "Indices", "Out@GRAD", "X@GRAD"}, *axis);
}

constexpr Row kIndexedRows[] = {
    {"argsort", argsort, "X"},
    {"argsort_grad", argsort_grad, "X Indices Out@GRAD"},
    {"gather_grad", gather_grad, "X Index Out@GRAD"},
    {"gather_nd_grad", gather_nd_grad, "X Index Out@GRAD"},
    {"index_add", index_add, "X Index AddValue"},
    {"index_add_grad", index_add_grad, "Index Out@GRAD"},
    {"index_sample_grad", index_sample_grad, "X Index Out@GRAD"},
    {"index_select", index_select, "X Index"},
    {"index_select_grad", index_select_grad, "X Index Out@GRAD"},
    {"put_along_axis", put_along_axis, "Input Index Value"},
    {"put_along_axis_grad", put_along_axis_grad, "Index Value Result@GRAD"},
    {"scatter", scatter, "X Ids Updates"},
    {"scatter_grad", scatter_grad, "Ids Out@GRAD"},
    {"scatter_nd_add", scatter_nd_add, "X Index Updates"},
    {"scatter_nd_add_grad", scatter_nd_add_grad, "Index Out@GRAD"},
    {"take_along_axis", take_along_axis, "Input Index"},
    {"take_along_axis_grad", take_along_axis_grad, "Input Index Result@GRAD"},
    {"top_k_v2", top_k, "X"},
    {"top_k_v2_grad", top_k_grad, "X Indices Out@GRAD"},
};

}  // namespace

std::span<const Row> indexed_rows() { return kIndexedRows; }

}  // namespace importers::paddle
