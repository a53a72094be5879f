// Places of images that two arrays share, in order: the rows of a product.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/base/math.h"

namespace replay::cpu {

/// Columns of a row in which the images of a task lie side by side: which image, and where in an array it is, from the task's first image.
struct SideBySide {
  int64_t image = 0, column = 0, offset = 0;
};
inline std::vector<SideBySide> side_by_side(int64_t columns, int64_t images, int64_t column_step, int64_t image_step) {
  std::vector<SideBySide> out;
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t image = 0; image < images; ++image) out.push_back({image, column, column * column_step + image * image_step});
  return out;
}

/// Loops over images, rows and columns; elements from one to the next in both arrays. Loops that are one sequence in both are joined.
class Places {
 public:
  struct Loop {
    int64_t size = 1, first = 0, second = 0;
  };
  struct Place {
    int64_t first = 0, second = 0;
  };
  explicit Places(std::vector<Loop> loops) {
    std::erase_if(loops, [](const Loop& l) { return l.size == 1; });
    for (const Loop& l : loops) {
      if (!loops_.empty() && loops_.back().first == l.size * l.first && loops_.back().second == l.size * l.second)
        loops_.back() = {loops_.back().size * l.size, l.first, l.second};
      else
        loops_.push_back(l);
    }
    if (loops_.empty()) loops_.push_back({});
  }
  int64_t count() const {
    int64_t out = 1;
    for (const Loop& l : loops_) out *= l.size;
    return out;
  }
  /// Elements from one place to the next in one of the arrays; 0: places are not evenly apart.
  int64_t step(int64_t Loop::*array) const {
    for (size_t i = 1; i < loops_.size(); ++i)
      if (loops_[i - 1].*array != loops_[i].size * loops_[i].*array) return 0;
    return loops_.back().*array;
  }
  const Loop& inner() const { return loops_.back(); }
  Place at(int64_t index) const {
    if (loops_.size() == 1) return {index * loops_[0].first, index * loops_[0].second};
    Place out;
    for (size_t i = loops_.size(); i-- > 0; index /= loops_[i].size) {
      out.first += index % loops_[i].size * loops_[i].first;
      out.second += index % loops_[i].size * loops_[i].second;
    }
    return out;
  }

 private:
  std::vector<Loop> loops_;
};

}  // namespace replay::cpu
