// A line of the list is a declaration, for vectors with a loop over the lanes. Integers are unsigned, so that sums wrap; an operation that
// minds the sign casts.
#include "replay/kernel/render_c.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <set>

namespace kernel {
namespace {

constexpr std::string_view kCTypes[] = {"uint8_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "_Float16", "float", "double"};
constexpr std::string_view kCSigned[] = {"", "int8_t", "int16_t", "int32_t", "int64_t"};
std::string_view type(Reg reg) { return kCTypes[static_cast<size_t>(reg)]; }

/// What an operation is in C: {t} its type, {s} the type with a sign, {u} the operand's type, {us} that with a sign, {f} the suffix of a
/// function of libm, {a}, {b}, {c} the operands.
struct CForm {
  Code code;
  std::string_view of_integers, of_floats;
};
constexpr CForm kCForms[] = {
    {Code::add, "({t})({a} + {b})", "{a} + {b}"},
    {Code::sub, "({t})({a} - {b})", "{a} - {b}"},
    {Code::mul, "({t})((uint64_t){a} * {b})", "{a} * {b}"},
    {Code::sdiv, "({t})(({s}){a} / ({s}){b})", ""},
    {Code::udiv, "({t})({a} / {b})", ""},
    {Code::srem, "({t})(({s}){a} % ({s}){b})", ""},
    {Code::urem, "({t})({a} % {b})", ""},
    {Code::fdiv, "", "{a} / {b}"},
    {Code::frem, "", "fmod{f}({a}, {b})"},
    {Code::and_, "({t})({a} & {b})", ""},
    {Code::or_, "({t})({a} | {b})", ""},
    {Code::xor_, "({t})({a} ^ {b})", ""},
    {Code::shl, "({t})((uint64_t){a} << {b})", ""},
    {Code::lshr, "({t})({a} >> {b})", ""},
    {Code::ashr, "({t})(({s}){a} >> {b})", ""},
    {Code::select, "{a} ? {b} : {c}", "{a} ? {b} : {c}"},
    {Code::sext, "({t})({us}){a}", ""},
    {Code::zext, "({t}){a}", ""},
    {Code::trunc, "({t}){a}", ""},
    {Code::sitofp, "", "({t})({us}){a}"},
    {Code::uitofp, "", "({t}){a}"},
    {Code::fptosi, "({t})to_s{bits}({a})", ""},
    {Code::fptoui, "({t})to_u{bits}({a})", ""},
    {Code::toint, "({t})({s}){a}", ""},
    {Code::fpext, "", "({t}){a}"},
    {Code::fptrunc, "", "({t}){a}"},
    {Code::fma, "", "fma{f}({a}, {b}, {c})"},
    {Code::sqrt, "", "sqrt{f}({a})"},
    {Code::floor, "", "floor{f}({a})"},
    {Code::ceil, "", "ceil{f}({a})"},
    {Code::rint, "", "rint{f}({a})"},
    {Code::round, "", "round{f}({a})"},
    {Code::fabs, "", "fabs{f}({a})"},
    {Code::copysign, "", "copysign{f}({a}, {b})"},
    {Code::fneg, "", "-{a}"},
    {Code::ctpop, "({t})__builtin_popcountll({a})", ""},
    {Code::ctlz, "({t})({a} == 0 ? {bits} : __builtin_clzll({a}) - (64 - {bits}))", ""},
};
/// By Predicate; {us} is the operand's type with a sign.
constexpr std::string_view kCPredicates[] = {"{a} == {b}",
                                             "{a} != {b}",
                                             "({us}){a} < ({us}){b}",
                                             "({us}){a} <= ({us}){b}",
                                             "({us}){a} > ({us}){b}",
                                             "({us}){a} >= ({us}){b}",
                                             "{a} < {b}",
                                             "{a} <= {b}",
                                             "{a} > {b}",
                                             "{a} >= {b}",
                                             "{a} == {b}",
                                             "{a} != {b}",
                                             "{a} < {b}",
                                             "{a} <= {b}",
                                             "{a} > {b}",
                                             "{a} >= {b}",
                                             "isunordered({a}, {b})"};

/// What the text of every kernel begins with.
constexpr std::string_view kPrelude = R"(#ifndef PROFILE_KERNELS
#define PROFILE_KERNELS
#include <math.h>
#include <stdint.h>
#include <string.h>
static inline double of_bits(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }
#define SIGNED(n) static inline int##n##_t to_s##n(double x) { \
  return x != x ? 0 : x >= (double)INT##n##_MAX ? INT##n##_MAX : x <= (double)INT##n##_MIN ? INT##n##_MIN : (int##n##_t)x; }
#define UNSIGNED(n) static inline uint##n##_t to_u##n(double x) { \
  return x != x || x <= 0 ? 0 : x >= (double)UINT##n##_MAX ? UINT##n##_MAX : (uint##n##_t)x; }
SIGNED(8) SIGNED(16) SIGNED(32) SIGNED(64) UNSIGNED(8) UNSIGNED(16) UNSIGNED(32) UNSIGNED(64)
#endif
)";

std::string constant(Reg reg, int64_t imm) {
  if (!is_float(reg)) return fmt::format("({}){}u", type(reg), static_cast<uint64_t>(imm) & (reg == Reg::i1 ? 1 : ~uint64_t{0})) + "ll";
  const double value = std::bit_cast<double>(imm);
  const std::string text =
      std::isfinite(value) ? fmt::format("{:a}", value) : fmt::format("of_bits({:#x}ull)", std::bit_cast<uint64_t>(imm));
  return fmt::format("({})({})", type(reg), text);
}

}  // namespace

/// Prints one list.
class CFunction {
 public:
  explicit CFunction(const List& list) : list_(list) {}
  void print();
  std::string body;
  std::set<int> arrays;

