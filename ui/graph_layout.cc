// Sugiyama, Tagawa, Toda: Methods for visual understanding of hierarchical system structures (1981). An edge that passes levels gets a
// point in each of them (a dummy node), so that it takes room there like a box and does not run through one.
#include "ui/graph_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ui {
namespace {

constexpr int kSweeps = 8;
constexpr float kDummyWidth = 0.6f;  ///< as a share of the gap between boxes

using Adjacent = std::vector<std::vector<uint32_t>>;

Adjacent adjacent(size_t nodes, std::span<const GraphEdge> edges, uint32_t GraphEdge::*from, uint32_t GraphEdge::*to) {
  Adjacent out(nodes);
  for (const GraphEdge& e : edges) out[e.*from].push_back(e.*to);
  return out;
}

/// Each once, without loops at a node.
std::vector<GraphEdge> usable(size_t nodes, std::span<const GraphEdge> edges) {
  std::vector<GraphEdge> out;
  for (const GraphEdge& e : edges) {
    if (e.from < nodes && e.to < nodes && e.from != e.to) out.push_back(e);
  }
  const auto key = [](const GraphEdge& e) { return uint64_t{e.from} << 32 | e.to; };
  std::ranges::stable_sort(out, {}, key);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

struct Levels {
  std::vector<int> of;
  std::vector<bool> ordered;  ///< false: the node is on a cycle, or behind one
};
/// Kahn's order.
Levels levels_of(size_t nodes, std::span<const GraphEdge> edges) {
  Levels out{std::vector<int>(nodes, 0), std::vector<bool>(nodes, false)};
  std::vector<int> waiting(nodes, 0);
  for (const GraphEdge& e : edges) ++waiting[e.to];
  const Adjacent next = adjacent(nodes, edges, &GraphEdge::from, &GraphEdge::to);
  std::vector<uint32_t> ready;
  for (uint32_t i = 0; i < nodes; ++i) {
    if (waiting[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const uint32_t node = ready.back();
    ready.pop_back();
    out.ordered[node] = true;
    for (const uint32_t to : next[node]) {
      out.of[to] = std::max(out.of[to], out.of[node] + 1);
      if (--waiting[to] == 0) ready.push_back(to);
    }
  }
  return out;
}

/// Nodes that nothing comes before sink to just above their first reader: an operand of the last level need not stand in the first.
void sink_sources(std::vector<int>& levels, std::span<const GraphEdge> edges) {
  std::vector<int> first(levels.size(), -1);
  std::vector<bool> reads(levels.size(), false);
  for (const GraphEdge& e : edges) {
    first[e.from] = first[e.from] < 0 ? levels[e.to] : std::min(first[e.from], levels[e.to]);
    reads[e.to] = true;
  }
  for (size_t i = 0; i < levels.size(); ++i) {
    if (!reads[i] && first[i] > 0) levels[i] = first[i] - 1;
  }
}

/// The graph with a dummy node wherever an edge passes a level: all edges go from a level to the next.
struct Layered {
  std::vector<NodeSize> sizes;
  std::vector<int> level;
  std::vector<GraphEdge> edges;
  std::vector<std::vector<uint32_t>> chains;  ///< of each drawn edge: its nodes
  std::vector<std::vector<uint32_t>> rows;    ///< of each level: its nodes in order
  std::vector<float> x;
};

Layered with_dummies(std::span<const NodeSize> sizes, std::span<const GraphEdge> edges, std::vector<int> level, float dummy_width) {
  Layered g;
  g.sizes.assign(sizes.begin(), sizes.end());
  g.level = std::move(level);
  for (const GraphEdge& e : edges) {
    std::vector<uint32_t> chain = {e.from};
    for (int l = g.level[e.from] + 1; l < g.level[e.to]; ++l) {
      chain.push_back(static_cast<uint32_t>(g.sizes.size()));
      g.sizes.push_back({dummy_width, 0});
      g.level.push_back(l);
    }
    chain.push_back(e.to);
    for (size_t i = 1; i < chain.size(); ++i) g.edges.push_back({chain[i - 1], chain[i]});
    g.chains.push_back(std::move(chain));
  }
  const int deepest = g.level.empty() ? -1 : *std::ranges::max_element(g.level);
  g.rows.resize(static_cast<size_t>(deepest + 1));
  for (uint32_t i = 0; i < g.sizes.size(); ++i) g.rows[static_cast<size_t>(g.level[i])].push_back(i);
  g.x.assign(g.sizes.size(), 0);
  return g;
}

double mean_place(const std::vector<uint32_t>& neighbours, const std::vector<double>& place, double otherwise) {
  if (neighbours.empty()) return otherwise;
  const double sum = std::accumulate(neighbours.begin(), neighbours.end(), 0.0, [&](double s, uint32_t n) { return s + place[n]; });
  return sum / static_cast<double>(neighbours.size());
}

size_t inversions(std::vector<std::pair<double, double>>& ends) {
  size_t count = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    for (size_t j = i + 1; j < ends.size(); ++j) count += (ends[i].first - ends[j].first) * (ends[i].second - ends[j].second) < 0;
  }
  return count;
}

size_t crossings_of(const Layered& g, const std::vector<double>& place) {
  std::vector<std::vector<std::pair<double, double>>> by_level(g.rows.size());
  for (const GraphEdge& e : g.edges) by_level[static_cast<size_t>(g.level[e.from])].push_back({place[e.from], place[e.to]});
  size_t count = 0;
  for (auto& ends : by_level) count += inversions(ends);
  return count;
}

/// Down by the operands, up by the readers, and again; the best of all orders seen stays. Counting is quadratic: above some thousand edges
/// the last order stays.
void order_rows(Layered& g, const Adjacent& before, const Adjacent& after) {
  std::vector<double> place(g.sizes.size(), 0);
  const auto number = [&] {
    for (const auto& row : g.rows) {
      for (size_t i = 0; i < row.size(); ++i) place[row[i]] = static_cast<double>(i) + 0.5 - static_cast<double>(row.size()) / 2;
    }
  };
  const bool counts = g.edges.size() < 3000;
  number();
  std::vector<std::vector<uint32_t>> best = g.rows;
  size_t fewest = counts ? crossings_of(g, place) : 0;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const bool down = sweep % 2 == 0;
    for (size_t i = 0; i < g.rows.size(); ++i) {
      auto& row = g.rows[down ? i : g.rows.size() - 1 - i];
      std::vector<std::pair<double, uint32_t>> keyed;
      for (const uint32_t n : row) keyed.push_back({mean_place(down ? before[n] : after[n], place, place[n]), n});
      std::ranges::stable_sort(keyed, {}, &std::pair<double, uint32_t>::first);
      for (size_t k = 0; k < row.size(); ++k) {
        row[k] = keyed[k].second;
        place[row[k]] = static_cast<double>(k) + 0.5 - static_cast<double>(row.size()) / 2;
      }
    }
    const size_t now = counts ? crossings_of(g, place) : 0;
    if (now < fewest || !counts) fewest = now, best = g.rows;
  }
  g.rows = std::move(best);
}

/// Moves the boxes of a row as near to their wishes as order and gaps allow: those that would overlap form a block around the mean of
/// their wishes (the pool-adjacent-violators rule of isotonic regression).
void settle(Layered& g, const std::vector<uint32_t>& row, const std::vector<double>& wish, float gap) {
  struct Block {
    double offset = 0, count = 0;  ///< sum of (wish − place within the block); boxes
    double width = 0;
    size_t first = 0;
    double left() const { return offset / count; }
  };
  std::vector<Block> blocks;
  for (size_t i = 0; i < row.size(); ++i) {
    const double width = g.sizes[row[i]].width + gap;
    Block now{wish[i] - width / 2, 1, width, i};
    while (!blocks.empty() && blocks.back().left() + blocks.back().width > now.left()) {
      Block& last = blocks.back();
      now = {last.offset + now.offset - now.count * last.width, last.count + now.count, last.width + now.width, last.first};
      blocks.pop_back();
    }
    blocks.push_back(now);
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    double at = blocks[b].left();
    const size_t end = b + 1 < blocks.size() ? blocks[b + 1].first : row.size();
    for (size_t i = blocks[b].first; i < end; ++i) {
      const double width = g.sizes[row[i]].width + gap;
      g.x[row[i]] = static_cast<float>(at + width / 2);
      at += width;
    }
  }
}

void place_rows(Layered& g, const Adjacent& before, const Adjacent& after, float gap) {
  for (const auto& row : g.rows) settle(g, row, std::vector<double>(row.size(), 0), gap);
  const auto mean = [&](const std::vector<uint32_t>& of, double& sum) {
    for (const uint32_t n : of) sum += g.x[n];
    return static_cast<double>(of.size());
  };
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (size_t r = 0; r < g.rows.size(); ++r) {
      const auto& row = g.rows[sweep % 2 == 0 ? r : g.rows.size() - 1 - r];
      std::vector<double> wish;
      for (const uint32_t n : row) {
        double sum = 0;
        const double count = mean(before[n], sum) + mean(after[n], sum);
        wish.push_back(count > 0 ? sum / count : g.x[n]);
      }
      settle(g, row, wish, gap);
    }
  }
}

Layout finished(const Layered& g, size_t nodes, const LayoutGaps& gaps) {
  Layout out;
  float left = 0, right = 0;
  for (size_t i = 0; i < g.sizes.size(); ++i) {
    left = i == 0 ? g.x[i] - g.sizes[i].width / 2 : std::min(left, g.x[i] - g.sizes[i].width / 2);
    right = i == 0 ? g.x[i] + g.sizes[i].width / 2 : std::max(right, g.x[i] + g.sizes[i].width / 2);
  }
  out.width = right - left;
  std::vector<float> middle, half;
  for (const auto& row : g.rows) {
    float height = 0;
    for (const uint32_t n : row) height = std::max(height, g.sizes[n].height);
    middle.push_back(out.height + height / 2), half.push_back(height / 2);
    out.height += height + gaps.levels;
  }
  out.height = std::max(0.f, out.height - gaps.levels);
  for (size_t i = 0; i < nodes; ++i) out.nodes.push_back({g.x[i] - left, middle[static_cast<size_t>(g.level[i])], g.level[i]});
  for (const auto& chain : g.chains) {
    Route route{{chain.front(), chain.back()}, {}};
    for (size_t k = 0; k < chain.size(); ++k) {
      const float x = g.x[chain[k]] - left, y = middle[static_cast<size_t>(g.level[chain[k]])];
      const float reach = k == 0 || k + 1 == chain.size() ? g.sizes[chain[k]].height / 2 : half[static_cast<size_t>(g.level[chain[k]])];
      if (k > 0) route.points.push_back({x, y - reach});
      if (k + 1 < chain.size()) route.points.push_back({x, y + reach});
    }
    out.routes.push_back(std::move(route));
  }
  return out;
}

}  // namespace

