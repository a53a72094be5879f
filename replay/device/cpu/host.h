// What the operating system says of this machine: how much of it we may use, and what to write down beside a measurement.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/kernel/kernel.h"
#include "src/model/records.h"

namespace replay::cpu {

/// Limits of the control groups that this process is in, over all their parents. `root` stands before /proc and /sys (tests make their
/// own).
struct CgroupLimits {
  double cpus = 0;                 ///< cores' worth of time; 0: no limit
  int64_t free_bytes = INT64_MAX;  ///< until the tightest memory limit; reclaimable file pages count as free
};
CgroupLimits cgroup_limits(const std::string& root = "");

/// Cores in the affinity mask, or fewer if a cgroup quota gives fewer (rounded up, at least 1).
int usable_threads();

/// Memory that can be allocated now: MemAvailable, or less if a cgroup gives less.
int64_t available_bytes(const std::string& root = "");

/// "AMD EPYC 7543 32-Core Processor".
std::string cpu_model();
/// Sizes of the caches that one core reaches; 0 where the system does not say.
struct Caches {
  int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;
};
Caches caches();
/// Caches, governor, huge pages, load, quota, kernel release: what a reader of a timing wants to know.
std::vector<model::Setting> host_settings();

}  // namespace replay::cpu