 private:
  template <typename... A>
  void line(fmt::format_string<A...> format, A&&... args) {
    body.append(2 * depth_, ' ') += fmt::format(format, std::forward<A>(args)...) + "\n";
  }
  /// `l` of a line's lanes, or the only one.
  std::string value(ValueId id, std::string_view lane = "l") const;
  void declare(const Line& l);
  /// Declares a value and gives it `text`, which may speak of lane l.
  void define(const Line& l, std::string_view text) {
    declare(l);
    each_lane(l, kNoMask, fmt::format("{} = {}", value(l.id), text));
  }
  /// Runs `text` for every lane, where the mask (argument `mask` of the line, if it is there) is set.
  void each_lane(const Line& l, size_t mask, const std::string& text);
  std::string filled(const Line& l, std::string_view form) const;
  void operation(const Line& l);
  void shuffle(const Line& l);
  void memory(const Line& l);
  void control(const Line& l);
  std::string element(const Line& l, int64_t array, std::string_view index) {
    arrays.insert(static_cast<int>(array));
    return fmt::format("(({}*)p{})[{}]", type(l.reg), array, index);
  }

  static constexpr size_t kNoMask = 9;
  const List& list_;
  size_t depth_ = 1;
};

std::string CFunction::value(ValueId id, std::string_view lane) const {
  const Line& l = list_.line(id);
  if (l.kind == Line::Kind::argument) return l.imm == 0 ? "begin" : l.imm == 1 ? "end" : "thread";
  if (l.kind == Line::Kind::constant) return constant(l.reg, l.imm);
  if (l.kind == Line::Kind::ramp) return fmt::format("({})({} * {}ll)", type(l.reg), lane, l.imm);
  return l.lanes == 1 ? fmt::format("v{}", id) : fmt::format("v{}[{}]", id, lane);
}

void CFunction::declare(const Line& l) { line("{} v{}{};", type(l.reg), l.id, l.lanes == 1 ? "" : fmt::format("[{}]", l.lanes)); }

void CFunction::each_lane(const Line& l, size_t mask, const std::string& text) {
  const std::string where = l.args.size() > mask ? fmt::format("if ({}) ", value(l.args[mask])) : "";
  const std::string lanes = l.lanes == 1 ? "" : fmt::format("for (int l = 0; l < {}; ++l) ", l.lanes);
  line("{}{}{};", lanes, where, text);
}

std::string CFunction::filled(const Line& l, std::string_view form) const {
  const Reg from = list_.reg(l.args[0]);
  const auto with_sign = [](Reg reg) { return is_float(reg) ? "" : kCSigned[static_cast<size_t>(reg)]; };
  const auto arg = [&](size_t i) { return i < l.args.size() ? value(l.args[i]) : ""; };
  return fmt::format(fmt::runtime(form), fmt::arg("t", type(l.reg)), fmt::arg("s", with_sign(l.reg)), fmt::arg("us", with_sign(from)),
                     fmt::arg("f", l.reg == Reg::f32 ? "f" : ""), fmt::arg("bits", width(l.reg)), fmt::arg("a", arg(0)),
                     fmt::arg("b", arg(1)), fmt::arg("c", arg(2)));
}

void CFunction::operation(const Line& l) {
  const Reg from = list_.reg(l.args[0]);
  if (l.code == Code::compare) return define(l, filled(l, kCPredicates[static_cast<size_t>(l.imm)]));
  if (l.code == Code::call) {
    const std::string second = l.args.size() == 2 ? ", " + value(l.args[1]) : "";
    return define(l, fmt::format("{}{}({}{})", text(static_cast<Function>(l.imm)), l.reg == Reg::f32 ? "f" : "", value(l.args[0]), second));
  }
  if (l.code == Code::bitcast) {
    declare(l);
    return each_lane(l, kNoMask, fmt::format("{{ {} x = {}; memcpy(&{}, &x, sizeof x); }}", type(from), value(l.args[0]), value(l.id)));
  }
  for (const CForm& form : kCForms) {
    if (form.code != l.code) continue;
    const std::string text = filled(l, is_float(l.reg) ? form.of_floats : form.of_integers);
    const bool of_predicate = from == Reg::i1 && (l.code == Code::sext || l.code == Code::sitofp);  // true is −1
    const std::string predicate = fmt::format("({})-(int){}", type(l.reg), value(l.args[0]));
    return define(l, of_predicate ? predicate : l.reg == Reg::i1 ? fmt::format("({}) & 1", text) : text);
  }
}

void CFunction::shuffle(const Line& l) {
  const int first = list_.lanes(l.args[0]);
  std::string values;
  for (const int from : l.order) {
    const bool left = from < first;
    values += value(l.args[left ? 0 : 1], fmt::format("{}", left ? from : from - first)) + ", ";
  }
  line("{} v{}[{}] = {{{}}};", type(l.reg), l.id, l.lanes, values);
}

void CFunction::memory(const Line& l) {
  using Kind = Line::Kind;
  const auto at = [&] { return fmt::format("v{}[{}ll{}]", l.args[0], l.imm, l.lanes == 1 ? "" : " + l"); };
  const auto there = [&] { return element(l, l.imm, "(int64_t)" + value(l.args[0])); };
  switch (l.kind) {
    case Kind::pointer:
      return line("{} * const v{} = &{};", type(l.reg), l.id, there());
    case Kind::load:
      define(l, "0");
      return each_lane(l, 1, fmt::format("{} = {}", value(l.id), at()));
    case Kind::store:
      return each_lane(l, 2, fmt::format("{} = {}", at(), value(l.args[1])));
    case Kind::gather:
      define(l, "0");
      return each_lane(l, 1, fmt::format("{} = {}", value(l.id), there()));
    default:  // scatter
      return each_lane(l, 2, fmt::format("{} = {}", there(), value(l.args[1])));
  }
}

void CFunction::control(const Line& l) {
  if (l.kind == Line::Kind::end) {
    --depth_;
    return line("}}");
  }
  if (l.kind == Line::Kind::loop)
    line("for (int64_t v{0} = (int64_t){1}; v{0} < (int64_t){2}; v{0} += {3}) {{", l.id, value(l.args[0]), value(l.args[1]), l.imm);
  else
    line("if ({}) {{", value(l.args[0]));
  ++depth_;
}

void CFunction::print() {
  using Kind = Line::Kind;
  for (const Line& l : list_.lines) {
    switch (l.kind) {
      case Kind::constant:
      case Kind::argument:
      case Kind::ramp:
      case Kind::prefetch:
      case Kind::fence:
      case Kind::barrier:  // this and what follows: of GPUs only
      case Kind::down:
      case Kind::leader:
        break;
      case Kind::op:
        operation(l);
        break;
      case Kind::splat:
        define(l, value(l.args[0]));
        break;
      case Kind::lane:
        define(l, value(l.args[0], fmt::format("{}", l.imm)));
        break;
      case Kind::shuffle:
        shuffle(l);
        break;
      case Kind::loop:
      case Kind::branch:
      case Kind::end:
        control(l);
        break;
      case Kind::variable:
        declare(l);
        break;
      case Kind::set:
        each_lane(l, kNoMask, fmt::format("v{}{} = {}", l.args[0], l.lanes == 1 ? "" : "[l]", value(l.args[1])));
        break;
      case Kind::get:
        define(l, value(l.args[0]));
        break;
      case Kind::pointer:
      case Kind::load:
      case Kind::store:
      case Kind::gather:
      case Kind::scatter:
        memory(l);
        break;
      case Kind::same:
        arrays.insert({static_cast<int>(l.imm), l.args[0]});
        define(l, fmt::format("p{} == p{}", l.imm, l.args[0]));
        break;
    }
  }
}

void CModule::add(const List& list, std::string_view symbol) {
  CFunction function(list);
  function.print();
  functions_ += fmt::format("void {}(void* const* args, int64_t begin, int64_t end, void* scratch, int64_t thread) {{\n", symbol);
  for (const int a : function.arrays) {
    const Array& array = lowered_.arrays[static_cast<size_t>(a)];
    if (array.kind == Array::Kind::constant) {
      functions_ += fmt::format("  static const uint8_t p{}[] __attribute__((aligned(64))) = {{", a);
      for (const std::byte b : array.data) functions_ += fmt::format("{},", static_cast<unsigned>(b));
      functions_ += "0};\n";
    } else if (array.kind == Array::Kind::thread || array.kind == Array::Kind::shared) {
      const bool shared = array.kind == Array::Kind::shared;
      const std::string base = shared ? fmt::format("args[{}]", lowered_.operands + lowered_.outputs) : "scratch";
      functions_ += fmt::format("  char* const p{} = (char*){} + {};\n", a, base, array.offset);
    } else {
      functions_ += fmt::format("  char* const p{} = (char*)args[{}];\n", a, array.position);
    }
  }
  functions_ += function.body + "}\n";
}

std::string CModule::text() const { return std::string(kPrelude) + functions_; }

}  // namespace kernel
