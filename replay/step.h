// What a plan is made of: buffers, launches, steps, and fusions' parts beside them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "replay/defuse.h"
#include "replay/library.h"
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

/// What a product does with alpha·Σ + beta·C before it is stored. Buffers of -1 are not there.
struct Epilogue {
  enum class Activation : uint8_t { none, relu, gelu } activation = Activation::none;  ///< gelu: x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
  struct Vector {
    BufferId buffer = -1;
    ir::Type type = ir::Type::f32;
    bool operator==(const Vector&) const = default;
  } bias;                                             ///< one element a column of D, added first
  BufferId aux = -1;                                  ///< gets what goes into the activation, in D's type and places
  BufferId a_scale = -1, b_scale = -1, d_scale = -1;  ///< one f32 each: factors of A, of B, and of what is stored
  bool operator==(const Epilogue&) const = default;
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
  Epilogue after = {};         ///< only where Accepts takes it
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

/// A fusion's parts, which fill the same buffers: a second way to run its step, for comparison.
struct Variant {
  StepId fused = 0;         ///< of Plan::steps
  bool tried = false;       ///< by `fuse`: the program has the parts apart
  std::string why;          ///< why the parts can't run: then there is nothing below; "" if they can
  std::vector<Step> parts;  ///< in order
  Step whole;               ///< all their launches
  Step save, restore;       ///< copies of operands that the fusion or its parts overwrite; no launches where they don't
  int64_t scratch_bytes = 0;
  double extra_flops = 0;  ///< see Recomputed
};

}  // namespace replay
