// What fusions and their parts are goes with a run's description; what the pairs of samples say is computed when the run ends.
#include "src/model/fusion_rows.h"

#include "src/base/text.h"
#include "src/stats/paired.h"

namespace model {
namespace {

std::string_view word(stats::PairVerdict verdict) {
  switch (verdict) {
    case stats::PairVerdict::same:
      return "neutral";
    case stats::PairVerdict::second_slower:
      return "pays";
    case stats::PairVerdict::second_faster:
      return "costs";
  }
  return "neutral";
}

base::Status write_parts(Database& database, int64_t run, const FusionRecord& fusion) {
  ASSIGN_OR_RETURN(Statement insert,
                   database.prepare("INSERT INTO fusion_part (run, step, part, name, opcode, class, flops, bytes, kernel, median_ns, "
                                    "worst_error) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,nullif(?9, -1),nullif(?10, 0.0),nullif(?11, -1.0))"));
  int64_t position = 0;
  for (const FusionPart& part : fusion.parts) {
    const std::string name = base::escaped(part.name);
    RETURN_IF_ERROR(insert.run(run, fusion.step, position++, std::string_view(name), std::string_view(part.opcode),
                               std::string_view(part.cls), part.flops, part.bytes, part.kernel, part.median_ns, part.worst_error));
  }
  return {};
}

/// Where each distinct step ran alone, one was measured for all of its key.
base::Status copy_to_equal_steps(Database& database, int64_t run) {
  ASSIGN_OR_RETURN(
      Statement copy,
      database.prepare("INSERT INTO fusion_stat (run, step, n, fused_ns, unfused_ns, ratio, ratio_low, ratio_high, p_value, verdict) "
                       "SELECT f.run, f.step, m.n, m.fused_ns, m.unfused_ns, m.ratio, m.ratio_low, m.ratio_high, m.p_value, m.verdict "
                       "FROM run_option o JOIN fusion f ON f.run = o.run JOIN step s ON s.run = f.run AND s.step = f.step "
                       "JOIN step e ON e.run = s.run AND e.key = s.key JOIN fusion_stat m ON m.run = e.run AND m.step = e.step "
                       "WHERE o.run = ?1 AND o.name = 'isolated' AND o.value = 'yes' AND f.parts > 0 "
                       "AND f.step NOT IN (SELECT step FROM fusion_stat WHERE run = ?1) GROUP BY f.step"));
  return copy.run(run);
}

}  // namespace

base::Status write_fusions(Database& database, int64_t run, std::span<const FusionRecord> fusions) {
  ASSIGN_OR_RETURN(Statement insert,
                   database.prepare("INSERT INTO fusion (run, step, tried, parts, bytes, scratch_bytes, extra_flops, why) "
                                    "VALUES (?1,?2,?3,?4,?5,?6,?7,?8)"));
  for (const FusionRecord& fusion : fusions) {
    const std::string why = base::escaped(fusion.why);
    RETURN_IF_ERROR(insert.run(run, fusion.step, int64_t{fusion.tried}, static_cast<int64_t>(fusion.parts.size()), fusion.bytes,
                               fusion.scratch_bytes, fusion.extra_flops, std::string_view(why)));
    RETURN_IF_ERROR(write_parts(database, run, fusion));
  }
  return {};
}

base::Status write_fusion_statistics(Database& database, int64_t run, const std::map<int32_t, FusionPairs>& pairs) {
  std::vector<int32_t> steps;
  std::vector<stats::Paired> found;
  for (const auto& [step, pair] : pairs) {
    if (pair.fused_ns.empty() || pair.fused_ns.size() != pair.parts_ns.size()) continue;  // no partner: not of this program's making
    steps.push_back(step);
    found.push_back(stats::compare_pairs(pair.fused_ns, pair.parts_ns));
  }
  const std::vector<stats::Judged> judged = stats::judge_pairs(found);
  ASSIGN_OR_RETURN(Statement insert, database.prepare("INSERT INTO fusion_stat (run, step, n, fused_ns, unfused_ns, ratio, ratio_low, "
                                                      "ratio_high, p_value, verdict) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)"));
  for (size_t i = 0; i < steps.size(); ++i) {
    const stats::Paired& pair = found[i];
    RETURN_IF_ERROR(insert.run(run, steps[i], pair.n, pair.first_median, pair.second_median, pair.ratio, pair.ratio_low, pair.ratio_high,
                               judged[i].p_value, word(judged[i].verdict)));
  }
  return copy_to_equal_steps(database, run);
}

}  // namespace model
