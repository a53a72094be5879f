// Live bytes by the same rule as the view `memory`: buffers count from their first step to their last one, parameters and constants always.
#include "ui/memory_data.h"
#include "ui/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "src/report/query.h"
#include "src/report/units.h"

namespace ui {
namespace {

constexpr uint8_t kConstant = 0, kParameter = 1, kOther = 5;

uint8_t kind_of(std::string_view word) {
  const auto* found = std::ranges::find(kMemoryKinds, word);
  return found == kMemoryKinds.end() ? kOther : static_cast<uint8_t>(found - kMemoryKinds.begin());
}

bool always_lives(uint8_t kind) { return kind == kConstant || kind == kParameter; }

void set_life(Buffer& buffer, const RunData& run) {
  const auto n = static_cast<uint32_t>(run.steps.size());
  if (always_lives(buffer.kind)) {
    buffer.first = 0, buffer.last = n - 1;
    return;
  }
  buffer.first = run.place_from(std::max<int64_t>(buffer.first_step, 0));
  const int64_t last = std::max<int64_t>(buffer.last_step, 0);
  const uint32_t end = last >= run.steps.back().step ? n : run.place_from(last + 1);
  if (end == 0) buffer.first = n;  // it ends before the first step
  buffer.last = end == 0 ? 0 : end - 1;
}

void sum_up(MemoryPicture& out) {
  const size_t n = out.run->steps.size();
  std::vector<KindBytes> change(n + 1, KindBytes{});
  for (const Buffer& b : out.buffers) {
    if (b.first >= n || b.last < b.first) continue;
    change[b.first][b.kind] += static_cast<double>(b.bytes);
    change[size_t{b.last} + 1][b.kind] -= static_cast<double>(b.bytes);
  }
  KindBytes now{};
  for (size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (size_t k = 0; k < now.size(); ++k) sum += now[k] += change[i][k];
    out.by_kind.push_back(now);
    out.live.push_back(sum);
  }
}

/// What needs no memory between parts: it renames, or is made where it is used.
bool needs_none(std::string_view opcode) {
  static constexpr std::string_view kNone[] = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "broadcast", "iota"};
  return std::ranges::find(kNone, opcode) != std::end(kNone);
}

std::vector<int64_t> positions(std::string_view json) {
  std::vector<int64_t> out;
  const char* at = json.data();
  const char* const end = at + json.size();
  while (at < end) {
    int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error == std::errc()) out.push_back(value);
    at = error == std::errc() ? next : at + 1;
  }
  return out;
}

/// By place, of the program's text.
base::Result<std::vector<double>> modelled(const model::Reader& reader, const RunData& run) {
  const model::Cell id = report::cell(run.run);
  ASSIGN_OR_RETURN(const model::Rows rows, report::ask(reader, "fusion_values", std::span(&id, 1)));
  std::vector<double> out(run.steps.size(), 0);
  std::vector<InnerValue> values;
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    const std::vector<model::Cell>& row = rows.rows[i];
    values.push_back({row[2].text, number(row[3]), positions(row[4].text), integer_in(row[5]) != 0});
    if (i + 1 < rows.rows.size() && integer_in(rows.rows[i + 1][0]) == integer_in(row[0])) continue;
    if (const uint32_t place = run.place_from(integer_in(row[0])); place < out.size()) out[place] = peak_between_parts(values);
    values.clear();
  }
  return out;
}

/// By place, as the run planned it; empty: its parts did not run, or the file is older than that.
std::vector<double> planned(const model::Reader& reader, const RunData& run) {
  const model::Cell id = report::cell(run.run);
  const auto rows = report::ask(reader, "fusion_scratch", std::span(&id, 1));
  if (!rows.ok() || rows->rows.empty()) return {};
  std::vector<double> out(run.steps.size(), 0);
  for (const std::vector<model::Cell>& row : rows->rows) {
    if (const uint32_t place = run.place_from(integer_in(row[0])); place < out.size()) out[place] = number(row[1]);
  }
  return out;
}

}  // namespace

double peak_between_parts(std::span<const InnerValue> values) {
  std::vector<size_t> last(values.size());
  for (size_t i = values.size(); i-- > 0;) {
    last[i] = i;
    for (const int64_t user : values[i].users) {
      if (user <= static_cast<int64_t>(i) || user >= static_cast<int64_t>(values.size())) continue;
      const auto u = static_cast<size_t>(user);
      last[i] = std::max(last[i], needs_none(values[u].opcode) ? last[u] : u);  // what renames hands its reader on
    }
  }
  std::vector<double> change(values.size() + 1, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].root || needs_none(values[i].opcode) || !std::isfinite(values[i].bytes)) continue;
    change[i] += values[i].bytes;
    change[last[i] + 1] -= values[i].bytes;
  }
  double now = 0, most = 0;
  for (const double by : change) most = std::max(most, now += by);
  return most;
}

