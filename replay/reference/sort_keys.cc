// Comparators that compare one function of both sides, f(a) < f(b): XLA's total orders of floats, keys in descending order, the first of
// several columns. Then f is computed once an element instead of 2·log n times, and what remains is a sort of numbers.
#include "replay/reference/sort_keys.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <string_view>

#include "replay/reference/ops.h"

namespace replay::reference {
namespace {

/// What a comparator compares.
struct KeyOrder {
  ir::InstrId key = 0;  ///< f of one side
  bool descending = false;
};

/// Attributes that say nothing about values.
bool has_meaning(std::string_view key) {
  constexpr std::string_view kNone[] = {"metadata", "sharding", "frontend_attributes", "backend_config", "origin", "statistics"};
  return std::ranges::find(kNone, key) == std::end(kNone);
}

/// Two computations' parts that are the same but for the side of the parameters.
class Mirror {
 public:
  Mirror(const ir::Module& module, ir::CompId comp) : module_(module), comp_(comp) {}

  /// Is `right` what `left` is, of the other side?
  bool holds(ir::InstrId left, ir::InstrId right) {
    std::vector<std::pair<ir::InstrId, ir::InstrId>> todo{{left, right}};
    std::set<std::pair<ir::InstrId, ir::InstrId>> seen;
    while (!todo.empty()) {
      const auto [l, r] = todo.back();
      todo.pop_back();
      if (!seen.emplace(l, r).second) continue;
      const ir::Instr &a = module_.instr(comp_, l), &b = module_.instr(comp_, r);
      if (!alike(a, b)) return false;
      for (size_t k = 0; k < a.operands.size(); ++k) todo.emplace_back(a.operands[k], b.operands[k]);
    }
    return side_ >= 0;
  }
  /// 0 where `left` reads the first of each pair of parameters, 1 where it reads the second.
  int64_t side() const { return side_; }

 private:
  bool alike(const ir::Instr& a, const ir::Instr& b) {
    if (a.op != b.op || a.shape != b.shape || a.operands.size() != b.operands.size() || a.calls != b.calls) return false;
    if (a.op == ir::Op::parameter) return of_both_sides(a.number, b.number);
    if (a.op == ir::Op::constant) return module_.literal(a) == module_.literal(b);
    return attributes(a) == attributes(b);
  }
  bool of_both_sides(int64_t a, int64_t b) {
    const int64_t side = a % 2;
    if (a < 0 || a / 2 != b / 2 || a == b || (side_ >= 0 && side_ != side)) return false;
    side_ = side;
    return true;
  }
  std::vector<std::pair<std::string_view, std::string_view>> attributes(const ir::Instr& instr) const {
    std::vector<std::pair<std::string_view, std::string_view>> out;
    for (const ir::Attr& attr : instr.attrs)
      if (has_meaning(module_.text(attr.key))) out.emplace_back(module_.text(attr.key), module_.text(attr.text));
    std::ranges::sort(out);
    return out;
  }

  const ir::Module& module_;
  ir::CompId comp_;
  int64_t side_ = -1;
};

std::optional<KeyOrder> key_order(const ir::Module& module, ir::CompId id) {
  const ir::Computation& comp = module.comp(id);
  const ir::Instr& root = comp.instrs[static_cast<size_t>(comp.root)];
  if (root.op != ir::Op::compare || root.operands.size() != 2) return std::nullopt;
  const auto compare = ir::attr_compare(module, root);
  if (!compare.ok()) return std::nullopt;
  const bool less = compare->direction == ir::Direction::LT, greater = compare->direction == ir::Direction::GT;
  Mirror mirror(module, id);
  if ((!less && !greater) || !mirror.holds(root.operands[0], root.operands[1])) return std::nullopt;
  return KeyOrder{root.operands[0], greater != (mirror.side() == 1)};
}

/// Keys that `<` orders as the comparator does: exact, no NaN, and no two zeros of different sign (a total order tells those apart).
bool orderly(const Values& keys) {
  if (!keys.bound.empty() || !keys.unsure.empty() || kind_of(keys) == Kind::complex) return false;
  return std::none_of(keys.re.begin(), keys.re.end(), [](double v) { return std::isnan(v) || (v == 0 && std::signbit(v)); });
}

/// Numbers in the order of keys.
void append_numbers(const Values& keys, bool descending, std::vector<uint64_t>& to) {
  constexpr uint64_t kTop = uint64_t{1} << 63;
  const bool is_signed = ir::info(keys.type).kind == ir::TypeInfo::Kind::signed_;
  for (size_t i = 0; i < size(keys); ++i) {
    const uint64_t bits = keys.re.empty() ? static_cast<uint64_t>(keys.integer[i]) : std::bit_cast<uint64_t>(keys.re[i]);
    uint64_t number = is_signed ? bits ^ kTop : bits;
    if (!keys.re.empty()) number = (bits & kTop) != 0 ? ~bits : bits | kTop;
    to.push_back(descending ? ~number : number);
  }
}

}  // namespace

std::optional<std::vector<uint64_t>> sort_keys(const Call& call, const std::vector<Batch>& arrays, const Indices& places) {
  constexpr size_t kLanes = size_t{1} << 16;
  const auto order = key_order(call.module(), call.instr.calls[0]);
  if (!order) return std::nullopt;
  std::vector<uint64_t> numbers;
  numbers.reserve(places.size());
  for (size_t first = 0; first < places.size(); first += kLanes) {
    const auto some = std::span(places).subspan(first, std::min(kLanes, places.size() - first));
    std::vector<Batch> arguments;
    for (const Batch& array : arrays) {
      arguments.push_back(share(take(*array, some)));
      arguments.push_back(arguments.back());
    }
    const auto made = call.in.run_lanes(call.instr.calls[0], arguments, order->key);
    if (made.size() != 1 || size(made[0]) != some.size() || !orderly(made[0])) return std::nullopt;
    append_numbers(made[0], order->descending, numbers);
  }
  return numbers;
}

}  // namespace replay::reference
