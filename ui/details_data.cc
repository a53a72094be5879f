// A table says which field is shown under which name; numbers that are not known are NaN and left out.
#include "ui/details_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "src/report/query.h"
#include "src/report/units.h"
#include "ui/text.h"

namespace ui {
namespace {

struct Number {
  std::string_view group, name, unit;
  double StepInfo::*field;
  std::string_view about;
};
constexpr Number kNumbers[] = {
    {"Time", "median", "_ns", &StepInfo::median_ns, "of one execution"},
    {"Time", "in a pass", "_ns", &StepInfo::pass_ns, "all executions of a pass"},
    {"Time", "fastest", "_ns", &StepInfo::min_ns, "of all samples"},
    {"Time", "lower quartile", "_ns", &StepInfo::q1_ns, ""},
    {"Time", "upper quartile", "_ns", &StepInfo::q3_ns, ""},
    {"Time", "spread (MAD)", "_ns", &StepInfo::mad_ns, "median absolute deviation, unscaled"},
    {"Time", "interval from", "_ns", &StepInfo::ci_low_ns, "95 % interval of the median"},
    {"Time", "interval to", "_ns", &StepInfo::ci_high_ns, "95 % interval of the median"},
    {"Time", "executions", "", &StepInfo::calls, "in a pass"},
    {"Work", "work", "_flops", &StepInfo::flops, "of one execution, a multiply-add counts two"},
    {"Work", "traffic", "_bytes", &StepInfo::bytes, "bytes that must move, of one execution"},
    {"Work", "saved by fusing", "_bytes", &StepInfo::saved_bytes, "traffic of the parts alone minus that of the fusion"},
    {"Roof", "intensity (flop/byte)", "", &StepInfo::intensity, "work divided by traffic"},
    {"Roof", "attainable", "_ns", &StepInfo::attainable_ns, "at the ceilings that were measured in this run"},
    {"Roof", "bandwidth (GB/s)", "_gb_per_s", &StepInfo::gb_per_s, "traffic divided by the median"},
    {"Roof", "rate (GFLOP/s)", "_gflop_per_s", &StepInfo::gflop_per_s, "work divided by the median"},
    {"Roof", "of the roof", "_percent", &StepInfo::roof_percent,
     "attainable divided by the median; over 100 %: its data fits into a cache"},
    {"Roof", "worst error", "", &StepInfo::worst_error, "of --verify, in units of the tolerance: 1 or less passes"},
};

struct Word {
  std::string_view group, name;
  std::string StepInfo::*field;
  std::string_view about;
};
constexpr Word kWords[] = {
    {"Step", "name", &StepInfo::name, ""},
    {"Step", "operator", &StepInfo::op_name, "of the framework"},
    {"Step", "operator type", &StepInfo::op_type, ""},
    {"Step", "opcode", &StepInfo::opcode, ""},
    {"Step", "kind", &StepInfo::kind, "of a fusion, or target of a custom call"},
    {"Step", "class", &StepInfo::cls, "what its time is the time of"},
    {"Step", "why", &StepInfo::why, "it was skipped, or stood in for"},
    {"Step", "flags", &StepInfo::flags, "doubts about the timing"},
    {"Step", "phase", &StepInfo::phase, ""},
    {"Step", "scope", &StepInfo::scope, ""},
    {"Step", "computation", &StepInfo::computation, ""},
    {"Step", "precision", &StepInfo::precision, "what ran"},
    {"Step", "bound by", &StepInfo::bound_by, ""},
    {"Step", "key", &StepInfo::key, "the same in all runs"},
};

void add(std::vector<Fact>& facts, const Number& row, double value) {
  if (!std::isfinite(value) || (row.name == "worst error" && value < 0)) return;
  facts.push_back(
      {row.group, row.name, report::human({model::Cell::Kind::real, 0, value, {}}, row.unit), fmt::format("{}", value), row.about});
}

}  // namespace

std::vector<Fact> facts_of(const StepInfo& step, const RunData&) {
  std::vector<Fact> facts;
  for (const Word& row : kWords) {
    const std::string& text = step.*row.field;
    if (!text.empty()) facts.push_back({row.group, row.name, one_line(text), text, row.about});
  }
  if (!step.source_file.empty()) {
    const std::string place = fmt::format("{}:{}", step.source_file, step.source_line);
    facts.push_back({"Step", "source line", one_line(place), place, ""});
  }
  facts.push_back({"Time", "share of the pass", human(step.share * 100, "_percent"), fmt::format("{}", step.share), ""});
  facts.push_back({"Time", "samples", std::to_string(step.n), std::to_string(step.n), "passes in which it was timed"});
  for (const Number& row : kNumbers) add(facts, row, step.*row.field);
  return facts;
}

std::string text_of(const std::vector<Fact>& facts) {
  std::string out;
  for (const Fact& fact : facts) out += fmt::format("{}: {}\n", fact.name, fact.value);
  return out;
}

model::Rows rows_of(const std::vector<Fact>& facts) {
  model::Rows rows{{"group", "name", "value", "digits"}, {}};
  for (const Fact& fact : facts)
    rows.rows.push_back({report::cell(fact.group), report::cell(fact.name), report::cell(fact.value), report::cell(fact.raw)});
  return rows;
}

std::vector<FlagCount> count_flags(const RunData& run) {
  std::map<std::string, FlagCount, std::less<>> counts;
  for (const StepInfo& step : run.steps) {
    std::string_view rest = step.flags;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(' '), rest.size());
      const std::string flag(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (flag.empty()) continue;
      FlagCount& count = counts[flag];
      count.flag = flag, ++count.steps, count.share += step.share;
    }
  }
  std::vector<FlagCount> sorted;
  for (auto& [flag, count] : counts) sorted.push_back(std::move(count));
  std::ranges::stable_sort(sorted, std::ranges::greater(), &FlagCount::share);
  return sorted;
}

}  // namespace ui
