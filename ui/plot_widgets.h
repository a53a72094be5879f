// Small plots that panels share. Each is an item of the given size at the cursor, draws nothing outside it, and takes any numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "ui/plot_data.h"
#include "ui/theme.h"

namespace ui {

/// Raw samples of a step, times in ns of one execution.
struct SampleMarks {
  double median_ns = 0, ci_low_ns = 0, ci_high_ns = 0;  ///< NaN: not drawn
  std::string_view flags;                               ///< doubts about the timing, as stored
  bool shows_zero = false;                              ///< the axis begins at 0
};
/// Bars, a band for the 95 % interval of the median, a line for the median; above: how many samples, what was cut off, the flags.
void histogram(const char* id, const Bins& bins, const SampleMarks& marks, ImVec2 size, const Theme& theme);

/// Values in order, as small as a cell of a table; the range is that of the values. Below two values: nothing but the space.
void sparkline(std::span<const double> values, ImVec2 size, ImU32 color);

/// Named parts beside a total: each begins where the one above ends; the last bar is the total, and what lies between is told.
struct WaterfallPart {
  std::string name;
  double value = 0;          ///< ns; negative and not finite: no bar
  double low = 0, high = 0;  ///< of its interval; equal: none is drawn
  ImU32 color = 0;
};
struct WaterfallText {
  std::string_view total_name;   ///< "fused"
  std::string_view saved, lost;  ///< what the difference is called where the total is below or above the parts' sum
  std::string_view unit = "_ns";
  /// What the parts are over the total where that was measured in another way than by their sum: pairs of runs in turns.
  double difference = std::numeric_limits<double>::quiet_NaN(), percent = difference;
};
struct WaterfallPick {
  int hovered = -1, clicked = -1;  ///< index of a part; parts.size(): the total
};
/// Scrolls where the parts need more height than `size`.
WaterfallPick waterfall(const char* id, std::span<const WaterfallPart> parts, double total, const WaterfallText& text, ImVec2 size,
                        const Theme& theme);

/// A bar of `share` (0 to 1) over the width of the cell, with a text on it; for tables.
void share_bar(double share, std::string_view text, ImU32 color);

/// Colours with their words, wrapped to the width. Returns the entry that was clicked, or −1; those in `hidden` are struck out.
struct LegendWord {
  std::string word;
  ImU32 color = 0;
  bool hidden = false;
};
int legend(const char* id, std::span<const LegendWord> entries);

/// A text with a ground that lets it be read over points and lines.
void text_with_ground(ImDrawList& draw, ImVec2 at, std::string_view text, ImU32 ground, ImU32 ink);

}  // namespace ui
