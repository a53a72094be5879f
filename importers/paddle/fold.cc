// Programs take sizes apart and put them together again: shape → slice → cast → stack → reshape. A few operators on a few numbers tell
// them.
#include "importers/paddle/fold.h"

#include <algorithm>
#include <cmath>

namespace importers::paddle {
namespace {

using Numbers = std::vector<double>;

std::optional<Numbers> operand(Call& c, std::string_view slot) {
  const Known known = c.known(slot);
  return known ? std::optional(*known) : std::nullopt;
}

std::optional<Numbers> same(Call& c) { return operand(c, "X"); }

std::optional<Numbers> folded_cast(Call& c) {
  auto x = operand(c, "X");
  const auto type = c.named_type("out_dtype");
  if (!x || !type) return std::nullopt;
  for (double& value : *x) value = ir::is_float(*type) ? value : *type == ir::Type::pred ? (value != 0 ? 1 : 0) : std::trunc(value);
  return x;
}

std::optional<Numbers> folded_scale(Call& c) {
  auto x = operand(c, "X");
  if (!x || (c.has("ScaleTensor") && !c.known("ScaleTensor"))) return std::nullopt;
  const double factor = c.number("scale", 1, "ScaleTensor"), bias = c.number("bias", 0);
  for (double& value : *x) value = c.flag("bias_after_scale", true) ? value * factor + bias : (value + bias) * factor;
  return x;
}

/// Of a vector.
std::optional<Numbers> folded_slice(Call& c) {
  const auto x = operand(c, "Input");
  const auto starts = c.sizes("starts", {"StartsTensor", "StartsTensorList"}), ends = c.sizes("ends", {"EndsTensor", "EndsTensorList"});
  if (!x || c.dims("Input").size() != 1 || !starts || !ends || starts->size() != 1 || ends->size() != 1) return std::nullopt;
  const auto n = static_cast<int64_t>(x->size());
  const auto limit = [n](int64_t at) { return std::clamp<int64_t>(at < 0 ? std::max(at, -n) + n : at, 0, n); };
  const int64_t from = limit((*starts)[0]), to = std::max(limit((*ends)[0]), from);
  return Numbers(x->begin() + from, x->begin() + to);
}

template <double (*kFunction)(double, double)>
std::optional<Numbers> binary(Call& c) {
  const auto x = operand(c, "X"), y = operand(c, "Y");
  if (!x || !y || x->empty() || y->empty() || (x->size() != y->size() && x->size() != 1 && y->size() != 1)) return std::nullopt;
  Numbers result(std::max(x->size(), y->size()));
  for (size_t i = 0; i < result.size(); ++i) result[i] = kFunction((*x)[x->size() == 1 ? 0 : i], (*y)[y->size() == 1 ? 0 : i]);
  return result;
}
double add(double a, double b) { return a + b; }
double subtract(double a, double b) { return a - b; }
double multiply(double a, double b) { return a * b; }
double floor_divide(double a, double b) { return b == 0 ? 0 : std::floor(a / b); }
double larger(double a, double b) { return std::max(a, b); }
double smaller(double a, double b) { return std::min(a, b); }

template <ir::Direction kDirection>
double compared(double a, double b) {
  return ir::holds(kDirection, a, b) ? 1 : 0;
}
double both(double a, double b) { return a != 0 && b != 0 ? 1 : 0; }
double either(double a, double b) { return a != 0 || b != 0 ? 1 : 0; }

std::optional<Numbers> negated(Call& c) {
  auto x = operand(c, "X");
  if (!x) return std::nullopt;
  for (double& value : *x) value = value == 0 ? 1 : 0;
  return x;
}

std::optional<Numbers> increment(Call& c) {
  auto x = operand(c, "X");
  if (!x) return std::nullopt;
  for (double& value : *x) value += c.number("step", 1);
  return x;
}

struct FoldRule {
  std::string_view type;
  std::optional<Numbers> (*tell)(Call&);
  std::string_view out = "Out";
};
constexpr FoldRule kFoldRules[] = {
    {"assign", same},
    {"cast", folded_cast},
    {"elementwise_add", binary<add>},
    {"elementwise_floordiv", binary<floor_divide>},
    {"elementwise_max", binary<larger>},
    {"elementwise_min", binary<smaller>},
    {"elementwise_mul", binary<multiply>},
    {"elementwise_sub", binary<subtract>},
    {"equal", binary<compared<ir::Direction::EQ>>},
    {"greater_equal", binary<compared<ir::Direction::GE>>},
    {"greater_than", binary<compared<ir::Direction::GT>>},
    {"increment", increment},
    {"less_equal", binary<compared<ir::Direction::LE>>},
    {"less_than", binary<compared<ir::Direction::LT>>},
    {"logical_and", binary<both>},
    {"logical_not", negated},
    {"logical_or", binary<either>},
    {"memcpy_d2h", same},
    {"memcpy_h2d", same},
    {"not_equal", binary<compared<ir::Direction::NE>>},
    {"reshape2", same},
    {"scale", folded_scale},
    {"slice", folded_slice},
    {"squeeze2", same},
    {"unsqueeze2", same},
};

}  // namespace

void fold(Call& call) {
  if (call.op().type == "stack" || call.op().type == "concat") return call.join_known(call.op().type == "stack" ? "Y" : "Out");
  const auto rule = std::ranges::find(kFoldRules, call.op().type, &FoldRule::type);
  if (rule == std::end(kFoldRules)) return;
  if (auto numbers = rule->tell(call); numbers && numbers->size() <= kMostKnown) call.set_known(rule->out, *std::move(numbers));
}

}  // namespace importers::paddle
