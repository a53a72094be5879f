// Batches of values: the currency of the reference. An op takes batches of its operands and returns one.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "replay/reference/reference.h"

namespace replay::reference {

using Indices = std::vector<int64_t>;              ///< logical row-major, or positions in a batch
using IndexList = std::shared_ptr<const Indices>;  ///< equal lists of one scope are one object
using Batch = std::shared_ptr<const Values>;

enum class Kind : uint8_t { real, complex, integer };  ///< integer: also pred
Kind kind_of(ir::Type type);
inline Kind kind_of(const Values& values) { return kind_of(values.type); }

/// n zeros of a type, exact and sure.
Values zeros(ir::Type type, size_t n);
size_t size(const Values& values);
inline Batch share(Values&& values) { return std::make_shared<Values>(std::move(values)); }

inline double bound_at(const Values& v, size_t i) { return v.bound.empty() ? 0 : v.bound[i]; }
inline bool unsure_at(const Values& v, size_t i) { return !v.unsure.empty() && v.unsure[i] != 0; }
void set_bound(Values& values, size_t i, double bound);
void set_unsure(Values& values, size_t i);
/// Marks every element of `to` whose partner in `from` is unsure; one element of `from` stands for all.
void spread_unsure(Values& to, const Values& from);

/// The elements at `positions`.
Values take(const Values& from, std::span<const int64_t> positions);
/// to[positions[i]] = from[i].
void put(Values& to, std::span<const int64_t> positions, const Values& from);
/// n copies of element `i`.
Values repeat(const Values& from, size_t i, size_t n);
/// Appends `more` to `to` (same type).
void append(Values& to, const Values& more);

/// The bits of element i as they stand in memory (integers extended), and back.
uint64_t bits_at(const Values& values, size_t i);
void set_bits(Values& values, size_t i, uint64_t bits);

/// What a device computes in: f64 for f64 and c128, f32 for all other floats.
inline ir::Type device_type(ir::Type type) { return type == ir::Type::f64 || type == ir::Type::c128 ? type : ir::Type::f32; }
/// Unit roundoff of that arithmetic.
inline double unit(ir::Type type) { return device_type(type) == ir::Type::f32 ? 0x1p-24 : 0x1p-53; }

}  // namespace replay::reference
