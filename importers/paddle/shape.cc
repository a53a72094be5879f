// Operators that make values or change their places: fills, views, slices, joins, selections by index or mask, and their gradients.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "importers/lowering/places.h"
#include "importers/paddle/attribute.h"
#include "src/base/math.h"

namespace importers::paddle {
namespace {

using ir::Op;

// ---------------------------------------------------------------- values from nothing

Value constant(Call& c, ir::Type type, const Dims& dims, const std::vector<double>& values) {
  ir::Literal literal;
  for (const double value : values) {
    const ir::Literal one = ir::is_float(type) ? ir::scalar_literal(type, value) : ir::scalar_literal(type, base::saturated_int(value));
    literal.data.insert(literal.data.end(), one.data.begin(), one.data.end());
  }
  return c.entry().constant(ir::array_shape(type, dims), std::move(literal));
}

/// Small arrays that the text tells stand in the program as constants: what Paddle keeps on the host, and shapes.
void make(Call& c, ir::Type type, const Dims& dims, double value, bool on_host) {
  const auto n = static_cast<size_t>(elements_of(dims));
  if (n <= kMostKnown) c.set_known("Out", std::vector<double>(n, value));
  if (n > kMostKnown && elements_of(dims) >= int64_t{1} << 40) return c.fail("has more elements than a machine holds");
  if (on_host && n <= kMostKnown) return c.set("Out", constant(c, type, dims, std::vector<double>(n, value)));
  const Value made = c.entry().fill(type, dims, value);
  c.set("Out", dims.empty() ? c.entry().unary(Op::copy, made) : made);
}

void fill_constant(Call& c) {
  const auto type = c.named_type("dtype");
  const auto dims = c.sizes("shape", {"ShapeTensor", "ShapeTensorList"});
  if (!type || !dims) return c.fail("type or shape are not known");
  const auto text = number_of(c.text("str_value"));
  const double value = c.has("ValueTensor") ? c.number("value", 0, "ValueTensor") : text ? *text : c.number("value", 0);
  make(c, *type, *dims, ir::is_integer(*type) ? c.scaled(value) : value, c.flag("force_cpu") || c.text("place") == "Place(cpu)");
}

void fill_any_like(Call& c) {
  const ir::Type type = c.named_type("dtype").value_or(c.type("X"));
  make(c, type, c.dims("X"), c.number("value", 0, "ValueTensor"), false);
}

/// The same number everywhere, as an operand tells it.
void full_with_tensor(Call& c) {
  const auto dims = c.sizes("shape", {"ShapeTensor"});
  const auto type = c.named_type("dtype");
  if (!dims || !type) return c.fail("the shape is known at run time only");
  if (const Known value = c.known("ValueTensor"); value && value->size() == 1) return make(c, *type, *dims, value->front(), true);
  c.set("Out", c.fuse1({c.in("ValueTensor")}, [&](Body& b, In in) { return b.expand(b.reshape(b.convert(in[0], *type), {}), *dims); }));
}

/// Numbers that stand in an attribute: full_int_array, assign_value.
void listed(Call& c, std::string_view attribute, const Dims& dims) {
  const ir::Type type = c.named_type("dtype").value_or(ir::Type::s64);
  std::vector<double> values;
  for (const std::string_view item : items_of(c.text(attribute))) values.push_back(c.scaled(number_of(item).value_or(0)));
  if (static_cast<int64_t>(values.size()) != elements_of(dims)) return c.fail("has another number of values than its shape");
  if (values.size() <= kMostKnown) c.set_known("Out", values);
  c.set("Out", constant(c, type, dims, values));
}
void full_int_array(Call& c) { listed(c, "value", {static_cast<int64_t>(items_of(c.text("value")).size())}); }
void assign_value(Call& c) {
  for (const std::string_view name : {"values", "fp32_values", "int32_values", "int64_values", "bool_values"}) {
    if (!items_of(c.text(name)).empty()) return listed(c, name, c.sizes("shape").value_or(Dims{}));
  }
  c.fail("has no values");
}

/// Start, Start + Step, … below End: n = ⌈(End − Start) / Step⌉.
void range(Call& c) {
  const Known start = c.known("Start"), end = c.known("End"), step = c.known("Step");
  if (!start || !end || !step || start->size() != 1 || end->size() != 1 || step->size() != 1 || step->front() == 0)
    return c.fail("its limits are known at run time only");
  const double n = std::ceil((end->front() - start->front()) / step->front());
  if (!(n >= 0 && n < 1e12)) return c.fail("has more elements than a machine holds");
  const Dims dims{static_cast<int64_t>(n)};
  if (dims[0] <= static_cast<int64_t>(kMostKnown)) {
    std::vector<double> values;
    for (int64_t i = 0; i < dims[0]; ++i) values.push_back(start->front() + static_cast<double>(i) * step->front());
    c.set_known("Out", std::move(values));
  }
  const ir::Type type = c.named_type("dtype").value_or(c.type("Start"));
  c.set("Out", c.fuse1({}, [&](Body& b, In) {
    Value value = b.iota(type, dims, 0);
    if (step->front() != 1) value = b.binary(Op::multiply, value, step->front());
    return start->front() == 0 ? value : b.binary(Op::add, value, start->front());
  }));
}

/// The sizes of a value: known, so that what is computed from them is too.
void shape(Call& c) {
  const Dims dims = c.dims("X");
  std::vector<double> values(dims.begin(), dims.end());
  c.set("Out", constant(c, c.op().type == "shape64" ? ir::Type::s64 : ir::Type::s32, {rank_of(dims)}, values));
  c.set_known("Out", std::move(values));
}

// ---------------------------------------------------------------- the same elements under other dimensions: Paddle's kernels copy

void viewed(Call& c, Value value, const Dims& dims) {
  const Value same = c.entry().unary(Op::copy, value);
  c.set("Out", c.entry().reshape(same, dims));
}

/// 0 takes the operand's size at that place, −1 what is left.
void reshape(Call& c) {
  const Dims x = c.dims("X");
  auto dims = c.sizes("shape", {"Shape", "ShapeTensor"});
  if (!dims) return c.fail("the shape is known at run time only");
  int64_t open = -1;
  for (size_t i = 0; i < dims->size(); ++i) {
    if ((*dims)[i] == 0 && i < x.size()) (*dims)[i] = x[i];
    if ((*dims)[i] < 0) open = static_cast<int64_t>(i);
  }
  Dims told = *dims;
  for (int64_t& size : told) size = std::max<int64_t>(size, 1);
  if (open >= 0) (*dims)[static_cast<size_t>(open)] = elements_of(x) / elements_of(told);
  if (elements_of(*dims) != elements_of(x)) return c.fail("the shape holds another number of elements");
  viewed(c, c.in("X"), *dims);
  c.set_sizes("XShape", x);
}

/// dOut with the dimensions that the operand had: those of XShape behind its 0, or of X itself.
void view_grad(Call& c) {
  const Dims dims = c.has("XShape") ? c.dims("XShape") : c.has("X") ? c.dims("X") : Dims{-1};
  if (elements_of(dims) != elements_of(c.dims("Out@GRAD"))) return c.fail("the operand's shape is not known");
  c.set("X@GRAD", c.entry().reshape(c.entry().unary(Op::copy, c.in("Out@GRAD")), dims));
}

void unsqueeze(Call& c) {
  const Dims x = c.dims("X");
  const auto axes = c.sizes("axes", {"AxesTensor", "AxesTensorList"});
  if (!axes) return c.fail("the axes are known at run time only");
  Dims dims = x;
  for (const int64_t axis : *axes) {  // one after another: each counts in what the ones before have made
    const int64_t place = axis_of(axis, rank_of(dims) + 1);
    if (place < 0 || place > rank_of(dims)) return c.fail("an axis lies outside");
    dims.insert(dims.begin() + place, 1);
  }
  viewed(c, c.in("X"), dims);
  c.set_sizes("XShape", x);
}

/// An axis whose size is not 1 stays; no axes: all of size 1 go.
void squeeze(Call& c) {
  const Dims x = c.dims("X");
  const auto axes = axes_of(c.sizes("axes", {"AxesTensor", "AxesTensorList"}).value_or(Dims{}), rank_of(x));
  if (!axes) return c.fail("an axis lies outside or is known at run time only");
  Dims dims;
  for (int64_t i = 0; i < rank_of(x); ++i) {
    const bool named = axes->empty() || std::ranges::binary_search(*axes, i);
    if (!named || at(x, i) != 1) dims.push_back(at(x, i));
  }
  viewed(c, c.in("X"), dims);
  c.set_sizes("XShape", x);
}

void flatten(Call& c) {
  const Dims x = c.dims("X");
  const int64_t first = axis_of(c.integer("start_axis", c.integer("axis", 1)), rank_of(x));
  const int64_t last = c.op().type == "flatten2" ? rank_of(x) - 1 : axis_of(c.integer("stop_axis", -1), rank_of(x));
  if (first < 0 || last < first || last >= rank_of(x)) return c.fail("an axis lies outside");
  Dims dims(x.begin(), x.begin() + first);
  dims.push_back(elements_of(Dims(x.begin() + first, x.begin() + last + 1)));
  dims.insert(dims.end(), x.begin() + last + 1, x.end());
  if (c.op().type == "flatten2") dims = {elements_of(Dims(x.begin(), x.begin() + first)), dims.back()};
  viewed(c, c.in("X"), dims);
  c.set_sizes("XShape", x);
}

// ---------------------------------------------------------------- other places

bool permutes(const Dims& axes, int64_t rank) {
  const auto all = axes_of(axes, rank);
  return all && rank_of(*all) == rank && rank_of(axes) == rank;
}

Dims counted(Dims axes, int64_t rank) {
  for (int64_t& axis : axes) axis = axis_of(axis, rank);
  return axes;
}

/// A permutation that moves nothing still copies.
Value transposed(Call& c, Value value, const Dims& axes) {
  const Value moved = c.entry().transpose(value, axes);
  return moved == value ? c.entry().unary(Op::copy, value) : moved;
}

void transpose(Call& c) {
  const Dims x = c.dims("X");
  const auto axes = c.sizes("axis");
  if (!axes || !permutes(*axes, rank_of(x))) return c.fail("axis is no permutation");
  c.set("Out", transposed(c, c.in("X"), counted(*axes, rank_of(x))));
  c.set_sizes("XShape", x);
}

void transpose_grad(Call& c) {
  const Dims dout = c.dims("Out@GRAD");
  const auto axes = c.sizes("axis");
  if (!axes || !permutes(*axes, rank_of(dout))) return c.fail("axis is no permutation");
  c.set("X@GRAD", transposed(c, c.in("Out@GRAD"), permutation_back(counted(*axes, rank_of(dout)))));
}

/// -1 keeps the operand's size; further dimensions may lead.
void expand(Call& c) {
  const Dims x = c.dims("X");
  auto dims = c.sizes("shape", {"Shape", "expand_shapes_tensor"});
  if (!dims || dims->size() < x.size()) return c.fail("the shape is known at run time only");
  for (size_t i = 0; i < dims->size(); ++i) {
    if ((*dims)[i] < 0 && i + x.size() >= dims->size()) (*dims)[i] = x[i + x.size() - dims->size()];
  }
  if (*dims == x) return c.set("Out", c.entry().unary(Op::copy, c.in("X")));
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) { return b.expand(in[0], *dims); }));
}
void expand_grad(Call& c) {
  const Dims x = c.dims("X");
  c.set("X@GRAD", c.fuse1({c.in("Out@GRAD")}, [&](Body& b, In in) { return b.convert(reduce_to(b, widen(b, in[0]), x), b.type(in[0])); }));
}

