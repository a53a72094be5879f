// f32 products on matrix units, which multiply bf16 numbers and sum in f32 at 13 times the rate of vectors. A bf16 number has 8 significant
// bits and f32 has 24, so every f32 number is the sum of three: its upper 8 bits, the next 8, and the rest. Of the nine products of parts
// the six larger ones count; what the others would add is less than 2^-22 of the product, on average 2^-24. After Henry, Tang and Heinecke,
// "Leveraging the bfloat16 artificial intelligence datatype for higher-precision computations", 2019.
#include <immintrin.h>

#include <array>

#include "replay/device/cpu/amx_tiles.h"
#include "replay/device/cpu/packed_tables.h"
#include "replay/device/cpu/parts.h"

namespace replay::cpu {
namespace {

using amx::kConfig, amx::kSide, amx::load_sums, amx::multiply_parts, amx::store_sums;
constexpr int kTileBytes = 16 * 64;  // of B: 16 pairs of terms, 16 columns

template <int RowTiles>
inline void load_a(const std::byte* at, int64_t step) {
  _tile_loadd(4, at, step);
  if constexpr (RowTiles == 2) _tile_loadd(5, at + kSide * step, step);
}
inline void load_b(const std::byte* block, int part) {
  _tile_loadd(6, block + 2 * part * kTileBytes, 64);
  _tile_loadd(7, block + (2 * part + 1) * kTileBytes, 64);
}

/// Small products first would be a little more accurate and cost more loads.
template <int RowTiles>
inline void multiply_block(const std::byte* a, int64_t row_step, int64_t part_step, const std::byte* b) {
  load_a<RowTiles>(a, row_step);
  load_b(b, 2);
  multiply_parts<RowTiles>();
  load_b(b, 0);
  multiply_parts<RowTiles>();
  load_b(b, 1);
  multiply_parts<RowTiles>();
  load_a<RowTiles>(a + part_step, row_step);
  multiply_parts<RowTiles>();
  load_b(b, 0);
  multiply_parts<RowTiles>();
  load_a<RowTiles>(a + 2 * part_step, row_step);
  multiply_parts<RowTiles>();
}

template <int RowTiles>
void multiply(const PartsRows& a, const int64_t* offsets, int64_t blocks, const std::byte* b, float* sums, Tile start) {
  auto* const to = reinterpret_cast<std::byte*>(sums);
  if (start == Tile::add) {
    load_sums<RowTiles>(to);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int64_t i = 0; i < blocks; ++i, b += kPartsBlock) multiply_block<RowTiles>(a.at + offsets[i], a.row_step, a.part_step, b);
  store_sums<RowTiles>(to);
}

/// The parts of 16 numbers in the upper halves of the lanes; the lower halves of `upper` and `middle` are 0.
struct Parts {
  __m512i upper, middle, lower;
};
inline Parts parts_of(__m512 x) {
  const __m512i mask = _mm512_set1_epi32(static_cast<int>(0xFFFF0000));
  const __m512i upper = _mm512_and_si512(_mm512_castps_si512(x), mask);
  const __m512 rest = _mm512_sub_ps(x, _mm512_castsi512_ps(upper));
  const __m512i middle = _mm512_and_si512(_mm512_castps_si512(rest), mask);
  return {upper, middle, _mm512_castps_si512(_mm512_sub_ps(rest, _mm512_castsi512_ps(middle)))};
}

/// Looks at numbers on the way, 16 at a time.
class Watch {
 public:
  void see(__m512 x) {
    constexpr int kNanOrInfinity = 0x81 | 0x18;
    const __m512i bits = _mm512_castps_si512(x);
    smallest_ = _mm512_min_epu32(smallest_, _mm512_sub_epi32(_mm512_add_epi32(bits, bits), _mm512_set1_epi32(1)));
    bad_ |= static_cast<unsigned>(_mm512_fpclass_ps_mask(x, kNanOrInfinity));
  }
  Magnitudes seen() const { return {_mm512_reduce_min_epu32(smallest_), bad_ == 0}; }

