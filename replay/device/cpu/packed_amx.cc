// Products of small floats on matrix units (Intel AMX), which multiply bf16 and sum in f32 at many times the rate of vectors.
//
// A half has 11 significant bits and bf16 has 8, but as wide a range as f32: every finite half is the sum of two bf16 numbers, its upper 8
// bits and the rest. So a product of halves is four products of bf16 numbers, each exact in f32; the sums are as accurate as those of
// vectors. bf16 and f8 are one number each. An infinity would make ∞·0 of the parts: packing tells, and the product is done with vectors
// instead.
//
// Packed forms, in blocks of kMatrixDepth terms of K, as many bytes as the floats they replace: of A, 32 rows of 32 upper and 32 lower
// parts; of B, 16 pairs of lines, each the upper parts of two times 16 columns, then the lower ones, a pair's two terms side by side.
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "replay/device/cpu/amx_tiles.h"
#include "replay/device/cpu/packed_kernels_impl.h"
#include "replay/device/cpu/packed_tables.h"

namespace replay::cpu {
namespace {

using amx::kConfig, amx::kSide, amx::load_sums, amx::multiply_parts, amx::store_sums;
constexpr int kRowBytes = 128, kPairBytes = 256;               // from row to row of packed A, of packed B
constexpr int64_t kBlockBytes = kMatrixDepth * 2 * kSide * 4;  // of A or B in kMatrixDepth terms

template <int RowTiles>
void load_a(const std::byte* part) {
  _tile_loadd(4, part, kRowBytes);
  if constexpr (RowTiles == 2) _tile_loadd(5, part + kSide * kRowBytes, kRowBytes);
}

void load_b(const std::byte* part) {
  _tile_loadd(6, part, kPairBytes);
  _tile_loadd(7, part + 64, kPairBytes);
}

template <int RowTiles, int Parts>
void multiply_block(const std::byte* a, const std::byte* b) {
  load_a<RowTiles>(a);
  load_b(b);
  multiply_parts<RowTiles>();
  if constexpr (Parts == 2) {
    load_b(b + 128);
    multiply_parts<RowTiles>();
    load_a<RowTiles>(a + 64);
    multiply_parts<RowTiles>();
    load_b(b);
    multiply_parts<RowTiles>();
  }
}

template <int RowTiles, int Parts>
void multiply_tile(int64_t depth, const void* a_strip, const void* b_strip, void* tile, Tile start) {
  const auto *a = static_cast<const std::byte*>(a_strip), *b = static_cast<const std::byte*>(b_strip);
  auto* const sums = static_cast<std::byte*>(tile);
  _tile_loadconfig(&kConfig);  // zeroes the registers
  if (start == Tile::add) load_sums<RowTiles>(sums);
  for (int64_t p = 0; p < depth; p += kMatrixDepth, a += kBlockBytes, b += kBlockBytes) multiply_block<RowTiles, Parts>(a, b);
  store_sums<RowTiles>(sums);
  _tile_release();
}

/// Bits of 16 floats: upper[i] is bf16 above 16 zeros, and so is the exact rest, if it has no more than 8 bits.
struct Halved {
  __m512i upper, rest;
};
Halved halve(__m512 x) {
  const __m512i upper = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(static_cast<int>(0xFFFF0000)));
  return {upper, _mm512_castps_si512(_mm512_sub_ps(x, _mm512_castsi512_ps(upper)))};
}

/// Lanes that the parts do not stand for: infinities and NaNs, where there are two (∞·0), and subnormal numbers, which the unit takes for
/// 0.
template <int Parts>
__mmask16 unfit(__m512 x) {
  constexpr int kNan = 0x81, kInfinite = 0x18, kSubnormal = 0x20;
  return _mm512_fpclass_ps_mask(x, Parts == 2 ? kNan | kInfinite | kSubnormal : kSubnormal);
}

template <int Parts>
bool halve_row(const void* line, int64_t depth, void* strip) {
  const auto* from = static_cast<const float*>(line);
  auto* to = static_cast<std::byte*>(strip);
  constexpr auto kOdd = [] {  // the upper 16 bits of each lane of two vectors
    std::array<uint16_t, 32> order{};
    for (uint16_t i = 0; i < 32; ++i) order[i] = static_cast<uint16_t>(2 * i + 1);
    return order;
  }();
  const __m512i odd = _mm512_loadu_si512(kOdd.data());
  unsigned bad = 0;
  for (int64_t p = 0; p < depth; p += kMatrixDepth, to += kBlockBytes) {
    const __m512 x = _mm512_loadu_ps(from + p), y = _mm512_loadu_ps(from + p + 16);
    const Halved hx = halve(x), hy = halve(y);
    _mm512_storeu_si512(to, _mm512_permutex2var_epi16(hx.upper, odd, hy.upper));
    if constexpr (Parts == 2) {
      _mm512_storeu_si512(to + 64, _mm512_permutex2var_epi16(hx.rest, odd, hy.rest));
    }
    bad |= static_cast<unsigned>(unfit<Parts>(x) | unfit<Parts>(y));
  }
  return bad == 0;
}

template <int Parts>
bool halve_strip(int64_t depth, void* strip) {
  auto* at = static_cast<float*>(strip);
  unsigned bad = 0;
  for (int64_t p = 0; p < depth; p += 2, at += 64) {
    const __m512 x[2] = {_mm512_loadu_ps(at), _mm512_loadu_ps(at + 16)}, y[2] = {_mm512_loadu_ps(at + 32), _mm512_loadu_ps(at + 48)};
    for (int j = 0; j < 2; ++j) {
      const Halved first = halve(x[j]), second = halve(y[j]);
      _mm512_storeu_si512(at + 16 * j, _mm512_or_si512(_mm512_maskz_srli_epi32(0xFFFF, first.upper, 16), second.upper));
      if constexpr (Parts == 2) {
        _mm512_storeu_si512(at + 32 + 16 * j, _mm512_or_si512(_mm512_maskz_srli_epi32(0xFFFF, first.rest, 16), second.rest));
      }
      bad |= static_cast<unsigned>(unfit<Parts>(x[j]) | unfit<Parts>(y[j]));
    }
  }
  return bad == 0;
}

template <int Parts>
constexpr auto multiply_table() {
  std::array<TileKernels::Multiply, 2 * kSide> table{};
  for (size_t n = 0; n < table.size(); ++n) table[n] = n < kSide ? multiply_tile<1, Parts> : multiply_tile<2, Parts>;
  return table;
}
template <int Parts>
constexpr auto kMultiply = multiply_table<Parts>();

/// K in steps of 768: the sums are in memory seldom enough. 256 rows: a strip of B comes from the last-level cache for eight strips of A.
template <int Parts>
constexpr TileKernels kMatrix = {.rows = 2 * kSide,
                                 .columns = 2 * kSide,
                                 .depth = 768,
                                 .packed_rows = 256,
                                 .multiply_rows = kMultiply<Parts>.data(),
                                 .multiply_strips = kMultiply<Parts>.data(),
                                 .split_rows = split<float, 2 * kSide>,
                                 .split_columns = split<float, 2 * kSide>,
                                 .transpose = transpose<float>,
                                 .combine = combine<float, 2 * kSide>,
                                 .halve_row = halve_row<Parts>,
                                 .halve_strip = halve_strip<Parts>};

}  // namespace

const PackedKernels& amx_kernels() {
  static const PackedKernels kTable = [] {
    PackedKernels table = avx512_kernels();
    table.matrix[0] = &kMatrix<1>;
    table.matrix[1] = &kMatrix<2>;
    return table;
  }();
  return kTable;
}

bool amx_permitted() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // arch_prctl(2): ARCH_REQ_XCOMP_PERM
  static const bool kPermitted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return kPermitted;
}

}  // namespace replay::cpu
