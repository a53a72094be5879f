// Programs at smaller sizes: which sizes follow which.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "importers/hlo/hlo.h"
#include "src/ir/print.h"
#include "src/ir/verify.h"
#include "tests/support/shrink.h"

namespace cuda_text {
namespace {

/// The instructions of the entry at their new sizes, a line each.
std::string shrunk(const std::string& entry, int64_t most) {
  const std::string text =
      "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\nENTRY e {\n" + entry + "}\n";
  const auto module = importers::hlo::parse(text, "test");
  EXPECT_TRUE(module.ok()) << module.error().message;
  const ir::Module made = support::shrunk(*module, most);
  for (const ir::Finding& finding : ir::verify(made)) ADD_FAILURE() << finding.what << ir::print(made);
  std::string sizes;
  for (const ir::Instr& instr : made.comp(made.entry).instrs)
    sizes += fmt::format("{} {}\n", made.name_of(instr), ir::print(made.shape(instr), ir::LayoutPrint::without));
  return sizes;
}

TEST(Shrink, WhatIsSmallEnoughStays) {
  EXPECT_EQ(shrunk("  x = f32[100,100] parameter(0)\n  ROOT r = f32[100,100] negate(x)\n", 10000), "x f32[100,100]\nr f32[100,100]\n");
}

TEST(Shrink, SlowDimensionsGoFirstAndKeepTheirRemainder) {
  EXPECT_EQ(shrunk("  x = f32[30522,768] parameter(0)\n  ROOT r = f32[30522,768] negate(x)\n", 100000), "x f32[90,768]\nr f32[90,768]\n");
}

TEST(Shrink, AReshapedSizeIsTheProductOfItsParts) {
  EXPECT_EQ(shrunk("  x = f32[16,512,768] parameter(0)\n  y = f32[8192,768] reshape(x)\n  ROOT z = f32[8192,12,64] reshape(y)\n", 100000),
            "x f32[8,16,768]\ny f32[128,768]\nz f32[128,12,64]\n");
}

TEST(Shrink, ABitcastReadsDimensionsAsTheyLieInMemory) {
  EXPECT_EQ(shrunk("  x = f32[64,4096]{0,1} parameter(0)\n  ROOT y = f32[262144]{0} bitcast(x)\n", 16384), "x f32[64,256]\ny f32[16384]\n");
}

TEST(Shrink, SumsOfSizesHold) {
  EXPECT_EQ(shrunk("  x = f32[4096,3] parameter(0)\n  y = f32[1024,3] parameter(1)\n  c = f32[5120,3] concatenate(x, y), dimensions={0}\n"
                   "  zero = f32[] constant(0)\n  ROOT p = f32[5123,3] pad(c, zero), padding=1_2x0_0\n",
                   3000),
            "x f32[256,3]\ny f32[512,3]\nc f32[768,3]\nzero f32[]\np f32[771,3]\n");
}

TEST(Shrink, WindowsArrayConstantsAndPartsStay) {
  EXPECT_EQ(shrunk("  x = f32[64,56,56] parameter(0)\n  zero = f32[] constant(0)\n"
                   "  ROOT w = f32[64,28,28] reduce-window(x, zero), window={size=1x2x2 stride=1x2x2}, to_apply=add\n",
                   10000),
            "x f32[2,56,56]\nzero f32[]\nw f32[2,28,28]\n");
  EXPECT_EQ(shrunk("  c = f32[4] constant({1, 2, 3, 4})\n  x = f32[1000,4] parameter(0)\n  b = f32[1000,4] broadcast(c), dimensions={1}\n"
                   "  ROOT r = f32[1000,4] add(x, b)\n",
                   1000),
            "c f32[4]\nx f32[136,4]\nb f32[136,4]\nr f32[136,4]\n");
  EXPECT_EQ(shrunk("  x = f32[900,4000] parameter(0)\n  a = f32[300,4000] slice(x), slice={[0:300], [0:4000]}\n"
                   "  b = f32[600,4000] slice(x), slice={[300:900], [0:4000]}\n  ROOT r = (f32[300,4000], f32[600,4000]) tuple(a, b)\n",
                   30000),
            "x f32[900,32]\na f32[300,32]\nb f32[600,32]\nr (f32[300,32], f32[600,32])\n");
}

TEST(Shrink, WhatASliceCutsOffStays) {
  EXPECT_EQ(shrunk("  x = f32[5000,8] parameter(0)\n  ROOT a = f32[4000,8] slice(x), slice={[0:4000], [0:8]}\n", 20000),
            "x f32[2024,8]\na f32[1024,8]\n");
}

TEST(Shrink, WhatAGatherTakesWholeFollowsItsOperand) {
  EXPECT_EQ(shrunk("  x = f32[30522,768] parameter(0)\n  i = s32[16,512] parameter(1)\n"
                   "  ROOT g = f32[16,512,768] gather(x, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, "
                   "index_vector_dim=2, slice_sizes={1,768}\n",
                   100000),
            "x f32[90,768]\ni s32[8,16]\ng f32[8,16,768]\n");
}

TEST(Shrink, AScatterKeepsThePlacesThatItChooses) {
  EXPECT_EQ(shrunk("  x = f32[3000,768] parameter(0)\n  i = s32[1216,1] parameter(1)\n  u = f32[1216,768] parameter(2)\n"
                   "  ROOT s = f32[3000,768] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
                   "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n",
                   65536),
            "x f32[3000,16]\ni s32[1216,1]\nu f32[1216,16]\ns f32[3000,16]\n");
}

TEST(Shrink, AConvolutionKeepsWhatItsWindowRunsOver) {
  EXPECT_EQ(shrunk("  x = f32[64,56,56,32] parameter(0)\n  w = f32[3,3,32,48] parameter(1)\n"
                   "  ROOT y = f32[64,56,56,48] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f\n",
                   30000),
            "x f32[2,56,56,4]\nw f32[3,3,4,4]\ny f32[2,56,56,4]\n");
}

TEST(Shrink, AProductOfALibraryFollows) {
  EXPECT_EQ(shrunk("  a = f16[1216,768] parameter(0)\n  b = f16[768,30522] parameter(1)\n"
                   "  ROOT d = f16[1216,30522] custom-call(a, b), custom_call_target=\"__cublas$gemm\", backend_config={\"alpha_real\":1,"
                   "\"beta\":0,\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":[\"0\"],"
                   "\"lhs_batch_dimensions\":[],\"rhs_batch_dimensions\":[]}}\n",
                   65536),
            "a f16[16,16]\nb f16[16,3866]\nd f16[16,3866]\n");
}

TEST(Shrink, BodiesOfFusionsFollow) {
  const std::string text =
      "HloModule m\nf { x = f32[4096,64] parameter(0) t = f32[64,4096] transpose(x), dimensions={1,0} ROOT r = (f32[64,4096], "
      "f32[4096,64]) "
      "tuple(t, x) }\nENTRY e { x = f32[4096,64] parameter(0) ROOT c = (f32[64,4096], f32[4096,64]) fusion(x), kind=kLoop, calls=f }\n";
  const auto module = importers::hlo::parse(text, "test");
  ASSERT_TRUE(module.ok());
  const ir::Module made = support::shrunk(*module, 4096);
  EXPECT_TRUE(ir::verify(made).empty());
  EXPECT_EQ(support::largest_array(made), 4096);
}

}  // namespace
}  // namespace cuda_text
