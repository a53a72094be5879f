// The tables of rows, and the arithmetic of shapes that rows share.
#include "importers/paddle/lower.h"

#include <algorithm>
#include <numeric>

namespace importers::paddle {
namespace {

struct TypeName {
  std::string_view paddle;
  ir::Type type;
};
constexpr TypeName kTypes[] = {
    {"bool", ir::Type::pred},
    {"int8", ir::Type::s8},
    {"uint8", ir::Type::u8},
    {"int16", ir::Type::s16},
    {"int32", ir::Type::s32},
    {"int64", ir::Type::s64},
    {"float16", ir::Type::f16},
    {"bfloat16", ir::Type::bf16},
    {"float32", ir::Type::f32},
    {"float64", ir::Type::f64},
    {"complex64", ir::Type::c64},
    {"complex128", ir::Type::c128},
    {"float8_e4m3fn", ir::Type::f8e4m3fn},
    {"float8_e5m2", ir::Type::f8e5m2},
};

std::unordered_map<std::string_view, const Row*> index_rows() {
  std::unordered_map<std::string_view, const Row*> index;
  for (const std::span<const Row> rows : families()) {
    for (const Row& row : rows) index.emplace(row.type, &row);
  }
  return index;
}

}  // namespace

std::vector<std::span<const Row>> families() {
  return {attention_rows(), convolution_rows(), pool_rows(),  elementwise_rows(), activation_rows(),
          product_rows(),   shape_rows(),       moved_rows(), indexed_rows(),     reduction_rows(),
          loss_rows(),      normal_rows(),      image_rows(), random_rows(),      training_rows()};
}

const Row* find_row(std::string_view type) {
  static const std::unordered_map<std::string_view, const Row*> kIndex = index_rows();
  const auto found = kIndex.find(type);
  return found == kIndex.end() ? nullptr : found->second;
}

std::optional<ir::Type> ir_type(std::string_view dtype) {
  const auto found = std::ranges::find(kTypes, dtype, &TypeName::paddle);
  return found == std::end(kTypes) ? std::nullopt : std::optional(found->type);
}

ir::Type wide(ir::Type type) { return ir::is_small_float(type) ? ir::Type::f32 : type; }

Value widen(Body& body, Value value) { return body.convert(value, wide(body.type(value))); }

Dims aligned(Dims y, size_t rank_of_x, int64_t axis) {
  if (axis < 0 || y.size() >= rank_of_x) return y;
  Dims dims = y;
  while (!dims.empty() && dims.back() == 1) dims.pop_back();
  if (static_cast<size_t>(axis) + dims.size() > rank_of_x) return y;
  dims.resize(rank_of_x - static_cast<size_t>(axis), 1);
  return dims;
}

Value aligned(Body& body, Value x, Value y, int64_t axis) { return body.reshape(y, aligned(body.dims(y), body.dims(x).size(), axis)); }

bool broadcast_fits(const Dims& a, const Dims& b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const int64_t x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

Value reduce_to(Body& body, Value value, const Dims& dims) {
  const Dims from = body.dims(value);
  if (from == dims || dims.size() > from.size()) return body.reshape(value, dims);
  Dims over;
  const size_t lead = from.size() - dims.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (i < lead || (dims[i - lead] == 1 && from[i] != 1)) over.push_back(static_cast<int64_t>(i));
  }
  return body.reshape(body.reduce(ir::Op::add, value, over), dims);
}

int64_t axis_of(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

std::optional<Dims> axes_of(const Dims& axes, int64_t rank) {
  Dims counted;
  for (const int64_t axis : axes) {
    const int64_t at = axis_of(axis, rank);
    if (at < 0 || at >= rank) return std::nullopt;
    counted.push_back(at);
  }
  std::ranges::sort(counted);
  const auto twice = std::ranges::unique(counted);
  counted.erase(twice.begin(), twice.end());
  return counted;
}

Dims permutation_back(const Dims& permutation) {
  Dims back(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    const int64_t from = permutation[i];
    if (from >= 0 && static_cast<size_t>(from) < back.size()) back[static_cast<size_t>(from)] = static_cast<int64_t>(i);
  }
  return back;
}

int64_t elements_of(const Dims& dims) {
  constexpr int64_t kTooMany = int64_t{1} << 50;
  int64_t product = 1;
  for (const int64_t dim : dims) {
    if (dim <= 0) return dim == 0 ? 0 : kTooMany;
    if (dim > kTooMany / product) return kTooMany;
    product *= dim;
  }
  return product;
}

bool fit_windows(const Dims& numbers) {
  constexpr int64_t kMost = 1 << 20;
  return std::ranges::all_of(numbers, [](int64_t number) { return -kMost <= number && number <= kMost; });
}

}  // namespace importers::paddle
