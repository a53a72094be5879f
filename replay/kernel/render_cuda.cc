// A line of the list is a declaration, for vectors with an unrolled loop over the lanes. Integers are unsigned, so that sums wrap; those of
// 64 bits whose values are known to fit are written as int, because a GPU divides and addresses in 32 bits at a fraction of the cost. An
// access is as wide as what is known of its address allows.
#include "replay/kernel/render_cuda.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "replay/kernel/cuda_launch.h"
#include "replay/kernel/cuda_prelude.h"
#include "replay/kernel/cuda_trigonometry.h"
#include "replay/kernel/known.h"

namespace kernel {
namespace {

constexpr std::string_view kCudaTypes[] = {"bool", "u8", "u16", "u32", "u64", "f16", "float", "double"};
constexpr std::string_view kCudaSigned[] = {"bool", "i8", "i16", "i32", "i64"};

/// What an operation is: {t} its type, {s} the type with a sign, {w} unsigned and at least 32 bits wide, {us} and {uw} the same of the
/// first operand, {f} the suffix of a function of f32, {a}, {b}, {c} the operands.
struct CudaForm {
  Code code;
  std::string_view of_integers, of_floats;
};
constexpr CudaForm kCudaForms[] = {
    {Code::add, "({t})(({w}){a} + ({w}){b})", "{a} + {b}"},
    {Code::sub, "({t})(({w}){a} - ({w}){b})", "{a} - {b}"},
    {Code::mul, "({t})(({w}){a} * ({w}){b})", "{a} * {b}"},
    {Code::sdiv, "({t})(({s}){a} / ({s}){b})", ""},
    {Code::udiv, "({t})(({w}){a} / ({w}){b})", ""},
    {Code::srem, "({t})(({s}){a} % ({s}){b})", ""},
    {Code::urem, "({t})(({w}){a} % ({w}){b})", ""},
    {Code::fdiv, "", "{a} / {b}"},
    {Code::frem, "", "fmod{f}({a}, {b})"},
    {Code::and_, "({t})(({w}){a} & ({w}){b})", ""},
    {Code::or_, "({t})(({w}){a} | ({w}){b})", ""},
    {Code::xor_, "({t})(({w}){a} ^ ({w}){b})", ""},
    {Code::shl, "({t})(({w}){a} << {b})", ""},
    {Code::lshr, "({t})(({w}){a} >> {b})", ""},
    {Code::ashr, "({t})(({s}){a} >> {b})", ""},
    {Code::select, "{a} ? {b} : {c}", "{a} ? {b} : {c}"},
    {Code::sext, "({t})({us}){a}", ""},
    {Code::zext, "({t}){a}", ""},
    {Code::trunc, "({t}){a}", ""},
    {Code::sitofp, "", "({t})({us}){a}"},
    {Code::uitofp, "", "({t})({uw}){a}"},
    {Code::fptosi, "({t})to_s{bits}({a})", ""},
    {Code::fptoui, "({t})to_u{bits}({a})", ""},
    {Code::toint, "({t})({s}){a}", ""},
    {Code::fma, "", "fma{f}({a}, {b}, {c})"},
    {Code::sqrt, "", "sqrt{f}({a})"},
    {Code::floor, "", "floor{f}({a})"},
    {Code::ceil, "", "ceil{f}({a})"},
    {Code::rint, "", "rint{f}({a})"},
    {Code::round, "", "round{f}({a})"},
    {Code::fabs, "", "fabs{f}({a})"},
    {Code::copysign, "", "copysign{f}({a}, {b})"},
    {Code::fneg, "", "-{a}"},
    {Code::ctpop, "({t})__popcll((u64){a})", ""},
    {Code::ctlz, "({t})(__clzll((i64)(u64){a}) - (64 - {bits}))", ""},
};
/// By Predicate.
constexpr std::string_view kCudaPredicates[] = {"{a} == {b}",
                                                "{a} != {b}",
                                                "({us}){a} < ({us}){b}",
                                                "({us}){a} <= ({us}){b}",
                                                "({us}){a} > ({us}){b}",
                                                "({us}){a} >= ({us}){b}",
                                                "({uw}){a} < ({uw}){b}",
                                                "({uw}){a} <= ({uw}){b}",
                                                "({uw}){a} > ({uw}){b}",
                                                "({uw}){a} >= ({uw}){b}",
                                                "{a} == {b}",
                                                "{a} != {b}",
                                                "{a} < {b}",
                                                "{a} <= {b}",
                                                "{a} > {b}",
                                                "{a} >= {b}",
                                                "{a} != {a} || {b} != {b}"};

/// Block and thread, in the order of Line::Kind::argument.
ArgumentRanges ranges_of(const Scheduled& part) {
  constexpr Known kWhole{0, (int64_t{1} << 62), 1};
  const Known number = part.iterations > 0 ? Known{0, part.iterations, 1} : kWhole;
  return {number, number, kWhole, {0, std::max<int64_t>(0, part.count - 1), 1}, {0, std::max(0, part.block_threads - 1), 1}};
}

class CudaFunction {
 public:
  CudaFunction(const Scheduled& part, const Lowered& lowered) : list_(part.list), lowered_(lowered), known_(part.list, ranges_of(part)) {}
  void print();
  std::string body;
  std::set<int> arrays;
  bool trigonometry = false;

