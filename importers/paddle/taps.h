// Sums of a few elements with constant weights, along a dimension.
#pragma once

#include <utility>
#include <vector>

#include "importers/paddle/lower.h"

namespace importers::paddle {

struct Taps {
  std::vector<std::vector<std::pair<int64_t, double>>> places;  ///< for each new place: old places and their weights
  size_t most() const;                                          ///< weights of a place
};
/// What the gradient sums: for each of the `from` old places the new ones that it went to.
Taps transposed(const Taps& taps, int64_t from);
/// The sums for each new place along `axis`.
Value tapped(Body& b, Value x, const Taps& taps, int64_t axis);

}  // namespace importers::paddle
