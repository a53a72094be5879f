// Two runs against each other, of one database or of two: what the panel shows of report::compare. No ImGui in here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/store.h"
#include "src/report/compare.h"
#include "ui/dots.h"

namespace ui {

/// NaN: not known. `change_ns` is of a pass, the other times of one execution.
struct ComparedStep {
  std::string name, cls, verdict, matched_by, before_name;
  double before_ns = 0, after_ns = 0, percent = 0, low_percent = 0, high_percent = 0, change_ns = 0;
  int32_t before_step = -1, after_step = -1;  ///< −1: not in that run
};
struct Compared {
  std::vector<ComparedStep> steps;
  double before_ns = 0, after_ns = 0, percent = 0, low_percent = 0, high_percent = 0;  ///< of a pass
  double alike_percent = 0, noise_percent = 0;  ///< what all steps did alike, and one does more or less; NaN: not known
  std::string verdict;
  int64_t matched = 0, slower = 0, faster = 0, same = 0, not_judged = 0, fresh = 0, gone = 0;
  std::vector<Dot> dots;                 ///< decimal logarithms of before_ns and after_ns; rank 1: faster, 2: slower; index in `steps`
  double lo_ns = 0, hi_ns = 0;           ///< of the dots; 0: there are none
  double usual_percent = 1;              ///< 95 % of the changes are no larger, their intervals included
  std::vector<std::string> differences;  ///< "threads: 2, then 4"
};
Compared compared(const report::Comparison& comparison);

struct CompareColumn {
  std::string_view heading, name;
  std::string_view (*text)(const ComparedStep&);  ///< nullptr: a number
  double (*number)(const ComparedStep&);          ///< nullptr: a text
  float width_em;
  bool hidden;
};
std::span<const CompareColumn> compare_columns();
int compare_column(std::string_view name);

struct CompareView {
  std::string words, verdict;  ///< verdict: "slower" finds "slower?" too; empty: all
  int column = -1;
  bool descending = true;
};
/// Sizes of changes are compared without their sign.
std::vector<uint32_t> arrange_compared(const Compared& compared, const CompareView& view);
model::Rows rows_of(const Compared& compared, std::span<const uint32_t> order);

}  // namespace ui
