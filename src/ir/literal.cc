// Values of constants: elements by type in little-endian bytes, and their text.
#include "src/ir/literal.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace ir {
namespace {

uint64_t load(const std::byte* at, int64_t size) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<size_t>(size));
  return bits;
}

void store(Literal& literal, uint64_t bits, int64_t size) {
  const size_t begin = literal.data.size();
  literal.data.resize(begin + static_cast<size_t>(size));
  std::memcpy(literal.data.data() + begin, &bits, static_cast<size_t>(size));
}

int64_t sign_extended(uint64_t bits, int width) {
  const int unused = 64 - width;
  return static_cast<int64_t>(bits << unused) >> unused;
}

/// The real type of which a complex type has two; others are their own part.

const std::byte* element_at(const Literal& literal, Type type, int64_t index, int part) {
  return literal.data.data() + index * bytes(type) + part * bytes(part_type(type));
}

/// Sign, default payload and payload of NaN bits. Formats with one NaN pattern have no payload.
struct Nan {
  bool negative = false;
  uint64_t payload = 0, usual = 0;
};

Nan split_nan(uint64_t bits, Type type) {
  const int mantissa = is_small_float(type) ? info(type).small->mantissa : type == Type::f32 ? 23 : 52;
  const auto width = static_cast<int>(8 * bytes(type));
  const bool has_payload = !is_small_float(type) || info(type).small->special == base::FloatFormat::Special::ieee;
  Nan nan{((bits >> (width - 1)) & 1) != 0, 0, 0};
  if (!has_payload) {
    nan.negative = nan.negative && info(type).small->special == base::FloatFormat::Special::finite && info(type).small->has_sign;
    return nan;
  }
  nan.payload = bits & ((uint64_t{1} << mantissa) - 1);
  nan.usual = uint64_t{1} << (mantissa - 1);
  return nan;
}

void print_float(std::string& out, const Literal& literal, Type type, int64_t index, int part) {
  const double value = as_double(literal, type, index, part);
  const Type real = part_type(type);
  if (std::isnan(value)) {
    const Nan nan = split_nan(load(element_at(literal, type, index, part), bytes(real)), real);
    out += nan.negative ? "-nan" : "nan";
    if (nan.payload != nan.usual) fmt::format_to(std::back_inserter(out), "(0x{:x})", nan.payload);
  } else if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
  } else if (real == Type::f64) {
    fmt::format_to(std::back_inserter(out), "{}", value);
  } else {
    fmt::format_to(std::back_inserter(out), "{}", static_cast<float>(value));
  }
}

enum class Words : uint8_t { true_false, one_zero };  ///< how pred prints: words alone, digits in arrays

void print_element(std::string& out, const Literal& literal, Type type, int64_t index, Words words) {
  if (is_complex(type)) {
    out += '(';
    print_float(out, literal, type, index, 0);
    out += ", ";
    print_float(out, literal, type, index, 1);
    out += ')';
  } else if (is_float(type)) {
    print_float(out, literal, type, index, 0);
  } else if (type == Type::pred && words == Words::true_false) {
    out += as_int(literal, type, index) != 0 ? "true" : "false";
  } else if (info(type).kind == TypeInfo::Kind::unsigned_) {
    fmt::format_to(std::back_inserter(out), "{}", static_cast<uint64_t>(as_int(literal, type, index)));
  } else {
    fmt::format_to(std::back_inserter(out), "{}", as_int(literal, type, index));
  }
}

/// One brace level of an array; returns the index after the last element printed.
int64_t print_level(std::string& out, const Literal& literal, const Shape& shape, size_t dim, int64_t index) {
  const bool innermost = dim + 1 == shape.dims.size();
  out += innermost ? "{" : "{ ";
  for (int64_t i = 0; i < shape.dims[dim]; ++i) {
    if (i > 0) out += ", ";
    if (innermost)
      print_element(out, literal, shape.type, index++, Words::one_zero);
    else
      index = print_level(out, literal, shape, dim + 1, index);
  }
  out += innermost ? "}" : " }";
  return index;
}

