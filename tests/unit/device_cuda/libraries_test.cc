// What is said of libraries that are there, are not, or are of no use: with a loader that a test fills.
#include "replay/device/cuda/libraries.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "replay/device/cuda/compiler.h"
#include "replay/device/cuda/cuda.h"
#include "replay/device/cuda/cupti.h"

namespace replay::cuda {
namespace {

void* nothing(const char*) { return nullptr; }
void* no_symbol(void*, const char*) { return nullptr; }
std::string no_file() { return "cannot open shared object file"; }
constexpr Opener kEmptyMachine{nothing, no_symbol, no_file};

/// Every library opens; the driver answers as NVIDIA's stub does.
void* anything(const char* file) { return const_cast<char*>(file); }
int stub_init(unsigned) { return 34; }
int stub_version(int* version) { return *version = 13000, 0; }
int no_devices(int* count) { return *count = 0, 0; }
int error_name(int, const char** text) { return *text = "CUDA_ERROR_STUB_LIBRARY", 0; }
size_t nine_nineteen() { return 91900; }
int good_init(unsigned) { return 0; }

template <typename F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}
void* stub_symbol(void*, const char* name) {
  const std::string_view symbol = name;
  if (symbol == "cuInit") return address(stub_init);
  if (symbol == "cuDriverGetVersion") return address(stub_version);
  if (symbol == "cuDeviceGetCount") return address(no_devices);
  if (symbol == "cuGetErrorName") return address(error_name);
  return symbol == "cudnnGetVersion" ? address(nine_nineteen) : nullptr;
}
void* working_symbol(void* library, const char* name) {
  return std::string_view(name) == "cuInit" ? address(good_init) : stub_symbol(library, name);
}

TEST(CudaLibraries, AMachineWithoutAnyHasAReasonAndACostForEach) {
  const auto found = survey(kEmptyMachine);
  ASSERT_EQ(found.size(), 6u);
  for (const Presence& presence : found) {
    EXPECT_FALSE(presence.usable()) << presence.name;
    EXPECT_EQ(presence.why, "cannot open shared object file");
    EXPECT_FALSE(presence.without_it.empty());
    EXPECT_TRUE(presence.file.empty());
  }
}

TEST(CudaLibraries, AStubDriverIsNamedWithItsError) {
  const Presence driver = look_at(Library::driver, {anything, stub_symbol, no_file});
  EXPECT_EQ(driver.why, "cuInit fails with 34 (CUDA_ERROR_STUB_LIBRARY)");
  EXPECT_EQ(driver.file, "libcuda.so.1");
}

/// NVIDIA's own stub, under the name of the driver.
TEST(CudaLibraries, TheToolkitsStubIsNoDriver) {
  constexpr const char* kStub = "/usr/local/cuda/lib64/stubs/libcuda.so";
  if (dlopen(kStub, RTLD_NOW | RTLD_LOCAL) == nullptr) GTEST_SKIP() << "no stub of the driver in /usr/local/cuda";
  const auto open = [](const char* file) -> void* {
    return std::string_view(file) == "libcuda.so.1" ? dlopen(kStub, RTLD_NOW | RTLD_LOCAL) : nullptr;
  };
  const Opener opener{open, dlsym, no_file};
  EXPECT_EQ(look_at(Library::driver, opener).why, "cuInit fails with 34 (CUDA_ERROR_STUB_LIBRARY)");
  EXPECT_EQ(why_not_usable(opener), "NVIDIA's driver libcuda.so.1 is of no use: cuInit fails with 34 (CUDA_ERROR_STUB_LIBRARY)");
  EXPECT_EQ(why_no_counters(opener), why_no_gpu(opener));
  const auto device = open_with({}, opener);
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().exit, base::Exit::missing_capability);
}

/// Of what is asked on a machine without a GPU: the driver's name, once.
TEST(CudaLibraries, ChoosingADeviceOpensOneFileWhereThereIsNoDriver) {
  static int opened;
  opened = 0;
  const auto count = [](const char*) -> void* { return ++opened, nullptr; };
  EXPECT_EQ(why_not_usable({count, no_symbol, no_file}), "no NVIDIA driver (cannot open shared object file)");
  EXPECT_EQ(opened, 1);
}

/// Its functions are all there, so that the first that needs a driver fails.
TEST(CudaLibraries, CuptiHasEveryFunctionThatIsAskedOfIt) {
  if (open_library(Library::cupti, system_opener()).handle == nullptr) GTEST_SKIP() << "no CUPTI";
  if (why_no_gpu().empty() || traces()) GTEST_SKIP() << "there is a GPU";
  EXPECT_TRUE(Cupti::open(system_opener()).error().message.starts_with("cuptiSubscribe: CUPTI_ERROR_UNKNOWN (999)"));
}