Neighbourhood neighbourhood(std::span<const double> weights, std::span<const GraphEdge> edges, uint32_t centre, int hops, size_t most) {
  Neighbourhood out;
  if (centre >= weights.size() || most == 0) return out;
  const std::vector<GraphEdge> kept = usable(weights.size(), edges);
  const Adjacent next = adjacent(weights.size(), kept, &GraphEdge::from, &GraphEdge::to);
  const Adjacent before = adjacent(weights.size(), kept, &GraphEdge::to, &GraphEdge::from);
  std::vector<bool> seen(weights.size(), false);
  std::vector<uint32_t> ring = {centre};
  seen[centre] = true;
  for (int hop = 0; hop <= hops && !ring.empty(); ++hop) {
    std::ranges::stable_sort(ring, [&](uint32_t a, uint32_t b) {
      const double x = std::isfinite(weights[a]) ? weights[a] : 0, y = std::isfinite(weights[b]) ? weights[b] : 0;
      return x > y;
    });
    const size_t fit = std::min(ring.size(), most - out.nodes.size());
    out.left_out += ring.size() - fit;
    ring.resize(fit);
    out.nodes.insert(out.nodes.end(), ring.begin(), ring.end());
    out.hops.insert(out.hops.end(), fit, hop);
    std::vector<uint32_t> further;
    for (const uint32_t node : ring) {
      for (const Adjacent* side : {&before, &next}) {
        for (const uint32_t other : (*side)[node]) {
          if (!seen[other]) further.push_back(other);
          seen[other] = true;
        }
      }
    }
    ring = std::move(further);
  }
  return out;
}

