// Where memory goes: live bytes over the order of the steps, with the peak; or every buffer as a rectangle in the arena, which shows how it
// was packed. Below, the buffers that live at one step: the peak's, or those of the step that is selected.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "src/report/report.h"
#include "ui/grid.h"
#include "ui/memory_data.h"
#include "ui/open_run.h"
#include "ui/panel.h"
#include "ui/plot_view.h"
#include "ui/plot_widgets.h"
#include "ui/read_or_say.h"
#include "ui/report_copy.h"
#include "ui/text.h"

namespace ui {
namespace {

constexpr size_t kTipBuffers = 6;

ImU32 kind_color(const Theme& theme, size_t kind) {
  static constexpr size_t kSeries[] = {7, 6, 2, 0, 1, 3};
  return series_color(theme, kSeries[kind]);
}

class MemoryPanel final : public Panel {
 public:
  std::span<const KeyHelp> keys() const override {
    static constexpr KeyHelp kKeys[] = {{"W S", "zoom in, out"},
                                        {"A D", "move"},
                                        {"F", "show all"},
                                        {"P", "list the buffers of the peak"},
                                        {"V", "live bytes or places in the arena"}};
    return kKeys;
  }
  void draw(Session& session) override {
    const std::shared_ptr<const RunData> run = open_run_or_reason(session);
    if (run == nullptr) return;
    Document* open = session.document();
    memory_.want(open->loader, fmt::format("{}/{}/{}", session.selection().document, run->run, open->data.revision()),
                 [run](const model::Reader& reader) -> base::Result<std::shared_ptr<const MemoryPicture>> {
                   ASSIGN_OR_RETURN(MemoryPicture picture, read_memory(reader, run));
                   return std::make_shared<const MemoryPicture>(std::move(picture));
                 });
    const auto* answer = read_or_say(memory_);
    if (answer == nullptr) return;
    const std::shared_ptr<const MemoryPicture> memory = *answer;
    if (memory->run->steps.empty()) return ImGui::TextWrapped("The run has no steps.");
    if (memory->buffers.empty()) return ImGui::TextWrapped("%s", std::string(report::find("memory")->empty).c_str());
    take(session, memory);
    take_keys(session, *memory);
    draw_bar(session, memory);
    draw_told(*memory);
    draw_legend(session.theme);
    const float em = ImGui::GetFontSize(), room = ImGui::GetContentRegionAvail().y;
    const float table = room > em * 26 ? room * 0.38f : 0;
    draw_plot(session, *memory, room - table - (table > 0 ? ImGui::GetStyle().ItemSpacing.y : 0));
    if (table > 0) draw_table(session, *memory);
  }

 private:
  void take(Session& session, const std::shared_ptr<const MemoryPicture>& now) {
    const MemoryPicture& memory = *now;
    if (&memory != shown_.get()) {
      shown_ = now;
      ++taken_;
      at_ = memory.peak;
      listed_ = -1;
      const auto steps = static_cast<double>(memory.live.size());
      const double most = std::max(memory.live[memory.peak], memory.unfused[memory.unfused_peak]);
      live_view_.set_full({0, steps}, {0, std::max(1.0, most * 1.08)});
      arena_view_.set_full({0, steps}, {0, std::max(1.0, static_cast<double>(memory.arena_bytes) * 1.02)});
    }
    if (session.selection_revision() == seen_selection_) return;
    seen_selection_ = session.selection_revision();
    const StepInfo* step = session.step();
    if (step != nullptr && !keeps_) at_ = static_cast<uint32_t>(step - session.data()->steps.data());
    keeps_ = false;
  }

  PlotView& view() { return arena_ ? arena_view_ : live_view_; }

  void take_keys(Session& session, const MemoryPicture& memory) {
    view().keys(session, PlotView::Zooms::x);
    if (session.pressed('P') > 0) at_ = memory.peak;
    if (session.pressed('V') > 0) arena_ = !arena_;
  }

  // --- above the plot

  void draw_bar(Session& session, const std::shared_ptr<const MemoryPicture>& memory) {
    if (ImGui::RadioButton("live bytes", !arena_)) arena_ = false;
    ImGui::SameLine();
    if (ImGui::RadioButton("arena (V)", arena_)) arena_ = true;
    ImGui::SameLine();
    if (ImGui::Button("At the peak (P)")) at_ = memory->peak;
    ImGui::SameLine();
    if (ImGui::Button("Show all (F)")) view().show_all();
    ImGui::SameLine();
    copy_.draw(session, "memory", [memory, at = at_](const model::Reader&) { return memory_rows(*memory, at); });
    ImGui::SameLine();
    ImGui::TextDisabled("(click: select the step, drag and wheel: zoom)");
  }

