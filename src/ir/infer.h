// Result shapes from operands and attributes.
#pragma once

#include <string>

#include "src/ir/module.h"

namespace ir {

struct Inferred {
  enum How : uint8_t {
    follows,  ///< `shape` is the result, with descending layouts
    written,  ///< nothing it follows from (parameter, custom-call, …): the shape must be written
    broken,   ///< `what` says which rule operands or attributes break
  } how = written;
  Shape shape;
  std::string what;
};

/// The rules of service/shape_inference.cc. `instr.shape` may be `kNoShape`; ids must be valid, operands need shapes, callees come first.
Inferred infer_shape(const Module& module, const Computation& comp, const Instr& instr);
inline constexpr auto kNoShape = static_cast<ShapeId>(0xffffffff);

/// Equal types and dimensions; a dimension of unknown size (`?`) fits all, opaque values and buffers fit anything.
bool fits(const Shape& a, const Shape& b);
/// The same with any floating type in place of another: XLA's "mixed precision".
bool fits_but_for_precision(const Shape& a, const Shape& b);

}  // namespace ir
