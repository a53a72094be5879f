// A replay::Gemm brought to one form before an implementation sees it.
#pragma once

#include "replay/plan.h"
#include "src/base/result.h"

namespace replay::cpu {

enum class Order : uint8_t { same, swapped };  ///< swapped: the form's A is the caller's B and the other way round

/// The same product with the elements of D's rows adjacent wherever that is possible: Dᵀ = Bᵀ·Aᵀ turns a column-major D. Strides of
/// dimensions of size 1, which mean nothing, are those of a dense row-major matrix (or column-major, if the other stride isn't 1).
struct Form {
  Gemm gemm;
  Order order = Order::same;
};
/// Error: negative sizes, or more elements than an int64_t counts; a broadcast D.
base::Result<Form> form_of(const Gemm& gemm);

}  // namespace replay::cpu
