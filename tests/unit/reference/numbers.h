// Elements of a result as doubles.
#pragma once

#include <vector>

#include "replay/element.h"
#include "replay/tensor.h"

namespace replay::reference {

using Numbers = std::vector<double>;

inline Numbers numbers_of(const Tensor& leaf) {
  Numbers out;
  for (int64_t i = 0; i < ir::elements(leaf.shape); ++i) {
    const bool is_integer = !ir::is_float(leaf.shape.type);
    out.push_back(is_integer ? static_cast<double>(load_integer(leaf.shape.type, leaf.data.data(), i))
                             : load_real(leaf.shape.type, leaf.data.data(), i));
  }
  return out;
}

}  // namespace replay::reference