void print_literal(std::string& out, const Literal& literal, const Shape& shape) {
  if (literal.elided) {
    out += "{...}";
  } else if (shape.is_tuple()) {
    out += '(';
    for (size_t i = 0; i < literal.elements.size(); ++i) {
      out += i > 0 ? ", " : " ";
      print_literal(out, literal.elements[i], shape.elements[i]);
    }
    out += literal.elements.empty() ? ")" : " )";
  } else if (shape.is_array()) {
    if (shape.dims.empty())
      print_element(out, literal, shape.type, 0, Words::true_false);
    else
      print_level(out, literal, shape, 0, 0);
  }
}

uint64_t float_bits(Type type, double value) {
  if (is_small_float(type)) return base::encode(value, *info(type).small);
  if (type == Type::f32 || type == Type::c64) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<uint64_t>(value);
}

}  // namespace

double as_double(const Literal& literal, Type type, int64_t index, int part) {
  const Type real = part_type(type);
  const uint64_t bits = load(element_at(literal, type, index, part), bytes(real));
  if (is_small_float(real)) return base::decode(static_cast<uint32_t>(bits), *info(real).small);
  if (real == Type::f32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (real == Type::f64) return std::bit_cast<double>(bits);
  const int64_t value = as_int(literal, type, index);
  return type == Type::u64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
}

int64_t as_int(const Literal& literal, Type type, int64_t index) {
  if (is_float(type) || is_complex(type)) return static_cast<int64_t>(as_double(literal, type, index));
  const uint64_t bits = load(element_at(literal, type, index, 0), bytes(type));
  const int width = info(type).significant_bits;
  if (info(type).kind == TypeInfo::Kind::signed_) return sign_extended(bits, width);
  return static_cast<int64_t>(width == 64 ? bits : bits & ((uint64_t{1} << width) - 1));
}

Literal scalar_literal(Type type, double value) {
  if (!is_float(type) && !is_complex(type)) return scalar_literal(type, static_cast<int64_t>(value));
  Literal literal;
  store(literal, float_bits(type, value), bytes(part_type(type)));
  if (is_complex(type)) store(literal, 0, bytes(part_type(type)));
  return literal;
}

Literal scalar_literal(Type type, int64_t value) {
  if (is_float(type) || is_complex(type)) return scalar_literal(type, static_cast<double>(value));
  Literal literal;
  const int width = info(type).significant_bits;
  const auto bits = static_cast<uint64_t>(value);
  if (type == Type::pred)
    store(literal, value != 0 ? 1 : 0, 1);
  else if (info(type).kind == TypeInfo::Kind::signed_)
    store(literal, static_cast<uint64_t>(sign_extended(bits, width)), bytes(type));
  else
    store(literal, width == 64 ? bits : bits & ((uint64_t{1} << width) - 1), bytes(type));
  return literal;
}

Literal greatest_literal(Type type) {
  if (is_float(type)) return scalar_literal(type, std::numeric_limits<double>::infinity());
  const int bits = info(type).significant_bits - (info(type).kind == TypeInfo::Kind::signed_ ? 1 : 0);
  return scalar_literal(type, static_cast<int64_t>(bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1));
}

Literal least_literal(Type type) {
  if (is_float(type)) return scalar_literal(type, -std::numeric_limits<double>::infinity());
  const bool is_signed = info(type).kind == TypeInfo::Kind::signed_;
  return scalar_literal(type, is_signed ? static_cast<int64_t>(~uint64_t{0} << (info(type).significant_bits - 1)) : int64_t{0});
}

std::string print(const Literal& literal, const Shape& shape) {
  std::string out;
  print_literal(out, literal, shape);
  return out;
}

}  // namespace ir
