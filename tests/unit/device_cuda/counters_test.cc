// Hardware counters: which there are, what NVIDIA's own library says of them for chips that are not here, and how steps are counted on the
// GPU of the tests.
#include "replay/device/cuda/counters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "replay/device/cuda/step_counters.h"
#include "replay/prepare.h"
#include "tests/unit/device_cuda/fake.h"

namespace replay::cuda {
namespace {

std::vector<std::string> names_of(std::string_view asked) {
  std::vector<std::string> names;
  const auto found = counters_named(asked);
  for (const Counter& counter : *found) names.emplace_back(counter.name);
  return names;
}

TEST(CountersNamed, AreTheUsualOnesOrThoseThatAreAskedFor) {
  EXPECT_EQ(names_of("default"), (std::vector<std::string>{"dram_read", "dram_write", "occupancy", "tensor", "l2_hit", "sm_active"}));
  EXPECT_EQ(names_of("l1_hit, dram_read,l1_hit"), (std::vector<std::string>{"dram_read", "l1_hit"}));
  EXPECT_EQ(counters_named("dram_reads").error().message,
            "no counter 'dram_reads'; did you mean 'dram_read'?; profile help replay lists them");
  EXPECT_EQ(counters_named("dram_read,").error().exit, base::Exit::wrong_use);
}

TEST(CountersRead, AreRowsByStepAndCounter) {
  const auto wanted = *counters_named("dram_read,l2_hit,instructions");
  const std::vector<std::string> metrics{"lts__t_sector_hit_rate.pct", "dram__bytes_read.sum"};
  const RangeProfiler::Range ranges[] = {{"7", {NAN, 64}}, {"0", {NAN, 0.5}}};
  const auto found = counters_of(wanted, metrics, "GX1", ranges);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->counters.size(), 3u);
  EXPECT_EQ(found->counters[0].metric, "dram__bytes_read.sum");
  EXPECT_EQ(found->counters[0].why, "");
  EXPECT_EQ(found->counters[1].why, "CUPTI gives no value");
  EXPECT_EQ(found->counters[2].why, "GX1 has no such metric");
  ASSERT_EQ(found->values.size(), 2u);
  EXPECT_EQ(found->values[0].step, 7);
  EXPECT_EQ(found->values[0].value, 64);
  EXPECT_EQ(found->values[1].step, 0);
  const RangeProfiler::Range strange[] = {{"7/1", {0, 0}}};
  EXPECT_EQ(counters_of(wanted, metrics, "GX1", strange).error().message, "CUPTI gives a range '7/1' that was not pushed");
}

// --- the library itself, which needs no GPU for this --------------------------------------------------------------------------------

class CountersOfChips : public testing::Test {
 protected:
  void SetUp() override {
    auto found = RangeFunctions::open(system_opener());
    if (!found.ok()) GTEST_SKIP() << found.error().message;
    functions_ = *found;
  }
  base::Result<std::unique_ptr<RangeConfig>> config(const std::string& chip, const std::vector<std::string>& metrics) const {
    return RangeConfig::make(functions_, chip, metrics);
  }
  size_t passes(const std::string& chip, std::string_view asked) const {
    std::vector<std::string> metrics;
    const auto named = counters_named(asked);
    for (const Counter& counter : *named) metrics.emplace_back(counter.metric);
    const auto made = config(chip, metrics);
    EXPECT_TRUE(made.ok()) << made.error().message;
    if (!made.ok()) return 0;
    EXPECT_EQ((*made)->unknown(), std::vector<std::string>()) << chip;
    EXPECT_GT((*made)->image().size(), 0u);
    return (*made)->passes();
  }
  RangeFunctions functions_;
};

/// A100, H100 and H200, B100 and B200, L4.
constexpr const char* kChips[] = {"GA100", "GH100", "GB100", "AD104"};

TEST_F(CountersOfChips, HaveAllThatCanBeAskedFor) {
  std::string all;
  for (const Counter& counter : all_counters()) all += (all.empty() ? "" : ",") + std::string(counter.name);
  std::map<std::string, std::pair<size_t, size_t>> found;
  for (const char* chip : kChips) found[chip] = {passes(chip, "default"), passes(chip, all)};
  const std::map<std::string, std::pair<size_t, size_t>> expected{
      {"GA100", {2, 2}}, {"GH100", {2, 2}}, {"GB100", {2, 2}}, {"AD104", {2, 2}}};
  EXPECT_EQ(found, expected);
  for (const char* chip : kChips) EXPECT_EQ(passes(chip, "dram_read,dram_write,occupancy,tensor,sm_active"), 1u) << chip;
}

/// The sets whose passes were written down when the way was chosen.
TEST_F(CountersOfChips, TakeThePassesThatWereMeasured) {
  std::vector<std::string> set{"gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum"};
  const auto passes_with = [&](std::initializer_list<const char*> more) {
    set.insert(set.end(), more.begin(), more.end());
    return (*config("GH100", set))->passes();
  };
  EXPECT_EQ(passes_with({}), 1u);
  EXPECT_EQ(passes_with({"lts__t_bytes.sum", "sm__cycles_elapsed.max", "sm__cycles_active.avg"}), 1u);
  EXPECT_EQ(passes_with({"sm__inst_executed_pipe_tensor.sum", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
                         "sm__warps_active.avg.pct_of_peak_sustained_active"}),
            1u);
  for (const char* chip : {"GH100", "GA100", "GB100"}) EXPECT_EQ((*config(chip, set))->passes(), 1u) << chip;
  EXPECT_EQ((*config("GH100", set))->image().size(), 3024u);
  EXPECT_EQ(passes_with({"sm__inst_executed.sum", "l1tex__t_bytes.sum"}), 2u);
  set.resize(6);
  EXPECT_EQ(passes_with({"sm__ops_path_tensor_src_fp16.sum", "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
                         "sm__ops_path_tensor_src_tf32_dst_fp32.sum"}),
            4u);
}

TEST_F(CountersOfChips, LeaveOutWhatTheyLackAndSaySo) {
  const auto made = config("GH100", {"no__such.sum", "dram__bytes_read.sum", "dram__bytes_read.nothing"});
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ((*made)->metrics(), std::vector<std::string>{"dram__bytes_read.sum"});
  EXPECT_EQ((*made)->unknown(), (std::vector<std::string>{"no__such.sum", "dram__bytes_read.nothing"}));
  EXPECT_EQ(config("GH100", {"no__such.sum"}).error().message, "GH100 has none of no__such.sum");
  EXPECT_TRUE(config("GX999", {"dram__bytes_read.sum"}).error().message.starts_with("cuptiProfilerHostInitialize: CUPTI_ERROR_"));
}

// --- the device -----------------------------------------------------------------------------------------------------------------------

struct Counted {
  std::optional<base::Error> error;
  model::Counters counters;
  std::vector<std::string> names;  ///< of steps
};

base::Status count(const std::string& text, const std::string& counters, Counted& out) {
  DeviceOptions options;
  options.counters = counters;
  ASSIGN_OR_RETURN(const auto loaded, plan_on_fake(text, options));
  for (const Step* step : loaded->plan->steps) out.names.push_back(step->name);
  RETURN_IF_ERROR(replay::prepare(*loaded->plan, *loaded->device));
  RETURN_IF_ERROR(load_inputs(*loaded->plan, *loaded->device, {}));
  const std::atomic<bool> stop{false};
  Engine engine(*loaded->plan, *loaded->device, {}, stop);
  ASSIGN_OR_RETURN(const bool complete, engine.count());
  if (!complete) return base::Error{"not complete"};
  ASSIGN_OR_RETURN(out.counters, loaded->device->counted());
  return {};
}

Counted count_on_fake(const std::string& text, const std::string& counters) {
  Counted out;
  if (const base::Status done = count(text, counters, out); !done.ok()) out.error = done.error();
  return out;
}

/// The GPU of the tests counts a nanosecond as a byte, and 10 % for each operation, so that what is counted is what is timed.
TEST(CountersOfSteps, AreThoseOfOneExecution) {
  plan_fake("");
  const Replayed timed = replay_on_fake(kProgram, {.verify = false, .passes = 1});
  plan_fake("");
  const Counted counted = count_on_fake(kProgram, "dram_read,occupancy,instructions");
  ASSERT_FALSE(timed.error || counted.error) << (timed.error ? timed.error->message : counted.error->message);
  EXPECT_EQ(left_behind(fake_report()), "");
  EXPECT_EQ(counted.counters.counters[1].name, "occupancy");
  EXPECT_EQ(counted.counters.counters[2].why, "CUPTI gives no value");
  EXPECT_EQ(
      counted.counters.how,
      "3 counters of GH100 in 1 pass over the program, no replay; 8 ranges, each a step's first run in a pass; config image 24 bytes, "
      "counter data 320 bytes");
  std::map<int32_t, double> ns;
  for (const model::Sample& sample : timed.kept.samples)
    if (sample.duration_ns > 0) ns[sample.step] = static_cast<double>(sample.duration_ns) / sample.executions;
  std::map<int32_t, double> bytes;
  for (const model::CounterValue& value : counted.counters.values)
    if (value.counter == 0) bytes[value.step] = value.value;
  EXPECT_EQ(bytes, ns);
}

/// Two passes: the program runs again from the same inputs, of which it overwrites one.
TEST(CountersOfSteps, ThatNeedMorePassesReplayTheProgram) {
  constexpr const char* kDonating = R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { a = f32[512,80] parameter(0)
 ROOT r = f32[512,80] exponential(a) }
)";
  const auto copies = [&](const char* counters) {
    plan_fake("");
    const Counted counted = count_on_fake(kDonating, counters);
    EXPECT_FALSE(counted.error) << counted.error->message;
    EXPECT_EQ(left_behind(fake_report()), "");
    const bool two = counted.counters.how.find("2 passes over the program, each from the same inputs: 1 replay;") != std::string::npos;
    EXPECT_EQ(two, std::string_view(counters) == "l1_hit") << counted.counters.how;
    return fake_calls(fake_report(), "cuMemcpyDtoDAsync_v2");
  };
  EXPECT_EQ(copies("l1_hit"), copies("l1_bytes") + 1);
}

