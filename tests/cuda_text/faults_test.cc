// Faults that a GPU would keep to itself, planted in the text of a kernel: each is found when the text runs on the host.
#include <gtest/gtest.h>

#include "tests/cuda_text/all_of.h"

namespace cuda_text {
namespace {

/// Rows that a block of several warps reduces, twice, with a store of each element after.
constexpr const char* kSoftmax =
    "HloModule m\nmax { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }\n"
    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
    "f {\n  x = f32[3,1000] parameter(0)\n  low = f32[] constant(-inf)\n  m = f32[3] reduce(x, low), dimensions={1}, to_apply=max\n"
    "  mb = f32[3,1000] broadcast(m), dimensions={0}\n  d = f32[3,1000] subtract(x, mb)\n  e = f32[3,1000] exponential(d)\n"
    "  zero = f32[] constant(0)\n  s = f32[3] reduce(e, zero), dimensions={1}, to_apply=add\n"
    "  sb = f32[3,1000] broadcast(s), dimensions={0}\n  ROOT r = f32[3,1000] divide(e, sb)\n}\n"
    "ENTRY e {\n  x = f32[3,1000] parameter(0)\n  ROOT c = f32[3,1000] fusion(x), kind=kInput, calls=f\n}\n";

/// Softmax with the `number`-th occurrence of a text after the head of its function replaced: what it shows in any order.
std::string with_fault(const std::string& what, const std::string& with, int number = 0) {
  OnHost run;
  add_all(run, {kSoftmax});
  std::string& code = run.kernel(0).code;
  size_t at = code.find(what, code.rfind("KERNEL("));
  for (; number > 0 && at != std::string::npos; --number) at = code.find(what, at + 1);
  EXPECT_NE(at, std::string::npos) << what << "\n" << code;
  if (at == std::string::npos) return "";
  code.replace(at, what.size(), with);
  EXPECT_TRUE(run.compile().ok());
  return run.shows(0);
}

TEST(CudaFaults, TheTextAsItIsShowsNone) { EXPECT_EQ(with_fault("meet();", "meet();"), ""); }

TEST(CudaFaults, EachMissingBarrierGivesAnotherResultInOneOfTheOrders) {
  for (int number = 0; number < 3; ++number) EXPECT_NE(with_fault("meet();", ";", number), "") << "barrier " << number;
}

TEST(CudaFaults, ALaneThatLeavesBeforeAnExchange) {
  EXPECT_NE(with_fault(" {\n", " {\n  if (THREAD == 37) return;\n").find("left"), std::string::npos);
}

TEST(CudaFaults, ABarrierThatNotAllReach) { EXPECT_NE(with_fault("meet();", "if (THREAD < 32) meet();"), ""); }

TEST(CudaFaults, AnElementBeyondTheArray) {
  EXPECT_NE(with_fault("(u32)BLOCK", "(u32)(BLOCK + 1)").find("an element outside of its array"), std::string::npos);
}

}  // namespace
}  // namespace cuda_text
