// State of plan making: see plan.cc.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "replay/plan.h"

namespace replay {

/// Buffers of the leaves of each instruction of one computation (one instance: a call makes a new scope).
struct Scope {
  ir::CompId comp = 0;
  std::vector<std::vector<BufferId>> leaves;  ///< by instruction
};

class PlanBuilder {
 public:
  PlanBuilder(const ir::Module& module, const PlanOptions& options, std::map<ir::InstrRef, Apart> apart = {});
  base::Status build();
  Plan take() { return std::move(plan_); }

 private:
  using Leaves = std::vector<BufferId>;
  // plan_walk.cc: the walk, control flow
  base::Status add_parameters(Scope& scope);
  base::Result<Leaves> walk(Scope& scope, Block& block);
  base::Status visit(Scope& scope, Block& block, ir::InstrId id);
  base::Result<Leaves> inline_call(ir::CompId comp, const Leaves& arguments, Block& block);
  base::Status add_call(Scope& scope, Block& block, ir::InstrId id);
  const ir::Shape& state_shape(const ir::Instr& loop) const;
  base::Status add_while(Scope& scope, Block& block, ir::InstrId id);
  base::Status add_conditional(Scope& scope, Block& block, ir::InstrId id);
  base::Status add_async_start(Scope& scope, Block& block, ir::InstrId id);
  void set_async_done(Scope& scope, ir::InstrId id);
  bool is_view(const Scope& scope, const ir::Instr& instr) const;
  void set_alias(Scope& scope, ir::InstrId id);
  Leaves laid_out(const Leaves& leaves, const ir::Shape& shape, Block& block, const std::string& name, ir::InstrRef at);
  void alias_leaves(Scope& scope, ir::InstrId id);
  void set_constant(Scope& scope, ir::InstrId id);
  // plan_step.cc: what one instruction becomes
  base::Status add_step(Scope& scope, Block& block, ir::InstrId id);
  base::Status launch(Step& step, const ir::Instr& instr, const Scope& scope, const std::string& canonical);
  base::Status launch_by_library(Step& step, const ir::Instr& instr, const Scope& scope, const std::string& canonical);
  bool is_for_libraries(const ir::Instr& instr) const;
  base::Status launch_stand_in(Step& step);
  base::Status accepted(const Launch& launch) const;
  base::Status launch_product(Step& step, const ir::Instr& instr, const Scope& scope);
  BufferId arranged(Step& step, BufferId from, const ir::Shape& shape);
  base::Status launch_library(Step& step);
  base::Status launch_convolution(Step& step, const Convolution& op);
  BufferId rearranged(Step& step, BufferId like, const Permute& how);
  base::Status launch_kernel(Step& step, const ir::Module& module, ir::InstrRef at, const std::string& canonical, const Leaves& more);
  // plan_fused_products.cc
  base::Status launch_fused_products(Step& step, const ir::Instr& fusion, const Scope& scope, const std::string& canonical);
  base::Status launch_fused_product(Step& step, const ir::Instr& fusion, const Scope& scope, ir::InstrRef at, BufferId to);
  BufferId fused_operand(const Scope& scope, const ir::Instr& fusion, int64_t number) const;
  // plan_epilogue.cc
  base::Status launch_whole_product(Step& step, const ir::Instr& fusion, const Scope& scope);
  // plan_variants.cc
  struct Fused {
    StepId step = 0;
    Leaves operands;
  };
  void note_fusion(const Scope& scope, const Step& step);
  void add_variants();
  Variant variant_of(const Fused& fused);
  base::Status plan_parts(Variant& variant, const Fused& fused);
  base::Result<Leaves> walk_parts(Variant& variant, const Apart& apart, const Fused& fused);
  void deliver(Variant& variant, const Leaves& results, size_t first_buffer);
  bool may_be_made_in(const Variant& variant, BufferId made, BufferId place) const;
  void reuse_updated(Variant& variant, size_t first_buffer);
  void add_restore(Variant& variant);
  void finish_whole(Variant& variant);
  void place_parts(Variant& variant, size_t first_buffer);
  BufferId root(BufferId id) const { return id < 0 || buffer(id).alias_of < 0 ? id : buffer(id).alias_of; }
  Step new_step(const Scope& scope, ir::InstrId id);
  void make_outputs(Step& step, Scope& scope, ir::InstrId id);
  void copy_leaves(Block& block, const std::string& name, ir::InstrRef at, const Leaves& from, const Leaves& to);
  BufferId rearrange(BufferId from, const ir::Shape& shape, Block& block, std::string name, ir::InstrRef at);
  void fall_back(Step& step, const std::string& why);
  // buffers
  BufferId new_buffer(Buffer::Kind kind, std::string name, const ir::Shape& shape);
  BufferId alias(BufferId of, std::string name, const ir::Shape& shape);
  Leaves operand_leaves(const Scope& scope, const ir::Instr& instr) const;
  const Buffer& buffer(BufferId id) const { return plan_.buffers[static_cast<size_t>(id)]; }
  void share_buffers();  ///< plan_in_place.cc
  void place_buffers();

  const ir::Module& module_;
  PlanOptions options_;
  Plan plan_;
  StepId next_step_ = 0;
  int depth_ = 0;
  int maybe_ = 0;                                           ///< branches and loop bodies that the walk is in: what may not be run at all
  std::unordered_map<std::string, int> kernel_by_key_;      ///< canonical text of a step → Plan::kernels
  std::unordered_map<std::string, int> kernel_by_code_;     ///< Kernel::key → Plan::kernels
  std::unordered_map<std::string, std::string> no_kernel_;  ///< canonical text → why there is no kernel
  std::vector<std::pair<StepId, StepId>> loops_;            ///< [first, last] step of every loop
  std::vector<BufferId> kept_;                              ///< live to the end
  std::map<ir::InstrRef, Apart> apart_;                     ///< bodies of fusions that are to run as their parts too
  std::vector<Fused> fused_;                                ///< steps that get a variant
};

/// Does a reshape change nothing in memory, because both sides lie row by row?
bool keeps_order(const ir::Shape& from, const ir::Shape& to);
/// Is a bitcast the operand's memory as it stands? Not where an element of less than a byte, which has a byte of its own here, becomes
/// part of another, nor where any byte becomes a predicate.
bool shares_memory(const ir::Shape& operand, const ir::Shape& result);

/// Leaves [first, first + count) of element `index` of a tuple shape.
struct LeafRange {
  size_t first, count;
};
LeafRange leaf_range(const ir::Shape& tuple, int64_t index);

/// A product's strides from physical layouts; the Error says which dimensions don't form one.
base::Result<Gemm> plan_gemm(const ir::Shape& a, const ir::Shape& b, const ir::Shape& d, const ir::GemmConfig& config);

/// The product with as few operands as possible rearranged: their shapes with the layouts in which they form one.
struct ArrangedGemm {
  Gemm gemm;
  ir::Shape a, b, d;
};
base::Result<ArrangedGemm> plan_arranged_gemm(const ir::Shape& a, const ir::Shape& b, const ir::Shape& d, const ir::GemmConfig& config);

/// Offsets for all buffers that need memory of their own; live ranges must be final. Returns the arena's size. Best fit over a free list:
/// O(n log n).
int64_t place(std::vector<Buffer>& buffers);

}  // namespace replay
