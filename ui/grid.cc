// Lines have all the same height, so that a clipper knows what is visible. Texts come from strangers' files: they are cut before they are
// made displayable, so that a name of a megabyte costs no more than a short one, and never become labels or formats.
#include "ui/grid.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "ui/text.h"

namespace ui {
namespace {

constexpr size_t kTipBytes = 2000, kPlainBytes = 200;

bool plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
}

float width_of(std::string_view text) { return ImGui::CalcTextSize(text.data(), text.data() + text.size()).x; }

void put(std::string_view text) { ImGui::TextUnformatted(text.data(), text.data() + text.size()); }

void tip(std::string_view text) {
  if (!ImGui::IsItemHovered()) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * 40);
  put(one_line(text, kTipBytes));
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void put_dash() {
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetColorU32(ImGuiCol_TextDisabled));
  put("-");
  ImGui::PopStyleColor();
}

struct Verdict {
  std::string_view word, mark;
  ImU32 (*color)(const Theme&);
};
constexpr Verdict kVerdicts[] = {
    {"pays", "▲ ", good_color},     {"costs", "▼ ", bad_color},     {"neutral", "= ", neutral_color},   {"faster", "▲ ", good_color},
    {"slower", "▼ ", bad_color},    {"same", "= ", neutral_color},  {"faster?", "▲ ", good_color},      {"slower?", "▼ ", bad_color},
    {"improved", "▲ ", good_color}, {"regressed", "▼ ", bad_color}, {"unchanged", "= ", neutral_color},
};

/// How much wider columns of text are at first, where the table leaves room: names are long.
float text_growth(std::span<const GridColumn> columns, float room_em) {
  constexpr float kMostGrowth = 2.5f, kPadding_em = 0.9f;  // beside each column's width
  float texts = 0, numbers = 0;
  for (const GridColumn& column : columns) {
    if (column.hidden) continue;
    (column.kind == GridColumn::Kind::text ? texts : numbers) += column.width_em;
    numbers += kPadding_em;
  }
  return texts <= 0 ? 1 : std::clamp((room_em - numbers) / texts, 1.f, kMostGrowth);
}

}  // namespace

Grid::Event Grid::draw(const char* id, std::span<const GridColumn> columns, int lines, int selected, ImVec2 size,
                       const std::function<void(int, int)>& paint) {
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                     ImGuiTableFlags_Reorderable | ImGuiTableFlags_Hideable | ImGuiTableFlags_BordersInnerV |
                                     ImGuiTableFlags_PadOuterX | ImGuiTableFlags_SizingFixedFit;
  const float em = ImGui::GetFontSize();
  const int count = static_cast<int>(columns.size());
  const float room = size.x > 0 ? size.x : ImGui::GetContentRegionAvail().x + size.x;
  const float growth = text_growth(columns, (room - ImGui::GetStyle().ScrollbarSize) / em);
  Event event;
  if (count == 0 || count > 64 ||
      !ImGui::BeginTable(id, count, headings_ == Headings::sort ? kFlags | ImGuiTableFlags_Sortable : kFlags, size))
    return event;
  ImGui::TableSetupScrollFreeze(1, 1);
  for (int c = 0; c < count; ++c) {
    const GridColumn& column = columns[static_cast<size_t>(c)];
    ImGuiTableColumnFlags flags = ImGuiTableColumnFlags_WidthFixed;
    const bool falls = c == first_.column ? first_.descending : column.kind == GridColumn::Kind::number;
    flags |= falls ? ImGuiTableColumnFlags_PreferSortDescending : ImGuiTableColumnFlags_PreferSortAscending;
    if (column.hidden) flags |= ImGuiTableColumnFlags_DefaultHide;
    if (c == first_.column) flags |= ImGuiTableColumnFlags_DefaultSort;
    const float width = column.width_em * (column.kind == GridColumn::Kind::text ? growth : 1);
    ImGui::TableSetupColumn(column.heading.c_str(), flags, width * em);
  }
  ImGui::TableHeadersRow();
  take_sort();
  const float line_height = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
  take_scroll(line_height);
  ImGuiListClipper clipper;
  clipper.Begin(lines, line_height);
  event.first = lines;
  while (clipper.Step()) {
    event.first = std::min(event.first, clipper.DisplayStart), event.last = std::max(event.last, clipper.DisplayEnd);
    for (int line = clipper.DisplayStart; line < clipper.DisplayEnd; ++line) {
      ImGui::TableNextRow();
      ImGui::PushID(line);
      for (int c = 0; c < count; ++c) {
        if (!ImGui::TableSetColumnIndex(c) && c > 0) continue;
        if (c == 0) {
          if (ImGui::Selectable("##line", line == selected, ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowItemOverlap))
            event.clicked = line;
          if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) event.opened = line;
          ImGui::SameLine(0, 0);
        }
        paint(line, c);
      }
      ImGui::PopID();
    }
  }
  event.first = std::min(event.first, event.last);
  ImGui::EndTable();
  return event;
}

