// What is known of the sizes in one computation.
#pragma once

#include <map>
#include <utility>

#include "replay/editor.h"
#include "src/base/result.h"

namespace replay::sizes {

using Id = ir::InstrId;
using Dims = std::map<int64_t, Id>;  ///< dimension → its size, an s32 scalar; the others are full

/// One computation, instruction by instruction: which sizes each array has.
struct Pass {
  Editor edit;
  std::map<std::pair<Id, int>, Dims> dims;  ///< by instruction and leaf; no entry: full

  Dims of(Id id, int leaf = 0) const {
    const auto it = dims.find({id, leaf});
    return it == dims.end() ? Dims() : it->second;
  }
  /// A size that is known to be the bound is none.
  void set(Id id, int leaf, int64_t dim, Id size);
  void set(Id id, int leaf, const Dims& sizes) {
    for (const auto& [dim, size] : sizes) set(id, leaf, dim, size);
  }
  /// The size of a dimension, its bound where it is full.
  Id size_of(Id id, int64_t dim);
};

using Rule = base::Status (*)(Pass&, Id);
/// What becomes of an instruction whose operands are filled in part; null: there is no rule.
Rule rule_of(const ir::Module& module, const ir::Instr& instr);

// sizes_reshape.cc, sizes_sort.cc
base::Status reshape(Pass& pass, Id id);
base::Status dynamic_reshape(Pass& pass, Id id);
base::Status sort(Pass& pass, Id id);

}  // namespace replay::sizes
