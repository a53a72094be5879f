// While a window is on the way, what is at hand is drawn: the window before where it covers the view, else the coarsest level, which is
// always in memory.
#include "ui/timeline_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace ui {
namespace {

constexpr int64_t kEver = std::numeric_limits<int64_t>::max() / 2;

std::string lane_label(const TimelineRun& run, size_t i, const std::string& device) {
  const TimelineLane& lane = run.lanes[i];
  size_t same = 0, before = 0;
  for (size_t j = 0; j < run.lanes.size(); ++j) {
    if (run.lanes[j].device != lane.device || (run.lanes[j].variant == 0) != (lane.variant == 0)) continue;
    ++same, before += j < i ? 1 : 0;
  }
  std::string name = !lane.device.empty() ? lane.device : device.empty() ? "lane" : device;
  if (lane.variant != 0) name = "fused and in parts";
  return same > 1 ? fmt::format("{} · {}", name, before + 1) : name;
}

std::string device_of(Session& session, size_t document, int64_t run) {
  const auto* runs = session.documents()[document]->runs.value();
  if (runs == nullptr) return {};
  const auto found = std::ranges::find(*runs, run, &RunInfo::run);
  return found == runs->end() ? std::string() : found->device;
}

}  // namespace

WindowCache::Window WindowCache::find(const WindowAsk& ask) {
  const auto found = std::ranges::find(windows_, ask, &std::pair<WindowAsk, Window>::first);
  if (found == windows_.end()) return nullptr;
  windows_.splice(windows_.begin(), windows_, found);
  return windows_.front().second;
}

void WindowCache::keep(const WindowAsk& ask, Window window) {
  if (find(ask) != nullptr) return;
  bytes_ += window->bytes();
  windows_.emplace_front(ask, std::move(window));
  while (bytes_ > kMostBytes && windows_.size() > 1) {
    bytes_ -= windows_.back().second->bytes();
    windows_.pop_back();
  }
}

void ShownRun::read(Session& session) {
  Loader& loader = session.documents()[document_]->loader;
  const int64_t run = run_;
  read_.want(loader, "timeline", [run](const model::Reader& reader) { return read_timeline(reader, run); });
  if (const auto* read = read_.value(); read != nullptr && *read != timeline_) {
    timeline_ = *read, ++revision_;
    cache_ = {};
    fetches_.clear();
  }
  read_steps(session);
  if (steps_ == nullptr) return;
  read_memory_.want(loader, fmt::format("{}", fmt::ptr(steps_.get())),
                    [steps = steps_](const model::Reader& reader) { return read_memory(reader, *steps); });
  const auto* memory = read_memory_.value();
  if (memory == nullptr || *memory == memory_ || (*memory)->live_bytes.values().size() != steps_->run->steps.size()) return;
  memory_ = *memory, ++revision_;
}

void ShownRun::read_steps(Session& session) {
  Loader& loader = session.documents()[document_]->loader;
  const int64_t run = run_;
  using Model = base::Result<std::shared_ptr<const StepModel>>;
  const bool selected = session.selection().document == document_ && session.selection().run == run_;
  const std::shared_ptr<const RunData> shared = selected ? session.shared_data() : nullptr;
  if (shared != nullptr) {
    model_.want(loader, fmt::format("{}", fmt::ptr(shared.get())),
                [shared](const model::Reader&) -> Model { return std::make_shared<const StepModel>(shared); });
  } else if (!selected && steps_ == nullptr) {
    model_.want(loader, "", [run](const model::Reader& reader) -> Model {
      ASSIGN_OR_RETURN(RunData data, read_run(reader, run));
      return std::make_shared<const StepModel>(std::make_shared<const RunData>(std::move(data)));
    });
  }
  if (const auto* model = model_.value(); model != nullptr && *model != steps_) {
    steps_ = *model, ++revision_;
    memory_ = nullptr;
    median_clock_ = median_clock(*steps_->run);
  }
}

void ShownRun::update(Session& session, PassMode mode, ColorBy by, std::optional<double> origin_ns, const ShownRun* like) {
  read(session);
  std::string arranged = fmt::format("{} {} {}", static_cast<int>(mode), revision_, origin_ns.value_or(-1));
  if (arranged != arranged_) {
    arranged_ = std::move(arranged);
    arrange(mode, origin_ns);
    const std::string device = device_of(session, document_, run_);
    for (size_t i = 0; i < lanes_.size() && mode_ == PassMode::happened; ++i) lanes_[i].label = lane_label(*timeline_, i, device);
  }
  if (steps_ == nullptr) return;
  std::string key = fmt::format("{} {} {} {}", static_cast<int>(by), static_cast<int>(session.theme.mode), revision_,
                                like == nullptr ? "" : like->colors_key_);
  if (key == colors_key_) return;
  colors_ = color_steps(*steps_->run, by, session.theme, like == nullptr ? std::span<const LegendEntry>() : like->colors_.legend);
  colors_key_ = std::move(key);
}

