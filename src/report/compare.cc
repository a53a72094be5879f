// Steps are read row by row into plain records, matched (match.h), judged one by one (stats/change.h) and sorted by what they add to a
// pass.
#include "src/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/text.h"
#include "src/report/match.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/stats/change.h"

namespace report {
namespace {

using model::Cell;
using stats::Verdict;

struct Step {
  int32_t number = -1;  ///< in plan order
  std::string cls;
  double calls = 0;
  stats::Estimate time;

  double pass_ns() const { return time.median * calls; }
};

struct Steps {
  int64_t run = 0;
  bool predicted = false, cold = false;
  std::vector<Identity> identities;
  std::vector<Step> steps;
};

/// Columns as in sql/compare.sql.
base::Result<Steps> read_steps(const model::Reader& reader, int64_t run) {
  const Cell id = cell(run);
  ASSIGN_OR_RETURN(model::Cursor cursor, reader.start(find("compare")->sql, std::span(&id, 1)));
  Steps found{run, false, false, {}, {}};
  while (true) {
    ASSIGN_OR_RETURN(auto row, cursor.next());
    if (!row) return found;
    std::vector<Cell>& c = *row;
    found.identities.push_back({std::move(c[1].text), std::move(c[0].text), std::move(c[2].text), std::move(c[3].text),
                                std::move(c[4].text), std::move(c[5].text)});
    found.steps.push_back({static_cast<int32_t>(c[12].integer),
                           std::move(c[6].text),
                           c[8].real,
                           {c[7].integer, c[9].real, c[10].real, c[11].real, c[13].real}});
  }
}

/// A pair, or a step that stands alone.
struct Line {
  int32_t before = -1, after = -1;  ///< indices; -1: none
  MatchedBy by = MatchedBy::nothing;
  Verdict verdict = Verdict::not_timed;
  std::optional<double> change_ns;  ///< of a pass
};

/// predicted: one of the two times, or both, were not measured; other caches: one is of cold caches, one of warm ones. Their difference
/// says nothing of a change.
constexpr std::string_view kNew = "new", kGone = "gone", kPredicted = "predicted", kOtherCaches = "other caches";

class Comparing {
 public:
  Comparing(const Steps& before, const Steps& after) : before_(before), after_(after) {
    const std::vector<Match> matches = match(before.identities, after.identities);
    std::vector<bool> stays(before.steps.size());
    for (size_t i = 0; i < matches.size(); ++i) {
      if (matches[i].before >= 0) stays[static_cast<size_t>(matches[i].before)] = true;
      add({matches[i].before, static_cast<int32_t>(i), matches[i].by, Verdict::not_timed, {}});
    }
    for (size_t i = 0; i < stays.size(); ++i) {
      if (!stays[i]) add({static_cast<int32_t>(i), -1, MatchedBy::nothing, Verdict::not_timed, {}});
    }
    judge();
    const auto size = [](const Line& line) { return line.change_ns ? std::fabs(*line.change_ns) : -1; };
    std::ranges::stable_sort(lines_, [&](const Line& a, const Line& b) { return size(a) > size(b); });
  }

  int64_t matched() const {
    return std::ranges::count_if(lines_, [](const Line& line) { return line.before >= 0 && line.after >= 0; });
  }

  model::Rows steps() const {
    model::Rows rows{{"step", "class", "before_ns", "after_ns", "change_percent", "at_least_percent", "at_most_percent", "change_a_pass_ns",
                      "verdict", "matched_by", "before_step", "before_run"},
                     {}};
    rows.rows.reserve(lines_.size());
    for (const Line& line : lines_) rows.rows.push_back(row(line));
    return rows;
  }

  std::vector<Comparison::Pair> pairs() const {
    std::vector<Comparison::Pair> pairs;
    for (const Line& line : lines_) {
      pairs.push_back({line.before < 0 ? -1 : of(before_, line.before).number, line.after < 0 ? -1 : of(after_, line.after).number});
    }
    return pairs;
  }

