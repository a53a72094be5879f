// The inner loops of the packed product as tables of functions, compiled once per instruction set from packed_kernels_impl.h.
#pragma once

#include <cstdint>

#include "replay/device/cpu/winograd_transforms.h"

namespace replay::cpu {

/// What operands are widened to and sums are kept in. Integers wrap: s32 serves all results of up to 32 bits.
enum class Arithmetic : uint8_t { f32, f64, s32, s64 };
inline constexpr int kArithmetics = 4;

/// Terms of K that are summed in registers before they are added to the sum in memory: a strip of B stays in the first-level cache.
inline constexpr int64_t kDepth = 384;
/// Elements between two rows of A in the packed form `rows`: not a power of two, so that rows share no cache sets.
inline constexpr int64_t kRowStride = kDepth + 16;
inline constexpr int64_t kPackedRows = 112;  ///< 112·384 f32 stay in the second-level cache
/// Elements that split may read behind a line and write behind its last strip.
inline constexpr int64_t kSlack = 64;

/// rows × columns elements from one type to another; strides in elements, columns adjacent.
using Convert = void (*)(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t rows, int64_t columns);

enum class Tile : uint8_t { first, add };  ///< the first block of K overwrites the tile, later ones add to it

/// Functions of one arithmetic with elements T. A tile is rows × columns sums, `columns` apart. Packed forms:
/// strips of B are [depth][columns]; A is `strips` [depth][rows] or `rows` [rows][kRowStride], whichever needs no transposition.
struct TileKernels {
  int rows, columns;
  int64_t depth;        ///< most terms of K at a time
  int64_t packed_rows;  ///< rows of A packed at a time: they stay in the second-level cache
  /// tile (+)= Σ_p a[·,p]·b[p,·]; the pointer to element [n - 1] computes n ≤ rows rows.
  using Multiply = void (*)(int64_t depth, const void* a, const void* b, void* tile, Tile start);
  const Multiply* multiply_rows;
  const Multiply* multiply_strips;
  /// Cuts one line of `count` elements into pieces of rows (columns) elements; piece i goes to strips + i·stride elements.
  using Split = void (*)(const void* line, int64_t count, void* strips, int64_t stride);
  Split split_rows, split_columns;
  /// strip[p][j] = lines[j·stride + p] for j < columns, p < depth.
  void (*transpose)(const void* lines, int64_t stride, int64_t depth, void* strip);
  /// tile = alpha·tile + beta·other, elementwise over the whole tile; `other` null: alpha·tile.
  void (*combine)(void* tile, double alpha, const void* other, double beta);
  /// Matrix units alone, which read bf16: floats as one or two bf16 numbers; see packed_amx.cc. False: not all exactly.
  /// `depth` floats of a row of A, whole kMatrixDepth, to its place in a strip, and a strip of B in place.
  bool (*halve_row)(const void* line, int64_t depth, void* strip) = nullptr;
  bool (*halve_strip)(int64_t depth, void* strip) = nullptr;
};
/// Terms of K that a matrix unit takes at a time.
inline constexpr int64_t kMatrixDepth = 32;

/// x[0, width) −= Σ_k c[k·step]·rows[k·stride + [0, width)], k < count: one row of a triangular solve.
template <typename T>
using SubtractRows = void (*)(T* x, const T* rows, int64_t stride, const T* c, int64_t step, int64_t count, int64_t width);

/// A tile of a product of f32 lines as they lie, or as they are packed: tile (+)= Σ_p a[p·a_step + i]·b[p·b_step + j], and at every p one
/// line of memory is brought nearer: the ones that the next tiles need.
struct LineTile {
  int64_t depth;
  const float* a;
  int64_t a_step;
  const float* b;
  int64_t b_step;
  float* tile;
  Tile start;
  const float* ahead;
  int64_t ahead_step;  ///< floats
};
/// Element [n - 1] of a table computes n rows.
using MultiplyLines = void (*)(const LineTile& what);

/// Small floats to and from f32, a whole instruction set's table.
struct PackedKernels {
  const char* name;
  TileKernels tiles[kArithmetics];
  Convert f16_to_f32, bf16_to_f32, f32_to_f16, f32_to_bf16;
  SubtractRows<float> subtract_f32;
  SubtractRows<double> subtract_f64;
  const MultiplyLines* multiply_lines;
  WinogradTransforms winograd;
  /// f32 sums of operands that are one bf16 number, or two: matrix units. Null: this instruction set has none.
  const TileKernels* matrix[2] = {nullptr, nullptr};
};

enum class Isa : uint8_t { baseline, avx2, avx512, amx };
inline constexpr Isa kIsas[] = {Isa::baseline, Isa::avx2, Isa::avx512, Isa::amx};
/// The table, or nullptr where this CPU (or this build) can't run it. baseline is never null.
const PackedKernels* packed_kernels(Isa isa);
Isa best_isa();

}  // namespace replay::cpu
