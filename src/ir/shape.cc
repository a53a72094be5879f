// Shapes: the table of element types, sizes and strides, and the text of a shape.
#include "src/ir/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <numeric>

namespace ir {
namespace {

using Kind = TypeInfo::Kind;

constexpr base::FloatFormat kF6e2m3fn{2, 3, 1, base::FloatFormat::Special::none};
constexpr base::FloatFormat kF6e3m2fn{3, 2, 3, base::FloatFormat::Special::none};

/// In the order of `Type`.
constexpr TypeInfo kTypes[] = {
    {"pred", 8, Kind::pred, nullptr, 1},
    {"s1", 8, Kind::signed_, nullptr, 1},
    {"s2", 8, Kind::signed_, nullptr, 2},
    {"s4", 8, Kind::signed_, nullptr, 4},
    {"s8", 8, Kind::signed_, nullptr, 8},
    {"s16", 16, Kind::signed_, nullptr, 16},
    {"s32", 32, Kind::signed_, nullptr, 32},
    {"s64", 64, Kind::signed_, nullptr, 64},
    {"u1", 8, Kind::unsigned_, nullptr, 1},
    {"u2", 8, Kind::unsigned_, nullptr, 2},
    {"u4", 8, Kind::unsigned_, nullptr, 4},
    {"u8", 8, Kind::unsigned_, nullptr, 8},
    {"u16", 16, Kind::unsigned_, nullptr, 16},
    {"u32", 32, Kind::unsigned_, nullptr, 32},
    {"u64", 64, Kind::unsigned_, nullptr, 64},
    {"f16", 16, Kind::floating, &base::kF16, 11},
    {"bf16", 16, Kind::floating, &base::kBf16, 8},
    {"f32", 32, Kind::floating, nullptr, 24},
    {"f64", 64, Kind::floating, nullptr, 53},
    {"f8e5m2", 8, Kind::floating, &base::kF8e5m2, 3},
    {"f8e4m3", 8, Kind::floating, &base::kF8e4m3, 4},
    {"f8e4m3fn", 8, Kind::floating, &base::kF8e4m3fn, 4},
    {"f8e4m3b11fnuz", 8, Kind::floating, &base::kF8e4m3b11fnuz, 4},
    {"f8e3m4", 8, Kind::floating, &base::kF8e3m4, 5},
    {"f8e5m2fnuz", 8, Kind::floating, &base::kF8e5m2fnuz, 3},
    {"f8e4m3fnuz", 8, Kind::floating, &base::kF8e4m3fnuz, 4},
    {"f8e8m0fnu", 8, Kind::floating, &base::kF8e8m0fnu, 1},
    {"f4e2m1fn", 8, Kind::floating, &base::kF4e2m1fn, 2},
    {"f6e2m3fn", 8, Kind::floating, &kF6e2m3fn, 4},
    {"f6e3m2fn", 8, Kind::floating, &kF6e3m2fn, 3},
    {"c64", 64, Kind::complex, nullptr, 24},
    {"c128", 128, Kind::complex, nullptr, 53},
    {"token", 0, Kind::none, nullptr, 0},
    {"opaque", 0, Kind::none, nullptr, 0},
    {"tuple", 0, Kind::none, nullptr, 0},
    {"buffer", 0, Kind::none, nullptr, 0},
};
static_assert(std::size(kTypes) == static_cast<size_t>(Type::buffer) + 1);

/// Sizes are most of what is printed: to_chars is several times faster than a format string.
void append_int(std::string& out, int64_t value) {
  char digits[20];
  out.append(digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr);
}

void print_dims(std::string& out, const Shape& shape) {
  out += '[';
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    if (i > 0) out += ',';
    if (shape.dims[i] < 0) {
      out += '?';
      continue;
    }
    if (!shape.dynamic.empty() && shape.dynamic[i]) out += "<=";
    append_int(out, shape.dims[i]);
  }
  out += ']';
}

void print_layout(std::string& out, const Shape& shape) {
  if (!shape.has_layout || (shape.minor_to_major.empty() && shape.layout_rest.empty())) return;
  out += '{';
  for (size_t i = 0; i < shape.minor_to_major.size(); ++i) {
    if (i > 0) out += ',';
    append_int(out, shape.minor_to_major[i]);
  }
  if (!shape.layout_rest.empty()) out.append(":").append(shape.layout_rest);
  out += '}';
}

void print_tuple(std::string& out, const Shape& shape, LayoutPrint layout) {
  out += '(';
  for (size_t i = 0; i < shape.elements.size(); ++i) {
    if (i > 0) out += ", ";
    if (i > 0 && i % 5 == 0) fmt::format_to(std::back_inserter(out), "/*index={}*/", i);
    print_to(out, shape.elements[i], layout);
  }
  out += ')';
}

void collect_leaves(const Shape& shape, std::vector<int64_t>& path, std::vector<Leaf>& out) {
  if (!shape.is_tuple()) {
    out.push_back({path, &shape});
    return;
  }
  for (size_t i = 0; i < shape.elements.size(); ++i) {
    path.push_back(static_cast<int64_t>(i));
    collect_leaves(shape.elements[i], path, out);
    path.pop_back();
  }
}

}  // namespace

