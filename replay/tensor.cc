// Changes of physical order as one strided copy: dimensions that stay together are merged first, what is left is copied in tiles so that
// both sides use whole cache lines, rows of tiles in parallel.
#include "replay/tensor.h"

#include <algorithm>
#include <cstring>

namespace replay {
namespace {

constexpr int64_t kTile = 32;  ///< 32 × 32 elements of 4 bytes: 4 KiB a side

/// A dimension of a copy; strides in elements.
struct Axis {
  int64_t size, from, to;
};

/// Axes in logical order without those of size 1; neighbours that are one block on both sides are merged.
std::vector<Axis> merged(const ir::Shape& shape, const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    const Axis axis{shape.dims[i], from[i], to[i]};
    if (axis.size == 1) continue;
    if (!axes.empty() && axes.back().from == axis.size * axis.from && axes.back().to == axis.size * axis.to) {
      axes.back() = {axes.back().size * axis.size, axis.from, axis.to};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

/// Takes out the axis with the smallest stride on one side.
Axis take_innermost(std::vector<Axis>& axes, int64_t Axis::*stride) {
  if (axes.empty()) return {1, 0, 0};
  const auto it = std::min_element(axes.begin(), axes.end(), [&](const Axis& a, const Axis& b) { return a.*stride < b.*stride; });
  const Axis axis = *it;
  axes.erase(it);
  return axis;
}

template <typename T>
void copy_tile(const Axis& row, const Axis& column, const T* from, T* to) {
  for (int64_t r = 0; r < row.size; ++r) {
    for (int64_t c = 0; c < column.size; ++c) to[r * row.to + c * column.to] = from[r * row.from + c * column.from];
  }
}

template <typename T>
void copy(std::vector<Axis> axes, const T* from, T* to) {
  const Axis column = take_innermost(axes, &Axis::to);
  const Axis row = take_innermost(axes, &Axis::from);
  const int64_t bands = (row.size + kTile - 1) / kTile;
  int64_t outer = 1;
  for (const Axis& axis : axes) outer *= axis.size;
#pragma omp parallel for schedule(static) if (outer * row.size * column.size > (1 << 16))
  for (int64_t band = 0; band < outer * bands; ++band) {
    int64_t rest = band / bands, source = 0, target = 0;
    for (size_t i = axes.size(); i-- > 0; rest /= axes[i].size) {
      source += rest % axes[i].size * axes[i].from;
      target += rest % axes[i].size * axes[i].to;
    }
    const int64_t first = band % bands * kTile;
    const Axis rows{std::min(kTile, row.size - first), row.from, row.to};
    for (int64_t c = 0; c < column.size; c += kTile) {
      const Axis columns{std::min(kTile, column.size - c), column.from, column.to};
      copy_tile(rows, columns, from + source + first * row.from + c * column.from, to + target + first * row.to + c * column.to);
    }
  }
}

std::vector<int64_t> row_major(const ir::Shape& shape) {
  std::vector<int64_t> strides(shape.dims.size(), 1);
  for (size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * shape.dims[i];
  return strides;
}

struct Wide {
  uint64_t low, high;
};  ///< an element of 16 bytes

void reorder(const ir::Shape& shape, const std::vector<int64_t>& from_strides, const std::vector<int64_t>& to_strides,
             std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.empty()) return;
  const std::vector<Axis> axes = merged(shape, from_strides, to_strides);
  if (axes.empty() || (axes.size() == 1 && axes[0].from == 1 && axes[0].to == 1)) {
    std::memcpy(to.data(), from.data(), std::min(from.size(), to.size()));
    return;
  }
  switch (ir::bytes(shape.type)) {
    case 1:
      return copy(axes, reinterpret_cast<const uint8_t*>(from.data()), reinterpret_cast<uint8_t*>(to.data()));
    case 2:
      return copy(axes, reinterpret_cast<const uint16_t*>(from.data()), reinterpret_cast<uint16_t*>(to.data()));
    case 4:
      return copy(axes, reinterpret_cast<const uint32_t*>(from.data()), reinterpret_cast<uint32_t*>(to.data()));
    case 8:
      return copy(axes, reinterpret_cast<const uint64_t*>(from.data()), reinterpret_cast<uint64_t*>(to.data()));
    default:
      return copy(axes, reinterpret_cast<const Wide*>(from.data()), reinterpret_cast<Wide*>(to.data()));
  }
}

}  // namespace

void to_logical(const ir::Shape& shape, std::span<const std::byte> physical, std::span<std::byte> logical) {
  reorder(shape, ir::strides(shape), row_major(shape), physical, logical);
}

void to_physical(const ir::Shape& shape, std::span<const std::byte> logical, std::span<std::byte> physical) {
  reorder(shape, row_major(shape), ir::strides(shape), logical, physical);
}

}  // namespace replay
