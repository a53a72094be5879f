// Records of steps: what they are, what they cost on paper, what was measured.
#include "src/cli/step_records.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "src/ir/attr.h"
#include "src/ir/cost.h"
#include "src/stats/stats.h"

namespace cli {
namespace {

std::string kind_of(const ir::Module& module, const ir::Instr& instr) {
  if (instr.op == ir::Op::fusion) return std::string(ir::attr_text(module, instr, "kind").value_or(""));
  return instr.op == ir::Op::custom_call ? ir::attr_string(module, instr, "custom_call_target") : "";
}

/// Row of the instruction in the module as imported, by names: a module cut out of it has other ids.
class Rows {
 public:
  explicit Rows(const Subject& subject) : subject_(subject) {}

  int64_t find(const ir::Module& module, ir::InstrRef ref) {
    const ir::CompId comp = subject_.module->find_computation(module.text(module.comp(ref.comp).name));
    const std::string name(module.name_of(module.instr(ref.comp, ref.instr)));
    if (comp >= 0) {
      if (const int64_t row = in(comp, name); row > 0) return row;
    }
    return in_any(name);
  }

 private:
  int64_t in(ir::CompId comp, const std::string& name) {
    const auto [index, fresh] = by_name_.try_emplace(comp);
    if (fresh) {
      const auto& instrs = subject_.module->comp(comp).instrs;
      for (size_t i = 0; i < instrs.size(); ++i) index->second.emplace(subject_.module->name_of(instrs[i]), static_cast<int64_t>(i));
    }
    const auto found = index->second.find(name);
    const auto c = static_cast<size_t>(comp);
    return found == index->second.end() || c >= subject_.first_instruction.size() ? 0 : subject_.first_instruction[c] + found->second;
  }
  int64_t in_any(const std::string& name) {
    for (ir::CompId comp = 0; comp < static_cast<ir::CompId>(subject_.module->computations.size()); ++comp) {
      if (const int64_t row = in(comp, name); row > 0) return row;
    }
    return 0;
  }

  const Subject& subject_;
  std::map<ir::CompId, std::map<std::string, int64_t, std::less<>>> by_name_;
};

void add_costs(model::StepRecord& record, const ir::Module& module, const replay::Step& step) {
  if (step.moves_state) return;
  const ir::Cost nominal = ir::cost(module, step.instr, ir::CostMethod::nominal);
  const ir::Cost traffic = ir::cost(module, step.instr, ir::CostMethod::traffic);
  record.flops = nominal.flops;
  record.transcendentals = nominal.transcendentals;
  record.bytes = traffic.bytes();
  const ir::Instr& instr = module.instr(step.instr.comp, step.instr.instr);
  if (instr.op == ir::Op::fusion) record.saved_bytes = ir::fusion_saved_bytes(module, step.instr);
}

std::string buffer_kind(replay::Buffer::Kind kind, bool output) {
  if (output) return "output";
  constexpr const char* kNames[] = {"parameter", "constant", "temporary", "scratch"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

std::vector<model::StepRecord> step_records(const replay::Plan& plan, const replay::Device& device, const Subject& subject) {
  std::vector<model::StepRecord> records;
  Rows rows(subject);
  const ir::Module& module = *plan.module;
  for (const replay::Step* step : plan.steps) {
    const ir::Instr& instr = module.instr(step->instr.comp, step->instr.instr);
    model::StepRecord record;
    record.step = step->id;
    record.name = step->name;
    record.computation = module.text(module.comp(step->instr.comp).name);
    record.opcode = step->moves_state ? "copy" : ir::text(instr.op);
    record.kind = step->moves_state ? "state" : kind_of(module, instr);
    record.cls = replay::text(device.class_of(step->id, step->cls));
    record.key = step->key;
    record.why = step->why;
    record.precision = device.precision_of(step->id);
    record.instr = step->instr;
    record.instruction = rows.find(module, step->instr);
    record.kernels = device.kernels_of(step->id);
    record.trips = step->trips;
    add_costs(record, module, *step);
    records.push_back(std::move(record));
  }
  return records;
}

std::vector<model::BufferRecord> buffer_records(const replay::Plan& plan) {
  std::set<replay::BufferId> outputs;
  for (const replay::PlanOutput& output : plan.outputs) outputs.insert(output.buffer);
  std::vector<model::BufferRecord> records;
  for (size_t i = 0; i < plan.program_buffers; ++i) {
    const replay::Buffer& b = plan.buffers[i];
    const auto id = static_cast<int32_t>(i);
    const bool output = b.kind == replay::Buffer::Kind::temporary && outputs.contains(id);
    records.push_back({id, b.name, buffer_kind(b.kind, output), b.bytes, b.offset, b.first, b.last, b.alias_of});
  }
  return records;
}

std::vector<model::StepStat> step_stats(const replay::Outcome& outcome) {
  std::vector<model::StepStat> out;
  for (size_t step = 0; step < outcome.seconds.size(); ++step) {
    std::vector<double> ns = outcome.seconds[step];
    if (ns.empty()) continue;
    for (double& value : ns) value *= 1e9;
    const auto [s, flags] = stats::summarize_step(ns);
    const std::vector<double>& executions = outcome.executions[step];
    model::StepStat stat;
    stat.step = static_cast<int32_t>(step);
    stat.n = s.n;
    stat.calls = std::accumulate(executions.begin(), executions.end(), 0.0) / static_cast<double>(s.n);
    stat.min_ns = s.min;
    stat.q1_ns = s.q1;
    stat.median_ns = s.median;
    stat.q3_ns = s.q3;
    stat.mad_ns = s.mad;
    stat.ci_low_ns = s.ci_low;
    stat.ci_high_ns = s.ci_high;
    stat.flags = flags;
    out.push_back(std::move(stat));
  }
  return out;
}

void add_verdict(model::StepRecord& step, const replay::Verdict& verdict) {
  step.worst_error = verdict.worst;
  step.verified_elements = verdict.elements;
}

void add_verdicts(std::vector<model::StepRecord>& steps, const replay::Outcome& outcome) {
  for (size_t i = 0; i < steps.size() && i < outcome.verdicts.size(); ++i) add_verdict(steps[i], outcome.verdicts[i]);
}

}  // namespace cli
