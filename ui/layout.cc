// The text is one expression in parentheses, so that reading it is a few lines and a person sees the tree.
#include "ui/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

namespace ui {
namespace {

constexpr int kDeepest = 64;

constexpr Preset kPresets[] = {
    {"analysis", "timeline above, tables below, details at the right",
     "(column 0.46 (tabs timeline* memory overview) (row 0.68 (tabs top* fusions roofline source graph compare sql) (tabs details*)))"},
    {"tables", "tables as high as the window, details and roofline at the right",
     "(row 0.62 (tabs top* fusions compare source sql) (column 0.5 (tabs details* overview) (tabs roofline* graph memory timeline)))"},
    {"timeline", "the timeline over the whole width, details below",
     "(column 0.72 (tabs timeline* memory) (row 0.5 (tabs details*) (tabs top* fusions roofline source graph compare sql overview)))"},
    {"fusions", "fusions and their graph, code and numbers beside them",
     "(row 0.6 (column 0.55 (tabs fusions* top compare) (tabs graph* timeline memory)) (tabs details* roofline source sql overview))"},
    {"single", "one panel at a time", "(tabs overview* timeline top fusions roofline memory source compare graph details sql)"},
};

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  base::Result<Node> whole() {
    ASSIGN_OR_RETURN(Node root, node(0));
    space();
    if (at_ != text_.size()) return wrong("nothing more");
    return root;
  }

 private:
  base::Error wrong(std::string_view expected) const { return {fmt::format("layout, byte {}: expected {}", at_, expected)}; }
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  bool take(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    space();
    const size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  base::Result<float> share() {
    space();
    float value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return wrong("the share of the first part, like 0.5");
    at_ = static_cast<size_t>(end - text_.data());
    return std::clamp(value, kLeastShare, 1 - kLeastShare);
  }
  base::Result<Node> tabs() {
    Node leaf;
    while (!take(')')) {
      const std::string_view name = word();
      if (name.empty()) return wrong("the name of a panel or ')'");
      if (at_ < text_.size() && text_[at_] == '*') leaf.front = leaf.panels.size(), ++at_;
      leaf.panels.emplace_back(name);
    }
    return leaf;
  }
  base::Result<Node> node(int depth) {
    if (depth > kDeepest) return wrong("fewer levels");
    if (!take('(')) return wrong("'('");
    const std::string_view kind = word();
    if (kind == "tabs") return tabs();
    Node split;
    if (kind != "row" && kind != "column") return wrong("tabs, row or column");
    split.kind = kind == "row" ? Node::Kind::row : Node::Kind::column;
    ASSIGN_OR_RETURN(split.share, share());
    for (int i = 0; i < 2; ++i) {
      ASSIGN_OR_RETURN(Node child, node(depth + 1));
      split.children.push_back(std::move(child));
    }
    if (!take(')')) return wrong("')'");
    return split;
  }

  std::string_view text_;
  size_t at_ = 0;
};

/// A split with an empty leaf becomes its other child.
void drop_empty(Node& node) {
  for (Node& child : node.children) drop_empty(child);
  const auto empty = [](const Node& child) { return child.kind == Node::Kind::tabs && child.panels.empty(); };
  const auto found = std::ranges::find_if(node.children, empty);
  if (found == node.children.end()) return;
  Node rest = std::move(node.children[found == node.children.begin() ? 1 : 0]);
  node = std::move(rest);
}

void take_out(Node& leaf, std::string_view panel) {
  const auto at = std::ranges::find(leaf.panels, panel);
  const auto place = static_cast<size_t>(at - leaf.panels.begin());
  leaf.panels.erase(at);
  if (leaf.front > place || leaf.front >= leaf.panels.size()) leaf.front = leaf.front > 0 ? leaf.front - 1 : 0;
}

}  // namespace

std::vector<Node*> leaves(Node& root) {
  std::vector<Node*> found;
  const std::function<void(Node&)> visit = [&](Node& node) {
    if (node.kind == Node::Kind::tabs) found.push_back(&node);
    for (Node& child : node.children) visit(child);
  };
  visit(root);
  return found;
}

Node* find_leaf(Node& root, std::string_view panel) {
  for (Node* leaf : leaves(root)) {
    if (std::ranges::find(leaf->panels, panel) != leaf->panels.end()) return leaf;
  }
  return nullptr;
}

bool move_panel(Node& root, std::string_view panel, std::string_view target, Side side) {
  Node* from = find_leaf(root, panel);
  Node* to = find_leaf(root, target);
  if (from == nullptr || to == nullptr || (from == to && (side == Side::middle || from->panels.size() < 2))) return false;
  const std::string name(panel);
  take_out(*from, name);
  if (side == Side::middle) {
    to->panels.push_back(name);
    to->front = to->panels.size() - 1;
  } else {
    Node moved, split;
    moved.panels = {name};
    split.kind = side == Side::left || side == Side::right ? Node::Kind::row : Node::Kind::column;
    const bool first = side == Side::left || side == Side::above;
    split.children = first ? std::vector<Node>{std::move(moved), std::move(*to)} : std::vector<Node>{std::move(*to), std::move(moved)};
    *to = std::move(split);
  }
  drop_empty(root);
  return true;
}

void complete(Node& root, std::span<const std::string_view> known) {
  std::vector<std::string_view> missing(known.begin(), known.end());
  for (Node* leaf : leaves(root)) {
    const std::string front = leaf->front < leaf->panels.size() ? leaf->panels[leaf->front] : std::string();
    std::erase_if(leaf->panels, [&](const std::string& name) { return std::erase(missing, name) == 0; });
    const auto again = std::ranges::find(leaf->panels, front);
    leaf->front = again == leaf->panels.end() ? 0 : static_cast<size_t>(again - leaf->panels.begin());
  }
  const std::vector<Node*> all = leaves(root);
  Node* widest = *std::ranges::max_element(all, {}, [](const Node* leaf) { return leaf->panels.size(); });
  widest->panels.insert(widest->panels.end(), missing.begin(), missing.end());
  drop_empty(root);
}

std::pair<Rect, Rect> divide(const Node& split, const Rect& whole, float gap) {
  Rect first = whole, second = whole;
  if (split.kind == Node::Kind::row) {
    const float room = std::max(whole.x1 - whole.x0 - gap, 0.f);
    first.x1 = whole.x0 + std::floor(room * split.share);
    second.x0 = first.x1 + gap;
  } else {
    const float room = std::max(whole.y1 - whole.y0 - gap, 0.f);
    first.y1 = whole.y0 + std::floor(room * split.share);
    second.y0 = first.y1 + gap;
  }
  return {first, second};
}

std::span<const Preset> presets() { return kPresets; }

std::string print(const Node& root) {
  if (root.kind == Node::Kind::tabs) {
    std::string out = "(tabs";
    for (size_t i = 0; i < root.panels.size(); ++i) out += fmt::format(" {}{}", root.panels[i], i == root.front ? "*" : "");
    return out + ")";
  }
  return fmt::format("({} {:.4g} {} {})", root.kind == Node::Kind::row ? "row" : "column", root.share, print(root.children[0]),
                     print(root.children[1]));
}

base::Result<Node> parse_layout(std::string_view text) { return Parser(text).whole(); }

}  // namespace ui
