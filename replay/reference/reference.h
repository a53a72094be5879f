// The reference: what HLO means, one plain function per op. The judge of all devices.
//
// Each op is a function (instruction, logical row-major indices) → values, so the same code gives one element of one output lazily (a
// large step is checked by sample) and a whole array. Every value is evaluated in f64 (or its exact integer type) and rounded to its
// declared type (Rounding::each), or only where a fusion ends (Rounding::border: small floats inside stay f32). Reduce, dot and convolution
// accumulate in f64 and round once. Beside each value goes a bound of the error that a device may make: first-order running error analysis
// in f32 (f64 for f64), 4·√K·ε·Σ|terms| for sums and products of K terms.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "replay/rounding.h"
#include "replay/tensor.h"
#include "src/base/result.h"
#include "src/ir/module.h"

namespace replay {

namespace reference {

/// An array whose elements live elsewhere: physical order of `shape`'s layout. Tuples are given by their leaves' views.
struct View {
  const ir::Shape* shape = nullptr;
  const std::byte* data = nullptr;
  std::vector<View> elements;
};

/// Values at some elements. re (and im for complex); exact integers in `integer` (u64 bit-cast, pred 0/1).
struct Values {
  ir::Type type = ir::Type::f32;
  std::vector<double> re, im, bound;  ///< bound: absolute error that a device may make; empty: all exact
  std::vector<int64_t> integer;
  std::vector<uint8_t> unsure;  ///< 1: a comparison, a conversion, … within its operands' bounds: either answer is right, the element
                                ///< is not judged; empty: all are sure
};

class Evaluator {
 public:
  /// `module` must outlive the evaluator.
  Evaluator(const ir::Module& module, Rounding rounding);
  ~Evaluator();
  /// The whole result of a computation. Errors: an op that the reference lacks, with its name.
  base::Result<Tensor> run(ir::CompId comp, std::span<const Tensor> arguments);
  /// Elements of one leaf of an instruction's result, from its operands' values.
  base::Result<Values> elements(ir::InstrRef instr, std::span<const View> operands, const std::vector<int64_t>& leaf,
                                std::span<const int64_t> indices);
  /// The whole result of one instruction.
  base::Result<Tensor> run(ir::InstrRef instr, std::span<const View> operands);
  /// "" if the reference can evaluate it and everything that it calls, else which op is missing.
  std::string unsupported(ir::InstrRef instr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// How far a device's leaf is from the reference. Checked are all elements below `all_below`, else ≥ 256: first, last, tile borders
/// (multiples of 8, 16, 64, 128 ± 1 near them), the rest picked by seed.
struct Judged {
  double worst = 0;    ///< largest |device − reference| / tolerance; ≤ 1 passes
  int64_t index = -1;  ///< where, logical row-major
  double device = 0, reference = 0, tolerance = 0;
  int64_t elements = 0, unsure = 0;
  std::string why;  ///< what `worst` comes from where it is no single element: too many roundings that differ
};
struct JudgeOptions {
  uint64_t seed = 1;
  int64_t all_below = 1 << 20;
  double seconds = 2;
};  ///< seconds: stop choosing more elements than 256 after this
/// Tolerance: the larger of floor(type)·max(|reference|, rms of the output) and the bound. NaN must meet NaN, infinities the same infinity.
base::Result<Judged> judge(Evaluator& evaluator, ir::InstrRef instr, std::span<const View> operands, const std::vector<int64_t>& leaf,
                           const View& device, const JudgeOptions& options);

}  // namespace reference
}  // namespace replay
