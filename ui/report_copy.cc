// A run may have a million steps: its text is written by the worker and taken when it is there.
#include "ui/report_copy.h"

#include <fmt/format.h>
#include <imgui.h>

namespace ui {

void ReportCopy::draw_menu(Session& session, std::span<const std::string_view> names, const Shown& shown) {
  using report::Format;
  const report::Report* first = report::find(names.front());
  if (shown && first != nullptr) {
    if (ImGui::MenuItem("What is shown, CSV")) want(session, *first, Format::csv, shown);
    if (ImGui::MenuItem("What is shown, Markdown")) want(session, *first, Format::md, shown);
  }
  for (const std::string_view name : names) {
    const report::Report* report = report::find(name);
    if (report == nullptr) continue;
    if (shown || report != first) ImGui::Separator();
    const std::string title = names.size() > 1 ? fmt::format("Report {}", name) : "Report";
    if (ImGui::MenuItem((title + ", CSV").c_str())) want(session, *report, Format::csv, {});
    if (ImGui::MenuItem((title + ", Markdown").c_str())) want(session, *report, Format::md, {});
    if (ImGui::MenuItem((title + ", SQL").c_str())) {
      ImGui::SetClipboardText(std::string(report->sql).c_str());
      session.message = fmt::format("copied the SQL of the report {}; ?1 is the run", name);
    }
  }
}

void ReportCopy::draw(Session& session, std::span<const std::string_view> names, const Shown& shown) {
  if (ImGui::Button("Copy")) ImGui::OpenPopup("copy");
  if (ImGui::BeginPopup("copy")) {
    draw_menu(session, names, shown);
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
               ASSIGN_OR_RETURN(const model::Rows rows, shown ? shown(reader) : report::run(reader, report, run));
               return report::render(rows, format, {});
             });
}

}  // namespace ui
