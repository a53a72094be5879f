// What ran when: lanes, phases and scopes of one run or of several, from a whole run down to a nanosecond.
#include "ui/panel.h"
#include "ui/timeline_panel.h"

namespace ui {

std::unique_ptr<Panel> make_timeline() { return std::make_unique<TimelinePanel>(); }

}  // namespace ui