/// Each dimension repeated; missing ones count as 1.
void tile(Call& c) {
  Dims x = c.dims("X");
  auto times = c.sizes("repeat_times", {"RepeatTimes", "repeat_times_tensor"});
  if (!times) return c.fail("the repetitions are known at run time only");
  while (x.size() < times->size()) x.insert(x.begin(), 1);
  while (times->size() < x.size()) times->insert(times->begin(), 1);
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    Dims split, places, joined;
    for (size_t i = 0; i < x.size(); ++i) {
      split.insert(split.end(), {(*times)[i], x[i]});
      places.push_back(static_cast<int64_t>(2 * i + 1));
      joined.push_back((*times)[i] * x[i]);
    }
    return b.reshape(b.broadcast(b.reshape(in[0], x), split, places), joined);
  }));
}

struct Window {
  std::vector<ir::SliceDim> dims;
  Dims size;
};

/// Where a slice lies: negative limits count from the end, all are cut to the size.
std::optional<Window> window_of(Call& c, const Dims& x, std::string_view strides_name) {
  const auto axes = c.sizes("axes"), starts = c.sizes("starts", {"StartsTensor", "StartsTensorList"}),
             ends = c.sizes("ends", {"EndsTensor", "EndsTensorList"});
  const auto strides = strides_name.empty() ? std::nullopt : c.sizes(strides_name, {"StridesTensor"});
  if (!axes || !starts || !ends || axes->size() != starts->size() || axes->size() != ends->size()) return std::nullopt;
  Window window;
  for (const int64_t dim : x) window.dims.push_back({0, dim, 1});
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = axis_of((*axes)[i], rank_of(x));
    if (axis < 0 || axis >= rank_of(x)) return std::nullopt;
    const int64_t size = at(x, axis);
    const auto limit = [&](int64_t value) {
      return std::clamp<int64_t>(value < 0 ? std::max<int64_t>(value, -size) + size : value, 0, size);
    };
    ir::SliceDim& dim = window.dims[static_cast<size_t>(axis)];
    dim = {limit((*starts)[i]), limit((*ends)[i]), strides && i < strides->size() ? (*strides)[i] : 1};
    if (dim.stride < 1) return std::nullopt;
    dim.limit = std::max(dim.limit, dim.start);
  }
  for (const ir::SliceDim& dim : window.dims) window.size.push_back((dim.limit - dim.start + dim.stride - 1) / dim.stride);
  return window;
}

