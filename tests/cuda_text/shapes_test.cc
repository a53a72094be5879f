// Every class of schedule at sizes around its borders, in three orders of the threads: vectors and tails, warps and blocks, splits, tiles.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/cuda_text/all_of.h"

namespace cuda_text {
namespace {

constexpr std::string_view kScalars =
    "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
    "max16 { a = f16[] parameter(0) b = f16[] parameter(1) ROOT r = f16[] maximum(a, b) }\n"
    "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }\n"
    "and { a = pred[] parameter(0) b = pred[] parameter(1) ROOT r = pred[] and(a, b) }\n"
    "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }\n"
    "arg { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3) g = pred[] compare(a, b), "
    "direction=GE v = f32[] select(g, a, b) k = s32[] select(g, i, j) ROOT t = (f32[], s32[]) tuple(v, k) }\n";

std::string entry(const std::string& body) { return fmt::format("{}ENTRY e {{\n{}}}\n", kScalars, body); }

std::string sum(const std::string& from, const std::string& to, const std::string& dims, std::string_view type = "f32",
                std::string_view reducer = "add", std::string_view start = "0") {
  return entry(
      fmt::format("  x = {0}[{1}] parameter(0)\n  z = {0}[] constant({2})\n  ROOT r = {0}[{3}] reduce(x, z), dimensions={{{4}}}, "
                  "to_apply={5}\n",
                  type, from, start, to, dims, reducer));
}

/// y = xᵀ + xᵀ·xᵀ in one fusion, with a second operand along the grain.
std::string transposed(std::string_view type, int64_t rows, int64_t columns) {
  return fmt::format(
      "HloModule m\nf {{ x = {0}[{1},{2}] parameter(0) y = {0}[{2},{1}] parameter(1) t = {0}[{2},{1}] transpose(x), dimensions={{1,0}} "
      "ROOT r = {0}[{2},{1}] add(t, y) }}\nENTRY e {{ x = {0}[{1},{2}] parameter(0) y = {0}[{2},{1}] parameter(1) "
      "ROOT c = {0}[{2},{1}] fusion(x, y), kind=kLoop, calls=f }}\n",
      type, rows, columns);
}

std::string arg_max(const std::string& from, const std::string& to, const std::string& dims, int iota) {
  return entry(
      fmt::format("  x = f32[{0}] parameter(0)\n  i = s32[{0}] iota(), iota_dimension={3}\n  l = f32[] constant(-inf)\n"
                  "  z = s32[] constant(0)\n  ROOT r = (f32[{1}], s32[{1}]) reduce(x, i, l, z), dimensions={{{2}}}, to_apply=arg\n",
                  from, to, dims, iota));
}

/// Sums of rows or columns, and beside them what reads them.
std::string shares(int64_t rows, int64_t columns, int reduced) {
  const int64_t kept = reduced == 1 ? rows : columns;
  return fmt::format(
      "HloModule m\nadd {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }}\n"
      "f {{ x = f32[{0},{1}] parameter(0) z = f32[] constant(0) e = f32[{0},{1}] exponential(x) s = f32[{2}] reduce(e, z), "
      "dimensions={{{3}}}, to_apply=add w = f32[{0},{1}] broadcast(s), dimensions={{{4}}} q = f32[{0},{1}] divide(e, w) "
      "ROOT t = (f32[{2}], f32[{0},{1}]) tuple(s, q) }}\n"
      "ENTRY m {{ x = f32[{0},{1}] parameter(0) ROOT c = (f32[{2}], f32[{0},{1}]) fusion(x), kind=kInput, calls=f }}\n",
      rows, columns, kept, reduced, 1 - reduced);
}

std::vector<std::string> modules() {
  std::vector<std::string> all;
  for (const char* type : {"f16", "f32", "f64", "s8"})
    for (const auto& [rows, columns] : {std::pair{33, 65}, std::pair{32, 64}, std::pair{16, 100}, std::pair{15, 40}, std::pair{70, 31}})
      all.push_back(transposed(type, rows, columns));
  all.push_back("HloModule m\nENTRY e { x = f16[3,5,40,33] parameter(0) ROOT t = f16[3,40,5,33] transpose(x), dimensions={0,2,1,3} }\n");
  all.push_back("HloModule m\nENTRY e { x = f32[3,40,33] parameter(0) ROOT t = f32[3,33,40] transpose(x), dimensions={0,2,1} }\n");
  for (const char* from : {"1,1", "1,33", "7,31", "5,32", "9,100", "3,2049", "2,70001", "300,16"}) {
    const std::string rows(from, std::string_view(from).find(','));
    all.push_back(sum(from, rows, "1"));
    all.push_back(sum(from, rows, "1", "f16", "max16", "-inf"));
    all.push_back(sum(from, rows, "1", "pred", "and", "true"));
    all.push_back(arg_max(from, rows, "1", 1));
  }
  for (const auto& [rows, columns] : {std::pair{1, 2}, std::pair{40, 3}, std::pair{1000, 70}, std::pair{513, 64}, std::pair{65, 129},
                                      std::pair{3000, 10}, std::pair{5, 2000}}) {
    const std::string from = fmt::format("{},{}", rows, columns), to = fmt::format("{}", columns);
    all.push_back(sum(from, to, "0"));
    all.push_back(sum(from, to, "0", "f16", "max16", "-inf"));
    all.push_back(sum(from, to, "0", "pred", "and", "true"));
    all.push_back(arg_max(from, to, "0", 0));
  }
  for (const auto& [rows, columns] : {std::pair{1, 33}, std::pair{37, 10}, std::pair{9, 100}, std::pair{3, 2049}, std::pair{65, 129}}) {
    all.push_back(shares(rows, columns, 0));
    all.push_back(shares(rows, columns, 1));
  }
  all.push_back(sum("70,9,50", "9", "0,2"));
  all.push_back(sum("20,30,40", "30", "0,2", "f32", "max", "-inf"));
  all.push_back(sum("200001", "", "0"));
  all.push_back(sum("3,5,7,11", "5,7", "0,3"));
  for (const int64_t length : {1, 2, 100, 4096, 4097, 9000})
    all.push_back(
        entry(fmt::format("  x = f32[3,{0}] parameter(0)\n  ROOT s = f32[3,{0}] sort(x), dimensions={{1}}, to_apply=less\n", length)));
  return all;
}

TEST(CudaShapes, AgreeWithTheReferenceInEveryOrder) {
  const std::vector<std::string> texts = modules();
  OnHost run;
  add_all(run, texts);
  ASSERT_TRUE(run.compile().ok());
  for (size_t k = 0; k < run.size(); ++k)
    for (const auto order : kOrders)
      EXPECT_EQ(run.shows(k, order), "") << texts[k] << (run.plan(k).kernels.empty() ? "" : run.plan(k).kernels[0].name);
}

}  // namespace
}  // namespace cuda_text
