// Constants: the shape says how many braces and elements to expect. Numbers are rounded as XLA rounds them: through f64.
#include "importers/hlo/literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "importers/hlo/parser.h"

namespace importers::hlo {
namespace {

using Kind = ir::TypeInfo::Kind;

void append(ir::Literal& literal, uint64_t bits, int64_t size) {
  const size_t begin = literal.data.size();
  literal.data.resize(begin + static_cast<size_t>(size));
  std::memcpy(literal.data.data() + begin, &bits, static_cast<size_t>(size));
}

/// Bits of a NaN with a payload and a sign.
uint64_t nan_bits(ir::Type type, std::optional<uint64_t> payload, bool negative) {
  if (ir::is_small_float(type)) {
    const base::FloatFormat& format = *ir::info(type).small;
    const double nan = std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0);
    const uint64_t bits = base::encode(nan, format);
    if (!payload || format.special != base::FloatFormat::Special::ieee) return bits;
    const uint64_t mask = (uint64_t{1} << format.mantissa) - 1;
    return (bits & ~mask) | (*payload & mask);
  }
  const int mantissa = type == ir::Type::f32 ? 23 : 52, width = type == ir::Type::f32 ? 32 : 64;
  const uint64_t mask = (uint64_t{1} << mantissa) - 1;
  const uint64_t exponent = ((uint64_t{1} << (width - 1)) - 1) & ~mask;
  return exponent | (payload.value_or(uint64_t{1} << (mantissa - 1)) & mask) | (negative ? uint64_t{1} << (width - 1) : 0);
}

/// Whether NaNs of the type have room for a payload.
bool carries(ir::Type type, uint64_t payload) {
  const base::FloatFormat* small = ir::info(type).small;
  if (small != nullptr && small->special != base::FloatFormat::Special::ieee) return false;
  return payload >> (ir::info(type).significant_bits - 1) == 0;
}

uint64_t float_bits(ir::Type type, double value) {
  if (ir::is_small_float(type)) return base::encode(value, *ir::info(type).small);
  return type == ir::Type::f32 ? std::bit_cast<uint32_t>(static_cast<float>(value)) : std::bit_cast<uint64_t>(value);
}

/// A finite number whose nearest value of the type is infinite or NaN.
bool overflows(ir::Type type, double value) {
  if (!std::isfinite(value)) return false;
  if (type == ir::Type::f32) return !std::isfinite(static_cast<float>(value));
  return ir::is_small_float(type) && !std::isfinite(base::decode(base::encode(value, *ir::info(type).small), *ir::info(type).small));
}

/// The bytes that a number may consist of.
std::string_view number_text(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && (continues_word(text[end]) || text[end] == '+')) ++end;
  return text.substr(at, end - at);
}

}  // namespace

std::string_view LiteralReader::element_error() const { return what_; }

bool LiteralReader::real(ir::Literal& out, ir::Type type) {
  lexer_.skip();
  const std::string_view text = lexer_.text();
  size_t at = lexer_.at();
  const bool negative = lexer_.raw() == '-';
  if (text.substr(at + (negative ? 1 : 0)).starts_with("nan")) return nan(out, type, negative);
  const std::string_view digits = number_text(text, at);
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::invalid_argument) return what_ = "expected a number of", false;
  if (code == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
  const auto length = static_cast<size_t>(end - digits.data());
  const std::string_view taken = digits.substr(0, length);
  if (taken.size() != digits.size()) return what_ = "expected a number of", false;
  if (std::isinf(value) && !taken.ends_with("inf")) return what_ = "this number is too large for", false;
  if (overflows(type, value)) return what_ = "this number is too large for", false;
  lexer_.move_to(at + length);
  append(out, float_bits(type, value), ir::bytes(type));
  return true;
}

bool LiteralReader::nan(ir::Literal& out, ir::Type type, bool negative) {
  lexer_.move_to(lexer_.at() + (negative ? 4 : 3));
  std::optional<uint64_t> payload;
  if (lexer_.raw() == '(') {
    const std::string_view rest = lexer_.text().substr(lexer_.at());
    uint64_t bits = 0;
    if (!rest.starts_with("(0x")) return what_ = "a NaN's payload is written nan(0x7f) in", false;
    const auto [end, code] = std::from_chars(rest.data() + 3, rest.data() + rest.size(), bits, 16);
    if (code != std::errc() || end == rest.data() + rest.size() || *end != ')')
      return what_ = "a NaN's payload is written nan(0x7f) in", false;
    payload = bits;
    if (!carries(type, bits)) return what_ = "this NaN's payload does not fit", false;
    lexer_.move_to(lexer_.at() + static_cast<size_t>(end - rest.data()) + 1);
  }
  append(out, nan_bits(type, payload, negative), ir::bytes(type));
  return true;
}