TEST(CountersOfSteps, OfAFusionAreThoseOfItsPartsToo) {
  plan_fake("");
  DeviceOptions options;
  options.counters = "dram_read";
  const auto loaded = plan_on_fake(kProgram, options, [](std::string_view) { return Parts::ops; });
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  Plan& plan = *(*loaded)->plan;
  ASSERT_EQ(plan.variants.size(), 1u);
  ASSERT_TRUE(replay::prepare(plan, *(*loaded)->device).ok());
  ASSERT_TRUE(load_inputs(plan, *(*loaded)->device, {}).ok());
  const std::atomic<bool> stop{false};
  const auto complete = Engine(plan, *(*loaded)->device, {}, stop).count();
  ASSERT_TRUE(complete.ok() && *complete);
  std::set<int32_t> counted;
  const auto read = (*loaded)->device->counted();
  ASSERT_TRUE(read.ok());
  for (const model::CounterValue& value : read->values) counted.insert(value.step);
  for (const Step& part : plan.variants[0].parts) EXPECT_TRUE(counted.contains(part.id)) << part.name;
  EXPECT_FALSE(counted.contains(plan.variants[0].whole.id));
}

TEST(CountersThatFail, SayWhatToDoWhereThisUserMayNot) {
  plan_fake("fail=cuptiRangeProfilerEnable:1:35");
  const std::string why = why_no_counters(fake_opener());
  EXPECT_TRUE(
      why.starts_with("cuptiRangeProfilerEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35): this user may not; set "
                      "NVreg_RestrictProfilingToAdminUsers=0 for the driver"))
      << why;
  EXPECT_NE(why.find("--cap-add SYS_ADMIN"), std::string::npos);
  EXPECT_EQ(left_behind(fake_report()), "");
  EXPECT_EQ(fake_calls(fake_report(), "nvrtcCompileProgram"), 0);
  plan_fake("");
  EXPECT_EQ(why_no_counters(fake_opener()), "");
}

