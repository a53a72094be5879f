// Rows of fusions that run as their parts too, inside a transaction of the caller.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "src/base/result.h"
#include "src/model/database.h"
#include "src/model/fusion_records.h"

namespace model {

base::Status write_fusions(Database& database, int64_t run, std::span<const FusionRecord> fusions);

/// Times of one execution of a fusion and of all its parts, by pair.
struct FusionPairs {
  std::vector<double> fused_ns, parts_ns;
};
/// What the pairs of each step say: table fusion_stat.
base::Status write_fusion_statistics(Database& database, int64_t run, const std::map<int32_t, FusionPairs>& pairs);

}  // namespace model
