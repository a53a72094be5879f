// A table of makers: each takes values that exist, writes one instruction, and knows its shape. What a maker can't do with the values at
// hand it declines, and another one is drawn. Elementwise and moving operations come from op.def's classes by way of the lists below; sizes
// are odd, prime, 1 and 0 as well as round, and stay under kMostElements.
#include "tests/differential/generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace differential {
namespace {

constexpr int64_t kMostElements = 6000;
constexpr std::array<int64_t, 14> kSizes = {0, 1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 33, 64};

using Dims = std::vector<int64_t>;

struct Value {
  std::string name, type;
  Dims dims;
  int64_t elements() const {
    int64_t n = 1;
    for (const int64_t d : dims) n *= d;
    return n;
  }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
};

enum class Kind : uint8_t { real, complex, integer, unsigned_integer, pred };
struct TypeRow {
  std::string_view name;
  Kind kind;
  int weight;
};
constexpr TypeRow kTypes[] = {{"f32", Kind::real, 8},
                              {"f16", Kind::real, 5},
                              {"bf16", Kind::real, 3},
                              {"f64", Kind::real, 3},
                              {"s32", Kind::integer, 4},
                              {"s8", Kind::integer, 1},
                              {"s16", Kind::integer, 1},
                              {"s64", Kind::integer, 2},
                              {"u8", Kind::unsigned_integer, 1},
                              {"u32", Kind::unsigned_integer, 2},
                              {"pred", Kind::pred, 2},
                              {"c64", Kind::complex, 1},
                              {"f8e4m3fn", Kind::real, 1},
                              {"f8e5m2", Kind::real, 1},
                              {"s4", Kind::integer, 1}};

Kind kind_of(std::string_view type) { return std::ranges::find(kTypes, type, &TypeRow::name)->kind; }

/// Functions of reals that are continuous: a difference in the last bit of the operand stays one.
constexpr std::string_view kRealUnary[] = {"abs",  "negate", "exponential", "exponential-minus-one", "tanh", "logistic", "cosine",
                                           "sine", "sqrt",   "cbrt",        "log-plus-one",          "erf",  "copy"};
constexpr std::string_view kIntegerUnary[] = {"abs", "negate", "not", "sign", "copy"};
constexpr std::string_view kUnsignedUnary[] = {"not", "popcnt", "count-leading-zeros", "copy"};
constexpr std::string_view kPredUnary[] = {"not", "copy"};
constexpr std::string_view kComplexUnary[] = {"negate", "exponential", "copy"};
constexpr std::string_view kRealBinary[] = {"add", "subtract", "multiply", "maximum", "minimum"};
constexpr std::string_view kIntegerBinary[] = {"add",
                                               "subtract",
                                               "multiply",
                                               "maximum",
                                               "minimum",
                                               "divide",
                                               "remainder",
                                               "and",
                                               "or",
                                               "xor",
                                               "shift-left",
                                               "shift-right-logical",
                                               "shift-right-arithmetic"};
constexpr std::string_view kPredBinary[] = {"and", "or", "xor"};
constexpr std::string_view kComplexBinary[] = {"add", "subtract", "multiply"};
constexpr std::string_view kDirections[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}
  std::string module(uint64_t seed);

