// What one instruction becomes: a product, a copy, a stand-in, a generated kernel; failing that the reference, failing that a skip with its
// reason.
#include <fmt/format.h>

#include <algorithm>

#include "replay/custom_calls.h"
#include "replay/plan_builder.h"
#include "replay/reference/reference.h"
#include "src/base/hash.h"
#include "src/base/text.h"
#include "src/ir/print.h"

namespace replay {
namespace {

/// Values of operands that are constants: a kernel may hold them as immediates, so equal work needs equal constants.
std::string constant_operands(const ir::Module& module, ir::InstrRef ref) {
  std::string text;
  const ir::Instr& instr = module.instr(ref.comp, ref.instr);
  for (size_t i = 0; i < instr.operands.size(); ++i) {
    const ir::Instr& operand = module.instr(ref.comp, instr.operands[i]);
    if (operand.literal == ir::LiteralId::none || module.literal(operand).elided) continue;
    text += fmt::format("\noperand {} = {}", i, ir::print(module.literal(operand), module.shape(operand)));
  }
  return text;
}

/// Every leaf's elements stand in the same order.
bool same_places(const ir::Shape& a, const ir::Shape& b) {
  const auto left = ir::leaves(a), right = ir::leaves(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const ir::Leaf& x, const ir::Leaf& y) {
    return x.shape->is_array() ? ir::same_physical(*x.shape, *y.shape) : x.shape->type == y.shape->type;
  });
}

}  // namespace

BufferId PlanBuilder::new_buffer(Buffer::Kind kind, std::string name, const ir::Shape& shape) {
  Buffer made;
  made.kind = kind;
  made.name = std::move(name);
  made.shape = shape;
  made.bytes = ir::bytes(shape);
  plan_.buffers.push_back(std::move(made));
  return static_cast<BufferId>(plan_.buffers.size() - 1);
}

BufferId PlanBuilder::alias(BufferId of, std::string name, const ir::Shape& shape) {
  if (of < 0) return of;
  const BufferId root = buffer(of).alias_of >= 0 ? buffer(of).alias_of : of;
  const BufferId made = new_buffer(buffer(root).kind, std::move(name), shape);
  plan_.buffers.back().alias_of = root;
  return made;
}

Step PlanBuilder::new_step(const Scope& scope, ir::InstrId id) {
  const ir::Instr& instr = module_.instr(scope.comp, id);
  Step step;
  step.id = next_step_++;
  step.name = module_.name_of(instr);
  step.instr = {scope.comp, id};
  for (const BufferId leaf : operand_leaves(scope, instr)) {
    if (leaf >= 0) step.in.push_back(leaf);
  }
  return step;
}

void PlanBuilder::make_outputs(Step& step, Scope& scope, ir::InstrId id) {
  const ir::Instr& instr = module_.instr(scope.comp, id);
  for (const ir::Leaf& leaf : ir::leaves(module_.shape(instr))) {
    BufferId made = -1;
    if (leaf.shape->is_array()) {
      const std::string path = ir::path_text(leaf.path);
      made = new_buffer(Buffer::Kind::temporary, path.empty() ? step.name : step.name + "." + path, *leaf.shape);
      step.out.push_back(made);
    }
    scope.leaves[static_cast<size_t>(id)].push_back(made);
  }
}

void PlanBuilder::copy_leaves(Block& block, const std::string& name, ir::InstrRef at, const Leaves& from, const Leaves& to) {
  Step step;
  step.name = name;
  step.instr = at;
  step.cls = Class::copy;
  step.moves_state = true;
  const auto root = [&](BufferId id) { return buffer(id).alias_of >= 0 ? buffer(id).alias_of : id; };
  std::vector<Copy> direct, staged;
  for (size_t i = 0; i < from.size() && i < to.size(); ++i) {
    if (from[i] < 0 || to[i] < 0 || root(from[i]) == root(to[i])) continue;
    step.in.push_back(from[i]);
    step.out.push_back(to[i]);
    // A value that stands in another destination must be saved before that is overwritten.
    const bool overwritten = std::any_of(to.begin(), to.end(), [&](BufferId t) { return t >= 0 && root(t) == root(from[i]); });
    if (!overwritten) {
      direct.push_back({from[i], to[i]});
      continue;
    }
    const ir::Shape shape = buffer(to[i]).shape;
    const BufferId scratch = new_buffer(Buffer::Kind::scratch, name + ".staged", shape);
    step.scratch.push_back(scratch);
    step.launches.emplace_back(Copy{from[i], scratch});
    staged.push_back({scratch, to[i]});
  }
  if (step.out.empty()) return;
  step.launches.insert(step.launches.end(), direct.begin(), direct.end());
  step.launches.insert(step.launches.end(), staged.begin(), staged.end());
  step.key = base::hash128_hex(fmt::format("state copy of {} leaves {}", step.out.size(), ir::print(buffer(step.out[0]).shape)));
  step.id = next_step_++;
  block.emplace_back(std::move(step));
}

