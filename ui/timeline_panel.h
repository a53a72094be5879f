// The panel `timeline`: state between frames, and who draws what. Its parts are in timeline_*.cc, named after what they do.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ui/panel.h"
#include "ui/timeline_draw.h"
#include "ui/timeline_rows.h"
#include "ui/timeline_run.h"

namespace ui {

/// A mark under the mouse, or the one that was clicked.
struct TimelineHit {
  size_t run = 0;     ///< which of the shown
  int32_t step = -1;  ///< the longest in it; −1: a part of the program, or a pass
  int64_t track = -1;
  TimeSpan span;       ///< on the axis
  uint32_t count = 1;  ///< slices in it
  double busy = 1;
  bool exact = false;  ///< one slice, with its own times
  std::string name;    ///< of a part or pass
};

class TimelinePanel final : public Panel {
 public:
  void draw(Session& session) override;

  // --- for tests
  const TimelineView& view() const { return view_; }
  const TimelineLayout& layout() const { return at_; }
  const std::vector<TimelineRow>& rows() const { return rows_; }
  const std::optional<TimelineHit>& hovered() const { return hover_; }

 private:
  // timeline_panel.cc
  void update(Session& session);
  void draw_toolbar(Session& session);
  void draw_legend();
  void draw_canvas(Session& session);
  // timeline_input.cc
  void handle_mouse(Session& session);
  void handle_keys(Session& session);
  void select(Session& session, const TimelineHit& hit);
  void follow_selection(Session& session);
  // timeline_paint.cc
  void draw_rows(Session& session);
  void draw_row(Session& session, const TimelineRow& row, float top);
  void draw_row_label(const TimelineRow& row, float top, float bottom);
  void draw_lane(Session& session, const TimelineRow& row, float top, float bottom);
  void draw_group(Session& session, const TimelineRow& row, float top, float bottom);
  void draw_passes(const TimelineRow& row, float top, float bottom);
  void draw_minimap(Session& session);
  void note_hover(const TimelineRow& row, const std::vector<timeline::Mark>& marks, const timeline::Window& window, int64_t track);
  void draw_hover_card(Session& session);

  timeline::Scale scale() const;
  double time_at(float x) const;
  float x_of(double ns) const;
  float rows_height() const;

  std::vector<std::unique_ptr<ShownRun>> runs_;
  std::vector<std::string> run_labels_;
  std::set<std::string> toggled_;  ///< rows that are not as they are at first
  std::vector<TimelineRow> rows_;
  std::string rows_key_;
  TimelineView view_;
  std::optional<PassMode> mode_;  ///< nothing: as fits the run
  ColorBy color_by_ = ColorBy::kind;
  TimelineLayout at_;
  float scroll_ = 0;  ///< of the rows, pixels
  std::optional<TimelineHit> hover_, picked_;
  int seen_selection_ = 0;
  enum class Drag : uint8_t { none, pan, minimap };
  Drag drag_ = Drag::none;
  bool dragged_ = false, over_ = false;
  double last_move_s_ = -1;
};

}  // namespace ui
