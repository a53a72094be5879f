// Products as strides: every layout that collapses gives D[b,m,n] = Σ A[b,m,k]·B[b,k,n]; others are refused.
#include <gtest/gtest.h>

#include "replay/plan_builder.h"

namespace replay {
namespace {

ir::Shape shape(std::vector<int64_t> dims, std::vector<int64_t> minor_to_major) {
  ir::Shape s = ir::array_shape(ir::Type::f32, std::move(dims));
  s.minor_to_major = std::move(minor_to_major);
  return s;
}

ir::GemmConfig config(std::vector<int64_t> lb, std::vector<int64_t> lc, std::vector<int64_t> rb, std::vector<int64_t> rc) {
  ir::GemmConfig c;
  c.dims = {std::move(lb), std::move(lc), std::move(rb), std::move(rc)};
  return c;
}

TEST(PlanGemm, RowMajor) {
  const auto gemm = plan_gemm(shape({5, 7}, {1, 0}), shape({7, 3}, {1, 0}), shape({5, 3}, {1, 0}), config({}, {1}, {}, {0}));
  ASSERT_TRUE(gemm.ok());
  EXPECT_EQ(gemm->m, 5);
  EXPECT_EQ(gemm->n, 3);
  EXPECT_EQ(gemm->k, 7);
  EXPECT_EQ(gemm->a.row_stride, 7);
  EXPECT_EQ(gemm->a.column_stride, 1);
  EXPECT_EQ(gemm->b.row_stride, 3);
  EXPECT_EQ(gemm->d.row_stride, 3);
}

TEST(PlanGemm, TransposedByLayoutAndByDims) {
  const auto by_layout = plan_gemm(shape({5, 7}, {0, 1}), shape({7, 3}, {0, 1}), shape({5, 3}, {0, 1}), config({}, {1}, {}, {0}));
  ASSERT_TRUE(by_layout.ok());
  EXPECT_EQ(by_layout->a.row_stride, 1);
  EXPECT_EQ(by_layout->a.column_stride, 5);
  EXPECT_EQ(by_layout->d.row_stride, 1);
  const auto by_dims = plan_gemm(shape({7, 5}, {1, 0}), shape({3, 7}, {1, 0}), shape({5, 3}, {1, 0}), config({}, {0}, {}, {1}));
  ASSERT_TRUE(by_dims.ok());
  EXPECT_EQ(by_dims->a.row_stride, 1);
  EXPECT_EQ(by_dims->b.row_stride, 1);
}

TEST(PlanGemm, BatchDimensionsCollapse) {
  const auto gemm = plan_gemm(shape({2, 3, 5, 7}, {3, 2, 1, 0}), shape({2, 3, 7, 4}, {3, 2, 1, 0}), shape({2, 3, 5, 4}, {3, 2, 1, 0}),
                              config({0, 1}, {3}, {0, 1}, {2}));
  ASSERT_TRUE(gemm.ok());
  EXPECT_EQ(gemm->batch, 6);
  EXPECT_EQ(gemm->a.batch_stride, 35);
  EXPECT_EQ(gemm->b.batch_stride, 28);
  EXPECT_EQ(gemm->d.batch_stride, 20);
}

TEST(PlanGemm, SeveralContractingDimensionsInAnyOrder) {
  const auto gemm =
      plan_gemm(shape({5, 2, 7}, {2, 1, 0}), shape({2, 7, 3}, {2, 1, 0}), shape({5, 3}, {1, 0}), config({}, {2, 1}, {}, {1, 0}));
  ASSERT_TRUE(gemm.ok()) << gemm.error().message;
  EXPECT_EQ(gemm->k, 14);
  EXPECT_EQ(gemm->a.column_stride, 1);
  EXPECT_EQ(gemm->b.row_stride, 3);
}

TEST(PlanGemm, ScatteredRowsAreRefused) {
  const auto gemm = plan_gemm(shape({4, 7, 5}, {2, 1, 0}), shape({7, 3}, {1, 0}), shape({4, 5, 3}, {2, 1, 0}), config({}, {1}, {}, {0}));
  ASSERT_FALSE(gemm.ok());
  EXPECT_NE(gemm.error().message.find("row"), std::string::npos);
}

TEST(PlanGemm, VectorsAndScalars) {
  const auto inner = plan_gemm(shape({7}, {0}), shape({7}, {0}), shape({}, {}), config({}, {0}, {}, {0}));
  ASSERT_TRUE(inner.ok());
  EXPECT_EQ(inner->m * inner->n, 1);
  EXPECT_EQ(inner->k, 7);
  const auto outer = plan_gemm(shape({7}, {0}), shape({3}, {0}), shape({7, 3}, {1, 0}), config({}, {}, {}, {}));
  ASSERT_TRUE(outer.ok());
  EXPECT_EQ(outer->k, 1);
  EXPECT_EQ(outer->m, 7);
}

}  // namespace
}  // namespace replay
