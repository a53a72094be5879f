// Faults planted in plans and in generated code: `--verify` must find every one, and nothing where there is none.
//
// A row of kFaults names a step of the program below, and changes its code (LLVM IR), its launches or its memory. plant() returns false
// where the change could not be made (the code looks different than expected): that fails the test too, so that no fault silently
// disappears.
#include <gtest/gtest.h>

#include <atomic>
#include <regex>
#include <string>

#include "importers/hlo/hlo.h"
#include "replay/device/devices.h"
#include "replay/engine.h"

namespace replay {
namespace {

constexpr const char* kProgram = R"(
HloModule planted

add_f32 { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
max_f32 { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }

difference_body { p = bf16[1003]{0} parameter(0)  q = bf16[1003]{0} parameter(1)  ROOT r = bf16[1003]{0} subtract(p, q) }

softmax_body {
  x = f32[19,131]{1,0} parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[19]{0} reduce(x, low), dimensions={1}, to_apply=max_f32
  mb = f32[19,131]{1,0} broadcast(m), dimensions={0}
  d = f32[19,131]{1,0} subtract(x, mb)
  e = f32[19,131]{1,0} exponential(d)
  s = f32[19]{0} reduce(e, zero), dimensions={1}, to_apply=add_f32
  sb = f32[19,131]{1,0} broadcast(s), dimensions={0}
  ROOT r = f32[19,131]{1,0} divide(e, sb)
}

pair_body {
  p = f32[517]{0} parameter(0)
  q = f32[517]{0} parameter(1)
  a = f32[517]{0} add(p, q)
  b = f32[517]{0} multiply(p, q)
  ROOT r = (f32[517]{0}, f32[517]{0}) tuple(a, b)
}

choice_body {
  p = f32[517]{0} parameter(0)
  q = f32[517]{0} parameter(1)
  c = pred[517]{0} compare(p, q), direction=GT
  ROOT r = f32[517]{0} select(c, p, q)
}

scaled_body {
  p = f32[517]{0} parameter(0)
  k = f32[] constant(0.40625)
  kb = f32[517]{0} broadcast(k), dimensions={}
  ROOT r = f32[517]{0} multiply(p, kb)
}

ENTRY main {
  x = bf16[1003]{0} parameter(0)
  y = bf16[1003]{0} parameter(1)
  m = f32[37,129]{1,0} parameter(2)
  rows = f32[50,33]{1,0} parameter(3)
  at = s32[20]{0} parameter(4)
  other = s32[20]{0} parameter(5)
  updates = f32[20,33]{1,0} parameter(6)
  v = f32[19,131]{1,0} parameter(7)
  a = f32[65,47]{1,0} parameter(8)
  b = f32[47,47]{1,0} parameter(9)
  ha = f16[40,72]{1,0} parameter(10)
  hb = f16[72,72]{1,0} parameter(11)
  c = f32[65,47]{1,0} parameter(12)
  p = f32[517]{0} parameter(13)
  q = f32[517]{0} parameter(14)
  zero = f32[] constant(0)
  difference = bf16[1003]{0} fusion(x, y), kind=kLoop, calls=difference_body
  row_sum = f32[37]{0} reduce(m, zero), dimensions={1}, to_apply=add_f32
  column_sum = f32[129]{0} reduce(m, zero), dimensions={0}, to_apply=add_f32
  turned = f32[129,37]{1,0} transpose(m), dimensions={1,0}
  exponent = f32[37,129]{1,0} exponential(m)
  narrow = f16[37,129]{1,0} convert(m)
  picked = f32[20,33]{1,0} gather(rows, at), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,33}
  scattered = f32[50,33]{1,0} scatter(rows, at, updates), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add_f32
  softmax = f32[19,131]{1,0} fusion(v), kind=kLoop, calls=softmax_body
  product = f32[65,47]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  half = f16[40,72]{1,0} dot(ha, hb), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  gemm = f32[65,47]{1,0} custom-call(a, b, c), custom_call_target="__cublas$gemm", backend_config="{\"alpha_real\":1.5,\"alpha_imag\":0,\"beta\":1,\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":[\"0\"],\"lhs_batch_dimensions\":[],\"rhs_batch_dimensions\":[]}}"
  pair = (f32[517]{0}, f32[517]{0}) fusion(p, q), kind=kLoop, calls=pair_body
  first = f32[517]{0} get-tuple-element(pair), index=0
  second = f32[517]{0} get-tuple-element(pair), index=1
  choice = f32[517]{0} fusion(p, q), kind=kLoop, calls=choice_body
  scaled = f32[517]{0} fusion(p), kind=kLoop, calls=scaled_body
  joined = f32[1034]{0} concatenate(p, q), dimensions={0}
  padded = f32[531]{0} pad(p, zero), padding=5_9
  early = f32[517]{0} add(p, q)
  late = f32[517]{0} subtract(early, scaled)
  ROOT out = (bf16[1003]{0}, f32[37]{0}, f32[129]{0}, f32[129,37]{1,0}, f32[37,129]{1,0}, f16[37,129]{1,0}, f32[20,33]{1,0}, f32[50,33]{1,0}, f32[19,131]{1,0}, f32[65,47]{1,0}, f16[40,72]{1,0}, f32[65,47]{1,0}, f32[517]{0}, f32[517]{0}, f32[517]{0}, f32[1034]{0}, f32[531]{0}, f32[517]{0}) tuple(difference, row_sum, column_sum, turned, exponent, narrow, picked, scattered, softmax, product, half, gemm, first, second, choice, joined, padded, late)
}
)";

Step* find(Plan& plan, const std::string& name) {
  for (Step* step : plan.steps) {
    if (step->name == name) return step;
  }
  return nullptr;
}

KernelCall& call(Plan& plan, const std::string& step) { return std::get<KernelCall>(find(plan, step)->launches.at(0)); }
kernel::Kernel& code(Plan& plan, const std::string& step) { return plan.kernels[static_cast<size_t>(call(plan, step).kernel)]; }
Gemm& product(Plan& plan, const std::string& step) { return std::get<Gemm>(find(plan, step)->launches.back()); }

/// Replaces every match of a regular expression in the code of a step.
bool edit(Plan& plan, const std::string& step, const char* expression, const char* replacement) {
  std::string& text = code(plan, step).code;
  std::string changed = std::regex_replace(text, std::regex(expression), replacement);
  std::swap(text, changed);
  return text != changed;
}

bool swap_arguments(Plan& plan, const std::string& step, size_t a, size_t b) {
  auto& args = call(plan, step).args;
  std::swap(args.at(a), args.at(b));
  return args.at(a) != args.at(b);
}

bool drop_last_iteration(Plan& plan, const std::string& step) { return --code(plan, step).parts.at(0).count >= 0; }

struct Fault {
  const char* name;
  bool (*plant)(Plan&);
};

constexpr Fault kFaults[] = {
    {"subtract_becomes_add", [](Plan& p) { return edit(p, "difference", " fsub ", " fadd "); }},
    {"operands_swapped", [](Plan& p) { return swap_arguments(p, "difference", 0, 1); }},
    {"bf16_rounding_truncates", [](Plan& p) { return edit(p, "difference", "i32 32767", "i32 0"); }},
    {"bf16_rounds_up", [](Plan& p) { return edit(p, "difference", "i32 32767", "i32 65535"); }},
    {"last_row_missing", [](Plan& p) { return drop_last_iteration(p, "row_sum"); }},
    {"sum_starts_at_one", [](Plan& p) { return edit(p, "row_sum", "<float 0x0000000000000000", "<float 0x3FF0000000000000"); }},
    {"lanes_combined_wrongly", [](Plan& p) { return edit(p, "row_sum", "fadd float", "fsub float"); }},
    {"row_stride_off_by_one", [](Plan& p) { return edit(p, "row_sum", "(mul i64 %v\\d+), 129", "$1, 128"); }},
    {"loop_skips_vectors", [](Plan& p) { return edit(p, "row_sum", "(add nuw nsw i64 %v\\d+), (16|32|64|128)\n", "$1, 256\n"); }},
    {"last_columns_missing", [](Plan& p) { return drop_last_iteration(p, "column_sum"); }},
    {"transpose_reads_the_wrong_row", [](Plan& p) { return edit(p, "turned", "(mul i64 %v\\d+), (129|37)\n", "$1, 36\n"); }},
    {"polynomial_constant_wrong", [](Plan& p) { return edit(p, "exponent", "float 0xBFE62E4\\w+", "float 0xBFE63E4000000000"); }},
    {"converted_value_lost",
     [](Plan& p) { return edit(p, "narrow", "fptrunc (<\\d+ x float>) (%v\\d+) to", "fptrunc $1 zeroinitializer to"); }},
    {"wrong_index_array",
     [](Plan& p) {
       BufferId& index = call(p, "picked").args.at(1);
       return std::exchange(index, p.parameters.at(5).buffer) != index;
     }},
    {"updates_missing",
     [](Plan& p) {
       auto& parts = code(p, "scattered").parts;
       parts.pop_back();
       return !parts.empty();
     }},
    {"updates_before_the_copy",
     [](Plan& p) {
       auto& parts = code(p, "scattered").parts;
       std::swap(parts.at(0), parts.at(1));
       return true;
     }},
    {"update_subtracts", [](Plan& p) { return edit(p, "scattered", " fadd ", " fsub "); }},
    {"softmax_multiplies", [](Plan& p) { return edit(p, "softmax", " fdiv ", " fmul "); }},
    {"softmax_loses_the_sum", [](Plan& p) { return edit(p, "softmax", " fadd float ", " fmul float "); }},
    {"alpha_slightly_off", [](Plan& p) { return (product(p, "product").alpha = 1.001) != 1; }},
    {"sum_one_term_short", [](Plan& p) { return --product(p, "product").k > 0; }},
    {"product_misses_the_last_row", [](Plan& p) { return --product(p, "product").m > 0; }},
    {"product_misses_the_last_column", [](Plan& p) { return --product(p, "product").n > 0; }},
    {"half_product_transposes_b",
     [](Plan& p) {
       auto& b = product(p, "half").b;
       std::swap(b.row_stride, b.column_stride);
       return b.row_stride != b.column_stride;
     }},
    {"half_product_alpha", [](Plan& p) { return (product(p, "half").alpha = 1.02) != 1; }},
    {"addend_ignored", [](Plan& p) { return std::exchange(product(p, "gemm").beta, 0) != 0; }},
    {"addend_not_copied",
     [](Plan& p) {
       auto& launches = find(p, "gemm")->launches;
       launches.erase(launches.begin());
       return launches.size() == 1;
     }},
    {"outputs_swapped", [](Plan& p) { return swap_arguments(p, "pair", 2, 3); }},
    {"comparison_turned", [](Plan& p) { return edit(p, "choice", "fcmp ogt", "fcmp olt"); }},
    {"constant_wrong", [](Plan& p) { return edit(p, "scaled", "float 0x3FDA000000000000", "float 0x3FDA100000000000"); }},
    {"joined_in_the_wrong_order", [](Plan& p) { return swap_arguments(p, "joined", 0, 1); }},
    {"padding_shifted", [](Plan& p) { return edit(p, "padded", "(sub|add)( nsw| nuw)* i64 (%v\\d+), -?5\n", "$1 i64 $3, 4\n"); }},
    {"live_buffers_share_memory",
     [](Plan& p) {
       Buffer& second = p.buffers[static_cast<size_t>(find(p, "early")->out.at(0))];
       return std::exchange(second.offset, p.buffers[static_cast<size_t>(find(p, "scaled")->out.at(0))].offset) != second.offset;
     }},
};

/// The first step that failed, -1 if none did.
base::Result<int> verify(const Fault* fault) {
  ASSIGN_OR_RETURN(const ir::Module module, importers::hlo::parse(kProgram, "planted.hlo"));
  DeviceOptions device_options;
  device_options.threads = 2;
  ASSIGN_OR_RETURN(const auto device, open_device("cpu", device_options));
  PlanOptions options;
  options.target = device->target();
  ASSIGN_OR_RETURN(Plan plan, make_plan(module, options));
  if (fault != nullptr && !fault->plant(plan)) return base::Error{"the fault could not be planted"};
  RETURN_IF_ERROR(device->prepare(plan));
  ASSIGN_OR_RETURN(const auto settings, load_inputs(plan, *device, {}));
  const std::atomic<bool> stop{false};
  EngineOptions engine_options;
  engine_options.verify = true;
  engine_options.warm_up = 0;
  engine_options.repeat_short = false;
  struct Nothing : Observer {
    base::Status keep(const model::Pass&, std::span<const model::Sample>) override { return {}; }
  } nothing;
  Engine engine(plan, *device, engine_options, stop);
  ASSIGN_OR_RETURN(const Outcome outcome, engine.run(*measure::exactly(0), nothing));
  for (const Verdict& verdict : outcome.verdicts) {
    if (verdict.worst < 0) return base::Error{"a step was not verified"};
  }
  return outcome.failed_step;
}

TEST(Plant, NothingIsFoundWhereNothingIsPlanted) {
  const auto failed = verify(nullptr);
  ASSERT_TRUE(failed.ok()) << failed.error().message;
  EXPECT_EQ(*failed, -1);
}

class Planted : public testing::TestWithParam<Fault> {};
TEST_P(Planted, IsFound) {
  const auto failed = verify(&GetParam());
  ASSERT_TRUE(failed.ok()) << failed.error().message;
  EXPECT_GE(*failed, 0);
}
INSTANTIATE_TEST_SUITE_P(Fault, Planted, testing::ValuesIn(kFaults), [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace replay
