// One row a counter. The names of metrics hold on all chips since GA100; what a chip lacks is left out, and said.
#include "replay/device/cuda/counters.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"

namespace replay::cuda {
namespace {

// clang-format off
constexpr Counter kCounters[] = {
    {"dram_read", "dram__bytes_read.sum", "bytes", true, "bytes read from the card's memory"},
    {"dram_write", "dram__bytes_write.sum", "bytes", true, "bytes written to it"},
    {"occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", "percent", true, "warps that are resident, of those that fit"},
    {"tensor", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "percent", true, "time in which tensor cores work"},
    {"l2_hit", "lts__t_sector_hit_rate.pct", "percent", true, "sectors that the L2 cache has, of those that are asked of it"},
    {"sm_active", "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "percent", true, "time in which multiprocessors have work"},
    {"l2_bytes", "lts__t_bytes.sum", "bytes", false, "bytes that pass through the L2 cache"},
    {"l1_bytes", "l1tex__t_bytes.sum", "bytes", false, "bytes that pass through the L1 caches"},
    {"l1_hit", "l1tex__t_sector_hit_rate.pct", "percent", false, "sectors that an L1 cache has, of those that are asked of it"},
    {"instructions", "sm__inst_executed.sum", "count", false, "instructions of warps"},
    {"tensor_instructions", "sm__inst_executed_pipe_tensor.sum", "count", false, "those of them for tensor cores"},
};
// clang-format on

}  // namespace

std::span<const Counter> all_counters() { return kCounters; }

base::Result<std::vector<Counter>> counters_named(std::string_view names) {
  std::vector<std::string_view> known, wanted;
  for (const Counter& counter : kCounters) known.push_back(counter.name);
  for (size_t begin = 0; names != "default" && begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const std::string_view name = base::trimmed(names.substr(begin, end - begin));
    if (std::ranges::find(known, name) == known.end()) {
      const std::string_view near = base::nearest(name, known);
      return base::Error{fmt::format("no counter '{}'{}; profile help replay lists them", base::escaped(name),
                                     near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
                         base::Exit::wrong_use};
    }
    wanted.push_back(name);
    begin = end + 1;
  }
  std::vector<Counter> chosen;
  for (const Counter& counter : kCounters)
    if (names == "default" ? counter.usual : std::ranges::find(wanted, counter.name) != wanted.end()) chosen.push_back(counter);
  return chosen;
}

}  // namespace replay::cuda
