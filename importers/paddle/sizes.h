// Sizes that the text leaves open (-1), and sizes that a person makes smaller.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "importers/paddle/listing.h"

namespace importers::paddle {

class Sizes {
 public:
  Sizes(const Program& program, const Options& options);

  /// Sizes of a feed or a parameter: −1 becomes the batch at the front and the sequence elsewhere; large ones are scaled.
  std::vector<int64_t> assumed(std::span<const int64_t> dims) const;
  /// A size that stands in an attribute: scaled if it is one of the program's.
  int64_t scaled(int64_t size) const;
  std::string text() const;  ///< "2048 → 128, 4096 → 256"; "" where nothing is scaled

 private:
  void split(const std::vector<int64_t>& shape, std::set<int64_t>& whole);
  static constexpr int64_t kBatch = 8, kSequence = 128;
  int64_t batch_, scale_;
  std::map<int64_t, int64_t> smaller_;
};

}  // namespace importers::paddle
