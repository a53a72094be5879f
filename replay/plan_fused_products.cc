// Products inside fusions, as XLA makes them for libraries of its own (`__ynn_fusion`, `__onednn_fusion`) and for tiles of GPU code: a
// product whose operands come in from outside runs as a product, and the rest of the fusion, if there is any, as a kernel that reads its
// result.
#include <algorithm>

#include "replay/plan_builder.h"
#include "src/ir/builder.h"
#include "src/ir/cost.h"

namespace replay {
namespace {

/// Multiply-adds from which on a product beside other work is worth a launch of its own.
constexpr double kFlopsOfALaunch = 1 << 18;

bool is_product(ir::Op op) { return op == ir::Op::dot || op == ir::Op::convolution; }

/// Through bitcasts that keep the memory as it is.
ir::InstrId origin(const ir::Module& module, ir::CompId comp, ir::InstrId id) {
  for (;;) {
    const ir::Instr& instr = module.instr(comp, id);
    if (instr.op != ir::Op::bitcast) return id;
    const ir::InstrId from = instr.operands.at(0);
    if (!shares_memory(module.shape(module.instr(comp, from)), module.shape(instr))) return id;
    id = from;
  }
}

/// The fusion alone, with the products' results as further operands.
ir::Module without_products(const ir::Module& module, ir::InstrRef fusion, const std::vector<ir::InstrId>& products) {
  ir::Module rest = ir::extract_instruction(module, fusion);
  ir::Computation& entry = rest.comp(rest.entry);
  const ir::CompId callee = entry.instrs[static_cast<size_t>(entry.root)].calls.at(0);
  for (const ir::InstrId id : products) {
    ir::Computation& comp = rest.comp(callee);
    ir::Instr& product = comp.instrs[static_cast<size_t>(id)];
    ir::Instr given;
    given.name = product.name, given.shape = product.shape, given.number = static_cast<int64_t>(comp.parameters.size());
    product = given;
    comp.parameters.push_back(id);
    ir::Instr outside = given;
    outside.number = static_cast<int64_t>(entry.parameters.size());
    entry.parameters.push_back(static_cast<ir::InstrId>(entry.instrs.size()));
    entry.instrs.push_back(std::move(outside));
    entry.instrs[static_cast<size_t>(entry.root)].operands.push_back(entry.parameters.back());
  }
  return rest;
}

bool is_wide(ir::Type type) { return type == ir::Type::f32 || type == ir::Type::f64; }

}  // namespace

/// The step's operand that parameter `number` of the fused computation is; -1 if it is no array.
BufferId PlanBuilder::fused_operand(const Scope& scope, const ir::Instr& fusion, int64_t number) const {
  if (number < 0 || static_cast<size_t>(number) >= fusion.operands.size()) return -1;
  const Leaves& leaves = scope.leaves[static_cast<size_t>(fusion.operands[static_cast<size_t>(number)])];
  return leaves.size() == 1 ? leaves[0] : -1;
}

/// Launches the product `at` of a fusion, into `to`. Error: an operand is made inside the fusion, or there is no product of this form.
base::Status PlanBuilder::launch_fused_product(Step& step, const ir::Instr& fusion, const Scope& scope, ir::InstrRef at, BufferId to) {
  const ir::Computation& comp = module_.comp(at.comp);
  const ir::Instr& product = module_.instr(at.comp, at.instr);
  Step part;
  part.name = step.name;
  part.instr = at;
  part.out = {to};
  for (const ir::InstrId operand : product.operands) {
    const ir::Instr& from = comp.instrs[static_cast<size_t>(origin(module_, at.comp, operand))];
    const BufferId given = from.op == ir::Op::parameter ? fused_operand(scope, fusion, from.number) : -1;
    if (given < 0) return base::Error{"an operand of the product is made inside the fusion"};
    part.in.push_back(alias(given, buffer(given).name, module_.shape(comp.instrs[static_cast<size_t>(operand)])));
  }
  const Scope inside{at.comp, {}};
  if (product.op == ir::Op::convolution) {
    RETURN_IF_ERROR(launch_library(part));
  } else {
    RETURN_IF_ERROR(launch_product(part, product, inside));
  }
  step.launches.insert(step.launches.end(), part.launches.begin(), part.launches.end());
  step.scratch.insert(step.scratch.end(), part.scratch.begin(), part.scratch.end());
  return {};
}

base::Status PlanBuilder::launch_fused_products(Step& step, const ir::Instr& fusion, const Scope& scope, const std::string& canonical) {
  const ir::CompId callee = fusion.calls.size() == 1 ? fusion.calls[0] : -1;
  if (callee < 0 || step.out.size() != 1) return base::Error{"no fusion of a product"};
  const ir::Computation& comp = module_.comp(callee);
  const ir::InstrId root = origin(module_, callee, comp.root);
  if (is_product(comp.instrs[static_cast<size_t>(root)].op)) {
    const BufferId to =
        root == comp.root ? step.out[0] : alias(step.out[0], step.name, module_.shape(comp.instrs[static_cast<size_t>(root)]));
    RETURN_IF_ERROR(launch_fused_product(step, fusion, scope, {callee, root}, to));
    step.cls = Class::library;
    return {};
  }
  std::vector<ir::InstrId> products;
  Leaves results;
  for (ir::InstrId id = 0; id < static_cast<ir::InstrId>(comp.instrs.size()); ++id) {
    const ir::Instr& product = comp.instrs[static_cast<size_t>(id)];
    if (!is_product(product.op) || !is_wide(module_.shape(product).type)) continue;
    if (ir::cost(module_, {callee, id}, ir::CostMethod::nominal).flops < kFlopsOfALaunch) continue;
    const BufferId to = new_buffer(Buffer::Kind::scratch, step.name + "." + std::string(module_.name_of(product)), module_.shape(product));
    if (!launch_fused_product(step, fusion, scope, {callee, id}, to).ok()) {
      plan_.buffers[static_cast<size_t>(to)].bytes = 0;
      continue;
    }
    step.scratch.push_back(to);
    products.push_back(id);
    results.push_back(to);
  }
  if (products.empty()) return base::Error{"no product with operands from outside"};
  const ir::Module rest = without_products(module_, step.instr, products);
  RETURN_IF_ERROR(launch_kernel(step, rest, {rest.entry, rest.comp(rest.entry).root}, canonical + "\nwithout its products", results));
  step.cls = Class::library;
  return {};
}

}  // namespace replay
