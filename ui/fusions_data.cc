// The numbers come from the view fusion_cost; what is summed here is summed there by nobody. Of an interval of a sum the ends are the sums
// of the ends: as wide as noise that hits all fusions alike.
#include "ui/fusions_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/report/query.h"
#include "ui/run_data.h"
#include "ui/words.h"

namespace ui {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct RealField {
  std::string_view column;
  double FusionInfo::*field;
};
constexpr RealField kReals[] = {
    {"parts", &FusionInfo::parts},
    {"launches", &FusionInfo::launches},
    {"unfused_launches", &FusionInfo::unfused_launches},
    {"calls", &FusionInfo::calls},
    {"pairs", &FusionInfo::pairs},
    {"median_ns", &FusionInfo::median_ns},
    {"fused_ns", &FusionInfo::fused_ns},
    {"unfused_ns", &FusionInfo::unfused_ns},
    {"pass_ns", &FusionInfo::pass_ns},
    {"bytes", &FusionInfo::bytes},
    {"parts_bytes", &FusionInfo::parts_bytes},
    {"saved_bytes", &FusionInfo::saved_bytes},
    {"extra_flops", &FusionInfo::extra_flops},
    {"scratch_bytes", &FusionInfo::scratch_bytes},
    {"modelled_saved_ns", &FusionInfo::modelled_ns},
    {"predicted_saved_ns", &FusionInfo::predicted_ns},
    {"measured_saved_ns", &FusionInfo::measured_ns},
    {"measured_saved_low_ns", &FusionInfo::low_ns},
    {"measured_saved_high_ns", &FusionInfo::high_ns},
    {"measured_saved_percent", &FusionInfo::measured_percent},
    {"p_value", &FusionInfo::p_value},
};
struct TextField {
  std::string_view column;
  std::string FusionInfo::*field;
};
constexpr TextField kTexts[] = {
    {"name", &FusionInfo::name}, {"kind", &FusionInfo::kind},   {"verdict", &FusionInfo::verdict},
    {"why", &FusionInfo::why},   {"flags", &FusionInfo::flags},
};

using F = FusionInfo;
// clang-format off
constexpr FusionColumn kFusionColumns[] = {
    {"fusion", "fusion", [](const F& f) -> std::string_view { return f.name; }, nullptr, 11, false},
    {"verdict", "verdict", [](const F& f) -> std::string_view { return f.measured() ? std::string_view(f.verdict) : "not measured"; }, nullptr, 6.4f, false},
    {"cost ◂ ▸ saved (√)", "bar", nullptr, [](const F& f) { return f.saved_ns; }, 11, false},
    {"saved a pass", "saved_ns", nullptr, [](const F& f) { return f.saved_ns; }, 7, false},
    {"of parts", "saved_percent", nullptr, [](const F& f) { return f.measured_percent; }, 5, false},
    {"fused", "fused_ns", nullptr, [](const F& f) { return f.measured() ? f.fused_ns : f.median_ns; }, 5, false},
    {"parts", "unfused_ns", nullptr, [](const F& f) { return f.unfused_ns; }, 5, false},
    {"a pass", "pass_ns", nullptr, [](const F& f) { return f.pass_ns; }, 5, false},
    {"predicted", "predicted_ns", nullptr, [](const F& f) { return f.predicted_ns; }, 5.4f, false},
    {"traffic saved", "saved_bytes", nullptr, [](const F& f) { return f.saved_bytes; }, 6, false},
    {"ops", "ops", nullptr, [](const F& f) { return f.parts; }, 3.4f, false},
    {"made by", "made_by", [](const F& f) -> std::string_view { return f.tried ? "profile fuse" : "program"; }, nullptr, 6, true},
    {"kind", "kind", [](const F& f) -> std::string_view { return f.kind; }, nullptr, 5, false},
    {"why not measured", "why", [](const F& f) -> std::string_view { return f.why; }, nullptr, 12, false},
    {"flags", "flags", [](const F& f) -> std::string_view { return f.flags; }, nullptr, 8, false},
    {"calls", "calls", nullptr, [](const F& f) { return f.calls; }, 4, true},
    {"traffic", "bytes", nullptr, [](const F& f) { return f.bytes; }, 5, true},
    {"work done again", "extra_flops", nullptr, [](const F& f) { return f.extra_flops; }, 7, true},
    {"memory for parts", "scratch_bytes", nullptr, [](const F& f) { return f.scratch_bytes; }, 7, true},
    {"launches", "launches", nullptr, [](const F& f) { return f.launches; }, 5, true},
    {"launches of parts", "unfused_launches", nullptr, [](const F& f) { return f.unfused_launches; }, 7, true},
    {"comparisons", "pairs", nullptr, [](const F& f) { return f.pairs; }, 6, true},
    {"p", "p_value", nullptr, [](const F& f) { return f.p_value; }, 5, true},
    {"from", "low_ns", nullptr, [](const F& f) { return f.low_ns; }, 5, true},
    {"to (95 %)", "high_ns", nullptr, [](const F& f) { return f.high_ns; }, 5, true},
};
// clang-format on

bool passes(const FusionInfo& fusion, FusionFilter filter) {
  switch (filter) {
    case FusionFilter::all:
      return true;
    case FusionFilter::costs:
      return fusion.verdict == "costs";
    case FusionFilter::pays:
      return fusion.verdict == "pays";
    case FusionFilter::neutral:
      return fusion.verdict == "neutral";
    case FusionFilter::not_measured:
      return !fusion.measured();
    case FusionFilter::tried:
      return fusion.tried;
  }
  return true;
}

void sort_by(std::vector<uint32_t>& order, const std::vector<FusionInfo>& all, const FusionColumn& by, bool descending) {
  if (by.text != nullptr) {
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
      const std::string_view x = by.text(all[a]), y = by.text(all[b]);
      if (x.empty() || y.empty()) return !x.empty() && y.empty();
      return descending ? y < x : x < y;
    });
    return;
  }
  std::ranges::stable_sort(order, {}, [&](uint32_t i) {
    const double value = by.number(all[i]);
    return std::isfinite(value) ? (descending ? -value : value) : std::numeric_limits<double>::infinity();
  });
}

