// Which elements are looked at, and how far each is from the reference in units of its tolerance.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "replay/element.h"
#include "replay/inputs.h"
#include "replay/reference/interpreter.h"

namespace replay::reference {
namespace {

constexpr int64_t kSample = 256;

/// The relative floor of the oracle's rules: f64 1e-12, f32 1e-5, f16 2e-3, bf16 1.6e-2, f8 by their mantissas.
double floor_of(ir::Type type) {
  if (device_type(type) != ir::Type::f32) return 1e-12;
  const base::FloatFormat* small = ir::info(type).small;
  if (small == nullptr) return ir::is_float(type) || ir::is_complex(type) ? 1e-5 : 0;
  if (type == ir::Type::f16) return 2e-3;
  return type == ir::Type::bf16 ? 1.6e-2 : std::ldexp(1.0, -small->mantissa);
}

/// First, last, neighbours of tile borders, and others picked by the seed.
Indices sample(int64_t n, const JudgeOptions& options) {
  Indices out;
  if (n <= std::min(options.all_below, kSample)) {
    for (int64_t i = 0; i < n; ++i) out.push_back(i);
    return out;
  }
  for (const int64_t tile : {int64_t{8}, int64_t{16}, int64_t{64}, int64_t{128}}) {
    const int64_t last = (n - 1) / tile * tile;
    for (const int64_t border : {tile, last}) {
      for (const int64_t i : {border - 1, border, border + 1}) out.push_back(std::clamp<int64_t>(i, 0, n - 1));
    }
  }
  out.push_back(0);
  out.push_back(n - 1);
  const uint64_t key = stream_key(options.seed, "judge");
  for (uint64_t j = 0; static_cast<int64_t>(out.size()) < kSample + 64; ++j) {
    out.push_back(static_cast<int64_t>(stream(key, j) % static_cast<uint64_t>(n)));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

double magnitude(const Values& v, size_t i) {
  if (kind_of(v) == Kind::integer) return std::fabs(static_cast<double>(v.integer[i]));
  return v.im.empty() ? std::fabs(v.re[i]) : std::hypot(v.re[i], v.im[i]);
}

/// Root of the mean square of the finite elements.
double rms(const Values& v) {
  double sum = 0;
  int64_t n = 0;
  for (size_t i = 0; i < size(v); ++i) {
    const double m = magnitude(v, i);
    if (!std::isfinite(m)) continue;
    sum += m * m;
    ++n;
  }
  return n == 0 ? 0 : std::sqrt(sum / static_cast<double>(n));
}

/// |a − b| of one part; infinite where one is NaN or infinite and the other is not the same.
double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) : INFINITY;
}

struct Scale {
  double floor, rms;
};

/// Right rounding of a small float differs from the reference only where a tie lies within the error before it: with probability ≤
/// 2·error/ulp. Far more differences than that are a wrong rounding, though each of them is within the tolerance.
struct Roundings {
  double elements = 0, differ = 0, expected = 0;

  void add(ir::Type type, double reference, double device, double bound) {
    if (!ir::is_small_float(type) || !std::isfinite(reference) || reference == 0) return;
    const double unit = ulp(type, std::fabs(reference));
    elements += 1;
    differ += device != reference ? 1 : 0;
    expected += std::min(1.0, 2 * std::max(0.0, bound - unit) / unit);
  }
  /// Differences in units of what is allowed: five standard deviations, one in a hundred, and three.
  double units() const { return differ / (expected + 5 * std::sqrt(expected) + elements / 100 + 3); }
};

void judge_element(Judged& judged, Roundings& roundings, const Values& reference, const Values& device, size_t i, int64_t index,
                   const Scale& scale) {
  ++judged.elements;
  if (unsure_at(reference, i)) {
    ++judged.unsure;
    return;
  }
  double off = 0, tolerance = 0, ours = 0, theirs = 0;
  if (kind_of(reference) == Kind::integer) {
    off = reference.integer[i] == device.integer[i] ? 0 : INFINITY;
    ours = static_cast<double>(reference.integer[i]), theirs = static_cast<double>(device.integer[i]);
  } else {
    ours = reference.re[i], theirs = device.re[i];
    off = distance(theirs, ours);
    if (!reference.im.empty()) off = std::hypot(off, distance(device.im[i], reference.im[i]));
    const double m = magnitude(reference, i);
    tolerance = std::max(scale.floor * std::max(std::isfinite(m) ? m : 0, scale.rms), bound_at(reference, i));
    roundings.add(reference.type, ours, theirs, bound_at(reference, i));
  }
  const double units = off == 0 ? 0 : tolerance > 0 ? off / tolerance : INFINITY;
  if (units > judged.worst || judged.index < 0) {
    judged.worst = std::max(units, judged.worst);
    judged.index = index, judged.device = theirs, judged.reference = ours, judged.tolerance = tolerance;
  }
}

/// Judges some elements and adds them to what was judged before.
base::Status judge_some(Judged& judged, Roundings& roundings, Evaluator& evaluator, ir::InstrRef instr, std::span<const View> operands,
                        const std::vector<int64_t>& leaf, const Array& device, const Indices& at, Scale& scale) {
  ASSIGN_OR_RETURN(const Values reference, evaluator.elements(instr, operands, leaf, at));
  static const ir::Module none;
  Interpreter loader(none, Rounding::each);
  const Values theirs = load(loader, device, at);
  RETURN_IF_ERROR(loader.take_failure());
  if (size(theirs) != size(reference) || kind_of(theirs) != kind_of(reference))
    return base::Error{"reference: the device's array has another type or size"};
  if (scale.rms < 0) scale.rms = rms(reference);
  for (size_t i = 0; i < at.size(); ++i) judge_element(judged, roundings, reference, theirs, i, at[i], scale);
  return {};
}

Judged with(Judged judged, const Roundings& roundings) {
  if (roundings.units() <= judged.worst) return judged;
  judged.worst = roundings.units();
  judged.why = fmt::format("{:.0f} of {:.0f} elements are rounded differently, {:.1f} were expected", roundings.differ, roundings.elements,
                           roundings.expected);
  return judged;
}

}  // namespace

base::Result<Judged> judge(Evaluator& evaluator, ir::InstrRef instr, std::span<const View> operands, const std::vector<int64_t>& leaf,
                           const View& device, const JudgeOptions& options) {
  Judged judged;
  if (device.shape == nullptr || !device.shape->is_array()) return judged;
  const int64_t n = ir::elements(*device.shape);
  Array array;
  array.shape = *device.shape;
  array.data = device.data;
  array.strides = ir::strides(*device.shape);
  Scale scale{floor_of(device.shape->type), -1};
  Roundings roundings;
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  RETURN_IF_ERROR(judge_some(judged, roundings, evaluator, instr, operands, leaf, array, sample(n, options), scale));
  if (n > options.all_below || n <= kSample) return with(judged, roundings);
  // All elements, in pieces, as long as there is time: a sample already says what one costs.
  const double each = seconds() / static_cast<double>(kSample);
  const auto piece = static_cast<int64_t>(std::clamp(options.seconds / std::max(each, 1e-9) / 8, 256.0, 65536.0));
  for (int64_t first = 0; first < n && seconds() < options.seconds; first += piece) {
    Indices at;
    for (int64_t i = first; i < std::min(n, first + piece); ++i) at.push_back(i);
    RETURN_IF_ERROR(judge_some(judged, roundings, evaluator, instr, operands, leaf, array, at, scale));
  }
  return with(judged, roundings);
}

}  // namespace replay::reference
