// Targets by which compilers mark a value: where it lives, how it is sharded, what may be assumed of it.
#include "replay/custom_calls.h"

#include <algorithm>
#include <string_view>

#include "src/ir/attr.h"

namespace replay {
namespace {

constexpr std::string_view kAnnotations[] = {"AssumeGatherIndicesInBound",
                                             "AwsNeuronTransferWithStaticRing",
                                             "LayoutConstraint",
                                             "MoveToDevice",
                                             "MoveToHost",
                                             "Pin",
                                             "SPMDFullToShardShape",
                                             "SPMDShardToFullShape",
                                             "ShardBarrierFrom",
                                             "ShardBarrierTo",
                                             "Sharding",
                                             "Unpin",
                                             "__xla_internal_call_marker_after",
                                             "__xla_internal_call_marker_before",
                                             "annotate_device_placement",
                                             "xla.sdy.FuncResultSharding",
                                             "xla.sdy.GlobalToLocalShape",
                                             "xla.sdy.LocalToGlobalShape"};

}  // namespace

/// Of a whole program cut for one device (SPMDFullToShardShape) the shapes differ, and then it is no annotation of one device's value.
bool is_annotation(const ir::Module& module, ir::CompId comp, const ir::Instr& instr) {
  if (instr.op != ir::Op::custom_call || instr.operands.size() != 1) return false;
  const std::string target = ir::attr_string(module, instr, "custom_call_target");
  if (std::ranges::find(kAnnotations, target) == std::end(kAnnotations)) return false;
  return ir::same_dims(module.shape(instr), module.shape(module.instr(comp, instr.operands[0])));
}

}  // namespace replay
