// Products as cuBLASLt is asked for them: a table of exact descriptions, and every order of the dimensions of three operands, multiplied by
// what BLAS's own definition says of the description.
#include "replay/device/cuda/cublas_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "replay/plan_builder.h"

namespace replay::cuda {
namespace {

using ir::Type;

/// a: batch × m × k and so on, with what lies next to each other said by strides.
Gemm gemm_of(Type in, Type out, std::initializer_list<int64_t> sizes, Gemm::Operand a, Gemm::Operand b, Gemm::Operand d) {
  const std::vector<int64_t> s = sizes;
  Gemm gemm{.batch = s[0], .m = s[1], .n = s[2], .k = s[3], .a = a, .b = b, .d = d};
  gemm.a.type = gemm.b.type = in, gemm.d.type = out;
  return gemm;
}
Gemm::Operand strides(int64_t batch, int64_t row, int64_t column) { return {0, Type::f32, batch, row, column}; }

struct Case {
  const char* name;
  Gemm gemm;
  const char* text;  ///< of the description, or of the error
};

std::string described(const Gemm& gemm) {
  const auto matmul = plan_matmul(gemm);
  return matmul.ok() ? text_of(*matmul) : matmul.error().message;
}

TEST(CublasPlan, OfPlainProducts) {
  const Case cases[] = {
      {"all by rows", gemm_of(Type::f16, Type::f16, {1, 5, 7, 3}, strides(0, 3, 1), strides(0, 7, 1), strides(0, 7, 1)),
       "NN 7x5x3 f16·f16→f16, ld 7 3 7, transposed"},
      {"b by columns", gemm_of(Type::bf16, Type::f32, {1, 5, 7, 3}, strides(0, 3, 1), strides(0, 1, 3), strides(0, 7, 1)),
       "TN 7x5x3 bf16·bf16→f32, ld 3 3 7, transposed"},
      {"a by columns", gemm_of(Type::f64, Type::f64, {1, 5, 7, 3}, strides(0, 1, 5), strides(0, 7, 1), strides(0, 7, 1)),
       "NT 7x5x3 f64·f64→f64, ld 7 5 7, transposed"},
      {"d by columns", gemm_of(Type::f32, Type::f32, {1, 5, 7, 3}, strides(0, 3, 1), strides(0, 7, 1), strides(0, 1, 5)),
       "TT 5x7x3 f32·f32→f32, ld 3 7 5"},
      {"all by columns", gemm_of(Type::f32, Type::f32, {1, 5, 7, 3}, strides(0, 1, 5), strides(0, 1, 3), strides(0, 1, 5)),
       "NN 5x7x3 f32·f32→f32, ld 5 3 5"},
      {"rows that lie apart", gemm_of(Type::s8, Type::s32, {1, 4, 8, 16}, strides(0, 32, 1), strides(0, 24, 1), strides(0, 80, 1)),
       "NN 8x4x16 s8·s8→s32, ld 24 32 80, transposed"},
      {"a batch of which b is one", gemm_of(Type::f16, Type::f16, {6, 5, 7, 3}, strides(15, 3, 1), strides(0, 7, 1), strides(35, 7, 1)),
       "NN 7x5x3 f16·f16→f16, ld 7 3 7, batch 6 by 0 15 35, transposed"},
      {"a vector by a matrix", gemm_of(Type::f32, Type::f32, {1, 1, 7, 3}, strides(0, 0, 1), strides(0, 7, 1), strides(0, 0, 1)),
       "NN 7x1x3 f32·f32→f32, ld 7 3 7, transposed"},
      {"a matrix by a vector", gemm_of(Type::f32, Type::f32, {1, 5, 1, 3}, strides(0, 3, 1), strides(0, 1, 0), strides(0, 1, 0)),
       "TN 5x1x3 f32·f32→f32, ld 3 3 5"},
      {"complex numbers", gemm_of(Type::c64, Type::c64, {1, 5, 7, 3}, strides(0, 3, 1), strides(0, 7, 1), strides(0, 7, 1)),
       "NN 7x5x3 c64·c64→c64, ld 7 3 7, transposed"},
      {"one number", gemm_of(Type::f32, Type::f32, {1, 1, 1, 1}, strides(0, 0, 0), strides(0, 0, 0), strides(0, 0, 0)),
       "NN 1x1x1 f32·f32→f32, ld 1 1 1, transposed"},
  };
  for (const Case& one : cases) EXPECT_EQ(described(one.gemm), one.text) << one.name;
}

TEST(CublasPlan, OfWhatCannotBeSaid) {
  const auto by_rows = [](Type in, Type out, int64_t size) {
    return gemm_of(in, out, {1, size, size, size}, strides(0, size, 1), strides(0, size, 1), strides(0, size, 1));
  };
  Gemm half = by_rows(Type::s8, Type::s32, 4);
  half.alpha = 0.5;
  const Case cases[] = {
      {"types apart", by_rows(Type::f16, Type::f64, 4), "cuBLASLt does not multiply f16 and f16 into f64"},
      {"an unknown type", by_rows(Type::u16, Type::u16, 4), "cuBLASLt does not multiply u16 and u16 into u16"},
      {"complex numbers of two kinds", by_rows(Type::c64, Type::c128, 4), "cuBLASLt does not multiply c64 and c64 into c128"},
      {"nothing to sum", gemm_of(Type::f32, Type::f32, {1, 4, 4, 0}, strides(0, 0, 1), strides(0, 4, 1), strides(0, 4, 1)),
       "a size of 0, or beyond 32 bits"},
      {"too much", by_rows(Type::f32, Type::f32, int64_t{1} << 31), "a size of 0, or beyond 32 bits"},
      {"every second element", gemm_of(Type::f32, Type::f32, {1, 4, 4, 4}, strides(0, 8, 2), strides(0, 4, 1), strides(0, 4, 1)),
       "neither the rows nor the columns of the left operand are contiguous"},
      {"one row for all", gemm_of(Type::f32, Type::f32, {1, 4, 4, 4}, strides(0, 4, 1), strides(0, 0, 1), strides(0, 4, 1)),
       "rows or columns of the right operand overlap"},
      {"one result for all", gemm_of(Type::f32, Type::f32, {2, 4, 4, 4}, strides(16, 4, 1), strides(16, 4, 1), strides(0, 4, 1)),
       "results of a batch in one place"},
      {"half of a whole number", half, "sums of integers with a factor that is none"},
      {"f8 not along the sum", by_rows(Type::f8e4m3fn, Type::bf16, 16), "f8 operands have to lie along the sum"},
      {"f8 of odd sizes", gemm_of(Type::f8e4m3fn, Type::bf16, {1, 16, 20, 16}, strides(0, 16, 1), strides(0, 1, 16), strides(0, 20, 1)),
       "a product of f8 with a size of 20: multiples of 16 are needed"},
      {"two of the wider f8", by_rows(Type::f8e5m2, Type::bf16, 16), "cuBLASLt does not multiply f8e5m2 and f8e5m2 into bf16"},
  };
  for (const Case& one : cases) EXPECT_EQ(described(one.gemm), one.text) << one.name;
}

TEST(CublasPlan, OfEpilogues) {
  const auto with = [](const Epilogue& follows, Type out = Type::f16, int64_t n = 8) {
    Gemm gemm = gemm_of(Type::f16, out, {1, 4, n, 16}, strides(0, 16, 1), strides(0, n, 1), strides(0, n, 1));
    gemm.after = follows;
    return gemm;
  };
  using enum Epilogue::Activation;
  const auto after = [](Epilogue::Activation activation, std::optional<Type> bias, BufferId aux) {
    Epilogue made;
    made.activation = activation, made.aux = aux;
    if (bias) made.bias = {1, *bias};
    return made;
  };
  Gemm by_columns = with(after(none, Type::f16, -1));
  by_columns.d.row_stride = 1, by_columns.d.column_stride = 4;
  Gemm one_column = gemm_of(Type::f16, Type::f16, {1, 4, 1, 16}, strides(0, 16, 1), strides(0, 1, 0), strides(0, 1, 0));
  one_column.after = after(none, Type::f16, -1);
  const Case cases[] = {
      {"relu", with(after(relu, {}, -1)), "NN 8x4x16 f16·f16→f16, ld 8 16 8, epilogue 2, transposed"},
      {"bias", with(after(none, Type::f16, -1)), "NN 8x4x16 f16·f16→f16, ld 8 16 8, epilogue 4 with a bias of f16, transposed"},
      {"bias and relu", with(after(relu, Type::f32, -1), Type::f32),
       "NN 8x4x16 f16·f16→f32, ld 8 16 8, epilogue 6 with a bias of f32, transposed"},
      {"gelu", with(after(gelu, {}, -1)), "NN 8x4x16 f16·f16→f16, ld 8 16 8, epilogue 32, transposed"},
      {"bias and gelu, kept", with(after(gelu, Type::f16, 2)),
       "NN 8x4x16 f16·f16→f16, ld 8 16 8, epilogue 164 with a bias of f16, transposed"},
      {"gelu kept in odd columns", with(after(gelu, {}, 2), Type::f16, 9), "gelu's input is kept in columns of a multiple of 8 elements"},
      {"relu kept", with(after(relu, {}, 2)), "only gelu's input is kept beside the result"},
      {"a bias of another type", with(after(none, Type::f32, -1)), "a bias of f32 does not go with results of f16"},
      {"a bias of a result by columns", by_columns, "the bias runs along the columns of a result by columns"},
      {"a bias of one column", one_column, "TN 1x4x16 f16·f16→f16, ld 16 16 1, epilogue 4 with a bias of f16, transposed"},
  };
  for (const Case& one : cases) EXPECT_EQ(described(one.gemm), one.text) << one.name;
}

TEST(CublasPlan, SumsAreMadeInTheTypeOfTheManual) {
  const auto of = [](Type in, Type out) {
    return *plan_matmul(gemm_of(in, out, {1, 4, 4, 4}, strides(0, 4, 1), strides(0, 4, 1), strides(0, 4, 1)));
  };
  EXPECT_EQ(of(Type::f16, Type::f16).compute, ComputeType::f32);
  EXPECT_EQ(of(Type::f16, Type::f16).scale, CudaType::f32);
  EXPECT_EQ(of(Type::f64, Type::f64).compute, ComputeType::f64);
  EXPECT_EQ(of(Type::f64, Type::f64).scale, CudaType::f64);
  EXPECT_EQ(of(Type::s8, Type::s32).compute, ComputeType::s32);
  EXPECT_EQ(of(Type::s8, Type::s32).scale, CudaType::s32);
  EXPECT_EQ(of(Type::s8, Type::f32).compute, ComputeType::f32);
}

// ---- every order of dimensions

struct Operand {
  ir::Shape shape;
  std::vector<double> values;  ///< as they lie in memory
};

Operand operand(std::vector<int64_t> dims, const std::vector<int64_t>& minor_to_major) {
  Operand made{ir::array_shape(Type::f32, std::move(dims)), {}};
  made.shape.minor_to_major.assign(minor_to_major.begin(), minor_to_major.end());
  made.shape.has_layout = true;
  for (int64_t k = 0; k < ir::elements(made.shape); ++k) made.values.push_back(static_cast<double>((k * 7 + 3) % 11 - 5));
  return made;
}

/// D by columns, as BLAS defines it.
std::vector<double> multiplied(const Matmul& p, const std::vector<double>& a, const std::vector<double>& b, size_t results) {
  std::vector<double> d(results, -1000);
  const auto at = [](const std::vector<double>& from, const StoredMatrix& m, Transposed op, int64_t batch, int64_t row, int64_t column) {
    const bool turned = op == Transposed::yes;
    return from.at(static_cast<size_t>(batch * m.batch_stride + (turned ? row : column) * m.ld + (turned ? column : row)));
  };
  for (int64_t batch = 0; batch < p.batch; ++batch)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < p.k; ++k) sum += at(a, p.a, p.op_a, batch, i, k) * at(b, p.b, p.op_b, batch, k, j);
        d.at(static_cast<size_t>(batch * p.d.batch_stride + j * p.d.ld + i)) = sum;
      }
  return d;
}

