// Costs of instructions. Flops are one set of rules (cost_flops.cc); methods differ in custom calls and in how bytes are counted:
// xla and nominal by HloCostAnalysis, traffic by what must move through memory once (cost_traffic.cc).
#include "src/ir/cost.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "src/ir/attr.h"
#include "src/ir/cost_flops.h"
#include "src/ir/cost_model.h"

namespace ir {
namespace {

constexpr double kPointerBytes = 8;

Cost max_of(const Cost& a, const Cost& b) {
  const Cost& moves_more = a.bytes() >= b.bytes() ? a : b;
  return {std::max(a.flops, b.flops), std::max(a.transcendentals, b.transcendentals), moves_more.bytes_read, moves_more.bytes_written,
          a.known && b.known};
}

void add(Cost& to, const Cost& from) {
  to.flops += from.flops;
  to.transcendentals += from.transcendentals;
  to.bytes_read += from.bytes_read;
  to.bytes_written += from.bytes_written;
  to.known = to.known && from.known;
}

}  // namespace

double CostModel::size(const Shape& shape) {
  return shape.is_tuple() ? kPointerBytes * static_cast<double>(shape.elements.size()) : leaf_bytes(shape);
}

double CostModel::leaf_bytes(const Shape& shape) {
  if (!shape.is_tuple()) {
    const size_t at = shape.layout_rest.find("E(");
    const int bits = at == std::string::npos ? 0 : std::atoi(shape.layout_rest.c_str() + at + 2);
    return bits > 0 ? std::ceil(static_cast<double>(elements(shape)) * bits / 8) : static_cast<double>(bytes(shape));
  }
  double sum = 0;
  for (const Shape& element : shape.elements) sum += leaf_bytes(element);
  return sum;
}

const Instr& CostModel::operand(const Computation& comp, const Instr& instr, size_t i) {
  return comp.instrs[static_cast<size_t>(instr.operands[i])];
}

/// One run of a computation.
const Cost& CostModel::computation(CompId id) {
  std::optional<Cost>& known = computations_[static_cast<size_t>(id)];
  if (known) return *known;
  Cost sum;
  const Computation& comp = module_.comp(id);
  for (const Instr& instr : comp.instrs) add(sum, of(comp, instr));
  return computations_[static_cast<size_t>(id)].emplace(sum);
}

Cost CostModel::of(const Computation& comp, const Instr& instr) {
  if (instr.op == Op::fusion) return fusion(instr);
  if (instr.op == Op::custom_call) return custom_call(comp, instr);
  if (is_control(instr)) return control(instr);
  const Work work = WorkRules::of(module_, comp, instr, [this](CompId id) {
    const Cost& callee = computation(id);
    return Work{callee.flops, callee.transcendentals};
  });
  const bool whole = instr.op == Op::convolution && method_ != CostMethod::xla;
  const double flops = whole ? product_flops(module_, comp, instr).value_or(work.flops) : work.flops;
  const Moved moved = method_ == CostMethod::traffic ? traffic(comp, instr) : accessed(comp, instr);
  return {flops, work.transcendentals, moved.read, moved.written, true};
}

bool CostModel::is_control(const Instr& instr) {
  static constexpr Op kControl[] = {Op::call, Op::while_, Op::conditional, Op::async_start};
  return std::ranges::find(kControl, instr.op) != std::end(kControl) && !instr.calls.empty();
}

/// The bodies once, whatever the trip count; of branches the most expensive, property by property.
Cost CostModel::control(const Instr& instr) {
  Cost result = computation(instr.calls[0]);
  for (size_t i = 1; i < instr.calls.size(); ++i) {
    if (instr.op == Op::conditional)
      result = max_of(result, computation(instr.calls[i]));
    else
      add(result, computation(instr.calls[i]));
  }
  return result;
}

Cost CostModel::custom_call(const Computation& comp, const Instr& instr) {
  Cost result;
  result.known = false;
  if (method_ == CostMethod::xla) return result;
  const auto flops = product_flops(module_, comp, instr);
  const Moved moved = method_ == CostMethod::traffic ? traffic(comp, instr) : by_default(comp, instr);
  return {flops.value_or(0), 0, moved.read, moved.written, flops.has_value()};
}

Cost CostModel::fusion(const Instr& instr) {
  if (instr.calls.empty()) return {};
  Cost result = computation(instr.calls[0]);
  const Computation& body = module_.comp(instr.calls[0]);
  if (method_ == CostMethod::traffic) {
    const Moved moved = fusion_traffic(instr, body);
    return {result.flops, result.transcendentals, moved.read, moved.written, result.known};
  }
  if (attr_text(module_, instr, "kind") == "kCustom") {  // billed as the gather or scatter inside alone
    const auto moves = [](const Instr& i) { return i.op == Op::gather || i.op == Op::scatter; };
    const auto inner = std::ranges::find_if(body.instrs, moves);
    if (inner != body.instrs.end()) return of(body, *inner);
  }
  const Moved moved = fusion_accessed(body);
  return {result.flops, result.transcendentals, moved.read, moved.written, result.known};
}

std::string_view text(CostMethod method) {
  switch (method) {
    case CostMethod::xla:
      return "xla";
    case CostMethod::nominal:
      return "nominal";
    case CostMethod::traffic:
      return "traffic";
  }
  return "";
}

Cost cost(const Module& module, InstrRef ref, CostMethod method) {
  return CostModel(module, method).of(module.comp(ref.comp), module.instr(ref.comp, ref.instr));
}

double fusion_saved_bytes(const Module& module, InstrRef fusion) {
  const Instr& instr = module.instr(fusion.comp, fusion.instr);
  if (instr.op != Op::fusion || instr.calls.empty()) return 0;
  CostModel model(module, CostMethod::traffic);
  return model.computation(instr.calls[0]).bytes() - model.of(module.comp(fusion.comp), instr).bytes();
}

}  // namespace ir
