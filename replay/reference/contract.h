// What all products share: sums in the making, and the two sides of a dot.
#pragma once

#include "replay/reference/ops.h"

namespace replay::reference {

/// Σ of products in the making.
struct Sum {
  double re = 0, im = 0, magnitude = 0, carried = 0;
  int64_t integer = 0, terms = 0;
  bool unsure = false;
};
void add_product(Sum& sum, const Values& a, size_t i, const Values& b, size_t j);
/// n products at once, of values that are `plain`.
void add_row(Sum& sum, const double* a, int64_t step_a, const double* b, int64_t step_b, int64_t n);
/// Real, exact and sure.
bool plain(const Values& v);
void store_sum(const Call& call, Values& out, size_t i, const Sum& sum);

/// Strides of the dimensions of one side of a dot: [batch…, free…] of the result, contracted ones inside.
struct Side {
  Indices batch, free, contracted;
};
Side side_of(const ir::Shape& shape, const Indices& batch, const Indices& contracting);

/// What a product's sums are made in: its type, but floats for floats that become integers or pred only at the end.
ir::Type sum_type(const Call& call);
/// Integers that are multiplied with floats, or summed into floats, as floats.
Batch summable(const Call& call, const Batch& values);

}  // namespace replay::reference
