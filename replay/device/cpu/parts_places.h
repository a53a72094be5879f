// Places of images that two arrays share, in order: the rows of a product.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace replay::cpu {

inline int64_t ceil_div(int64_t x, int64_t y) { return (x + y - 1) / y; }

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
  const Loop& inner() const { return loops_.back(); }
  Place at(int64_t index) const {
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
