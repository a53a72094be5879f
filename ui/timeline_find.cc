// Exact answers need the slices themselves: they are read chunk by chunk, in constant memory.
//
// Expressions are matched by the C library: it builds an automaton, which takes linear time, where a backtracking matcher takes a stranger
// for hours. What makes that automaton large (counts) or needs backtracking (\1) is refused.
#include "ui/timeline_find.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <limits>
#include <unordered_map>

namespace ui {
namespace {

constexpr size_t kMostPattern = 200, kMostSubject = 2000;
constexpr size_t kLongest = 5;

class Expression {
 public:
  static base::Result<std::unique_ptr<Expression>> compile(const std::string& text) {
    if (text.size() > kMostPattern || text.find('{') != std::string::npos || has_back_reference(text))
      return base::Error{"an expression here is short, without {n} and \\1"};
    auto made = std::make_unique<Expression>();
    const int failed = ::regcomp(&made->compiled_, text.c_str(), REG_EXTENDED | REG_ICASE | REG_NOSUB);
    if (failed == 0) {
      made->owns_ = true;
      return made;
    }
    char why[128] = "";
    ::regerror(failed, &made->compiled_, why, sizeof why);
    return base::Error{fmt::format("not an expression: {}", why)};
  }
  Expression() = default;
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;
  ~Expression() {
    if (owns_) ::regfree(&compiled_);
  }
  bool finds(const std::string& text) const { return ::regexec(&compiled_, text.substr(0, kMostSubject).c_str(), 0, nullptr, 0) == 0; }

 private:
  static bool has_back_reference(const std::string& text) {
    for (size_t i = 0; i + 1 < text.size(); ++i) {
      if (text[i] == '\\' && std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0) return true;
    }
    return false;
  }
  regex_t compiled_{};
  bool owns_ = false;
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains(const std::string& text, const std::string& lowered) {
  return std::ranges::search(text, lowered, {}, lower).begin() != text.end() || lowered.empty();
}

/// Where a search looks, the likeliest first.
constexpr std::string StepInfo::*kSearched[] = {&StepInfo::name, &StepInfo::op_name, &StepInfo::op_type, &StepInfo::opcode,
                                                &StepInfo::kind};

std::vector<uint8_t> where(const RunData& run, const std::function<bool(const StepInfo&)>& fits) {
  std::vector<uint8_t> steps(run.steps.size(), 0);
  for (size_t i = 0; i < steps.size(); ++i) steps[i] = fits(run.steps[i]) ? 1 : 0;
  return steps;
}

/// All slices of some lanes that may overlap a stretch of time.
base::Status each_slice(const model::Reader& reader, const SliceSource& from, std::span<const size_t> lanes, int64_t begin_ns,
                        int64_t end_ns, const TakeSlices& take) {
  if (from.timeline == nullptr) {
    take(from.steps->medians.slices());
    return {};
  }
  for (const size_t lane : lanes) {
    if (const auto& memory = from.timeline->lanes[lane].memory; memory != nullptr) {
      take(memory->slices());
      continue;
    }
    const WindowAsk ask{from.steps->run->run, from.timeline->lanes[lane].track, timeline::kSliceLevel, begin_ns, end_ns, {}};
    RETURN_IF_ERROR(each_chunk(reader, ask, take));
  }
  return {};
}

}  // namespace

base::Result<std::vector<uint8_t>> match_steps(const RunData& run, const StepQuery& query) {
  if (query.text.empty()) return std::vector<uint8_t>(run.steps.size(), 0);
  if (!query.regex) {
    std::string lowered = query.text;
    std::ranges::transform(lowered, lowered.begin(), lower);
    return where(run, [&](const StepInfo& step) {
      return std::ranges::any_of(kSearched, [&](auto field) { return contains(step.*field, lowered); });
    });
  }
  ASSIGN_OR_RETURN(const auto expression, Expression::compile(query.text));
  return where(run, [&](const StepInfo& step) {
    return std::ranges::any_of(kSearched, [&](auto field) { return !(step.*field).empty() && expression->finds(step.*field); });
  });
}

std::vector<uint8_t> similar_steps(const RunData& run, const StepInfo& step) {
  auto by_key = where(run, [&](const StepInfo& other) { return !step.key.empty() && other.key == step.key; });
  if (std::ranges::count(by_key, 1) > 1) return by_key;
  return where(run, [&](const StepInfo& other) {
    if (&other == &step) return true;
    return step.op_type.empty() ? other.opcode == step.opcode && other.kind == step.kind : other.op_type == step.op_type;
  });
}

base::Result<std::shared_ptr<const Occurrences>> find_occurrences(const model::Reader& reader, const SliceSource& from,
                                                                  std::vector<uint8_t> steps) {
  auto found = std::make_shared<Occurrences>();
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] == 0) continue;
    ++found->matched;
    const double pass_ns = from.steps->run->steps[i].pass_ns;
    if (pass_ns > 0) found->pass_ns += pass_ns;
  }
  found->steps = std::move(steps);
  std::vector<timeline::Slice> slices;
  const auto take = [&](std::span<const timeline::Slice> chunk) {
    for (const timeline::Slice& slice : chunk) {
      const int32_t place = from.steps->places[slice.name];
      if (place < 0 || found->steps[static_cast<size_t>(place)] == 0) continue;
      if (slices.size() >= Occurrences::kMost) return !(found->is_cut = true);
      slices.push_back(slice);
    }
    return true;
  };
  std::vector<size_t> lanes(from.timeline == nullptr ? 0 : from.timeline->lanes.size());
  for (size_t i = 0; i < lanes.size(); ++i) lanes[i] = i;
  if (found->matched > 0) RETURN_IF_ERROR(each_slice(reader, from, lanes, 0, std::numeric_limits<int64_t>::max() / 2, take));
  std::ranges::stable_sort(slices, {}, &timeline::Slice::begin_ns);
  for (size_t i = 0; i < slices.size(); ++i) {
    found->duration_ns.push_back(slices[i].duration_ns);
    if (i + 1 < slices.size()) slices[i].duration_ns = std::min(slices[i].duration_ns, slices[i + 1].begin_ns - slices[i].begin_ns);
  }
  found->slices = timeline::Folded(std::move(slices));
  return std::shared_ptr<const Occurrences>(std::move(found));
}

