// The computation of a reduce, a window, a scatter or a scan, applied to lanes of accumulators.
#pragma once

#include <optional>

#include "replay/reference/interpreter.h"

namespace replay::reference {

/// Where a device keeps an accumulator between two values: in a register, as wide as it computes; or in its array, rounded each time.
enum class Kept : uint8_t { wide, rounded };

/// Applies `comp` to (accumulators, values). One op on its parameters runs as a plain loop; anything else runs on lanes. Sums and products
/// keep their magnitude, because a device may add in any order: their bound is 4·√K·ε·Σ|terms|.
class Combiner {
 public:
  Combiner(Interpreter& in, ir::CompId comp);

  /// acc[k][lanes[i]] = f(acc[k][lanes[i]], x[k][i]). A lane appears once.
  void combine(std::vector<Values>& acc, const Indices& lanes, const std::vector<Values>& x);
  /// x holds `acc` rows of `row` values one after another: each row is combined into its accumulator, in order or (long rows) as a tree.
  void combine_rows(std::vector<Values>& acc, const std::vector<Values>& x, size_t row);
  /// Adds the bound of sums and products; call once after the last value. Rounded: half an ulp more for each value but the last, whose
  /// rounding is the caller's.
  void finish(std::vector<Values>& acc, Kept kept = Kept::wide) const;

 private:
  void simple(Values& acc, size_t i, const Values& x, size_t j);
  void start(const Values& acc);
  std::vector<Values> lanes(std::vector<Values> a, std::vector<Values> b);
  std::vector<Values> tree(std::vector<Values> x, size_t rows, size_t row);

  Interpreter& in_;
  const ir::CompId comp_;
  const std::optional<ir::Op> op_;
  std::vector<double> magnitude_;  ///< Σ|terms| by accumulator; of products Σ of relative bounds is already carried
  std::vector<int64_t> terms_;
};

}  // namespace replay::reference