Dims without(const Dims& dims, const Dims& axes) {
  Dims kept;
  for (int64_t i = 0; i < rank_of(dims); ++i) {
    const bool gone = std::ranges::any_of(axes, [&](int64_t axis) { return axis_of(axis, rank_of(dims)) == i; });
    if (!gone) kept.push_back(at(dims, i));
  }
  return kept;
}

void slice(Call& c, std::string_view strides) {
  const Dims x = c.dims("Input");
  const auto window = window_of(c, x, strides);
  if (!window) return c.fail("its limits are known at run time only or lie outside");
  const Dims out = without(window->size, c.sizes("decrease_axis").value_or(Dims{}));
  c.set("Out", c.entry().reshape(c.entry().slice(c.in("Input"), window->dims), out));
}
void slice(Call& c) { slice(c, ""); }
void strided_slice(Call& c) { slice(c, "strides"); }

/// 0 where nothing was taken.
void slice_grad(Call& c, std::string_view strides) {
  const Dims x = c.dims("Input");
  const auto window = window_of(c, x, strides);
  if (!window) return c.fail("its limits are known at run time only or lie outside");
  if (elements_of(window->size) != elements_of(c.dims("Out@GRAD"))) return c.fail("the gradient has another size than the slice");
  c.set("Input@GRAD", c.fuse1({c.in("Out@GRAD")}, [&](Body& b, In in) {
    std::vector<ir::PadDim> around;
    for (size_t i = 0; i < x.size(); ++i) {
      const ir::SliceDim& dim = window->dims[i];
      const int64_t reaches = dim.start + std::max<int64_t>(window->size[i] - 1, 0) * dim.stride + (window->size[i] > 0 ? 1 : 0);
      around.push_back({dim.start, x[i] - reaches, dim.stride - 1});
    }
    return b.pad(b.reshape(in[0], window->size), b.constant(b.type(in[0]), 0), around);
  }));
}
void slice_grad(Call& c) { slice_grad(c, ""); }
void strided_slice_grad(Call& c) { slice_grad(c, "strides"); }

