// What is read of control groups, on file trees made for the test.
#include "replay/device/cpu/host.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace replay::cpu {
namespace {

class Host : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("host_test." + std::to_string(getpid()));
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  CgroupLimits limits() { return cgroup_limits(root_.string()); }
  std::filesystem::path root_;
};

TEST_F(Host, NoControlGroupsMeansNoLimit) {
  EXPECT_EQ(limits().cpus, 0);
  EXPECT_EQ(limits().free_bytes, INT64_MAX);
}

TEST_F(Host, VersionTwoTakesTheTightestParent) {
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  put("sys/fs/cgroup/cpu.max", "400000 100000\n");
  put("sys/fs/cgroup/a/memory.max", "1000000\n");
  put("sys/fs/cgroup/a/memory.current", "600000\n");
  put("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 50000\n");
  put("sys/fs/cgroup/a/b/memory.max", "max\n");
  put("sys/fs/cgroup/a/b/memory.current", "5\n");
  EXPECT_DOUBLE_EQ(limits().cpus, 1.5);
  EXPECT_EQ(limits().free_bytes, 450000);
}

TEST_F(Host, VersionOneKnowsQuotaAndMemory) {
  put("proc/self/cgroup", "4:memory:/job\n2:cpu,cpuacct:/job\n1:name=systemd:/\n");
  put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
  put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2000\n");
  put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1500\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("sys/fs/cgroup/memory/memory.usage_in_bytes", "77\n");
  EXPECT_DOUBLE_EQ(limits().cpus, 0.5);
  EXPECT_EQ(limits().free_bytes, 500);
}

TEST_F(Host, APathOfTheHostThatAContainerCannotSeeFallsBackToItsRoot) {
  put("proc/self/cgroup", "0::/docker/0123\n");
  put("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_DOUBLE_EQ(limits().cpus, 2);
}

TEST_F(Host, DamagedFilesAreNoLimit) {
  put("proc/self/cgroup", "nonsense\n0::/\n:\n");
  put("sys/fs/cgroup/cpu.max", "x y\n");
  put("sys/fs/cgroup/memory.max", "\n");
  EXPECT_EQ(limits().cpus, 0);
  EXPECT_EQ(limits().free_bytes, INT64_MAX);
}

TEST_F(Host, AvailableMemoryIsTheSmallerOfMachineAndGroup) {
  put("proc/meminfo", "MemTotal:  100 kB\nMemAvailable:   3 kB\n");
  EXPECT_EQ(available_bytes(root_.string()), 3072);
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/memory.max", "2000\n");
  put("sys/fs/cgroup/memory.current", "1000\n");
  EXPECT_EQ(available_bytes(root_.string()), 1000);
}

TEST_F(Host, ThreadsFollowTheAffinityMask) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_threads(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(usable_threads(), 1);
  EXPECT_LE(usable_threads(), CPU_COUNT(&before));
}

TEST_F(Host, SettingsNameWhatDisturbsATiming) {
  std::vector<std::string> names;
  for (const auto& setting : host_settings()) {
    EXPECT_FALSE(setting.value.empty()) << setting.name;
    names.push_back(setting.name);
  }
  for (const char* name : {"governor", "huge_pages", "load_average", "cgroup_cpus", "cache_l3"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

}  // namespace
}  // namespace replay::cpu