double or_zero(double value) { return std::isfinite(value) ? value : 0; }

base::Status read_graph(const model::Reader& reader, int64_t run, FusionInside& inside) {
  const std::array<model::Cell, 3> which = {report::cell(run), report::cell(int64_t{inside.step}), report::cell(kMostNodes)};
  ASSIGN_OR_RETURN(model::Rows rows, report::ask(reader, "fusion_graph", which));
  if (rows.rows.empty()) return {};
  const int64_t first = rows.rows.front()[0].integer, last = rows.rows.back()[0].integer;
  for (std::vector<model::Cell>& row : rows.rows) {
    inside.nodes.push_back({std::move(row[1].text), std::move(row[2].text), std::move(row[3].text), number(row[4]), number(row[5]),
                            number(row[6]), row[7].integer != 0});
    inside.instructions = row[8].integer;
  }
  const std::array<model::Cell, 2> range = {report::cell(first), report::cell(last)};
  ASSIGN_OR_RETURN(const model::Rows edges, report::ask(reader, "instruction_edges", range));
  for (const std::vector<model::Cell>& row : edges.rows) {
    if (row[0].integer < first || row[0].integer > last) continue;
    inside.edges.push_back({static_cast<uint32_t>(row[0].integer - first), static_cast<uint32_t>(row[1].integer - first)});
  }
  return {};
}

/// What was predicted for the measured ones beside what came out.
void make_dots(Fusions& out) {
  for (uint32_t i = 0; i < out.all.size(); ++i) {
    const FusionInfo& f = out.all[i];
    if (!f.measured() || !std::isfinite(f.predicted_ns) || !std::isfinite(f.measured_ns)) continue;
    out.lo_ns = std::min({out.lo_ns, f.predicted_ns, f.measured_ns}), out.hi_ns = std::max({out.hi_ns, f.predicted_ns, f.measured_ns});
    const uint8_t rank = f.verdict == "costs" ? 2 : f.verdict == "pays" ? 1 : 0;
    out.dots.push_back({static_cast<float>(f.predicted_ns), static_cast<float>(f.measured_ns), rank, i});
  }
}

}  // namespace

const FusionInfo* Fusions::find(int32_t step) const {
  const auto found = std::ranges::lower_bound(all, step, {}, &FusionInfo::step);
  return found == all.end() || found->step != step ? nullptr : &*found;
}

Fusions summed(std::vector<FusionInfo> fusions) {
  Fusions out;
  for (const FusionInfo& fusion : fusions) {
    out.tried += fusion.tried;
    out.pass_ns += or_zero(fusion.pass_ns), out.modelled_ns += or_zero(fusion.modelled_ns);
    if (!fusion.measured()) continue;
    ++out.measured;
    out.pays += fusion.verdict == "pays", out.neutral += fusion.verdict == "neutral", out.costs += fusion.verdict == "costs";
    out.measured_ns += or_zero(fusion.measured_ns);
    out.low_ns += or_zero(std::isfinite(fusion.low_ns) ? fusion.low_ns : fusion.measured_ns);
    out.high_ns += or_zero(std::isfinite(fusion.high_ns) ? fusion.high_ns : fusion.measured_ns);
    if (fusion.verdict == "costs") out.cost_ns -= or_zero(fusion.measured_ns);
  }
  for (FusionInfo& fusion : fusions)
    fusion.saved_ns = out.measured == 0 ? fusion.modelled_ns : fusion.measured() ? fusion.measured_ns : kNone;
  out.all = std::move(fusions);
  make_dots(out);
  return out;
}

