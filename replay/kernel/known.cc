// One walk over the lines: operands come before their users, and a cell's content counts as unknown. Sums that leave 64 bits are unknown
// too.
#include "replay/kernel/known.h"

#include <algorithm>
#include <limits>

namespace kernel {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
constexpr Known kUnknown{kLeast, kMost, 1};
constexpr int64_t kLargestPower = int64_t{1} << 62;

using Wide = __int128;

Known ranged(Wide low, Wide high, int64_t multiple) {
  if (low < kLeast || high > kMost) return {kLeast, kMost, multiple};
  return {static_cast<int64_t>(low), static_cast<int64_t>(high), multiple};
}

int64_t power_in(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  return bits == 0 ? kLargestPower : static_cast<int64_t>(std::min<uint64_t>(kLargestPower, bits & (~bits + 1)));
}

Known product(const Known& a, const Known& b) {
  const Wide corners[] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low, Wide{a.high} * b.high};
  const auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  const Wide multiple = std::min<Wide>(kLargestPower, Wide{a.multiple} * b.multiple);
  return ranged(*low, *high, static_cast<int64_t>(multiple));
}

/// What a value of a register type can be, as a number with a sign.
Known whole(Reg reg) {
  if (is_float(reg) || reg == Reg::i64) return kUnknown;
  if (reg == Reg::i1) return {0, 1, 1};
  const int64_t half = int64_t{1} << (8 * bytes(reg) - 1);
  return {-half, half - 1, 1};
}

}  // namespace

KnownIntegers::KnownIntegers(const List& list, const ArgumentRanges& arguments) : list_(list), arguments_(arguments) {
  known_.assign(list.values(), kUnknown);
  narrow_.assign(list.values(), false);
  for (const Line& line : list.lines) {
    if (line.id < 0) continue;
    const auto id = static_cast<size_t>(line.id);
    known_[id] = of(line);
    narrow_[id] = fits(line, known_[id]);
  }
}

Known KnownIntegers::of(const Line& line) const {
  using Kind = Line::Kind;
  if (is_float(line.reg)) return kUnknown;
  switch (line.kind) {
    case Kind::constant: {
      const int unused = line.reg == Reg::i1 ? 0 : 64 - 8 * bytes(line.reg);
      const int64_t value = static_cast<int64_t>(static_cast<uint64_t>(line.imm) << unused) >> unused;
      return {value, value, power_in(value)};
    }
    case Kind::argument:
      return static_cast<size_t>(line.imm) < arguments_.size() ? arguments_[static_cast<size_t>(line.imm)] : kUnknown;
    case Kind::ramp:
      return {std::min<int64_t>(0, line.imm * (line.lanes - 1)), std::max<int64_t>(0, line.imm * (line.lanes - 1)), kLargestPower};
    case Kind::splat:
    case Kind::lane:
      return {(*this)[line.args[0]].low, (*this)[line.args[0]].high, 1};
    case Kind::loop: {
      const Known from = (*this)[line.args[0]], to = (*this)[line.args[1]];
      return ranged(from.low, std::max<Wide>(from.low, Wide{to.high} - 1), std::min(from.multiple, power_in(line.imm)));
    }
    case Kind::op:
      return of_op(line);
    default:
      return whole(line.reg);
  }
}

Known KnownIntegers::of_op(const Line& line) const {
  const Known a = (*this)[line.args[0]], b = line.args.size() > 1 ? (*this)[line.args[1]] : kUnknown;
  const bool positive = a.low >= 0 && b.low > 0;
  const auto unless_wrapped = [&](Known k) {  // types of less than 64 bits wrap
    const Known all = whole(line.reg);
    return k.low >= all.low && k.high <= all.high ? k : all;
  };
  switch (line.code) {
    case Code::add:
      return unless_wrapped(ranged(Wide{a.low} + b.low, Wide{a.high} + b.high, std::min(a.multiple, b.multiple)));
    case Code::sub:
      return unless_wrapped(ranged(Wide{a.low} - b.high, Wide{a.high} - b.low, std::min(a.multiple, b.multiple)));
    case Code::mul:
      return unless_wrapped(product(a, b));
    case Code::udiv:
      return positive ? Known{a.low / b.high, a.high / b.low, 1} : whole(line.reg);
    case Code::urem:
      return positive ? Known{0, std::min(a.high, b.high - 1), b.low == b.high ? std::min(a.multiple, b.multiple) : 1} : whole(line.reg);
    case Code::select: {
      const Known c = (*this)[line.args[2]];
      return {std::min(b.low, c.low), std::max(b.high, c.high), std::min(b.multiple, c.multiple)};
    }
    case Code::sext:
      return list_.reg(line.args[0]) == Reg::i1 ? Known{-1, 0, 1} : a;
    case Code::zext:
      return a.low >= 0 ? a : ranged(0, (Wide{1} << (8 * bytes(list_.reg(line.args[0])))) - 1, 1);
    case Code::trunc:
      return unless_wrapped(a);
    default:
      return whole(line.reg);
  }
}

bool KnownIntegers::fits(const Line& line, const Known& known) const {
  constexpr int64_t kLow = std::numeric_limits<int32_t>::min(), kHigh = std::numeric_limits<int32_t>::max();
  if (line.reg != Reg::i64 || known.low < kLow || known.high > kHigh) return false;
  using Kind = Line::Kind;
  if (line.kind == Kind::variable || line.kind == Kind::get || line.kind == Kind::load || line.kind == Kind::gather) return false;
  if (line.kind == Kind::loop) {  // the step after the last must fit as well
    const Known to = (*this)[line.args[1]];
    return to.low >= kLow && to.high + line.imm <= kHigh;
  }
  if (line.kind != Kind::op || line.code == Code::sext || line.code == Code::zext) return true;
  return std::ranges::all_of(line.args, [&](ValueId a) { return list_.reg(a) != Reg::i64 || narrow(a); });
}

}  // namespace kernel
