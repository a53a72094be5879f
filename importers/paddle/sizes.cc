// Open sizes get a batch and a sequence. --scale divides every large size of a program where it divides without a rest: the same table is
// applied to all shapes and to the attributes that repeat them, so that they go on fitting. Where a reshape takes a size apart into two
// factors (a width into heads × size of a head), the first factor shrinks too.
#include "importers/paddle/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "importers/paddle/attribute.h"
#include "importers/paddle/signature.h"

namespace importers::paddle {
namespace {

constexpr int64_t kSmallestScaled = 512;  ///< smaller sizes are counts of heads, halves, parts: they stay

}  // namespace

Sizes::Sizes(const Program& program, const Options& options)
    : batch_(options.batch > 0 ? options.batch : kBatch), scale_(std::max<int64_t>(options.scale, 1)) {
  if (scale_ == 1 || program.blocks.empty()) return;
  for (const Variable& variable : program.blocks[0].variables) {
    for (const int64_t dim : variable.type.dims) {
      if (dim >= kSmallestScaled && dim % scale_ == 0) smaller_[dim] = dim / scale_;
    }
  }
  std::set<int64_t> whole;  // sizes whose factors do not divide
  for (const Operator& op : program.blocks[0].operators) {
    if (normal(op, program.form).op().type == "reshape2")
      split(integers_of(text_of(op.attribute("shape"))).value_or(std::vector<int64_t>()), whole);
  }
  for (const int64_t size : whole) smaller_.erase(size);
}

void Sizes::split(const std::vector<int64_t>& shape, std::set<int64_t>& whole) {
  for (size_t i = 0; i + 1 < shape.size(); ++i) {
    const int64_t a = shape[i], b = shape[i + 1];
    if (a <= 1 || b <= 1 || a >= kSmallestScaled || b >= kSmallestScaled || !smaller_.contains(a * b)) continue;
    if (a % scale_ == 0)
      smaller_[a] = a / scale_;
    else
      whole.insert(a * b);
  }
}

std::vector<int64_t> Sizes::assumed(std::span<const int64_t> dims) const {
  std::vector<int64_t> sizes(dims.begin(), dims.end());
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = sizes[i] < 0 ? (i == 0 ? batch_ : kSequence) : scaled(sizes[i]);
  return sizes;
}

int64_t Sizes::scaled(int64_t size) const {
  if (smaller_.empty()) return size;
  const auto found = smaller_.find(size);
  return found == smaller_.end() ? size : found->second;
}

std::string Sizes::text() const {
  std::string text;
  for (const auto& [size, small] : smaller_) text += fmt::format("{}{} → {}", text.empty() ? "" : ", ", size, small);
  return text;
}

}  // namespace importers::paddle