const TypeInfo& info(Type type) { return kTypes[static_cast<size_t>(type)]; }

std::optional<Type> find_type(std::string_view word) {
  if (word == "opaque_type") return Type::opaque;
  for (size_t i = 0; i <= static_cast<size_t>(Type::opaque); ++i) {
    if (kTypes[i].text == word) return static_cast<Type>(i);
  }
  return std::nullopt;
}

Shape array_shape(Type type, std::vector<int64_t> dims) {
  Shape shape;
  shape.type = type;
  shape.dims = std::move(dims);
  shape.has_layout = !shape.dims.empty();
  shape.minor_to_major = minor_to_major(shape);
  return shape;
}

Shape tuple_shape(std::vector<Shape> elements) {
  Shape shape;
  shape.type = Type::tuple;
  shape.elements = std::move(elements);
  return shape;
}

int64_t elements(const Shape& array) {
  int64_t count = 1;
  for (const int64_t dim : array.dims) count *= std::max<int64_t>(dim, 0);
  return count;
}

int64_t bytes(const Shape& shape) {
  if (shape.is_array()) return elements(shape) * bytes(shape.type);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 2;  // a tuple of many huge arrays saturates
  int64_t sum = 0;
  for (const Shape& element : shape.elements) sum = std::min(kMost, sum + std::min(kMost, bytes(element)));
  return sum;
}

std::vector<int64_t> minor_to_major(const Shape& array) {
  if (array.has_layout && array.minor_to_major.size() == array.dims.size() && !array.dims.empty()) return array.minor_to_major;
  std::vector<int64_t> order(array.dims.size());
  std::iota(order.rbegin(), order.rend(), int64_t{0});
  return order;
}

std::vector<int64_t> strides(const Shape& array) {
  std::vector<int64_t> result(array.dims.size());
  int64_t stride = 1;
  for (const int64_t dim : minor_to_major(array)) {
    result[static_cast<size_t>(dim)] = stride;
    stride *= std::max<int64_t>(array.dims[static_cast<size_t>(dim)], 1);
  }
  return result;
}

bool same_dims(const Shape& a, const Shape& b) {
  return a.type == b.type && a.dims == b.dims && std::ranges::equal(a.elements, b.elements, same_dims);
}

bool same_physical(const Shape& a, const Shape& b) {
  if (a.type != b.type || a.dims != b.dims) return false;
  if (!a.is_array()) return std::ranges::equal(a.elements, b.elements, same_physical);
  const std::vector<int64_t> left = strides(a), right = strides(b);
  for (size_t i = 0; i < left.size(); ++i) {
    if (a.dims[i] > 1 && left[i] != right[i]) return false;
  }
  return true;
}

void print_to(std::string& out, const Shape& shape, LayoutPrint layout) {
  if (shape.is_tuple()) return print_tuple(out, shape, layout);
  if (shape.type == Type::buffer) {
    out += "b(";
    for (const Shape& element : shape.elements) print_to(out, element, layout);
    out += ')';
    return;
  }
  out += text(shape.type);
  print_dims(out, shape);
  if (layout == LayoutPrint::with) print_layout(out, shape);
}

std::string print(const Shape& shape, LayoutPrint layout) {
  std::string out;
  print_to(out, shape, layout);
  return out;
}

std::vector<Leaf> leaves(const Shape& shape) {
  std::vector<Leaf> out;
  std::vector<int64_t> path;
  collect_leaves(shape, path, out);
  return out;
}

std::string path_text(const std::vector<int64_t>& path) { return fmt::format("{}", fmt::join(path, ".")); }

}  // namespace ir
