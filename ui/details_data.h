// Every number of a step, as a list to read and copy. No ImGui in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/run_data.h"

namespace ui {

struct Fact {
  std::string_view group, name;
  std::string value;  ///< for people; never empty
  std::string raw;    ///< for machines: the number with all its digits, ns and bytes; of texts the text
  std::string_view about;
};
/// In the order of the panel; what is not known is left out.
std::vector<Fact> facts_of(const StepInfo& step, const RunData& run);
/// All of them as lines "name: value".
std::string text_of(const std::vector<Fact>& facts);
/// The same as rows: group, name, value, all its digits.
model::Rows rows_of(const std::vector<Fact>& facts);

/// How many steps have a flag, and how much of the pass they take.
struct FlagCount {
  std::string flag;
  size_t steps = 0;
  double share = 0;  ///< of the pass, 0 to 1
};
/// The flag with most time first.
std::vector<FlagCount> count_flags(const RunData& run);

}  // namespace ui