TEST(CudaLibraries, ADriverWithoutAGpuSaysSo) {
  const Presence driver = look_at(Library::driver, {anything, working_symbol, no_file});
  EXPECT_EQ(driver.why, "it finds no GPU");
  EXPECT_EQ(driver.version, "CUDA 13.0");
}

TEST(CudaLibraries, ALibraryThatLacksItsFunctionsIsOfNoUse) {
  EXPECT_EQ(look_at(Library::cupti, {anything, stub_symbol, no_file}).why, "it has no function cuptiGetVersion");
  const auto compiler = Compiler::open({anything, stub_symbol, no_file});
  ASSERT_FALSE(compiler.ok());
  EXPECT_EQ(compiler.error().message, "NVRTC: libnvrtc.so.13 has no function nvrtcVersion");
  EXPECT_EQ(compiler.error().exit, base::Exit::missing_capability);
}

TEST(CudaLibraries, VersionsAreReadAsTheLibraryCountsThem) {
  EXPECT_EQ(look_at(Library::cudnn, {anything, stub_symbol, no_file}).version, "9.19");
}

constexpr std::string_view kLog =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'k1' for 'sm_90'\n"
    "ptxas info    : Function properties for k1\n"
    "    40 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 1 barriers, 40 bytes cumulative stack size, 2048 bytes smem\n"
    "ptxas info    : Compiling entry function 'k0' for 'sm_90'\n"
    "ptxas info    : Function properties for k0\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 14 registers, used 0 barriers\n";

TEST(CudaCompiler, ReadsWhatPtxasSaysOfEachFunction) {
  const auto usage = read_usage(kLog);
  ASSERT_EQ(usage.size(), 2u);
  EXPECT_EQ(usage[0].function, "k1");
  EXPECT_EQ(usage[0].registers, 255);
  EXPECT_EQ(usage[0].stack_bytes, 40);
  EXPECT_EQ(usage[0].spill_store_bytes, 8);
  EXPECT_EQ(usage[0].spill_load_bytes, 12);
  EXPECT_EQ(usage[0].shared_bytes, 2048);
  EXPECT_EQ(usage[1].registers, 14);
  EXPECT_EQ(usage[1].stack_bytes, 0);
  EXPECT_TRUE(read_usage("nothing of ptxas\n\nCompiling entry function '").size() <= 1);
}

TEST(CudaCompiler, TakesTheNewestMachineCodeThatRunsElsePtx) {
  const std::vector<int> known{75, 80, 86, 89, 90, 100, 103, 110, 120};
  const auto text = [&](int major, int minor) { return architecture_for(major, minor, known)->text(); };
  EXPECT_EQ(text(9, 0), "sm_90");
  EXPECT_EQ(text(8, 9), "sm_89");
  EXPECT_EQ(text(8, 7), "sm_86");
  EXPECT_EQ(text(12, 1), "sm_120");
  EXPECT_EQ(text(13, 0), "compute_120");
  EXPECT_EQ(text(9, 9), "sm_90");
  const auto old = architecture_for(7, 0, known);
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().message, "compiles for nothing as old as sm_70");
}

TEST(CudaCompiler, SaysWhatIsWrongWithAText) {
  const auto compiler = Compiler::open(system_opener());
  if (!compiler.ok()) GTEST_SKIP() << compiler.error().message;
  const auto bad = (*compiler)->compile("extern \"C\" __global__ void k0() { unknown(); }", {90});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "NVRTC, sm_90: kernel.cu(1): error: identifier \"unknown\" is undefined");
  const auto unknown = (*compiler)->compile("extern \"C\" __global__ void k0() {}", {12});
  ASSERT_FALSE(unknown.ok());
  const auto good = (*compiler)->compile("extern \"C\" __global__ void k0(int* x) { *x = 1; }", {90});
  ASSERT_TRUE(good.ok()) << good.error().message;
  ASSERT_EQ(good->usage.size(), 1u);
  EXPECT_EQ(std::string_view(good->code.data() + 1, 3), "ELF");
  const auto ptx = (*compiler)->compile("extern \"C\" __global__ void k0(int* x) { *x = 1; }", {90, true});
  ASSERT_TRUE(ptx.ok()) << ptx.error().message;
  EXPECT_NE(std::string_view(ptx->code.data()).find(".target sm_90"), std::string_view::npos);
  EXPECT_EQ(ptx->code.back(), '\0');
}

}  // namespace
}  // namespace replay::cuda