  static void draw_told(const MemoryPicture& memory) {
    const StepInfo& step = memory.run->steps[memory.peak];
    std::string text =
        fmt::format("Peak {} at step {} ({})", human(memory.live[memory.peak], "_bytes"), step.step, short_text(step.name, 40));
    for (size_t kind = 0; kind < kMemoryKinds.size(); ++kind) {
      const double bytes = memory.by_kind[memory.peak][kind];
      if (bytes > 0) text += fmt::format(" · {} {}", kMemoryKinds[kind], human(bytes, "_bytes"));
    }
    text += fmt::format(" · arena {}", human(static_cast<double>(memory.arena_bytes), "_bytes"));
    ImGui::TextWrapped("%s", text.c_str());
    if (const std::string fusions = fusion_sentence(memory); !fusions.empty()) ImGui::TextWrapped("%s", fusions.c_str());
  }

  void draw_legend(const Theme& theme) {
    std::vector<LegendWord> words;
    for (size_t kind = 0; kind < kMemoryKinds.size(); ++kind)
      words.push_back({std::string(kMemoryKinds[kind]), kind_color(theme, kind), hidden_[kind]});
    if (const int clicked = legend("kinds", words); clicked >= 0) hidden_[static_cast<size_t>(clicked)] ^= true;
  }

  // --- the plots

  void draw_plot(Session& session, const MemoryPicture& memory, float height) {
    const float em = ImGui::GetFontSize();
    const ImVec2 min = ImGui::GetCursorScreenPos();
    const ImVec2 room = {std::max(em * 8, ImGui::GetContentRegionAvail().x), std::max(em * 8, height)};
    ImGui::PushID(arena_ ? "arena" : "live");
    const FrameText text{arena_ ? "place in the arena" : "live bytes", "", "_bytes", "step", ""};
    const Frame f = frame(text, min, {min.x + room.x, min.y + room.y}, view().x(), view().y());
    const PlotView::Action action = view().interact("plot", f);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.PushClipRect(f.min, f.max, true);
    arena_ ? draw_arena(session, memory, f) : draw_live(session, memory, f);
    mark(f, at_, ImGui::GetColorU32(ImGuiCol_Text, 0.9f));
    draw.PopClipRect();
    if (!arena_) mark_peaks(memory, f);
    if (action.hovered && action.mouse.x >= f.min.x && action.mouse.x < f.max.x) {
      const double place = f.x.value(action.mouse.x);
      if (place >= 0 && place < static_cast<double>(memory.live.size())) point(session, memory, f, static_cast<uint32_t>(place), action);
    }
    ImGui::SetCursorScreenPos(min);
    ImGui::Dummy(room);
    ImGui::PopID();
  }

  void point(Session& session, const MemoryPicture& memory, const Frame& f, uint32_t place, const PlotView::Action& action) {
    const int buffer = arena_ ? buffer_at(memory, place, f.y.value(action.mouse.y)) : -1;
    mark(f, place, ImGui::GetColorU32(ImGuiCol_Text, 0.4f));
    buffer >= 0 ? tip_of_buffer(memory, static_cast<size_t>(buffer)) : tip_of_step(memory, place);
    if (!action.clicked) return;
    at_ = place;
    keeps_ = true;  // the table shows the place of the click, also where the buffer's maker is selected
    const uint32_t step = buffer >= 0 ? memory.buffers[static_cast<size_t>(buffer)].first : place;
    select(session, memory, step);
  }

  void select(Session& session, const MemoryPicture& memory, uint32_t place) {
    const int before = session.selection_revision();
    session.select_step(memory.run->steps[std::min<size_t>(place, memory.run->steps.size() - 1)].step);
    keeps_ = keeps_ && session.selection_revision() != before;
  }

  /// A band over the step; at least a pixel.
  static void mark(const Frame& f, uint32_t place, ImU32 color) {
    const float x0 = f.x.pixel(place), x1 = f.x.pixel(place + 1.0);
    if (x1 - x0 < 3) return ImGui::GetWindowDrawList()->AddLine({(x0 + x1) / 2, f.min.y}, {(x0 + x1) / 2, f.max.y}, color);
    ImGui::GetWindowDrawList()->AddRect({x0, f.min.y}, {x1, f.max.y}, color);
  }