 private:
  template <typename... A>
  void line(fmt::format_string<A...> format, A&&... args) {
    body.append(2 * depth_, ' ') += fmt::format(format, std::forward<A>(args)...) + "\n";
  }
  std::string_view type(const Line& l) const {
    return l.reg == Reg::i64 && known_.narrow(l.id) ? "int" : kCudaTypes[static_cast<size_t>(l.reg)];
  }
  std::string_view with_sign(ValueId id) const;
  std::string_view wide(ValueId id) const;
  std::string declared(const Line& l) const;
  std::string constant(const Line& l) const;
  /// `l` of a line's lanes, or the only one.
  std::string value(ValueId id, std::string_view lane = "l") const;
  /// Declares a value and gives it `text`, which may speak of lane l.
  void define(const Line& l, std::string_view text);
  void each_lane(const Line& l, const std::string& text);
  std::string filled(const Line& l, std::string_view form) const;
  std::string conversion(const Line& l) const;
  std::string name_of(Function function, Reg reg);
  void operation(const Line& l);
  void shuffle(const Line& l);
  void memory(const Line& l);
  void store_vector(const Line& l, const std::string& place);
  void control(const Line& l);
  std::string element(const Line& l, int array, const std::string& index, int lanes);
  std::string index_of(const Line& access) const;
  int64_t aligned_lanes(const Line& access) const;

  const List& list_;
  const Lowered& lowered_;
  KnownIntegers known_;
  size_t depth_ = 1;
};

std::string_view CudaFunction::with_sign(ValueId id) const {
  const Reg reg = list_.reg(id);
  if (is_float(reg)) return kCudaTypes[static_cast<size_t>(reg)];
  return reg == Reg::i64 && known_.narrow(id) ? "int" : kCudaSigned[static_cast<size_t>(reg)];
}

std::string_view CudaFunction::wide(ValueId id) const { return list_.reg(id) == Reg::i64 && !known_.narrow(id) ? "u64" : "u32"; }

std::string CudaFunction::declared(const Line& l) const {
  return l.lanes == 1 ? fmt::format("{}", type(l)) : fmt::format("vec<{}, {}>", type(l), l.lanes);
}

std::string CudaFunction::constant(const Line& l) const {
  if (l.reg == Reg::i1) return l.imm & 1 ? "true" : "false";
  if (!is_float(l.reg)) {
    if (known_.narrow(l.id)) return l.imm == std::numeric_limits<int32_t>::min() ? "(-2147483647 - 1)" : fmt::format("{}", l.imm);
    const uint64_t mask = l.reg == Reg::i64 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes(l.reg))) - 1;
    return fmt::format("({}){}{}", type(l), static_cast<uint64_t>(l.imm) & mask, l.reg == Reg::i64 ? "ull" : "u");
  }
  const double number = std::bit_cast<double>(l.imm);
  if (std::isfinite(number)) return fmt::format("({}){:a}", type(l), number);
  return fmt::format("({})bits_as<double>({:#x}ull)", type(l), static_cast<uint64_t>(l.imm));
}

