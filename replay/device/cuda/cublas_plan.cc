// BLAS stores matrices by columns. A result by rows is its transpose by columns, and Dᵀ = Bᵀ·Aᵀ: so the operands change places, and a
// matrix by rows is taken as the transposed one by columns, whose op undoes it where needed.
#include "replay/device/cuda/cublas_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace replay::cuda {
namespace {

using base::Error;
using base::Result;

struct TypeName {
  ir::Type type;
  CudaType number;
};
constexpr TypeName kTypes[] = {
    {ir::Type::f32, CudaType::f32},         {ir::Type::f64, CudaType::f64},       {ir::Type::f16, CudaType::f16},
    {ir::Type::s8, CudaType::s8},           {ir::Type::s32, CudaType::s32},       {ir::Type::bf16, CudaType::bf16},
    {ir::Type::f8e4m3fn, CudaType::f8e4m3}, {ir::Type::f8e5m2, CudaType::f8e5m2}, {ir::Type::c64, CudaType::c64},
    {ir::Type::c128, CudaType::c128},
};

bool is_f8(CudaType type) { return type == CudaType::f8e4m3 || type == CudaType::f8e5m2; }

/// What cublasLtMatmul() multiplies, from the table of its manual. f8 stands below.
struct Combination {
  CudaType operands, result;
  ComputeType compute;
  CudaType scale;
};
constexpr Combination kCombinations[] = {
    {CudaType::f16, CudaType::f16, ComputeType::f32, CudaType::f32},   {CudaType::f16, CudaType::f32, ComputeType::f32, CudaType::f32},
    {CudaType::bf16, CudaType::bf16, ComputeType::f32, CudaType::f32}, {CudaType::bf16, CudaType::f32, ComputeType::f32, CudaType::f32},
    {CudaType::f32, CudaType::f32, ComputeType::f32, CudaType::f32},   {CudaType::f64, CudaType::f64, ComputeType::f64, CudaType::f64},
    {CudaType::s8, CudaType::s32, ComputeType::s32, CudaType::s32},    {CudaType::s8, CudaType::f32, ComputeType::f32, CudaType::f32},
    {CudaType::c64, CudaType::c64, ComputeType::f32, CudaType::c64},   {CudaType::c128, CudaType::c128, ComputeType::f64, CudaType::c128},
};

const CudaType* type_of(ir::Type type) {
  const auto found = std::ranges::find(kTypes, type, &TypeName::type);
  return found == std::end(kTypes) ? nullptr : &found->number;
}
std::string_view name_of(CudaType type) { return ir::text(std::ranges::find(kTypes, type, &TypeName::number)->type); }

/// f8 is summed in f32, one operand at least is e4m3, and the result is f8 or wider.
Result<Combination> combination_of(CudaType a, CudaType b, CudaType d) {
  const auto found = std::ranges::find_if(kCombinations, [&](const Combination& c) { return c.operands == a && a == b && c.result == d; });
  if (found != std::end(kCombinations)) return *found;
  const bool f8 = is_f8(a) && is_f8(b) && (a == CudaType::f8e4m3 || b == CudaType::f8e4m3);
  const bool into = is_f8(d) || d == CudaType::f16 || d == CudaType::bf16 || d == CudaType::f32;
  if (f8 && into) return Combination{a, d, ComputeType::f32, CudaType::f32};
  return Error{fmt::format("cuBLASLt does not multiply {} and {} into {}", name_of(a), name_of(b), name_of(d))};
}

struct Order {
  bool by_rows = true;
  int64_t ld = 1;  ///< between neighbouring rows, or columns
};

/// Where there is one row or one column either order will do: that one is taken in which its elements lie next to each other.
Result<Order> order_of(std::string_view name, int64_t rows, int64_t columns, const Gemm::Operand& o) {
  if (rows == 1 && columns == 1) return Order{};
  Order order;
  if (columns > 1 ? o.column_stride == 1 : o.row_stride != 1) {
    order = {true, rows > 1 ? o.row_stride : columns};
  } else if (rows == 1 || o.row_stride == 1) {
    order = {false, columns > 1 ? o.column_stride : rows};
  } else {
    return Error{fmt::format("neither the rows nor the columns of {} are contiguous", name)};
  }
  if (order.ld < (order.by_rows ? columns : rows)) return Error{fmt::format("rows or columns of {} overlap", name)};
  return order;
}

StoredMatrix laid_by_columns(CudaType type, int64_t rows, int64_t columns, const Order& order, int64_t batch_stride) {
  return order.by_rows ? StoredMatrix{type, columns, rows, order.ld, batch_stride}
                       : StoredMatrix{type, rows, columns, order.ld, batch_stride};
}

Transposed transposed(bool yes) { return yes ? Transposed::yes : Transposed::no; }

/// Numbers that descriptors take as 32-bit integers.
bool has_room(int64_t value) { return value >= 1 && value <= std::numeric_limits<int32_t>::max(); }

/// cublasLtEpilogue_t: a sum of these.
constexpr int kNothing = 1, kRelu = 2, kBias = 4, kGelu = 32, kAux = 128;

int epilogue_of(const Epilogue& after) {
  const int activation = after.activation == Epilogue::Activation::relu   ? kRelu
                         : after.activation == Epilogue::Activation::gelu ? kGelu
                                                                          : 0;
  const int all = activation + (after.bias.buffer >= 0 ? kBias : 0) + (after.aux >= 0 ? kAux : 0);
  return all == 0 ? kNothing : all;
}

/// The bias runs along the rows of D as it is stored; what goes into relu is kept as bits, which no program asks for.
base::Status set_epilogue(Matmul& p, const Epilogue& after) {
  p.epilogue = epilogue_of(after);
  const bool aux = after.aux >= 0, bias = after.bias.buffer >= 0;
  if (aux && after.activation != Epilogue::Activation::gelu) return Error{"only gelu's input is kept beside the result"};
  if (aux && p.d.ld % 8 != 0) return Error{"gelu's input is kept in columns of a multiple of 8 elements"};
  if (!bias) return {};
  const CudaType* type = type_of(after.bias.type);
  const bool fits = type != nullptr && (*type == p.d.type || (is_f8(p.d.type) && (*type == CudaType::f16 || *type == CudaType::bf16)) ||
                                        (is_f8(p.a.type) && p.d.type == CudaType::f32 && *type == CudaType::bf16));
  if (!fits) return Error{fmt::format("a bias of {} does not go with results of {}", ir::text(after.bias.type), name_of(p.d.type))};
  if (!p.swapped) return Error{"the bias runs along the columns of a result by columns"};
  p.bias = *type;
  return {};
}

/// From Ada on: op(A) and op(B) along their sums, sizes in multiples of 16.
base::Status check_f8(const Matmul& p) {
  if (!is_f8(p.a.type)) return {};
  if (p.op_a != Transposed::yes || p.op_b != Transposed::no) return Error{"f8 operands have to lie along the sum"};
  for (const int64_t size : {p.m, p.n, p.k})
    if (size % 16 != 0) return Error{fmt::format("a product of f8 with a size of {}: multiples of 16 are needed", size)};
  return {};
}

}  // namespace