/// Parts along an axis: `num` equal ones, or `sections`, of which one may be −1.
std::optional<Dims> sections_of(Call& c, int64_t size) {
  auto sections = c.sizes("sections", {"SectionsTensorList"});
  const int64_t num = c.integer("num", 0);
  if (sections && !sections->empty()) {
    const int64_t named = std::accumulate(sections->begin(), sections->end(), int64_t{0},
                                          [](int64_t sum, int64_t part) { return sum + std::max<int64_t>(part, 0); });
    for (int64_t& part : *sections) part = part < 0 ? size - named : part;
    const int64_t all = std::accumulate(sections->begin(), sections->end(), int64_t{0});
    return all == size && std::ranges::all_of(*sections, [](int64_t part) { return part >= 0; }) ? sections : std::nullopt;
  }
  if (num < 1 || size % num != 0 || num > 65536) return std::nullopt;
  return Dims(static_cast<size_t>(num), size / num);
}

Values parts_of(Body& b, Value value, int64_t axis, const Dims& sections) {
  Values parts;
  int64_t begin = 0;
  for (const int64_t part : sections) {
    std::vector<ir::SliceDim> dims;
    for (const int64_t dim : b.dims(value)) dims.push_back({0, dim, 1});
    dims[static_cast<size_t>(axis)] = {begin, begin + part, 1};
    parts.push_back(b.slice(value, dims));
    begin += part;
  }
  return parts;
}

