// Arithmetic on lists of logical row-major indices.
#pragma once

#include "replay/reference/values.h"

namespace replay::reference {

/// Logical row-major strides.
Indices row_major(const std::vector<int64_t>& dims);
/// base + Σ coordinate[d] · stride[d] for each index into an array of `dims`.
Indices affine(const std::vector<int64_t>& dims, const Indices& strides, int64_t base, const Indices& at);

/// Coordinates of indices that mostly follow each other: one division a dimension only where they do not.
class Walker {
 public:
  explicit Walker(const std::vector<int64_t>& dims) : dims_(dims), at_(dims.size()) {}
  const Indices& move_to(int64_t index) {
    if (index == last_ + 1 && last_ >= 0) {
      for (size_t d = dims_.size(); d-- > 0;) {
        if (++at_[d] < dims_[d]) break;
        at_[d] = 0;
      }
    } else if (index != last_) {
      int64_t rest = index;
      for (size_t d = dims_.size(); d-- > 0; rest /= dims_[d]) at_[d] = rest % dims_[d];
    }
    last_ = index;
    return at_;
  }

 private:
  const std::vector<int64_t>& dims_;
  Indices at_;
  int64_t last_ = -1;
};

}  // namespace replay::reference