 private:
  template <typename T>
  const T& one_of(std::span<const T> from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }
  int64_t below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }
  bool chance(int percent) { return below(100) < percent; }
  std::string type();
  Dims dims();
  const Value& value() { return one_of<Value>(values_); }
  /// A value that `wanted` accepts; null if none of a few draws does.
  const Value* find(const std::function<bool(const Value&)>& wanted);
  /// One like `like`: an existing value, or a new constant or broadcast of one.
  Value like(const Value& like);
  bool put(std::string type, Dims dims, const std::string& expression);
  std::string shape(const std::string& type, const Dims& dims);
  std::string reducer(const std::string& type);

  bool unary();
  bool binary();
  bool compare();
  bool select();
  bool clamp();
  bool convert();
  bool broadcast();
  bool reshape();
  bool transpose();
  bool slice();
  bool pad();
  bool concatenate();
  bool reverse();
  bool iota();
  bool dynamic_slice();
  bool dynamic_update_slice();
  bool gather();
  bool scatter();
  bool reduce();
  bool reduce_window();
  bool dot();
  bool sort();

  struct Maker {
    bool (Generator::*make)();
    int weight;
  };
  static const std::vector<Maker>& makers();

  std::mt19937_64 random_;
  std::vector<Value> values_;
  std::string body_, called_;
  int count_ = 0, callees_ = 0;
  bool fused_ = false;
};

std::string Generator::type() {
  int total = 0;
  for (const TypeRow& row : kTypes) total += row.weight;
  int64_t at = below(total);
  for (const TypeRow& row : kTypes)
    if ((at -= row.weight) < 0) return std::string(row.name);
  return "f32";
}

Dims Generator::dims() {
  Dims dims;
  int64_t elements = 1;
  for (int64_t rank = below(4) + (chance(20) ? 0 : 1); rank > 0 && static_cast<int64_t>(dims.size()) < 4; --rank) {
    int64_t size = one_of<int64_t>(kSizes);
    if (size == 0 && !chance(15)) size = 6;
    if (elements * size > kMostElements) size = 1;
    elements *= size;
    dims.push_back(size);
  }
  return dims;
}

std::string Generator::shape(const std::string& type, const Dims& dims) { return fmt::format("{}[{}]", type, fmt::join(dims, ",")); }

bool Generator::put(std::string type, Dims dims, const std::string& expression) {
  Value made{fmt::format("v{}", count_++), std::move(type), std::move(dims)};
  if (made.elements() > kMostElements) return false;
  body_ += fmt::format("  {} = {} {}\n", made.name, shape(made.type, made.dims), expression);
  values_.push_back(std::move(made));
  return true;
}

const Value* Generator::find(const std::function<bool(const Value&)>& wanted) {
  for (int draw = 0; draw < 8; ++draw)
    if (const Value& v = value(); wanted(v)) return &v;
  return nullptr;
}

Value Generator::like(const Value& like) {
  const Value* other = find([&](const Value& v) { return v.type == like.type && v.dims == like.dims; });
  if (other != nullptr && (other->name != like.name || chance(30))) return *other;
  const Kind kind = kind_of(like.type);
  const std::string number = kind == Kind::pred      ? (chance(50) ? "true" : "false")
                             : kind == Kind::complex ? "(0.5, -2)"
                                                     : fmt::format("{}", below(3) + 1);
  put(like.type, {}, fmt::format("constant({})", number));
  if (like.dims.empty()) return values_.back();
  put(like.type, like.dims, fmt::format("broadcast({}), dimensions={{}}", Value(values_.back()).name));
  return values_.back();
}

/// A computation that adds, multiplies or takes the larger of two scalars.
std::string Generator::reducer(const std::string& type) {
  const Kind kind = kind_of(type);
  const std::string op = kind == Kind::pred                    ? (chance(50) ? "and" : "or")
                         : kind == Kind::complex || chance(60) ? "add"
                         : chance(50)                          ? "maximum"
                                                               : "minimum";
  const std::string name = fmt::format("reducer{}", callees_++);
  called_ += fmt::format("{0} {{\n  a = {1}[] parameter(0)\n  b = {1}[] parameter(1)\n  ROOT r = {1}[] {2}(a, b)\n}}\n\n", name, type, op);
  return name;
}

bool Generator::unary() {
  const Value x = value();
  const std::span<const std::string_view> ops[] = {kRealUnary, kComplexUnary, kIntegerUnary, kUnsignedUnary, kPredUnary};
  std::string op(one_of<std::string_view>(ops[static_cast<size_t>(kind_of(x.type))]));
  Value operand = x;
  if (op == "sqrt" || op == "log-plus-one") {  // of what is not negative
    put(x.type, x.dims, fmt::format("abs({})", x.name));
    operand = values_.back();
  }
  return put(x.type, x.dims, fmt::format("{}({})", op, operand.name));
}