namespace {

FoundPlace place_at(std::span<const RunPlaces> runs, size_t run, size_t index) {
  return {run, index, static_cast<double>(runs[run].found->slices.slices()[index].begin_ns) - runs[run].offset_ns};
}

/// How many slices of the run begin before `from`, or with it where `also_there`.
size_t begun(std::span<const RunPlaces> runs, size_t run, const FoundPlace& from, bool also_there) {
  const auto& slices = runs[run].found->slices.slices();
  const auto is_before = [&](const timeline::Slice& slice) {
    const std::pair here(static_cast<double>(slice.begin_ns) - runs[run].offset_ns, run);
    return here < from.order() || (also_there && here == from.order());
  };
  return static_cast<size_t>(std::ranges::partition_point(slices, is_before) - slices.begin());
}

bool has_places(const RunPlaces& run) { return run.found != nullptr && !run.found->slices.slices().empty(); }

}  // namespace

std::optional<FoundPlace> next_place(std::span<const RunPlaces> runs, const FoundPlace& from) {
  std::optional<FoundPlace> next, first;
  const auto earlier = [](const std::optional<FoundPlace>& best, const FoundPlace& one) { return !best || one.order() < best->order(); };
  for (size_t run = 0; run < runs.size(); ++run) {
    if (!has_places(runs[run])) continue;
    if (const FoundPlace one = place_at(runs, run, 0); earlier(first, one)) first = one;
    const size_t after = begun(runs, run, from, true);
    if (after == runs[run].found->slices.slices().size()) continue;
    if (const FoundPlace one = place_at(runs, run, after); earlier(next, one)) next = one;
  }
  return next ? next : first;
}

std::optional<FoundPlace> place_before(std::span<const RunPlaces> runs, const FoundPlace& from) {
  std::optional<FoundPlace> previous, last;
  const auto later = [](const std::optional<FoundPlace>& best, const FoundPlace& one) { return !best || best->order() < one.order(); };
  for (size_t run = 0; run < runs.size(); ++run) {
    if (!has_places(runs[run])) continue;
    if (const FoundPlace one = place_at(runs, run, runs[run].found->slices.slices().size() - 1); later(last, one)) last = one;
    const size_t before = begun(runs, run, from, false);
    if (before == 0) continue;
    if (const FoundPlace one = place_at(runs, run, before - 1); later(previous, one)) previous = one;
  }
  return previous ? previous : last;
}

base::Result<BoxSums> sum_box(const model::Reader& reader, const SliceSource& from, const BoxQuery& query) {
  BoxSums box;
  std::unordered_map<int32_t, timeline::Sums> by_step;
  const auto is_inside = [&](int32_t step) {
    if (query.groups == nullptr) return true;
    const int32_t place = from.steps->places[step];
    return place >= 0 && query.groups->child_of(query.node, query.groups->node_of[static_cast<size_t>(place)]) >= 0;
  };
  const auto take = [&](std::span<const timeline::Slice> chunk) {
    for (const timeline::Slice& slice : chunk) {
      if (!is_inside(slice.name)) continue;
      const timeline::Sums sums = timeline::sums({&slice, 1}, query.begin_ns, query.end_ns);
      if (sums.count == 0) continue;
      box.sums += sums;
      by_step[slice.name] += sums;
    }
    return true;
  };
  RETURN_IF_ERROR(each_slice(reader, from, query.lanes, query.begin_ns, query.end_ns, take));
  box.steps = static_cast<int64_t>(by_step.size());
  for (const auto& [step, sums] : by_step) box.longest.push_back({step, sums});
  std::ranges::sort(box.longest, [](const auto& a, const auto& b) {
    return a.sums.inside_ns != b.sums.inside_ns ? a.sums.inside_ns > b.sums.inside_ns : a.step < b.step;
  });
  if (box.longest.size() > kLongest) box.longest.resize(kLongest);
  return box;
}

}  // namespace ui