  /// Pixel columns that do not overlap, each the fullest of its steps; equal neighbours are one rectangle.
  void draw_live(Session& session, const MemoryPicture& memory, const Frame& f) const {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto columns = static_cast<size_t>(std::max(1.f, f.max.x - f.min.x));
    const std::vector<StackColumn> stack = stack_columns(memory.live, f.x.lo, f.x.hi, columns);
    for (size_t c = 0; c < columns;) {
      size_t end = c + 1;
      while (end < columns && stack[end].index == stack[c].index) ++end;
      if (stack[c].index >= 0) {
        const KindBytes& bytes = memory.by_kind[static_cast<size_t>(stack[c].index)];
        const float x0 = f.min.x + static_cast<float>(c), x1 = f.min.x + static_cast<float>(end);
        double sum = 0;
        for (size_t kind = 0; kind < bytes.size(); ++kind) {
          if (hidden_[kind] || !(bytes[kind] > 0)) continue;
          const float bottom = f.y.pixel(sum), top = f.y.pixel(sum += bytes[kind]);
          if (bottom - top > 0.2f) draw.AddRectFilled({x0, top}, {x1, bottom}, with_alpha(kind_color(session.theme, kind), 0.8f));
        }
      }
      c = end;
    }
    if (memory.has_fusions) draw_unfused(session, memory, f, columns);
  }

  /// A line over the area where a fusion's parts would need more.
  static void draw_unfused(Session& session, const MemoryPicture& memory, const Frame& f, size_t columns) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const std::vector<StackColumn> parts = stack_columns(memory.unfused, f.x.lo, f.x.hi, columns);
    const ImU32 color = bad_color(session.theme);
    for (size_t c = 0; c < columns; ++c) {
      if (parts[c].index < 0) continue;
      const auto place = static_cast<size_t>(parts[c].index);
      if (!(memory.unfused[place] > memory.live[place])) continue;
      const float x = f.min.x + static_cast<float>(c);
      draw.AddRectFilled({x, f.y.pixel(memory.unfused[place])}, {x + 1, f.y.pixel(memory.live[place])}, with_alpha(color, 0.35f));
      draw.AddRectFilled({x, f.y.pixel(memory.unfused[place]) - 1}, {x + 1, f.y.pixel(memory.unfused[place]) + 1}, color);
    }
  }

  void mark_peaks(const MemoryPicture& memory, const Frame& f) const {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float em = ImGui::GetFontSize();
    const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text), ground = ImGui::GetColorU32(ImGuiCol_WindowBg, 0.8f);
    std::vector<Box> taken;
    const auto put = [&](uint32_t place, double bytes, const std::string& text) {
      const ImVec2 at = {f.x.pixel(place + 0.5), f.y.pixel(bytes)};
      if (at.x < f.min.x || at.x > f.max.x || at.y < f.min.y || at.y > f.max.y) return;
      draw.AddCircleFilled(at, em * 0.25f, ink);
      const ImVec2 size = ImGui::CalcTextSize(text.c_str());
      const LabelWish wish{at.x, at.y, em * 0.4f, size.x + 4, size.y};
      const std::vector<Box> box = place_labels(std::span(&wish, 1), {f.min.x, f.min.y, f.max.x, f.max.y}, taken);
      if (box[0].x1 <= box[0].x0) return;
      taken.push_back(box[0]);
      text_with_ground(draw, {box[0].x0 + 2, box[0].y0}, text, ground, ink);
    };
    put(memory.peak, memory.live[memory.peak], fmt::format("peak {}", human(memory.live[memory.peak], "_bytes")));
    if (memory.has_fusions && memory.unfused[memory.unfused_peak] > memory.live[memory.peak]) {
      put(memory.unfused_peak, memory.unfused[memory.unfused_peak],
          fmt::format("without fusion {} ({})", human(memory.unfused[memory.unfused_peak], "_bytes"),
                      memory.unfused_is_planned ? "planned" : "modelled"));
    }
  }