std::string CudaFunction::value(ValueId id, std::string_view lane) const {
  const Line& l = list_.line(id);
  constexpr std::string_view kArguments[] = {"begin", "end", "", "BLOCK", "THREAD"};
  if (l.kind == Line::Kind::argument) return std::string(kArguments[static_cast<size_t>(l.imm)]);
  if (l.kind == Line::Kind::constant) return constant(l);
  if (l.kind == Line::Kind::ramp) return fmt::format("({})({} * {})", type(l), lane, l.imm);
  return l.lanes == 1 ? fmt::format("v{}", id) : fmt::format("v{}.v[{}]", id, lane);
}

void CudaFunction::each_lane(const Line& l, const std::string& text) {
  line("{}{};", l.lanes == 1 ? "" : fmt::format("for (int l = 0; l < {}; ++l) ", l.lanes), text);
}

void CudaFunction::define(const Line& l, std::string_view text) {
  if (l.lanes == 1) return line("const {} v{} = {};", type(l), l.id, text);
  line("{} v{};", declared(l), l.id);
  each_lane(l, fmt::format("{} = {}", value(l.id), text));
}

/// A comparison is as wide as the wider of its sides.
std::string CudaFunction::filled(const Line& l, std::string_view form) const {
  const ValueId read = l.code == Code::compare && known_.narrow(l.args[0]) ? l.args[1] : l.args[0];
  const auto arg = [&](size_t i) { return i < l.args.size() ? value(l.args[i]) : ""; };
  return fmt::format(fmt::runtime(form), fmt::arg("t", type(l)), fmt::arg("s", with_sign(l.id)), fmt::arg("w", wide(l.id)),
                     fmt::arg("us", with_sign(read)), fmt::arg("uw", wide(read)), fmt::arg("f", l.reg == Reg::f32 ? "f" : ""),
                     fmt::arg("bits", width(l.reg)), fmt::arg("a", arg(0)), fmt::arg("b", arg(1)), fmt::arg("c", arg(2)));
}

/// Of floats to floats, and of i1 to numbers: true is -1 where it has a sign.
std::string CudaFunction::conversion(const Line& l) const {
  const Reg from = list_.reg(l.args[0]);
  const std::string a = value(l.args[0]);
  if (l.code == Code::bitcast) return fmt::format("bits_as<{}>(({}){})", type(l), kCudaTypes[static_cast<size_t>(from)], a);
  if (l.code == Code::fpext || l.code == Code::fptrunc) {
    if (from == Reg::f16) return fmt::format("({})to_f32({})", type(l), a);
    return l.reg == Reg::f16 ? fmt::format("to_f16((float){})", a) : fmt::format("({}){}", type(l), a);
  }
  if (from == Reg::i1 && (l.code == Code::sext || l.code == Code::sitofp)) return fmt::format("({})-(int){}", type(l), a);
  if (l.reg == Reg::i1 && l.code == Code::trunc) return fmt::format("({} & 1) != 0", a);
  return "";
}

/// The prelude's own (cuda_trigonometry.h), else CUDA's.
std::string CudaFunction::name_of(Function function, Reg reg) {
  constexpr std::pair<Function, std::string_view> kOwn[] = {{Function::sin, "sine"}, {Function::cos, "cosine"}, {Function::tan, "tangent"}};
  const auto own = std::ranges::find(kOwn, function, &std::pair<Function, std::string_view>::first);
  if (own == std::end(kOwn)) return fmt::format("{}{}", text(function), reg == Reg::f32 ? "f" : "");
  trigonometry = true;
  return std::string(own->second);
}

void CudaFunction::operation(const Line& l) {
  if (l.code == Code::compare) return define(l, filled(l, kCudaPredicates[static_cast<size_t>(l.imm)]));
  if (l.code == Code::call) {
    const std::string second = l.args.size() == 2 ? ", " + value(l.args[1]) : "";
    return define(l, fmt::format("{}({}{})", name_of(static_cast<Function>(l.imm), l.reg), value(l.args[0]), second));
  }
  if (const std::string text = conversion(l); !text.empty()) return define(l, text);
  const bool sums = l.code == Code::add || l.code == Code::sub;
  if (l.reg == Reg::i1 && sums) return define(l, fmt::format("{} != {}", value(l.args[0]), value(l.args[1])));
  for (const CudaForm& form : kCudaForms)
    if (form.code == l.code) return define(l, filled(l, is_float(l.reg) ? form.of_floats : form.of_integers));
}

