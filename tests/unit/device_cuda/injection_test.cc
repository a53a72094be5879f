// Every error that the driver's header names, given by the calls of a run. The GPU of the tests counts calls, so that each can be made to
// fail by itself: an error that passes and one that stays at every call, and every error at calls of five kinds; all at all where
// PROFILE_INJECTION=full (tools/nightly.sh).
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>

#include "replay/device/cuda/driver.h"
#include "tests/unit/device_cuda/fake.h"

namespace replay::cuda {
namespace {

/// Results of these are looked at by nobody: what they give back is gone.
const std::set<std::string> kGiveBack{
    "cuDevicePrimaryCtxRelease_v2", "cuMemFree_v2",  "cuModuleUnload", "cuStreamDestroy_v2", "cuEventDestroy_v2",
    "cuGraphExecDestroy",           "cuGraphDestroy"};
/// Made for steps alone: where they fail, a step is named, or the steps of a graph.
const std::set<std::string> kOfSteps{"cuLaunchKernel",
                                     "cuStreamBeginCapture_v2",
                                     "cuStreamEndCapture",
                                     "cuGraphInstantiateWithFlags",
                                     "cuGraphUpload",
                                     "cuGraphLaunch",
                                     "cuptiActivityPushExternalCorrelationId",
                                     "cuptiActivityPopExternalCorrelationId",
                                     "cuptiActivityFlushAll",
                                     "cuptiActivityGetNumDroppedRecords"};

std::vector<int> all_errors() {
  void* fake = fake_opener().open("libcuda.so.1");
  const auto error = reinterpret_cast<int (*)(size_t)>(dlsym(fake, "fake_gpu_error"));
  std::vector<int> codes;
  for (size_t k = 0; error(k) != 0; ++k) codes.push_back(error(k));
  return codes;
}

struct Injected {
  std::string function;
  int64_t at = 0;
  int code = 0;
};
void PrintTo(const Injected& one, std::ostream* out) { *out << one.function << " call " << one.at << " gives " << one.code; }

class Injection : public testing::TestWithParam<const char*> {
 protected:
  Request request() const { return {.mode = GetParam(), .verify = false, .passes = 2}; }

  /// By function: how often a run without an error calls it. Compilers are not called for what is kept on disk, and a product that cuBLASLt
  /// refuses gets a kernel.
  std::map<std::string, int64_t> counts() const {
    for (int i = 0; i < 2; ++i) {  // the first opens CUPTI, once a process, and compiles
      plan_fake("");
      EXPECT_FALSE(replay_on_fake(kProgram, request()).error);
    }
    std::map<std::string, int64_t> counts;
    std::istringstream lines(fake_report());
    std::string function;
    for (int64_t count = 0; lines >> function >> count;)
      if (!function.starts_with("nvrtc") && !function.starts_with("cublasLt") && !function.starts_with("nvml")) counts[function] = count;
    return counts;
  }

  std::vector<Injected> choose() const {
    const bool full = std::getenv("PROFILE_INJECTION") != nullptr;
    const std::vector<int> all = all_errors();
    const std::set<std::string> with_all{"cuMemAlloc_v2", "cuModuleLoadData", "cuMemcpyHtoD_v2", "cuLaunchKernel", "cuStreamSynchronize"};
    std::vector<Injected> chosen;
    for (const auto& [function, count] : counts())
      for (int64_t at = 1; at <= count; ++at)
        for (const int code : full || (at == count && with_all.contains(function)) ? all : std::vector{2, 700})
          chosen.push_back({function, at, code});
    return chosen;
  }

  void expect_told(const Injected& one) const {
    plan_fake("fail=" + one.function + ":" + std::to_string(one.at) + ":" + std::to_string(one.code));
    const Replayed run = replay_on_fake(kProgram, request());
    const std::string report = fake_report();
    EXPECT_EQ(left_behind(report), "");
    EXPECT_EQ(run.outcome.passes, run.kept.passes);  // what was measured before is kept
    if (kGiveBack.contains(one.function)) return;
    ASSERT_TRUE(run.error);
    const std::string& message = run.error->message;
    EXPECT_NE(message.find(one.function + ": "), std::string::npos) << message;
    EXPECT_NE(message.find("(" + std::to_string(one.code) + ")"), std::string::npos) << message;
    EXPECT_EQ(message.find("report it as a bug"), std::string::npos) << message;
    EXPECT_TRUE(!kOfSteps.contains(one.function) || names_a_step(message, run.names)) << message;
    EXPECT_FALSE(message.starts_with(one.function)) << "what was being done? " << message;
    expect_no_use_of_a_lost_gpu(report);
  }

  static bool names_a_step(const std::string& message, const std::vector<std::string>& names) {
    return std::ranges::any_of(names, [&](const std::string& name) {
      return message.starts_with(name + ": ") || message.find(" from " + name + " to ") != std::string::npos;
    });
  }

  static void expect_no_use_of_a_lost_gpu(const std::string& report) {
    std::istringstream lines(report);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("when lost: ")) continue;
      const std::string function = line.substr(11, line.rfind(' ') - 11);
      EXPECT_TRUE(kGiveBack.contains(function)) << line;
    }
  }
};

TEST_P(Injection, EveryCallThatFailsIsTold) {
  const std::vector<Injected> chosen = choose();
  EXPECT_GT(chosen.size(), 700u);
  std::cout << chosen.size() << " errors are given" << std::endl;
  for (const Injected& one : chosen) {
    expect_told(one);
    if (HasFailure()) FAIL() << testing::PrintToString(one);
  }
}
INSTANTIATE_TEST_SUITE_P(Cuda, Injection, testing::Values("stream", "graph", "events"),
                         [](const auto& info) { return std::string(info.param); });

/// The header's names and numbers, and which of its comments say that the process must begin anew.
TEST(CudaErrors, AreThoseOfTheHeader) {
  std::ifstream file("/usr/local/cuda/include/cuda.h");
  if (!file) GTEST_SKIP() << "no cuda.h in /usr/local/cuda";
  std::stringstream whole;
  whole << file.rdbuf();
  std::string text = whole.str();
  text = text.substr(text.find("typedef enum cudaError_enum"));
  text = text.substr(0, text.find("} CUresult"));
  std::vector<int> codes, stay;
  const std::regex error(R"(\*/\s*CUDA_[A-Z0-9_]+\s*=\s*(\d+))");
  size_t before = 0;
  for (std::sregex_iterator found(text.begin(), text.end(), error), end; found != end; ++found) {
    const int code = std::stoi((*found)[1]);
    const auto at = static_cast<size_t>(found->position());
    const std::string comment = std::regex_replace(text.substr(before, at - before), std::regex(R"([\s*]+)"), " ");
    before = at + static_cast<size_t>(found->length());
    if (code != 0) codes.push_back(code);
    if (comment.find("must be terminated and relaunched") != std::string::npos) stay.push_back(code);
  }
  EXPECT_EQ(all_errors(), codes);
  EXPECT_GT(stay.size(), 10u);
  for (const int code : stay) EXPECT_TRUE(std::ranges::binary_search(errors_that_stay(), code)) << code;
}

}  // namespace
}  // namespace replay::cuda
