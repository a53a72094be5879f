// A run on the timeline: what was read of it, and the windows of its lanes.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ui/session.h"
#include "ui/timeline_data.h"
#include "ui/timeline_find.h"
#include "ui/timeline_memory.h"
#include "ui/timeline_steps.h"
#include "ui/timeline_view.h"

namespace ui {

enum class PassMode : uint8_t {
  happened,  ///< every pass where it was in time
  medians,   ///< one pass in plan order, each step with its median
};

/// Windows that were read, the last used first; at most kMostBytes of them, beside the ones on the screen.
class WindowCache {
 public:
  static constexpr size_t kMostBytes = size_t{32} << 20;
  using Window = std::shared_ptr<const timeline::Window>;
  Window find(const WindowAsk& ask);  ///< nullptr: not there
  void keep(const WindowAsk& ask, Window window);
  size_t bytes() const { return bytes_; }

 private:
  std::list<std::pair<WindowAsk, Window>> windows_;
  size_t bytes_ = 0;
};

/// A lane as it is drawn, whether it lies in the store or in memory.
struct LaneView {
  std::string label;
  timeline::Levels levels;
  const timeline::Window* overview = nullptr;
  int64_t track = -1;                        ///< −1: the pass of medians
  const timeline::Folded* memory = nullptr;  ///< nullptr: in the store
  int32_t variant = 0;                       ///< others than 0 are comparisons, not the program
};

class ShownRun {
 public:
  ShownRun(size_t document, int64_t run) : document_(document), run_(run) {}
  size_t document() const { return document_; }
  int64_t run() const { return run_; }

  /// Asks for what is missing. Once a frame. The axis is the clock of the first of the shown runs, whose slices begin at `origin_ns`;
  /// nothing: of this one. The same words have the colours of `like`; nullptr: this is the first run.
  void update(Session& session, PassMode mode, ColorBy by, std::optional<double> origin_ns, const ShownRun* like);

  const TimelineRun* timeline() const { return timeline_.get(); }
  const StepModel* steps() const { return steps_.get(); }
  const StepColors& colors() const { return colors_; }
  const base::Error* error() { return read_.error() != nullptr ? read_.error() : model_.error(); }
  bool waiting() { return read_.waiting() || model_.waiting(); }
  int revision() const { return revision_; }  ///< changes when lanes or steps have come

  /// What is drawn in this mode: medians also where there is nothing else.
  PassMode mode() const { return mode_; }
  const std::vector<LaneView>& lanes() const { return lanes_; }
  TimeSpan extent() const { return extent_; }  ///< on the axis
  /// What a time on the axis lacks to one of the run.
  double offset_ns() const { return offset_ns_; }

  /// What is at hand of a lane for this view; the right one is asked for where it is not.
  const timeline::Window& window(Session& session, size_t lane, timeline::Scale scale);
  ImU32 color(int32_t step, const Theme& theme) const;

  const TimelineMemory* memory() const { return memory_.get(); }  ///< nullptr: not read yet, or nothing is known
  /// Of the pass at a time of the axis. nullptr: not read yet, or there is none.
  const PassClock* clock(Session& session, double at_ns);
  SliceSource source() const { return {steps_, mode_ == PassMode::happened ? timeline_ : nullptr}; }

 private:
  struct Fetch {
    Latest<WindowCache::Window> latest;
    int seen = 0;               ///< revision of `latest` that was put into the cache
    WindowCache::Window shown;  ///< the last one that was drawn
    WindowAsk shown_ask;
  };
  void read(Session& session);
  void read_steps(Session& session);
  void arrange(PassMode wanted, std::optional<double> origin_ns);
  const timeline::Window& stored(Session& session, const LaneView& lane, const WindowAsk& ask, const timeline::Scale& scale);

  size_t document_;
  int64_t run_;
  Latest<std::shared_ptr<const TimelineRun>> read_;
  Latest<std::shared_ptr<const StepModel>> model_;
  Latest<std::shared_ptr<const TimelineMemory>> read_memory_;
  std::shared_ptr<const TimelineMemory> memory_;
  Latest<std::shared_ptr<const PassClock>> clock_;
  PassClock median_clock_;
  std::shared_ptr<const TimelineRun> timeline_;
  std::shared_ptr<const StepModel> steps_;
  int revision_ = 0;
  PassMode mode_ = PassMode::happened;
  std::string arranged_;  ///< what lanes_ were made for
  std::vector<LaneView> lanes_;
  TimeSpan extent_;
  double offset_ns_ = 0;
  StepColors colors_;
  std::string colors_key_;
  WindowCache cache_;
  std::map<int64_t, Fetch> fetches_;                               ///< by track
  std::map<int64_t, std::pair<WindowAsk, timeline::Window>> cut_;  ///< windows of lanes in memory, by track
  timeline::Window medians_overview_;
};

}  // namespace ui