/// The definition of a dot, on places in memory: dims 0 of all is the batch if there is one.
std::vector<double> expected(const Operand& a, const Operand& b, const ir::Shape& d, const ir::DotDims& dims) {
  const auto as = ir::strides(a.shape), bs = ir::strides(b.shape), ds = ir::strides(d);
  const size_t batch = dims.lhs_batch.size(), ak = static_cast<size_t>(dims.lhs_contracting[0]),
               bk = static_cast<size_t>(dims.rhs_contracting[0]);
  const size_t am = 2 * batch + 1 - ak, bn = 2 * batch + 1 - bk;
  std::vector<double> out(static_cast<size_t>(ir::elements(d)));
  for (int64_t g = 0; g < (batch > 0 ? d.dims[0] : 1); ++g)
    for (int64_t m = 0; m < d.dims[batch]; ++m)
      for (int64_t n = 0; n < d.dims[batch + 1]; ++n) {
        double sum = 0;
        const int64_t a0 = batch > 0 ? g * as[0] : 0, b0 = batch > 0 ? g * bs[0] : 0, d0 = batch > 0 ? g * ds[0] : 0;
        for (int64_t k = 0; k < a.shape.dims[ak]; ++k)
          sum += a.values[static_cast<size_t>(a0 + m * as[am] + k * as[ak])] * b.values[static_cast<size_t>(b0 + k * bs[bk] + n * bs[bn])];
        out[static_cast<size_t>(d0 + m * ds[batch] + n * ds[batch + 1])] = sum;
      }
  return out;
}

