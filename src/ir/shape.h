// Shapes: element type, sizes, layout; tuples of shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/small_float.h"

namespace ir {

enum class Type : uint8_t {
  pred,
  s1,
  s2,
  s4,
  s8,
  s16,
  s32,
  s64,
  u1,
  u2,
  u4,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  f8e5m2,
  f8e4m3,
  f8e4m3fn,
  f8e4m3b11fnuz,
  f8e3m4,
  f8e5m2fnuz,
  f8e4m3fnuz,
  f8e8m0fnu,
  f4e2m1fn,
  f6e2m3fn,
  f6e3m2fn,
  c64,
  c128,
  token,
  opaque,
  tuple,
  buffer,
};

/// What a type is, in one row.
struct TypeInfo {
  std::string_view text;
  int bits;  ///< of one element as stored by us: sub-byte types take a whole byte (8), pred 8
  enum class Kind : uint8_t { pred, signed_, unsigned_, floating, complex, none } kind;
  const base::FloatFormat* small;  ///< of f16, bf16, f8…, f4…; nullptr for the others
  int significant_bits;            ///< integers: value bits (s4: 4, u8: 8); floats: mantissa bits with the hidden one
};
const TypeInfo& info(Type type);
inline std::string_view text(Type type) { return info(type).text; }
/// Of a type word ("f32"); tuple and buffer have none.
std::optional<Type> find_type(std::string_view word);
inline bool is_float(Type type) { return info(type).kind == TypeInfo::Kind::floating; }
inline bool is_complex(Type type) { return info(type).kind == TypeInfo::Kind::complex; }
inline bool is_integer(Type type) { return info(type).kind == TypeInfo::Kind::signed_ || info(type).kind == TypeInfo::Kind::unsigned_; }
/// f16, bf16 and everything smaller: computed in f32.
inline bool is_small_float(Type type) { return info(type).small != nullptr; }
inline int64_t bytes(Type type) { return info(type).bits / 8; }
/// Of the real and the imaginary part; of a type that is not complex the type itself.
inline Type part_type(Type type) { return type == Type::c64 ? Type::f32 : type == Type::c128 ? Type::f64 : type; }

struct Shape {
  Type type = Type::token;
  std::vector<int64_t> dims;            ///< upper bounds where dynamic
  std::vector<bool> dynamic;            ///< empty: none; per dimension `<=`; a dimension `?` has dims -1 and is dynamic
  std::vector<int64_t> minor_to_major;  ///< fastest varying dimension first; valid if has_layout
  bool has_layout = false;
  std::string layout_rest;      ///< tiles, memory space, …: the text after ':' as written, "" if none
  std::vector<Shape> elements;  ///< of a tuple, or the one shape of a buffer
  bool operator==(const Shape&) const = default;

  bool is_tuple() const { return type == Type::tuple; }
  bool is_array() const { return type < Type::token; }
  int rank() const { return static_cast<int>(dims.size()); }
};

Shape array_shape(Type type, std::vector<int64_t> dims);  ///< descending layout, spelled out
Shape tuple_shape(std::vector<Shape> elements);
int64_t elements(const Shape& array);                     ///< product of dims (bounds where dynamic); 1 for a scalar
int64_t bytes(const Shape& shape);                        ///< of all leaves; tokens 0
std::vector<int64_t> minor_to_major(const Shape& array);  ///< the layout, or the default descending one
std::vector<int64_t> strides(const Shape& array);         ///< physical, in elements, one per logical dimension
bool same_dims(const Shape& a, const Shape& b);           ///< type and dims, layout ignored; tuples by element
bool same_physical(const Shape& a, const Shape& b);       ///< same_dims and equal strides wherever a dim is > 1

enum class LayoutPrint { with, without };
std::string print(const Shape& shape, LayoutPrint layout = LayoutPrint::with);  ///< "f32[2,3]{1,0}"; tuples with /*index=5*/ comments
/// Appends instead of allocating: printing a large module is linear and quick.
void print_to(std::string& out, const Shape& shape, LayoutPrint layout = LayoutPrint::with);

/// A leaf of a shape: path of tuple indices and the array there. An array is one leaf with an empty path.
struct Leaf {
  std::vector<int64_t> path;
  const Shape* shape;
};
std::vector<Leaf> leaves(const Shape& shape);
std::string path_text(const std::vector<int64_t>& path);  ///< "0.1"; "" for an array

}  // namespace ir