 private:
  __m512i smallest_ = _mm512_set1_epi32(-1);
  unsigned bad_ = 0;
};

constexpr auto kOddWords = [] {  // the upper halves of the lanes of two vectors
  std::array<uint16_t, 32> order{};
  for (uint16_t i = 0; i < 32; ++i) order[i] = static_cast<uint16_t>(2 * i + 1);
  return order;
}();

/// 32 numbers in order: three lines, `step` bytes apart.
inline void store_triple(const Parts& x, const Parts& y, __m512i odd, std::byte* to, int64_t step) {
  _mm512_storeu_si512(to, _mm512_permutex2var_epi16(x.upper, odd, y.upper));
  _mm512_storeu_si512(to + step, _mm512_permutex2var_epi16(x.middle, odd, y.middle));
  _mm512_storeu_si512(to + 2 * step, _mm512_permutex2var_epi16(x.lower, odd, y.lower));
}

/// The first `count` of 16 lanes, none where it is negative.
inline __mmask16 lanes(int64_t count) { return static_cast<__mmask16>(count >= 16 ? 0xFFFF : count <= 0 ? 0 : (1U << count) - 1); }

Magnitudes split_lines(const float* from, int64_t from_step, int64_t lines, int64_t count, std::byte* to, int64_t to_step) {
  const __m512i odd = _mm512_loadu_si512(kOddWords.data());
  Watch watch;
  for (int64_t line = 0; line < lines; ++line, from += from_step, to += to_step) {
    for (int64_t i = 0; i < count; i += kPartsSide) {
      const __m512 x = _mm512_maskz_loadu_ps(lanes(count - i), from + i), y = _mm512_maskz_loadu_ps(lanes(count - i - 16), from + i + 16);
      watch.see(x), watch.see(y);
      store_triple(parts_of(x), parts_of(y), odd, to + i / kPartsSide * kPartsTriple, kPartsLine);
    }
  }
  return watch.seen();
}

/// 16 vectors of 16 lanes, rows become columns.
inline void transpose(__m512 (&r)[16]) {
  __m512 t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const auto pair = [](__m512 x) { return _mm512_castps_pd(x); };
    r[4 * i] = _mm512_castpd_ps(_mm512_unpacklo_pd(pair(t[4 * i]), pair(t[4 * i + 2])));
    r[4 * i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(pair(t[4 * i]), pair(t[4 * i + 2])));
    r[4 * i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(pair(t[4 * i + 1]), pair(t[4 * i + 3])));
    r[4 * i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(pair(t[4 * i + 1]), pair(t[4 * i + 3])));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xDD);
    t[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xDD);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
    r[i + 4] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xDD);
    r[i + 12] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0xDD);
  }
}

Magnitudes split_turned(const float* const* lines, int64_t count, std::byte* to, int64_t row_step, int64_t part_step) {
  const __m512i odd = _mm512_loadu_si512(kOddWords.data());
  Watch watch;
  for (int64_t f = 0; f < count; f += 16) {
    __m512 x[16], y[16];
    const __mmask16 mask = lanes(count - f);
    for (int i = 0; i < 16; ++i) x[i] = _mm512_maskz_loadu_ps(mask, lines[i] + f), watch.see(x[i]);
    for (int i = 0; i < 16; ++i) y[i] = _mm512_maskz_loadu_ps(mask, lines[16 + i] + f), watch.see(y[i]);
    transpose(x);
    transpose(y);
    const int64_t rows = std::min<int64_t>(16, count - f);
    for (int64_t i = 0; i < rows; ++i) store_triple(parts_of(x[i]), parts_of(y[i]), odd, to + (f + i) * row_step, part_step);
  }
  return watch.seen();
}

/// Two lines of 16 columns, their terms side by side, at `to` in three tiles.
inline void store_pair(__m512 first, __m512 second, std::byte* to) {
  const Parts x = parts_of(first), y = parts_of(second);
  const auto join = [](__m512i even, __m512i odd) { return _mm512_mask_blend_epi16(0xAAAAAAAA, _mm512_srli_epi32(even, 16), odd); };
  _mm512_storeu_si512(to, join(x.upper, y.upper));
  _mm512_storeu_si512(to + 2 * kTileBytes, join(x.middle, y.middle));
  _mm512_storeu_si512(to + 4 * kTileBytes, join(x.lower, y.lower));
}

