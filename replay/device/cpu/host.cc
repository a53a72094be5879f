// Reads /proc, /sys and sysconf. Nothing here fails: what the system does not say is 0, "unknown" or no limit.
#include "replay/device/cpu/host.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "src/base/file.h"
#include "src/base/text.h"

namespace replay::cpu {
namespace {

constexpr double kUnlimited = 1e18;  ///< bytes; version 1 says "no limit" as a number just below 2^63

std::string contents(const std::string& path) {
  auto bytes = base::read_file(path);
  return bytes.ok() ? *bytes : "";
}

std::string first_line(const std::string& path) {
  std::string text = contents(path);
  return text.substr(0, text.find('\n'));
}

/// body(line) for each line.
template <typename Body>
void for_lines(std::string_view text, const Body& body) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    body(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The number after `name` at the start of a line ("MemAvailable:  123 kB", "inactive_file 123").
std::optional<double> number_after(const std::string& text, std::string_view name) {
  std::optional<double> found;
  for_lines(text, [&](std::string_view line) {
    if (!found && line.starts_with(name)) found = std::strtod(std::string(line.substr(name.size())).c_str(), nullptr);
  });
  return found;
}

/// The number that a file begins with; nothing for a missing file, "max" or a negative number.
std::optional<double> number_in(const std::string& path) {
  const std::string text = contents(path);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || value < 0) return std::nullopt;
  return value;
}

/// Folder and file names of one version of control groups.
struct MemoryFiles {
  const char *limit, *used, *reclaimable;
};
constexpr MemoryFiles kMemoryV1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "};
constexpr MemoryFiles kMemoryV2{"memory.max", "memory.current", "inactive_file "};

void narrow_memory(CgroupLimits& limits, const std::string& folder, const MemoryFiles& files) {
  const auto limit = number_in(folder + files.limit), used = number_in(folder + files.used);
  if (!limit || !used || *limit > kUnlimited) return;
  const double reclaimable = number_after(contents(folder + "memory.stat"), files.reclaimable).value_or(0);
  const double free = std::max(0.0, *limit - *used + reclaimable);
  limits.free_bytes = std::min(limits.free_bytes, static_cast<int64_t>(free));
}

void narrow_cpus(CgroupLimits& limits, std::optional<double> quota, std::optional<double> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return;
  const double cpus = *quota / *period;
  limits.cpus = limits.cpus == 0 ? cpus : std::min(limits.cpus, cpus);
}

void narrow_v1(CgroupLimits& limits, const std::string& folder) {
  narrow_cpus(limits, number_in(folder + "cpu.cfs_quota_us"), number_in(folder + "cpu.cfs_period_us"));
  narrow_memory(limits, folder, kMemoryV1);
}

void narrow_v2(CgroupLimits& limits, const std::string& folder) {
  const std::string text = contents(folder + "cpu.max");  // "200000 100000" or "max 100000"
  if (const size_t space = text.find(' '); space != std::string::npos && !text.starts_with("max"))
    narrow_cpus(limits, std::strtod(text.c_str(), nullptr), std::strtod(text.c_str() + space, nullptr));
  narrow_memory(limits, folder, kMemoryV2);
}

/// A line of /proc/self/cgroup: "4:memory:/path" (version 1) or "0::/path" (version 2).
void narrow(CgroupLimits& limits, const std::string& root, std::string_view line) {
  const size_t first = line.find(':'), second = line.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return;
  const std::string controllers(line.substr(first + 1, second - first - 1));
  std::string path(line.substr(second + 1));
  const bool old = !controllers.empty();
  // In a container the path may be the host's, which cannot be seen from inside; its parents' end is then the container's own group.
  while (true) {
    if (old)
      narrow_v1(limits, fmt::format("{}/sys/fs/cgroup/{}{}/", root, controllers, path));
    else
      narrow_v2(limits, fmt::format("{}/sys/fs/cgroup{}/", root, path));
    if (path.empty() || path == "/") return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

int affinity_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));  // more cores than a cpu_set_t holds
}

/// The word in brackets: "always [madvise] never" → "madvise".
std::string chosen(const std::string& text) {
  const size_t open = text.find('['), close = text.find(']', open);
  return open == std::string::npos || close == std::string::npos ? "unknown" : text.substr(open + 1, close - open - 1);
}

std::string or_unknown(const std::string& text) { return text.empty() ? "unknown" : text; }

int64_t cache_size(int name) { return std::max<int64_t>(0, sysconf(name)); }

}  // namespace

CgroupLimits cgroup_limits(const std::string& root) {
  CgroupLimits limits;
  for_lines(contents(root + "/proc/self/cgroup"), [&](std::string_view line) { narrow(limits, root, line); });
  return limits;
}

int usable_threads() {
  const double quota = cgroup_limits().cpus;
  const int cores = affinity_cores();
  return quota > 0 ? std::clamp(static_cast<int>(std::ceil(std::min(quota, 1e6))), 1, cores) : cores;
}

namespace {

/// What `ulimit -v` leaves. Field 1 of statm: pages that are mapped.
int64_t address_space_left() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
  const double mapped = number_in("/proc/self/statm").value_or(0) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return static_cast<int64_t>(std::max(0.0, std::min(static_cast<double>(limit.rlim_cur) - mapped, kUnlimited)));
}

}  // namespace

int64_t available_bytes(const std::string& root) {
  const auto kilobytes = number_after(contents(root + "/proc/meminfo"), "MemAvailable:");
  const int64_t machine = kilobytes ? static_cast<int64_t>(*kilobytes * 1024) : INT64_MAX;
  return std::min({machine, cgroup_limits(root).free_bytes, address_space_left()});
}

std::string cpu_model() {
  std::string model;
  for_lines(contents("/proc/cpuinfo"), [&](std::string_view line) {
    const size_t colon = line.find(": ");
    if (model.empty() && line.starts_with("model name") && colon != std::string_view::npos) model = line.substr(colon + 2);
  });
  return or_unknown(model);
}

Caches caches() { return {cache_size(_SC_LEVEL1_DCACHE_SIZE), cache_size(_SC_LEVEL2_CACHE_SIZE), cache_size(_SC_LEVEL3_CACHE_SIZE)}; }

std::vector<model::Setting> host_settings() {
  const Caches sizes = caches();
  const double quota = cgroup_limits().cpus;
  utsname system{};
  const bool named = uname(&system) == 0;
  return {
      {"kernel", named ? fmt::format("{} {}", system.sysname, system.release) : "unknown"},
      {"cache_l1", base::human_bytes(static_cast<double>(sizes.l1_bytes))},
      {"cache_l2", base::human_bytes(static_cast<double>(sizes.l2_bytes))},
      {"cache_l3", base::human_bytes(static_cast<double>(sizes.l3_bytes))},
      {"governor", or_unknown(first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))},
      {"huge_pages", chosen(contents("/sys/kernel/mm/transparent_hugepage/enabled"))},
      {"load_average", or_unknown(first_line("/proc/loadavg"))},
      {"affinity_cores", fmt::format("{}", affinity_cores())},
      {"cgroup_cpus", quota > 0 ? fmt::format("{:.2f}", quota) : "no limit"},
      {"memory_available", base::human_bytes(static_cast<double>(available_bytes()))},
  };
}

}  // namespace replay::cpu