  model::Rows total() const {
    stats::Estimate before{INT64_MAX}, after{INT64_MAX};
    std::map<std::string_view, int64_t> verdicts;
    for (const Line& line : lines_) {
      ++verdicts[verdict_of(line)];
      if (!line.change_ns) continue;
      if (line.before >= 0) add_pass(before, of(before_, line.before));
      if (line.after >= 0) add_pass(after, of(after_, line.after));
    }
    if (before.n == INT64_MAX) before.n = 0;
    if (after.n == INT64_MAX) after.n = 0;
    auto change = stats::change(before, after);
    if (change) change = stats::widened(*change, noise_.typical);
    const std::string_view why = not_judged();
    const auto counted = [&](Verdict verdict) { return verdicts[stats::text(verdict)]; };
    return {{"before_ns", "after_ns", "change_percent", "at_least_percent", "at_most_percent", "change_a_pass_ns", "verdict", "matched",
             "slower", "faster", "same", "not_judged", "new", "gone", "alike_percent", "noise_percent"},
            {{cell(before.median), cell(after.median), percent(change, &stats::Change::percent),
              percent(change, &stats::Change::low_percent), percent(change, &stats::Change::high_percent),
              cell(after.median - before.median), cell(why.empty() ? stats::text(stats::verdict_of_sum(before, after, noise_)) : why),
              cell(matched()), cell(counted(Verdict::slower) + counted(Verdict::maybe_slower)),
              cell(counted(Verdict::faster) + counted(Verdict::maybe_faster)), cell(counted(Verdict::same)),
              cell(counted(Verdict::few_samples) + counted(Verdict::not_timed) + verdicts[kPredicted] + verdicts[kOtherCaches]),
              cell(verdicts[kNew]), cell(verdicts[kGone]), noise_.known() ? cell(100 * std::expm1(noise_.shift)) : Cell{},
              noise_.known() ? cell(100 * std::expm1(1.96 * noise_.typical)) : Cell{}}}};
  }

 private:
  std::string_view verdict_of(const Line& line) const {
    if (line.before < 0 || line.after < 0) return line.before < 0 ? kNew : kGone;
    return line.verdict == Verdict::not_timed || not_judged().empty() ? stats::text(line.verdict) : not_judged();
  }
  /// Why the two runs' times can't be held against each other; "": they can.
  std::string_view not_judged() const {
    if (before_.predicted || after_.predicted) return kPredicted;
    return before_.cold == after_.cold ? "" : kOtherCaches;
  }

  static const Step& of(const Steps& side, int32_t index) { return side.steps[static_cast<size_t>(index)]; }
  static const std::string& name_of(const Steps& side, int32_t index) { return side.identities[static_cast<size_t>(index)].name; }
  static Cell percent(const std::optional<stats::Change>& change, double stats::Change::*end) {
    return change ? cell((*change).*end) : Cell{};
  }
  static Cell median(const Step& step) { return step.time.n > 0 ? cell(step.time.median) : Cell{}; }

  static void add_pass(stats::Estimate& sum, const Step& step) {
    sum.n = std::min(sum.n, step.time.n);
    sum.median += step.pass_ns();
    sum.low += step.time.low * step.calls;
    sum.high += step.time.high * step.calls;
  }

  void add(Line line) {
    static const Step kNone;
    const Step& before = line.before < 0 ? kNone : of(before_, line.before);
    const Step& after = line.after < 0 ? kNone : of(after_, line.after);
    const bool timed = (line.before < 0 || before.time.n > 0) && (line.after < 0 || after.time.n > 0);
    if (timed) line.change_ns = after.pass_ns() - before.pass_ns();
    lines_.push_back(line);
  }

  /// Each step against all others: verdicts need the noise between the runs first.
  void judge() {
    static const Step kNone;
    std::vector<stats::Moved> moved;
    const auto time_in = [&](const Steps& side, int32_t index) { return index < 0 ? kNone.time : of(side, index).time; };
    for (const Line& line : lines_) {
      const stats::Estimate before = time_in(before_, line.before), after = time_in(after_, line.after);
      if (std::min(before.n, after.n) >= stats::kFewSamples && before.median > 0)
        moved.push_back({after.median / before.median, stats::own_noise(before, after)});
    }
    noise_ = stats::run_noise(moved);
    for (Line& line : lines_) line.verdict = stats::verdict(time_in(before_, line.before), time_in(after_, line.after), noise_);
  }

  std::vector<Cell> row(const Line& line) const {
    const bool stays = line.after >= 0, was = line.before >= 0;
    const Step& named = stays ? of(after_, line.after) : of(before_, line.before);
    const std::string& name = stays ? name_of(after_, line.after) : name_of(before_, line.before);
    std::optional<stats::Change> change;
    if (stays && was) change = stats::change(of(before_, line.before).time, named.time);
    if (change) change = stats::widened(*change, noise_.factor * stats::own_noise(of(before_, line.before).time, named.time));
    const bool renamed = stays && was && name_of(before_, line.before) != name;
    return {cell(name),
            cell(named.cls),
            was ? median(of(before_, line.before)) : Cell{},
            stays ? median(of(after_, line.after)) : Cell{},
            percent(change, &stats::Change::percent),
            percent(change, &stats::Change::low_percent),
            percent(change, &stats::Change::high_percent),
            line.change_ns ? cell(*line.change_ns) : Cell{},
            cell(verdict_of(line)),
            line.by == MatchedBy::nothing ? Cell{} : cell(text(line.by)),
            renamed ? cell(name_of(before_, line.before)) : Cell{},
            cell(before_.run)};
  }

