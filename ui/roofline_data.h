// What the roofline panel draws: ceilings, a point per step, and the table of those that are selected. No ImGui in here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/store.h"
#include "ui/run_data.h"

namespace ui {

struct Ceiling {
  enum class Limits : uint8_t { memory, compute, cache } limits = Limits::memory;
  std::string name;
  double per_s = 0;  ///< bytes or flops
  enum class Provenance : uint8_t { measured, published } provenance = Provenance::measured;
  std::string source{};  ///< how it was measured, or where it is published
  bool used = true;      ///< it limits a step of the run
  bool is_diagonal() const { return limits != Limits::compute; }
  bool is_published() const { return provenance == Provenance::published; }
};

/// A step that has a place: on the roofline where it has flops and traffic, beside it where it only moves bytes.
struct RoofPoint {
  uint32_t index = 0;  ///< in RunData::steps
  bool beside = false;
  float x = 0;            ///< log10 of FLOP/byte; beside: 0 to 1, spread so that points do not hide each other
  float y = 0;            ///< log10 of GFLOP/s; beside: of GB/s
  float weight = 0;       ///< time in a pass, as a share of the largest
  float root_weight = 0;  ///< its root: areas are as times
};

enum class RoofColor : uint8_t { cls, op_type, phase, bound, roof };
inline constexpr std::string_view kRoofColorNames[] = {"class", "op type", "phase", "bound by", "share of roof"};
/// The words of all points, most time first; at most `most`, the others are "other".
struct ColorWords {
  std::vector<std::string> words;
  std::vector<uint16_t> of_point;  ///< index into words
};

/// What a set of steps does together.
struct StepSum {
  size_t steps = 0;
  double pass_ns = 0, attainable_ns = 0, flops = 0, bytes = 0, share = 0;
  double roof_percent() const { return pass_ns > 0 ? 100 * attainable_ns / pass_ns : 0; }
};

struct Roofline {
  std::shared_ptr<const RunData> run;
  std::vector<Ceiling> ceilings;      ///< memory, then products, then caches; the largest of each kind first
  std::vector<RoofPoint> points;      ///< most time first, so that small ones are drawn over large ones
  size_t untimed = 0;                 ///< steps without a time
  size_t without_traffic = 0;         ///< timed, but no bytes are known: they have no place
  size_t beside = 0, above = 0;       ///< points without flops; points over their roof by more than 10 %
  double above_ns = 0;                ///< their time in a pass
  bool predicted = false;             ///< nothing was timed: a description of a machine tells the times
  std::vector<uint32_t> point_of;     ///< of a step, by its index; kNoPoint: it has none
  std::vector<ColorWords> colors;     ///< by RoofColor
  std::vector<uint32_t> steps_drawn;  ///< indices of the points' steps
  std::vector<StepSum> sums;          ///< of each point alone, side by side: many are added in a moment
  StepSum sum;                        ///< of all points
  static constexpr uint32_t kNoPoint = UINT32_MAX;
  /// log10 ranges of all points and of where the ceilings meet, with a margin.
  double x_lo = -2, x_hi = 3, y_lo = -1, y_hi = 3, beside_lo = 0, beside_hi = 2;
  /// The limit of the kind that steps are held against: the largest that was measured, else published. 0: none is known.
  double best(Ceiling::Limits limits) const;
};
base::Result<Roofline> read_roofline(const model::Reader& reader, std::shared_ptr<const RunData> run);
Roofline make_roofline(std::shared_ptr<const RunData> run, std::vector<Ceiling> ceilings);

std::string_view color_word(const StepInfo& step, RoofColor by);
ColorWords color_words(const Roofline& roofline, RoofColor by, size_t most = 12);

StepSum sum_steps(const RunData& run, std::span<const uint32_t> indices);
/// Of those steps that are points.
StepSum sum_points(const Roofline& roofline, std::span<const uint32_t> points);

/// Steps as the report `roofline` has them: the same columns, values and order.
model::Rows roofline_rows(const RunData& run, std::span<const uint32_t> indices);
/// All steps in the report's order.
std::vector<uint32_t> roofline_order(const RunData& run);

/// "compute-bound: 47 % of the roof", "over the roof: its data fits into a cache", …: a sentence on where a step stands.
std::string roof_sentence(const StepInfo& step);

}  // namespace ui
