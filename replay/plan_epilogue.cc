// Products and convolutions with what follows them as one launch. The fusion that a call of cuBLASLt or cuDNN has become (decompose.h)
// still says which call it was, and takes the call's operands in their order; behind the results stands the workspace, which the device has
// elsewhere.
#include <algorithm>

#include "replay/plan_builder.h"
#include "src/ir/attr.h"

namespace replay {
namespace {

using Activation = Epilogue::Activation;

struct EpilogueRow {
  std::string_view name;
  Activation activation;
  bool bias = false, aux = false;
};
constexpr EpilogueRow kEpilogueRows[] = {
    {"DEFAULT", Activation::none},
    {"BIAS", Activation::none, true},
    {"RELU", Activation::relu},
    {"BIAS_RELU", Activation::relu, true},
    {"GELU", Activation::gelu},
    {"BIAS_GELU", Activation::gelu, true},
    {"GELU_AUX", Activation::gelu, false, true},
    {"BIAS_GELU_AUX", Activation::gelu, true, true},
};

}  // namespace

/// Error: the fusion is none of these, an operand would have to be rearranged, or the device has no function for it.
base::Status PlanBuilder::launch_whole_product(Step& step, const ir::Instr& fusion, const Scope& scope) {
  const std::string target = ir::attr_string(module_, fusion, "custom_call_target");
  if (target == "__cudnn$convBiasActivationForward") return launch_library(step);
  if (!target.starts_with("__cublas$lt$matmul")) return base::Error{"no call of a product"};
  ASSIGN_OR_RETURN(const ir::GemmConfig config, ir::gemm_config(module_, fusion));
  const auto row = std::ranges::find(kEpilogueRows, config.epilogue, &EpilogueRow::name);
  const size_t c = config.beta != 0 ? 1 : 0, factors = target.ends_with("$f8") ? 2 : 0, inputs = 2 + c + factors;
  if (row == std::end(kEpilogueRows) || step.in.size() != inputs + (row->bias ? 1 : 0) || step.out.size() < (row->aux ? 2u : 1u))
    return base::Error{"an epilogue that is not known"};
  const auto shape = [&](size_t k) -> const ir::Shape& { return module_.shape(module_.instr(scope.comp, fusion.operands.at(k))); };
  const ir::Shape& result = buffer(step.out[0]).shape;
  ASSIGN_OR_RETURN(Gemm gemm, plan_gemm(shape(0), shape(1), result, config));
  if (c > 0 && !ir::same_physical(buffer(step.in[2]).shape, result)) return base::Error{"C has not the layout of the result"};
  if (row->aux && !ir::same_physical(buffer(step.out[1]).shape, result))
    return base::Error{"what is kept has not the layout of the result"};
  gemm.a.buffer = step.in[0], gemm.b.buffer = step.in[1], gemm.d.buffer = step.out[0];
  gemm.after.activation = row->activation;
  if (factors > 0) gemm.after.a_scale = step.in[2 + c], gemm.after.b_scale = step.in[3 + c];
  if (row->bias) gemm.after.bias = {step.in[inputs], shape(inputs).type};
  if (row->aux) gemm.after.aux = step.out[1];
  RETURN_IF_ERROR(accepted(gemm));
  if (c > 0) step.launches.emplace_back(Copy{step.in[2], step.out[0]});
  step.launches.emplace_back(gemm);
  step.cls = Class::library;
  return {};
}

}  // namespace replay
