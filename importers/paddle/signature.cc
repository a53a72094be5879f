// The table of PIR's operators (paddle/phi/ops/yaml/ops.yaml and backward.yaml give the order of operands and results), and its
// application.
#include "importers/paddle/signature.h"

#include <algorithm>
#include <unordered_map>

#include "importers/paddle/attribute.h"
#include "importers/paddle/lower.h"

namespace importers::paddle {
namespace {

/// Slots in PIR's order, with blanks between. `attributes`: "new=old …". Of several rows of a name the first with room for all operands is
/// taken: later versions have appended or inserted some.
struct Signature {
  std::string_view pir, type, inputs, outputs, attributes = "";
};

constexpr std::string_view kReduce = "axis=dim keepdim=keep_dim dtype=out_dtype";
constexpr std::string_view kXY = "X Y", kGradXY = "X Y Out@GRAD", kXYGrad = "X@GRAD Y@GRAD";
constexpr std::string_view kAdamIn =
    "Param Grad LearningRate Moment1 Moment2 Beta1Pow Beta2Pow MasterParam SkipUpdate Beta1Tensor Beta2Tensor EpsilonTensor";
constexpr std::string_view kAdamOut = "ParamOut Moment1Out Moment2Out Beta1PowOut Beta2PowOut MasterParamOut";
constexpr std::string_view kAdamMaxIn =
    "Param Grad LearningRate Moment1 Moment2 Moment2Max Beta1Pow Beta2Pow MasterParam SkipUpdate Beta1Tensor Beta2Tensor EpsilonTensor";
constexpr std::string_view kAdamMaxOut = "ParamOut Moment1Out Moment2Out Moment2MaxOut Beta1PowOut Beta2PowOut MasterParamOut";

constexpr Signature kSignatures[] = {
    {"adam", "adam", kAdamIn, kAdamOut},
    {"adam", "adam", kAdamMaxIn, kAdamMaxOut},
    {"adamw", "adamw", kAdamIn, kAdamOut},
    {"adamw", "adamw", kAdamMaxIn, kAdamMaxOut},
    {"add", "elementwise_add", kXY, "Out"},
    {"add_grad", "elementwise_add_grad", kGradXY, kXYGrad},
    {"add_n", "sum", "X", "Out"},
    {"all", "reduce_all", "X AxisTensor", "Out", kReduce},
    {"all_reduce", "c_allreduce_sum", "X", "Out"},
    {"any", "reduce_any", "X AxisTensor", "Out", kReduce},
    {"arange", "range", "Start End Step", "Out"},
    {"argmax", "arg_max", "X Axis", "Out"},
    {"assign_out", "assign", "X Output", "Out"},
    {"assign_value", "assign_value", "Output", "Out"},
    {"batch_norm", "batch_norm", "X Mean Variance Scale Bias", "Y MeanOut VarianceOut SavedMean SavedVariance ReserveSpace"},
    {"batch_norm_grad", "batch_norm_grad", "X Scale Bias MeanOut VarianceOut SavedMean SavedVariance ReserveSpace Y@GRAD",
     "X@GRAD Scale@GRAD Bias@GRAD"},
    {"bmm", "bmm", kXY, "Out"},
    {"broadcast", "expand_v2", "X", "Out", "out_shape=shape"},
    {"check_finite_and_unscale", "check_finite_and_unscale", "X Scale", "Out FoundInfinite"},
    {"clip", "clip", "X Min Max", "Out"},
    {"clip_grad", "clip_grad", "X Min Max Out@GRAD", "X@GRAD"},
    {"concat", "concat", "X AxisTensor", "Out"},
    {"concat_grad", "concat_grad", "X Out@GRAD AxisTensor", "X@GRAD"},
    {"conv2d", "conv2d", "Input Filter", "Output"},
    {"conv2d_grad", "conv2d_grad", "Input Filter Output@GRAD", "Input@GRAD Filter@GRAD"},
    {"cross_entropy_with_softmax", "softmax_with_cross_entropy", "Logits Label", "Softmax Loss"},
    {"cross_entropy_with_softmax_grad", "softmax_with_cross_entropy_grad", "Label Softmax Loss@GRAD", "Logits@GRAD"},
    {"cast", "cast", "X", "Out", "dtype=out_dtype"},
    {"cumsum", "cumsum", "X Axis", "Out"},
    {"depthwise_conv2d", "depthwise_conv2d", "Input Filter", "Output"},
    {"divide", "elementwise_div", kXY, "Out"},
    {"divide_grad", "elementwise_div_grad", "X Y Out Out@GRAD", kXYGrad},
    {"dropout", "dropout", "X Seed P", "Out Mask"},
    {"dropout_grad", "dropout_grad", "Mask Out@GRAD P", "X@GRAD"},
    {"elementwise_pow", "elementwise_pow", kXY, "Out"},
    {"embedding", "lookup_table_v2", "Ids W", "Out"},
    {"embedding_grad", "lookup_table_v2_grad", "Ids W Out@GRAD", "W@GRAD"},
    {"expand", "expand_v2", "X Shape", "Out"},
    {"expand_grad", "expand_v2_grad", "X Out@GRAD Shape", "X@GRAD"},
    {"flatten", "flatten_contiguous_range", "X", "Out XShape"},
    {"flatten_grad", "flatten_contiguous_range_grad", "X Out@GRAD", "X@GRAD"},
    {"floor_divide", "elementwise_floordiv", kXY, "Out"},
    {"full", "fill_constant", "", "Out"},
    {"full_like", "fill_any_like", "X ValueTensor", "Out"},
    {"full_with_tensor", "full_with_tensor", "ValueTensor ShapeTensor", "Out"},
    {"gather", "gather", "X Index Axis", "Out"},
    {"hardsigmoid", "hard_sigmoid", "X", "Out"},
    {"hardswish", "hard_swish", "X", "Out"},
    {"hardswish_grad", "hard_swish_grad", "X Out@GRAD", "X@GRAD"},
    {"isfinite", "isfinite_v2", "X", "Out"},
    {"isnan", "isnan_v2", "X", "Out"},
    {"layer_norm", "layer_norm", "X Scale Bias", "Y Mean Variance"},
    {"layer_norm_grad", "layer_norm_grad", "X Scale Bias Mean Variance Y@GRAD", "X@GRAD Scale@GRAD Bias@GRAD"},
    {"masked_select", "masked_select", "X Mask", "Y"},
    {"masked_select_grad", "masked_select_grad", "X Mask Y@GRAD", "X@GRAD"},
    {"matmul", "matmul_v2", kXY, "Out", "transpose_x=trans_x transpose_y=trans_y"},
    {"matmul_grad", "matmul_v2_grad", kGradXY, kXYGrad, "transpose_x=trans_x transpose_y=trans_y"},
    {"max", "reduce_max", "X AxisTensor", "Out", "axis=dim keepdim=keep_dim"},
    {"max_grad", "reduce_max_grad", "X Out Out@GRAD AxisTensor", "X@GRAD", "axis=dim"},
    {"maximum", "elementwise_max", kXY, "Out"},
    {"maximum_grad", "elementwise_max_grad", kGradXY, kXYGrad},
    {"mean", "reduce_mean", "X AxisTensor", "Out", "axis=dim keepdim=keep_dim"},
    {"mean_all", "mean", "X", "Out"},
    {"mean_grad", "reduce_mean_grad", "X Out@GRAD AxisTensor", "X@GRAD", "axis=dim"},
    {"min", "reduce_min", "X AxisTensor", "Out", "axis=dim keepdim=keep_dim"},
    {"min_grad", "reduce_min_grad", "X Out Out@GRAD AxisTensor", "X@GRAD", "axis=dim"},
    {"minimum", "elementwise_min", kXY, "Out"},
    {"minimum_grad", "elementwise_min_grad", kGradXY, kXYGrad},
    {"momentum", "momentum", "Param Grad Velocity LearningRate MasterParam", "ParamOut VelocityOut MasterParamOut"},
    {"mp_allreduce_sum", "c_allreduce_sum", "X", "Out"},
    {"multiply", "elementwise_mul", kXY, "Out"},
    {"multiply_grad", "elementwise_mul_grad", kGradXY, kXYGrad},
    {"one_hot", "one_hot_v2", "X depth_tensor", "Out"},
    {"pool2d", "pool2d", "X KernelSize", "Out"},
    {"pool2d_grad", "pool2d_grad", "X Out Out@GRAD KernelSize", "X@GRAD"},
    {"pow", "pow", "X", "Out", "y=factor"},
    {"pow_grad", "pow_grad", "X Out@GRAD", "X@GRAD", "y=factor"},
    {"prod", "reduce_prod", "X AxisTensor", "Out", "axis=dim keepdim=keep_dim"},
    {"reshape", "reshape2", "X Shape", "Out XShape"},
    {"reshape_grad", "reshape2_grad", "X Out@GRAD", "X@GRAD"},
    {"scale", "scale", "X ScaleTensor", "Out"},
    {"sgd", "sgd", "Param LearningRate Grad MasterParam", "ParamOut MasterParamOut"},
    {"shadow_feed", "assign", "X", "Out"},
    {"silu_grad", "silu_grad", "X Out Out@GRAD", "X@GRAD"},
    {"slice", "slice", "Input StartsTensor EndsTensor", "Out"},
    {"slice_grad", "slice_grad", "Input Out@GRAD StartsTensor EndsTensor", "Input@GRAD"},
    {"split", "split", "X SectionsTensorList AxisTensor", "Out"},
    {"split_with_num", "split", "X AxisTensor", "Out"},
    {"squeeze", "squeeze2", "X AxesTensor", "Out XShape"},
    {"squeeze_grad", "squeeze2_grad", "X Out@GRAD AxesTensor", "X@GRAD"},
    {"stack", "stack", "X", "Y"},
    {"strided_slice", "strided_slice", "Input StartsTensor EndsTensor StridesTensor", "Out"},
    {"subtract", "elementwise_sub", kXY, "Out"},
    {"subtract_grad", "elementwise_sub_grad", kGradXY, kXYGrad},
    {"sum", "reduce_sum", "X AxisTensor", "Out", kReduce},
    {"sum_grad", "reduce_sum_grad", "X Out@GRAD AxisTensor", "X@GRAD", "axis=dim"},
    {"swiglu", "swiglu", kXY, "Out"},
    {"swiglu_grad", "swiglu_grad", kGradXY, kXYGrad},
    {"tile", "tile", "X RepeatTimes", "Out"},
    {"topk", "top_k_v2", "X K", "Out Indices"},
    {"transpose", "transpose2", "X", "Out XShape", "perm=axis"},
    {"transpose_grad", "transpose2_grad", "Out@GRAD", "X@GRAD", "perm=axis"},
    {"tril", "tril_triu", "X", "Out"},
    {"unsqueeze", "unsqueeze2", "X AxesTensor", "Out XShape"},
    {"unsqueeze_grad", "unsqueeze2_grad", "X Out@GRAD AxesTensor", "X@GRAD"},
    {"update_loss_scaling", "update_loss_scaling", "X FoundInfinite PrevLossScaling InGoodSteps InBadSteps StopUpdate",
     "Out LossScaling OutGoodSteps OutBadSteps"},
    {"where_grad", "where_grad", "Condition X Y Out@GRAD", kXYGrad},
};

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// A signature with its slots taken apart.
struct Slots {
  const Signature* signature;
  std::vector<std::string_view> inputs, outputs;
};

const std::unordered_multimap<std::string_view, Slots>& signatures() {
  static const auto kIndex = [] {
    std::unordered_multimap<std::string_view, Slots> index;
    for (const Signature& row : kSignatures) index.emplace(row.pir, Slots{&row, words(row.inputs), words(row.outputs)});
    return index;
  }();
  return kIndex;
}

/// The tightest signature that has room for the operands.
const Slots* find_signature(std::string_view type, size_t operands) {
  const Slots* best = nullptr;
  const auto [first, last] = signatures().equal_range(type);
  for (auto it = first; it != last; ++it) {
    const size_t room = it->second.inputs.size();
    if (room >= operands && (best == nullptr || room < best->inputs.size())) best = &it->second;
  }
  return best;
}

/// Names for what stands in one slot; what is left over keeps the last name.
std::vector<Slot> named(const std::vector<Slot>& given, const std::vector<std::string_view>& all) {
  std::vector<Slot> slots;
  if (given.empty() || all.empty()) return slots;
  for (size_t k = 0; k < given[0].arguments.size(); ++k) {
    if (k < all.size()) slots.push_back({all[k], {}});
    if (!given[0].arguments[k].empty()) slots.back().arguments.push_back(given[0].arguments[k]);
  }
  return slots;
}

void rename(std::vector<Attribute>& attributes, std::string_view pairs) {
  for (const std::string_view pair : words(pairs)) {
    const size_t equals = pair.find('=');
    for (Attribute& attribute : attributes) {
      if (attribute.name == pair.substr(0, equals)) attribute.name = pair.substr(equals + 1);
    }
  }
}

std::string_view without_dialect(std::string_view type) {
  const size_t kernel = type.find('(');
  if (kernel != std::string_view::npos) type = type.substr(0, kernel);
  const size_t dot = type.find('.');
  return dot == std::string_view::npos || type.starts_with("builtin.") || type.starts_with("cf.") ? type : type.substr(dot + 1);
}

/// `XOut` takes the memory of `X`, what else there is that of the first operand.
void find_aliases(Normal& normal) {
  const auto has = [&](std::string_view slot) {
    return std::ranges::find(normal.op().inputs, slot, &Slot::name) != normal.op().inputs.end();
  };
  for (const Slot& out : normal.op().outputs) {
    const std::string_view stem =
        out.name.size() > 3 && out.name.ends_with("Out") ? out.name.substr(0, out.name.size() - 3) : std::string_view("X");
    if (has(stem)) normal.aliases.emplace_back(out.name, stem);
  }
}

}  // namespace

std::string_view shown_type(const Operator& op) {
  if (op.type.find('(') == std::string_view::npos) return without_dialect(op.type);
  const std::string_view given = text_of(op.attribute("op_name"));
  return without_dialect(given.empty() ? op.type : given);
}

std::string_view plain_type(const Operator& op) {
  std::string_view type = shown_type(op);
  if (type.size() > 1 && type.ends_with('_')) type.remove_suffix(1);
  return type;
}

Normal normal(const Operator& op, Form form) {
  Normal normal{&op, nullptr, {}};
  if (form == Form::readable || form == Form::protobuf) return normal;
  normal.renamed = std::make_unique<Operator>();
  Operator& renamed = *normal.renamed;
  renamed.id = op.id, renamed.attributes = op.attributes, renamed.distribution = op.distribution, renamed.blocks = op.blocks;
  renamed.file = op.file, renamed.file_line = op.file_line, renamed.offset = op.offset, renamed.number = op.number;
  const bool in_place = shown_type(op).ends_with('_');
  const std::string_view type = plain_type(op);
  renamed.type = type;
  const bool has_names = type.starts_with("builtin.") || type.starts_with("cf.") || op.inputs.size() > 1;
  const size_t operands = op.inputs.empty() ? 0 : op.inputs[0].arguments.size();
  const Slots* slots = has_names ? nullptr : find_signature(type, operands);
  const Row* row = has_names || slots != nullptr ? nullptr : find_row(type);
  if (slots != nullptr) {
    renamed.type = slots->signature->type;
    renamed.inputs = named(op.inputs, slots->inputs);
    renamed.outputs = named(op.outputs, slots->outputs);
    rename(renamed.attributes, slots->signature->attributes);
  } else if (row != nullptr) {
    renamed.inputs = named(op.inputs, words(row->needs));
    renamed.outputs = named(op.outputs, {type.ends_with("_grad") ? "X@GRAD" : "Out"});
  } else {
    renamed.inputs = op.inputs;
    renamed.outputs = op.outputs;
  }
  if (in_place && !has_names) find_aliases(normal);
  return normal;
}

}  // namespace importers::paddle
