// Which devices work together in a collective.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/ir/module.h"

namespace replay::reference {

/// Replicas times partitions: device r·partitions + p is partition p of replica r.
struct Devices {
  int64_t replicas = 1, partitions = 1;
  int64_t count() const { return replicas * partitions; }
};

using Groups = std::vector<std::vector<int64_t>>;

/// `{{0,2},{1,3}}`, or `[2,2]<=[4]` and `[2,2]<=[2,2]T(1,0)`: the numbers of an iota, transposed, in rows.
base::Result<Groups> parse_groups(std::string_view text);

/// Groups of devices, each in the order in which its members stand in a result. What the numbers of replica_groups are depends, as in XLA,
/// on channel_id and use_global_device_ids: replicas, partitions, replicas with all their partitions, or devices. No groups: all together.
base::Result<Groups> groups_of(const ir::Module& module, const ir::Instr& collective, const Devices& devices);
/// Source and target of each pair of a collective-permute, as devices.
base::Result<Groups> pairs_of(const ir::Module& module, const ir::Instr& permute, const Devices& devices);

}  // namespace replay::reference