TEST(CountersThatFail, NameTheCallEachTimeItIsMade) {
  plan_fake("");
  ASSERT_FALSE(count_on_fake(kProgram, "l1_hit,dram_read").error);
  std::map<std::string, int64_t> calls;
  std::istringstream lines(fake_report());
  std::string function;
  for (int64_t count = 0; lines >> function >> count;)
    if (function.starts_with("cuptiRange") || function.starts_with("cuptiProfiler") || function == "cuptiDeviceGetChipName")
      calls[function] = count;
  EXPECT_EQ(calls.size(), 22u);
  for (const auto& [name, count] : calls) {
    for (int64_t at = 1; at <= count; ++at) {
      for (const int code : {7, 35, 999}) {
        plan_fake("fail=" + name + ":" + std::to_string(at) + ":" + std::to_string(code));
        const Counted failed = count_on_fake(kProgram, "l1_hit,dram_read");
        EXPECT_EQ(left_behind(fake_report()), "") << name;
        const bool gives_back = name == "cuptiRangeProfilerDisable" || name == "cuptiProfilerHostDeinitialize";
        const bool asks = name == "cuptiProfilerHostGetMetricProperties";  // what a chip lacks is left out
        ASSERT_EQ(failed.error.has_value(), !gives_back && !asks) << name << " call " << at << " gives " << code;
        if (asks) {
          EXPECT_EQ(failed.counters.counters.at(static_cast<size_t>(at - 1)).why, "GH100 has no such metric");
        }
        if (!failed.error) continue;
        EXPECT_NE(failed.error->message.find(name + ": "), std::string::npos) << failed.error->message;
        EXPECT_NE(failed.error->message.find("(" + std::to_string(code) + ")"), std::string::npos) << failed.error->message;
        const bool of_a_step = name == "cuptiRangeProfilerPushRange" || name == "cuptiRangeProfilerPopRange";
        EXPECT_EQ(std::ranges::any_of(failed.names, [&](const auto& step) { return failed.error->message.starts_with(step + ": "); }),
                  of_a_step)
            << failed.error->message;
      }
    }
  }
}

}  // namespace
}  // namespace replay::cuda
