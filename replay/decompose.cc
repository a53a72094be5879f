// One row a target. A call becomes: the product in f32 (a call or a dot, which the devices have libraries for), a fusion that does the
// rest and rounds once, and what the call's tuple holds beside its result.
#include "replay/decompose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

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
Id where_positive(Body& b, Id x, Id otherwise) {
  const ir::Shape pred = with_type(b.shape(), ir::Type::pred);
  const Id positive = b.edit().add(Op::compare, pred, {x, b.constant(0)}, {{"direction", "GT"}});
  return b.edit().add(Op::select, b.shape(), {positive, x, otherwise});
}
Id elu(Body& b, Id x, double) { return where_positive(b, x, b.op(Op::exponential_minus_one, x)); }
Id leaky_relu(Body& b, Id x, double slope) { return where_positive(b, x, b.op(Op::multiply, x, b.constant(slope))); }

using Activation = Id (*)(Body&, Id, double slope);

/// The first result of a call in f32, with what follows the first `results` ones.
ir::Shape product_shape(const ir::Shape& shape, size_t results) {
  if (!shape.is_tuple()) return with_type(shape, wide(shape.type));
  std::vector<ir::Shape> parts = {with_type(shape.elements[0], wide(shape.elements[0].type))};
  parts.insert(parts.end(), shape.elements.begin() + static_cast<std::ptrdiff_t>(results), shape.elements.end());
  return ir::tuple_shape(parts);
}

void set_attr(Editor& edit, Id id, std::string_view key, const std::string& text) {
  for (ir::Attr& attr : edit.instr(id).attrs) {
    if (edit.module().text(attr.key) == key) attr.text = edit.module().strings.intern(text);
  }
}

// ---- cuBLASLt

struct Epilogue {
  std::string_view name;
  Activation apply;
  bool bias = false, aux = false;
};
constexpr Epilogue kEpilogues[] = {
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

void take_matmul_apart(Editor& edit, Id id) {
  const auto config = ir::gemm_config(edit.module(), edit.instr(id));
  if (!config.ok()) return;
  const auto epilogue = std::ranges::find(kEpilogues, config->epilogue, &Epilogue::name);
  std::vector<Id> operands = edit.instr(id).operands;
  const ir::Shape shape = edit.shape(id), result = shape.is_tuple() ? shape.elements.at(0) : shape;
  const size_t inputs = config->beta != 0 ? 3 : 2;
  if (epilogue == std::end(kEpilogues) || ir::is_complex(result.type) || operands.size() != inputs + (epilogue->bias ? 1 : 0)) return;
  if (epilogue->aux && (!shape.is_tuple() || shape.elements.size() < 2)) return;
  const Id bias = operands.back();
  if (epilogue->bias && (edit.shape(bias).rank() != 1 || edit.shape(bias).dims != std::vector{result.dims.back()})) return;
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
  Id x = body.parameter(body.shape());
  if (epilogue->bias) {
    arguments.push_back(bias);
    x = body.op(Op::add, x, body.spread(body.parameter(edit.shape(bias)), {result.rank() - 1}));
  }
  std::vector<Id> results = {body.as(epilogue->apply(body, x, 0), result.type)};
  if (epilogue->aux) results.push_back(body.as(x, shape.elements[1].type));
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

void take_convolution_apart(Editor& edit, Id id) {
  const nlohmann::json config = flat_config(edit, id, "cudnn_conv_backend_config");
  const std::string word = word_in(config, "activationmode");
  const auto mode = std::ranges::find_if(kModes, [&](const Mode& m) { return m.name == word || m.number == word; });
  const ir::Shape shape = edit.shape(id), result = shape.is_tuple() ? shape.elements.at(0) : shape;
  const auto labels = ir::attr_conv_dims(edit.module(), edit.instr(id));
  const std::vector<Id> operands = edit.instr(id).operands;
  if (mode == std::end(kModes) || !labels.ok() || operands.size() < 3 || operands.size() > 4 || !ir::is_float(edit.shape(operands[0]).type))
    return;
  const int64_t features = result.dims.at(static_cast<size_t>(labels->out_feature));
  if (edit.shape(operands[2]).dims != std::vector{features}) return;
  if (operands.size() == 4 && edit.shape(operands[3]).dims != result.dims) return;
  edit.begin(id);
  const Id product = edit.copy_of(id);
  edit.instr(product).shape = edit.module().intern(product_shape(shape, 1));
  edit.instr(product).operands.resize(2);
  set_attr(edit, product, "custom_call_target", "\"__cudnn$convForward\"");
  set_attr(edit, product, "backend_config", "\"{}\"");
  Body body(edit.module(), fmt::format("{}.epilogue", edit.module().name_of(edit.instr(id))), with_type(result, wide(result.type)));
  std::vector<Id> arguments = {shape.is_tuple() ? element(edit, product, 0) : product, operands[2]};
  Id x = body.scaled(body.parameter(body.shape()), number_in(config, "convresultscale", 1));
  const Id bias = body.spread(body.parameter(edit.shape(operands[2])), {labels->out_feature});
  if (operands.size() == 4) {
    arguments.push_back(operands[3]);
    const Id side = body.as(body.parameter(edit.shape(operands[3])), body.shape().type);
    x = body.op(Op::add, x, body.scaled(side, number_in(config, "sideinputscale", 1)));
  }
  x = mode->apply(body, body.op(Op::add, x, bias), number_in(config, "leakyrelualpha", 0));
  become_result(edit, id, {fused(edit, body, {body.as(x, result.type)}, arguments)}, product);
}

struct Row {
  std::string_view target;
  void (*take_apart)(Editor&, Id);
};
constexpr Row kRows[] = {{"__cublas$lt$matmul", take_matmul_apart},     {"__cudnn$convBiasActivationForward", take_convolution_apart},
                         {"__cudnn$fmhaSoftmax", take_attention_apart}, {"__cudnn$fmhaScaleBiasSoftmax", take_attention_apart},
                         {"__cudnn$norm", take_cudnn_norm_apart},       {"__onednn$layernorm", take_onednn_norm_apart}};

const Row* row_of(const ir::Module& module, const ir::Instr& instr) {
  if (instr.op != Op::custom_call) return nullptr;
  const auto row = std::ranges::find(kRows, ir::attr_string(module, instr, "custom_call_target"), &Row::target);
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

std::shared_ptr<const ir::Module> with_calls_as_ops(const ir::Module& module) {
  std::shared_ptr<ir::Module> made;
  bool changed = false;
  for (size_t c = 0; c < module.computations.size(); ++c) {
    for (size_t i = 0; i < module.computations[c].instrs.size(); ++i) {
      const Row* row = row_of(module, module.computations[c].instrs[i]);
      if (row == nullptr) continue;
      if (made == nullptr) made = std::make_shared<ir::Module>(module);
      Editor edit(*made, static_cast<ir::CompId>(c));
      row->take_apart(edit, static_cast<Id>(i));
      changed = changed || edit.instr(static_cast<Id>(i)).op != Op::custom_call;
    }
  }
  return changed ? made : nullptr;
}

}  // namespace replay
