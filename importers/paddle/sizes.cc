// Open sizes get a batch and a sequence. --scale divides every large size that a program's parameters, feeds and receipts have, where it
// divides without a rest: the same table is applied to all shapes and to the attributes that repeat them, so that they go on fitting.
#include "importers/paddle/sizes.h"

#include <algorithm>

namespace importers::paddle {

Sizes::Sizes(const Program& program, const Options& options)
    : batch_(options.batch > 0 ? options.batch : kBatch), scale_(std::max<int64_t>(options.scale, 1)) {
  if (scale_ == 1 || program.blocks.empty()) return;
  for (const Variable& variable : program.blocks[0].variables) {
    for (const int64_t dim : variable.type.dims) {
      // Small sizes are counts of heads, halves, parts: they stay.
      if (dim >= 512 && dim % scale_ == 0) smaller_[dim] = dim / scale_;
    }
  }
}

std::vector<int64_t> Sizes::assumed(const std::vector<int64_t>& dims) const {
  std::vector<int64_t> sizes = dims;
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = sizes[i] < 0 ? (i == 0 ? batch_ : kSequence) : scaled(sizes[i]);
  return sizes;
}

int64_t Sizes::scaled(int64_t size) const {
  if (smaller_.empty()) return size;
  const auto found = smaller_.find(size);
  return found == smaller_.end() ? size : found->second;
}

}  // namespace importers::paddle