bool Generator::binary() {
  const Value x = value(), y = like(x);
  const std::span<const std::string_view> ops[] = {kRealBinary, kComplexBinary, kIntegerBinary, kIntegerBinary, kPredBinary};
  return put(x.type, x.dims,
             fmt::format("{}({}, {})", one_of<std::string_view>(ops[static_cast<size_t>(kind_of(x.type))]), x.name, y.name));
}

/// Of integers: of reals that were computed, the last bit would decide.
bool Generator::compare() {
  const Value* x = find([](const Value& v) { return kind_of(v.type) >= Kind::integer; });
  if (x == nullptr) return false;
  const Value a = *x, b = like(a);
  return put("pred", a.dims, fmt::format("compare({}, {}), direction={}", a.name, b.name, one_of<std::string_view>(kDirections)));
}

bool Generator::select() {
  const Value* chosen = find([](const Value& v) { return v.type == "pred"; });
  if (chosen == nullptr) return false;
  const Value p = *chosen;
  const Value* x = find([&](const Value& v) { return v.dims == p.dims; });
  if (x == nullptr) return false;
  const Value a = *x, b = like(a);
  return put(a.type, a.dims, fmt::format("select({}, {}, {})", p.name, a.name, b.name));
}

bool Generator::clamp() {
  const Value* x = find([](const Value& v) { return kind_of(v.type) != Kind::complex && kind_of(v.type) != Kind::pred; });
  if (x == nullptr) return false;
  const Value a = *x;
  put(a.type, {}, "constant(0)");
  const std::string low = values_.back().name;
  put(a.type, {}, "constant(3)");
  return put(a.type, a.dims, fmt::format("clamp({}, {}, {})", low, a.name, Value(values_.back()).name));
}

/// Not from reals to integers: the last bit would decide.
bool Generator::convert() {
  const Value x = value();
  const std::string to = type();
  const Kind from = kind_of(x.type), kind = kind_of(to);
  if (from == Kind::complex || kind == Kind::complex || to == x.type || (from == Kind::real && kind != Kind::real)) return false;
  return put(to, x.dims, fmt::format("convert({})", x.name));
}

bool Generator::broadcast() {
  const Value x = value();
  Dims dims = x.dims, places;
  for (int64_t d = 0; d < x.rank(); ++d) places.push_back(d);
  for (int64_t more = below(2) + 1; more > 0; --more) {
    const int64_t at = below(static_cast<int64_t>(dims.size()) + 1);
    dims.insert(dims.begin() + at, std::max<int64_t>(1, one_of<int64_t>(kSizes)));
    for (int64_t& p : places)
      if (p >= at) ++p;
  }
  return put(x.type, dims, fmt::format("broadcast({}), dimensions={{{}}}", x.name, fmt::join(places, ",")));
}

bool Generator::reshape() {
  const Value x = value();
  Dims dims = x.dims;
  if (dims.size() >= 2 && chance(60)) {
    const auto at = static_cast<size_t>(below(static_cast<int64_t>(dims.size()) - 1));
    dims[at] *= dims[at + 1];
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  } else {
    dims.insert(dims.begin() + below(static_cast<int64_t>(dims.size()) + 1), 1);
  }
  return put(x.type, dims, fmt::format("reshape({})", x.name));
}

bool Generator::transpose() {
  const Value* found = find([](const Value& v) { return v.rank() >= 2; });
  if (found == nullptr) return false;
  const Value x = *found;
  Dims order;
  for (int64_t d = 0; d < x.rank(); ++d) order.push_back(d);
  std::shuffle(order.begin(), order.end(), random_);
  Dims dims;
  for (const int64_t d : order) dims.push_back(x.dims[static_cast<size_t>(d)]);
  return put(x.type, dims, fmt::format("transpose({}), dimensions={{{}}}", x.name, fmt::join(order, ",")));
}