  void draw_arena(Session& session, const MemoryPicture& memory, const Frame& f) const {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 edge = ImGui::GetColorU32(ImGuiCol_WindowBg), ink = ImGui::GetColorU32(ImGuiCol_Text);
    for (size_t i = 0; i < memory.buffers.size(); ++i) {
      const Buffer& b = memory.buffers[i];
      if (b.offset < 0 || hidden_[b.kind] || b.last < b.first) continue;
      const float x0 = f.x.pixel(b.first), x1 = f.x.pixel(b.last + 1.0);
      const float y0 = f.y.pixel(static_cast<double>(b.offset) + static_cast<double>(b.bytes)),
                  y1 = f.y.pixel(static_cast<double>(b.offset));
      if (x1 < f.min.x || x0 > f.max.x || y1 < f.min.y || y0 > f.max.y || (y1 - y0 < 0.3f && x1 - x0 < 3)) continue;
      draw.AddRectFilled({x0, y0}, {std::max(x1, x0 + 1), std::max(y1, y0 + 1)}, with_alpha(kind_color(session.theme, b.kind), 0.8f));
      if (x1 - x0 > 4 && y1 - y0 > 4) draw.AddRect({x0, y0}, {x1, y1}, edge);
      if (b.first == selected_place(session)) draw.AddRect({x0, y0}, {x1, y1}, ink, 0, 0, 2);
    }
    if (memory.arena_bytes == 0)
      draw.AddText({f.min.x + 4, f.min.y + 4}, ImGui::GetColorU32(ImGuiCol_TextDisabled), "No buffer lies in the arena.");
  }

  static uint32_t selected_place(Session& session) {
    const StepInfo* step = session.step();
    return step == nullptr ? std::numeric_limits<uint32_t>::max() : static_cast<uint32_t>(step - session.data()->steps.data());
  }

  int buffer_at(const MemoryPicture& memory, uint32_t place, double address) const {
    for (size_t i = 0; i < memory.buffers.size(); ++i) {
      const Buffer& b = memory.buffers[i];
      if (b.offset < 0 || hidden_[b.kind] || place < b.first || place > b.last) continue;
      if (address >= static_cast<double>(b.offset) && address < static_cast<double>(b.offset) + static_cast<double>(b.bytes))
        return static_cast<int>(i);
    }
    return -1;
  }

  // --- hover cards

  static void tip_of_buffer(const MemoryPicture& memory, size_t index) {
    const Buffer& b = memory.buffers[index];
    ImGui::BeginTooltip();
    put_line(short_text(b.name, 80));
    put_line(fmt::format("{} · {}", kMemoryKinds[b.kind], human(static_cast<double>(b.bytes), "_bytes")));
    put_line(
        fmt::format("from step {} to {}, at {} in the arena", b.first_step, b.last_step, human(static_cast<double>(b.offset), "_bytes")));
    put_line("made by " + maker(memory, b));
    ImGui::EndTooltip();
  }

  void tip_of_step(const MemoryPicture& memory, uint32_t place) {
    if (tipped_at_ != static_cast<int64_t>(place) || tipped_revision_ != taken_) {
      tipped_at_ = place, tipped_revision_ = taken_;
      tipped_ = memory.alive(place);
    }
    const StepInfo& step = memory.run->steps[place];
    ImGui::BeginTooltip();
    put_line(fmt::format("step {}: {}", step.step, short_text(step.name, 60)));
    put_line(fmt::format("{} live in {} buffers", human(memory.live[place], "_bytes"), tipped_.size()));
    if (memory.unfused[place] > memory.live[place])
      put_line(fmt::format("{} with its parts run one by one ({})", human(memory.unfused[place], "_bytes"),
                           memory.unfused_is_planned ? "planned" : "modelled"));
    ImGui::Separator();
    for (size_t i = 0; i < std::min(kTipBuffers, tipped_.size()); ++i) {
      const Buffer& b = memory.buffers[tipped_[i]];
      put_line(fmt::format("{}  {} ({})", human(static_cast<double>(b.bytes), "_bytes"), short_text(b.name, 40), kMemoryKinds[b.kind]));
    }
    if (tipped_.size() > kTipBuffers) put_line(fmt::format("and {} smaller ones", tipped_.size() - kTipBuffers));
    ImGui::EndTooltip();
  }

  /// The step that makes a buffer, with its operator.
  static std::string maker(const MemoryPicture& memory, const Buffer& b) {
    if (b.kind <= 1 || b.first >= memory.run->steps.size()) return "(given)";
    const StepInfo& step = memory.run->steps[b.first];
    return step.op_name.empty() ? short_text(step.name, 60)
                                : fmt::format("{} · {}", short_text(step.name, 40), short_text(step.op_name, 60));
  }

