// Sizes by instruction and leaf.
#include "replay/sizes_edit.h"

namespace replay::sizes {

void Pass::set(Id id, int leaf, int64_t dim, Id size) {
  std::vector<ir::Leaf> leaves = ir::leaves(edit.shape(id));
  const ir::Shape& shape = *leaves[static_cast<size_t>(leaf)].shape;
  if (dim < 0 || dim >= shape.rank() || edit.known(size) == shape.dims[static_cast<size_t>(dim)]) return;
  dims[{id, leaf}].insert_or_assign(dim, size);
}

Id Pass::size_of(Id id, int64_t dim) {
  const Dims sizes = of(id);
  const auto it = sizes.find(dim);
  return it != sizes.end() ? it->second : edit.number(edit.shape(id).dims[static_cast<size_t>(dim)]);
}

}  // namespace replay::sizes