bool Generator::slice() {
  const Value x = value();
  if (x.rank() == 0) return false;
  Dims dims;
  std::vector<std::string> ranges;
  for (const int64_t d : x.dims) {
    const int64_t from = below(d + 1), to = from + below(d - from + 1), step = below(3) + 1;
    ranges.push_back(fmt::format("[{}:{}:{}]", from, to, step));
    dims.push_back((to - from + step - 1) / step);
  }
  return put(x.type, dims, fmt::format("slice({}), slice={{{}}}", x.name, fmt::join(ranges, ", ")));
}

bool Generator::pad() {
  const Value x = value();
  if (x.rank() == 0) return false;
  Dims dims;
  std::vector<std::string> sides;
  for (const int64_t d : x.dims) {
    const int64_t low = below(4) - 1, high = below(4) - 1, inside = chance(30) ? below(3) : 0;
    const int64_t size = d + low + high + std::max<int64_t>(0, d - 1) * inside;
    if (size < 0) return false;
    sides.push_back(fmt::format("{}_{}_{}", low, high, inside));
    dims.push_back(size);
  }
  const Value zero = like({"", x.type, {}});
  return put(x.type, dims, fmt::format("pad({}, {}), padding={}", x.name, zero.name, fmt::join(sides, "x")));
}

bool Generator::concatenate() {
  const Value* found = find([](const Value& v) { return v.rank() >= 1; });
  if (found == nullptr) return false;
  const Value x = *found;
  const auto along = static_cast<size_t>(below(x.rank()));
  const Value* other = find([&](const Value& v) {
    Dims a = x.dims, b = v.dims;
    if (v.type != x.type || a.size() != b.size()) return false;
    a[along] = b[along] = 0;
    return a == b;
  });
  const Value y = other == nullptr ? x : *other;
  Dims dims = x.dims;
  dims[along] += y.dims[along];
  return put(x.type, dims, fmt::format("concatenate({}, {}), dimensions={{{}}}", x.name, y.name, along));
}

bool Generator::reverse() {
  const Value x = value();
  if (x.rank() == 0) return false;
  return put(x.type, x.dims, fmt::format("reverse({}), dimensions={{{}}}", x.name, below(x.rank())));
}

bool Generator::iota() {
  const Dims sizes = dims();
  const std::string t = type();
  if (sizes.empty() || kind_of(t) == Kind::pred || t == "s4" || t.starts_with("f8")) return false;
  return put(t, sizes, fmt::format("iota(), iota_dimension={}", below(static_cast<int64_t>(sizes.size()))));
}

bool Generator::dynamic_slice() {
  const Value* found = find([](const Value& v) { return v.rank() >= 1 && v.elements() > 0; });
  if (found == nullptr) return false;
  const Value x = *found;
  Dims sizes;
  std::vector<std::string> starts;
  for (const int64_t d : x.dims) {
    sizes.push_back(below(d) + 1);
    put("s32", {}, fmt::format("constant({})", below(d + 4) - 2));
    starts.push_back(values_.back().name);
  }
  return put(x.type, sizes,
             fmt::format("dynamic-slice({}, {}), dynamic_slice_sizes={{{}}}", x.name, fmt::join(starts, ", "), fmt::join(sizes, ",")));
}

bool Generator::dynamic_update_slice() {
  const Value* found = find([](const Value& v) { return v.rank() >= 1 && v.elements() > 0; });
  if (found == nullptr) return false;
  const Value x = *found;
  const Value* update = find([&](const Value& v) {
    if (v.type != x.type || v.rank() != x.rank()) return false;
    for (size_t d = 0; d < v.dims.size(); ++d)
      if (v.dims[d] > x.dims[d]) return false;
    return true;
  });
  if (update == nullptr) return false;
  const Value u = *update;
  std::vector<std::string> starts;
  for (const int64_t d : x.dims) {
    put("s32", {}, fmt::format("constant({})", below(d + 4) - 2));
    starts.push_back(values_.back().name);
  }
  return put(x.type, x.dims, fmt::format("dynamic-update-slice({}, {}, {})", x.name, u.name, fmt::join(starts, ", ")));
}

