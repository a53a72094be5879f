// What all panels share: the open databases, the one selection, and the keys of this frame.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/loader.h"
#include "ui/run_data.h"
#include "ui/theme.h"

namespace ui {

/// The one selection: a click in any panel moves all. Fields that a click does not concern stay.
struct Selection {
  size_t document = 0;
  int64_t run = 0;    ///< 0: none
  int32_t step = -1;  ///< −1: none
  std::string file;   ///< source line; empty: none
  int64_t line = 0;
  bool operator==(const Selection&) const = default;
};

/// Of the run's own clock.
struct TimeRange {
  int64_t begin_ns = 0, end_ns = 0;
};

/// An open database.
struct Document {
  Document(std::string path, Loader::Mode mode) : loader(std::move(path), mode) {}
  Loader loader;
  Latest<std::vector<RunInfo>> runs;
  Latest<std::shared_ptr<const RunData>> data;  ///< of the selected run
};

class Session {
 public:
  explicit Session(Loader::Mode mode = Loader::Mode::worker) : mode_(mode) {}

  /// A path that is open already is not opened again.
  void open(std::string path);
  std::deque<std::unique_ptr<Document>>& documents() { return documents_; }
  /// nullptr: nothing is open.
  Document* document();

  const Selection& selection() const { return selection_; }
  void select(Selection selection);  ///< the one before goes on the history
  void select_run(size_t document, int64_t run);
  void select_step(int32_t step);  ///< −1: none; one that the run does not have is ignored
  /// When they are read: that run (0: the newest), and the step with that number or name ("": none).
  void select_later(int64_t run, std::string step);
  bool back();     ///< false: there is nothing before
  bool forward();  ///< false: there is nothing after
  int selection_revision() const { return revision_; }

  /// Of the selected run; nullptr until they are read, and where there is none.
  const RunInfo* run();
  const RunData* data();
  std::shared_ptr<const RunData> shared_data();  ///< the same, for work on another thread
  const StepInfo* step();

  /// Asks for what the selection needs and is not there, and drops from it what a reload has taken away. Once a frame, before the panels
  /// draw.
  void update();
  void reload();  ///< all databases
  bool busy() const;

  // --- keys: what was pressed since the last frame, as characters ('W', '/', '?') or the names below. Only the panel with the focus sees
  // them, and while a text is edited only what does not edit it.
  static constexpr int kEscape = 256, kEnter = 257, kLeft = 258, kRight = 259, kUp = 260, kDown = 261, kF1 = 262, kDelete = 263, kTab = 264,
                       kBackspace = 265, kPageUp = 266, kPageDown = 267, kHome = 268, kEnd = 269;
  struct Key {
    int key = 0;
    bool ctrl = false, shift = false, alt = false;
    bool operator==(const Key&) const = default;
  };
  std::vector<Key> keys;
  /// Is it a key of the text that is edited? Those are no shortcuts.
  static bool edits_text(const Key& key);
  /// How often it was pressed without Ctrl and Alt.
  int pressed(int key) const;
  bool pressed_with_ctrl(int key) const;
  std::string_view panel_with_focus;  ///< name of the panel that gets the keys

  // --- what the shell does for a panel
  std::string show_panel;               ///< name of a panel to bring to the front; the shell clears it
  std::string message;                  ///< one line at the bottom
  std::optional<TimeRange> show_range;  ///< what the timeline is to show; it takes it
  Theme theme;
  void on_done(std::function<void()> wake) { wake_ = std::move(wake); }
  const std::function<void()>& wake() const { return wake_; }  ///< for a panel's own loader
  /// What is drawn is not all yet: another frame comes without input.
  void want_frame() const {
    if (wake_) wake_();
  }

 private:
  Loader::Mode mode_;
  std::deque<std::unique_ptr<Document>> documents_;
  Selection selection_;
  struct Later {
    int64_t run = 0;
    std::string step;
  };
  void settle_run();
  void settle_step();

  std::vector<Selection> before_, after_;
  std::optional<Later> later_;
  int revision_ = 0;
  std::function<void()> wake_;
};

}  // namespace ui
