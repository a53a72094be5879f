// Predicted times, recomputed by hand from the round figures of a made-up machine.
#include "replay/predict.h"

#include "tests/unit/plan/planned.h"

namespace replay {
namespace {

/// 1 TB/s of which half is reached, 10 TFLOP/s on vectors, f16 products at 80 of 100 TFLOP/s, 1 µs a start, 100 ns of latency.
Machine round_machine() {
  Machine m;
  m.name = "round";
  m.multiprocessors = {100, ""}, m.clock_hz = {1e9, ""};
  m.memory_bytes_per_s = {1e12, ""}, m.memory_efficiency = {0.5, ""}, m.memory_latency_cycles = {100, ""};
  m.vector_f32_flops_per_s = {10e12, ""}, m.vector_f64_flops_per_s = {1e12, ""};
  m.functions_per_clock = {10, ""}, m.launch_ns = {1000, ""};
  m.products["f16"] = {{100e12, ""}, {0.8, ""}};
  return m;
}

Prediction predicted(const std::string& text, const std::string& step, const Machine& machine = round_machine()) {
  const auto made = planned(text);
  return predict(made->plan, made->step(step), machine);
}

TEST(Predict, MemoryBoundStepsTakeTheirBytes) {
  const Prediction p = predicted(R"(HloModule m
ENTRY main {
  a = f32[1000000]{0} parameter(0)
  ROOT n = f32[1000000]{0} negate(a)
})",
                                 "n");
  EXPECT_DOUBLE_EQ(p.launches_ns, 1000);
  EXPECT_DOUBLE_EQ(p.memory_ns, 8e6 / 0.5e12 * 1e9) << "4 MB read and written at half of 1 TB/s";
  EXPECT_DOUBLE_EQ(p.vector_ns, 1e6 / 5e12 * 1e9) << "an operation is half a multiply-add";
  EXPECT_DOUBLE_EQ(p.latency_ns, 200);
  EXPECT_DOUBLE_EQ(p.total_ns(), 1000 + 16000);
}

TEST(Predict, SmallStepsTakeAStartAndTwoLatencies) {
  const Prediction p = predicted(R"(HloModule m
ENTRY main {
  a = f32[4]{0} parameter(0)
  ROOT n = f32[4]{0} negate(a)
})",
                                 "n");
  EXPECT_DOUBLE_EQ(p.total_ns(), 1000 + 200);
}

TEST(Predict, ProductsRunAtTheRateOfTheirType) {
  const std::string text = R"(HloModule m
ENTRY main {
  a = TYPE[4096,4096]{1,0} parameter(0)
  b = TYPE[4096,4096]{1,0} parameter(1)
  ROOT d = TYPE[4096,4096]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";
  const auto of = [&](const std::string& type) {
    std::string own = text;
    for (size_t at; (at = own.find("TYPE")) != std::string::npos;) own.replace(at, 4, type);
    return own;
  };
  const double flops = 2.0 * 4096 * 4096 * 4096;
  const Prediction half = predicted(of("f16"), "d");
  EXPECT_DOUBLE_EQ(half.product_ns, flops / 80e12 * 1e9);
  EXPECT_DOUBLE_EQ(half.vector_ns, 0);
  EXPECT_DOUBLE_EQ(half.total_ns(), 1000 + half.product_ns);
  const Prediction whole = predicted(of("f32"), "d");
  EXPECT_DOUBLE_EQ(whole.product_ns, 0) << "this machine has no unit for them";
  EXPECT_DOUBLE_EQ(whole.vector_ns, flops / 5e12 * 1e9);
  EXPECT_DOUBLE_EQ(predicted(of("f64"), "d").vector_ns, flops / 0.5e12 * 1e9);
}

TEST(Predict, FunctionsHaveAUnitOfTheirOwn) {
  const Prediction p = predicted(R"(HloModule m
ENTRY main {
  a = f32[1000000]{0} parameter(0)
  ROOT n = f32[1000000]{0} tanh(a)
})",
                                 "n");
  EXPECT_DOUBLE_EQ(p.function_ns, 1e6 / (10 * 100 * 1e9) * 1e9);
}

TEST(Predict, PrecisionNamesTheProductAndElseTheVectors) {
  const auto made = planned(R"(HloModule m
ENTRY main {
  a = bf16[64,64]{1,0} parameter(0)
  d = bf16[64,64]{1,0} dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT n = bf16[64,64]{1,0} negate(d)
})");
  EXPECT_EQ(predicted_precision(made->step("d")), "bf16×bf16→f32→bf16");
  EXPECT_EQ(predicted_precision(made->step("n")), "vector f32");
}

TEST(Predict, AllKnownMachinesGiveFiniteTimes) {
  const auto made = planned(R"(HloModule m
ENTRY main {
  a = f16[512,512]{1,0} parameter(0)
  ROOT d = f16[512,512]{1,0} dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  for (const Machine& machine : known_machines()) {
    const double ns = predict(made->plan, made->step("d"), machine).total_ns();
    EXPECT_GT(ns, 1000) << machine.name;
    EXPECT_LT(ns, 100'000) << machine.name;
  }
}

}  // namespace
}  // namespace replay