Result<Matmul> plan_matmul(const Gemm& g) {
  const CudaType *ta = type_of(g.a.type), *tb = type_of(g.b.type), *td = type_of(g.d.type);
  if (ta == nullptr || tb == nullptr || td == nullptr)
    return Error{fmt::format("cuBLASLt does not multiply {} and {} into {}", ir::text(g.a.type), ir::text(g.b.type), ir::text(g.d.type))};
  ASSIGN_OR_RETURN(const Combination types, combination_of(*ta, *tb, *td));
  if (!has_room(g.m) || !has_room(g.n) || !has_room(g.k) || !has_room(g.batch)) return Error{"a size of 0, or beyond 32 bits"};
  if (types.scale == CudaType::s32 && (g.alpha != std::rint(g.alpha) || g.beta != std::rint(g.beta)))
    return Error{"sums of integers with a factor that is none"};
  ASSIGN_OR_RETURN(const Order a, order_of("the left operand", g.m, g.k, g.a));
  ASSIGN_OR_RETURN(const Order b, order_of("the right operand", g.k, g.n, g.b));
  ASSIGN_OR_RETURN(Order d, order_of("the result", g.m, g.n, g.d));
  if (g.after.bias.buffer >= 0 && g.n == 1 && g.m > 1) d = {true, g.d.row_stride};  // so that the bias can be given
  if (g.batch > 1 && g.d.batch_stride == 0) return Error{"results of a batch in one place"};
  Matmul p;
  p.compute = types.compute, p.scale = types.scale;
  p.batch = static_cast<int32_t>(g.batch), p.k = g.k;
  p.alpha = g.alpha, p.beta = g.beta;
  p.swapped = d.by_rows;
  const StoredMatrix left = laid_by_columns(*ta, g.m, g.k, a, g.a.batch_stride),
                     right = laid_by_columns(*tb, g.k, g.n, b, g.b.batch_stride);
  p.d = laid_by_columns(*td, g.m, g.n, d, g.d.batch_stride);
  p.m = p.d.rows, p.n = p.d.columns;
  p.a = p.swapped ? right : left, p.b = p.swapped ? left : right;
  p.op_a = transposed(p.swapped ? !b.by_rows : a.by_rows), p.op_b = transposed(p.swapped ? !a.by_rows : b.by_rows);
  RETURN_IF_ERROR(set_epilogue(p, g.after));
  RETURN_IF_ERROR(check_f8(p));
  return p;
}

std::string text_of(const Matmul& p) {
  const auto letter = [](Transposed op) { return op == Transposed::yes ? 'T' : 'N'; };
  std::string text = fmt::format("{}{} {}x{}x{} {}·{}→{}, ld {} {} {}", letter(p.op_a), letter(p.op_b), p.m, p.n, p.k, name_of(p.a.type),
                                 name_of(p.b.type), name_of(p.d.type), p.a.ld, p.b.ld, p.d.ld);
  if (p.batch > 1) text += fmt::format(", batch {} by {} {} {}", p.batch, p.a.batch_stride, p.b.batch_stride, p.d.batch_stride);
  if (p.alpha != 1 || p.beta != 0) text += fmt::format(", alpha {} beta {}", p.alpha, p.beta);
  if (p.epilogue != kNothing) text += fmt::format(", epilogue {}", p.epilogue);
  if ((p.epilogue & kBias) != 0) text += fmt::format(" with a bias of {}", name_of(p.bias));
  return text + (p.swapped ? ", transposed" : "");
}

}  // namespace replay::cuda