bool LiteralReader::integer(ir::Literal& out, ir::Type type) {
  lexer_.skip();
  if (type == ir::Type::pred) {
    if (lexer_.take_word("true")) return append(out, 1, 1), true;
    if (lexer_.take_word("false")) return append(out, 0, 1), true;
  }
  const std::string_view digits = number_text(lexer_.text(), lexer_.at());
  const char *begin = digits.data(), *stop = begin + digits.size();
  const ir::TypeInfo& info = ir::info(type);
  int64_t value = 0;
  auto [end, code] = std::from_chars(begin, stop, value);
  if (code == std::errc::result_out_of_range && !digits.starts_with('-')) {  // above int64: taken as bits
    uint64_t bits = 0;
    const auto wide = std::from_chars(begin, stop, bits);
    end = wide.ptr, code = wide.ec;
    value = static_cast<int64_t>(bits);
    if (code == std::errc() && info.significant_bits < 64) code = std::errc::result_out_of_range;
  }
  if (code == std::errc::invalid_argument) return what_ = "expected an integer of", false;
  if (end != stop) return what_ = "expected an integer of", false;
  if (code != std::errc() || !in_range(info, value)) return what_ = "this integer does not fit", false;
  lexer_.move_to(lexer_.at() + digits.size());
  append(out, static_cast<uint64_t>(value), ir::bytes(type));
  return true;
}

bool LiteralReader::in_range(const ir::TypeInfo& info, int64_t value) {
  if (info.significant_bits == 64) return true;
  if (info.kind != Kind::signed_) return value >= 0 && value < int64_t{1} << info.significant_bits;
  const int64_t half = int64_t{1} << (info.significant_bits - 1);
  return value >= -half && value < half;
}

bool LiteralReader::element(ir::Literal& out, ir::Type type) {
  if (ir::is_float(type)) return real(out, type);
  if (!ir::is_complex(type)) return integer(out, type);
  const ir::Type part = type == ir::Type::c64 ? ir::Type::f32 : ir::Type::f64;
  if (!lexer_.take('(')) return what_ = "a complex number is written (re, im) in", false;
  if (!real(out, part)) return false;
  lexer_.take(',');
  if (!real(out, part)) return false;
  return lexer_.take(')') || (what_ = "a complex number is written (re, im) in", false);
}

/// One brace level of `dim`.
bool LiteralReader::level(ir::Literal& out, const ir::Shape& shape, size_t dim) {
  if (!lexer_.take('{')) return what_ = "expected '{': a level of braces for each dimension of", false;
  for (int64_t i = 0; i < shape.dims[dim]; ++i) {
    lexer_.take(',');
    if (lexer_.peek() == '}') return what_ = "too few elements for", false;
    const bool ok = dim + 1 == shape.dims.size() ? digit(out, shape.type) : level(out, shape, dim + 1);
    if (!ok) return false;
  }
  lexer_.take(',');
  return lexer_.take('}') || (what_ = "expected '}': no more elements in", false);
}

/// `[1, 2]`, or `1` of a vector: the place in row-major order.
std::optional<int64_t> LiteralReader::position(const ir::Shape& shape) {
  const bool bracket = lexer_.take('[');
  int64_t place = 0;
  for (size_t dim = 0; dim < shape.dims.size(); ++dim) {
    if (dim > 0 && !lexer_.take(',')) return std::nullopt;
    const auto index = lexer_.integer();
    if (!index || *index < 0 || *index >= shape.dims[dim]) return std::nullopt;
    place = place * shape.dims[dim] + *index;
  }
  return !bracket || lexer_.take(']') ? std::optional(place) : std::nullopt;
}

/// Whether elements with their indices follow: `{[0, 1]: 5}` or `{3: 5}`.
bool LiteralReader::at_sparse(const ir::Shape& shape) {
  const size_t begin = lexer_.at();
  bool yes = lexer_.take('{') && !shape.dims.empty() && lexer_.peek() == '[';
  if (!yes && shape.rank() == 1) yes = lexer_.integer() && lexer_.peek() == ':';
  lexer_.move_to(begin);
  return yes;
}

