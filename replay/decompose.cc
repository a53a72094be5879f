// One row a target. A call becomes: the product in f32 (a call or a dot, which the devices have libraries for), a fusion that does the
// rest and rounds once, and what the call's tuple holds beside its result; or one fusion, for devices that know the call.
#include "replay/decompose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "replay/decompose_body.h"
#include "src/ir/attr.h"

namespace replay {

using namespace apart;

namespace {

using ir::Op;

// ---- activations

Id identity(Body&, Id x, double) { return x; }
Id relu(Body& b, Id x, double) { return b.op(Op::maximum, x, b.constant(0)); }
Id relu6(Body& b, Id x, double) { return b.op(Op::minimum, relu(b, x, 0), b.constant(6)); }
Id tanh(Body& b, Id x, double) { return b.op(Op::tanh, x); }
Id sigmoid(Body& b, Id x, double) { return b.op(Op::logistic, x); }
Id silu(Body& b, Id x, double) { return b.op(Op::multiply, x, b.op(Op::logistic, x)); }
/// x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))): the form that cuBLASLt has.
Id gelu(Body& b, Id x, double) {
  const Id cube = b.op(Op::multiply, x, b.op(Op::multiply, x, x));
  const Id inner = b.op(Op::add, x, b.scaled(cube, 0.044715));
  const Id one = b.op(Op::add, b.op(Op::tanh, b.scaled(inner, std::sqrt(2 / std::numbers::pi))), b.constant(1));
  return b.op(Op::multiply, b.scaled(x, 0.5), one);
}
Id elu(Body& b, Id x, double) { return where_positive(b, x, b.op(Op::exponential_minus_one, x)); }
Id leaky_relu(Body& b, Id x, double slope) { return where_positive(b, x, b.op(Op::multiply, x, b.constant(slope))); }

using Activation = Id (*)(Body&, Id, double slope);

// ---- cuBLASLt

struct FollowUp {
  std::string_view name;
  Activation apply;
  bool bias = false, aux = false;
};
constexpr FollowUp kEpilogues[] = {
    {"DEFAULT", identity},
    {"BIAS", identity, true},
    {"RELU", relu},
    {"BIAS_RELU", relu, true},
    {"GELU", gelu},
    {"BIAS_GELU", gelu, true},
    {"GELU_AUX", gelu, false, true},
    {"BIAS_GELU_AUX", gelu, true, true},
    {"SILU", silu},
    {"BIAS_SILU", silu, true},
};

/// The configuration as it is written, with another epilogue.
std::string plain_config(std::string_view text, std::string_view epilogue) {
  std::string out(text);
  const size_t key = out.find("epilogue"), at = key == std::string::npos ? key : out.find(epilogue, key + 8);
  return at == std::string::npos ? out : out.replace(at, epilogue.size(), "DEFAULT");
}

const FollowUp* follow_up_of(std::string_view name) {
  const auto found = std::ranges::find(kEpilogues, name, &FollowUp::name);
  return found == std::end(kEpilogues) ? nullptr : found;
}

/// The call's results from what goes into its epilogue; `bias` is the shape of the body's next parameter, where there is one.
std::vector<Id> followed(Body& body, const FollowUp& epilogue, Id x, const ir::Shape& bias, const ir::Shape& call) {
  const ir::Shape& result = call.is_tuple() ? call.elements[0] : call;
  if (epilogue.bias) x = body.op(Op::add, x, body.spread(body.parameter(bias), {result.rank() - 1}));
  std::vector<Id> results = {body.as(epilogue.apply(body, x, 0), result.type)};
  if (epilogue.aux) results.push_back(body.as(x, call.elements[1].type));
  return results;
}

/// A call of cuBLASLt, read.
struct Matmul {
  ir::GemmConfig config;
  const FollowUp* epilogue = nullptr;
  std::vector<Id> operands;  ///< as the call has them: A, B, C where beta is not 0, factors of A and B where they are f8, the bias
  size_t inputs = 2;         ///< A, B, and C
  ir::Shape shape, result;
};

/// Nothing: a form that is not known.
std::optional<Matmul> matmul_of(Editor& edit, Id id, size_t factors) {
  const auto config = ir::gemm_config(edit.module(), edit.instr(id));
  if (!config.ok()) return std::nullopt;
  Matmul m{*config, follow_up_of(config->epilogue), edit.instr(id).operands, size_t{2} + (config->beta != 0 ? 1 : 0), edit.shape(id), {}};
  const std::optional<ir::Shape> result = first_result(m.shape);
  if (!result || result->dims.empty()) return std::nullopt;
  m.result = *result;
  if (m.epilogue == nullptr || ir::is_complex(m.result.type)) return std::nullopt;
  if (m.operands.size() != m.inputs + factors + (m.epilogue->bias ? 1 : 0)) return std::nullopt;
  if (m.epilogue->aux && (!m.shape.is_tuple() || m.shape.elements.size() < 2 || m.shape.elements[1].dims != m.result.dims))
    return std::nullopt;
  const ir::Shape& last = edit.shape(m.operands.back());
  if (m.epilogue->bias && (last.rank() != 1 || last.dims != std::vector{m.result.dims.back()})) return std::nullopt;
  return m;
}

/// The call becomes the fusion with this body, which takes the call's operands and keeps what the call says of itself. What the call's
/// tuple holds behind its results is workspace: zeros here.
void end_one_fusion(Editor& edit, Id id, Body& body, std::vector<Id> results) {
  const ir::Instr call = edit.instr(id);
  const ir::Shape shape = edit.shape(id);
  for (size_t k = results.size(); shape.is_tuple() && k < shape.elements.size(); ++k)
    results.push_back(body.edit().spread(body.edit().zero(shape.elements[k].type), shape.elements[k]));
  const Id made = fused(edit, body, results, call.operands);
  static constexpr std::string_view kKept[] = {"custom_call_target", "backend_config", "window", "dim_labels", "feature_group_count"};
  for (const ir::Attr& attr : call.attrs)
    if (std::ranges::find(kKept, edit.module().text(attr.key)) != std::end(kKept)) edit.instr(made).attrs.push_back(attr);
  if (!shape.is_tuple()) return edit.become(id, made);
  if (results.size() == 1) return edit.become(id, Op::tuple, {made});
  std::vector<Id> parts;
  for (size_t k = 0; k < results.size(); ++k) parts.push_back(element(edit, made, k));
  edit.become(id, Op::tuple, parts);
}

/// The call as one fusion, which computes in f32.
void make_one_fusion(Editor& edit, Id id, const Matmul& m, size_t factors) {
  edit.begin(id);
  const ir::Type type = wide(m.result.type);
  Body body(edit.module(), fmt::format("{}.whole", edit.module().name_of(edit.instr(id))), with_type(m.result, type));
  std::vector<Id> given;
  for (size_t k = 0; k < m.inputs + factors; ++k) given.push_back(body.parameter(edit.shape(m.operands[k])));
  const ir::DotDims& dims = m.config.dims;
  const auto factor = [&](size_t k, Id x) {  // by a scalar of its own
    const Id scalar = body.as(given[m.inputs + k], type);
    return body.op(Op::multiply, x, body.spread(body.edit().add(Op::reshape, ir::array_shape(type, {}), {scalar}), {}));
  };
  Id x = body.edit().add(Op::dot, body.shape(), {given[0], given[1]},
                         {{"lhs_batch_dims", braced(dims.lhs_batch)},
                          {"lhs_contracting_dims", braced(dims.lhs_contracting)},
                          {"rhs_batch_dims", braced(dims.rhs_batch)},
                          {"rhs_contracting_dims", braced(dims.rhs_contracting)}});
  for (size_t k = 0; k < factors; ++k) x = factor(k, x);
  x = body.scaled(x, m.config.alpha);
  if (m.inputs == 3) x = body.op(Op::add, x, body.scaled(body.as(given[2], type), m.config.beta));
  end_one_fusion(edit, id, body, followed(body, *m.epilogue, x, edit.shape(m.operands.back()), m.shape));
}

void take_matmul_apart(Editor& edit, Id id);

/// SILU is an epilogue of other libraries only.
void make_matmul_whole(Editor& edit, Id id) {
  const auto m = matmul_of(edit, id, 0);
  if (m && m->epilogue->name.ends_with("SILU")) return take_matmul_apart(edit, id);
  if (m && m->epilogue->name != "DEFAULT") make_one_fusion(edit, id, *m, 0);
}

/// f8: a product of what is stored, times a factor of A and one of B. Results in f8 have a factor of their own, and stay calls.
void make_f8_matmul_whole(Editor& edit, Id id) {
  const auto m = matmul_of(edit, id, 2);
  if (m && (m->result.type == ir::Type::f32 || m->result.type == ir::Type::f16 || m->result.type == ir::Type::bf16))
    make_one_fusion(edit, id, *m, 2);
}

void take_matmul_apart(Editor& edit, Id id) {
  const std::optional<Matmul> m = matmul_of(edit, id, 0);
  if (!m || m->epilogue->name == "DEFAULT") return;
  const auto& [config, epilogue, all, inputs, shape, result] = *m;
  std::vector<Id> operands = all;
  const Id bias = operands.back();
  edit.begin(id);
  operands.resize(inputs);
  const ir::Type type = wide(result.type);
  if (inputs == 3 && edit.shape(operands[2]).type != type)
    operands[2] = edit.add(Op::convert, with_type(edit.shape(operands[2]), type), {operands[2]});
  const Id product = edit.copy_of(id);
  edit.instr(product).shape = edit.module().intern(product_shape(shape, epilogue->aux ? 2 : 1));
  edit.instr(product).operands = operands;
  set_attr(edit, product, "backend_config",
           plain_config(ir::attr_text(edit.module(), edit.instr(product), "backend_config").value_or(""), epilogue->name));
  Body body(edit.module(), fmt::format("{}.epilogue", edit.module().name_of(edit.instr(id))), with_type(result, type));
  std::vector<Id> arguments = {shape.is_tuple() ? element(edit, product, 0) : product};
  const Id x = body.parameter(body.shape());
  if (epilogue->bias) arguments.push_back(bias);
  const std::vector<Id> results = followed(body, *epilogue, x, edit.shape(bias), shape);
  const Id made = fused(edit, body, results, arguments);
  std::vector<Id> parts = {made};
  if (epilogue->aux) parts = {element(edit, made, 0), element(edit, made, 1)};
  become_result(edit, id, parts, product);
}

// ---- cuDNN's convolutions

struct Mode {
  std::string_view name, number;
  Activation apply;
};
constexpr Mode kModes[] = {{"knone", "0", identity}, {"ksigmoid", "1", sigmoid}, {"krelu", "2", relu},           {"krelu6", "3", relu6},
                           {"ktanh", "5", tanh},     {"kelu", "7", elu},         {"kleakyrelu", "8", leaky_relu}};

/// A forward call with what follows its sums, read: a factor, a bias, a side input, an activation.
struct BiasedConvolution {
  nlohmann::json config;
  const Mode* mode = nullptr;
  std::vector<Id> operands;  ///< x, w, and perhaps the bias, and perhaps the side input
  ir::Shape shape, result;
  int64_t feature = 0;  ///< dimension of the result
  double slope() const { return number_in(config, "leakyrelualpha", 0); }
};

/// Nothing: a form that is not known.
std::optional<BiasedConvolution> biased_convolution_of(Editor& edit, Id id) {
  BiasedConvolution c{
      flat_config(edit.module(), edit.instr(id), "cudnn_conv_backend_config"), nullptr, edit.instr(id).operands, edit.shape(id), {}};
  const std::string word = edit.instr(id).operands.size() > 2 ? word_in(c.config, "activationmode") : "knone";
  c.mode = std::ranges::find_if(kModes, [&](const Mode& m) { return m.name == word || m.number == word; });
  const std::optional<ir::Shape> result = first_result(c.shape);
  const auto labels = ir::attr_conv_dims(edit.module(), edit.instr(id));
  const std::vector<Id>& all = c.operands;
  if (c.mode == std::end(kModes) || !labels.ok() || all.size() < 2 || all.size() > 4) return std::nullopt;
  const ir::Type type = edit.shape(all[0]).type;
  if (!ir::is_float(type) && type != ir::Type::s8) return std::nullopt;
  if (!result || result->rank() != labels->out_rank) return std::nullopt;
  c.result = *result;
  c.feature = labels->out_feature;
  if (all.size() > 2 && edit.shape(all[2]).dims != std::vector{c.result.dims.at(static_cast<size_t>(c.feature))}) return std::nullopt;
  if (all.size() == 4 && edit.shape(all[3]).dims != c.result.dims) return std::nullopt;
  return c;
}

/// As cuDNN stores bytes: the nearest whole number, the last of the type for those beyond.
Id stored(Body& body, Id x, ir::Type type) {
  if (type != ir::Type::s8) return body.as(x, type);
  const Id whole = body.op(Op::round_nearest_even, x);
  return body.as(body.op(Op::minimum, body.op(Op::maximum, whole, body.constant(-128)), body.constant(127)), type);
}

/// The call's result from the sums `x`; bias and side input are the body's next parameters.
Id biased(Editor& edit, Body& body, const BiasedConvolution& c, Id x) {
  x = body.scaled(x, number_in(c.config, "convresultscale", 1));
  if (c.operands.size() == 2) return stored(body, x, c.result.type);
  const Id bias = body.spread(body.parameter(edit.shape(c.operands[2])), {c.feature});
  if (c.operands.size() == 4) {
    const Id side = body.as(body.parameter(edit.shape(c.operands[3])), body.shape().type);
    x = body.op(Op::add, x, body.scaled(side, number_in(c.config, "sideinputscale", 1)));
  }
  return stored(body, c.mode->apply(body, body.op(Op::add, x, bias), c.slope()), c.result.type);
}

void take_convolution_apart(Editor& edit, Id id) {
  const auto c = biased_convolution_of(edit, id);
  if (!c) return;
  edit.begin(id);
  const Id product = plain_convolution(edit, id);
  Body body(edit.module(), fmt::format("{}.epilogue", edit.module().name_of(edit.instr(id))), with_type(c->result, wide(c->result.type)));
  std::vector<Id> arguments = {c->shape.is_tuple() ? element(edit, product, 0) : product};
  arguments.insert(arguments.end(), c->operands.begin() + 2, c->operands.end());
  const Id x = body.parameter(body.shape());
  become_result(edit, id, {fused(edit, body, {biased(edit, body, *c, x)}, arguments)}, product);
}

/// Without a bias: what multiplies its sums, or stores bytes, is more than a sum.
void take_plain_convolution_apart(Editor& edit, Id id) {
  const auto c = biased_convolution_of(edit, id);
  if (c && (c->result.type == ir::Type::s8 || number_in(c->config, "convresultscale", 1) != 1)) take_convolution_apart(edit, id);
}

/// What cuDNN does in one call: activations that bend at 0, a side input that lies as the result does; with bytes it is not asked.
void make_convolution_whole(Editor& edit, Id id) {
  const auto c = biased_convolution_of(edit, id);
  if (!c) return;
  const bool bends = c->mode->name == "knone" || c->mode->name.find("relu") != std::string_view::npos;
  if (!bends || !ir::is_float(edit.shape(c->operands[0]).type) ||
      (c->operands.size() == 4 && !ir::same_physical(edit.shape(c->operands[3]), c->result)))
    return take_convolution_apart(edit, id);
  edit.begin(id);
  Body body(edit.module(), fmt::format("{}.whole", edit.module().name_of(edit.instr(id))), with_type(c->result, wide(c->result.type)));
  const Id x = body.parameter(edit.shape(c->operands[0])), w = body.parameter(edit.shape(c->operands[1]));
  const Id sums = body.edit().add(Op::convolution, body.shape(), {x, w});
  for (const ir::Attr& attr : edit.instr(id).attrs) {
    const std::string_view key = edit.module().text(attr.key);
    if (key == "window" || key == "dim_labels" || key == "feature_group_count") body.edit().instr(sums).attrs.push_back(attr);
  }
  end_one_fusion(edit, id, body, {biased(edit, body, *c, sums)});
}

struct Row {
  std::string_view target;
  void (*take_apart)(Editor&, Id);
  void (*make_whole)(Editor&, Id) = take_apart;
};
constexpr Row kRows[] = {{"__cublas$lt$matmul", take_matmul_apart, make_matmul_whole},
                         {"__cublas$lt$matmul$f8", make_f8_matmul_whole},
                         {"__cudnn$convBiasActivationForward", take_convolution_apart, make_convolution_whole},
                         {"__cudnn$convForward", take_plain_convolution_apart},
                         {"__cudnn$convForwardGraph", take_convolution_graph_apart},
                         {"__cudnn$fmhaSoftmax", take_attention_apart},
                         {"__cudnn$fmhaScaleBiasSoftmax", take_attention_apart},
                         {"__cudnn$norm", take_cudnn_norm_apart},
                         {"__onednn$layernorm", take_onednn_norm_apart},
                         {"SPMDFullToShardShape", take_shards_apart},
                         {"SPMDShardToFullShape", take_shards_apart},
                         {"xla.sdy.GlobalToLocalShape", take_shards_apart},
                         {"xla.sdy.LocalToGlobalShape", take_shards_apart}};

const Row* row_of(const ir::Module& module, const ir::Instr& instr) {
  if (instr.op != Op::custom_call) return nullptr;
  const auto row = std::ranges::find(kRows, ir::attr_string(module, instr, "custom_call_target"), &Row::target);
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

std::shared_ptr<const ir::Module> with_calls_as_ops(const ir::Module& module, Products products) {
  std::shared_ptr<ir::Module> made;
  bool changed = false;
  for (size_t c = 0; c < module.computations.size(); ++c) {
    for (size_t i = 0; i < module.computations[c].instrs.size(); ++i) {
      const Row* row = row_of(module, module.computations[c].instrs[i]);
      if (row == nullptr) continue;
      if (made == nullptr) made = std::make_shared<ir::Module>(module);
      Editor edit(*made, static_cast<ir::CompId>(c));
      (products == Products::whole ? row->make_whole : row->take_apart)(edit, static_cast<Id>(i));
      changed = changed || edit.instr(static_cast<Id>(i)).op != Op::custom_call;
    }
  }
  return changed ? made : nullptr;
}

}  // namespace replay
