// Custom calls whose meaning is known, by target. What stands in no table is skipped, with its name.
#include "replay/custom_calls.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include "replay/reference/contract.h"
#include "src/base/text.h"

namespace replay::reference {
namespace {

using Unary = double (*)(double);

/// Whether all operands have the result's shape; otherwise the call has failed.
bool elementwise(const Call& call) {
  for (size_t k = 0; k < call.instr.operands.size(); ++k) {
    if (ir::same_dims(call.operand_shape(k), call.shape)) continue;
    (void)call.fail("takes operands of its result's shape");
    return false;
  }
  return true;
}

/// Functions of one real number.
Batch apply(const Call& call, Unary function) {
  if (kind_of(call.operand_shape(0).type) != Kind::real) return call.fail("takes floats");
  if (!elementwise(call)) return share(zeros(call.shape.type, call.count()));
  Values out = converted(*call.operand(0), ir::Type::f64);
  for (size_t i = 0; i < out.re.size(); ++i) {
    const double x = out.re[i];
    out.re[i] = function(x);
    if (call.in.bounds()) set_bound(out, i, bound_at(out, i) + 16 * unit(call.shape.type) * std::max(1.0, std::fabs(out.re[i])));
  }
  return share(converted(std::move(out), call.shape.type));
}

template <Unary function>
Batch unary_call(const Call& call) {
  return apply(call, function);
}

/// nextafter in the type itself.
Batch next_after(const Call& call) {
  const ir::Type type = call.operand_shape(0).type;
  if ((type != ir::Type::f32 && type != ir::Type::f64) || type != call.operand_shape(1).type) return call.fail("takes two of f32 or f64");
  if (!elementwise(call)) return share(zeros(call.shape.type, call.count()));
  const Batch from = call.operand(0), towards = call.operand(1);
  Values out = *from;
  for (size_t i = 0; i < out.re.size(); ++i) {
    const double x = from->re[i], y = towards->re[i];
    out.re[i] = out.type == ir::Type::f64 ? std::nextafter(x, y)
                                          : static_cast<double>(std::nextafter(static_cast<float>(x), static_cast<float>(y)));
  }
  return share(std::move(out));
}

/// k is the last dimension of the values.
std::vector<Values> topk_call(const Call& call) {
  const ir::Shape& values = call.in.leaf_shape(call.module().shape(call.instr), 0);
  if (values.dims.empty()) return call.fail("has no dimension to look through"), std::vector<Values>();
  return largest(call, values.dims.back(), Order::descending);
}

Batch nothing(const Call& call) { return share(zeros(call.shape.type, call.count())); }

Batch gemm(const Call& call) { return dot(call); }

struct Target {
  std::string_view name;
  EvalFn eval = nullptr;
  WholeFn whole = nullptr;
};
constexpr Target kTargets[] = {
    {"AllocateBuffer", nothing},
    {"AwsNeuronGelu", unary_call<[](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }>},
    {"AwsNeuronSilu", unary_call<[](double x) { return x / (1 + std::exp(-x)); }>},
    {"Eigh", nullptr, tpu_eigh},
    {"LuDecomposition", nullptr, tpu_lu},
    {"ProductOfElementaryHouseholderReflectors", nullptr, lapack_orgqr},
    {"Qr", nullptr, lapack_geqrf},
    {"TopK", nullptr, topk_call},
    {"__cublas$gemm", gemm},
    {"__cublas$lt$matmul", gemm},
    {"__cudnn$convBackwardFilter", nullptr, cudnn_backward_filter},
    {"__cudnn$convBackwardInput", nullptr, cudnn_backward_input},
    {"__cudnn$convBiasActivationForward", nullptr, cudnn_forward},
    {"__cudnn$convForward", nullptr, cudnn_forward},
    {"__gpu$TopK", nullptr, topk_call},
    {"__op$block_scaled_dot", scaled_dot_call},
    {"cpu_csr_sparse_dense_ffi", nullptr, csr_product},
    {"cu_lu_pivots_to_permutation", nullptr, pivots_to_permutation},
    {"cu_threefry2x32", threefry_call},
    {"cusolver_geqrf_ffi", nullptr, lapack_geqrf},
    {"cusolver_gesvd_ffi", nullptr, lapack_gesdd},
    {"cusolver_gesvdj_ffi", nullptr, jacobi_svd},
    {"cusolver_gesvdp_ffi", nullptr, jacobi_svd},
    {"cusolver_getrf_ffi", nullptr, lapack_getrf},
    {"cusolver_orgqr_ffi", nullptr, lapack_orgqr},
    {"cusolver_potrf_ffi", nullptr, lapack_potrf},
    {"cusolver_syevd_ffi", nullptr, lapack_syevd},
    {"cusparse_gtsv2_ffi", nullptr, gpu_gtsv},
    {"hip_lu_pivots_to_permutation", nullptr, pivots_to_permutation},
    {"hipsolver_geqrf_ffi", nullptr, lapack_geqrf},
    {"hipsolver_gesdd_ffi", nullptr, lapack_gesdd},
    {"hipsolver_gesvd_ffi", nullptr, lapack_gesdd},
    {"hipsolver_gesvdj_ffi", nullptr, jacobi_svd},
    {"hipsolver_gesvdp_ffi", nullptr, jacobi_svd},
    {"hipsolver_getrf_ffi", nullptr, lapack_getrf},
    {"hipsolver_orgqr_ffi", nullptr, lapack_orgqr},
    {"hipsolver_potrf_ffi", nullptr, lapack_potrf},
    {"hipsolver_syevd_ffi", nullptr, lapack_syevd},
    {"hipsparse_gtsv2_ffi", nullptr, gpu_gtsv},
    {"lapack_cgeqrf_ffi", nullptr, lapack_geqrf},
    {"lapack_cgesdd_ffi", nullptr, lapack_gesdd},
    {"lapack_cgesvd_ffi", nullptr, lapack_gesdd},
    {"lapack_cgetrf_ffi", nullptr, lapack_getrf},
    {"lapack_cgtsv_ffi", nullptr, lapack_gtsv},
    {"lapack_cheevd_ffi", nullptr, lapack_syevd},
    {"lapack_cpotrf_ffi", nullptr, lapack_potrf},
    {"lapack_ctrsm_ffi", nullptr, lapack_trsm},
    {"lapack_cungqr_ffi", nullptr, lapack_orgqr},
    {"lapack_dgeqrf_ffi", nullptr, lapack_geqrf},
    {"lapack_dgesdd_ffi", nullptr, lapack_gesdd},
    {"lapack_dgesvd_ffi", nullptr, lapack_gesdd},
    {"lapack_dgetrf_ffi", nullptr, lapack_getrf},
    {"lapack_dgtsv_ffi", nullptr, lapack_gtsv},
    {"lapack_dorgqr_ffi", nullptr, lapack_orgqr},
    {"lapack_dpotrf_ffi", nullptr, lapack_potrf},
    {"lapack_dsyevd_ffi", nullptr, lapack_syevd},
    {"lapack_dtrsm_ffi", nullptr, lapack_trsm},
    {"lapack_sgeqrf_ffi", nullptr, lapack_geqrf},
    {"lapack_sgesdd_ffi", nullptr, lapack_gesdd},
    {"lapack_sgesvd_ffi", nullptr, lapack_gesdd},
    {"lapack_sgetrf_ffi", nullptr, lapack_getrf},
    {"lapack_sgtsv_ffi", nullptr, lapack_gtsv},
    {"lapack_sorgqr_ffi", nullptr, lapack_orgqr},
    {"lapack_spotrf_ffi", nullptr, lapack_potrf},
    {"lapack_ssyevd_ffi", nullptr, lapack_syevd},
    {"lapack_strsm_ffi", nullptr, lapack_trsm},
    {"lapack_zgeqrf_ffi", nullptr, lapack_geqrf},
    {"lapack_zgesdd_ffi", nullptr, lapack_gesdd},
    {"lapack_zgesvd_ffi", nullptr, lapack_gesdd},
    {"lapack_zgetrf_ffi", nullptr, lapack_getrf},
    {"lapack_zgtsv_ffi", nullptr, lapack_gtsv},
    {"lapack_zheevd_ffi", nullptr, lapack_syevd},
    {"lapack_zpotrf_ffi", nullptr, lapack_potrf},
    {"lapack_ztrsm_ffi", nullptr, lapack_trsm},
    {"lapack_zungqr_ffi", nullptr, lapack_orgqr},
    {"xla_builder.math.Acos", unary_call<[](double x) { return std::acos(x); }>},
    {"xla_builder.math.Acosh", unary_call<[](double x) { return std::acosh(x); }>},
    {"xla_builder.math.Asin", unary_call<[](double x) { return std::asin(x); }>},
    {"xla_builder.math.Asinh", unary_call<[](double x) { return std::asinh(x); }>},
    {"xla_builder.math.Atan", unary_call<[](double x) { return std::atan(x); }>},
    {"xla_builder.math.Atanh", unary_call<[](double x) { return std::atanh(x); }>},
    {"xla_builder.math.Cosh", unary_call<[](double x) { return std::cosh(x); }>},
    {"xla_builder.math.NextAfter", next_after},
    {"xla_builder.math.Sinh", unary_call<[](double x) { return std::sinh(x); }>},
};

const Target* find_target(const std::string& name) {
  const auto it = std::ranges::lower_bound(kTargets, name, {}, &Target::name);
  return it != std::end(kTargets) && it->name == name ? it : nullptr;
}
static_assert(std::ranges::is_sorted(kTargets, {}, &Target::name));

/// All leaves are made at the first request and kept in the frame. The text may declare other results than the call makes.
Batch from_whole(const Call& call, WholeFn whole) {
  std::shared_ptr<void>& note = call.frame.notes[call.id];
  if (note == nullptr) note = std::make_shared<std::vector<Values>>(whole(call));
  const auto& leaves = *static_cast<const std::vector<Values>*>(note.get());
  if (call.in.failed() || static_cast<size_t>(call.leaf) >= leaves.size()) return share(zeros(call.shape.type, call.count()));
  const Values& made = leaves[static_cast<size_t>(call.leaf)];
  if (made.type != call.shape.type || static_cast<int64_t>(size(made)) != ir::elements(call.shape)) {
    return call.fail(fmt::format("makes {} elements of {} as result {}, which is {} in the text", size(made), ir::text(made.type),
                                 call.leaf, ir::print(call.shape, ir::LayoutPrint::without)));
  }
  return share(take(made, *call.at));
}

}  // namespace

std::string unknown_target(const ir::Module& module, ir::InstrRef at) {
  const ir::Instr& instr = module.instr(at.comp, at.instr);
  if (is_annotation(module, at.comp, instr)) return "";
  const std::string target = ir::attr_string(module, instr, "custom_call_target");
  if (find_target(target) == nullptr) return fmt::format("custom-call {}: what it computes is not known", base::escaped(target));
  if (target.starts_with("__cudnn$conv")) return unknown_convolution(module, at);
  if (!ir::is_gemm_call(module, instr)) return "";
  const auto config = ir::gemm_config(module, instr);
  if (!config.ok()) return config.error().message;
  const bool plain = config->epilogue == "DEFAULT" || config->epilogue.empty();
  return plain ? "" : fmt::format("custom-call {} with epilogue {}", target, base::escaped(config->epilogue));
}

Batch custom_call(const Call& call) {
  const std::string unknown = unknown_target(call.module(), {call.frame.comp, call.id});
  if (!unknown.empty()) return call.fail("is not supported: " + unknown);
  const Target* target = find_target(ir::attr_string(call.module(), call.instr, "custom_call_target"));
  if (target == nullptr) return forward(call);
  return target->whole != nullptr ? from_whole(call, target->whole) : target->eval(call);
}

}  // namespace replay::reference