bool LiteralReader::sparse(ir::Literal& out, const ir::Shape& shape) {
  lexer_.take('{');
  while (!lexer_.take('}')) {
    const auto place = position(shape);
    if (!place) return what_ = "expected the index of an element of", false;
    ir::Literal one;
    if (!lexer_.take(':')) return what_ = "expected ':' and a value after an index of", false;
    if (!element(one, shape.type)) return false;
    std::ranges::copy(one.data, out.data.begin() + *place * ir::bytes(shape.type));
    lexer_.take(',');
  }
  return true;
}

/// An element; texts before 2018-11 printed pred arrays without commas: {101}.
bool LiteralReader::digit(ir::Literal& out, ir::Type type) {
  const char c = type == ir::Type::pred ? lexer_.peek() : '\0';
  if (c != '0' && c != '1') return element(out, type);
  lexer_.move_to(lexer_.at() + 1);
  append(out, c == '1' ? 1 : 0, 1);
  return true;
}

std::optional<ir::Literal> Parser::parse_literal(const ir::Shape& shape, int depth) {
  ir::Literal literal;
  const size_t begin = lexer_.at();
  if (depth > kMaxDepth) return fail(begin, fmt::format("literals nest deeper than {}", kMaxDepth)), std::nullopt;
  if (repeats_shape() && !parse_shape_at(0)) return std::nullopt;
  if (lexer_.peek() == '{' && lexer_.text().substr(lexer_.at()).starts_with("{...}")) {
    lexer_.move_to(lexer_.at() + 5);
    literal.elided = true;
    return literal;
  }
  if (shape.is_tuple()) {
    if (!expect('(')) return std::nullopt;
    for (size_t i = 0; i < shape.elements.size(); ++i) {
      if (i > 0 && !expect(',')) return std::nullopt;
      auto element = parse_literal(shape.elements[i], depth + 1);
      if (!element) return std::nullopt;
      literal.elements.push_back(*std::move(element));
    }
    if (!expect(')')) return std::nullopt;
    return literal;
  }
  if (!shape.is_array()) return literal;
  LiteralReader reader(lexer_);
  const bool is_lone = !shape.dims.empty() && lexer_.peek() != '{' && ir::elements(shape) > 0;  // `f32[5] constant(3)`, as people write
  const bool ok = is_lone ? parse_lone_number(literal, shape, reader) : parse_elements(literal, shape, reader);
  if (ok) return literal;
  return fail(lexer_.at(),
              fmt::format("{} {}, got {}", reader.element_error(), ir::print(shape, ir::LayoutPrint::without), lexer_.found())),
         std::nullopt;
}

/// Until 2018-12 every constant carried its shape again. A tuple's shape is followed by the values in parentheses.
bool Parser::repeats_shape() {
  if (!at_shape()) return false;
  if (lexer_.peek() != '(') return true;
  const size_t begin = lexer_.at();
  const bool yes = !lexer_.group().empty() && lexer_.peek() == '(';
  lexer_.move_to(begin);
  return yes;
}

/// Zeros, as far as the budget of what the text does not spell out goes.
bool Parser::fill(ir::Literal& literal, const ir::Shape& shape, size_t place) {
  const int64_t bytes = ir::bytes(shape);
  counters_.fill_budget -= bytes;
  if (counters_.fill_budget < 0) return fail(place, "the elements that are left out are too many; write them, or {...}");
  literal.data.resize(static_cast<size_t>(bytes));
  return true;
}

bool Parser::parse_elements(ir::Literal& literal, const ir::Shape& shape, LiteralReader& reader) {
  const int64_t count = ir::elements(shape);
  if (reader.at_sparse(shape)) return fill(literal, shape, lexer_.at()) && reader.sparse(literal, shape);
  if (count > static_cast<int64_t>(lexer_.text().size() - lexer_.at())) return fail(lexer_.at(), "too few elements for the shape");
  literal.data.reserve(static_cast<size_t>(count * ir::bytes(shape.type)));
  return shape.dims.empty() ? reader.element(literal, shape.type) : reader.level(literal, shape, 0);
}

/// XLA reads one number for a whole array as the first element and zeros; so do we, and say it. The memory is bounded by the text's size.
bool Parser::parse_lone_number(ir::Literal& literal, const ir::Shape& shape, LiteralReader& reader) {
  const size_t place = lexer_.at();
  if (!reader.element(literal, shape.type)) return false;
  if (!fill(literal, shape, place)) return false;
  notes_.add(place, "lone-number", "one number for a whole array is its first element; the others are 0, as XLA reads it");
  return true;
}

}  // namespace importers::hlo
