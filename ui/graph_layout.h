// A layered drawing of a directed graph without cycles: boxes in levels, edges as curves. No ImGui in here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ui {

/// From what is read to its reader; indices of nodes. Others than 0…nodes−1, and edges from a node to itself, are left out.
struct GraphEdge {
  uint32_t from = 0, to = 0;
  bool operator==(const GraphEdge&) const = default;
};

/// Which nodes are drawn of a graph that is too large.
struct Neighbourhood {
  std::vector<uint32_t> nodes;  ///< the centre first, then by distance
  std::vector<int> hops;        ///< of each of them from the centre
  size_t left_out = 0;          ///< nodes within the hops for which there was no room
};
/// Nodes at most `hops` edges from the centre, in either direction; of those at the same distance the ones of the largest weight first,
/// at most `most`.
Neighbourhood neighbourhood(std::span<const double> weights, std::span<const GraphEdge> edges, uint32_t centre, int hops, size_t most);

struct NodeSize {
  float width = 0, height = 0;
};
struct Placed {
  float x = 0, y = 0;  ///< of the middle
  int level = 0;       ///< longest path from a node that reads nothing
};
/// The points through which an edge goes, from box to box: where it passes levels, it goes between their boxes.
struct Route {
  GraphEdge edge;
  struct Point {
    float x = 0, y = 0;
  };
  std::vector<Point> points;  ///< at least two
};
struct Layout {
  std::vector<Placed> nodes;
  std::vector<Route> routes;
  float width = 0, height = 0;  ///< everything lies in 0…width, 0…height
};
struct LayoutGaps {
  float between = 1;  ///< boxes of a level
  float levels = 1;   ///< from the bottom of one level to the top of the next
};
/// Sugiyama's method: levels by longest path, order within a level by the mean of the neighbours' places, boxes moved towards their
/// neighbours. Of a cycle, the edges that close it are not drawn.
Layout layout(std::span<const NodeSize> sizes, std::span<const GraphEdge> edges, const LayoutGaps& gaps);

/// Pairs of routes that cross between two levels: what the order within levels keeps small. Quadratic; for tests.
size_t crossings(const Layout& layout);

}  // namespace ui
