// Dimension numbers of gather and scatter: each rule of XLA's shape inference is broken once, and named.
#include <gtest/gtest.h>

#include "importers/hlo/hlo.h"
#include "src/ir/verify.h"

namespace ir {
namespace {

struct Case {
  const char *name, *op, *attrs, *what;  ///< what: a part of the message; "" if the numbers are right
};

/// The findings in `r = op, attrs` over an array x[4,6], batched x3[3,4,6], indices i[5,1], batched i3[3,5,1], updates u[5,6], u3[3,5,6].
std::vector<Finding> findings(const Case& c) {
  const std::string text = std::string(R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[4,6] parameter(0) x3 = f32[3,4,6] parameter(1) i = s32[5,1] parameter(2) i3 = s32[3,5,1] parameter(3)
  u = f32[5,6] parameter(4) u3 = f32[3,5,6] parameter(5) v = f32[5,7] parameter(6) w = f32[4,6] parameter(7) y = f32[4,5] parameter(8)
  ROOT r = )") + c.op + ", " +
                           c.attrs + " }";
  const auto module = importers::hlo::parse(text, "indexed");
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message);
  return module.ok() ? verify(*module) : std::vector<Finding>{};
}

class Indexed : public testing::TestWithParam<Case> {};

TEST_P(Indexed, IsJudged) {
  const std::vector<Finding> found = findings(GetParam());
  if (*GetParam().what == '\0') {
    EXPECT_TRUE(found.empty()) << found[0].what;
    return;
  }
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].what.find(GetParam().what), std::string::npos) << found[0].what;
}

constexpr const char kGather[] = "f32[5,6] gather(x, i)", kScatter[] = "f32[4,6] scatter(x, i, u)";
constexpr const char kBatchedGather[] = "f32[3,5,6] gather(x3, i3)", kBatchedScatter[] = "f32[3,4,6] scatter(x3, i3, u3)";

INSTANTIATE_TEST_SUITE_P(
    Gather, Indexed,
    testing::Values(
        Case{"Right", kGather, "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}", ""},
        Case{"MapOutside", kGather, "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={2}, index_vector_dim=1, slice_sizes={1,6}",
             "start_index_map={2} are not distinct dimensions of f32[4,6]"},
        Case{"MapNegative", kGather,
             "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={-1}, index_vector_dim=1, slice_sizes={1,6}",
             "start_index_map={-1} are not distinct"},
        Case{"CollapsedOutside", kGather,
             "offset_dims={1}, collapsed_slice_dims={5}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}",
             "collapsed_slice_dims={5} are not ascending dimensions of f32[4,6]"},
        Case{"CollapsedTwice", kGather,
             "offset_dims={1}, collapsed_slice_dims={0,0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}",
             "collapsed_slice_dims={0,0} are not ascending"},
        Case{"CollapsedOfTwo", kGather,
             "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={2,6}",
             "which the result leaves out"},
        Case{"VectorDimOutside", kGather,
             "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=3, slice_sizes={1,6}",
             "index_vector_dim=3 is not in [0, 2]"},
        Case{"OffsetsOutside", kGather,
             "offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}",
             "offset_dims={2} are not ascending dimensions of the result"},
        Case{"RightInBatches", kBatchedGather,
             "offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1,6}, "
             "operand_batching_dims={0}, start_indices_batching_dims={0}",
             ""},
        Case{"BatchesOfTheVector", kBatchedGather,
             "offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1,6}, "
             "operand_batching_dims={0}, start_indices_batching_dims={2}",
             "start_indices_batching_dims={2} are not distinct batch dimensions"},
        Case{"BatchesDifferInNumber", kBatchedGather,
             "offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1,6}, "
             "operand_batching_dims={0}, start_indices_batching_dims={}",
             "differ in number"},
        Case{"BatchesDifferInSize", kBatchedGather,
             "offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1,6}, "
             "operand_batching_dims={0}, start_indices_batching_dims={1}",
             "batch dimension 0 differs"},
        Case{"BatchesInTheMap", kBatchedGather,
             "offset_dims={2}, collapsed_slice_dims={1}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,1,6}, "
             "operand_batching_dims={0}, start_indices_batching_dims={0}",
             "dimension 0 stands in operand_batching_dims and in"}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Scatter, Indexed,
    testing::Values(
        Case{"Right", kScatter,
             "to_apply=add, update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1", ""},
        Case{"WindowsOutside", kScatter,
             "to_apply=add, update_window_dims={7}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
             "update_window_dims={7} are not ascending dimensions of f32[5,6]"},
        Case{"InsertedOutside", kScatter,
             "to_apply=add, update_window_dims={1}, inserted_window_dims={2}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
             "inserted_window_dims={2} are not ascending"},
        Case{"MapOutside", kScatter,
             "to_apply=add, update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={9}, index_vector_dim=1",
             "scatter_dims_to_operand_dims={9} are not distinct"},
        Case{"WindowsTooLarge", "f32[4,6] scatter(x, i, v)",
             "to_apply=add, update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
             "dimension 1 of the updates f32[5,7] is larger than f32[4,6]"},
        Case{"SmallerWindows", "f32[4,6] scatter(x, i, u)",
             "to_apply=add, update_window_dims={1}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=1",
             "dimension 1 of the updates f32[5,6] is larger than f32[4,6]"},
        Case{"OtherBatches", "f32[4,6] scatter(x, i, w)",
             "to_apply=add, update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
             "dimension 0 of the updates f32[4,6] is not the 5 of s32[5,1]"},
        Case{"RightInBatches", kBatchedScatter,
             "to_apply=add, update_window_dims={2}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=2, "
             "input_batching_dims={0}, scatter_indices_batching_dims={0}",
             ""},
        Case{"BatchesInserted", kBatchedScatter,
             "to_apply=add, update_window_dims={2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={1}, index_vector_dim=2, "
             "input_batching_dims={0}, scatter_indices_batching_dims={0}",
             "dimension 0 stands in input_batching_dims and in"},
        Case{"ArraysOfTwoSizes", "(f32[4,6], f32[4,5]) scatter(x, y, i, u, u)",
             "to_apply=add, update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
             "differ in size"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ir