  const Steps& before_;
  const Steps& after_;
  std::vector<Line> lines_;
  stats::RunNoise noise_;
};

using Facts = std::map<std::string, std::string>;

base::Result<Facts> facts_of(const model::Reader& reader, int64_t run) {
  const Cell id = cell(run);
  ASSIGN_OR_RETURN(const model::Rows rows, ask(reader, "run_facts", std::span(&id, 1)));
  Facts facts;
  for (const auto& row : rows.rows) facts[row[0].text] = row[1].text;
  return facts;
}

model::Rows differences(const Facts& before, Facts after) {
  model::Rows rows{{"fact", "before", "after"}, {}};
  for (const auto& [fact, value] : before) {
    const auto other = after.extract(fact);
    const std::string now = other ? other.mapped() : "";
    if (value != now) rows.rows.push_back({cell(fact), cell(value), cell(now)});
  }
  for (const auto& [fact, value] : after) {
    if (!value.empty()) rows.rows.push_back({cell(fact), cell(""), cell(value)});
  }
  return rows;
}

base::Status check_timed(const Steps& steps, Facts& facts) {
  const auto timed = [](const Step& step) { return step.time.n > 0; };
  if (std::ranges::any_of(steps.steps, timed)) return {};
  const std::string why = facts["status"] == "running" ? "it is still running, or was killed and not opened for writing since"
                          : steps.steps.empty()        ? "it has no steps"
                                                       : fmt::format("none of its {} steps was timed", steps.steps.size());
  return base::Error{fmt::format("run {} cannot be compared: {}; profile list shows the runs", steps.run, why), base::Exit::cannot_judge};
}

}  // namespace

base::Result<Comparison> compare(RunOf before, RunOf after) {
  ASSIGN_OR_RETURN(const int64_t before_run, existing_run(before.reader, before.run));
  ASSIGN_OR_RETURN(const int64_t after_run, existing_run(after.reader, after.run));
  ASSIGN_OR_RETURN(Facts before_facts, facts_of(before.reader, before_run));
  ASSIGN_OR_RETURN(Facts after_facts, facts_of(after.reader, after_run));
  ASSIGN_OR_RETURN(Steps before_steps, read_steps(before.reader, before_run));
  ASSIGN_OR_RETURN(Steps after_steps, read_steps(after.reader, after_run));
  before_steps.predicted = before_facts["kind"] == kPredicted;
  after_steps.predicted = after_facts["kind"] == kPredicted;
  before_steps.cold = before_facts["cache"].starts_with("cold");
  after_steps.cold = after_facts["cache"].starts_with("cold");
  RETURN_IF_ERROR(check_timed(before_steps, before_facts));
  RETURN_IF_ERROR(check_timed(after_steps, after_facts));
  const Comparing comparing(before_steps, after_steps);
  if (comparing.matched() == 0) {
    return base::Error{fmt::format("run {} ({}) and run {} ({}) have no step in common; compare runs of one program", before_run,
                                   base::escaped(before_facts["module"]), after_run, base::escaped(after_facts["module"])),
                       base::Exit::cannot_judge};
  }
  return Comparison{before_run, after_run, comparing.steps(), comparing.pairs(), comparing.total(), differences(before_facts, after_facts)};
}

base::Result<int64_t> run_before(const model::Reader& reader, int64_t run) {
  const Cell id = cell(run);
  ASSIGN_OR_RETURN(const model::Rows rows, ask(reader, "run_before", std::span(&id, 1)));
  return rows.rows.at(0).at(0).integer;
}

base::Result<model::Rows> compare_with_run_before(const model::Reader& reader, int64_t run) {
  ASSIGN_OR_RETURN(const int64_t before, run_before(reader, run));
  if (before == 0) return Comparing({}, {}).steps();
  ASSIGN_OR_RETURN(Comparison comparison, compare({reader, before}, {reader, run}));
  return std::move(comparison.steps);
}

}  // namespace report
