// How long a step would take on a machine that is described, not here.
#pragma once

#include <string>
#include <string_view>

#include "replay/machine.h"
#include "replay/plan.h"

namespace replay {

/// The parts of a prediction, in ns. Work counts are those of the cost model (the nominal method, bytes of the traffic method): exact.
struct Prediction {
  double launches_ns = 0;  ///< starting: launches · launch_ns
  double memory_ns = 0;    ///< bytes / (memory_bytes_per_s · memory_efficiency)
  double product_ns = 0;   ///< Σ over products and convolutions: flops / (flops_per_s · efficiency), both of the operands' type
  double vector_ns = 0;    ///< other flops / (vector_f32_flops_per_s / 2): rarely multiply-adds, which the published rate counts as 2
  double function_ns = 0;  ///< transcendentals / (functions_per_clock · multiprocessors · clock_hz)
  double latency_ns = 0;   ///< launches · 2 · latency of memory: each reads something and writes what depends on it
  /// launches_ns + max(all others): what runs at the same time hides what is shorter.
  double total_ns() const;
};

/// Time of one execution of `step` on `machine`, as a roofline (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009) with what keeps
/// short kernels from it: the start of each launch and the latency of memory. A prediction of what a good kernel takes: caches that hold a
/// step's data, the last wave of blocks, small products, clocks that fall under power limits and host synchronisation in loops are not in
/// it. Steps that launch nothing take nothing.
Prediction predict(const Plan& plan, const Step& step, const Machine& machine);
/// "f16×f16→f32→f16" of the first product, kVectorPrecision where there is none.
std::string predicted_precision(const Step& step);

/// The formula in a sentence, as it is stored with a run.
inline constexpr std::string_view kPredictionFormula =
    "launches * launch_ns + max(bytes / (memory_bytes_per_s * memory_efficiency), product flops / (flops_per_s * efficiency of their "
    "type), "
    "other flops / (vector_f32_flops_per_s / 2), functions / (functions_per_clock * multiprocessors * clock_hz), launches * 2 * memory "
    "latency)";

}  // namespace replay
