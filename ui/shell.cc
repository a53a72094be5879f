// A window without decoration covers the display. Its child windows are named after panels, not after their place, so that a panel keeps
// where it was scrolled to when it moves.
#include "ui/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/bar.h"
#include "ui/help.h"
#include "ui/keys.h"
#include "ui/open_file.h"
#include "ui/start.h"

namespace ui {
namespace {

constexpr ImGuiWindowFlags kFrame = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                    ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse;
constexpr float kSplitter_em = 0.4f;
constexpr float kLeastPart_px = 1;  ///< ImGui takes 0 for "all there is"

std::vector<std::string_view> known_panels() {
  std::vector<std::string_view> names;
  for (const PanelKind& kind : panels()) names.push_back(kind.name);
  return names;
}

size_t row_of(std::string_view name) { return static_cast<size_t>(find_panel(name) - panels().data()); }

bool contains(const Rect& rect, ImVec2 at) { return at.x >= rect.x0 && at.x < rect.x1 && at.y >= rect.y0 && at.y < rect.y1; }

void place(const Rect& rect) { ImGui::SetCursorScreenPos({rect.x0, rect.y0}); }
ImVec2 size_of(const Rect& rect) { return {std::max(rect.x1 - rect.x0, kLeastPart_px), std::max(rect.y1 - rect.y0, kLeastPart_px)}; }

/// Which part of a leaf a dragged tab would take.
struct Drop {
  Side side;
  Rect rect;
};
Drop drop_at(const Rect& rect, ImVec2 at) {
  const float w = rect.x1 - rect.x0, h = rect.y1 - rect.y0;
  const float u = (at.x - rect.x0) / std::max(w, 1.f), v = (at.y - rect.y0) / std::max(h, 1.f);
  if (u < 0.25f) return {Side::left, {rect.x0, rect.y0, rect.x0 + w / 2, rect.y1}};
  if (u > 0.75f) return {Side::right, {rect.x0 + w / 2, rect.y0, rect.x1, rect.y1}};
  if (v < 0.25f) return {Side::above, {rect.x0, rect.y0, rect.x1, rect.y0 + h / 2}};
  if (v > 0.75f) return {Side::below, {rect.x0, rect.y0 + h / 2, rect.x1, rect.y1}};
  return {Side::middle, rect};
}

void draw_splitter(Node& split, const Rect& whole, const Rect& first, float gap, int id) {
  const bool row = split.kind == Node::Kind::row;
  const Rect bar = row ? Rect{first.x1, whole.y0, first.x1 + gap, whole.y1} : Rect{whole.x0, first.y1, whole.x1, first.y1 + gap};
  place(bar);
  ImGui::PushID(id);
  ImGui::InvisibleButton("splitter", size_of(bar));
  ImGui::PopID();
  const bool held = ImGui::IsItemActive();
  if (!held && !ImGui::IsItemHovered()) return;
  ImGui::SetMouseCursor(row ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
  ImGui::GetWindowDrawList()->AddRectFilled({bar.x0, bar.y0}, {bar.x1, bar.y1}, ImGui::GetColorU32(ImGuiCol_SeparatorHovered));
  if (ImGui::IsMouseDoubleClicked(0)) split.share = 0.5f;
  const float room = row ? whole.x1 - whole.x0 : whole.y1 - whole.y0;
  const float moved = row ? ImGui::GetIO().MouseDelta.x : ImGui::GetIO().MouseDelta.y;
  if (held && room > 0 && std::isfinite(moved)) split.share = std::clamp(split.share + moved / room, kLeastShare, 1 - kLeastShare);
}

}  // namespace

Shell::Shell() {
  for (const PanelKind& kind : ui::panels()) panels_.push_back(kind.make());
  use_preset(0);
  const Node* first = leaves(layout_).front();
  if (!first->panels.empty()) wants_focus_ = first->panels[first->front];
}

void Shell::set_layout(Node layout) {
  complete(layout, known_panels());
  layout_ = std::move(layout);
}

void Shell::use_preset(size_t index) {
  auto layout = parse_layout(presets()[index].text);
  if (layout.ok()) set_layout(*std::move(layout));  // tests parse all of them
}

void Shell::focus(std::string_view panel) {
  Node* leaf = find_leaf(layout_, panel);
  if (leaf == nullptr) return;
  leaf->front = static_cast<size_t>(std::ranges::find(leaf->panels, panel) - leaf->panels.begin());
  if (!only_.empty()) only_ = panel;
  wants_focus_ = panel;
}

void Shell::focus_next(int by) {
  const std::vector<Node*> all = leaves(layout_);
  const auto is_focused = [&](const Node* leaf) { return !leaf->panels.empty() && leaf->panels[leaf->front] == focused_; };
  const auto here = std::ranges::find_if(all, is_focused) - all.begin();
  const auto count = static_cast<std::ptrdiff_t>(all.size());
  const Node* next = all[static_cast<size_t>((here % count + by + count) % count)];
  if (!next->panels.empty()) focus(next->panels[next->front]);
}

void Shell::zoom(Session& session, float factor) const {
  session.theme.zoom = factor == 0 ? 1 : std::clamp(session.theme.zoom * factor, kLeastZoom, kMostZoom);
}

void Shell::close_overlays() {
  help_ = ask_for_file_ = false;
  palette_.close();
}

void Shell::take_keys(Session& session) {
  keys_.clear();
  for (const Session::Key& key : session.keys) {
    if (!take_global_key(*this, session, key)) keys_.push_back(key);
  }
  session.keys.clear();
}

void Shell::draw(Session& session) {
  session.update();
  take_keys(session);
  if (!session.show_panel.empty()) focus(session.show_panel);
  session.show_panel.clear();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::Begin("profile", nullptr, kFrame);
  draw_bar(*this, session);
  draw_body(session);
  draw_status(session);
  ImGui::End();
  draw_overlays(session);
  session.keys.clear();
}

void Shell::draw_body(Session& session) {
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const Rect body = {at.x, at.y, at.x + std::max(room.x, kLeastPart_px),
                     at.y + std::max(room.y - ImGui::GetTextLineHeightWithSpacing(), kLeastPart_px)};
  if (shows_start(session)) {
    place(body);
    if (ImGui::BeginChild("start", size_of(body))) draw_start(session);
    ImGui::EndChild();
  } else if (!only_.empty() && find_panel(only_) != nullptr) {
    draw_panel(session, only_, body);
  } else {
    draw_node(session, layout_, body, 1);
  }
  for (const Move& move : moves_) move_panel(layout_, move.panel, move.target, move.side);
  moves_.clear();
  if (!ImGui::IsMouseDown(0)) dragged_.clear();
  place({body.x0, body.y1, body.x1, body.y1});
}

void Shell::draw_node(Session& session, Node& node, const Rect& rect, int id) {
  if (rect.x1 - rect.x0 < 1 || rect.y1 - rect.y0 < 1) return;  // many splits, or a window that was made small
  if (node.kind != Node::Kind::tabs) {
    const float gap = std::round(ImGui::GetFontSize() * kSplitter_em);
    const auto [first, second] = divide(node, rect, gap);
    draw_splitter(node, rect, first, gap, id);
    draw_node(session, node.children[0], first, id * 2);
    draw_node(session, node.children[1], second, id * 2 + 1);
    return;
  }
  if (node.panels.empty()) return;
  const float tabs = ImGui::GetFrameHeight();
  const Rect body = {rect.x0, std::min(rect.y0 + tabs, rect.y1), rect.x1, rect.y1};
  draw_tabs(session, node, {rect.x0, rect.y0, rect.x1, body.y0}, id);
  draw_panel(session, node.panels[node.front], body);
  draw_drop(node, rect);
}

/// Tabs of our own: they can be dragged to another leaf, and have a menu.
void Shell::draw_tabs(Session& session, Node& leaf, const Rect& rect, int id) {
  place(rect);
  ImGui::PushID(id);
  const bool visible = ImGui::BeginChild("tabs", size_of(rect), false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float pad = ImGui::GetFontSize() * 0.7f;
  for (size_t i = 0; visible && i < leaf.panels.size(); ++i) {
    const std::string& name = leaf.panels[i];
    const PanelKind& kind = *find_panel(name);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 text = ImGui::CalcTextSize(kind.title.data(), kind.title.data() + kind.title.size());
    if (ImGui::InvisibleButton(name.c_str(), {text.x + 2 * pad, rect.y1 - rect.y0})) session.show_panel = name;
    const bool hovered = ImGui::IsItemHovered(), front = i == leaf.front;
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(0)) dragged_ = name;
    const ImVec2 end = {at.x + text.x + 2 * pad, rect.y1};
    if (front || hovered) draw.AddRectFilled(at, end, ImGui::GetColorU32(front ? ImGuiCol_TabActive : ImGuiCol_TabHovered));
    if (front && name == focused_) draw.AddRectFilled(at, {end.x, at.y + pad * 0.2f}, good_color(session.theme));
    draw.AddText({at.x + pad, at.y + (rect.y1 - rect.y0 - text.y) / 2}, ImGui::GetColorU32(front ? ImGuiCol_Text : ImGuiCol_TextDisabled),
                 kind.title.data(), kind.title.data() + kind.title.size());
    if (ImGui::BeginPopupContextItem(name.c_str())) draw_tab_menu(leaf, name), ImGui::EndPopup();
    ImGui::SameLine(0, 1);
  }
  ImGui::EndChild();
  ImGui::PopID();
}

void Shell::draw_tab_menu(const Node& leaf, const std::string& panel) {
  struct Way {
    const char* text;
    Side side;
  };
  constexpr Way kWays[] = {
      {"Split to the left", Side::left}, {"Split to the right", Side::right}, {"Split above", Side::above}, {"Split below", Side::below}};
  for (const Way& way : kWays) {
    if (ImGui::MenuItem(way.text, nullptr, false, leaf.panels.size() > 1))
      moves_.push_back({panel, panel == leaf.panels[0] ? leaf.panels.back() : leaf.panels[0], way.side});
  }
  ImGui::Separator();
  for (const Node* other : leaves(layout_)) {
    if (other == &leaf || other->panels.empty()) continue;
    const std::string text = fmt::format("Move beside {}", find_panel(other->panels[other->front])->title);
    if (ImGui::MenuItem(text.c_str())) moves_.push_back({panel, other->panels[0], Side::middle});
  }
  if (ImGui::MenuItem("Show alone", nullptr, !only_.empty())) only_ = only_.empty() ? panel : "";
}

void Shell::draw_panel(Session& session, const std::string& name, const Rect& rect) {
  place(rect);
  if (name == wants_focus_) ImGui::SetNextWindowFocus(), wants_focus_.clear();
  if (ImGui::BeginChild(name.c_str(), size_of(rect), false, ImGuiWindowFlags_AlwaysUseWindowPadding)) {
    if (ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows)) focused_ = name;
    const bool has_focus = name == focused_ || !only_.empty();
    session.panel_with_focus = has_focus ? find_panel(name)->name : std::string_view();
    session.keys = has_focus ? keys_ : std::vector<Session::Key>();
    panels_[row_of(name)]->draw(session);
    session.keys.clear();
  }
  ImGui::EndChild();
}

void Shell::draw_drop(const Node& leaf, const Rect& rect) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (dragged_.empty() || !contains(rect, mouse)) return;
  const bool own = std::ranges::find(leaf.panels, dragged_) != leaf.panels.end();
  const Drop drop = mouse.y < rect.y0 + ImGui::GetFrameHeight() ? Drop{Side::middle, rect} : drop_at(rect, mouse);
  if (own && (drop.side == Side::middle || leaf.panels.size() < 2)) return;
  ImGui::GetForegroundDrawList()->AddRectFilled({drop.rect.x0, drop.rect.y0}, {drop.rect.x1, drop.rect.y1},
                                                ImGui::GetColorU32(ImGuiCol_DragDropTarget, 0.25f));
  if (!ImGui::IsMouseReleased(0)) return;
  const auto target = std::ranges::find_if(leaf.panels, [&](const std::string& name) { return name != dragged_; });
  if (target != leaf.panels.end()) moves_.push_back({dragged_, *target, drop.side});
}

void Shell::draw_overlays(Session& session) {
  palette_.draw(*this, session);
  if (help_) draw_help(*this, help_);
  if (ask_for_file_) draw_open_file(session, file_, ask_for_file_);
}

}  // namespace ui