/// Element `index` of an array; a host that runs this checks that it and the lanes after it are there.
std::string CudaFunction::element(const Line& l, int array, const std::string& index, int lanes) {
  arrays.insert(array);
  const int64_t size = lowered_.arrays[static_cast<size_t>(array)].kind == Array::Kind::constant
                           ? static_cast<int64_t>(lowered_.arrays[static_cast<size_t>(array)].data.size())
                           : lowered_.arrays[static_cast<size_t>(array)].bytes;
  const std::string_view of = kCudaTypes[static_cast<size_t>(l.reg)];
  if (lanes > 1) return fmt::format("&at<{}, {}>(p{}, {}, {})", of, lanes, array, index, size);
  return fmt::format("at<{}>(p{}, {}, {})", of, array, index, size);
}

std::string CudaFunction::index_of(const Line& access) const {
  const ValueId id = list_.line(access.args[0]).args[0];
  std::string index = value(id);
  if (!known_.narrow(id)) index = "(i64)" + index;
  return access.imm == 0 ? index : fmt::format("{} + {}", index, access.imm);
}

/// Lanes that the address is a multiple of, as far as is known.
int64_t CudaFunction::aligned_lanes(const Line& access) const {
  const Known& at = known_[list_.line(access.args[0]).args[0]];
  int64_t lanes = std::min<int64_t>(access.lanes, std::max<int64_t>(1, 16 / bytes(access.reg)));
  while (lanes > 1 && (at.multiple % lanes != 0 || access.imm % lanes != 0 || access.lanes % lanes != 0)) lanes /= 2;
  return lanes;
}

/// Constants and ramps have no variable: they are put into one here.
void CudaFunction::store_vector(const Line& l, const std::string& place) {
  const Line& from = list_.line(l.args[1]);
  if (from.kind != Line::Kind::constant && from.kind != Line::Kind::ramp)
    return line("store<{}>({}, v{});", aligned_lanes(l), place, from.id);
  line("{{ {} x; for (int l = 0; l < {}; ++l) x.v[l] = {}; store<{}>({}, x); }}", declared(from), l.lanes, value(from.id), aligned_lanes(l),
       place);
}

void CudaFunction::memory(const Line& l) {
  using Kind = Line::Kind;
  const bool through_pointer = l.kind == Kind::load || l.kind == Kind::store;
  const int array = static_cast<int>(through_pointer ? list_.line(l.args[0]).imm : l.imm);
  if (!through_pointer) {
    const std::string index = (known_.narrow(l.args[0]) ? "" : "(i64)") + value(l.args[0]);
    const std::string place = element(l, array, index, 1);
    return l.kind == Kind::gather ? define(l, place) : each_lane(l, fmt::format("{} = {}", place, value(l.args[1])));
  }
  const std::string place = element(l, array, index_of(l), l.lanes);
  if (l.lanes == 1) return l.kind == Kind::load ? define(l, place) : line("{} = {};", place, value(l.args[1]));
  if (l.kind == Kind::store) return store_vector(l, place);
  line("{} v{};", declared(l), l.id);
  line("load<{}>(v{}, {});", aligned_lanes(l), l.id, place);
}

void CudaFunction::control(const Line& l) {
  if (l.kind == Line::Kind::end) {
    --depth_;
    return line("}}");
  }
  const auto bound = [&](size_t k) { return (known_.narrow(l.args[k]) ? "" : "(i64)") + value(l.args[k]); };
  if (l.kind == Line::Kind::loop)
    line("for ({0} v{1} = {2}; v{1} < {3}; v{1} += {4}) {{", known_.narrow(l.id) ? "int" : "i64", l.id, bound(0), bound(1), l.imm);
  else
    line("if ({}) {{", value(l.args[0]));
  ++depth_;
}

void CudaFunction::shuffle(const Line& l) {
  const int first = list_.lanes(l.args[0]);
  line("{} v{};", declared(l), l.id);
  for (size_t i = 0; i < l.order.size(); ++i) {
    const int from = l.order[i];
    const std::string lane = fmt::format("{}", from < first ? from : from - first);
    line("{} = {};", value(l.id, fmt::format("{}", i)), value(l.args[from < first ? 0 : 1], lane));
  }
}