MemoryPicture arrange_memory(std::shared_ptr<const RunData> run, std::vector<Buffer> buffers, std::vector<double> between_parts) {
  MemoryPicture out;
  out.run = std::move(run);
  out.buffers = std::move(buffers);
  if (out.run->steps.empty()) return out;
  for (Buffer& b : out.buffers) {
    b.bytes = std::max<int64_t>(b.bytes, 0);
    set_life(b, *out.run);
    if (b.offset >= 0 && b.offset < std::numeric_limits<int64_t>::max() - b.bytes)
      out.arena_bytes = std::max(out.arena_bytes, b.offset + b.bytes);
  }
  sum_up(out);
  out.unfused = out.live;
  for (size_t i = 0; i < std::min(between_parts.size(), out.unfused.size()); ++i) {
    out.unfused[i] += between_parts[i];
    if (between_parts[i] > 0) out.has_fusions = true;
  }
  const auto most = [](const std::vector<double>& values) {
    return static_cast<uint32_t>(std::ranges::max_element(values) - values.begin());
  };
  out.peak = most(out.live);
  out.unfused_peak = most(out.unfused);
  return out;
}

base::Result<MemoryPicture> read_memory(const model::Reader& reader, std::shared_ptr<const RunData> run) {
  const model::Cell id = report::cell(run->run);
  ASSIGN_OR_RETURN(model::Rows rows, report::ask(reader, "buffers", std::span(&id, 1)));
  std::vector<Buffer> buffers;
  buffers.reserve(rows.rows.size());
  for (std::vector<model::Cell>& row : rows.rows) {
    Buffer b;
    b.name = std::move(row[1].text);
    b.kind = kind_of(row[2].text);
    b.bytes = integer_in(row[3]);
    b.offset = row[4].kind == model::Cell::Kind::integer ? row[4].integer : -1;
    b.first_step = integer_in(row[5]), b.last_step = integer_in(row[6]);
    buffers.push_back(std::move(b));
  }
  std::vector<double> between = buffers.empty() ? std::vector<double>() : planned(reader, *run);
  const bool is_planned = !between.empty();
  if (!is_planned && !buffers.empty()) {
    ASSIGN_OR_RETURN(between, modelled(reader, *run));
  }
  MemoryPicture out = arrange_memory(std::move(run), std::move(buffers), std::move(between));
  out.unfused_is_planned = is_planned;
  return out;
}

std::vector<uint32_t> MemoryPicture::alive(uint32_t place) const {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].first <= place && place <= buffers[i].last) out.push_back(i);
  }
  std::ranges::stable_sort(out, std::greater<>(), [&](uint32_t i) { return buffers[i].bytes; });
  return out;
}

model::Rows memory_rows(const MemoryPicture& memory, uint32_t place) {
  model::Rows rows;
  rows.columns = {"at_step", "buffer", "kind", "bytes", "share_percent", "first_step", "last_step"};
  if (place >= memory.live.size()) return rows;
  const StepInfo& step = memory.run->steps[place];
  const std::vector<uint32_t> alive = memory.alive(place);
  const double live = memory.live[place];
  rows.rows.push_back({report::cell(std::string_view(step.name)), report::cell(fmt::format("(all {} live buffers)", alive.size())),
                       report::cell(place == memory.peak ? "peak" : "sum"),
                       live < 9e18 ? report::cell(static_cast<int64_t>(live)) : report::cell(live), report::cell(100.0),
                       report::cell(int64_t{step.step}), report::cell(int64_t{step.step})});
  for (const uint32_t i : alive) {
    const Buffer& b = memory.buffers[i];
    rows.rows.push_back({report::cell(std::string_view(step.name)), report::cell(std::string_view(b.name)),
                         report::cell(kMemoryKinds[b.kind]), report::cell(b.bytes),
                         live > 0 ? report::cell(100.0 * static_cast<double>(b.bytes) / live) : model::Cell{}, report::cell(b.first_step),
                         report::cell(b.last_step)});
  }
  return rows;
}

std::string fusion_sentence(const MemoryPicture& memory) {
  if (!memory.has_fusions) return {};
  const double fused = memory.live[memory.peak], parts = memory.unfused[memory.unfused_peak];
  const auto size = [](double bytes) { return report::human(report::cell(bytes), "bytes"); };
  const std::string_view how = memory.unfused_is_planned ? "as planned for their parts" : "modelled";
  if (parts <= fused) return fmt::format("With fusions run as their parts the peak stays {} ({})", size(fused), how);
  return fmt::format("With fusions run as their parts the peak would be {}, {} more (+{:.1f} %), at step {} ({})", size(parts),
                     size(parts - fused), fused > 0 ? 100 * (parts - fused) / fused : 0.0, memory.run->steps[memory.unfused_peak].step,
                     how);
}

}  // namespace ui
