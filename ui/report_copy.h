// The button "Copy" of a panel: its reports as CSV, Markdown or SQL, and what the panel shows at the moment.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "src/report/report.h"
#include "ui/loader.h"
#include "ui/session.h"

namespace ui {

class ReportCopy {
 public:
  /// Rows of what the panel shows; called on the loader's thread: it holds what it reads.
  using Shown = std::function<base::Result<model::Rows>(const model::Reader&)>;
  /// Each of `reports` has a row in report::reports(). Reading and writing happen off the UI thread; the clipboard has it when they are
  /// done.
  void draw(Session& session, std::span<const std::string_view> reports, const Shown& shown = {});
  void draw(Session& session, std::string_view report, const Shown& shown = {}) { draw(session, std::span(&report, 1), shown); }

 private:
  void draw_menu(Session& session, std::span<const std::string_view> reports, const Shown& shown);
  void want(Session& session, const report::Report& report, report::Format format, Shown shown);
  Latest<std::string> text_;
  std::string what_;
  bool waiting_ = false;
  int asked_ = 0;
};

}  // namespace ui
