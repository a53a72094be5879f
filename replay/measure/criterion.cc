// Two stop rules: a fixed count, and "the median is known well enough, or the budget is spent".
#include "replay/measure/criterion.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/stats/stats.h"

namespace measure {
namespace {

class Exactly : public Criterion {
 public:
  explicit Exactly(int passes) : passes_(passes) {}
  void add(double, double wall_s) override {
    ++count_;
    wall_s_ += wall_s;
  }
  bool done() const override { return count_ >= passes_; }
  bool spent() const override { return done(); }
  std::string reason() const override { return "as many as asked for"; }
  double left_s() const override { return count_ == 0 ? 0 : wall_s_ / count_ * std::max(0, passes_ - count_); }

 private:
  int passes_, count_ = 0;
  double wall_s_ = 0;
};

class UntilStable : public Criterion {
 public:
  explicit UntilStable(const StableOptions& options) : options_(options) {}
  void add(double steps_s, double wall_s) override {
    seconds_.push_back(steps_s);
    wall_s_ += wall_s;
    if (seconds_.size() < next_look_) return;
    stable_ = stats::relative_noise(seconds_) <= options_.noise;
    next_look_ =
        seconds_.size() + seconds_.size() / 8 + 1;  // each look sorts: looking ever more rarely keeps all looks together O(n log n)
  }
  bool done() const override { return spent() || (stable_ && static_cast<int>(seconds_.size()) >= options_.enough); }
  bool spent() const override {
    const auto count = static_cast<int>(seconds_.size());
    if (count == 0) return false;
    const double pass_s = wall_s_ / count;
    return pass_s > options_.budget_s || (count >= options_.fewest && wall_s_ + pass_s > options_.budget_s);
  }
  std::string reason() const override {
    if (stable_) return fmt::format("enough to know it to {:g} %", 100 * options_.noise);
    return fmt::format("the budget of {:g} s is spent", options_.budget_s);
  }
  double left_s() const override { return spent() ? 0 : std::max(0.0, options_.budget_s - wall_s_); }

 private:
  StableOptions options_;
  std::vector<double> seconds_;
  size_t next_look_ = 1;
  bool stable_ = false;
  double wall_s_ = 0;
};

}  // namespace

std::unique_ptr<Criterion> until_stable(const StableOptions& options) { return std::make_unique<UntilStable>(options); }
std::unique_ptr<Criterion> exactly(int passes) { return std::make_unique<Exactly>(passes); }

}  // namespace measure