Magnitudes pack_columns(const float* const* lines_at, int64_t count, std::byte* to, int64_t to_step) {
  Watch watch;
  for (int64_t c = 0; c < count; c += kPartsSide, to += to_step) {
    const __mmask16 masks[] = {lanes(count - c), lanes(count - c - 16)};
    for (int64_t pair = 0; pair < 16; ++pair) {
      for (int half = 0; half < 2; ++half) {
        const __m512 x = _mm512_maskz_loadu_ps(masks[half], lines_at[2 * pair] + c + 16 * half);
        const __m512 y = _mm512_maskz_loadu_ps(masks[half], lines_at[2 * pair + 1] + c + 16 * half);
        watch.see(x), watch.see(y);
        store_pair(x, y, to + half * kTileBytes + pair * 64);
      }
    }
  }
  return watch.seen();
}

Magnitudes pack_turned(const float* from, int64_t from_step, int64_t terms, int64_t count, std::byte* to, int64_t to_step) {
  Watch watch;
  for (int64_t c = 0; c < count; c += 16) {
    std::byte* const tile = to + c / kPartsSide * to_step + c / 16 % 2 * kTileBytes;
    for (int64_t term = 0; term < kPartsSide; term += 16) {
      __m512 x[16];
      for (int i = 0; i < 16; ++i) {
        x[i] = _mm512_maskz_loadu_ps(c + i < count ? lanes(terms - term) : __mmask16{0}, from + (c + i) * from_step + term);
        watch.see(x[i]);
      }
      transpose(x);
      for (int i = 0; i < 16; i += 2) store_pair(x[i], x[i + 1], tile + (term + i) / 2 * 64);
    }
  }
  if ((count + 15) / 16 % 2 == 1) {  // the second half of the last block
    std::byte* const tile = to + count / kPartsSide * to_step + kTileBytes;
    for (int64_t line = 0; line < 16; ++line) store_pair(_mm512_setzero_ps(), _mm512_setzero_ps(), tile + line * 64);
  }
  return watch.seen();
}

void store(const float* sums, float* const* rows, int64_t row_count, int64_t count) {
  const __mmask16 first = lanes(count), second = lanes(count - 16);
  for (int64_t r = 0; r < row_count; ++r, sums += kPartsSide) {
    if (rows[r] == nullptr) continue;
    _mm512_mask_storeu_ps(rows[r], first, _mm512_loadu_ps(sums));
    _mm512_mask_storeu_ps(rows[r] + 16, second, _mm512_loadu_ps(sums + 16));
  }
}

void stream(const float* sums, float* const* rows, int64_t row_count, int64_t count) {
  for (int64_t r = 0; r < row_count; ++r, sums += kPartsSide) {
    if (count < kPartsSide || reinterpret_cast<uintptr_t>(rows[r]) % 64 != 0) {
      store(sums, rows + r, 1, count);
    } else if (rows[r] != nullptr) {
      _mm512_stream_ps(rows[r], _mm512_loadu_ps(sums));
      _mm512_stream_ps(rows[r] + 16, _mm512_loadu_ps(sums + 16));
    }
  }
}

void add(const float* from, float* to, int64_t count) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) _mm512_storeu_ps(to + i, _mm512_add_ps(_mm512_loadu_ps(to + i), _mm512_loadu_ps(from + i)));
  for (; i < count; ++i) to[i] += from[i];
}

void begin() { _tile_loadconfig(&kConfig); }
void end() { _tile_release(); }

constexpr PartsKernels kKernels{split_lines,     split_turned, pack_columns, pack_turned, {multiply<1>, multiply<2>},
                                {store, stream}, add,          begin,        end};

}  // namespace

const PartsKernels& parts_kernels_amx() { return kKernels; }

}  // namespace replay::cpu