/// Rows of a matrix by numbers that may lie outside.
bool Generator::gather() {
  const Value* found = find([](const Value& v) { return v.rank() == 2 && v.elements() > 0; });
  const Value* numbers = find([](const Value& v) { return v.type == "s32" && v.rank() == 1; });
  if (found == nullptr || numbers == nullptr) return false;
  const Value x = *found, n = *numbers;
  return put(x.type, {n.dims[0], x.dims[1]},
             fmt::format("gather({}, {}), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, "
                         "slice_sizes={{1,{}}}",
                         x.name, n.name, x.dims[1]));
}

bool Generator::scatter() {
  const Value* found = find([](const Value& v) { return v.rank() == 2 && v.elements() > 0; });
  const Value* numbers = find([](const Value& v) { return v.type == "s32" && v.rank() == 1; });
  if (found == nullptr || numbers == nullptr || numbers->dims[0] * found->dims[1] > kMostElements) return false;
  const Value x = *found, n = *numbers, updates = like({"", x.type, {n.dims[0], x.dims[1]}});
  return put(x.type, x.dims,
             fmt::format("scatter({}, {}, {}), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, "
                         "index_vector_dim=1, to_apply={}",
                         x.name, n.name, updates.name, reducer(x.type)));
}

bool Generator::reduce() {
  const Value* found = find([](const Value& v) { return v.rank() >= 1; });
  if (found == nullptr) return false;
  const Value x = *found, start = like({"", x.type, {}});
  Dims kept, gone;
  for (int64_t d = 0; d < x.rank(); ++d) chance(50) ? gone.push_back(d) : kept.push_back(x.dims[static_cast<size_t>(d)]);
  if (gone.empty()) return false;
  return put(x.type, kept,
             fmt::format("reduce({}, {}), dimensions={{{}}}, to_apply={}", x.name, start.name, fmt::join(gone, ","), reducer(x.type)));
}

bool Generator::reduce_window() {
  const Value* found = find([](const Value& v) { return v.rank() >= 1 && v.elements() > 0; });
  if (found == nullptr) return false;
  const Value x = *found, start = like({"", x.type, {}});
  Dims out;
  std::vector<std::string> sizes, strides, pads, spread, apart;
  for (const int64_t d : x.dims) {
    const int64_t size = below(3) + 1, stride = below(2) + 1, low = below(2), high = below(2), base = below(2) + 1, gap = below(2) + 1;
    const int64_t room = (d - 1) * base + 1 + low + high, reach = (size - 1) * gap + 1;
    if (room < reach) return false;
    out.push_back((room - reach) / stride + 1);
    sizes.push_back(std::to_string(size)), strides.push_back(std::to_string(stride)), pads.push_back(fmt::format("{}_{}", low, high));
    spread.push_back(std::to_string(base)), apart.push_back(std::to_string(gap));
  }
  return put(x.type, out,
             fmt::format("reduce-window({}, {}), window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={}}}, to_apply={}", x.name,
                         start.name, fmt::join(sizes, "x"), fmt::join(strides, "x"), fmt::join(pads, "x"), fmt::join(spread, "x"),
                         fmt::join(apart, "x"), reducer(x.type)));
}

