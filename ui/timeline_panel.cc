// The order of a frame: what is missing is asked for, then input moves the view, then everything is drawn from what is at hand.
#include "ui/timeline_panel.h"

#include <fmt/format.h>

#include <algorithm>

namespace ui {
namespace {

constexpr int kLegendWords = 12;

}  // namespace

timeline::Scale TimelinePanel::scale() const {
  const double pixels = std::max(1.f, at_.width());
  return {view_.span().begin_ns, view_.span().length_ns() / pixels, pixels};
}
double TimelinePanel::time_at(float x) const { return scale().begin_ns + static_cast<double>(x - at_.labels) * scale().ns_per_pixel; }
float TimelinePanel::x_of(double ns) const { return at_.labels + static_cast<float>(std::clamp(scale().x(ns), -1e6, 1e6)); }

float TimelinePanel::rows_height() const {
  float sum = 0;
  for (const TimelineRow& row : rows_) sum += row.height * at_.em;
  return sum;
}

void TimelinePanel::draw(Session& session) {
  if (session.document() == nullptr || session.selection().run == 0) return ImGui::TextDisabled("No run is open.");
  update(session);
  draw_toolbar(session);
  draw_legend();
  draw_canvas(session);
}

void TimelinePanel::update(Session& session) {
  const Selection& selected = session.selection();
  if (runs_.empty() || runs_[0]->document() != selected.document || runs_[0]->run() != selected.run) {
    runs_.clear();
    runs_.push_back(std::make_unique<ShownRun>(selected.document, selected.run));
    view_.reset();
    picked_.reset(), hover_.reset();
    scroll_ = 0;
  }
  const RunInfo* info = session.run();
  const PassMode natural = info != nullptr && info->kind == "recorded" ? PassMode::happened : PassMode::medians;
  std::string key;
  double end_ns = 0;
  for (const auto& run : runs_) {
    const PassMode before = run->mode();
    run->update(session, mode_.value_or(natural), color_by_);
    if (before != run->mode()) view_.reset();
    key += fmt::format("{}.{}.{}.{} ", run->document(), run->run(), run->revision(), static_cast<int>(run->mode()));
    end_ns = std::max(end_ns, run->extent().end_ns);
  }
  for (const std::string& toggled : toggled_) key += toggled + "\n";
  if (key != rows_key_) {
    run_labels_.assign(1, info == nullptr ? std::string() : info->label());
    rows_ = timeline_rows(runs_, toggled_, run_labels_);
    rows_key_ = std::move(key);
  }
  if (!runs_[0]->lanes().empty()) view_.set_all({0, end_ns});
}

void TimelinePanel::draw_toolbar(Session& session) {
  const float em = ImGui::GetFontSize();
  const bool happened = runs_[0]->mode() == PassMode::happened;
  const bool can_happen = runs_[0]->timeline() != nullptr && !runs_[0]->timeline()->lanes.empty();
  ImGui::BeginDisabled(!can_happen);
  if (ImGui::RadioButton("as it happened", happened)) mode_ = PassMode::happened;
  ImGui::EndDisabled();
  ImGui::SameLine();
  if (ImGui::RadioButton("one pass of medians", !happened)) mode_ = PassMode::medians;
  ImGui::SameLine(0, em * 1.5f);
  ImGui::AlignTextToFramePadding();
  ImGui::TextDisabled("colour");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(em * 8);
  if (ImGui::BeginCombo("##colour", kColorByNames[static_cast<size_t>(color_by_)].data())) {
    for (size_t i = 0; i < std::size(kColorByNames); ++i) {
      if (ImGui::Selectable(kColorByNames[i].data(), i == static_cast<size_t>(color_by_))) color_by_ = static_cast<ColorBy>(i);
    }
    ImGui::EndCombo();
  }
  ImGui::SameLine(0, em * 1.5f);
  ImGui::TextDisabled("%s of %s in view", time_text(view_.span().length_ns()).c_str(), time_text(view_.all().length_ns()).c_str());
  (void)session;
}

void TimelinePanel::draw_legend() {
  const float em = ImGui::GetFontSize(), line = ImGui::GetTextLineHeight();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  ImVec2 at = ImGui::GetCursorScreenPos();
  const float end = at.x + ImGui::GetContentRegionAvail().x;
  const StepColors& colors = runs_[0]->colors();
  double whole = 0;
  for (const LegendEntry& entry : colors.legend) whole += entry.pass_ns;
  int words = 0;
  for (const LegendEntry& entry : colors.legend) {
    const std::string text = shown_name(entry.word), share = whole > 0 ? fmt::format("{:.1f} %", 100 * entry.pass_ns / whole) : "";
    const float width = ImGui::CalcTextSize(text.c_str()).x, more = ImGui::CalcTextSize(share.c_str()).x;
    if (words++ == kLegendWords || at.x + width + more + em * 2.5f > end) break;
    draw.AddRectFilled({at.x, at.y + line * 0.2f}, {at.x + em * 0.75f, at.y + line * 0.2f + em * 0.75f}, entry.color);
    draw.AddText({at.x + em, at.y}, ink(0.9f), text.c_str());
    draw.AddText({at.x + em * 1.4f + width, at.y}, ink(0.5f), share.c_str());
    at.x += width + more + em * 2.6f;
  }
  ImGui::Dummy({1, line});
}

void TimelinePanel::draw_canvas(Session& session) {
  const ImVec2 min = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  if (size.x < ImGui::GetFontSize() * 12 || size.y < ImGui::GetFontSize() * 6) return;
  at_ = timeline_layout(min, {min.x + size.x, min.y + size.y});
  ImGui::InvisibleButton("canvas", size);
  over_ = ImGui::IsItemHovered();
  if (const base::Error* error = runs_[0]->error()) {
    ImGui::SetCursorScreenPos(min);
    return ImGui::TextWrapped("%s", error->message.c_str());
  }
  if (runs_[0]->lanes().empty()) {
    ImGui::SetCursorScreenPos(min);
    return ImGui::TextDisabled("%s", runs_[0]->waiting() || runs_[0]->steps() == nullptr ? "Reading…" : "This run has no times.");
  }
  follow_selection(session);
  handle_mouse(session);
  handle_keys(session);
  hover_.reset();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.PushClipRect(at_.min, at_.max, true);
  draw_minimap(session);
  draw_rows(session);
  draw.PopClipRect();
  draw_hover_card(session);
}

}  // namespace ui
