// Lines have all the same height, so that a clipper knows what is visible. Texts come from strangers' files: they are cut before they are
// made displayable, so that a name of a megabyte costs no more than a short one, and never become labels or formats.
#include "ui/grid.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "src/report/query.h"
#include "src/report/report.h"
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

/// Where cells of the current window say what they show while their line is asked for: a key of ImGui's own storage.
constexpr ImGuiID kAsked = 0x67726964;

void say(std::string_view text) {
  auto* asked = static_cast<std::string*>(ImGui::GetStateStorage()->GetVoidPtr(kAsked));
  if (asked != nullptr) *asked += std::string(asked->empty() ? "" : " ") + std::string(text);
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

/// How much wider columns of text are at first, where the table leaves room: first the names, which stand first, then all others.
struct Growth {
  float names = 1, texts = 1;
};
Growth growth_of(std::span<const GridColumn> columns, float room_em) {
  constexpr float kMostNames = 2, kMostTexts = 2.5f, kPadding_em = 0.9f;  // beside each column's width
  float names = 0, texts = 0, numbers = 0;
  for (size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].hidden) continue;
    (columns[c].kind == GridColumn::Kind::number ? numbers : c == 0 ? names : texts) += columns[c].width_em;
    numbers += kPadding_em;
  }
  Growth growth;
  if (names > 0) growth.names = std::clamp((room_em - numbers - texts) / names, 1.f, kMostNames);
  if (texts > 0) growth.texts = std::clamp((room_em - numbers - names * growth.names) / texts, 1.f, kMostTexts);
  return growth;
}

}  // namespace

void Grid::set_up(std::span<const GridColumn> columns, float room) {
  const float em = ImGui::GetFontSize();
  const Growth growth = growth_of(columns, (room - ImGui::GetStyle().ScrollbarSize) / em);
  ImGui::TableSetupScrollFreeze(1, 1);
  for (int c = 0; c < static_cast<int>(columns.size()); ++c) {
    const GridColumn& column = columns[static_cast<size_t>(c)];
    ImGuiTableColumnFlags flags = ImGuiTableColumnFlags_WidthFixed;
    const bool falls = c == first_.column ? first_.descending : column.kind == GridColumn::Kind::number;
    flags |= falls ? ImGuiTableColumnFlags_PreferSortDescending : ImGuiTableColumnFlags_PreferSortAscending;
    if (column.hidden) flags |= ImGuiTableColumnFlags_DefaultHide;
    if (c == first_.column) flags |= ImGuiTableColumnFlags_DefaultSort;
    const float width = column.width_em * (column.kind == GridColumn::Kind::number ? 1 : c == 0 ? growth.names : growth.texts);
    ImGui::TableSetupColumn(column.heading.c_str(), flags, width * em);
  }
  ImGui::TableHeadersRow();
}

Grid::Event Grid::draw(const char* id, std::span<const GridColumn> columns, int lines, int selected, ImVec2 size,
                       const std::function<void(int, int)>& paint) {
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                     ImGuiTableFlags_Reorderable | ImGuiTableFlags_Hideable | ImGuiTableFlags_BordersInnerV |
                                     ImGuiTableFlags_PadOuterX | ImGuiTableFlags_SizingFixedFit;
  const int count = static_cast<int>(columns.size());
  const float room = size.x > 0 ? size.x : ImGui::GetContentRegionAvail().x + size.x;
  Event event;
  if (count == 0 || count > 64 ||
      !ImGui::BeginTable(id, count, headings_ == Headings::sort ? kFlags | ImGuiTableFlags_Sortable : kFlags, size))
    return event;
  set_up(columns, room);
  take_sort();
  for (int c = 0; c < count; ++c) {
    if ((ImGui::TableGetColumnFlags(c) & ImGuiTableColumnFlags_IsHovered) != 0) hovered_column_ = c;
  }
  const float line_height = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
  take_scroll(line_height);
  ImGuiListClipper clipper;
  clipper.Begin(lines, line_height);
  event.first = lines;
  while (clipper.Step()) {
    event.first = std::min(event.first, clipper.DisplayStart), event.last = std::max(event.last, clipper.DisplayEnd);
    for (int line = clipper.DisplayStart; line < clipper.DisplayEnd; ++line) draw_line(columns, line, selected, paint, event);
  }
  event.first = std::min(event.first, event.last);
  ImGui::EndTable();
  return event;
}

void Grid::draw_line(std::span<const GridColumn> columns, int line, int selected, const std::function<void(int, int)>& paint,
                     Event& event) {
  constexpr ImGuiSelectableFlags kFlags = ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowItemOverlap;
  ImGuiStorage& storage = *ImGui::GetStateStorage();
  std::vector<std::string> texts;  // of the line whose menu is open
  ImGui::TableNextRow();
  ImGui::PushID(line);
  for (int c = 0; c < static_cast<int>(columns.size()); ++c) {
    if (!ImGui::TableSetColumnIndex(c) && c > 0) continue;
    if (c == 0) {
      if (ImGui::Selectable("##line", line == selected, kFlags)) event.clicked = line;
      if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) event.opened = line;
      ImGui::OpenPopupOnItemClick("copy", ImGuiPopupFlags_MouseButtonRight);
      if (ImGui::IsPopupOpen("copy")) texts.resize(columns.size());
      ImGui::SameLine(0, 0);
    }
    if (!texts.empty()) storage.SetVoidPtr(kAsked, &texts[static_cast<size_t>(c)]);
    paint(line, c);
  }
  storage.SetVoidPtr(kAsked, nullptr);
  if (!texts.empty()) draw_menu(columns, texts);
  ImGui::PopID();
}

void Grid::draw_menu(std::span<const GridColumn> columns, std::span<const std::string> texts) {
  if (!ImGui::BeginPopup("copy")) return;
  if (ImGui::IsWindowAppearing()) menu_column_ = hovered_column_;
  model::Rows row{{}, {{}}};
  for (size_t c = 0; c < columns.size(); ++c) {
    if (texts[c].empty()) continue;
    row.columns.push_back(columns[c].heading);
    row.rows[0].push_back(report::cell(texts[c]));
  }
  if (ImGui::MenuItem("Copy the cell"))
    ImGui::SetClipboardText(texts[std::min(static_cast<size_t>(menu_column_), texts.size() - 1)].c_str());
  if (ImGui::MenuItem("Copy the row")) ImGui::SetClipboardText(report::render(row, report::Format::csv, {}).c_str());
  ImGui::EndPopup();
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
  say(text);
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
  say(text);
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
  say(verdict);
  ImGui::PushStyleColor(ImGuiCol_Text, found->color(theme));
  put(std::string(found->mark) + std::string(verdict));
  ImGui::PopStyleColor();
}

}  // namespace ui