base::Result<Fusions> read_fusions(const model::Reader& reader, int64_t run) {
  const model::Cell id = report::cell(run);
  ASSIGN_OR_RETURN(model::Rows rows, report::ask(reader, "fusion_costs", std::span(&id, 1)));
  const auto at = [&](std::string_view column) {
    return static_cast<size_t>(std::ranges::find(rows.columns, column) - rows.columns.begin());
  };
  const size_t tried = at("tried");
  std::vector<FusionInfo> all;
  for (std::vector<model::Cell>& row : rows.rows) {
    FusionInfo& fusion = all.emplace_back();
    fusion.step = static_cast<int32_t>(row[0].integer);
    fusion.tried = row[tried].integer != 0;
    for (const RealField& field : kReals) fusion.*field.field = number(row[at(field.column)]);
    for (const TextField& field : kTexts) fusion.*field.field = std::move(row[at(field.column)].text);
  }
  return summed(std::move(all));
}

std::span<const FusionColumn> fusion_columns() { return kFusionColumns; }

int fusion_column(std::string_view name) {
  return static_cast<int>(std::ranges::find(kFusionColumns, name, &FusionColumn::name) - std::begin(kFusionColumns));
}

std::vector<uint32_t> arrange_fusions(const Fusions& fusions, const FusionView& view) {
  const std::vector<std::string> words = words_of(view.words);
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < fusions.all.size(); ++i) {
    const FusionInfo& f = fusions.all[i];
    if (passes(f, view.verdict) && has_all(words, {f.name, f.kind, f.verdict, f.why, f.flags})) order.push_back(i);
  }
  if (view.column >= 0 && view.column < static_cast<int>(std::size(kFusionColumns)))
    sort_by(order, fusions.all, kFusionColumns[view.column], view.descending);
  return order;
}

model::Rows rows_of(const Fusions& fusions, std::span<const uint32_t> order) {
  model::Rows rows;
  for (const FusionColumn& column : kFusionColumns) {
    if (column.name != "bar") rows.columns.emplace_back(column.name);
  }
  for (const uint32_t i : order) {
    std::vector<model::Cell>& row = rows.rows.emplace_back();
    for (const FusionColumn& column : kFusionColumns) {
      if (column.name == "bar") continue;
      row.push_back(column.text != nullptr ? report::cell(column.text(fusions.all[i])) : real_cell(column.number(fusions.all[i])));
    }
  }
  return rows;
}

bool FusionInside::parts_timed() const {
  return !parts.empty() && std::ranges::all_of(parts, [](const FusionPart& part) { return std::isfinite(part.median_ns); });
}

bool does_work(std::string_view opcode) {
  static constexpr std::string_view kIdle[] = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast"};
  return std::ranges::find(kIdle, opcode) == std::end(kIdle);
}

base::Result<FusionInside> read_inside(const model::Reader& reader, int64_t run, int32_t step) {
  FusionInside inside;
  inside.step = step;
  const std::array<model::Cell, 2> which = {report::cell(run), report::cell(int64_t{step})};
  ASSIGN_OR_RETURN(model::Rows parts, report::ask(reader, "fusion_parts", which));
  for (std::vector<model::Cell>& row : parts.rows)
    inside.parts.push_back({std::move(row[1].text), std::move(row[2].text), number(row[5]), number(row[4]), number(row[6])});
  RETURN_IF_ERROR(read_graph(reader, run, inside));
  ASSIGN_OR_RETURN(model::Rows code, report::ask(reader, "step_code", which));
  for (std::vector<model::Cell>& row : code.rows)
    inside.code.push_back({std::move(row[0].text), std::move(row[1].text), std::move(row[2].text), row[3].integer, row[4].integer});
  return inside;
}

ShownText shown_text(std::string text, size_t most) {
  ShownText shown;
  if (text.size() > most) {
    const size_t line_end = text.rfind('\n', most);
    const size_t keep = line_end == std::string::npos || line_end < most / 2 ? most : line_end + 1;
    shown.cut_bytes = text.size() - keep;
    text.resize(keep);
  }
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') c = '.';
  }
  shown.text = std::move(text);
  return shown;
}

}  // namespace ui
