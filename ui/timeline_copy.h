// What of a run a view of the timeline shows, as rows to copy. No ImGui in it.
#pragma once

#include "ui/timeline_find.h"
#include "ui/timeline_view.h"

namespace ui {

/// At most so many rows; the first ones are kept.
inline constexpr int64_t kMostCopied = 100'000;

/// `span` in the run's time. Of the pass of medians its steps, with the columns of the report `timeline`; of what happened each execution:
/// pass, number, step, variant (0: the program; others: a fusion beside its parts), begin_ns, duration_ns, executions.
base::Result<model::Rows> slices_shown(const model::Reader& reader, const SliceSource& from, TimeSpan span);

}  // namespace ui