  // --- below the plot

  void list(const MemoryPicture& memory) {
    if (listed_ == static_cast<int64_t>(at_) && grid_.sort() == sorted_) return;
    if (listed_ != static_cast<int64_t>(at_)) lines_ = memory.alive(at_);
    listed_ = at_, sorted_ = grid_.sort();
    const auto by = [&](auto key) {
      std::ranges::stable_sort(lines_, [&](uint32_t a, uint32_t b) {
        const auto x = key(memory.buffers[a]), y = key(memory.buffers[b]);
        return sorted_.descending || sorted_.column < 0 ? y < x : x < y;
      });
    };
    switch (sorted_.column) {
      case 0:
        return by([](const Buffer& b) { return std::string_view(b.name); });
      case 1:
        return by([](const Buffer& b) { return b.kind; });
      case 3:
        return by([](const Buffer& b) { return b.first_step; });
      case 4:
        return by([](const Buffer& b) { return b.last_step; });
      case 5:
        return by([](const Buffer& b) { return b.offset; });
      case 6:
        return by([](const Buffer& b) { return b.first; });
      default:
        return by([](const Buffer& b) { return b.bytes; });
    }
  }

  void draw_table(Session& session, const MemoryPicture& memory) {
    static const std::vector<GridColumn> kColumns = {
        {"buffer", 18},
        {"kind", 7},
        {"size", 9, GridColumn::Kind::number},
        {"first step", 6, GridColumn::Kind::number},
        {"last step", 6, GridColumn::Kind::number},
        {"in the arena", 8, GridColumn::Kind::number},
        {"made by", 40},
    };
    at_ = std::min<uint32_t>(at_, static_cast<uint32_t>(memory.live.size() - 1));
    list(memory);
    const StepInfo& step = memory.run->steps[at_];
    put_line(fmt::format("{} buffers, {} alive at step {} ({}){}", lines_.size(), human(memory.live[at_], "_bytes"), step.step,
                         short_text(step.name, 40), at_ == memory.peak ? ", the peak" : ""));
    const double most = lines_.empty() ? 1 : memory.live[at_];
    const Grid::Event event = grid_.draw("buffers", kColumns, static_cast<int>(lines_.size()), -1, {0, 0}, [&](int line, int column) {
      paint(memory, memory.buffers[lines_[static_cast<size_t>(line)]], column, most, session.theme);
    });
    if (event.clicked < 0) return;
    keeps_ = true;
    select(session, memory, memory.buffers[lines_[static_cast<size_t>(event.clicked)]].first);
  }

  static void paint(const MemoryPicture& memory, const Buffer& b, int column, double most, const Theme& theme) {
    switch (column) {
      case 0:
        return cell_text(b.name);
      case 1:
        return cell_text(kMemoryKinds[b.kind]);
      case 2:
        cell_bar(most > 0 ? static_cast<double>(b.bytes) / most : 0, kind_color(theme, b.kind));
        return cell_number(static_cast<double>(b.bytes), "_bytes");
      case 3:
        return cell_number(fmt::format("{}", b.first_step));
      case 4:
        return cell_number(fmt::format("{}", b.last_step));
      case 5:
        return cell_number(b.offset < 0 ? std::string("-") : human(static_cast<double>(b.offset), "_bytes"));
      default:
        return cell_text(maker(memory, b));
    }
  }

  Latest<std::shared_ptr<const MemoryPicture>> memory_;
  std::shared_ptr<const MemoryPicture> shown_;
  int taken_ = 0, seen_selection_ = -1;
  bool arena_ = false;
  bool keeps_ = false;  ///< the next selection is this panel's own and does not move the table
  std::array<bool, kMemoryKinds.size()> hidden_{};
  PlotView live_view_, arena_view_;
  uint32_t at_ = 0;  ///< place whose buffers are listed
  std::vector<uint32_t> lines_, tipped_;
  int64_t listed_ = -1, tipped_at_ = -1;
  int tipped_revision_ = -1;
  Grid grid_{{2, true}};
  GridSort sorted_;
  ReportCopy copy_;
};

}  // namespace

std::unique_ptr<Panel> make_memory() { return std::make_unique<MemoryPanel>(); }

}  // namespace ui
