// The command line of profile-view, in parts that can be tested.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/result.h"
#include "ui/session.h"

namespace ui {

struct Arguments {
  std::vector<std::string> databases;
  std::string screenshot, panel, select, range, layout, theme, size;
  int64_t run = 0;  ///< 0: the newest
  bool light = false, trace_state = false;
};

/// "1280x800". Errors: what is wrong, exit status wrong_use.
base::Result<std::pair<int, int>> parse_size(const std::string& text);
/// "10ms..25.5ms" of the run's clock; ns, us, ms or s, without a unit ns.
base::Result<TimeRange> parse_range(const std::string& text);
/// Arguments that name what is not there: panel, theme, layout.
base::Status check(const Arguments& arguments);
/// A picture that is wanted: of a panel alone, or of the layout ("").
struct Shot {
  std::string panel, path;
};
/// Of `--screenshot NAME.png --panel all` one of each panel and one of the layout: NAME_top.png, …, NAME_layout.png.
std::vector<Shot> shots_of(const Arguments& arguments);
/// What to open where nothing was named: profile.db of this folder, if it is there.
std::vector<std::string> databases_or_default(const Arguments& arguments);

}  // namespace ui