/// A step that brings the elements into the physical order of `shape`.
BufferId PlanBuilder::rearrange(BufferId from, const ir::Shape& shape, Block& block, std::string name, ir::InstrRef at) {
  const BufferId made = new_buffer(Buffer::Kind::temporary, name, shape);
  auto op = std::make_shared<const LibraryOp>(permute_between(buffer(from).shape, shape));
  Step step;
  step.id = next_step_++;
  step.name = std::move(name);
  step.instr = at;
  step.cls = Class::copy;
  step.moves_state = true;
  step.key = base::hash128_hex(text_of(*op));
  step.in = {from};
  step.out = {made};
  step.launches.emplace_back(LibraryCall{std::move(op), step.in, step.out});
  block.emplace_back(std::move(step));
  return made;
}

base::Status PlanBuilder::add_step(Scope& scope, Block& block, ir::InstrId id) {
  const ir::Instr& instr = module_.instr(scope.comp, id);
  if (is_annotation(module_, scope.comp, instr)) {
    if (same_places(module_.shape(module_.instr(scope.comp, instr.operands[0])), module_.shape(instr))) {
      alias_leaves(scope, id);
      return {};
    }
    scope.leaves[static_cast<size_t>(id)] =
        laid_out(operand_leaves(scope, instr), module_.shape(instr), block, std::string(module_.name_of(instr)), {scope.comp, id});
    return {};
  }
  Step step = new_step(scope, id);
  make_outputs(step, scope, id);
  const std::string canonical = ir::canonical(module_, step.instr) + constant_operands(module_, step.instr);
  step.key = base::hash128_hex(canonical + "\n" + options_.device_class);
  const base::Status launched =
      options_.reference_only ? base::Status(base::Error{"device reference"}) : launch(step, instr, scope, canonical);
  if (!launched.ok()) fall_back(step, launched.error().message);
  note_fusion(scope, step);
  block.emplace_back(std::move(step));
  return {};
}

base::Status PlanBuilder::launch(Step& step, const ir::Instr& instr, const Scope& scope, const std::string& canonical) {
  const bool plain_copy =
      instr.op == ir::Op::copy && module_.shape(instr).is_array() && ir::same_physical(module_.shape(instr), buffer(step.in.at(0)).shape);
  if (plain_copy) {
    step.launches.emplace_back(Copy{step.in[0], step.out[0]});
    step.cls = Class::copy;
    return {};
  }
  if (ir::info(instr.op).cls == ir::OpClass::collective) return launch_stand_in(step);
  const base::Status by_library = launch_by_library(step, instr, scope, canonical);
  if (by_library.ok() || instr.op == ir::Op::custom_call) return by_library;
  if (instr.op == ir::Op::set_dimension_size) return base::Error{"set-dimension-size: the size is known at run time only"};
  if (ir::info(instr.op).cls == ir::OpClass::order) return base::Error{"no kernel"};
  RETURN_IF_ERROR(launch_kernel(step, module_, step.instr, canonical, {}));
  if (is_for_libraries(instr)) plan_.refused.emplace(std::get<KernelCall>(step.launches.back()).kernel, by_library.error().message);
  return {};
}

/// Error: the step has no work of a library, or why none does it.
base::Status PlanBuilder::launch_by_library(Step& step, const ir::Instr& instr, const Scope& scope, const std::string& canonical) {
  if (instr.op == ir::Op::dot || ir::is_gemm_call(module_, instr)) return launch_product(step, instr, scope);
  if (instr.op == ir::Op::fusion) {
    const base::Status whole = launch_whole_product(step, instr, scope);
    if (whole.ok()) return {};
    const base::Status parts = launch_fused_products(step, instr, scope, canonical);
    return parts.ok() || ir::attr_string(module_, instr, "custom_call_target").empty() ? parts : whole;
  }
  base::Status done = launch_library(step);
  if (done.ok() || instr.op != ir::Op::custom_call) return done;
  return base::Error{
      fmt::format("custom call {}: {}", base::escaped(ir::attr_string(module_, instr, "custom_call_target")), done.error().message)};
}

