// How the window is divided: a tree of splits whose leaves are tab bars of panels. No ImGui in it; kept as a text that a person can edit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"

namespace ui {

/// A leaf holds panels, a split two nodes.
struct Node {
  enum class Kind : uint8_t {
    tabs,    ///< leaf
    row,     ///< children beside each other
    column,  ///< one above the other
  };
  Kind kind = Kind::tabs;
  float share = 0.5f;               ///< of the first child, kLeastShare … 1 − kLeastShare
  std::vector<Node> children;       ///< two, of a split
  std::vector<std::string> panels;  ///< names, of a leaf
  size_t front = 0;                 ///< the one of `panels` that is shown
  bool operator==(const Node&) const = default;
};
inline constexpr float kLeastShare = 0.05f;

struct Rect {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool operator==(const Rect&) const = default;
};

/// The leaf that holds a panel; nullptr: none does.
Node* find_leaf(Node& root, std::string_view panel);
/// Leaves in the order of the text: left to right, top to bottom.
std::vector<Node*> leaves(Node& root);
/// Which half of a leaf a panel is moved into; `middle`: it becomes one of its tabs.
enum class Side : uint8_t { middle, left, right, above, below };
/// Moves a panel to the leaf that holds `target`; a leaf that is left empty goes. False: nothing changes.
bool move_panel(Node& root, std::string_view panel, std::string_view target, Side side);
/// Makes a tree that holds each of `known` exactly once: what is missing goes to the leaf with most panels, what is unknown or stands twice
/// goes away, and so do empty leaves.
void complete(Node& root, std::span<const std::string_view> known);

/// Where each child of a split lies, `gap` between them.
std::pair<Rect, Rect> divide(const Node& split, const Rect& whole, float gap);

struct Preset {
  std::string_view name, about, text;
};
/// The first is the default.
std::span<const Preset> presets();

/// "(column 0.5 (tabs timeline* memory) (row 0.6 (tabs top*) (tabs details*)))"; the star marks the tab in front.
std::string print(const Node& root);
/// Errors: what is wrong and at which byte. At most 64 levels deep.
base::Result<Node> parse_layout(std::string_view text);

}  // namespace ui
