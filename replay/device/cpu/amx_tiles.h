// What kernels on Intel's matrix unit share: for files compiled with AMX alone. Registers 0 to 3 hold sums, row by row; 4 and 5 a part of
// A; 6 and 7 a part of B.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace replay::cpu::amx {

inline constexpr int kSide = 16;        ///< rows and columns of a tile register
inline constexpr int kSumsBytes = 128;  ///< from row to row of the sums

struct alignas(64) TileConfig {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {kSide, kSide, kSide, kSide, kSide, kSide, kSide, kSide};
};
inline constexpr TileConfig kConfig;

template <int RowTiles>
inline void multiply_parts() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  if constexpr (RowTiles == 2) {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

template <int RowTiles>
inline void load_sums(const std::byte* sums) {
  _tile_loadd(0, sums, kSumsBytes);
  _tile_loadd(1, sums + 64, kSumsBytes);
  if constexpr (RowTiles == 2) {
    _tile_loadd(2, sums + kSide * kSumsBytes, kSumsBytes);
    _tile_loadd(3, sums + kSide * kSumsBytes + 64, kSumsBytes);
  }
}

template <int RowTiles>
inline void store_sums(std::byte* sums) {
  _tile_stored(0, sums, kSumsBytes);
  _tile_stored(1, sums + 64, kSumsBytes);
  if constexpr (RowTiles == 2) {
    _tile_stored(2, sums + kSide * kSumsBytes, kSumsBytes);
    _tile_stored(3, sums + kSide * kSumsBytes + 64, kSumsBytes);
  }
}

}  // namespace replay::cpu::amx
