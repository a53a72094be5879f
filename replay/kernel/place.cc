// Linear numbers and places: reshape and bitcast are one and then the other.
#include "replay/kernel/place.h"

namespace kernel {

Index linearise(std::span<const int64_t> sizes, const Place& place) {
  Index linear;
  for (size_t d = 0; d < sizes.size(); ++d) linear = linear * sizes[d] + place[d];
  return linear;
}

Place delinearise(Terms& terms, std::span<const int64_t> sizes, const Index& linear) {
  Place place(sizes.size());
  Index rest = terms.normal(linear);
  for (size_t d = sizes.size(); d-- > 0;) {
    if (d == 0 || sizes[d] == 0) {
      place[d] = rest;
      rest = {};
      continue;
    }
    auto [quotient, remainder] = terms.divide(rest, sizes[d]);
    place[d] = terms.normal(remainder);
    rest = terms.normal(quotient);
  }
  return place;
}

Place place_of(Terms& terms, const ir::Shape& shape, const Index& linear) {
  const auto order = ir::minor_to_major(shape);
  std::vector<int64_t> sizes(order.size());
  for (size_t i = 0; i < order.size(); ++i) sizes[i] = shape.dims[static_cast<size_t>(order[order.size() - 1 - i])];
  const Place physical = delinearise(terms, sizes, linear);
  Place place(order.size());
  for (size_t i = 0; i < order.size(); ++i) place[static_cast<size_t>(order[order.size() - 1 - i])] = physical[i];
  return place;
}

Index element_of(const ir::Shape& shape, const Place& place) {
  const auto strides = ir::strides(shape);
  Index element;
  for (size_t d = 0; d < place.size(); ++d) element = element + place[d] * strides[d];
  return element;
}

}  // namespace kernel
