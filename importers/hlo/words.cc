// The tables. Sources: XLA's hlo_parser.cc of 2026-08 and its history back to 2017.
#include "importers/hlo/words.h"

#include <algorithm>
#include <array>

namespace importers::hlo {
namespace {

template <size_t N>
constexpr std::array<std::string_view, N> sorted(std::array<std::string_view, N> words) {
  std::ranges::sort(words);
  return words;
}

constexpr auto kAttributes = sorted(std::to_array<std::string_view>({
    "sharding",
    "frontend_attributes",
    "statistics",
    "parameter_replication",
    "control-predecessors",
    "origin",
    "metadata",
    "backend_config",
    "to_apply",
    "calls",
    "called_computations",
    "condition",
    "body",
    "true_computation",
    "false_computation",
    "branch_computations",
    "select",
    "scatter",
    "dimensions",
    "inferred_dimension",
    "iota_dimension",
    "index",
    "slice",
    "dynamic_slice_sizes",
    "padding",
    "window",
    "dim_labels",
    "feature_group_count",
    "batch_group_count",
    "convolution_kind",
    "conv_kind",
    "sparsity_config",
    "sparsity",
    "lhs_contracting_dims",
    "rhs_contracting_dims",
    "lhs_batch_dims",
    "rhs_batch_dims",
    "lhs_ragged_dims",
    "rhs_group_dims",
    "operand_precision",
    "algorithm",
    "direction",
    "type",
    "result_accuracy",
    "exponent_bits",
    "mantissa_bits",
    "fft_type",
    "fft_length",
    "kind",
    "output_to_operand_aliasing",
    "custom_call_target",
    "operand_layout_constraints",
    "custom_call_has_side_effect",
    "api_version",
    "schedule",
    "padding_type",
    "literal",
    "opaque",
    "replica_groups",
    "channel_id",
    "use_global_device_ids",
    "constrain_layout",
    "mode",
    "source_target_pairs",
    "slice_sizes",
    "has_dynamic_root",
    "is_host_transfer",
    "async_execution_thread",
    "async_group_id",
    "cross_program_prefetch_index",
    "is_cross_program_prefetch",
    "infeed_config",
    "outfeed_config",
    "outfeed_shape",
    "offset_dims",
    "collapsed_slice_dims",
    "start_index_map",
    "index_vector_dim",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "indices_are_sorted",
    "unique_indices",
    "is_stable",
    "k",
    "largest",
    "num_carries",
    "is_reverse",
    "is_associative",
    "epsilon",
    "feature_index",
    "distribution",
    "delta",
    "left_side",
    "lower",
    "unit_diagonal",
    "transpose_a",
    "domain",
    "is_composite",
    "operation_queue_id",
    "wait_on_operation_queues",
    "barrier",
    "replica_group_ids",
    "all_reduce_id",
    "channel_name",
    "cost_estimate_ns",
    "outer_dimension_partitions",
    "output_window_dims",
    "elided_window_dims",
    "gather_dims_to_operand_dims",
    "window_bounds",
    "device_ids",
}));

constexpr auto kHeaderAttributes = sorted(std::to_array<std::string_view>({
    "is_scheduled",
    "input_output_alias",
    "buffer_donor",
    "alias_passthrough_params",
    "entry_computation_layout",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    "replica_count",
    "num_partitions",
    "frontend_attributes",
    "origin_recovery_table",
    "debug_attributes",
}));

constexpr std::string_view kComputationAttributes[] = {
    "to_apply", "calls",   "called_computations", "condition", "body", "true_computation", "false_computation", "branch_computations",
    "select",   "scatter",
};

constexpr OldOpcode kOldOpcodes[] = {
    {"equal-to", ir::Op::compare, "direction", "EQ"},
    {"not-equal-to", ir::Op::compare, "direction", "NE"},
    {"less-than", ir::Op::compare, "direction", "LT"},
    {"less-than-or-equal-to", ir::Op::compare, "direction", "LE"},
    {"greater-than", ir::Op::compare, "direction", "GT"},
    {"greater-than-or-equal-to", ir::Op::compare, "direction", "GE"},
    {"cross-replica-sum", ir::Op::all_reduce, "", ""},
    {"tuple-select", ir::Op::select, "", ""},
    {"generate-token", ir::Op::after_all, "", ""},
    {"all-reduce-scatter", ir::Op::reduce_scatter, "", ""},
    {"host-compute", ir::Op::custom_call, "custom_call_target", "\"host-compute\""},
    {"trace", ir::Op::custom_call, "custom_call_target", "\"trace\""},
};

}  // namespace

bool is_known_attribute(std::string_view key) { return std::ranges::binary_search(kAttributes, key); }
bool is_known_header_attribute(std::string_view key) { return std::ranges::binary_search(kHeaderAttributes, key); }
bool names_computations(std::string_view key) { return std::ranges::find(kComputationAttributes, key) != std::end(kComputationAttributes); }

const OldOpcode* find_old_opcode(std::string_view text) {
  const auto it = std::ranges::find(kOldOpcodes, text, &OldOpcode::text);
  return it == std::end(kOldOpcodes) ? nullptr : &*it;
}

}  // namespace importers::hlo