void split(Call& c) {
  const Dims x = c.dims("X");
  const int64_t axis = axis_of(c.integer("axis", 0, "AxisTensor"), rank_of(x));
  if (axis < 0 || axis >= rank_of(x)) return c.fail("the axis lies outside");
  const auto sections = sections_of(c, at(x, axis));
  if (!sections) return c.fail("the parts do not make up the dimension");
  c.set_list("Out", c.program().fuse({{c.in("X")}}, [&](Body& b, In in) { return parts_of(b, in[0], axis, *sections); }));
}

void unbind(Call& c) {
  const Dims x = c.dims("X");
  const int64_t axis = axis_of(c.integer("axis", 0), rank_of(x));
  if (axis < 0 || axis >= rank_of(x) || at(x, axis) > 65536 || at(x, axis) < 1) return c.fail("the axis lies outside");
  const Dims ones(static_cast<size_t>(at(x, axis)), 1), each = without(x, {axis});
  c.set_list("Out", c.program().fuse({{c.in("X")}}, [&](Body& b, In in) {
    Values parts = parts_of(b, in[0], axis, ones);
    for (Value& part : parts) part = b.reshape(part, each);
    return parts;
  }));
}

void concat(Call& c) {
  const Values values = c.all("X");
  const int64_t axis = values.empty() ? -1 : axis_of(c.integer("axis", 0, "AxisTensor"), c.entry().rank(values[0]));
  if (axis < 0 || axis >= c.entry().rank(values[0])) return c.fail("the axis lies outside");
  const Value all = c.entry().concatenate(values, axis);
  c.set("Out", values.size() == 1 ? c.entry().unary(Op::copy, all) : all);
}

/// dOut cut by the sizes of what was joined.
void concat_grad(Call& c) {
  const Values values = c.all("X");
  const int64_t rank = rank_of(c.dims("Out@GRAD"));
  const int64_t axis = axis_of(c.integer("axis", 0, "AxisTensor"), rank);
  if (axis < 0 || axis >= rank) return c.fail("the axis lies outside");
  Dims sections;
  for (const Value value : values) {
    if (c.entry().rank(value) != rank) return c.fail("the parts have another rank");
    sections.push_back(at(c.entry().dims(value), axis));
  }
  if (std::accumulate(sections.begin(), sections.end(), int64_t{0}) != at(c.dims("Out@GRAD"), axis))
    return c.fail("the parts do not make up the dimension");
  c.set_list("X@GRAD", c.program().fuse({{c.in("Out@GRAD")}}, [&](Body& b, In in) { return parts_of(b, in[0], axis, sections); }));
}

