// The generator. All arithmetic on uint64 wraps:
//   mix64(z):        z ^= z>>30; z *= 0xBF58476D1CE4E5B9; z ^= z>>27; z *= 0x94D049BB133111EB; z ^= z>>31   (SplitMix64's finaliser)
//   key(seed, name): mix64(seed ^ fnv1a64(name))
//   x(i):            mix64(key + (i+1) * 0x9E3779B97F4A7C15)
// i is the flat index in logical row-major order, so layouts and threads have no influence on the values. An array is filled in physical
// order: along its fastest dimension i advances by a constant, which makes the inner loops plain.
#include "replay/inputs.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "replay/element.h"

namespace replay {
namespace {

uint64_t mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

uint64_t fnv1a64(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  return hash;
}

/// Elements whose logical indices are first, first + step, … and that stand one after another in memory.
struct Row {
  std::byte* to;
  uint64_t first, step;
  int64_t count;
};

/// What the inner loops need of a recipe.
struct Maker {
  const Recipe& recipe;
  uint64_t key;
  ir::Type type;
};

/// Calls store(k, i) for the k-th element of the row, which has logical index i.
template <typename T, typename Make>
void fill(const Row& row, Make make) {
  for (int64_t k = 0; k < row.count; ++k) {
    const T value = make(row.first + static_cast<uint64_t>(k) * row.step);
    std::memcpy(row.to + k * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

float uniform_f32(const Maker& maker, uint64_t index) {
  const double u = static_cast<double>(static_cast<int32_t>(stream(maker.key, index) >> 40)) * 0x1p-24;
  return static_cast<float>(maker.recipe.a + (maker.recipe.b - maker.recipe.a) * u);
}
double uniform_f64(const Maker& maker, uint64_t index) {
  const double u = static_cast<double>(static_cast<int64_t>(stream(maker.key, index) >> 11)) * 0x1p-53;
  return maker.recipe.a + (maker.recipe.b - maker.recipe.a) * u;
}

/// f64 to i64 without undefined results.
int64_t truncated(double value) {
  if (!(value > -0x1p63)) return value != value ? 0 : INT64_MIN;
  return value < 0x1p63 ? static_cast<int64_t>(value) : INT64_MAX;
}

/// Real numbers become elements by f32 for types narrower than f32; integers and pred truncate.
void store(ir::Type type, std::byte* to, int64_t index, double re, double im = 0) {
  if (ir::is_complex(type)) {
    store_real(type, to, index, re, 0);
    store_real(type, to, index, im, 1);
  } else if (ir::is_float(type)) {
    store_real(type, to, index, ir::is_small_float(type) ? static_cast<double>(static_cast<float>(re)) : re);
  } else {
    store_integer(type, to, index, type == ir::Type::pred ? re != 0 : truncated(re));
  }
}

void fill_uniform(const Maker& m, const Row& row) {
  switch (m.type) {
    case ir::Type::f32:
      return fill<float>(row, [&](uint64_t i) { return uniform_f32(m, i); });
    case ir::Type::f64:
      return fill<double>(row, [&](uint64_t i) { return uniform_f64(m, i); });
    case ir::Type::f16:
      return fill<uint16_t>(row, [&](uint64_t i) { return f16_bits(uniform_f32(m, i)); });
    case ir::Type::bf16:
      return fill<uint16_t>(row, [&](uint64_t i) { return bf16_bits(uniform_f32(m, i)); });
    default:
      break;
  }
  for (int64_t k = 0; k < row.count; ++k) {
    const uint64_t i = row.first + static_cast<uint64_t>(k) * row.step;
    if (m.type == ir::Type::c128) {
      store(m.type, row.to, k, uniform_f64(m, 2 * i), uniform_f64(m, 2 * i + 1));
    } else if (m.type == ir::Type::c64) {
      store(m.type, row.to, k, static_cast<double>(uniform_f32(m, 2 * i)), static_cast<double>(uniform_f32(m, 2 * i + 1)));
    } else {
      store(m.type, row.to, k, static_cast<double>(uniform_f32(m, i)));
    }
  }
}

void fill_integers(const Maker& m, const Row& row) {
  const int64_t low = truncated(m.recipe.a);
  const uint64_t n = static_cast<uint64_t>(truncated(m.recipe.b)) - static_cast<uint64_t>(low) + 1;
  const auto value = [&](uint64_t i) { return static_cast<int64_t>(static_cast<uint64_t>(low) + (((stream(m.key, i) >> 32) * n) >> 32)); };
  if (m.type == ir::Type::s32 || m.type == ir::Type::u32)
    return fill<int32_t>(row, [&](uint64_t i) { return static_cast<int32_t>(value(i)); });
  if (m.type == ir::Type::s64 || m.type == ir::Type::u64) return fill<int64_t>(row, value);
  for (int64_t k = 0; k < row.count; ++k) {
    const int64_t v = value(row.first + static_cast<uint64_t>(k) * row.step);
    if (ir::is_float(m.type) || ir::is_complex(m.type))
      store(m.type, row.to, k, static_cast<double>(v));
    else
      store_integer(m.type, row.to, k, v);
  }
}

void fill_pred(const Maker& m, const Row& row) {
  fill<uint8_t>(row, [&](uint64_t i) { return static_cast<uint8_t>(stream(m.key, i) >> 63); });
}

void fill_constant(const Maker& m, const Row& row) {
  if (row.count == 0) return;
  store(m.type, row.to, 0, m.recipe.a);
  const auto size = static_cast<size_t>(ir::bytes(m.type));
  for (size_t done = size, all = size * static_cast<size_t>(row.count); done < all;) {
    const size_t more = std::min(done, all - done);
    std::memcpy(row.to + done, row.to, more);
    done += more;
  }
}

void fill_iota(const Maker& m, const Row& row) {
  for (int64_t k = 0; k < row.count; ++k) {
    store(m.type, row.to, k, m.recipe.a + m.recipe.b * static_cast<double>(row.first + static_cast<uint64_t>(k) * row.step));
  }
}

void fill_values(const Maker& m, const Row& row) {
  for (int64_t k = 0; k < row.count; ++k) {
    const uint64_t i = row.first + static_cast<uint64_t>(k) * row.step;
    const std::vector<double>* value = i < m.recipe.values.size() ? &m.recipe.values[i] : nullptr;
    store(m.type, row.to, k, value && !value->empty() ? (*value)[0] : 0, value && value->size() > 1 ? (*value)[1] : 0);
  }
}

/// The default by type, for recipes that say nothing or do not fit the type.
Recipe standard_recipe(ir::Type type) {
  Recipe recipe;
  if (type == ir::Type::pred) {
    recipe.kind = Recipe::Kind::pred;
  } else if (ir::is_integer(type)) {
    recipe.kind = Recipe::Kind::integers;
    const int bits = ir::info(type).significant_bits - (ir::info(type).kind == ir::TypeInfo::Kind::signed_ ? 1 : 0);
    recipe.b = bits >= 7 ? 127 : static_cast<double>((1 << bits) - 1);
  } else {
    recipe.kind = Recipe::Kind::uniform;
    recipe.a = type == ir::Type::f8e8m0fnu ? 0.5 : -1;
    recipe.b = type == ir::Type::f8e8m0fnu ? 2 : 1;
  }
  return recipe;
}

using FillRow = void (*)(const Maker&, const Row&);

FillRow fill_of(Recipe::Kind kind) {
  switch (kind) {
    case Recipe::Kind::standard:
    case Recipe::Kind::uniform:
      return fill_uniform;
    case Recipe::Kind::integers:
      return fill_integers;
    case Recipe::Kind::pred:
      return fill_pred;
    case Recipe::Kind::constant:
      return fill_constant;
    case Recipe::Kind::iota:
      return fill_iota;
    case Recipe::Kind::values:
      return fill_values;
  }
  return fill_uniform;
}

Recipe resolved(const Recipe& recipe, ir::Type type) {
  const bool misfit = recipe.kind == Recipe::Kind::standard || (recipe.kind == Recipe::Kind::pred && type != ir::Type::pred) ||
                      (recipe.kind == Recipe::Kind::uniform && type == ir::Type::pred);
  return misfit ? standard_recipe(type) : recipe;
}

/// Dimensions from slowest to fastest in memory, each with its stride in the logical row-major order; without those of size 1, merged.
struct Axis {
  int64_t size, logical;
};

std::vector<Axis> physical_axes(const ir::Shape& shape) {
  std::vector<int64_t> logical(shape.dims.size(), 1);
  for (size_t i = logical.size(); i-- > 1;) logical[i - 1] = logical[i] * shape.dims[i];
  const std::vector<int64_t> order = ir::minor_to_major(shape);
  std::vector<Axis> axes;
  for (size_t i = order.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(order[i]);
    const Axis axis{shape.dims[d], logical[d]};
    if (axis.size == 1) continue;
    if (!axes.empty() && axes.back().logical == axis.size * axis.logical)
      axes.back() = {axes.back().size * axis.size, axis.logical};
    else
      axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back({1, 1});
  return axes;
}

/// The logical index where a row of the slower axes begins.
uint64_t row_start(const std::vector<Axis>& axes, int64_t row) {
  int64_t index = 0;
  for (size_t i = axes.size() - 1; i-- > 0; row /= axes[i].size) index += row % axes[i].size * axes[i].logical;
  return static_cast<uint64_t>(index);
}

}  // namespace

uint64_t stream_key(uint64_t seed, std::string_view name) { return mix64(seed ^ fnv1a64(name)); }

uint64_t stream(uint64_t key, uint64_t index) { return mix64(key + (index + 1) * 0x9E3779B97F4A7C15ull); }

void generate_into(std::span<std::byte> out, const Recipe& recipe, const ir::Shape& shape, uint64_t seed, std::string_view name) {
  const int64_t count = ir::elements(shape);
  if (count <= 0) return;
  const Recipe chosen = resolved(recipe, shape.type);
  const Maker maker{chosen, stream_key(seed, name), shape.type};
  const FillRow fill_row = fill_of(chosen.kind);
  const std::vector<Axis> axes = physical_axes(shape);
  const int64_t length = axes.back().size, size = ir::bytes(shape.type);
  constexpr int64_t kPiece = 1 << 14;
  const int64_t pieces = (length + kPiece - 1) / kPiece;
#pragma omp parallel for schedule(static) if (count > kPiece)
  for (int64_t task = 0; task < count / length * pieces; ++task) {
    const int64_t row = task / pieces, begin = task % pieces * kPiece;
    const auto step = static_cast<uint64_t>(axes.back().logical);
    fill_row(maker, {out.data() + (row * length + begin) * size, row_start(axes, row) + static_cast<uint64_t>(begin) * step, step,
                     std::min(kPiece, length - begin)});
  }
}

Tensor generate(const Recipe& recipe, const ir::Shape& shape, uint64_t seed, std::string_view name) {
  Tensor out;
  out.shape = ir::array_shape(shape.type, shape.dims);
  out.data.resize(static_cast<size_t>(ir::bytes(out.shape)));
  generate_into(out.data, recipe, out.shape, seed, name);
  return out;
}

std::string input_name(int64_t parameter, const std::vector<int64_t>& path) {
  std::string name = std::to_string(parameter);
  for (const int64_t k : path) name += '.' + std::to_string(k);
  return name;
}

}  // namespace replay
