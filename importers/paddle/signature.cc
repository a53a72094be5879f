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
constexpr std::string_view kResize = "X OutSize SizeTensor Scale", kResizeGrad = "X OutSize SizeTensor Scale Out@GRAD";
constexpr std::string_view kXY = "X Y", kGradXY = "X Y Out@GRAD", kXYGrad = "X@GRAD Y@GRAD";
constexpr std::string_view kAdamIn =
    "Param Grad LearningRate Moment1 Moment2 Beta1Pow Beta2Pow MasterParam SkipUpdate Beta1Tensor Beta2Tensor EpsilonTensor";
constexpr std::string_view kAdamOut = "ParamOut Moment1Out Moment2Out Beta1PowOut Beta2PowOut MasterParamOut";
constexpr std::string_view kAdamMaxIn =
    "Param Grad LearningRate Moment1 Moment2 Moment2Max Beta1Pow Beta2Pow MasterParam SkipUpdate Beta1Tensor Beta2Tensor EpsilonTensor";
constexpr std::string_view kAdamMaxOut = "ParamOut Moment1Out Moment2Out Moment2MaxOut Beta1PowOut Beta2PowOut MasterParamOut";

constexpr Signature kSignatures[] = {
    {"adadelta", "adadelta", "Param Grad AvgSquaredGrad AvgSquaredUpdate LearningRate MasterParam",
     "ParamOut AvgSquaredGradOut AvgSquaredUpdateOut MasterParamOut"},
    {"adagrad", "adagrad", "Param Grad Moment LearningRate MasterParam", "ParamOut MomentOut MasterParamOut"},
    {"adam", "adam", kAdamIn, kAdamOut},
    {"adam", "adam", kAdamMaxIn, kAdamMaxOut},
    {"adamax", "adamax", "Param Grad LearningRate Moment InfNorm Beta1Pow MasterParam", "ParamOut MomentOut InfNormOut MasterParamOut"},
    {"adamw", "adamw", kAdamIn, kAdamOut},
    {"adamw", "adamw", kAdamMaxIn, kAdamMaxOut},
    {"add", "elementwise_add", kXY, "Out"},
    {"add_grad", "elementwise_add_grad", kGradXY, kXYGrad},
    {"add_n", "sum", "X", "Out"},
    {"all", "reduce_all", "X AxisTensor", "Out", kReduce},
    {"all_reduce", "c_allreduce_sum", "X", "Out"},
    {"amax", "reduce_amax", "X", "Out", "axis=dim keepdim=keep_dim"},
    {"amax_grad", "reduce_amax_grad", "X Out Out@GRAD", "X@GRAD", "axis=dim"},
    {"amin", "reduce_amin", "X", "Out", "axis=dim keepdim=keep_dim"},
    {"amin_grad", "reduce_amin_grad", "X Out Out@GRAD", "X@GRAD", "axis=dim"},
    {"any", "reduce_any", "X AxisTensor", "Out", kReduce},
    {"arange", "range", "Start End Step", "Out"},
    {"argmax", "arg_max", "X Axis", "Out"},
    {"argsort", "argsort", "X", "Out Indices"},
    {"argsort_grad", "argsort_grad", "Indices X Out@GRAD", "X@GRAD"},
    {"assign_out", "assign", "X Output", "Out"},
    {"assign_value", "assign_value", "Output", "Out"},
    {"atan2_grad", "atan2_grad", kGradXY, kXYGrad},
    {"batch_norm", "batch_norm", "X Mean Variance Scale Bias", "Y MeanOut VarianceOut SavedMean SavedVariance ReserveSpace"},
    {"batch_norm_grad", "batch_norm_grad", "X Scale Bias MeanOut VarianceOut SavedMean SavedVariance ReserveSpace Y@GRAD",
     "X@GRAD Scale@GRAD Bias@GRAD"},
    {"bicubic_interp", "bicubic_interp", kResize, "Out"},
    {"bicubic_interp_grad", "bicubic_interp_grad", kResizeGrad, "X@GRAD"},
    {"bilinear_interp", "bilinear_interp", kResize, "Out"},
    {"bilinear_interp_grad", "bilinear_interp_grad", kResizeGrad, "X@GRAD"},
    {"bmm", "bmm", kXY, "Out"},
    {"bmm_grad", "bmm_grad", kGradXY, kXYGrad},
    {"broadcast", "expand_v2", "X", "Out", "out_shape=shape"},
    {"c_embedding", "c_embedding", "W Ids", "Out"},
    {"c_embedding_grad", "c_embedding_grad", "W Ids Out@GRAD", "W@GRAD"},
    {"c_softmax_with_cross_entropy", "c_softmax_with_cross_entropy", "Logits Label", "Softmax Loss"},
    {"c_softmax_with_cross_entropy_grad", "c_softmax_with_cross_entropy_grad", "Softmax Label Loss@GRAD", "Logits@GRAD"},
    {"cast", "cast", "X", "Out", "dtype=out_dtype"},
    {"celu_grad", "celu_grad", "X Out@GRAD", "X@GRAD"},
    {"check_finite_and_unscale", "check_finite_and_unscale", "X Scale", "Out FoundInfinite"},
    {"clip", "clip", "X Min Max", "Out"},
    {"clip_grad", "clip_grad", "X Out@GRAD Min Max", "X@GRAD"},
    {"concat", "concat", "X AxisTensor", "Out"},
    {"concat_grad", "concat_grad", "X Out@GRAD AxisTensor", "X@GRAD"},
    {"conv2d", "conv2d", "Input Filter", "Output"},
    {"conv2d_grad", "conv2d_grad", "Input Filter Output@GRAD", "Input@GRAD Filter@GRAD"},
    {"conv2d_transpose", "conv2d_transpose", "Input Filter OutputSize", "Output"},
    {"conv2d_transpose_grad", "conv2d_transpose_grad", "Input Filter Output@GRAD OutputSize", "Input@GRAD Filter@GRAD"},
    {"conv3d", "conv3d", "Input Filter", "Output"},
    {"conv3d_grad", "conv3d_grad", "Input Filter Output@GRAD", "Input@GRAD Filter@GRAD"},
    {"conv3d_transpose", "conv3d_transpose", "Input Filter OutputSize", "Output"},
    {"conv3d_transpose_grad", "conv3d_transpose_grad", "Input Filter Output@GRAD OutputSize", "Input@GRAD Filter@GRAD"},
    {"cross_entropy_with_softmax", "softmax_with_cross_entropy", "Logits Label", "Softmax Loss"},
    {"cross_entropy_with_softmax_grad", "softmax_with_cross_entropy_grad", "Label Softmax Loss@GRAD", "Logits@GRAD"},
    {"cumprod_grad", "cumprod_grad", "X Out Out@GRAD", "X@GRAD"},
    {"cumsum", "cumsum", "X Axis", "Out"},
    {"cumsum_grad", "cumsum_grad", "X Out@GRAD Axis", "X@GRAD"},
    {"depthwise_conv2d", "depthwise_conv2d", "Input Filter", "Output"},
    {"depthwise_conv2d_grad", "depthwise_conv2d_grad", "Input Filter Output@GRAD", "Input@GRAD Filter@GRAD"},
    {"depthwise_conv2d_transpose", "depthwise_conv2d_transpose", "Input Filter OutputSize", "Output"},
    {"depthwise_conv2d_transpose_grad", "depthwise_conv2d_transpose_grad", "Input Filter Output@GRAD OutputSize", "Input@GRAD Filter@GRAD"},
    {"divide", "elementwise_div", kXY, "Out"},
    {"divide_grad", "elementwise_div_grad", "X Y Out Out@GRAD", kXYGrad},
    {"dropout", "dropout", "X Seed P", "Out Mask"},
    {"dropout_grad", "dropout_grad", "Mask Out@GRAD P", "X@GRAD"},
    {"einsum", "einsum", "Operands", "Out InnerCache XShape"},
    {"einsum_grad", "einsum_grad", "Operands InnerCache Out@GRAD", "Operands@GRAD"},
    {"elementwise_pow", "elementwise_pow", kXY, "Out"},
    {"elementwise_pow_grad", "elementwise_pow_grad", kGradXY, kXYGrad},
    {"elu_grad", "elu_grad", "X Out Out@GRAD", "X@GRAD"},
    {"embedding", "lookup_table_v2", "Ids W", "Out"},
    {"embedding_grad", "lookup_table_v2_grad", "Ids W Out@GRAD", "W@GRAD"},
    {"expand", "expand_v2", "X Shape", "Out"},
    {"expand_grad", "expand_v2_grad", "X Out@GRAD Shape", "X@GRAD"},
    {"eye", "eye", "Rows Columns", "Out"},
    {"flash_attn", "flash_attn", "q k v fixed_seed_offset attn_mask", "out softmax softmax_lse seed_offset"},
    {"flash_attn_grad", "flash_attn_grad", "q k v out softmax_lse seed_offset attn_mask out@GRAD", "q@GRAD k@GRAD v@GRAD"},
    {"flatten", "flatten_contiguous_range", "X", "Out XShape"},
    {"flatten_grad", "flatten_contiguous_range_grad", "X Out@GRAD", "X@GRAD"},
    {"floor_divide", "elementwise_floordiv", kXY, "Out"},
    {"fmax", "elementwise_fmax", kXY, "Out"},
    {"fmax_grad", "elementwise_fmax_grad", kGradXY, kXYGrad},
    {"fmin", "elementwise_fmin", kXY, "Out"},
    {"fmin_grad", "elementwise_fmin_grad", kGradXY, kXYGrad},
    {"full", "fill_constant", "", "Out"},
    {"full_like", "fill_any_like", "X ValueTensor", "Out"},
    {"full_with_tensor", "full_with_tensor", "ValueTensor ShapeTensor", "Out"},
    {"fused_rotary_position_embedding", "fused_rotary_position_embedding", "q k v sin cos position_ids", "out_q out_k out_v"},
    {"fused_rotary_position_embedding_grad", "fused_rotary_position_embedding_grad",
     "sin cos position_ids out_q@GRAD out_k@GRAD out_v@GRAD", "q@GRAD k@GRAD v@GRAD"},
    {"fused_softmax_mask", "fused_softmax_mask", "X Mask", "Out"},
    {"fused_softmax_mask_grad", "fused_softmax_mask_grad", "Softmax Out@GRAD", "X@GRAD"},
    {"fused_softmax_mask_upper_triangle", "fused_softmax_mask_upper_triangle", "X", "Out"},
    {"fused_softmax_mask_upper_triangle_grad", "fused_softmax_mask_upper_triangle_grad", "Softmax Out@GRAD", "X@GRAD"},
    {"gather", "gather", "X Index Axis", "Out"},
    {"gather_grad", "gather_grad", "X Index Out@GRAD Axis", "X@GRAD"},
    {"gaussian", "gaussian_random", "ShapeTensor", "Out"},
    {"group_norm", "group_norm", "X Scale Bias", "Y Mean Variance"},
    {"group_norm_grad", "group_norm_grad", "X Scale Bias Y Mean Variance Y@GRAD", "X@GRAD Scale@GRAD Bias@GRAD"},
    {"hardshrink", "hard_shrink", "X", "Out"},
    {"hardshrink_grad", "hard_shrink_grad", "X Out@GRAD", "X@GRAD"},
    {"hardsigmoid", "hard_sigmoid", "X", "Out"},
    {"hardsigmoid_grad", "hard_sigmoid_grad", "Out Out@GRAD", "X@GRAD"},
    {"hardswish", "hard_swish", "X", "Out"},
    {"hardswish_grad", "hard_swish_grad", "X Out@GRAD", "X@GRAD"},
    {"hardtanh", "brelu", "X", "Out"},
    {"hardtanh_grad", "brelu_grad", "X Out@GRAD", "X@GRAD"},
    {"huber_loss", "huber_loss", kXY, "Out Residual"},
    {"huber_loss_grad", "huber_loss_grad", "Residual Out@GRAD", kXYGrad},
    {"index_add_grad", "index_add_grad", "Index AddValue Out@GRAD", "X@GRAD AddValue@GRAD"},
    {"instance_norm", "instance_norm", "X Scale Bias", "Y SavedMean SavedVariance"},
    {"instance_norm_grad", "instance_norm_grad", "X Scale Bias SavedMean SavedVariance Y@GRAD", "X@GRAD Scale@GRAD Bias@GRAD"},
    {"isfinite", "isfinite_v2", "X", "Out"},
    {"isnan", "isnan_v2", "X", "Out"},
    {"kldiv_loss", "kldiv_loss", "X Target", "Loss"},
    {"kldiv_loss_grad", "kldiv_loss_grad", "X Target Loss@GRAD", "X@GRAD"},
    {"label_smooth", "label_smooth", "X PriorDist", "Out"},
    {"lamb", "lamb", "Param Grad LearningRate Moment1 Moment2 Beta1Pow Beta2Pow MasterParam SkipUpdate", kAdamOut},
    {"layer_norm", "layer_norm", "X Scale Bias", "Y Mean Variance"},
    {"layer_norm_grad", "layer_norm_grad", "X Scale Bias Mean Variance Y@GRAD", "X@GRAD Scale@GRAD Bias@GRAD"},
    {"linear_interp", "linear_interp", kResize, "Out"},
    {"linear_interp_grad", "linear_interp_grad", kResizeGrad, "X@GRAD"},
    {"log_loss", "log_loss", "Predicted Labels", "Loss"},
    {"log_loss_grad", "log_loss_grad", "Predicted Labels Loss@GRAD", "Predicted@GRAD"},
    {"logsumexp", "logsumexp", "X", "Out", "axis=dim keepdim=keep_dim"},
    {"logsumexp_grad", "logsumexp_grad", "X Out Out@GRAD", "X@GRAD", "axis=dim"},
    {"masked_fill_grad", "masked_fill_grad", "X Mask Value Out@GRAD", "X@GRAD Value@GRAD"},
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
    {"mean_all_grad", "mean_grad", "X Out@GRAD", "X@GRAD"},
    {"mean_grad", "reduce_mean_grad", "X Out@GRAD AxisTensor", "X@GRAD", "axis=dim"},
    {"min", "reduce_min", "X AxisTensor", "Out", "axis=dim keepdim=keep_dim"},
    {"min_grad", "reduce_min_grad", "X Out Out@GRAD AxisTensor", "X@GRAD", "axis=dim"},
    {"minimum", "elementwise_min", kXY, "Out"},
    {"minimum_grad", "elementwise_min_grad", kGradXY, kXYGrad},
    {"momentum", "momentum", "Param Grad Velocity LearningRate MasterParam", "ParamOut VelocityOut MasterParamOut"},
    {"mp_allreduce_sum", "c_allreduce_sum", "X", "Out"},
    {"multiply", "elementwise_mul", kXY, "Out"},
    {"multiply_grad", "elementwise_mul_grad", kGradXY, kXYGrad},
    {"mv", "matmul_v2", kXY, "Out"},
    {"mv_grad", "matmul_v2_grad", kGradXY, kXYGrad},
    {"nearest_interp", "nearest_interp", kResize, "Out"},
    {"nearest_interp_grad", "nearest_interp_grad", kResizeGrad, "X@GRAD"},
    {"nll_loss", "nll_loss", "X Label Weight", "Out Total_weight"},
    {"nll_loss_grad", "nll_loss_grad", "X Label Weight Total_weight Out@GRAD", "X@GRAD"},
    {"one_hot", "one_hot_v2", "X depth_tensor", "Out"},
    {"p_norm_grad", "p_norm_grad", "X Out Out@GRAD", "X@GRAD"},
    {"pad", "pad", "X PadValue", "Out"},
    {"pad_grad", "pad_grad", "X Out@GRAD PadValue", "X@GRAD"},
    {"pool2d", "pool2d", "X KernelSize", "Out"},
    {"pool2d_grad", "pool2d_grad", "X Out Out@GRAD KernelSize", "X@GRAD"},
    {"pool3d", "pool3d", "X", "Out", "kernel_size=ksize"},
    {"pool3d_grad", "pool3d_grad", "X Out Out@GRAD", "X@GRAD", "kernel_size=ksize"},
    {"pow", "pow", "X", "Out", "y=factor"},
    {"pow_grad", "pow_grad", "X Out@GRAD", "X@GRAD", "y=factor"},
    {"prelu_grad", "prelu_grad", "X Alpha Out@GRAD", "X@GRAD Alpha@GRAD"},
    {"prod", "reduce_prod", "X AxisTensor", "Out", "axis=dim keepdim=keep_dim"},
    {"prod_grad", "reduce_prod_grad", "X Out Out@GRAD AxisTensor", "X@GRAD", "axis=dim"},
    {"put_along_axis", "put_along_axis", "Input Index Value", "Result"},
    {"put_along_axis_grad", "put_along_axis_grad", "Input Index Value Result Result@GRAD", "Input@GRAD Value@GRAD"},
    {"randint", "randint", "ShapeTensor", "Out"},
    {"remainder", "elementwise_mod", kXY, "Out"},
    {"remainder_grad", "elementwise_mod_grad", kGradXY, kXYGrad},
    {"reshape", "reshape2", "X Shape", "Out XShape"},
    {"reshape_grad", "reshape2_grad", "X Out@GRAD", "X@GRAD"},
    {"rmsprop", "rmsprop", "Param MeanSquare Grad Moment LearningRate MeanGrad MasterParam",
     "ParamOut MomentOut MeanSquareOut MeanGradOut MasterParamOut"},
    {"roll", "roll", "X ShiftsTensor", "Out"},
    {"roll_grad", "roll_grad", "X Out@GRAD ShiftsTensor", "X@GRAD"},
    {"scale", "scale", "X ScaleTensor", "Out"},
    {"scatter_grad", "scatter_grad", "Ids Updates Out@GRAD", "X@GRAD Updates@GRAD"},
    {"scatter_nd_add_grad", "scatter_nd_add_grad", "Index Updates Out@GRAD", "X@GRAD Updates@GRAD"},
    {"sgd", "sgd", "Param LearningRate Grad MasterParam", "ParamOut MasterParamOut"},
    {"shadow_feed", "assign", "X", "Out"},
    {"sigmoid_cross_entropy_with_logits", "sigmoid_cross_entropy_with_logits", "X Label pos_weight", "Out"},
    {"sigmoid_cross_entropy_with_logits_grad", "sigmoid_cross_entropy_with_logits_grad", "X Label pos_weight Out@GRAD", "X@GRAD"},
    {"silu_grad", "silu_grad", "X Out Out@GRAD", "X@GRAD"},
    {"slice", "slice", "Input StartsTensor EndsTensor", "Out"},
    {"slice_grad", "slice_grad", "Input Out@GRAD StartsTensor EndsTensor", "Input@GRAD"},
    {"split", "split", "X SectionsTensorList AxisTensor", "Out"},
    {"split_with_num", "split", "X AxisTensor", "Out"},
    {"squeeze", "squeeze2", "X AxesTensor", "Out XShape"},
    {"squeeze_grad", "squeeze2_grad", "X Out@GRAD AxesTensor", "X@GRAD"},
    {"stack", "stack", "X", "Y"},
    {"stack_grad", "stack_grad", "X Y@GRAD", "X@GRAD"},
    {"strided_slice", "strided_slice", "Input StartsTensor EndsTensor StridesTensor", "Out"},
    {"strided_slice_grad", "strided_slice_grad", "Input Out@GRAD StartsTensor EndsTensor StridesTensor", "Input@GRAD"},
    {"subtract", "elementwise_sub", kXY, "Out"},
    {"subtract_grad", "elementwise_sub_grad", kGradXY, kXYGrad},
    {"sum", "reduce_sum", "X AxisTensor", "Out", kReduce},
    {"sum_grad", "reduce_sum_grad", "X Out@GRAD AxisTensor", "X@GRAD", "axis=dim"},
    {"swiglu", "swiglu", kXY, "Out"},
    {"swiglu_grad", "swiglu_grad", kGradXY, kXYGrad},
    {"take_along_axis", "take_along_axis", "Input Index", "Result"},
    {"take_along_axis_grad", "take_along_axis_grad", "Input Index Result@GRAD", "Input@GRAD"},
    {"tile", "tile", "X RepeatTimes", "Out"},
    {"tile_grad", "tile_grad", "X Out@GRAD RepeatTimes", "X@GRAD"},
    {"topk", "top_k_v2", "X K", "Out Indices"},
    {"topk_grad", "top_k_v2_grad", "X Indices Out@GRAD K", "X@GRAD"},
    {"transpose", "transpose2", "X", "Out XShape", "perm=axis"},
    {"transpose_grad", "transpose2_grad", "Out@GRAD", "X@GRAD", "perm=axis"},
    {"tril", "tril_triu", "X", "Out"},
    {"tril_grad", "tril_triu_grad", "Out@GRAD", "X@GRAD"},
    {"trilinear_interp", "trilinear_interp", kResize, "Out"},
    {"trilinear_interp_grad", "trilinear_interp_grad", kResizeGrad, "X@GRAD"},
    {"uniform", "uniform_random", "ShapeTensor Min Max", "Out"},
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

/// Names for what stands in one slot; what is left over keeps the last name. A slot whose value is missing has no arguments.
NamedSlots named(std::span<const Slot> given, const std::vector<std::string_view>& all) {
  NamedSlots named;
  if (given.empty() || all.empty()) return named;
  const std::span<const std::string_view> values = given[0].arguments;
  const size_t single = std::min(values.size(), all.size() - 1);
  named.slots.reserve(single + 1);
  for (size_t k = 0; k < single; ++k) named.slots.push_back({all[k], values.subspan(k, values[k].empty() ? 0 : 1)});
  if (single == values.size()) return named;
  std::ranges::remove_copy(values.subspan(single), std::back_inserter(named.last), std::string_view());
  named.slots.push_back({all.back(), named.last});
  return named;
}

std::vector<Attribute> renamed(std::span<const Attribute> given, std::string_view pairs) {
  std::vector<Attribute> attributes(given.begin(), given.end());
  for (const std::string_view pair : words(pairs)) {
    const size_t equals = pair.find('=');
    for (Attribute& attribute : attributes) {
      if (attribute.name == pair.substr(0, equals)) attribute.name = pair.substr(equals + 1);
    }
  }
  return attributes;
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
  normal.renamed = std::make_unique<Renamed>(Renamed{op, {}, {}, {}});
  Renamed& made = *normal.renamed;
  const bool in_place = shown_type(op).ends_with('_');
  const std::string_view type = plain_type(op);
  made.op.type = type;
  const bool has_names = type.starts_with("builtin.") || type.starts_with("cf.") || op.inputs.size() > 1;
  const size_t operands = op.inputs.empty() ? 0 : op.inputs[0].arguments.size();
  const Slots* slots = has_names ? nullptr : find_signature(type, operands);
  const Row* row = has_names || slots != nullptr ? nullptr : find_row(type);
  if (slots != nullptr) {
    made.op.type = slots->signature->type;
    made.inputs = named(op.inputs, slots->inputs);
    made.outputs = named(op.outputs, slots->outputs);
    if (const std::string_view pairs = slots->signature->attributes; !pairs.empty()) {
      made.attributes = renamed(op.attributes, pairs);
      made.op.attributes = made.attributes;
    }
  } else if (row != nullptr) {
    made.inputs = named(op.inputs, words(row->needs));
    made.outputs = named(op.outputs, {type.ends_with("_grad") ? "X@GRAD" : "Out"});
  }
  if (slots != nullptr || row != nullptr) made.op.inputs = made.inputs.slots, made.op.outputs = made.outputs.slots;
  if (in_place && !has_names) find_aliases(normal);
  return normal;
}

}  // namespace importers::paddle
