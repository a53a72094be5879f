// f32 numbers as sums of three bf16 numbers, and their products on matrix units (Intel AMX) at the accuracy of f32.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "replay/device/cpu/packed_kernels.h"

namespace replay::cpu {

/// Terms of a sum in a block; also rows and columns of a tile of sums.
inline constexpr int64_t kPartsSide = 32;
inline constexpr int64_t kPartsLine = 64;            ///< bytes: one part of 32 terms
inline constexpr int64_t kPartsTriple = 3 * 64;      ///< bytes: 32 terms of a row
inline constexpr int64_t kPartsBlock = 3 * 32 * 64;  ///< bytes: 32 terms × 32 columns
inline constexpr int64_t kPartsSums = 32 * 32;       ///< floats of a tile of sums

/// How a step's precision begins that multiplies so.
inline constexpr const char* kPartsOperands = "f32 in parts×f32 in parts→f32";

/// What was met among the numbers taken apart. Products are exact to f32 where all are finite and no product is close to where bf16 ends:
/// the matrix unit takes subnormal numbers for 0.
struct Magnitudes {
  uint32_t smallest = UINT32_MAX;  ///< of those that are not 0: twice the bits of its size, less 1
  bool finite = true;
  void merge(const Magnitudes& other) { smallest = std::min(smallest, other.smallest), finite = finite && other.finite; }
};
/// Are all products of numbers of both kinds as accurate as those of f32?
inline bool exact_products(const Magnitudes& a, const Magnitudes& b) {
  constexpr int kBias = 127, kLeast = -126 + 24;  // the least part of a product that counts is 2^-24 of it
  const auto exponent = [](const Magnitudes& m) { return static_cast<int>(m.smallest >> 24) - kBias; };
  return a.finite && b.finite && exponent(a) >= kLeast && exponent(b) >= kLeast && exponent(a) + exponent(b) >= kLeast;
}

/// Rows of A: row r's part p of block i is at a + r·row_step + p·part_step + offsets[i].
struct PartsRows {
  const std::byte* at;
  int64_t row_step, part_step;
};

/// Products of a thread stand between begin() and end().
struct PartsKernels {
  /// Lines of `count` adjacent floats, `from_step` floats apart, as triples of 32 terms each (upper, middle, lower parts); the last one
  /// ends in zeros.
  Magnitudes (*split_lines)(const float* from, int64_t from_step, int64_t lines, int64_t count, std::byte* to, int64_t to_step);
  /// 32 lines of `count` floats turned: part p of float f of all lines is one line at to + f·row_step + p·part_step.
  Magnitudes (*split_turned)(const float* const* lines, int64_t count, std::byte* to, int64_t row_step, int64_t part_step);
  /// 32 lines, the terms, of `count` columns: blocks of 32 columns, `to_step` bytes apart; the last one ends in zeros.
  Magnitudes (*pack_columns)(const float* const* lines, int64_t count, std::byte* to, int64_t to_step);
  /// The same of lines that lie across: column c's terms are adjacent at from + c·from_step; `terms` ≤ 32 of them, then zeros.
  Magnitudes (*pack_turned)(const float* from, int64_t from_step, int64_t terms, int64_t count, std::byte* to, int64_t to_step);
  /// sums (+)= Σ_i A_i·B_i over `blocks` blocks; B's follow one another. 32 × 32 sums; [0]: of 16 rows, [1]: of 32.
  using Multiply = void (*)(const PartsRows& a, const int64_t* offsets, int64_t blocks, const std::byte* b, float* sums, Tile start);
  Multiply multiply[2];
  /// Rows of sums to where they belong, `count` floats each; null: nowhere. [1]: past the caches where whole lines can be written.
  using Store = void (*)(const float* sums, float* const* rows, int64_t row_count, int64_t count);
  Store store[2];
  void (*add)(const float* from, float* to, int64_t count);  ///< to += from
  void (*begin)();                                           ///< takes the tile registers of the calling thread
  void (*end)();
};

/// Null where the CPU, the system or the build has no matrix unit.
const PartsKernels* parts_kernels();

}  // namespace replay::cpu
