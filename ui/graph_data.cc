// The neighbourhood is walked by SQLite (a recursive query, breadth first, cut at some thousand rows); which of them get a box is decided
// here: by hops, and among those of the same distance by time.
#include "ui/graph_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "src/report/query.h"

namespace ui {
namespace {

constexpr int64_t kMostWalked = 4000;

std::vector<int64_t> numbers(std::string_view json) {
  std::vector<int64_t> out;
  const char* const end = json.data() + json.size();
  for (const char* at = json.data(); at < end;) {
    int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error == std::errc()) out.push_back(value);
    at = error == std::errc() ? next : at + 1;
  }
  return out;
}

std::unordered_map<int64_t, uint32_t> places_of(const RunData& run) {
  std::unordered_map<int64_t, uint32_t> out;
  out.reserve(run.steps.size());
  for (uint32_t i = 0; i < run.steps.size(); ++i) {
    if (run.steps[i].instruction != 0) out.emplace(run.steps[i].instruction, i);
  }
  return out;
}

/// All that was read, before boxes are chosen.
struct Walked {
  std::vector<ProgramNode> nodes;
  std::vector<GraphEdge> edges;
  std::string computation;
};

Walked walked(model::Rows rows, const RunData& run) {
  Walked out;
  const auto places = places_of(run);
  std::unordered_map<int64_t, uint32_t> index;
  for (const std::vector<model::Cell>& row : rows.rows) index.emplace(integer_in(row[0]), static_cast<uint32_t>(index.size()));
  for (std::vector<model::Cell>& row : rows.rows) {
    ProgramNode node;
    node.instruction = integer_in(row[0]);
    node.name = std::move(row[1].text), node.opcode = std::move(row[2].text), node.kind = std::move(row[3].text);
    node.shape = std::move(row[4].text), node.op_name = std::move(row[6].text);
    node.bytes = number(row[5]);
    node.root = integer_in(row[10]) != 0;
    if (const auto found = places.find(node.instruction); found != places.end()) node.place = found->second;
    for (const int64_t position : numbers(row[9].text)) {
      const auto operand = index.find(integer_in(row[8]) + position);
      if (operand != index.end()) out.edges.push_back({operand->second, index[node.instruction]});
    }
    out.computation = row[7].text;
    out.nodes.push_back(std::move(node));
  }
  return out;
}

double time_of(const RunData& run, const ProgramNode& node) {
  const double ns = node.place == ProgramNode::kNoStep ? node.alone_ns : run.steps[node.place].pass_ns;
  return std::isfinite(ns) ? ns : 0;
}

ProgramGraph chosen(Walked from, std::shared_ptr<const RunData> run, uint32_t centre, int hops) {
  ProgramGraph out;
  out.run = std::move(run);
  out.computation = std::move(from.computation);
  std::vector<double> weights;
  for (const ProgramNode& node : from.nodes) weights.push_back(time_of(*out.run, node) + (is_plumbing(node.opcode) ? -1 : 0));
  const Neighbourhood near = neighbourhood(weights, from.edges, centre, hops, kMostBoxes);
  out.left_out = from.nodes.size() - near.nodes.size();
  std::vector<uint32_t> now(from.nodes.size(), ProgramNode::kNoStep);
  for (const uint32_t node : near.nodes) {
    now[node] = static_cast<uint32_t>(out.nodes.size());
    out.largest_ns = std::max(out.largest_ns, time_of(*out.run, from.nodes[node]));
    out.nodes.push_back(std::move(from.nodes[node]));
  }
  for (const GraphEdge& e : from.edges) {
    if (now[e.from] != ProgramNode::kNoStep && now[e.to] != ProgramNode::kNoStep) out.edges.push_back({now[e.from], now[e.to]});
  }
  return out;
}

std::string ids_of(const std::vector<ProgramNode>& nodes) {
  std::vector<int64_t> ids;
  for (const ProgramNode& node : nodes) ids.push_back(node.instruction);
  return fmt::format("[{}]", fmt::join(ids, ","));
}
std::string ids_of(const model::Rows& rows) {
  std::vector<int64_t> ids;
  for (const std::vector<model::Cell>& row : rows.rows) ids.push_back(integer_in(row[0]));
  return fmt::format("[{}]", fmt::join(ids, ","));
}

base::Status add_calls(const model::Reader& reader, ProgramGraph& graph) {
  std::unordered_map<int64_t, size_t> index;
  for (size_t i = 0; i < graph.nodes.size(); ++i) index[graph.nodes[i].instruction] = i;
  const model::Cell ids = report::cell(std::string_view(ids_of(graph.nodes)));
  ASSIGN_OR_RETURN(const model::Rows rows, report::ask(reader, "graph_calls", std::span(&ids, 1)));
  for (const std::vector<model::Cell>& row : rows.rows)
    graph.nodes[index[integer_in(row[0])]].calls.push_back({integer_in(row[1]), row[2].text, integer_in(row[3])});
  return {};
}

base::Status add_times(const model::Reader& reader, int64_t run, int64_t computation, std::vector<ProgramNode>& nodes) {
  const std::vector<model::Cell> parameters{report::cell(run), report::cell(computation)};
  ASSIGN_OR_RETURN(const model::Rows rows, report::ask(reader, "graph_parts", parameters));
  std::unordered_map<std::string_view, double> times;
  for (const std::vector<model::Cell>& row : rows.rows) times.emplace(row[0].text, number(row[1]));
  for (ProgramNode& node : nodes) {
    if (const auto found = times.find(node.name); found != times.end()) node.alone_ns = found->second;
  }
  return {};
}

}  // namespace