int moved_line(const Session& session, int line, int lines) {
  constexpr std::pair<int, int> kMoves[] = {{Session::kDown, 1},      {'J', 1},
                                            {Session::kUp, -1},       {'K', -1},
                                            {Session::kPageDown, 20}, {Session::kPageUp, -20},
                                            {Session::kEnd, 1 << 28}, {Session::kHome, -(1 << 28)}};
  int by = 0;
  for (const auto& [key, rows] : kMoves) by += std::min(session.pressed(key), 1) * rows;
  if (by == 0 || lines == 0) return -1;
  return std::clamp((line < 0 && by < 0 ? lines : line) + by, 0, lines - 1);
}

void Grid::take_sort() {
  ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (specs == nullptr || !specs->SpecsDirty) return;
  sort_ = specs->SpecsCount > 0 ? GridSort{specs->Specs[0].ColumnIndex, specs->Specs[0].SortDirection == ImGuiSortDirection_Descending}
                                : GridSort{};
  specs->SpecsDirty = false;
}

void Grid::take_scroll(float line_height) {
  if (scroll_to_ < 0) return;
  const float top = static_cast<float>(scroll_to_) * line_height, room = ImGui::GetWindowHeight() - 3 * line_height;
  if (top < ImGui::GetScrollY() || top > ImGui::GetScrollY() + room) ImGui::SetScrollY(std::max(0.f, top - room / 2));
  scroll_to_ = -1;
}

void cell_text(std::string_view text) {
  if (text.empty()) return put_dash();
  const float room = ImGui::GetContentRegionAvail().x;
  if (text.size() <= kPlainBytes && plain(text) && width_of(text) <= room) return put(text);
  const std::string line = one_line(text), cut = cut_to(line, room);
  put(cut);
  if (cut == line && text.size() <= kPlainBytes) return;
  tip(text);
  ImGui::SameLine(0, 0);
  ImGui::Dummy({std::max(0.f, width_of(line) - width_of(cut)), 0});  // a column that is fitted to its texts becomes as wide as the whole
}

void cell_number(std::string_view text) {
  const float room = ImGui::GetContentRegionAvail().x - width_of(text);
  if (room > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room);
  text == "-" ? put_dash() : put(text);
}

void cell_number(double value, std::string_view unit) {
  if (!std::isfinite(value)) return cell_number("-");
  cell_number(human(value, unit));
}

void cell_bar(double share, ImU32 color) {
  if (!(share > 0)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x * static_cast<float>(std::min(share, 1.0));
  ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + std::max(width, 1.f), at.y + ImGui::GetTextLineHeight()}, with_alpha(color, 0.35f));
}

void cell_signed_bar(const SignedBar& bar, const Theme& theme) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float half = ImGui::GetContentRegionAvail().x / 2, height = ImGui::GetTextLineHeight(), zero = at.x + half;
  const auto pixel = [&](double v) {
    const double share = std::clamp(bar.most > 0 ? v / bar.most : 0.0, -1.0, 1.0);
    return std::round(zero + half * static_cast<float>(bar.root ? std::copysign(std::sqrt(std::abs(share)), share) : share));
  };
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  if (std::isfinite(bar.value)) {
    const float x = pixel(bar.value);
    draw.AddRectFilled({std::min(x, zero), at.y + 2}, {std::max(x, zero), at.y + height - 2},
                       with_alpha((bar.value < 0) != bar.larger_is_worse ? bad_color(theme) : good_color(theme), bar.alpha));
  }
  draw.AddLine({zero, at.y}, {zero, at.y + height}, ImGui::GetColorU32(ImGuiCol_TextDisabled));
  if (!std::isfinite(bar.low) || !std::isfinite(bar.high)) return;
  const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text);
  const float lo = pixel(bar.low), hi = pixel(bar.high), middle = std::round(at.y + height / 2), cap = std::round(height / 5);
  draw.AddLine({lo, middle}, {hi, middle}, ink);
  for (const float end : {lo, hi}) draw.AddLine({end, middle - cap}, {end, middle + cap}, ink);
}

void cell_verdict(std::string_view verdict, const Theme& theme) {
  const auto* found = std::ranges::find(kVerdicts, verdict, &Verdict::word);
  if (found == std::end(kVerdicts)) return cell_text(verdict);
  ImGui::PushStyleColor(ImGuiCol_Text, found->color(theme));
  put(std::string(found->mark) + std::string(verdict));
  ImGui::PopStyleColor();
}

}  // namespace ui
