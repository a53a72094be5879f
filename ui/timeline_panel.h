// The panel `timeline`: its state between frames, and who does what. Its parts are in the files timeline_*.cc.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ui/panel.h"
#include "ui/report_copy.h"
#include "ui/timeline_draw.h"
#include "ui/timeline_hit.h"
#include "ui/timeline_rows.h"
#include "ui/timeline_run.h"

namespace ui {

class TimelinePanel final : public Panel {
 public:
  void draw(Session& session) override;
  std::span<const KeyHelp> keys() const override;

  // --- for tests
  const TimelineView& view() const { return view_; }
  const TimelineLayout& layout() const { return at_; }
  const std::vector<TimelineRow>& rows() const { return rows_; }
  const std::optional<TimelineHit>& hovered() const { return hover_; }
  const std::optional<TimelineHit>& picked() const { return picked_; }
  const Occurrences* found(size_t run = 0) { return run < runs_.size() ? found_in(*runs_[run]) : nullptr; }
  const BoxSums* box() { return box_sums_.value(); }
  const std::optional<TimeSpan>& measured() const { return measure_; }
  const std::vector<std::unique_ptr<ShownRun>>& runs() const { return runs_; }
  double time_at(float x) const;
  float x_of(double ns) const;

 private:
  // timeline_panel.cc
  void update(Session& session);
  void update_runs(Session& session);
  void update_found(Session& session);
  const Occurrences* found_in(const ShownRun& run);  ///< nullptr: nothing is searched for, or not found yet
  std::vector<RunPlaces> found_places();
  void draw_toolbar(Session& session);
  void draw_search();
  void draw_run_choice(Session& session);
  void draw_copy(Session& session);
  void draw_legend();
  void draw_canvas(Session& session);
  Loader& heavy(Session& session, size_t document);
  // timeline_input.cc
  void handle_mouse(Session& session);
  void handle_wheel();
  void begin_drag(Session& session);
  void drag(ImVec2 mouse);
  void end_drag(Session& session);
  void handle_keys(Session& session);
  void move_keys(Session& session);
  void jump_keys(Session& session);
  void cancel(Session& session);
  void moves();
  void open_rows(int direction);
  // timeline_select.cc
  void select(Session& session, const TimelineHit& hit);
  void follow_selection(Session& session);
  void jump(Session& session, std::span<const RunPlaces> places, int direction);
  void show_lanes(size_t run);
  void step_along(Session& session, int direction);
  void pick_in_view(Session& session);
  void ask_box(Session& session);
  double snapped(double ns) const;
  // timeline_paint.cc
  void draw_rows(Session& session);
  void draw_row(Session& session, const TimelineRow& row, float top);
  void draw_row_label(const TimelineRow& row, float top, float bottom);
  void draw_lane(Session& session, const TimelineRow& row, float top, float bottom);
  void draw_group(Session& session, const TimelineRow& row, float top, float bottom);
  const std::vector<int32_t>& nodes_of(const ShownRun& run, size_t lane, const StepGroups& groups, const timeline::Window& window);
  void draw_passes(const TimelineRow& row, float top, float bottom);
  void draw_live(Session& session, const TimelineRow& row, float top, float bottom);
  void draw_buffers(Session& session, const TimelineRow& row, float top, float bottom);
  void note_hover(const TimelineRow& row, const std::vector<timeline::Mark>& marks, const timeline::Window& window, const LaneView* lane);
  bool is_under_mouse(const TimelineRow& row) const;
  ImU32 step_color(const ShownRun& run, int32_t step, const Theme& theme);
  // timeline_overlay.cc
  void draw_minimap(Session& session);
  void draw_found(const ShownRun& run, float top, const timeline::Scale& to);
  std::vector<std::string> box_lines();
  void draw_box(Session& session);
  void draw_measure();
  void draw_cursor();
  void draw_hover_card(Session& session);

  timeline::Scale scale() const;
  float row_top(const TimelineRow& row) const;  ///< from the first row, pixels
  float rows_height() const;

  std::vector<std::unique_ptr<ShownRun>> runs_;  ///< the selected one first
  std::set<std::pair<size_t, int64_t>> beside_;  ///< document and run of the others
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
  std::map<std::tuple<const ShownRun*, size_t, const StepGroups*>, std::vector<int32_t>> nodes_;  ///< of this frame's windows
  int seen_selection_ = 0;
  enum class Drag : uint8_t { none, pan, minimap, box, measure };
  Drag drag_ = Drag::none;
  bool dragged_ = false, over_ = false, measuring_ = false;
  ImVec2 drag_from_, drag_to_;
  double drag_from_ns_ = 0;
  double last_move_s_ = -1;
  std::array<char, 256> search_{};
  bool search_regex_ = false, focus_search_ = false;
  std::map<std::pair<size_t, int64_t>, TimelineFound> found_;  ///< by document and run, of those that are shown
  TimelineFound similar_;
  std::optional<TimelineBox> box_;
  int box_number_ = 0;
  Latest<BoxSums> box_sums_;
  ReportCopy copy_;
  std::optional<TimeSpan> measure_;
  struct Heavy {
    int64_t serial = 0;  ///< of the document's loader when this one was made
    std::unique_ptr<Loader> loader;
  };
  std::map<size_t, Heavy> heavy_;  ///< by document: questions over all slices must not hold up windows
};

}  // namespace ui
