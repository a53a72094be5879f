// Layer normalisation: over some dimensions y = (x − mean)·factor·scale + shift with factor = 1/√(variance + ε), in f32, one fusion that
// rounds once. cuDNN's call gives mean and factor beside y where training wants them; gradients stay calls.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "replay/decompose_body.h"

namespace replay::apart {
namespace {

using ir::Op;

/// A value of the normalised dimensions' sizes, spread over x; `from` may have dimensions of one element beside them.
Id spread_over(Body& body, Id from, const std::vector<int64_t>& dims) {
  std::vector<int64_t> sizes;
  for (const int64_t d : dims) sizes.push_back(body.shape().dims[static_cast<size_t>(d)]);
  const Id flat = body.edit().add(Op::reshape, ir::array_shape(body.edit().shape(from).type, sizes), {from});
  return body.spread(flat, dims);
}

struct Norm {
  std::vector<int64_t> dims;  ///< normalised over
  double epsilon = 0;
  bool scale = true, shift = true;  ///< operands behind x, in this order
};

/// y, mean and factor, the latter of the sizes of the other dimensions.
struct Normed {
  Id y, mean, factor;
};
Normed normed(Body& body, const Norm& norm, ir::Type type, const std::vector<ir::Shape>& operands) {
  Editor& edit = body.edit();
  std::vector<int64_t> kept, sizes;
  double count = 1;
  for (int64_t d = 0; d < body.shape().rank(); ++d) {
    const int64_t size = body.shape().dims[static_cast<size_t>(d)];
    if (std::ranges::find(norm.dims, d) != norm.dims.end())
      count *= static_cast<double>(size);
    else
      kept.push_back(d), sizes.push_back(size);
  }
  const ir::Shape rows = ir::array_shape(body.shape().type, sizes);
  const auto number = [&](double value) {
    const Id id = edit.add(Op::constant, ir::array_shape(rows.type, {}), {});
    edit.instr(id).literal = edit.module().add(ir::scalar_literal(rows.type, value));
    return edit.spread(id, rows);
  };
  const auto mean_of = [&](Id x) { return edit.add(Op::divide, rows, {reduced(body, {Op::add, 0, norm.dims}, x), number(count)}); };
  const Id x = body.as(body.parameter(operands[0]), body.shape().type);
  const Id mean = mean_of(x), centred = body.op(Op::subtract, x, body.spread(mean, kept));
  const Id variance = mean_of(body.op(Op::multiply, centred, centred));
  const Id factor = edit.add(Op::rsqrt, rows, {edit.add(Op::add, rows, {variance, number(norm.epsilon)})});
  Id y = body.op(Op::multiply, centred, body.spread(factor, kept));
  size_t next = 1;
  if (norm.scale) y = body.op(Op::multiply, y, spread_over(body, body.parameter(operands[next++]), norm.dims));
  if (norm.shift) y = body.op(Op::add, y, spread_over(body, body.parameter(operands[next]), norm.dims));
  return {body.as(y, type), mean, factor};
}

std::vector<ir::Shape> shapes_of(Editor& edit, const std::vector<Id>& ids) {
  std::vector<ir::Shape> shapes;
  for (const Id id : ids) shapes.push_back(edit.shape(id));
  return shapes;
}

}  // namespace

/// x has the kept dimensions first, multiplied into one, then those normalised over: a scale of 1 in the first.
void take_cudnn_norm_apart(Editor& edit, Id id) {
  const nlohmann::json config = flat_config(edit.module(), edit.instr(id), "cudnn_norm_backend_config");
  const std::string kind = word_in(config, "kind");
  const std::vector<Id> operands = edit.instr(id).operands;
  const ir::Shape result = edit.shape(id);
  const bool trains = kind == "layer_fwd_train";
  if ((!trains && kind != "layer_fwd_infer") || operands.size() != 3 || !result.is_tuple()) return;
  const std::vector<ir::Shape> shapes = shapes_of(edit, operands);
  const size_t results = trains ? 3 : 1;
  if (result.elements.size() < results || result.elements[0].dims != shapes[0].dims || shapes[1].dims != shapes[2].dims) return;
  Norm norm;
  norm.epsilon = number_in(config, "epsilon", 0);
  if (shapes[0].rank() < 2 || shapes[1].rank() != shapes[0].rank() || shapes[1].dims[0] != 1) return;
  for (int64_t d = 1; d < shapes[0].rank(); ++d) {
    if (shapes[1].dims[static_cast<size_t>(d)] != shapes[0].dims[static_cast<size_t>(d)]) return;
    norm.dims.push_back(d);
  }
  const int64_t rows = shapes[0].dims[0];
  for (size_t k = 1; k < results; ++k)
    if (ir::elements(result.elements[k]) != rows) return;
  edit.begin(id);
  Body body(edit.module(), std::string(edit.module().name_of(edit.instr(id))) + ".norm", with_type(shapes[0], wide(shapes[0].type)));
  const Normed made = normed(body, norm, result.elements[0].type, shapes);
  std::vector<Id> values = {made.y};
  for (size_t k = 1; k < results; ++k) {
    const Id row = body.as(k == 1 ? made.mean : made.factor, result.elements[k].type);
    values.push_back(body.edit().add(Op::reshape, result.elements[k], {row}));
  }
  const Id fusion = fused(edit, body, values, operands);
  std::vector<Id> parts;
  for (size_t k = 0; k < result.elements.size(); ++k) {
    const bool computed = k < results;
    parts.push_back(!computed     ? edit.spread(edit.zero(result.elements[k].type), result.elements[k])
                    : results > 1 ? element(edit, fusion, k)
                                  : fusion);
  }
  edit.become(id, Op::tuple, parts);
}

/// Over the last dimension; ε stands in the configuration as the bits of an f32.
void take_onednn_norm_apart(Editor& edit, Id id) {
  const nlohmann::json config = flat_config(edit.module(), edit.instr(id), "onednn_layer_norm_config");
  const std::string rescale = word_in(config, "rescale");
  const std::vector<Id> operands = edit.instr(id).operands;
  const std::vector<ir::Shape> shapes = shapes_of(edit, operands);
  const bool fuses = config.contains("fusions") && config["fusions"].is_object() && !config["fusions"].empty();
  if (fuses || operands.empty() || edit.shape(id).dims != shapes[0].dims || shapes[0].rank() < 1) return;
  Norm norm{
      {shapes[0].rank() - 1}, 0, rescale == "scale" || rescale == "scale_and_shift", rescale == "shift" || rescale == "scale_and_shift"};
  if (operands.size() != 1U + (norm.scale ? 1 : 0) + (norm.shift ? 1 : 0)) return;
  for (size_t k = 1; k < shapes.size(); ++k)
    if (ir::elements(shapes[k]) != shapes[0].dims.back()) return;
  const double bits = number_in(config, "epsilontypecast", 0);
  if (!(std::abs(bits) <= std::numeric_limits<int32_t>::max())) return;  // no f32's
  norm.epsilon = std::bit_cast<float>(static_cast<int32_t>(bits));
  edit.begin(id);
  Body body(edit.module(), std::string(edit.module().name_of(edit.instr(id))) + ".norm", with_type(shapes[0], wide(shapes[0].type)));
  const Normed made = normed(body, norm, edit.shape(id).type, shapes);
  edit.become(id, fused(edit, body, {made.y}, operands));
}

}  // namespace replay::apart
