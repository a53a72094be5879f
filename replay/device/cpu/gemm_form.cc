// Brings a product to one form: D = A·B with D row-major is (D as its transpose) = Bᵀ·Aᵀ, so exchanging the operands and the two
// strides of each turns one into the other without touching data.
#include "replay/device/cpu/gemm_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace replay::cpu {
namespace {

Gemm::Operand transposed(Gemm::Operand operand) {
  std::swap(operand.row_stride, operand.column_stride);
  return operand;
}

Gemm exchanged(const Gemm& gemm) {
  Gemm result = gemm;
  std::swap(result.m, result.n);
  result.a = transposed(gemm.b);
  result.b = transposed(gemm.a);
  result.d = transposed(gemm.d);
  return result;
}

Gemm::Operand dense(Gemm::Operand operand, int64_t batch, int64_t rows, int64_t columns) {
  if (columns == 1) operand.column_stride = operand.row_stride == 1 && rows > 1 ? rows : 1;
  if (rows == 1) operand.row_stride = operand.column_stride == 1 ? columns : 1;
  if (batch == 1) operand.batch_stride = 0;
  return operand;
}

bool countable(int64_t x, int64_t y, int64_t z) {
  int64_t area = 0, volume = 0;
  return !__builtin_mul_overflow(x, y, &area) && !__builtin_mul_overflow(area, z, &volume) && volume < INT64_MAX / 64;
}

}  // namespace

base::Result<Form> form_of(const Gemm& gemm) {
  const auto fail = [&](const char* what) {
    return base::Error{fmt::format("product {}×[{}×{}×{}]: {}", gemm.batch, gemm.m, gemm.n, gemm.k, what)};
  };
  if (std::min({gemm.batch, gemm.m, gemm.n, gemm.k}) < 0) return fail("a size is negative; check the shapes");
  if (!countable(gemm.batch, gemm.m, gemm.n) || !countable(gemm.batch, gemm.m, gemm.k) || !countable(gemm.batch, gemm.k, gemm.n)) {
    return fail("too many elements; scale the program down");
  }
  const bool no_result = gemm.m == 0 || gemm.n == 0;
  if (!no_result && ((gemm.batch > 1 && gemm.d.batch_stride == 0) || (gemm.m > 1 && gemm.d.row_stride == 0) ||
                     (gemm.n > 1 && gemm.d.column_stride == 0))) {
    return fail("the result can't be broadcast; give it strides");
  }
  Form form{gemm, Order::same};
  if (gemm.n > 1 ? gemm.m > 1 && gemm.d.column_stride != 1 && gemm.d.row_stride == 1 : gemm.m > 1) {
    form = {exchanged(gemm), Order::swapped};
  }
  Gemm& g = form.gemm;
  g.a = dense(g.a, g.batch, g.m, g.k);
  g.b = dense(g.b, g.batch, g.k, g.n);
  g.d = dense(g.d, g.batch, g.m, g.n);
  return form;
}

}  // namespace replay::cpu