struct Count {
  int right = 0, refused = 0;
};

/// One way to number the dimensions, in all orders of memory.
void sweep(bool batched, int64_t ak, int64_t bk, Count& count) {
  const int64_t at = batched ? 1 : 0;
  const auto sized = [&](int64_t contracting, int64_t other) {
    std::vector<int64_t> dims = batched ? std::vector<int64_t>{2} : std::vector<int64_t>{};
    dims.insert(dims.end(), {contracting == at ? 4 : other, contracting == at ? other : 4});
    return dims;
  };
  std::vector<int64_t> first(static_cast<size_t>(at + 2));
  std::iota(first.begin(), first.end(), 0);
  ir::GemmConfig config;
  config.dims = {
      batched ? std::vector<int64_t>{0} : std::vector<int64_t>{}, {ak}, batched ? std::vector<int64_t>{0} : std::vector<int64_t>{}, {bk}};
  auto pa = first;
  do {
    auto pb = first;
    do {
      auto pd = first;
      do {
        const Operand a = operand(sized(ak, 3), pa), b = operand(sized(bk, 5), pb);
        const Operand d = operand(batched ? std::vector<int64_t>{2, 3, 5} : std::vector<int64_t>{3, 5}, pd);
        const auto gemm = plan_gemm(a.shape, b.shape, d.shape, config);
        const auto matmul = gemm.ok() ? plan_matmul(*gemm) : base::Result<Matmul>(gemm.error());
        if (!matmul.ok()) {
          ++count.refused;
          continue;
        }
        const auto& left = matmul->swapped ? b.values : a.values;
        const auto& right = matmul->swapped ? a.values : b.values;
        ASSERT_EQ(multiplied(*matmul, left, right, d.values.size()), expected(a, b, d.shape, config.dims)) << text_of(*matmul);
        ++count.right;
      } while (std::next_permutation(pd.begin(), pd.end()));
    } while (std::next_permutation(pb.begin(), pb.end()));
  } while (std::next_permutation(pa.begin(), pa.end()));
}

TEST(CublasPlan, EveryOrderOfDimensionsIsRightOrRefused) {
  Count count;
  for (const bool batched : {false, true})
    for (const int64_t ak : {0, 1})
      for (const int64_t bk : {0, 1}) sweep(batched, ak + (batched ? 1 : 0), bk + (batched ? 1 : 0), count);
  EXPECT_EQ(count.right, 288);
  EXPECT_EQ(count.refused, 608);
}

}  // namespace
}  // namespace replay::cuda
