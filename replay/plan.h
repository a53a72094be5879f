// The plan of a replay: blocks of steps over buffers, made before anything is allocated.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "replay/kernel/kernel.h"
#include "replay/library.h"
#include "replay/rounding.h"
#include "src/base/result.h"
#include "src/ir/attr.h"
#include "src/ir/module.h"

namespace replay {

using BufferId = int32_t;  ///< -1: none
using StepId = int32_t;

struct Buffer {
  enum class Kind : uint8_t { parameter, constant, temporary, scratch } kind = Kind::temporary;
  std::string name;            ///< instruction (and leaf) that makes it
  ir::Shape shape;             ///< array with layout; scratch: u8[bytes]
  int64_t bytes = 0;           ///< rounded up to 64 in the arena
  BufferId alias_of = -1;      ///< lives in that buffer's memory
  int64_t offset = -1;         ///< in the arena; -1: not placed
  StepId first = 0, last = 0;  ///< live range in plan order; loop bodies extend to the loop's end
};

/// A product as strides: D[b,m,n] = alpha·Σ_k A[b,m,k]·B[b,k,n] + beta·C. In elements; batch stride 0 broadcasts.
struct Gemm {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  struct Operand {
    BufferId buffer = -1;
    ir::Type type = ir::Type::f32;
    int64_t batch_stride = 0, row_stride = 0, column_stride = 0;
  } a, b, d;
  double alpha = 1, beta = 0;  ///< beta ≠ 0: D holds C when the launch starts
  double flops() const { return 2.0 * static_cast<double>(batch * m) * static_cast<double>(n * k); }
};

struct KernelCall {
  int kernel = 0;
  std::vector<BufferId> args;
};  ///< args as kernel::Kernel says, shared scratch last
struct Copy {
  BufferId from = -1, to = -1;
};  ///< same bytes, same physical order
struct Fill {
  BufferId to = -1;
  uint8_t byte = 0;
};
struct LibraryCall {
  std::shared_ptr<const LibraryOp> op;
  std::vector<BufferId> in, out;
};
using Launch = std::variant<KernelCall, Gemm, Copy, Fill, LibraryCall>;

/// The words of table step.class. A step has the weakest of its launches' classes: skip, reference, stand-in, library, kernel, copy, host.
enum class Class : uint8_t { skip, reference, stand_in, library, kernel, copy, host };
std::string_view text(Class cls);

struct InPlace {
  BufferId operand = -1, output = -1;
};

struct Step {
  StepId id = 0;
  std::string name;
  ir::InstrRef instr;
  Class cls = Class::kernel;
  std::string key;  ///< identity: hash of canonical text, shapes, layouts, device class
  std::string why;  ///< of skip
  std::vector<Launch> launches;
  std::vector<BufferId> in;   ///< leaves of the operands, in order
  std::vector<BufferId> out;  ///< leaves of the result
  std::vector<BufferId> scratch;
  std::vector<InPlace> in_place;
  double trips = 1;          ///< executions in a pass by the known trip counts of its loops; unknown ones count once, loops run for real
  bool moves_state = false;  ///< no instruction of its own: copies that carry values into a loop, around it, or out of a branch
};

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
  Block block;
  std::vector<Step*> steps;  ///< all leaf steps by id
  std::vector<PlanParameter> parameters;
  std::vector<PlanOutput> outputs;
  std::vector<PlanConstant> constants;
  std::vector<BufferId> overwritten;  ///< parameters that a pass leaves with other values
  int64_t arena_bytes = 0;            ///< temporaries and scratch, packed by live range
  int64_t parameter_bytes = 0;        ///< parameters and constants, beside the arena
  StepId peak_step = 0;
};

struct PlanOptions {
  Rounding rounding = Rounding::border;
  kernel::Target target;
  std::string device_class = "cpu";
  bool reference_only = false;  ///< no kernels: every step is evaluated by the reference
};
/// Outputs that share memory with parameters by the module's header: (output, parameter).
std::vector<std::pair<BufferId, BufferId>> aliased_outputs(const Plan& plan);
base::Result<Plan> make_plan(const ir::Module& module, const PlanOptions& options);

}  // namespace replay
