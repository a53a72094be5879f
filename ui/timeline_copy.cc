// The report has the pass of medians; what happened is a query of its own, which the pass's place in time bounds.
#include "ui/timeline_copy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/report/query.h"
#include "src/report/report.h"
#include "ui/run_data.h"

namespace ui {
namespace {

int64_t whole(double ns) { return static_cast<int64_t>(std::clamp(ns, -4e18, 4e18)); }

}  // namespace

base::Result<model::Rows> slices_shown(const model::Reader& reader, const SliceSource& from, TimeSpan span) {
  const int64_t run = from.steps->run->run;
  if (from.timeline != nullptr) {
    const std::array<model::Cell, 4> asked = {report::cell(run), report::cell(whole(std::floor(span.begin_ns))),
                                              report::cell(whole(std::ceil(span.end_ns))), report::cell(kMostCopied)};
    return report::ask(reader, "timeline_shown", asked);
  }
  ASSIGN_OR_RETURN(model::Rows rows, report::run(reader, *report::find("timeline"), run));
  const auto place = [&](std::string_view column) {
    return static_cast<size_t>(std::ranges::find(rows.columns, column) - rows.columns.begin());
  };
  const size_t begin = place("begin_ns"), length = place("pass_ns");
  std::erase_if(rows.rows, [&](const std::vector<model::Cell>& row) {
    const double begin_ns = number(row[begin]), length_ns = number(row[length]);
    return !(length_ns > 0 && begin_ns < span.end_ns && begin_ns + length_ns > span.begin_ns);
  });
  rows.rows.resize(std::min(rows.rows.size(), static_cast<size_t>(kMostCopied)));
  return rows;
}

}  // namespace ui
