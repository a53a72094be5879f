// Types with several named outputs stand in a table. All others that are known have one, a tensor or a list of tensors: whatever its name,
// a tensor's number is its port.
#include "importers/tensorflow/output_names.h"

#include <algorithm>
#include <iterator>

#include "importers/tensorflow/lower.h"
#include "importers/tensorflow/op_types.h"

namespace importers::tensorflow {
namespace {

struct OutputNames {
  std::string_view type;
  std::string_view names;  ///< in order, separated by blanks; "": several lists, whose places depend on attributes
};

/// After TensorFlow 2.21's op registry.
constexpr OutputNames kOutputNames[] = {
    {"AnonymousIteratorV2", "handle deleter"},
    {"BatchNormWithGlobalNormalizationGrad", "dx dm dv db dg"},
    {"BlockLSTM", "i cs f o ci co h"},
    {"BlockLSTMV2", "i cs f o ci co h"},
    {"BroadcastGradientArgs", "r0 r1"},
    {"CTCLoss", "loss gradient"},
    {"CTCLossV2", "loss gradient"},
    {"CollectiveAssignGroupV2", "group_size group_key"},
    {"CombinedNonMaxSuppression", "nmsed_boxes nmsed_scores nmsed_classes valid_detections"},
    {"CudnnRNN", "output output_h output_c reserve_space"},
    {"CudnnRNNBackprop", "input_backprop input_h_backprop input_c_backprop params_backprop"},
    {"CudnnRNNBackpropV2", "input_backprop input_h_backprop input_c_backprop params_backprop"},
    {"CudnnRNNBackpropV3", "input_backprop input_h_backprop input_c_backprop params_backprop"},
    {"CudnnRNNV2", "output output_h output_c reserve_space host_reserved"},
    {"CudnnRNNV3", "output output_h output_c reserve_space host_reserved"},
    {"FakeQuantWithMinMaxVarsGradient", "backprops_wrt_input backprop_wrt_min backprop_wrt_max"},
    {"FakeQuantWithMinMaxVarsPerChannelGradient", "backprops_wrt_input backprop_wrt_min backprop_wrt_max"},
    {"FractionalAvgPool", "output row_pooling_sequence col_pooling_sequence"},
    {"FractionalMaxPool", "output row_pooling_sequence col_pooling_sequence"},
    {"FusedBatchNorm", "y batch_mean batch_variance reserve_space_1 reserve_space_2"},
    {"FusedBatchNormGrad", "x_backprop scale_backprop offset_backprop reserve_space_3 reserve_space_4"},
    {"FusedBatchNormGradV2", "x_backprop scale_backprop offset_backprop reserve_space_3 reserve_space_4"},
    {"FusedBatchNormGradV3", "x_backprop scale_backprop offset_backprop reserve_space_4 reserve_space_5"},
    {"FusedBatchNormV2", "y batch_mean batch_variance reserve_space_1 reserve_space_2"},
    {"FusedBatchNormV3", "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3"},
    {"GRUBlockCell", "r u c h"},
    {"LSTMBlockCell", "i cs f o ci co h"},
    {"MaxPoolWithArgmax", "output argmax"},
    {"Merge", "output value_index"},
    {"NonMaxSuppressionV4", "selected_indices valid_outputs"},
    {"NonMaxSuppressionV5", "selected_indices selected_scores valid_outputs"},
    {"ParseExampleV2", ""},
    {"ParseSingleExample", ""},
    {"Qr", "q r"},
    {"QuantizeV2", "output output_min output_max"},
    {"RefMerge", "output value_index"},
    {"RefSwitch", "output_false output_true"},
    {"SoftmaxCrossEntropyWithLogits", "loss backprop"},
    {"SparseSoftmaxCrossEntropyWithLogits", "loss backprop"},
    {"StatelessRandomGetKeyCounter", "key counter"},
    {"Svd", "s u v"},
    {"Switch", "output_false output_true"},
    {"TensorArrayV3", "handle flow"},
    {"TensorListConcatV2", "tensor lengths"},
    {"TensorListPopBack", "output_handle tensor"},
    {"TopK", "values indices"},
    {"TopKV2", "values indices"},
    {"Unique", "y idx"},
    {"UniqueV2", "y idx"},
    {"_FusedBatchNormEx", "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3"},
    {"_FusedBatchNormGradEx",
     "x_backprop scale_backprop offset_backprop reserve_space_4 reserve_space_5 side_input_backprop"},  // the last is a list
    {"_XlaCompile", "key compilation_successful"},
};

/// The place of a word among others.
std::optional<int32_t> place_of(std::string_view name, std::string_view names) {
  for (int32_t place = 0; !names.empty(); ++place) {
    const size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return place;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return std::nullopt;
}

}  // namespace

std::optional<int32_t> output_port(std::string_view type, std::string_view name, int32_t k, size_t outputs) {
  if (outputs == 1) return k == 0 ? std::optional(k) : std::nullopt;
  const auto* const row = std::ranges::lower_bound(kOutputNames, type, {}, &OutputNames::type);
  if (row != std::end(kOutputNames) && row->type == type) {
    const auto place = place_of(name, row->names);
    return place ? std::optional(*place + k) : std::nullopt;
  }
  return find_op_type(type) != nullptr || is_lowered(type) ? std::optional(k) : std::nullopt;
}

}  // namespace importers::tensorflow
