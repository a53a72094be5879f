// Products: matrices, tables of rows, and their gradients. Sums are f32 or wider whatever the operands are.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "importers/lowering/places.h"
#include "importers/paddle/lower.h"

namespace importers::paddle {
namespace {

using ir::Op;

Dims batch_of(const Dims& dims) { return dims.size() <= 2 ? Dims() : Dims(dims.begin(), dims.end() - 2); }

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
  const Dims shared = counting(0, rank);
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

/// dX = dOut·Yᵀ and dY = Xᵀ·dOut, with the transpositions that the operands had. A vector is a matrix of one row, or one column.
void matmul_grad(Call& c) {
  const Dims to_x = c.dims("X"), to_y = c.dims("Y");
  Dims x = to_x, y = to_y, given = c.dims("Out@GRAD");
  if (x.empty() || y.empty()) return c.fail("a scalar is no matrix");
  if (y.size() == 1) y.push_back(1), given.push_back(1);
  if (x.size() == 1) x.insert(x.begin(), 1), given.insert(given.end() - std::min<std::ptrdiff_t>(std::ssize(given), 1), 1);
  if (given.size() < 2) return c.fail("the gradient has another rank than the product");
  const bool trans_x = c.flag("trans_x", c.flag("transpose_X")) && to_x.size() > 1,
             trans_y = c.flag("trans_y", c.flag("transpose_Y")) && to_y.size() > 1;
  if (!fits(c, x, y, trans_x, trans_y)) return;
  Body& entry = c.entry();
  if (elements_of(given) != elements_of(c.dims("Out@GRAD"))) return c.fail("the gradient has another size than the product");
  const Value vx = entry.reshape(c.in("X"), x), vy = entry.reshape(c.in("Y"), y), dout = entry.reshape(c.in("Out@GRAD"), given);
  if (c.wants("X@GRAD")) {
    const Value dx = trans_x ? multiply(c, {vy, trans_y}, {dout, true}) : multiply(c, {dout, false}, {vy, !trans_y});
    c.set("X@GRAD", entry.reshape(sum_batch(c, dx, x), to_x));
  }
  if (!c.wants("Y@GRAD")) return;
  if (y.size() == 2 && !trans_x) return c.set("Y@GRAD", entry.reshape(weight_gradient(c, vx, dout, trans_y), to_y));
  const Value dy = trans_y ? multiply(c, {dout, true}, {vx, trans_x}) : multiply(c, {vx, !trans_x}, {dout, false});
  c.set("Y@GRAD", entry.reshape(sum_batch(c, dy, y), to_y));
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

// ---------------------------------------------------------------- einsum: a letter for each dimension

struct Lettered {
  Value value;
  std::string letters;
};

/// Sums over the letters that neither the other operand nor the result has.
Lettered summed(Call& c, Lettered x, std::string_view others) {
  Dims over;
  std::string kept;
  for (size_t i = 0; i < x.letters.size(); ++i) {
    if (others.find(x.letters[i]) == std::string_view::npos)
      over.push_back(static_cast<int64_t>(i));
    else
      kept += x.letters[i];
  }
  if (over.empty()) return x;
  return {c.fuse1({x.value}, [&](Body& b, In in) { return b.convert(b.reduce(Op::add, widen(b, in[0]), over), b.type(in[0])); }), kept};
}

Value in_order(Call& c, const Lettered& x, std::string_view to) {
  Dims permutation;
  for (const char letter : to) permutation.push_back(static_cast<int64_t>(x.letters.find(letter)));
  return c.entry().transpose(x.value, permutation);
}

/// One product: letters of both are batches where the result has them, and summed where not.
Value contracted(Call& c, Lettered x, Lettered y, const std::string& to) {
  x = summed(c, x, y.letters + to), y = summed(c, y, x.letters + to);
  ir::DotDims dims;
  std::string shared, rest;
  for (size_t i = 0; i < x.letters.size(); ++i) {
    const size_t at = y.letters.find(x.letters[i]);
    const bool stays = to.find(x.letters[i]) != std::string::npos;
    if (at == std::string::npos) {
      rest += x.letters[i];
      continue;
    }
    (stays ? dims.lhs_batch : dims.lhs_contracting).push_back(static_cast<int64_t>(i));
    (stays ? dims.rhs_batch : dims.rhs_contracting).push_back(static_cast<int64_t>(at));
    if (stays) shared += x.letters[i];
  }
  for (const char letter : y.letters) {
    if (x.letters.find(letter) == std::string::npos) rest += letter;
  }
  return in_order(c, {c.entry().dot(x.value, y.value, dims), shared + rest}, to);
}

struct Equation {
  std::vector<std::string> operands;
  std::string result;
};
/// "bij,bjk->bik" of one or two operands, whose letters stand once each and fit their sizes.
std::optional<Equation> equation_of(Call& c, const Values& values) {
  Equation e;
  std::string text;
  for (const char letter : c.text("equation")) {
    if (letter != ' ') text += letter;
  }
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos || text.find('.') != std::string::npos)
    return c.fail("equations without -> or with ... are not lowered"), std::nullopt;
  e.result = text.substr(arrow + 2);
  std::map<char, int64_t> sizes;
  for (size_t at = 0; at <= arrow;) {
    const size_t end = std::min(text.find(',', at), arrow);
    e.operands.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (e.operands.size() != values.size() || values.empty() || values.size() > 2)
    return c.fail("has another number of operands than one or two"), std::nullopt;
  for (size_t k = 0; k < values.size(); ++k) {
    const Dims dims = c.entry().dims(values[k]);
    if (dims.size() != e.operands[k].size()) return c.fail("an operand has another rank than the equation says"), std::nullopt;
    for (size_t i = 0; i < dims.size(); ++i) {
      const bool twice = e.operands[k].find(e.operands[k][i]) != i;
      if (twice || sizes.emplace(e.operands[k][i], dims[i]).first->second != dims[i])
        return c.fail("a letter stands for two sizes, or twice"), std::nullopt;
    }
  }
  for (size_t i = 0; i < e.result.size(); ++i) {
    if (!sizes.contains(e.result[i]) || e.result.find(e.result[i]) != i)
      return c.fail("the result has a letter that no operand has"), std::nullopt;
  }
  return e;
}

void einsum(Call& c) {
  const Values values = c.all("Operands");
  const auto e = equation_of(c, values);
  if (!e) return;
  // What Paddle keeps for the gradient: products' transposed operands, which are empty unless it needs them, and the operands.
  c.set_list("InnerCache", Values(values.size(), c.entry().constant(ir::array_shape(c.entry().type(values[0]), {0}), ir::Literal{})));
  c.set_list("XShape", values);
  if (values.size() == 2) return c.set("Out", contracted(c, {values[0], e->operands[0]}, {values[1], e->operands[1]}, e->result));
  const Lettered all = summed(c, {values[0], e->operands[0]}, e->result);
  const Value moved = in_order(c, all, e->result);
  c.set("Out", moved == values[0] ? c.entry().unary(Op::copy, moved) : moved);
}
/// Of each operand the equation with it and the result exchanged.
void einsum_grad(Call& c) {
  const Values values = c.all("Operands");
  const auto e = equation_of(c, values);
  if (!e) return;
  if (values.size() != 2) return c.fail("the gradient of one operand is not lowered");
  for (size_t k = 0; k < 2; ++k) {
    for (const char letter : e->operands[k]) {
      const bool known = (e->operands[1 - k] + e->result).find(letter) != std::string::npos;
      if (!known) return c.fail("the gradient of what was summed alone is not lowered");
    }
  }
  const Lettered dout{c.in("Out@GRAD"), e->result};
  if (c.entry().dims(dout.value).size() != e->result.size()) return c.fail("the gradient has another rank than the result");
  c.set_list("Operands@GRAD", {contracted(c, dout, {values[1], e->operands[1]}, e->operands[0]),
                               contracted(c, dout, {values[0], e->operands[0]}, e->operands[1])});
}

// ---------------------------------------------------------------- rows of tables

/// Where rows belong to the id that pads: they are 0, and so is the gradient of their row.
Value pads(Body& b, Value ids, double padding, const Dims& rows) {
  return b.broadcast(b.compare(ir::Direction::EQ, ids, b.like(ids, padding)), rows, counting(0, b.rank(ids)));
}

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
  const double padding = c.number("padding_idx", -1);
  c.set("Out", c.fuse1({c.in("W"), flat}, [&](Body& b, In in) {
    const Value rows = take(b, in[0], in[1], 0);
    return padding < 0 ? rows : b.select(pads(b, in[1], padding, out), b.like(rows, 0), rows);
  }));
}

/// Rows of dOut added where the ids point.
void embedding_grad(Call& c) {
  const Dims table = c.dims("W");
  if (table.size() != 2) return c.fail("the table is no matrix");
  const int64_t rows = elements_of(c.dims("Ids"));
  const ir::CompId add = c.program().reducer(Op::add, wide(c.type("Out@GRAD")));
  const double padding = c.number("padding_idx", -1);
  c.set("W@GRAD", c.fuse1({c.in("Ids"), c.in("Out@GRAD")}, [&](Body& b, In in) {
    Value updates = b.reshape(widen(b, in[1]), {rows, table[1]});
    if (padding >= 0) updates = b.select(pads(b, b.reshape(in[0], {rows}), padding, b.dims(updates)), b.like(updates, 0), updates);
    const Value zero = b.fill(b.type(updates), table, 0);
    return b.convert(give(b, zero, b.reshape(in[0], {rows}), updates, 0, add), b.type(in[1]));
  }));
}

constexpr Row kProductRows[] = {
    {"bmm", matmul, "X Y"},
    {"bmm_grad", matmul_grad, "X Y Out@GRAD"},
    {"einsum", einsum, "Operands"},
    {"einsum_grad", einsum_grad, "Operands Out@GRAD"},
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
