// Arrays in host memory: logical row-major elements, one element = ir::bytes(type).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/ir/shape.h"

namespace replay {

/// A value: an array with data, or a tuple of values.
struct Tensor {
  ir::Shape shape;
  std::vector<std::byte> data;
  std::vector<Tensor> elements;
};

/// From the physical order of `shape`'s layout to logical row-major, and back. Both spans hold bytes(shape).
void to_logical(const ir::Shape& shape, std::span<const std::byte> physical, std::span<std::byte> logical);
void to_physical(const ir::Shape& shape, std::span<const std::byte> logical, std::span<std::byte> physical);

/// .npy: version 1.0, C order; types that numpy lacks (bf16, f8…, s4, …) as unsigned integers of their size.
std::string npy(const Tensor& array);
/// Reads C and Fortran order, little-endian. The Error names dtype and shape that were found and expected.
base::Result<Tensor> read_npy(const std::string& path, const ir::Shape& expected);

}  // namespace replay
