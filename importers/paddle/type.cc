// Types: the names of data types in all their spellings, and PIR's types.
#include <fmt/format.h>

#include <algorithm>

#include "importers/paddle/attribute.h"
#include "importers/paddle/cursor.h"
#include "importers/paddle/listing.h"

namespace importers::paddle {
namespace {

constexpr int kDeepestList = 16;

/// A data type: Paddle's name, that of the protobuf enumeration with its number, and PIR's short one.
struct DataType {
  std::string_view name, proto;
  int64_t number;
  std::string_view pir;
};
constexpr DataType kDataTypes[] = {
    {"bool", "BOOL", 0, "b"},
    {"int16", "INT16", 1, "i16"},
    {"int32", "INT32", 2, "i32"},
    {"int64", "INT64", 3, "i64"},
    {"float16", "FP16", 4, "f16"},
    {"float32", "FP32", 5, "f32"},
    {"float64", "FP64", 6, "f64"},
    {"uint8", "UINT8", 20, "u8"},
    {"int8", "INT8", 21, "i8"},
    {"bfloat16", "BF16", 22, "bf16"},
    {"complex64", "COMPLEX64", 23, "c64"},
    {"complex128", "COMPLEX128", 24, "c128"},
    {"float8_e4m3fn", "FP8_E4M3FN", 32, "f8e4m3fn"},
    {"float8_e5m2", "FP8_E5M2", 33, "f8e5m2"},
    {"uint8", "", -2, "ui8"},
    {"int64", "", -2, "index"},
    {"size_t", "SIZE_T", 19, ""},
    {"pstring", "PSTRING", 29, "str"},
};

/// `2x-1x16xf32` or `f32`.
base::Status read_dims(Cursor& cursor, Listing& listing, Type& type) {
  listing.sizes.clear();
  while (cursor.peek() == '-' || (cursor.peek() >= '0' && cursor.peek() <= '9')) {
    const auto dim = cursor.integer();
    if (!dim || !cursor.take('x')) return cursor.error(std::string("expected a size and 'x', got ") + cursor.found());
    listing.sizes.push_back(*dim);
  }
  type.dims = listing.keep(listing.sizes);
  if (cursor.take("<<NULL TYPE>>")) return {};
  type.dtype = dtype_name(cursor.word());
  if (type.dtype.empty()) return cursor.error(std::string("expected a data type, got ") + cursor.found());
  return {};
}

base::Result<Type> read_list(Cursor& cursor, Listing& listing, int depth) {
  if (depth == kDeepestList) return cursor.error("lists of lists lie too deep");
  Type type;
  type.kind = Type::Kind::list;
  while (!cursor.skip_space().take(']')) {
    ASSIGN_OR_RETURN(Type element, read_type(cursor, listing, depth + 1));
    type.elements.push_back(std::move(element));
    if (!cursor.skip_space().take(',') && cursor.peek() != ']')
      return cursor.error(fmt::format("expected ',' or ']', got {}", cursor.found()));
  }
  return type;
}

}  // namespace

std::string_view dtype_name(std::string_view spelling) {
  if (const size_t dot = spelling.rfind('.'); dot != std::string_view::npos) spelling = spelling.substr(dot + 1);
  const auto number = spelling.size() <= 2 ? integer_of(spelling) : std::nullopt;
  for (const DataType& type : kDataTypes) {
    if (spelling == type.name || (number && *number == type.number)) return type.name;
    if (!spelling.empty() && (spelling == type.proto || spelling == type.pir)) return type.name;
  }
  return {};
}

base::Result<Type> read_type(Cursor& cursor, Listing& listing, int depth) {
  Type type;
  if (cursor.take("<<NULL TYPE>>")) return type;
  const size_t begin = cursor.at();
  type.holder = cursor.word("_.");
  if (type.holder == "vec" && cursor.take('[')) return read_list(cursor, listing, depth);
  if (!type.holder.ends_with("tensor") || cursor.peek() != '<') {
    type.kind = Type::Kind::other;
    if (cursor.peek() == '<' && cursor.group().empty()) return cursor.error("this '<' has no '>'");
    if (cursor.at() == begin) return cursor.error(fmt::format("expected a type, got {}", cursor.found()));
    return type;
  }
  type.kind = Type::Kind::tensor;
  const size_t open = cursor.at();
  cursor.take('<');
  RETURN_IF_ERROR(read_dims(cursor, listing, type));
  if (cursor.take('>')) return type;
  cursor.move_to(open);  // what follows the data type says how the tensor is distributed
  if (cursor.group().empty()) return cursor.error("this '<' has no '>'");
  return type;
}

}  // namespace importers::paddle
