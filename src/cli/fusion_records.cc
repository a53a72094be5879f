// A part that reads broadcasts through is a small fusion in the plan; it is named after the operation at its root.
#include "src/cli/fusion_records.h"

#include "src/ir/cost.h"

namespace cli {
namespace {

std::string_view opcode_of(const ir::Module& module, const replay::Step& part) {
  if (part.moves_state) return "copy";
  const ir::Instr& instr = module.instr(part.instr.comp, part.instr.instr);
  const std::string_view name = module.name_of(instr);
  if (instr.op != ir::Op::fusion || instr.calls.size() != 1) return ir::text(instr.op);
  const ir::Instr& root = module.instr(instr.calls[0], module.comp(instr.calls[0]).root);
  return module.name_of(root) == name ? ir::text(root.op) : ir::text(instr.op);  // inner fusions that stay whole have other names
}

model::FusionPart part_record(const replay::Plan& plan, const replay::Device& device, const replay::Step& part) {
  model::FusionPart record;
  record.name = part.name;
  record.opcode = opcode_of(*plan.module, part);
  record.cls = replay::text(part.cls);
  const std::vector<int32_t> kernels = device.kernels_of(part.id);
  if (!kernels.empty()) record.kernel = kernels.front();
  if (part.moves_state) {
    for (const replay::BufferId id : part.out) record.bytes += 2.0 * static_cast<double>(plan.buffers[static_cast<size_t>(id)].bytes);
    return record;
  }
  record.flops = ir::cost(*plan.module, part.instr, ir::CostMethod::nominal).flops;
  record.bytes = ir::cost(*plan.module, part.instr, ir::CostMethod::traffic).bytes();
  return record;
}

}  // namespace

std::vector<model::FusionRecord> fusion_records(const replay::Plan& plan, const replay::Device& device) {
  std::vector<model::FusionRecord> records;
  for (const replay::Variant& variant : plan.variants) {
    model::FusionRecord record;
    record.step = variant.fused;
    record.tried = variant.tried;
    record.scratch_bytes = variant.scratch_bytes;
    record.extra_flops = variant.extra_flops;
    record.why = variant.why;
    for (const replay::Step& part : variant.parts) {
      record.parts.push_back(part_record(plan, device, part));
      record.bytes += record.parts.back().bytes;
    }
    records.push_back(std::move(record));
  }
  return records;
}

void add_part_times(std::vector<model::FusionRecord>& fusions, const replay::Plan& plan, const replay::Outcome& outcome) {
  for (size_t v = 0; v < fusions.size() && v < outcome.part_seconds.size(); ++v) {
    for (size_t i = 0; i < fusions[v].parts.size(); ++i) {
      model::FusionPart& part = fusions[v].parts[i];
      const auto id = static_cast<size_t>(plan.variants[v].parts[i].id);
      part.median_ns = outcome.part_seconds[v][i] * 1e9;
      if (id < outcome.verdicts.size()) part.worst_error = outcome.verdicts[id].worst;
    }
  }
}

}  // namespace cli
