// Every element type to and from the arithmetic of a product.
#pragma once

#include "replay/device/cpu/packed_kernels.h"
#include "src/base/result.h"
#include "src/ir/shape.h"

namespace replay::cpu {

/// f32 for floats up to f32, f64 where a type is wider or an integer meets a float result (exact there); integers wrap in 32 or 64 bits.
/// Complex types: the arithmetic of their parts. Error: no product of these types exists.
base::Result<Arithmetic> arithmetic_of(ir::Type a, ir::Type b, ir::Type d);
std::string_view text(Arithmetic arithmetic);
int element_bytes(Arithmetic arithmetic);

/// Real types only; nullptr where arithmetic_of never leads. Floats are rounded once, to nearest even; integers keep their low bits.
Convert widen(ir::Type from, Arithmetic to, const PackedKernels& kernels);
Convert narrow(Arithmetic from, ir::Type to, const PackedKernels& kernels);

}  // namespace replay::cpu
