// The plan tells launches and products, the cost model work and bytes, the description the rates.
#include "replay/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "src/ir/cost.h"

namespace replay {
namespace {

/// A product or convolution among the launches of a step.
struct Product {
  ir::Type a, b, d;
  double flops = 0;
};

std::vector<Product> products_of(const Step& step) {
  std::vector<Product> products;
  for (const Launch& launch : step.launches) {
    if (const auto* gemm = std::get_if<Gemm>(&launch)) products.push_back({gemm->a.type, gemm->b.type, gemm->d.type, gemm->flops()});
    const auto* call = std::get_if<LibraryCall>(&launch);
    if (call == nullptr) continue;
    if (const auto* c = std::get_if<Convolution>(call->op.get())) products.push_back({c->x.type, c->w.type, c->y.type, c->flops()});
  }
  return products;
}

/// Does it compute f64?
bool is_wide(const Plan& plan, const Step& step) {
  const ir::Shape& shape = plan.module->shape(plan.module->instr(step.instr.comp, step.instr.instr));
  return std::ranges::any_of(ir::leaves(shape),
                             [](const ir::Leaf& leaf) { return leaf.shape->type == ir::Type::f64 || leaf.shape->type == ir::Type::c128; });
}

double per(double work, double rate) { return rate > 0 ? work / rate * 1e9 : 0; }

}  // namespace

double Prediction::total_ns() const { return launches_ns + std::max({memory_ns, product_ns, vector_ns, function_ns, latency_ns}); }

Prediction predict(const Plan& plan, const Step& step, const Machine& machine) {
  Prediction p;
  const auto launches = static_cast<double>(step.launches.size());
  p.launches_ns = launches * machine.launch_ns.value;
  p.latency_ns = launches * 2 * machine.latency_ns();
  if (step.moves_state || step.launches.empty()) return p;
  const ir::Cost nominal = ir::cost(*plan.module, step.instr, ir::CostMethod::nominal);
  const ir::Cost traffic = ir::cost(*plan.module, step.instr, ir::CostMethod::traffic);
  p.memory_ns = per(traffic.bytes(), machine.memory_bytes_per_s.value * machine.memory_efficiency.value);
  double others = nominal.flops;
  for (const Product& product : products_of(step)) {
    const double flops = std::min(product.flops, others);  // the cost model leaves out what a convolution multiplies with padding
    const ProductFigures* figures = product_figures(machine, product.a);
    if (figures == nullptr) continue;
    p.product_ns += per(flops, figures->flops_per_s.value * figures->efficiency.value);
    others -= flops;
  }
  const double f64 = machine.vector_f64_flops_per_s.value,
               vector = is_wide(plan, step) && f64 > 0 ? f64 : machine.vector_f32_flops_per_s.value;
  p.vector_ns = per(others, vector / 2);
  p.function_ns = per(nominal.transcendentals, machine.functions_per_clock.value * machine.multiprocessors.value * machine.clock_hz.value);
  return p;
}

std::string predicted_precision(const Step& step) {
  const std::vector<Product> products = products_of(step);
  if (products.empty()) return std::string(kVectorPrecision);
  const Product& p = products.front();
  const auto sums = p.d == ir::Type::f64 || p.d == ir::Type::c128 || p.d == ir::Type::s32 ? p.d : ir::Type::f32;
  return fmt::format("{}×{}→{}→{}", ir::text(p.a), ir::text(p.b), ir::text(sums), ir::text(p.d));
}

}  // namespace replay
