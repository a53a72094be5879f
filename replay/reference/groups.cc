// Texts of groups, and what their numbers mean.
#include "replay/reference/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "src/ir/attr.h"
#include "src/ir/attr_scan.h"

namespace replay::reference {
namespace {

using base::Error;
using base::Result;
using ir::AttrScan;

constexpr int64_t kMostDevices = 1 << 20;

Error broken(std::string_view text) {
  return Error{fmt::format("'{}' is none of {{{{0,1}},{{2,3}}}}, [2,2]<=[4], [2,2]<=[2,2]T(1,0)", text)};
}

/// Integers between `open` and `close`.
std::optional<std::vector<int64_t>> list(AttrScan& scan, char open, char close) {
  std::vector<int64_t> out;
  if (!scan.take(open)) return std::nullopt;
  while (!scan.take(close)) {
    const auto value = scan.integer();
    if (!value) return std::nullopt;
    out.push_back(*value);
    scan.take(',');
  }
  return out;
}

/// The numbers 0 … product − 1 in an array of `dims`, read with its dimensions in the order `order`.
std::vector<int64_t> transposed_iota(const std::vector<int64_t>& dims, const std::vector<int64_t>& order) {
  std::vector<int64_t> strides(dims.size(), 1), out;
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, value = 0;
    for (size_t k = order.size(); k-- > 0;) {
      const auto d = static_cast<size_t>(order[k]);
      value += rest % dims[d] * strides[d];
      rest /= dims[d];
    }
    out.push_back(value);
  }
  return out;
}

Result<Groups> iota_groups(AttrScan scan, std::string_view text) {
  const auto rows = list(scan, '[', ']');
  if (!rows || rows->size() != 2 || !scan.take('<') || !scan.take('=')) return broken(text);
  const auto dims = list(scan, '[', ']');
  std::vector<int64_t> order(dims ? dims->size() : 0);
  std::iota(order.begin(), order.end(), 0);
  if (scan.take('T')) {
    const auto permutation = list(scan, '(', ')');
    if (!permutation || !std::is_permutation(permutation->begin(), permutation->end(), order.begin(), order.end())) return broken(text);
    order = *permutation;
  }
  if (!dims || !scan.at_end()) return broken(text);
  int64_t count = 1;
  for (const int64_t d : *dims) count = d > 0 && d <= kMostDevices && count <= kMostDevices ? count * d : kMostDevices * 2;
  const int64_t rows_count = (*rows)[0], width = (*rows)[1];
  if (rows_count < 1 || width < 1 || count > kMostDevices || count % width != 0 || count / width != rows_count) return broken(text);
  const std::vector<int64_t> values = transposed_iota(*dims, order);
  Groups groups;
  for (int64_t row = 0; row < rows_count; ++row) groups.emplace_back(values.begin() + row * width, values.begin() + (row + 1) * width);
  return groups;
}

/// Every number is one of `count`.
base::Status check(const Groups& groups, int64_t count) {
  for (const auto& group : groups) {
    for (const int64_t member : group) {
      if (member < 0 || member >= count) return Error{fmt::format("names {}, there are {}", member, count)};
    }
  }
  return {};
}

Groups all_of(int64_t count) {
  Groups groups(1, std::vector<int64_t>(static_cast<size_t>(count)));
  std::iota(groups[0].begin(), groups[0].end(), 0);
  return groups;
}

enum class Numbers : uint8_t { replicas, partitions, replicas_with_partitions, devices };

Numbers numbers_of(const ir::Module& module, const ir::Instr& instr) {
  const bool channel = ir::attr_int(module, instr, "channel_id").value_or(0) > 0;
  if (ir::attr_true(module, instr, "use_global_device_ids")) return Numbers::devices;
  if (!channel) return Numbers::replicas;
  // All-to-all, permute and broadcast have no form across both.
  const bool both = instr.op == ir::Op::all_reduce || instr.op == ir::Op::all_reduce_start || instr.op == ir::Op::all_gather ||
                    instr.op == ir::Op::all_gather_start || instr.op == ir::Op::reduce_scatter;
  return both ? Numbers::replicas_with_partitions : Numbers::partitions;
}

/// Groups of replicas within each partition, or of partitions within each replica.
Groups spread(const Groups& groups, Numbers numbers, const Devices& devices) {
  Groups out;
  const bool of_replicas = numbers == Numbers::replicas;
  for (int64_t other = 0; other < (of_replicas ? devices.partitions : devices.replicas); ++other) {
    for (const auto& group : groups) {
      std::vector<int64_t>& members = out.emplace_back();
      for (const int64_t m : group) members.push_back(of_replicas ? m * devices.partitions + other : other * devices.partitions + m);
    }
  }
  return out;
}

Result<Groups> as_devices(Groups groups, Numbers numbers, const Devices& devices) {
  const int64_t count = numbers == Numbers::devices      ? devices.count()
                        : numbers == Numbers::partitions ? devices.partitions
                                                         : devices.replicas;
  if (groups.empty()) groups = all_of(count);
  RETURN_IF_ERROR(check(groups, count));
  if (numbers == Numbers::devices) return groups;
  if (numbers != Numbers::replicas_with_partitions) return spread(groups, numbers, devices);
  for (auto& group : groups) {
    std::vector<int64_t> members;
    for (const int64_t replica : group) {
      for (int64_t p = 0; p < devices.partitions; ++p) members.push_back(replica * devices.partitions + p);
    }
    group = std::move(members);
  }
  return groups;
}

}  // namespace

Result<Groups> parse_groups(std::string_view text) {
  AttrScan scan{text};
  if (text.starts_with('[')) return iota_groups(scan, text);
  Groups groups;
  if (!scan.take('{')) return broken(text);
  while (!scan.take('}')) {
    const auto group = list(scan, '{', '}');
    if (!group) return broken(text);
    if (!group->empty()) groups.push_back(*group);
    scan.take(',');
  }
  return scan.at_end() ? Result<Groups>(std::move(groups)) : Result<Groups>(broken(text));
}

Result<Groups> groups_of(const ir::Module& module, const ir::Instr& collective, const Devices& devices) {
  ASSIGN_OR_RETURN(Groups groups, parse_groups(ir::attr_text(module, collective, "replica_groups").value_or("{}")));
  return as_devices(std::move(groups), numbers_of(module, collective), devices);
}

Result<Groups> pairs_of(const ir::Module& module, const ir::Instr& permute, const Devices& devices) {
  ASSIGN_OR_RETURN(Groups pairs, parse_groups(ir::attr_text(module, permute, "source_target_pairs").value_or("{}")));
  if (pairs.empty()) return pairs;
  if (std::ranges::any_of(pairs, [](const auto& pair) { return pair.size() != 2; })) return Error{"takes pairs of a source and a target"};
  return as_devices(std::move(pairs), numbers_of(module, permute), devices);
}

}  // namespace replay::reference