void stack(Call& c) {
  const Values values = c.all("X");
  if (values.empty()) return c.fail("has no operand");
  Dims dims = c.entry().dims(values[0]);
  const int64_t axis = axis_of(c.integer("axis", 0), rank_of(dims) + 1);
  if (axis < 0 || axis > rank_of(dims)) return c.fail("the axis lies outside");
  dims.insert(dims.begin() + axis, 1);
  c.set("Y", c.program().fuse1(values, [&](Body& b, In in) {
    Values apart;
    for (const Value value : in) apart.push_back(b.reshape(value, dims));
    return b.concatenate(apart, axis);
  }));
}

// ---------------------------------------------------------------- by index and by mask

/// Index [a…, r] into the first r dimensions of X: Out [a…, X's others].
void gather_nd(Call& c) {
  const Dims x = c.dims("X"), index = c.dims("Index");
  if (index.empty() || index.back() > rank_of(x)) return c.fail("the index has more parts than there are dimensions");
  c.set("Out", c.fuse1({c.in("X"), c.in("Index")}, [&](Body& b, In in) { return take_deep(b, in[0], in[1]); }));
}

/// Rows along an axis by number.
void gather(Call& c) {
  const Dims x = c.dims("X");
  Dims index = c.dims("Index");
  const int64_t axis = axis_of(c.integer("axis", 0, "Axis"), rank_of(x));
  if (axis < 0 || axis >= rank_of(x)) return c.fail("the axis lies outside");
  if (index.size() == 2 && index[1] == 1) index.pop_back();
  if (index.size() != 1) return c.fail("the index is no vector");
  c.set("Out", c.fuse1({c.in("X"), c.in("Index")}, [&](Body& b, In in) { return take(b, in[0], b.reshape(in[1], index), axis); }));
}

/// Elements of each row by number: X [n, m], Index [n, k] → [n, k].
void index_sample(Call& c) {
  const Dims x = c.dims("X"), index = c.dims("Index");
  if (x.size() != 2 || index.size() != 2 || x[0] != index[0]) return c.fail("the operands are no matrices of as many rows");
  c.set("Out", c.fuse1({c.in("X"), c.in("Index")}, [&](Body& b, In in) { return take_along(b, in[0], in[1], 1); }));
}

/// One-hot rows of `depth`.
void one_hot(Call& c) {
  Dims dims = c.dims("X");
  const int64_t depth = c.integer("depth", 0, "depth_tensor");
  if (depth < 1) return c.fail("the depth is known at run time only");
  const Dims places = [&] {
    const Dims all = counting(0, rank_of(dims));
    return all;
  }();
  dims.push_back(depth);
  const ir::Type type = c.named_type("dtype").value_or(ir::Type::f32);
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    const Value numbers = b.iota(b.type(in[0]), dims, rank_of(dims) - 1);
    return b.convert(b.compare(ir::Direction::EQ, b.broadcast(in[0], dims, places), numbers), type);
  }));
}

/// The lower or upper triangle; the rest is 0.
void tril_triu(Call& c) {
  const Dims x = c.dims("X");
  if (x.size() < 2) return c.fail("a vector has no triangle");
  const bool lower = c.op().type == "triu" ? false : c.flag("lower", true);
  const double diagonal = c.number("diagonal", 0);
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {
    const Value row = b.iota(ir::Type::s32, x, rank_of(x) - 2), column = b.iota(ir::Type::s32, x, rank_of(x) - 1);
    const Value off = b.binary(Op::subtract, column, row);
    const Value inside = b.compare(lower ? ir::Direction::LE : ir::Direction::GE, off, b.like(off, diagonal));
    return b.select(inside, in[0], b.like(in[0], 0));
  }));
}

