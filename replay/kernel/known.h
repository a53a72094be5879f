// What is known of the integers of a list before it runs: their range, which says how wide they must be, and the power of two that divides
// them, which says how wide an access may be.
#pragma once

#include <vector>

#include "replay/kernel/list.h"

namespace kernel {

struct Known {
  int64_t low = 0, high = 0;  ///< both included, over all lanes
  int64_t multiple = 1;       ///< a power of two that divides every lane's value minus what a ramp adds
};

/// Ranges of the arguments that a list may ask for, by number (Line::Kind::argument).
using ArgumentRanges = std::vector<Known>;

class KnownIntegers {
 public:
  KnownIntegers(const List& list, const ArgumentRanges& arguments);

  const Known& operator[](ValueId id) const { return known_[static_cast<size_t>(id)]; }
  /// An i64 whose line can be computed in 32 bits with a sign.
  bool narrow(ValueId id) const { return narrow_[static_cast<size_t>(id)]; }

 private:
  Known of(const Line& line) const;
  Known of_op(const Line& line) const;
  bool fits(const Line& line, const Known& known) const;

  const List& list_;
  const ArgumentRanges& arguments_;
  std::vector<Known> known_;
  std::vector<bool> narrow_;
};

}  // namespace kernel