void CudaFunction::print() {
  using Kind = Line::Kind;
  for (const Line& l : list_.lines) {
    switch (l.kind) {
      case Kind::constant:
      case Kind::argument:
      case Kind::ramp:
      case Kind::prefetch:
      case Kind::fence:
      case Kind::pointer:
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
        line("{} v{};", declared(l), l.id);
        break;
      case Kind::set:
        each_lane(l, fmt::format("v{}{} = {}", l.args[0], l.lanes == 1 ? "" : ".v[l]", value(l.args[1])));
        break;
      case Kind::get:
        define(l, value(l.args[0]));
        break;
      case Kind::load:
      case Kind::store:
      case Kind::gather:
      case Kind::scatter:
        memory(l);
        break;
      case Kind::same:
        arrays.insert({static_cast<int>(l.imm), l.args[0]});
        define(l, fmt::format("(const char*)p{} == (const char*)p{}", l.imm, l.args[0]));
        break;
      case Kind::barrier:
        line("meet();");
        break;
      case Kind::down:
        define(l, fmt::format("down({}, {})", value(l.args[0]), l.imm));
        break;
      case Kind::leader:
        define(l, fmt::format("leader({}, {})", value(l.args[0]), l.imm));
        break;
    }
  }
}

}  // namespace

bool cooperates(const List& list) {
  return std::ranges::any_of(list.lines, [](const Line& l) {
    return l.kind == Line::Kind::barrier || l.kind == Line::Kind::down || l.kind == Line::Kind::leader;
  });
}

bool CudaModule::may_share(int array) const {
  return std::ranges::any_of(lowered_.may_share, [&](const auto& pair) { return pair.first == array || pair.second == array; });
}

/// An operand that no output may be in is read through the cache for what does not change.
std::string CudaModule::parameters() const {
  std::string list;
  const int scratch = lowered_.shared_bytes > 0 ? 1 : 0;
  for (int k = 0; k < lowered_.operands + lowered_.outputs + scratch; ++k) {
    const bool constant = k < lowered_.operands && !may_share(k);
    list += fmt::format("{}{}char*{} a{}", k > 0 ? ", " : "", constant ? "const " : "", constant ? " __restrict__" : "", k);
  }
  return list;
}

std::string CudaModule::address(int array) const {
  const Array& a = lowered_.arrays[static_cast<size_t>(array)];
  if (a.kind == Array::Kind::constant) {
    std::string bytes;
    for (const std::byte b : a.data) bytes += fmt::format("{},", static_cast<unsigned>(b));
    return fmt::format("  CONSTANTS p{}[] = {{{}0}};\n", array, bytes);
  }
  if (a.kind == Array::Kind::thread) return fmt::format("  char* const p{} = block_memory + {};\n", array, a.offset);
  if (a.kind == Array::Kind::shared)
    return fmt::format("  char* const p{} = a{} + {};\n", array, lowered_.operands + lowered_.outputs, a.offset);
  const bool constant = a.kind == Array::Kind::operand && !may_share(array);
  return fmt::format("  {}char* const p{} = a{};\n", constant ? "const " : "", array, a.position);
}

void CudaModule::add(const Scheduled& part, std::string_view symbol) {
  CudaFunction function(part, lowered_);
  function.print();
  functions_ += fmt::format("KERNEL({}) {}({}) {{\n", part.block_threads, symbol, parameters());
  if (part.thread_bytes > 0) functions_ += fmt::format("  BLOCK_MEMORY({});\n", part.thread_bytes);
  if (part.iterations > 0) {
    functions_ += fmt::format("  const i64 begin = (i64)BLOCK * {} + THREAD, end = begin < {} ? begin + 1 : begin;\n", part.block_threads,
                              part.iterations);
  }
  trigonometry_ = trigonometry_ || function.trigonometry;
  for (const int a : function.arrays) functions_ += address(a);
  functions_ += function.body + "}\n";
}

std::string CudaModule::text() const {
  return fmt::format("{}{}{}", cuda::kPrelude, trigonometry_ ? cuda::kTrigonometry : std::string_view(), functions_);
}

}  // namespace kernel
