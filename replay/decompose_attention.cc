// Fused attention: S = Q·Kᵀ·scale (+ bias, masked), P = softmax(S), O = P·V, and ln Σ eˢ for each row where the call gives it. S and the
// softmax are f32, P has the type of V, as in cuDNN's kernels. Calls with dropout, padding or a sliding window stay as they are.
#include <algorithm>
#include <limits>
#include <optional>

#include "replay/decompose_body.h"
#include "src/ir/attr.h"

namespace replay::apart {
namespace {

using ir::Op;
using nlohmann::json;

std::vector<int64_t> list_in(const json& numbers, const char* key) {
  std::vector<int64_t> out;
  const auto it = numbers.find(key);
  if (it == numbers.end() || !it->is_array()) return out;
  for (const json& item : *it) {
    if (item.is_number_integer()) out.push_back(item.get<int64_t>());
    if (item.is_string()) out.push_back(std::strtoll(item.get_ref<const std::string&>().c_str(), nullptr, 10));
  }
  return out;
}

struct Product {
  ir::DotDims dims;
  std::vector<int64_t> sizes;  ///< of the result
};

/// The numbers of a product, checked against its operands.
std::optional<Product> product_of(const json& config, const char* key, const ir::Shape& a, const ir::Shape& b) {
  const auto numbers = config.find(key);
  if (numbers == config.end() || !numbers->is_object()) return std::nullopt;
  Product out{{list_in(*numbers, "lhs_batch_dimensions"), list_in(*numbers, "lhs_contracting_dimensions"),
               list_in(*numbers, "rhs_batch_dimensions"), list_in(*numbers, "rhs_contracting_dimensions")},
              {}};
  const auto add_free = [&](const ir::Shape& shape, const std::vector<int64_t>& batch, const std::vector<int64_t>& gone) {
    const auto is_in = [](const std::vector<int64_t>& list, int64_t d) { return std::ranges::find(list, d) != list.end(); };
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (!is_in(batch, d) && !is_in(gone, d)) out.sizes.push_back(shape.dims[static_cast<size_t>(d)]);
    }
    const auto fits = [&](int64_t d) { return d >= 0 && d < shape.rank(); };
    return std::ranges::all_of(batch, fits) && std::ranges::all_of(gone, fits);
  };
  for (const int64_t d : out.dims.lhs_batch) {
    if (d < 0 || d >= a.rank()) return std::nullopt;
    out.sizes.push_back(a.dims[static_cast<size_t>(d)]);
  }
  const bool fits = add_free(a, out.dims.lhs_batch, out.dims.lhs_contracting) && add_free(b, out.dims.rhs_batch, out.dims.rhs_contracting);
  return fits ? std::optional(out) : std::nullopt;
}

Id dot(Editor& edit, const Product& product, const ir::Shape& shape, Id a, Id b) {
  return edit.add(Op::dot, shape, {a, b},
                  {{"lhs_batch_dims", braced(product.dims.lhs_batch)},
                   {"lhs_contracting_dims", braced(product.dims.lhs_contracting)},
                   {"rhs_batch_dims", braced(product.dims.rhs_batch)},
                   {"rhs_contracting_dims", braced(product.dims.rhs_contracting)}});
}

Id over_rows(Body& body, Id rows) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d + 1 < body.shape().rank(); ++d) dims.push_back(d);
  return body.spread(rows, dims);
}

/// A bias of S's sizes, or of 1 in some dimensions.
std::optional<Id> bias_in(Body& body, Id bias) {
  const ir::Shape shape = body.edit().shape(bias);
  std::vector<int64_t> dims, sizes;
  if (shape.rank() != body.shape().rank()) return std::nullopt;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const auto i = static_cast<size_t>(d);
    if (shape.dims[i] != 1 && shape.dims[i] != body.shape().dims[i]) return std::nullopt;
    if (shape.dims[i] == body.shape().dims[i]) dims.push_back(d), sizes.push_back(shape.dims[i]);
  }
  return body.spread(body.edit().add(Op::reshape, ir::array_shape(shape.type, sizes), {bias}), dims);
}

struct Softmax {
  double scale = 1;
  bool causal = false;
};

