// Dimensions of tables and of the rows that are taken from them or put to them.
#pragma once

#include <algorithm>

#include "importers/lowering/places.h"
#include "importers/tensorflow/lower_rules.h"

namespace importers::tensorflow {

inline Dims joined(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
inline Dims from(const Dims& dims, int64_t first) {
  return {dims.begin() + std::min<int64_t>(first, static_cast<int64_t>(dims.size())), dims.end()};
}
inline bool begins_with(const Dims& dims, const Dims& with) {
  return with.size() <= dims.size() && std::equal(with.begin(), with.end(), dims.begin());
}

/// What puts updates where something was; copy: in its place.
inline ir::CompId combining(Lowering& l, ir::Op op, ir::Type type) {
  return op == ir::Op::copy ? lowering::second_of(l.program, type) : l.program.reducer(op, type);
}

}  // namespace importers::tensorflow