Layout layout(std::span<const NodeSize> sizes, std::span<const GraphEdge> edges, const LayoutGaps& gaps) {
  std::vector<GraphEdge> kept = usable(sizes.size(), edges);
  Levels levels = levels_of(sizes.size(), kept);
  std::erase_if(kept, [&](const GraphEdge& e) { return !levels.ordered[e.to] && levels.of[e.from] >= levels.of[e.to]; });
  sink_sources(levels.of, kept);
  std::erase_if(kept, [&](const GraphEdge& e) { return levels.of[e.from] >= levels.of[e.to]; });
  Layered g = with_dummies(sizes, kept, std::move(levels.of), gaps.between * kDummyWidth);
  const Adjacent before = adjacent(g.sizes.size(), g.edges, &GraphEdge::to, &GraphEdge::from);
  const Adjacent after = adjacent(g.sizes.size(), g.edges, &GraphEdge::from, &GraphEdge::to);
  order_rows(g, before, after);
  place_rows(g, before, after, gaps.between);
  return finished(g, sizes.size(), gaps);
}

size_t crossings(const Layout& layout) {
  struct Line {
    float x0, y0, x1, y1;
  };
  std::vector<Line> lines;
  for (const Route& r : layout.routes) {
    for (size_t i = 1; i < r.points.size(); ++i) lines.push_back({r.points[i - 1].x, r.points[i - 1].y, r.points[i].x, r.points[i].y});
  }
  size_t count = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    for (size_t j = i + 1; j < lines.size(); ++j) {
      const Line &a = lines[i], &b = lines[j];
      if (a.y0 < b.y1 && b.y0 < a.y1 && (a.x0 - b.x0) * (a.x1 - b.x1) < 0) ++count;
    }
  }
  return count;
}

}  // namespace ui