void ShownRun::arrange(PassMode wanted, std::optional<double> origin_ns) {
  lanes_.clear();
  cut_.clear();
  extent_ = {0, 1};
  offset_ns_ = 0;
  const bool has_lanes = timeline_ != nullptr && !timeline_->lanes.empty();
  const bool has_medians = steps_ != nullptr && !steps_->medians.slices().empty();
  mode_ = has_lanes && (wanted == PassMode::happened || !has_medians) ? PassMode::happened : PassMode::medians;
  if (mode_ == PassMode::happened) {
    const auto begin = static_cast<double>(timeline_->begin_ns), end = static_cast<double>(timeline_->end_ns);
    offset_ns_ = begin - origin_ns.value_or(begin);
    extent_ = {begin - offset_ns_, std::max(begin + 1, end) - offset_ns_};
    for (const TimelineLane& lane : timeline_->lanes)
      lanes_.push_back({{}, lane.levels, &lane.overview, lane.track, lane.memory.get(), lane.variant});
  } else if (has_medians) {
    const timeline::Levels levels = steps_->medians.levels();
    const timeline::Slice& last = steps_->medians.slices().back();
    offset_ns_ = -origin_ns.value_or(0);
    extent_ = {-offset_ns_, static_cast<double>(last.begin_ns + last.duration_ns) - offset_ns_};
    const bool few = levels.finest == levels.coarsest;
    medians_overview_ = steps_->medians.window(few ? timeline::kSliceLevel : levels.coarsest, 0, kEver);
    lanes_.push_back({"median pass", levels, &medians_overview_, -1, &steps_->medians, 0});
  }
}

const PassClock* ShownRun::clock(Session& session, double at_ns) {
  if (steps_ == nullptr) return nullptr;
  if (mode_ == PassMode::medians) return &median_clock_;
  const auto& passes = timeline_->passes;
  const auto after = std::ranges::upper_bound(passes, at_ns + offset_ns_, {},
                                              [](const timeline::Slice& pass) { return static_cast<double>(pass.begin_ns); });
  if (passes.empty()) return nullptr;
  const int64_t pass = (after == passes.begin() ? after : std::prev(after))->name;
  clock_.want(session.documents()[document_]->loader, fmt::format("{} {}", pass, revision_),
              [steps = steps_, pass](const model::Reader& reader) { return read_clock(reader, *steps, pass); });
  const auto* clock = clock_.value();
  return clock != nullptr && (*clock)->begin_ns.size() == steps_->run->steps.size() + 1 ? clock->get() : nullptr;
}

const timeline::Window& ShownRun::window(Session& session, size_t lane, timeline::Scale scale) {
  const LaneView& view = lanes_[lane];
  scale.begin_ns += offset_ns_;
  WindowAsk ask = ask_for(view.levels, scale);
  ask.run = run_;
  ask.track = view.track;
  if (view.memory == nullptr) return stored(session, view, ask, scale);
  auto& [known, window] = cut_[view.track];
  if (!(known == ask)) {
    window = view.memory->window(ask.level, ask.begin_ns, ask.end_ns);
    known = ask;
  }
  return window;
}

const timeline::Window& ShownRun::stored(Session& session, const LaneView& lane, const WindowAsk& ask, const timeline::Scale& scale) {
  if (ask.level == lane.overview->level || lane.overview->level == timeline::kSliceLevel) return *lane.overview;
  Fetch& fetch = fetches_[lane.track];
  WindowCache::Window there = cache_.find(ask);
  if (there == nullptr) {
    fetch.latest.want(session.documents()[document_]->loader, fmt::format("{} {} {}", ask.level, ask.begin_ns, ask.end_ns),
                      [ask](const model::Reader& reader) { return read_window(reader, ask); });
    const auto* window = fetch.latest.value();
    if (window != nullptr && fetch.latest.revision() != fetch.seen) {  // it is the answer to `ask`: older questions are dropped
      fetch.seen = fetch.latest.revision();
      cache_.keep(ask, *window);
      there = *window;
    }
  }
  if (there != nullptr) {
    fetch.shown = std::move(there);
    fetch.shown_ask = ask;
  }
  const double end_ns = scale.begin_ns + scale.pixels * scale.ns_per_pixel;
  const bool covers = fetch.shown != nullptr && static_cast<double>(fetch.shown_ask.begin_ns) <= scale.begin_ns &&
                      static_cast<double>(fetch.shown_ask.end_ns) >= end_ns;
  return covers ? *fetch.shown : *lane.overview;
}

ImU32 ShownRun::color(int32_t step, const Theme& theme) const {
  const int32_t place = steps_ == nullptr ? -1 : steps_->places[step];
  return place < 0 || static_cast<size_t>(place) >= colors_.color.size() ? neutral_color(theme) : colors_.color[static_cast<size_t>(place)];
}

}  // namespace ui