/// A product, a convolution, a fusion of one or with what follows it.
bool PlanBuilder::is_for_libraries(const ir::Instr& instr) const {
  if (instr.op != ir::Op::fusion) return instr.op == ir::Op::dot || instr.op == ir::Op::convolution;
  if (!ir::attr_string(module_, instr, "custom_call_target").empty()) return true;
  return instr.calls.size() == 1 && is_for_libraries(module_.instr(instr.calls[0], module_.comp(instr.calls[0]).root));
}

base::Status PlanBuilder::launch_stand_in(Step& step) {
  const bool same = step.in.size() == step.out.size() &&
                    std::equal(step.in.begin(), step.in.end(), step.out.begin(),
                               [&](BufferId a, BufferId b) { return ir::same_physical(buffer(a).shape, buffer(b).shape); });
  if (!same) return base::Error{"a collective that changes the shape needs its group of devices"};
  for (size_t i = 0; i < step.in.size(); ++i) step.launches.emplace_back(Copy{step.in[i], step.out[i]});
  step.cls = Class::stand_in;
  step.why = "one device: a copy runs in place of the exchange";
  return {};
}

/// An operand in the layout of `shape`: itself, or a copy.
BufferId PlanBuilder::arranged(Step& step, BufferId from, const ir::Shape& shape) {
  if (ir::same_physical(buffer(from).shape, shape)) return from;
  const BufferId made = new_buffer(Buffer::Kind::scratch, step.name + ".arranged", shape);
  step.scratch.push_back(made);
  auto op = std::make_shared<const LibraryOp>(permute_between(buffer(from).shape, shape));
  step.launches.emplace_back(LibraryCall{std::move(op), {from}, {made}});
  return made;
}

base::Status PlanBuilder::accepted(const Launch& launch) const {
  return options_.accepts != nullptr ? options_.accepts(launch) : base::Status();
}

base::Status PlanBuilder::launch_product(Step& step, const ir::Instr& instr, const Scope& scope) {
  ASSIGN_OR_RETURN(const ir::GemmConfig config, ir::gemm_config(module_, instr));
  if (config.epilogue != "DEFAULT") return base::Error{fmt::format("epilogue {} is not known", base::escaped(config.epilogue))};
  if (step.in.size() != instr.operands.size() || step.in.size() < 2 || step.out.empty())
    return base::Error{"a product takes two arrays or more and gives one"};
  const auto shape = [&](size_t operand) -> const ir::Shape& {
    return module_.shape(module_.instr(scope.comp, instr.operands.at(operand)));
  };
  ASSIGN_OR_RETURN(ArrangedGemm plan, plan_arranged_gemm(shape(0), shape(1), buffer(step.out.at(0)).shape, config));
  Gemm& gemm = plan.gemm;
  RETURN_IF_ERROR(accepted(gemm));
  const bool direct = ir::same_physical(plan.d, buffer(step.out[0]).shape);
  if (gemm.beta != 0) {
    if (!direct || step.in.size() < 3 || !ir::same_physical(buffer(step.in[2]).shape, buffer(step.out[0]).shape)) {
      return base::Error{"beta is not 0, but there is no C with the layout of the result"};
    }
    step.launches.emplace_back(Copy{step.in[2], step.out[0]});
  }
  gemm.a.buffer = arranged(step, step.in.at(0), plan.a);
  gemm.b.buffer = arranged(step, step.in.at(1), plan.b);
  gemm.d.buffer = step.out[0];
  if (!direct) {
    gemm.d.buffer = new_buffer(Buffer::Kind::scratch, step.name + ".product", plan.d);
    step.scratch.push_back(gemm.d.buffer);
  }
  step.launches.emplace_back(gemm);
  if (!direct) {
    auto op = std::make_shared<const LibraryOp>(permute_between(plan.d, buffer(step.out[0]).shape));
    step.launches.emplace_back(LibraryCall{std::move(op), {gemm.d.buffer}, {step.out[0]}});
  }
  step.cls = Class::library;
  return {};
}