bool Generator::dot() {
  const Value* found = find([](const Value& v) { return v.rank() == 2 && v.type != "pred" && v.type != "s4"; });
  if (found == nullptr) return false;
  const Value x = *found;
  const Value* other = find([&](const Value& v) { return v.type == x.type && v.rank() == 2 && v.dims[0] == x.dims[1]; });
  const bool square = other == nullptr;  // else x·xᵀ
  const Value y = square ? x : *other;
  const Dims dims = {x.dims[0], square ? x.dims[0] : y.dims[1]};
  return put(x.type, dims,
             fmt::format("dot({}, {}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{}}}", x.name, y.name, square ? 1 : 0));
}

bool Generator::sort() {
  const Value* found =
      find([](const Value& v) { return v.rank() >= 1 && kind_of(v.type) != Kind::complex && kind_of(v.type) != Kind::pred; });
  if (found == nullptr || fused_) return false;
  const Value x = *found;
  const std::string name = fmt::format("order{}", callees_++);
  called_ +=
      fmt::format("{0} {{\n  a = {1}[] parameter(0)\n  b = {1}[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction={2}\n}}\n\n",
                  name, x.type, chance(50) ? "LT" : "GT");
  return put(x.type, x.dims, fmt::format("sort({}), dimensions={{{}}}, to_apply={}", x.name, below(x.rank()), name));
}

const std::vector<Generator::Maker>& Generator::makers() {
  using G = Generator;
  static const std::vector<Maker> kMakers = {{&G::unary, 8},     {&G::binary, 10}, {&G::compare, 2},       {&G::select, 3},
                                             {&G::clamp, 1},     {&G::convert, 4}, {&G::broadcast, 4},     {&G::reshape, 3},
                                             {&G::transpose, 4}, {&G::slice, 3},   {&G::pad, 3},           {&G::concatenate, 2},
                                             {&G::reverse, 1},   {&G::iota, 2},    {&G::dynamic_slice, 2}, {&G::dynamic_update_slice, 2},
                                             {&G::gather, 2},    {&G::scatter, 2}, {&G::reduce, 4},        {&G::reduce_window, 1},
                                             {&G::dot, 1},       {&G::sort, 1}};
  return kMakers;
}

std::string Generator::module(uint64_t seed) {
  fused_ = chance(60);
  std::vector<std::string> parameters;
  const Dims common = dims();  // so that values meet
  for (int64_t k = 0, n = below(4) + 1; k < n; ++k) {
    put(type(), chance(50) ? common : dims(), fmt::format("parameter({})", k));
    parameters.push_back(body_.substr(body_.rfind("  v")));
  }
  int total = 0;
  for (const Maker& m : makers()) total += m.weight;
  for (int64_t k = 0, n = below(14) + 2; k < n; ++k) {
    int64_t at = below(total);
    for (const Maker& m : makers())
      if ((at -= m.weight) < 0) {
        (this->*m.make)();
        break;
      }
  }
  std::vector<std::string> shapes, roots;
  for (size_t k = values_.size() - std::min<size_t>(values_.size(), static_cast<size_t>(below(3)) + 1); k < values_.size(); ++k) {
    shapes.push_back(shape(values_[k].type, values_[k].dims));
    roots.push_back(values_[k].name);
  }
  const std::string tuple = fmt::format("({})", fmt::join(shapes, ", "));
  const std::string root = fmt::format("  ROOT out = {} tuple({})\n", tuple, fmt::join(roots, ", "));
  std::string entry = body_ + root;
  if (fused_) {
    called_ += fmt::format("fused {{\n{}}}\n\n", entry);
    std::vector<std::string> names;
    entry.clear();
    for (size_t k = 0; k < parameters.size(); ++k) {
      entry += parameters[k];
      names.push_back(values_[k].name);
    }
    entry += fmt::format("  ROOT out = {} fusion({}), kind=kLoop, calls=fused\n", tuple, fmt::join(names, ", "));
  }
  return fmt::format("HloModule random_{}\n\n{}ENTRY main {{\n{}}}\n", seed, called_, entry);
}

}  // namespace

std::string random_module(uint64_t seed) { return Generator(seed).module(seed); }

}  // namespace differential
