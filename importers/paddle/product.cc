// Products: matrices, convolutions, tables of rows, and their gradients. Sums are f32 or wider whatever the operands are.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "importers/paddle/lower.h"

namespace importers::paddle {
namespace {

using ir::Op;

Dims batch_of(const Dims& dims) { return dims.size() <= 2 ? Dims() : Dims(dims.begin(), dims.end() - 2); }

Dims counting(size_t n) {
  Dims dims(n);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

/// A matrix product of operands of rank 2 and more, batch dimensions broadcast: x·y, each transposed or not.
struct ProductMatrix {
  Value value;
  bool transposed = false;
};

Value expand_batch(Call& c, Value value, const Dims& batch) {
  Dims dims = batch;
  const Dims own = c.entry().dims(value);
  dims.insert(dims.end(), own.end() - 2, own.end());
  if (dims == own) return value;
  return c.fuse1({value}, [&](Body& b, In in) { return b.expand(in[0], dims); });
}

/// [a…, m, k]·[k, n]: the leading dimensions are rows.
Value fold_rows(Call& c, const ProductMatrix& x, const ProductMatrix& y) {
  const int64_t from = c.entry().rank(x.value) - 1;
  return c.entry().dot(x.value, y.value, {{}, {from}, {}, {y.transposed ? 1 : 0}});
}

Value multiply(Call& c, ProductMatrix x, ProductMatrix y) {
  Body& entry = c.entry();
  const Dims of_x = batch_of(entry.dims(x.value)), of_y = batch_of(entry.dims(y.value));
  if (of_y.empty() && !x.transposed) return fold_rows(c, x, y);
  const Dims batch = joined(of_x, of_y);
  x.value = expand_batch(c, x.value, batch), y.value = expand_batch(c, y.value, batch);
  const auto rank = static_cast<int64_t>(batch.size());
  const Dims shared = counting(batch.size());
  return entry.dot(x.value, y.value, {shared, {x.transposed ? rank : rank + 1}, shared, {y.transposed ? rank + 1 : rank}});
}

bool fits(Call& c, const Dims& x, const Dims& y, bool x_transposed, bool y_transposed) {
  const int64_t inner_x = x[x.size() - (x_transposed ? 2 : 1)], inner_y = y[y.size() - (y_transposed ? 1 : 2)];
  if (inner_x == inner_y) return true;
  c.fail("the inner sizes of the product differ");
  return false;
}

Dims without_from_end(Dims dims, size_t from_end) {
  dims.erase(dims.end() - static_cast<std::ptrdiff_t>(from_end));
  return dims;
}

/// A vector takes a dimension of 1 that the result loses.
void matmul(Call& c) {
  Dims x = c.dims("X"), y = c.dims("Y");
  if (x.empty() || y.empty()) return c.fail("a scalar is no matrix");
  const bool vector_x = x.size() == 1, vector_y = y.size() == 1;
  if (vector_x) x.insert(x.begin(), 1);
  if (vector_y) y.push_back(1);
  const bool trans_x = c.flag("trans_x", c.flag("transpose_X")) && !vector_x,
             trans_y = c.flag("trans_y", c.flag("transpose_Y")) && !vector_y;
  if (!fits(c, x, y, trans_x, trans_y)) return;
  Body& entry = c.entry();
  Value out = multiply(c, {entry.reshape(c.in("X"), x), trans_x}, {entry.reshape(c.in("Y"), y), trans_y});
  if (vector_x) out = entry.reshape(out, without_from_end(entry.dims(out), 2));
  if (vector_y) out = entry.reshape(out, without_from_end(entry.dims(out), 1));
  c.set("Out", out);
}

/// Sum of what was repeated over batches, as a kernel of its own where there is anything to sum.
Value sum_batch(Call& c, Value value, const Dims& to) {
  if (c.entry().dims(value) == to) return value;
  if (elements_of(c.entry().dims(value)) == elements_of(to)) return c.entry().reshape(value, to);
  return c.fuse1({value}, [&](Body& b, In in) { return b.convert(reduce_to(b, widen(b, in[0]), to), b.type(in[0])); });
}

/// xᵀ·dout with all leading dimensions as rows: the gradient of a weight.
Value weight_gradient(Call& c, Value x, Value dout, bool transposed) {
  Body& entry = c.entry();
  const auto rows = [&](Value value) {
    const Dims dims = entry.dims(value);
    return entry.reshape(value, {elements_of(Dims(dims.begin(), dims.end() - 1)), dims.back()});
  };
  const Value a = rows(x), b = rows(dout);
  return transposed ? entry.dot(b, a, {{}, {0}, {}, {0}}) : entry.dot(a, b, {{}, {0}, {}, {0}});
}

/// dX = dOut·Yᵀ and dY = Xᵀ·dOut, with the transpositions that the operands had.
void matmul_grad(Call& c) {
  const Dims x = c.dims("X"), y = c.dims("Y"), given = c.dims("Out@GRAD");
  if (x.size() < 2 || y.size() < 2 || given.size() < 2) return c.fail("the gradient of a product with a vector is not lowered");
  const bool trans_x = c.flag("trans_x"), trans_y = c.flag("trans_y");
  if (!fits(c, x, y, trans_x, trans_y)) return;
  const Value vx = c.in("X"), vy = c.in("Y"), dout = c.in("Out@GRAD");
  if (c.wants("X@GRAD")) {
    const Value dx = trans_x ? multiply(c, {vy, trans_y}, {dout, true}) : multiply(c, {dout, false}, {vy, !trans_y});
    c.set("X@GRAD", sum_batch(c, dx, x));
  }
  if (!c.wants("Y@GRAD")) return;
  if (y.size() == 2 && !trans_x) return c.set("Y@GRAD", weight_gradient(c, vx, dout, trans_y));
  const Value dy = trans_y ? multiply(c, {dout, true}, {vx, trans_x}) : multiply(c, {vx, !trans_x}, {dout, false});
  c.set("Y@GRAD", sum_batch(c, dy, y));
}

// ---------------------------------------------------------------- mul: matrices out of the leading and the trailing dimensions

int64_t product_of(const Dims& dims, size_t begin, size_t end) {
  return elements_of(Dims(dims.begin() + static_cast<std::ptrdiff_t>(begin), dims.begin() + static_cast<std::ptrdiff_t>(end)));
}

struct Flat {
  Dims x, y;
  size_t at_x, at_y;
};
std::optional<Flat> flat_of(Call& c) {
  const Dims x = c.dims("X"), y = c.dims("Y");
  const auto at_x = static_cast<size_t>(c.integer("x_num_col_dims", 1)), at_y = static_cast<size_t>(c.integer("y_num_col_dims", 1));
  if (at_x > x.size() || at_y > y.size()) return c.fail("has fewer dimensions than x_num_col_dims says"), std::nullopt;
  Flat flat{{product_of(x, 0, at_x), product_of(x, at_x, x.size())}, {product_of(y, 0, at_y), product_of(y, at_y, y.size())}, at_x, at_y};
  if (!fits(c, flat.x, flat.y, false, false)) return std::nullopt;
  return flat;
}

void mul(Call& c) {
  const auto flat = flat_of(c);
  if (!flat) return;
  Body& entry = c.entry();
  const Dims x = c.dims("X"), y = c.dims("Y");
  Dims out(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(flat->at_x));
  out.insert(out.end(), y.begin() + static_cast<std::ptrdiff_t>(flat->at_y), y.end());
  const Value product = entry.dot(entry.reshape(c.in("X"), flat->x), entry.reshape(c.in("Y"), flat->y), {{}, {1}, {}, {0}});
  c.set("Out", entry.reshape(product, out));
}

void mul_grad(Call& c) {
  const auto flat = flat_of(c);
  if (!flat) return;
  Body& entry = c.entry();
  const Value x = entry.reshape(c.in("X"), flat->x), y = entry.reshape(c.in("Y"), flat->y);
  const Value dout = entry.reshape(c.in("Out@GRAD"), {flat->x[0], flat->y[1]});
  if (c.wants("X@GRAD")) c.set("X@GRAD", entry.reshape(entry.dot(dout, y, {{}, {1}, {}, {1}}), c.dims("X")));
  if (c.wants("Y@GRAD")) c.set("Y@GRAD", entry.reshape(entry.dot(x, dout, {{}, {0}, {}, {0}}), c.dims("Y")));
}

// ---------------------------------------------------------------- convolutions: filters are OIHW

struct Conv {
  std::vector<ir::WindowDim> window;
  bool channels_last = false;
  int64_t groups = 1;
};

/// SAME pads so that the result has ⌈size / stride⌉; explicit paddings are [h, w] or [top, bottom, left, right].
std::optional<Conv> conv_of(Call& c) {
  const Dims input = c.dims("Input"), filter = c.dims("Filter");
  if (input.size() != 4 || filter.size() != 4) return c.fail("only convolutions of two dimensions are lowered"), std::nullopt;
  Conv conv;
  conv.channels_last = c.text("data_format") == "NHWC";
  conv.groups = c.integer("groups", 1);
  const Dims strides = c.sizes("strides").value_or(Dims{1, 1}), dilations = c.sizes("dilations").value_or(Dims{1, 1});
  const Dims paddings = c.sizes("paddings").value_or(Dims{0, 0});
  if (strides.size() != 2 || dilations.size() != 2 || (paddings.size() != 2 && paddings.size() != 4) || conv.groups < 1)
    return c.fail("has strides, dilations or paddings of another rank"), std::nullopt;
  if (!fit_windows(strides) || !fit_windows(dilations) || !fit_windows(paddings) || !fit_windows({conv.groups}))
    return c.fail("has a window that is too large"), std::nullopt;
  const int64_t of_group = input[conv.channels_last ? 3 : 1];
  if (filter[1] * conv.groups != of_group) return c.fail("the filter has other channels than the input"), std::nullopt;
  const std::string_view algorithm = c.text("padding_algorithm");
  for (size_t i = 0; i < 2; ++i) {
    if (strides[i] < 1 || dilations[i] < 1) return c.fail("has a stride below 1"), std::nullopt;
    const int64_t size = input[i + (conv.channels_last ? 1 : 2)], kernel = (filter[i + 2] - 1) * dilations[i] + 1;
    ir::WindowDim dim{
        filter[i + 2], strides[i], paddings[paddings.size() == 2 ? i : 2 * i], paddings[paddings.size() == 2 ? i : 2 * i + 1], 1,
        dilations[i],  false};
    if (algorithm == "VALID") dim.pad_low = dim.pad_high = 0;
    if (algorithm == "SAME") {
      const int64_t all = std::max<int64_t>(((size + strides[i] - 1) / strides[i] - 1) * strides[i] + kernel - size, 0);
      dim.pad_low = all / 2, dim.pad_high = all - all / 2;
    }
    if (size + dim.pad_low + dim.pad_high < kernel) return c.fail("the window is larger than the input"), std::nullopt;
    conv.window.push_back(dim);
  }
  return conv;
}

void conv2d(Call& c) {
  const auto conv = conv_of(c);
  if (!conv) return;
  c.set("Output", c.entry().convolution(c.in("Input"), c.in("Filter"),
                                        {conv->window, conv->channels_last ? "b01f_oi01->b01f" : "bf01_oi01->bf01", conv->groups}));
}

/// dInput: dOut spread by the strides, convolved with the reversed filter. dFilter: the input convolved with dOut, batch and channels
/// exchanged. Both in the forms that XLA gives them (https://github.com/openxla/xla, conv backprop).
void conv2d_grad(Call& c) {
  const auto conv = conv_of(c);
  if (!conv) return;
  if (conv->groups != 1) return c.fail("the gradient of a convolution in groups is not lowered");
  const Dims input = c.dims("Input"), out = c.dims("Output@GRAD");
  const size_t first = conv->channels_last ? 1 : 2;
  std::vector<ir::WindowDim> to_input, to_filter;
  for (size_t i = 0; i < 2; ++i) {
    const ir::WindowDim& w = conv->window[i];
    const int64_t kernel = (w.size - 1) * w.window_dilation + 1, spread = (out[first + i] - 1) * w.stride + 1;
    const int64_t low = kernel - 1 - w.pad_low;
    to_input.push_back({w.size, 1, low, input[first + i] - 1 + kernel - spread - low, w.stride, w.window_dilation, true});
    to_filter.push_back(
        {out[first + i], w.window_dilation, w.pad_low, kernel + spread - 1 - input[first + i] - w.pad_low, 1, w.stride, false});
  }
  if (c.wants("Input@GRAD"))
    c.set("Input@GRAD", c.entry().convolution(c.in("Output@GRAD"), c.in("Filter"),
                                              {to_input, conv->channels_last ? "b01f_io01->b01f" : "bf01_io01->bf01"}));
  if (c.wants("Filter@GRAD"))
    c.set("Filter@GRAD", c.entry().convolution(c.in("Input"), c.in("Output@GRAD"),
                                               {to_filter, conv->channels_last ? "f01b_i01o->fb01" : "fb01_io01->fb01"}));
}

// ---------------------------------------------------------------- rows of tables

/// Rows of a table by number: Ids [a…] or [a…, 1] → [a…, width].
void embedding(Call& c) {
  const Dims table = c.dims("W");
  Dims ids = c.dims("Ids");
  if (table.size() != 2) return c.fail("the table is no matrix");
  if (c.op().type == "lookup_table" && !ids.empty() && ids.back() == 1) ids.pop_back();
  Body& entry = c.entry();
  const Value flat = entry.reshape(c.in("Ids"), ids);
  Dims out = ids;
  out.push_back(table[1]);
  c.set("Out", c.fuse1({c.in("W"), flat}, [&](Body& b, In in) {
    const ir::Shape shape = ir::array_shape(b.type(in[0]), out);
    return b.op(Op::gather, {{in[0], in[1]}},
                {{"offset_dims", fmt::format("{{{}}}", ids.size())},
                 {"collapsed_slice_dims", "{0}"},
                 {"start_index_map", "{0}"},
                 {"index_vector_dim", std::to_string(ids.size())},
                 {"slice_sizes", fmt::format("{{1,{}}}", table[1])}},
                &shape);
  }));
}

/// Rows of dOut added where the ids point.
void embedding_grad(Call& c) {
  const Dims table = c.dims("W");
  if (table.size() != 2) return c.fail("the table is no matrix");
  const int64_t rows = elements_of(c.dims("Ids"));
  const ir::CompId add = c.program().reducer(Op::add, wide(c.type("Out@GRAD")));
  c.set("W@GRAD", c.fuse1({c.in("Ids"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    const Value updates = b.reshape(widen(b, in[1]), {rows, table[1]});
    const Value zero = b.fill(b.type(updates), table, 0);
    const Value sum = b.op(Op::scatter, {{zero, b.reshape(in[0], {rows, 1}), updates}},
                           {{"update_window_dims", "{1}"},
                            {"inserted_window_dims", "{0}"},
                            {"scatter_dims_to_operand_dims", "{0}"},
                            {"index_vector_dim", "1"}},
                           nullptr, {{add}});
    return b.convert(sum, b.type(in[1]));
  }));
}

constexpr Row kProductRows[] = {
    {"bmm", matmul, "X Y"},
    {"conv2d", conv2d, "Input Filter"},
    {"conv2d_grad", conv2d_grad, "Input Filter Output@GRAD"},
    {"depthwise_conv2d", conv2d, "Input Filter"},
    {"lookup_table", embedding, "Ids W"},
    {"lookup_table_v2", embedding, "Ids W"},
    {"lookup_table_v2_grad", embedding_grad, "Ids W Out@GRAD"},
    {"matmul", matmul, "X Y"},
    {"matmul_v2", matmul, "X Y"},
    {"matmul_v2_grad", matmul_grad, "X Y Out@GRAD"},
    {"mul", mul, "X Y"},
    {"mul_grad", mul_grad, "X Y Out@GRAD"},
};

}  // namespace

std::span<const Row> product_rows() { return kProductRows; }

}  // namespace importers::paddle