/// How many elements a mask selects is known at run time. The result has its bound, all elements: what is not selected is 0 in its place,
/// so that the gradient is the same selection, and where everything is selected the result is exact.
void masked_select(Call& c) {
  const Dims dims = c.dims("X");
  if (c.dims("Mask") != dims) return c.fail("a mask that is broadcast is not lowered");
  c.note("bound", fmt::format("the number of selected elements is known at run time: runs with its bound, {}", elements_of(dims)));
  c.set("Y", c.fuse1({c.in("X"), c.in("Mask")},
                     [&](Body& b, In in) { return b.reshape(b.select(in[1], in[0], b.like(in[0], 0)), {elements_of(dims)}); }));
}
void masked_select_grad(Call& c) {
  const Dims dims = c.dims("X");
  if (elements_of(c.dims("Y@GRAD")) != elements_of(dims)) return c.fail("the gradient has another size than the selection's bound");
  c.set("X@GRAD", c.fuse1({c.in("Mask"), c.in("Y@GRAD")}, [&](Body& b, In in) {
    const Value dy = b.reshape(in[1], dims);
    return b.select(in[0], dy, b.like(dy, 0));
  }));
}

void arg_max(Call& c) {
  const Dims x = c.dims("X");
  const int64_t axis = axis_of(c.integer("axis", -1, "Axis"), rank_of(x));
  if (c.flag("flatten") || axis < 0 || axis >= rank_of(x)) return c.fail("the axis lies outside");
  const bool keep = c.flag("keepdims", c.flag("keepdim"));
  const ir::Type type = c.named_type("dtype").value_or(ir::Type::s64);
  c.set("Out", c.fuse1({c.in("X")}, [&](Body& b, In in) {  // the first place of the greatest element
    const Value greatest = b.expand(b.reduce_keep(Op::maximum, in[0], {axis}), x);
    const Value numbers = b.iota(type, x, axis);
    const Value places =
        b.select(b.compare(ir::Direction::EQ, in[0], greatest), numbers, b.like(numbers, static_cast<double>(at(x, axis))));
    return keep ? b.reduce_keep(Op::minimum, places, {axis}) : b.reduce(Op::minimum, places, {axis});
  }));
}

constexpr Row kShapeRows[] = {
    {"arg_max", arg_max, "X"},
    {"assign_value", assign_value, ""},
    {"concat", concat, "X"},
    {"concat_grad", concat_grad, "X Out@GRAD"},
    {"expand_v2", expand, "X"},
    {"expand_v2_grad", expand_grad, "X Out@GRAD"},
    {"fill_any_like", fill_any_like, "X"},
    {"fill_constant", fill_constant, ""},
    {"flatten2", flatten, "X"},
    {"flatten2_grad", view_grad, "Out@GRAD"},
    {"flatten_contiguous_range", flatten, "X"},
    {"flatten_contiguous_range_grad", view_grad, "Out@GRAD"},
    {"full_int_array", full_int_array, ""},
    {"full_with_tensor", full_with_tensor, "ValueTensor"},
    {"gather", gather, "X Index"},
    {"gather_nd", gather_nd, "X Index"},
    {"index_sample", index_sample, "X Index"},
    {"masked_select", masked_select, "X Mask"},
    {"masked_select_grad", masked_select_grad, "X Mask Y@GRAD"},
    {"one_hot_v2", one_hot, "X"},
    {"range", range, "Start End Step"},
    {"reshape2", reshape, "X"},
    {"reshape2_grad", view_grad, "Out@GRAD"},
    {"shape", shape, "X"},
    {"shape64", shape, "X"},
    {"slice", slice, "Input"},
    {"slice_grad", slice_grad, "Input Out@GRAD"},
    {"split", split, "X"},
    {"squeeze2", squeeze, "X"},
    {"squeeze2_grad", view_grad, "Out@GRAD"},
    {"stack", stack, "X"},
    {"strided_slice", strided_slice, "Input"},
    {"strided_slice_grad", strided_slice_grad, "Input Out@GRAD"},
    {"tile", tile, "X"},
    {"transpose2", transpose, "X"},
    {"transpose2_grad", transpose_grad, "Out@GRAD"},
    {"tril_triu", tril_triu, "X"},
    {"triu", tril_triu, "X"},
    {"unbind", unbind, "X"},
    {"unsqueeze2", unsqueeze, "X"},
    {"unsqueeze2_grad", view_grad, "Out@GRAD"},
};

}  // namespace

std::span<const Row> shape_rows() { return kShapeRows; }

}  // namespace importers::paddle
