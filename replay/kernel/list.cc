// Building and printing flat lists. Integer sums of constants fold here so that addresses stay short.
#include "replay/kernel/list.h"

#include <fmt/format.h>

#include <bit>

namespace kernel {
namespace {

constexpr std::string_view kKinds[] = {"constant", "argument", "ramp",     "op",    "splat", "lane",    "shuffle", "loop",
                                       "end",      "branch",   "variable", "set",   "get",   "pointer", "load",    "store",
                                       "gather",   "scatter",  "prefetch", "fence", "same",  "barrier", "down",    "leader"};

}  // namespace

ValueId List::add(Line line) {
  line.id = static_cast<ValueId>(where_.size());
  where_.push_back(static_cast<int32_t>(lines.size()));
  lines.push_back(std::move(line));
  return lines.back().id;
}

ValueId List::constant(Reg reg, int lanes, int64_t imm) { return add({Line::Kind::constant, {}, reg, lanes, -1, {}, imm, {}, false}); }

namespace {

/// In two's complement, as the machine does.
int64_t wrapped(int64_t a, int64_t b, Code code) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  return static_cast<int64_t>(code == Code::mul ? x * y : x + y);
}

}  // namespace

bool List::constant_value(ValueId id, int64_t& value) const {
  const Line& l = line(id);
  if (l.kind != Line::Kind::constant || is_float(l.reg)) return false;
  value = l.imm;
  return true;
}

ValueId List::op(Code code, Reg reg, int lanes, std::vector<ValueId> args, int64_t imm) {
  int64_t a = 0, b = 0;
  if (args.size() == 2 && !is_float(reg) && constant_value(args[1], b)) {
    if (code == Code::add && b == 0) return args[0];
    if (code == Code::mul && b == 1) return args[0];
    if (constant_value(args[0], a) && code == Code::add) return constant(reg, lanes, wrapped(a, b, code));
    if (constant_value(args[0], a) && code == Code::mul) return constant(reg, lanes, wrapped(a, b, code));
  }
  if (args.size() == 2 && !is_float(reg) && code == Code::add && constant_value(args[0], a) && a == 0) return args[1];
  return add({Line::Kind::op, code, reg, lanes, -1, std::move(args), imm, {}, false});
}

ValueId List::splat(ValueId a, int to) {
  if (lanes(a) == to) return a;
  const Line& l = line(a);
  if (l.kind == Line::Kind::constant) return constant(l.reg, to, l.imm);
  return add({Line::Kind::splat, {}, l.reg, to, -1, {a}, 0, {}, false});
}

ValueId List::shuffle(ValueId a, ValueId b, std::vector<int> order) {
  const auto n = static_cast<int>(order.size());
  if (n == 1) return order[0] < lanes(a) ? lane(a, order[0]) : lane(b, order[0] - lanes(a));
  return add({Line::Kind::shuffle, {}, reg(a), n, -1, {a, b}, 0, std::move(order), false});
}

ValueId List::load(ValueId pointer, int lanes, int64_t offset, ValueId mask) {
  std::vector<ValueId> args{pointer};
  if (mask >= 0) args.push_back(mask);
  return add({Line::Kind::load, {}, reg(pointer), lanes, -1, std::move(args), offset, {}, false});
}

void List::store(ValueId pointer, ValueId value, int64_t offset, ValueId mask, bool streaming) {
  std::vector<ValueId> args{pointer, value};
  if (mask >= 0) args.push_back(mask);
  put({Line::Kind::store, {}, reg(value), lanes(value), -1, std::move(args), offset, {}, streaming});
}

std::string print(const List& list) {
  std::string out;
  int depth = 0;
  for (const Line& l : list.lines) {
    if (l.kind == Line::Kind::constant) continue;
    if (l.kind == Line::Kind::end) --depth;
    out.append(2 * static_cast<size_t>(depth), ' ');
    if (l.id >= 0) out += fmt::format("v{} = ", l.id);
    out += l.kind == Line::Kind::op ? text(l.code) : kKinds[static_cast<size_t>(l.kind)];
    if (l.kind != Line::Kind::end) out += l.lanes == 1 ? fmt::format(" {}", text(l.reg)) : fmt::format(" {} x {}", l.lanes, text(l.reg));
    for (const ValueId a : l.args) {
      if (l.kind == Line::Kind::same) break;
      const Line& from = list.line(a);
      if (from.kind == Line::Kind::constant) {
        out += is_float(from.reg) ? fmt::format(" {}", std::bit_cast<double>(from.imm)) : fmt::format(" {}", from.imm);
      } else {
        out += fmt::format(" v{}", a);
      }
    }
    if (l.kind == Line::Kind::op && l.code == Code::compare) out += fmt::format(" {}", text(static_cast<Predicate>(l.imm)));
    if (l.kind == Line::Kind::op && l.code == Code::call) out += fmt::format(" {}", text(static_cast<Function>(l.imm)));
    if (l.kind == Line::Kind::pointer || l.kind == Line::Kind::gather || l.kind == Line::Kind::scatter) out += fmt::format(" p{}", l.imm);
    if (l.kind == Line::Kind::loop) out += fmt::format(" step {}", l.imm);
    if (l.kind == Line::Kind::down || l.kind == Line::Kind::leader) out += fmt::format(" {}", l.imm);
    if ((l.kind == Line::Kind::load || l.kind == Line::Kind::store) && l.imm) out += fmt::format(" + {}", l.imm);
    if (l.streaming) out += " streaming";
    out += "\n";
    if (l.kind == Line::Kind::loop || l.kind == Line::Kind::branch) ++depth;
  }
  return out;
}

}  // namespace kernel