BufferId PlanBuilder::rearranged(Step& step, BufferId from, const Permute& how) {
  int64_t elements = 1;
  for (const Permute::Dim& dim : how.dims) elements *= dim.size;
  const BufferId made = new_buffer(Buffer::Kind::scratch, step.name + ".arranged", ir::array_shape(buffer(from).shape.type, {elements}));
  step.scratch.push_back(made);
  return made;
}

base::Status PlanBuilder::launch_convolution(Step& step, const Convolution& op) {
  const ArrangedConvolution as = options_.arranges(op);
  LibraryCall call{std::make_shared<const LibraryOp>(as.op), step.in, step.out};
  RETURN_IF_ERROR(accepted(call));
  const auto permute = [&](const Permute& how, BufferId from, BufferId to) {
    step.launches.emplace_back(LibraryCall{std::make_shared<const LibraryOp>(how), {from}, {to}});
  };
  const std::pair<const std::optional<Permute>*, size_t> operands[] = {{&as.first, 0}, {&as.second, 1}};
  for (const auto& [how, k] : operands) {
    if (!*how) continue;
    call.in[k] = rearranged(step, step.in.at(k), **how);
    permute(**how, step.in[k], call.in[k]);
  }
  if (as.result) call.out[0] = rearranged(step, step.out.at(0), *as.result);
  const BufferId made = call.out.at(0);
  step.launches.emplace_back(std::move(call));
  if (as.result) permute(*as.result, made, step.out[0]);
  step.cls = Class::library;
  return {};
}

base::Status PlanBuilder::launch_library(Step& step) {
  ASSIGN_OR_RETURN(std::shared_ptr<const LibraryOp> op, library_op(module_, step.instr));
  const auto* convolution = std::get_if<Convolution>(op.get());
  if (convolution != nullptr && options_.arranges != nullptr) return launch_convolution(step, *convolution);
  LibraryCall call{std::move(op), step.in, step.out};
  RETURN_IF_ERROR(accepted(call));
  step.launches.emplace_back(std::move(call));
  step.cls = Class::library;
  return {};
}

/// The kernel of instruction `at`, which is that of the step or what is left of it; `more`: operands beside the step's own.
base::Status PlanBuilder::launch_kernel(Step& step, const ir::Module& module, ir::InstrRef at, const std::string& canonical,
                                        const Leaves& more) {
  if (const auto failed = no_kernel_.find(canonical); failed != no_kernel_.end()) return base::Error{failed->second};
  auto known = kernel_by_key_.find(canonical);
  if (known == kernel_by_key_.end()) {
    auto made = kernel::make(module, at, options_.rounding, options_.target);
    if (!made.ok()) {
      no_kernel_.emplace(canonical, made.error().message);
      return made.error();
    }
    // Different instructions may come to the same code.
    const auto [same, fresh] = kernel_by_code_.emplace(made->key, static_cast<int>(plan_.kernels.size()));
    if (fresh) plan_.kernels.push_back(*std::move(made));
    known = kernel_by_key_.emplace(canonical, same->second).first;
  }
  const kernel::Kernel& code = plan_.kernels[static_cast<size_t>(known->second)];
  KernelCall call{known->second, step.in};
  call.args.insert(call.args.end(), more.begin(), more.end());
  call.args.insert(call.args.end(), step.out.begin(), step.out.end());
  if (code.scratch_bytes > 0) {
    step.scratch.push_back(new_buffer(Buffer::Kind::scratch, step.name + ".scratch", ir::array_shape(ir::Type::u8, {code.scratch_bytes})));
    call.args.push_back(step.scratch.back());
  }
  step.launches.emplace_back(std::move(call));
  step.cls = Class::kernel;
  return {};
}

void PlanBuilder::fall_back(Step& step, const std::string& why) {
  step.launches.clear();
  for (const BufferId scratch : step.scratch) plan_.buffers[static_cast<size_t>(scratch)].bytes = 0;
  step.scratch.clear();
  const std::string missing = reference::Evaluator(module_, options_.rounding).unsupported(step.instr);
  step.cls = missing.empty() ? Class::reference : Class::skip;
  if (missing.empty()) {
    step.why = why;
    return;
  }
  const ir::Op op = module_.instr(step.instr.comp, step.instr.instr).op;
  const bool says_itself = op == ir::Op::custom_call || ir::info(op).cls == ir::OpClass::order || options_.reference_only;
  step.why = says_itself ? missing : fmt::format("{}; {}", why, missing);
}

}  // namespace replay
