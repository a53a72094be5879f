// Matrices in the last two dimensions of arrays: shared by the ops and by LAPACK's custom calls.
#pragma once

#include <complex>

#include "replay/reference/ops.h"

namespace replay::reference {

using Complex = std::complex<double>;

inline Complex complex_at(const Values& v, size_t i) { return {v.re[i], v.im.empty() ? 0 : v.im[i]}; }
inline void set_complex(Values& v, size_t i, Complex x) {
  v.re[i] = x.real();
  if (!v.im.empty()) v.im[i] = x.imag();
}

/// Bounds of backward stable algorithms on matrices of n rows.
void stable_bound(const Call& call, Values& values, size_t n);

/// A letter of a LAPACK call's backend_config, where it stands as its number: {uplo = 76 : ui8} is 'L'.
char letter_option(const Call& call, std::string_view key, char otherwise);
/// What stands as `key = true` or `key = false` in the backend_config of a GPU library's call.
bool true_option(const Call& call, std::string_view key, bool otherwise);
/// Which triangle is given: {uplo = 76 : ui8} (LAPACK) or {lower = true} (cuSOLVER, hipSOLVER).
bool lower_option(const Call& call);

struct Triangular {
  bool left = true, lower = true, unit_diagonal = false, transposed = false, conjugated = false;
};
/// op(A)·X = B or X·op(A) = B for operands 0 (A) and 1 (B); X in the place of B.
std::vector<Values> solved(const Call& call, const Triangular& how);

}  // namespace replay::reference
