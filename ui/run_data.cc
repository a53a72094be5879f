// Reads the queries `steps` and `runs` into plain structs. A table says which column goes where, so that the order of columns is free.
#include "ui/run_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/report/display.h"
#include "src/report/query.h"

namespace ui {
namespace {

constexpr size_t kMostName = 48;  ///< columns: what follows a name says which run it is

struct TextField {
  std::string_view column;
  std::string StepInfo::*field;
};
struct RealField {
  std::string_view column;
  double StepInfo::*field;
};
struct IntegerField {
  std::string_view column;
  int64_t StepInfo::*field;
};

constexpr TextField kTexts[] = {
    {"name", &StepInfo::name},
    {"computation", &StepInfo::computation},
    {"opcode", &StepInfo::opcode},
    {"kind", &StepInfo::kind},
    {"class", &StepInfo::cls},
    {"key", &StepInfo::key},
    {"precision", &StepInfo::precision},
    {"op_type", &StepInfo::op_type},
    {"op_name", &StepInfo::op_name},
    {"phase", &StepInfo::phase},
    {"scope", &StepInfo::scope},
    {"source_file", &StepInfo::source_file},
    {"bound_by", &StepInfo::bound_by},
    {"flags", &StepInfo::flags},
    {"why", &StepInfo::why},
    {"basis", &StepInfo::basis},
};
constexpr RealField kReals[] = {
    {"calls", &StepInfo::calls},
    {"min_ns", &StepInfo::min_ns},
    {"q1_ns", &StepInfo::q1_ns},
    {"median_ns", &StepInfo::median_ns},
    {"q3_ns", &StepInfo::q3_ns},
    {"mad_ns", &StepInfo::mad_ns},
    {"ci_low_ns", &StepInfo::ci_low_ns},
    {"ci_high_ns", &StepInfo::ci_high_ns},
    {"pass_ns", &StepInfo::pass_ns},
    {"flops", &StepInfo::flops},
    {"bytes", &StepInfo::bytes},
    {"saved_bytes", &StepInfo::saved_bytes},
    {"intensity_flop_per_byte", &StepInfo::intensity},
    {"attainable_ns", &StepInfo::attainable_ns},
    {"gb_per_s", &StepInfo::gb_per_s},
    {"gflop_per_s", &StepInfo::gflop_per_s},
    {"attainable_gflop_per_s", &StepInfo::attainable_gflop_per_s},
    {"roof_percent", &StepInfo::roof_percent},
    {"published_percent", &StepInfo::published_percent},
    {"worst_error", &StepInfo::worst_error},
};
constexpr IntegerField kIntegers[] = {
    {"source_line", &StepInfo::source_line},
    {"instruction", &StepInfo::instruction},
    {"n", &StepInfo::n},
};

/// Where each column of a table of fields stands in the answer.
template <typename Field, size_t N>
std::array<size_t, N> places(const model::Rows& rows, const Field (&fields)[N]) {
  std::array<size_t, N> at{};
  for (size_t i = 0; i < N; ++i) at[i] = static_cast<size_t>(std::ranges::find(rows.columns, fields[i].column) - rows.columns.begin());
  return at;
}

}  // namespace

double number(const model::Cell& cell) {
  switch (cell.kind) {
    case model::Cell::Kind::integer:
      return static_cast<double>(cell.integer);
    case model::Cell::Kind::real:
      return cell.real;
    case model::Cell::Kind::null:
    case model::Cell::Kind::text:
    case model::Cell::Kind::blob:
      return std::numeric_limits<double>::quiet_NaN();
  }
  return 0;
}

uint32_t RunData::place_from(int64_t number) const {
  const auto found = std::ranges::lower_bound(steps, number, {}, [](const StepInfo& step) { return int64_t{step.step}; });
  return static_cast<uint32_t>(found - steps.begin());
}

const StepInfo* RunData::find(int32_t step) const {
  const auto found = index_.find(step);
  return found == index_.end() ? nullptr : &steps[found->second];
}

base::Result<RunData> read_run(const model::Reader& reader, int64_t run) {
  const model::Cell id = report::cell(run);
  ASSIGN_OR_RETURN(model::Rows rows, report::ask(reader, "steps", std::span(&id, 1)));
  const auto texts = places(rows, kTexts);
  const auto reals = places(rows, kReals);
  const auto integers = places(rows, kIntegers);
  RunData data;
  data.run = run;
  data.steps.reserve(rows.rows.size());
  for (std::vector<model::Cell>& row : rows.rows) {
    StepInfo step;
    step.step = static_cast<int32_t>(integer_in(row[0]));
    for (size_t i = 0; i < std::size(kTexts); ++i) step.*kTexts[i].field = std::move(row[texts[i]].text);
    for (size_t i = 0; i < std::size(kReals); ++i) step.*kReals[i].field = number(row[reals[i]]);
    for (size_t i = 0; i < std::size(kIntegers); ++i) step.*kIntegers[i].field = integer_in(row[integers[i]]);
    if (std::isfinite(step.pass_ns)) data.pass_ns += step.pass_ns;
    data.index_.emplace(step.step, data.steps.size());
    data.steps.push_back(std::move(step));
  }
  for (StepInfo& step : data.steps) step.share = data.pass_ns > 0 ? step.pass_ns / data.pass_ns : 0;
  return data;
}

std::string RunInfo::label() const {
  std::string text = fmt::format("run {}", run);
  for (const std::string& part : {module.empty() ? path : module, device}) {
    if (!part.empty()) text += " · " + report::cut_middle(report::displayable(part), kMostName);
  }
  text += fmt::format(" · {} {}", passes, passes == 1 ? "pass" : "passes");
  if (kind != "replay") text += " · " + report::displayable(kind);
  if (status != "complete") text += " · " + status;
  return text;
}

base::Result<std::vector<RunInfo>> read_runs(const model::Reader& reader) {
  ASSIGN_OR_RETURN(model::Rows rows, report::ask(reader, "runs"));
  std::vector<RunInfo> runs;
  for (std::vector<model::Cell>& row : rows.rows) {
    const bool dead = row[2].text == "running" && !model::writer_lives(row[3].text);
    runs.push_back({integer_in(row[0]), std::move(row[1].text), dead ? "interrupted" : std::move(row[2].text), std::move(row[4].text),
                    std::move(row[5].text), std::move(row[6].text), std::move(row[7].text), integer_in(row[8]), integer_in(row[9])});
  }
  return runs;
}

}  // namespace ui
