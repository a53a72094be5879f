// A run may have a million steps: its text is written by the worker and taken when it is there.
#include "ui/report_copy.h"

#include <fmt/format.h>
#include <imgui.h>

namespace ui {

void ReportCopy::draw(Session& session, std::string_view name, Shown shown) {
  const report::Report* report = report::find(name);
  if (report == nullptr) return;
  if (ImGui::Button("Copy")) ImGui::OpenPopup("copy");
  if (ImGui::BeginPopup("copy")) {
    if (shown && ImGui::MenuItem("What is shown, CSV")) want(session, *report, report::Format::csv, shown);
    if (shown && ImGui::MenuItem("What is shown, Markdown")) want(session, *report, report::Format::md, shown);
    if (shown) ImGui::Separator();
    if (ImGui::MenuItem("Report, CSV")) want(session, *report, report::Format::csv, {});
    if (ImGui::MenuItem("Report, Markdown")) want(session, *report, report::Format::md, {});
    if (ImGui::MenuItem("Report, SQL")) {
      ImGui::SetClipboardText(std::string(report->sql).c_str());
      session.message = fmt::format("copied the SQL of the report {}; ?1 is the run", name);
    }
    ImGui::EndPopup();
  }
  if (!waiting_ || text_.waiting()) return;
  waiting_ = false;
  if (const std::string* text = text_.value()) {
    ImGui::SetClipboardText(text->c_str());
    session.message = "copied " + what_;
  } else if (text_.error() != nullptr) {
    session.message = text_.error()->message;
  }
}

void ReportCopy::want(Session& session, const report::Report& report, report::Format format, Shown shown) {
  Document* open = session.document();
  if (open == nullptr) return;
  what_ = fmt::format("{} as {}", shown ? "what is shown" : fmt::format("the report {}", report.name),
                      format == report::Format::csv ? "CSV" : "Markdown");
  waiting_ = true;
  const int64_t run = session.selection().run;
  text_.want(open->loader, std::to_string(++asked_),
             [&report, format, run, shown](const model::Reader& reader) -> base::Result<std::string> {
               if (shown) return report::render(shown(), format, {});
               ASSIGN_OR_RETURN(const model::Rows rows, report::run(reader, report, run));
               return report::render(rows, format, {});
             });
}

}  // namespace ui
