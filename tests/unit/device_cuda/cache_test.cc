// Machine code on disk: the key changes with all that code depends on, and no file can do harm.
#include "replay/device/cuda/cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "src/base/file.h"

namespace replay::cuda {
namespace {

class CudaCache : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static Machine machine(size_t bytes, char fill) {
    Machine made;
    made.code.assign(bytes, fill);
    made.log = "ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info    : Used 40 registers\n";
    return made;
  }
  /// Its own: ctest runs tests at the same time.
  const std::string folder_ = std::string(BINARY_DIR "/tests/cache_test.") + testing::UnitTest::GetInstance()->current_test_info()->name();
  const Cache cache_{folder_};
};

TEST_F(CudaCache, GivesBackWhatWasKeptWithWhatPtxasSaid) {
  cache_.keep("key", machine(1000, 'x'));
  const auto found = cache_.find("key");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, machine(1000, 'x').code);
  ASSERT_EQ(found->usage.size(), 1u);
  EXPECT_EQ(found->usage[0].registers, 40);
  EXPECT_FALSE(cache_.find("another"));
}

TEST_F(CudaCache, AFileThatIsNotWholeIsNoFile) {
  cache_.keep("key", machine(1000, 'x'));
  const std::string path = folder_ + "/key.cubin", whole = *base::read_file(path);
  for (size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, bytes);
    EXPECT_FALSE(cache_.find("key")) << bytes;
  }
  for (size_t at = 0; at < whole.size(); at += 5) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    std::ofstream(path, std::ios::binary) << changed;
    EXPECT_FALSE(cache_.find("key")) << at;
  }
  std::ofstream(path, std::ios::binary) << whole;
  EXPECT_TRUE(cache_.find("key"));
}

TEST_F(CudaCache, SeveralWritersOfOneKeyLeaveAWholeFile) {
  std::vector<std::jthread> writers;
  for (char c = 'a'; c < 'i'; ++c)
    writers.emplace_back([this, c] {
      for (int i = 0; i < 20; ++i) cache_.keep("key", machine(50'000, c));
    });
  for (int i = 0; i < 50; ++i) cache_.find("key");
  writers.clear();
  EXPECT_TRUE(cache_.find("key"));
  size_t files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 1u);
}

TEST_F(CudaCache, WithoutAFolderNothingIsKept) {
  const Cache none(""), forbidden("/proc/none");
  none.keep("key", machine(10, 'x'));
  forbidden.keep("key", machine(10, 'x'));
  EXPECT_FALSE(none.find("key"));
  EXPECT_FALSE(forbidden.find("key"));
}

TEST_F(CudaCache, TheKeyChangesWithEachIngredient) {
  const std::string key = cache_key("text", "sm_90", "NVRTC 13.0 build options");
  EXPECT_EQ(key, cache_key("text", "sm_90", "NVRTC 13.0 build options"));
  EXPECT_NE(key, cache_key("text ", "sm_90", "NVRTC 13.0 build options"));
  EXPECT_NE(key, cache_key("text", "sm_80", "NVRTC 13.0 build options"));
  EXPECT_NE(key, cache_key("text", "compute_90", "NVRTC 13.0 build options"));
  EXPECT_NE(key, cache_key("text", "sm_90", "NVRTC 13.0 other options"));
}

}  // namespace
}  // namespace replay::cuda
