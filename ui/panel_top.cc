// Every step with its time. What it shows is the report `top`.
#include <imgui.h>

#include "src/report/report.h"
#include "ui/panel.h"
#include "ui/table.h"

namespace ui {
namespace {

class Top final : public Panel {
 public:
  void draw(Session& session) override {
    Document* open = session.document();
    const int64_t run = session.selection().run;
    if (open == nullptr || run == 0) return ImGui::TextDisabled("No run is open.");
    const report::Report* top = report::find("top");
    rows_.want(open->loader, std::to_string(session.selection().document) + "/" + std::to_string(run),
               [top, run](const model::Reader& reader) { return report::run(reader, *top, run); });
    if (const base::Error* error = rows_.error()) return ImGui::TextWrapped("%s", error->message.c_str());
    const model::Rows* rows = rows_.value();
    if (rows == nullptr) return ImGui::TextDisabled("Reading…");
    table_.draw_filter();
    ImGui::SameLine();
    draw_copy_button(*rows, top->sql);
    table_.draw("top", *rows, rows_.revision(), session.theme, {.share_column = "share_percent", .verdict_column = {}});
  }

 private:
  Latest<model::Rows> rows_;
  RowTable table_;
};

}  // namespace

std::unique_ptr<Panel> make_top() { return std::make_unique<Top>(); }

}  // namespace ui