/// max and Σ exp(s − max) of each row beside the exponentials.
struct Rows {
  Id max, exponentials, sum;
};
std::optional<Rows> softmax(Body& body, const Softmax& how, const std::vector<ir::Shape>& operands) {
  Id s = body.scaled(body.parameter(operands[0]), how.scale);
  if (operands.size() > 1) {
    const auto bias = bias_in(body, body.parameter(operands[1]));
    if (!bias) return std::nullopt;
    s = body.op(Op::add, s, *bias);
  }
  if (how.causal) {
    const Id row = body.edit().iota(body.shape(), body.shape().rank() - 2),
             column = body.edit().iota(body.shape(), body.shape().rank() - 1);
    const Id seen = body.edit().add(Op::compare, with_type(body.shape(), ir::Type::pred), {row, column}, {{"direction", "GE"}});
    s = body.edit().add(Op::select, body.shape(), {seen, s, body.constant(-std::numeric_limits<double>::infinity())});
  }
  const Id max = reduced(body, {Op::maximum, -std::numeric_limits<double>::infinity(), {body.shape().rank() - 1}}, s);
  const Id exponentials = body.op(Op::exponential, body.op(Op::subtract, s, over_rows(body, max)));
  return Rows{max, exponentials, reduced(body, {Op::add, 0, {body.shape().rank() - 1}}, exponentials)};
}

}  // namespace

void take_attention_apart(Editor& edit, Id id) {
  const json config = flat_config(edit.module(), edit.instr(id), "cudnn_fmha_backend_config");
  const std::vector<Id> operands = edit.instr(id).operands;
  const std::string mask = word_in(config, "masktype");
  const bool plain = number_in(config, "dropoutrate", 0) == 0 && number_in(config, "slidingwindowlength", 0) <= 0 &&
                     (mask.empty() || mask == "no_mask" || mask == "causal");
  const ir::Shape result = edit.shape(id);
  if (!plain || operands.size() < 3 || operands.size() > 4 || !result.is_tuple() || result.elements.size() < 2) return;
  const auto first = product_of(config, "bmm1dotdimensionnumbers", edit.shape(operands[0]), edit.shape(operands[1]));
  if (!first || first->sizes.size() < 2) return;
  const ir::Shape s = ir::array_shape(ir::Type::f32, first->sizes);
  const auto second = product_of(config, "bmm2dotdimensionnumbers", s, edit.shape(operands[2]));
  if (!second || second->sizes != result.elements[0].dims) return;
  const bool has_stats = result.elements[1].type == ir::Type::f32 && result.elements[1].rank() + 1 == s.rank();
  edit.begin(id);
  const Softmax how{number_in(config, "fmhascale", 1), mask == "causal"};
  std::vector<Id> arguments = {dot(edit, *first, s, operands[0], operands[1])};
  std::vector<ir::Shape> shapes = {s};
  if (operands.size() > 3) arguments.push_back(operands[3]), shapes.push_back(edit.shape(operands[3]));
  const std::string name(edit.module().name_of(edit.instr(id)));
  Body body(edit.module(), name + ".softmax", s);
  const auto rows = softmax(body, how, shapes);
  if (!rows) return;
  const Id p = body.as(body.op(Op::divide, rows->exponentials, over_rows(body, rows->sum)), edit.shape(operands[2]).type);
  const Id probabilities = fused(edit, body, {p}, arguments);
  std::vector<Id> parts = {dot(edit, *second, result.elements[0], probabilities, operands[2])};
  if (has_stats) {
    Body stats(edit.module(), name + ".stats", s);
    const Rows of = *softmax(stats, how, shapes);
    const ir::Shape shape = result.elements[1];
    const Id log = stats.edit().add(Op::log, shape, {of.sum});
    parts.push_back(fused(edit, stats, {stats.edit().add(Op::add, shape, {of.max, log})}, arguments));
  }
  for (size_t k = parts.size(); k < result.elements.size(); ++k)
    parts.push_back(edit.spread(edit.zero(result.elements[k].type), result.elements[k]));
  edit.become(id, Op::tuple, parts);
}

}  // namespace replay::apart
