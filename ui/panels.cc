// The table of panels, in the order of their tabs.
#include <algorithm>

#include "ui/panel.h"

namespace ui {
namespace {

constexpr PanelKind kPanels[] = {
    {"timeline", "Timeline", "what ran when, from a whole run down to a nanosecond", make_timeline},
    {"overview", "Overview", "what ran where, how much of it can be believed, where to look first", make_overview},
    {"sql", "SQL", "a query of your own, as a table or a chart", make_sql},
    {"details", "Details", "every number of the selected step, what it reads, and its code", make_details},
    {"top", "Top", "every step with its time, sortable and grouped", make_top},
    {"fusions", "Fusions", "what each fusion saves or costs, its parts, graph and code", make_fusions},
    {"source", "Source", "time by source line, beside the text where it is at hand", make_source},
    {"compare", "Compare", "two runs step by step", make_compare},
    {"roofline", "Roofline", "how near each step is to the machine's limits", make_roofline},
    {"memory", "Memory", "live bytes over the steps, the peak, and the buffers that make it", make_memory},
    {"graph", "Graph", "the program around the selected instruction", make_graph},
};

}  // namespace

std::span<const PanelKind> panels() { return kPanels; }

const PanelKind* find_panel(std::string_view name) {
  const auto* found = std::ranges::find(kPanels, name, &PanelKind::name);
  return found == std::end(kPanels) ? nullptr : found;
}

}  // namespace ui