bool is_plumbing(const std::string& opcode) {
  static constexpr std::string_view kPlumbing[] = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "iota", "after-all"};
  return std::ranges::find(kPlumbing, opcode) != std::end(kPlumbing);
}

base::Result<ProgramGraph> read_graph(const model::Reader& reader, std::shared_ptr<const RunData> run, const GraphAsk& ask) {
  const bool body = ask.what == GraphAsk::What::body;
  const std::vector<model::Cell> parameters =
      body ? std::vector{report::cell(ask.id), report::cell(kMostWalked)}
           : std::vector{report::cell(ask.id), report::cell(int64_t{ask.hops}), report::cell(kMostWalked)};
  ASSIGN_OR_RETURN(const model::Rows walk, report::ask(reader, body ? "graph_body" : "graph_near", parameters));
  if (walk.rows.empty())
    return base::Error{fmt::format("{} {}: the database does not have it", body ? "computation" : "instruction", ask.id)};
  const bool cut =
      static_cast<int64_t>(walk.rows.size()) >= kMostWalked / 4;  // the walk counts an instruction once for each of up to four distances
  const model::Cell ids = report::cell(std::string_view(ids_of(walk)));
  ASSIGN_OR_RETURN(model::Rows rows, report::ask(reader, "graph_nodes", std::span(&ids, 1)));
  Walked all = walked(std::move(rows), *run);
  if (body) RETURN_IF_ERROR(add_times(reader, run->run, ask.id, all.nodes));
  const auto root = std::ranges::find(all.nodes, true, &ProgramNode::root);
  const uint32_t centre = body && root != all.nodes.end() ? static_cast<uint32_t>(root - all.nodes.begin()) : 0;
  ProgramGraph out = chosen(std::move(all), std::move(run), centre, body ? 1 << 20 : ask.hops);
  out.left_out_more = cut;
  RETURN_IF_ERROR(add_calls(reader, out));
  return out;
}

std::string graph_sql(const ProgramGraph& graph) {
  std::string sql(report::sql_of("graph_nodes"));
  constexpr std::string_view kIds = "json_each(?1)";
  if (const size_t at = sql.find(kIds); at != std::string::npos) sql.replace(at, kIds.size(), "json_each('" + ids_of(graph.nodes) + "')");
  return sql;
}

model::Rows graph_rows(const ProgramGraph& graph) {
  model::Rows rows;
  rows.columns = {"instruction", "opcode", "kind", "shape", "operands", "op", "median_ns", "pass_ns"};
  std::vector<std::string> operands(graph.nodes.size());
  for (const GraphEdge& e : graph.edges) operands[e.to] += (operands[e.to].empty() ? "" : " ") + graph.nodes[e.from].name;
  const auto time = [](double ns) { return std::isfinite(ns) ? model::Cell{model::Cell::Kind::real, 0, ns, {}} : model::Cell{}; };
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const ProgramNode& node = graph.nodes[i];
    const StepInfo* step = node.place == ProgramNode::kNoStep ? nullptr : &graph.run->steps[node.place];
    std::vector<model::Cell> row;
    for (const std::string* text :
         std::initializer_list<const std::string*>{&node.name, &node.opcode, &node.kind, &node.shape, &operands[i], &node.op_name})
      row.push_back(report::cell(std::string_view(*text)));
    row.push_back(time(step == nullptr ? node.alone_ns : step->median_ns));
    row.push_back(step == nullptr ? model::Cell{} : time(step->pass_ns));
    rows.rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace ui
