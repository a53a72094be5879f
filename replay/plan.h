// The plan of a replay: blocks of steps over buffers, made before anything is allocated.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "replay/kernel/kernel.h"
#include "replay/rounding.h"
#include "replay/step.h"
#include "src/base/result.h"
#include "src/ir/attr.h"
#include "src/ir/module.h"

namespace replay {

struct Loop;
struct Branch;
using Block = std::vector<std::variant<Step, std::unique_ptr<Loop>, std::unique_ptr<Branch>>>;

/// A while: `state` buffers are read by cond and body; body leaves the new state in `next`, which the engine copies back (or which alias).
struct Loop {
  std::string name;
  ir::InstrRef instr;
  Block cond;
  BufferId predicate = -1;
  Block body;
  std::vector<BufferId> state, next;
  int64_t known_trips = -1;  ///< from the text (trip_count.h); −1: running tells
};
/// A conditional: selector pred (true = branch 0) or s32 (out of range = last); each branch leaves its result in `out` through copies of
/// its own.
struct Branch {
  std::string name;
  ir::InstrRef instr;
  BufferId selector = -1;
  std::vector<Block> blocks;
};

struct PlanParameter {
  int64_t number = 0;
  std::vector<int64_t> path;
  BufferId buffer = -1;
};  ///< a leaf of an entry parameter
struct PlanOutput {
  std::vector<int64_t> path;
  BufferId buffer = -1;
};
struct PlanConstant {
  BufferId buffer = -1;
  ir::InstrRef instr;
  bool elided = false;
};

struct Plan {
  const ir::Module* module = nullptr;             ///< outlives the plan, or is `rewritten`
  std::shared_ptr<const ir::Module> rewritten{};  ///< the program as it is run (rewrite.h); null: as given
  Rounding rounding = Rounding::border;
  kernel::Target target;
  std::vector<Buffer> buffers;
  std::vector<kernel::Kernel> kernels;  ///< identical ones once
  std::map<int, std::string> refused;   ///< kernel that does what the device's libraries were asked for first → why they do not
  Block block;
  std::vector<Step*> steps;       ///< all leaf steps by id
  std::vector<Variant> variants;  ///< of fusions that are to be compared with their parts; their steps' ids follow
  std::vector<PlanParameter> parameters;
  std::vector<PlanOutput> outputs;
  std::vector<PlanConstant> constants;
  std::vector<BufferId> overwritten;  ///< parameters that a pass leaves with other values
  size_t program_buffers = 0;         ///< buffers of the program; those of variants stand behind them
  int64_t arena_bytes = 0;            ///< temporaries and scratch, packed by live range; at its end what variants need
  int64_t variant_bytes = 0;          ///< of it; all variants use the same memory
  int64_t parameter_bytes = 0;        ///< parameters and constants, beside the arena
  StepId peak_step = 0;
};

/// A device's word on a product or a library op: an Error where it has none, and the step gets a kernel, or is evaluated by the reference.
using Accepts = base::Status (*)(const Launch&);

/// How a device wants a convolution's arrays to lie.
using Arranges = ArrangedConvolution (*)(const Convolution&);

struct PlanOptions {
  Rounding rounding = Rounding::border;
  kernel::Target target;
  std::string device_class = "cpu";
  bool reference_only = false;  ///< no kernels: every step is evaluated by the reference
  ChooseParts parts = {};       ///< fusions that get a variant; empty: none
  Accepts accepts = nullptr;    ///< null: the device has all
  Arranges arranges = nullptr;  ///< null: it takes them as they lie
};
/// All that a device must be able to start, by id: the steps, and behind them those of the variants.
std::vector<const Step*> startable(const Plan& plan);
/// Operands of the step's instruction that it overwrites.
std::vector<ir::InstrId> overwritten_operands(const ir::Module& module, const Step& step);
/// Outputs that share memory with parameters by the module's header: (output, parameter).
std::vector<std::pair<BufferId, BufferId>> aliased_outputs(const Plan& plan);
base::Result<Plan> make_plan(const ir::Module& module, const PlanOptions& options);

}  // namespace replay
