// What the hardware counted while steps ran.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace model {

struct CounterRecord {
  std::string name, metric, unit;  ///< "dram_read", "dram__bytes_read.sum", "bytes"
  std::string why;                 ///< why it was not counted; "": it was
};

/// Of one execution.
struct CounterValue {
  int32_t step = 0;
  int32_t part = -1;    ///< of a fusion that ran as its parts too: which; -1: the step itself
  int32_t counter = 0;  ///< index into Counters::counters
  double value = 0;
};

struct Counters {
  std::vector<CounterRecord> counters;  ///< that were asked for
  std::vector<CounterValue> values;
  std::string how;  ///< passes, replays and sizes, in a sentence
  std::string why;  ///< why nothing was counted; "": something was, or nothing was asked for
};

}  // namespace model
