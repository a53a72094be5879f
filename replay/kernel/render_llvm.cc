// A line of the list is one or two instructions. Loops are counters in memory (mem2reg makes them registers). Pointers that are loaded from
// `args` could alias everything, so each load and store names its array's alias scope and those of all others. (An inner function with
// noalias parameters says the same, but every pass then runs for two functions.)
#include "replay/kernel/render_llvm.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace kernel {
namespace {

constexpr std::string_view kLlvmTypes[] = {"i1", "i8", "i16", "i32", "i64", "half", "float", "double"};
constexpr std::string_view kSuffixes[] = {"i1", "i8", "i16", "i32", "i64", "f16", "f32", "f64"};

std::string_view element(Reg reg) { return kLlvmTypes[static_cast<size_t>(reg)]; }
std::string type_text(Reg reg, int lanes) { return lanes == 1 ? std::string(element(reg)) : fmt::format("<{} x {}>", lanes, element(reg)); }
/// Of an intrinsic's name: "f32", "v8f32".
std::string suffix(Reg reg, int lanes) {
  const std::string_view s = kSuffixes[static_cast<size_t>(reg)];
  return lanes == 1 ? std::string(s) : fmt::format("v{}{}", lanes, s);
}

/// The same text in all lanes.
std::string repeated(Reg reg, int lanes, std::string_view value) {
  if (lanes == 1) return std::string(value);
  std::string out = "<";
  for (int i = 0; i < lanes; ++i) out += fmt::format("{}{} {}", i ? ", " : "", element(reg), value);
  return out + ">";
}

std::string scalar_constant(Reg reg, int64_t imm) {
  if (reg == Reg::i1) return imm ? "true" : "false";
  if (!is_float(reg)) return fmt::format("{}", imm);
  double value = std::bit_cast<double>(imm);
  if (reg != Reg::f64) value = static_cast<double>(static_cast<float>(value));  // LLVM writes f32 as the f64 of equal value
  return fmt::format("0x{:016X}", std::bit_cast<uint64_t>(value));
}

struct OpRow {
  Code code;
  std::string_view of_integers, of_floats;
};
constexpr OpRow kOps[] = {
    {Code::add, "add", "fadd"}, {Code::sub, "sub", "fsub"}, {Code::mul, "mul", "fmul"}, {Code::sdiv, "sdiv", ""}, {Code::udiv, "udiv", ""},
    {Code::srem, "srem", ""},   {Code::urem, "urem", ""},   {Code::fdiv, "", "fdiv"},   {Code::frem, "", "frem"}, {Code::and_, "and", ""},
    {Code::or_, "or", ""},      {Code::xor_, "xor", ""},    {Code::shl, "shl", ""},     {Code::lshr, "lshr", ""}, {Code::ashr, "ashr", ""},
};
constexpr std::pair<Code, std::string_view> kCasts[] = {{Code::sext, "sext"},     {Code::zext, "zext"},       {Code::trunc, "trunc"},
                                                        {Code::sitofp, "sitofp"}, {Code::uitofp, "uitofp"},   {Code::toint, "fptosi"},
                                                        {Code::fpext, "fpext"},   {Code::fptrunc, "fptrunc"}, {Code::bitcast, "bitcast"}};
constexpr std::pair<Code, std::string_view> kIntrinsics[] = {
    {Code::fma, "fma"},     {Code::sqrt, "sqrt"}, {Code::floor, "floor"},       {Code::ceil, "ceil"},   {Code::rint, "rint"},
    {Code::round, "round"}, {Code::fabs, "fabs"}, {Code::copysign, "copysign"}, {Code::ctpop, "ctpop"}, {Code::ctlz, "ctlz"}};

template <typename Table>
std::string_view find(const Table& table, Code code) {
  for (const auto& [c, name] : table)
    if (c == code) return name;
  return {};
}

}  // namespace

/// Prints one list.
class LlvmFunction {
 public:
  LlvmFunction(LlvmModule& module, const List& list) : module_(module), list_(list) {}
  void print();
  std::string entry, body;
  std::set<int> arrays;

 private:
  template <typename... A>
  void line(fmt::format_string<A...> format, A&&... args) {
    body += "  " + fmt::format(format, std::forward<A>(args)...) + "\n";
  }
  template <typename... A>
  std::string let(fmt::format_string<A...> format, A&&... args) {
    std::string name = fmt::format("%t{}", count_++);
    body += fmt::format("  {} = ", name) + fmt::format(format, std::forward<A>(args)...) + "\n";
    return name;
  }
  void need(const std::string& declaration) {
    if (module_.declarations_.find(declaration) == std::string::npos) module_.declarations_ += declaration + "\n";
  }
  std::string name(ValueId id) const;
  std::string typed(ValueId id) const { return type_text(list_.reg(id), list_.lanes(id)) + " " + name(id); }
  std::string base(int64_t array) {
    arrays.insert(static_cast<int>(array));
    const bool constant = module_.lowered_.arrays[static_cast<size_t>(array)].kind == Array::Kind::constant;
    return fmt::format("{}{}", constant ? "@c" : "%p", array);
  }
  /// The array that a load or store touches.
  int64_t array_of(const Line& l) const { return has_pointer(l) ? list_.line(l.args[0]).imm : l.imm; }
  static bool has_pointer(const Line& l) { return l.kind == Line::Kind::load || l.kind == Line::Kind::store; }
  /// What a load or store says of its array: ", !alias.scope !7, !noalias !12".
  std::string scope(const Line& l) const {
    const auto array = static_cast<int>(array_of(l));
    return fmt::format(", !alias.scope !{}, !noalias !{}", module_.own_scope(array), module_.other_scopes(array));
  }
  std::string address(const Line& l) {
    return l.imm == 0 ? name(l.args[0]) : let("getelementptr inbounds {}, ptr {}, i64 {}", element(l.reg), name(l.args[0]), l.imm);
  }
  std::string mask(const Line& l, size_t arg) const { return l.args.size() > arg ? name(l.args[arg]) : repeated(Reg::i1, l.lanes, "true"); }
  void define(const Line& l, const std::string& text) { body += fmt::format("  %v{} = {}\n", l.id, text); }
  void operation(const Line& l);
  void call(const Line& l);
  std::string vector_call(const Line& l, std::string_view symbol, int width);
  std::string streamable(const Line& store);
  void memory(const Line& l);
  void control(const Line& l);
  void lanes(const Line& l);

  LlvmModule& module_;
  const List& list_;
  int count_ = 0;
  struct Open {
    bool loop;
    int label;
    const Line* line;
  };
  std::vector<Open> open_;
};

std::string LlvmFunction::name(ValueId id) const {
  const Line& l = list_.line(id);
  if (l.kind == Line::Kind::argument) return l.imm == 0 ? "%begin" : l.imm == 1 ? "%end" : "%thread";
  if (l.kind == Line::Kind::constant) return repeated(l.reg, l.lanes, scalar_constant(l.reg, l.imm));
  if (l.kind == Line::Kind::ramp) {
    std::string out = "<";
    for (int i = 0; i < l.lanes; ++i) out += fmt::format("{}{} {}", i ? ", " : "", element(l.reg), i * l.imm);
    return out + ">";
  }
  return fmt::format("%v{}", id);
}

void LlvmFunction::operation(const Line& l) {
  const std::string type = type_text(l.reg, l.lanes);
  if (l.code == Code::compare) {
    const bool floats = is_float(list_.reg(l.args[0]));
    return define(l, fmt::format("{} {} {}, {}", floats ? "fcmp" : "icmp", kernel::text(static_cast<Predicate>(l.imm)), typed(l.args[0]),
                                 name(l.args[1])));
  }
  if (l.code == Code::select) return define(l, fmt::format("select {}, {}, {}", typed(l.args[0]), typed(l.args[1]), typed(l.args[2])));
  if (l.code == Code::fneg) return define(l, fmt::format("fneg {}", typed(l.args[0])));
  if (l.code == Code::call) return call(l);
  for (const OpRow& row : kOps)
    if (row.code == l.code)
      return define(l, fmt::format("{} {}, {}", is_float(l.reg) ? row.of_floats : row.of_integers, typed(l.args[0]), name(l.args[1])));
  if (const auto cast = find(kCasts, l.code); !cast.empty()) return define(l, fmt::format("{} {} to {}", cast, typed(l.args[0]), type));
  if (l.code == Code::fptosi || l.code == Code::fptoui) {
    const Reg from = list_.reg(l.args[0]);
    const std::string symbol = fmt::format("@llvm.{}.sat.{}.{}", kernel::text(l.code), suffix(l.reg, l.lanes), suffix(from, l.lanes));
    need(fmt::format("declare {} {}({})", type, symbol, type_text(from, l.lanes)));
    return define(l, fmt::format("call {} {}({})", type, symbol, typed(l.args[0])));
  }
  const std::string symbol = fmt::format("@llvm.{}.{}", find(kIntrinsics, l.code), suffix(l.reg, l.lanes));
  std::string types, args;
  for (const ValueId a : l.args) {
    types += (types.empty() ? "" : ", ") + type_text(list_.reg(a), list_.lanes(a));
    args += (args.empty() ? "" : ", ") + typed(a);
  }
  if (l.code == Code::ctlz) types += ", i1", args += ", i1 false";
  need(fmt::format("declare {} {}({})", type, symbol, types));
  define(l, fmt::format("call {} {}({})", type, symbol, args));
}

/// By pieces of the width that the vector library has.
std::string LlvmFunction::vector_call(const Line& l, std::string_view symbol, int width) {
  const std::string piece = type_text(l.reg, width);
  std::string types;
  for (size_t a = 0; a < l.args.size(); ++a) types += (a ? ", " : "") + piece;
  need(fmt::format("declare {} @{}({}) nounwind willreturn memory(none)", piece, symbol, types));
  std::string result;
  for (int first = 0; first < l.lanes; first += width) {
    std::string args;
    for (size_t a = 0; a < l.args.size(); ++a) {
      std::string part = name(l.args[a]);
      if (width < l.lanes) {
        std::string order;
        for (int i = 0; i < width; ++i) order += fmt::format("{}i32 {}", i ? ", " : "", first + i);
        part = let("shufflevector {}, {} poison, <{} x i32> <{}>", typed(l.args[a]), type_text(l.reg, l.lanes), width, order);
      }
      args += fmt::format("{}{} {}", a ? ", " : "", piece, part);
    }
    const std::string done = let("call {} @{}({})", piece, symbol, args);
    if (width == l.lanes) return done;
    std::string wide, order;
    for (int i = 0; i < l.lanes; ++i) wide += fmt::format("{}i32 {}", i ? ", " : "", i < width ? fmt::format("{}", i) : "poison");
    const std::string spread = let("shufflevector {} {}, {} poison, <{} x i32> <{}>", piece, done, piece, l.lanes, wide);
    for (int i = 0; i < l.lanes; ++i)
      order += fmt::format("{}i32 {}", i ? ", " : "", i >= first && i < first + width ? l.lanes + i - first : i);
    const std::string type = type_text(l.reg, l.lanes);
    result = result.empty() ? spread : let("shufflevector {} {}, {} {}, <{} x i32> <{}>", type, result, type, spread, l.lanes, order);
  }
  return result;
}

void LlvmFunction::call(const Line& l) {
  const std::string type = type_text(l.reg, l.lanes), scalar(element(l.reg));
  const std::string function = std::string(kernel::text(static_cast<Function>(l.imm))) + (l.reg == Reg::f32 ? "f" : "");
  const bool wide = module_.target_.lanes >= 16;
  const int width = (l.reg == Reg::f32 ? 8 : 4) * (wide ? 2 : 1);
  if (l.lanes > 1 && module_.target_.vector_functions && l.lanes % width == 0) {
    const std::string symbol = fmt::format("_ZGV{}N{}{}_{}", wide ? "e" : "d", width, l.args.size() == 2 ? "vv" : "v", function);
    return define(l, fmt::format("bitcast {} {} to {}", type, vector_call(l, symbol, width), type));
  }
  need(fmt::format("declare {} @{}({}) nounwind willreturn memory(none)", scalar, function,
                   l.args.size() == 2 ? scalar + ", " + scalar : scalar));
  std::string result = "poison";
  for (int lane = 0; lane < l.lanes; ++lane) {
    std::string args;
    for (size_t a = 0; a < l.args.size(); ++a) {
      const std::string x = l.lanes == 1 ? name(l.args[a]) : let("extractelement {}, i64 {}", typed(l.args[a]), lane);
      args += fmt::format("{}{} {}", a ? ", " : "", scalar, x);
    }
    if (l.lanes == 1) return define(l, fmt::format("call {} @{}({})", scalar, function, args));
    const std::string y = let("call {} @{}({})", scalar, function, args);
    result = let("insertelement {} {}, {} {}, i64 {}", type, result, scalar, y, lane);
  }
  define(l, fmt::format("bitcast {} {} to {}", type, result, type));
}

/// LLVM has no streaming store of halves (x86, 19): the same bits as floats. The fence, which is no instruction, keeps LLVM from storing
/// the halves after all.
std::string LlvmFunction::streamable(const Line& l) {
  const std::string floats = type_text(Reg::f32, l.lanes / 2);
  const std::string symbol = fmt::format("@llvm.arithmetic.fence.{}", suffix(Reg::f32, l.lanes / 2));
  need(fmt::format("declare {0} {1}({0})", floats, symbol));
  return fmt::format("{} {}", floats, let("call {0} {1}({0} {2})", floats, symbol, let("bitcast {} to {}", typed(l.args[1]), floats)));
}

void LlvmFunction::memory(const Line& l) {
  using Kind = Line::Kind;
  const std::string type = type_text(l.reg, l.lanes);
  const int align = bytes(l.reg);
  const std::string pointers = fmt::format("<{} x ptr>", l.lanes), masks = fmt::format("<{} x i1>", l.lanes);
  if (l.kind == Kind::pointer)
    return define(l, fmt::format("getelementptr inbounds {}, ptr {}, i64 {}", element(l.reg), base(l.imm), name(l.args[0])));
  if (l.kind == Kind::load && l.args.size() == 1)
    return define(l, fmt::format("load {}, ptr {}, align {}{}", type, address(l), align, scope(l)));
  if (l.kind == Kind::load) {
    const std::string symbol = fmt::format("@llvm.masked.load.{}.p0", suffix(l.reg, l.lanes));
    need(fmt::format("declare {} {}(ptr, i32, {}, {})", type, symbol, masks, type));
    return define(l, fmt::format("call {} {}(ptr {}, i32 {}, {} {}, {} zeroinitializer){}", type, symbol, address(l), align, masks,
                                 mask(l, 1), type, scope(l)));
  }
  if (l.kind == Kind::store && l.args.size() == 2) {
    const std::string to = address(l);
    std::string value = typed(l.args[1]);
    if (l.streaming && l.reg == Reg::f16) value = streamable(l);
    return line("store {}, ptr {}, align {}{}{}", value, to, l.streaming ? std::min(64, align * l.lanes) : align,
                l.streaming ? ", !nontemporal !0" : "", scope(l));
  }
  if (l.kind == Kind::store) {
    const std::string symbol = fmt::format("@llvm.masked.store.{}.p0", suffix(l.reg, l.lanes)), to = address(l);
    need(fmt::format("declare void {}({}, ptr, i32, {})", symbol, type, masks));
    return line("call void {}({}, ptr {}, i32 {}, {} {}){}", symbol, typed(l.args[1]), to, align, masks, mask(l, 2), scope(l));
  }
  const std::string where = let("getelementptr inbounds {}, ptr {}, {}", element(l.reg), base(l.imm), typed(l.args[0]));
  if (l.kind == Kind::gather) {
    const std::string symbol = fmt::format("@llvm.masked.gather.{}.v{}p0", suffix(l.reg, l.lanes), l.lanes);
    need(fmt::format("declare {} {}({}, i32, {}, {})", type, symbol, pointers, masks, type));
    return define(l, fmt::format("call {} {}({} {}, i32 {}, {} {}, {} zeroinitializer){}", type, symbol, pointers, where, align, masks,
                                 mask(l, 1), type, scope(l)));
  }
  const std::string symbol = fmt::format("@llvm.masked.scatter.{}.v{}p0", suffix(l.reg, l.lanes), l.lanes);
  need(fmt::format("declare void {}({}, {}, i32, {})", symbol, type, pointers, masks));
  line("call void {}({}, {} {}, i32 {}, {} {}){}", symbol, typed(l.args[1]), pointers, where, align, masks, mask(l, 2), scope(l));
}

void LlvmFunction::control(const Line& l) {
  if (l.kind == Line::Kind::end) {
    const Open open = open_.back();
    open_.pop_back();
    if (open.loop) {
      line("store i64 {}, ptr %c{}", let("add nuw nsw i64 %v{}, {}", open.line->id, open.line->imm), open.label);
      line("br label %head{}", open.label);
    } else {
      line("br label %out{}", open.label);
    }
    body += fmt::format("out{}:\n", open.label);
    return;
  }
  const int label = count_++;
  const bool loop = l.kind == Line::Kind::loop;
  open_.push_back({loop, label, &l});
  if (!loop) {
    line("br i1 {}, label %in{}, label %out{}", name(l.args[0]), label, label);
    body += fmt::format("in{}:\n", label);
    return;
  }
  entry += fmt::format("  %c{} = alloca i64\n", label);
  line("store i64 {}, ptr %c{}", name(l.args[0]), label);
  line("br label %head{}", label);
  body += fmt::format("head{}:\n", label);
  define(l, fmt::format("load i64, ptr %c{}", label));
  line("br i1 {}, label %in{}, label %out{}", let("icmp slt i64 %v{}, {}", l.id, name(l.args[1])), label, label);
  body += fmt::format("in{}:\n", label);
}

void LlvmFunction::lanes(const Line& l) {
  const std::string type = type_text(l.reg, l.lanes);
  if (l.kind == Line::Kind::lane) return define(l, fmt::format("extractelement {}, i64 {}", typed(l.args[0]), l.imm));
  if (l.kind == Line::Kind::splat) {
    const std::string one = let("insertelement {} poison, {}, i64 0", type, typed(l.args[0]));
    return define(l, fmt::format("shufflevector {} {}, {} poison, <{} x i32> zeroinitializer", type, one, type, l.lanes));
  }
  std::string order;
  for (size_t i = 0; i < l.order.size(); ++i) order += fmt::format("{}i32 {}", i ? ", " : "", l.order[i]);
  define(l, fmt::format("shufflevector {}, {}, <{} x i32> <{}>", typed(l.args[0]), typed(l.args[1]), l.order.size(), order));
}

void LlvmFunction::print() {
  using Kind = Line::Kind;
  for (const Line& l : list_.lines) {
    switch (l.kind) {
      case Kind::constant:
      case Kind::argument:
      case Kind::ramp:
        break;
      case Kind::op:
        operation(l);
        break;
      case Kind::splat:
      case Kind::lane:
      case Kind::shuffle:
        lanes(l);
        break;
      case Kind::loop:
      case Kind::branch:
      case Kind::end:
        control(l);
        break;
      case Kind::variable:
        entry += fmt::format("  %v{} = alloca {}\n", l.id, type_text(l.reg, l.lanes));
        break;
      case Kind::set:
        line("store {}, ptr %v{}", typed(l.args[1]), l.args[0]);
        break;
      case Kind::get:
        define(l, fmt::format("load {}, ptr %v{}", type_text(l.reg, l.lanes), l.args[0]));
        break;
      case Kind::pointer:
      case Kind::load:
      case Kind::store:
      case Kind::gather:
      case Kind::scatter:
        memory(l);
        break;
      case Kind::prefetch:
        need("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)");
        line("call void @llvm.prefetch.p0(ptr {}, i32 0, i32 3, i32 1)",  // may lie beyond the array: not inbounds
             let("getelementptr {}, ptr {}, i64 {}", element(l.reg), name(l.args[0]), l.imm));
        break;
      case Kind::fence:
        line("fence seq_cst");
        break;
      case Kind::same:
        define(l, fmt::format("icmp eq ptr {}, {}", base(l.imm), base(l.args[0])));
        break;
      case Kind::barrier:  // this and what follows: of GPUs only
      case Kind::down:
      case Kind::leader:
        break;
    }
  }
}

/// Metadata of a function: a domain, then for each array its scope, the list of it alone, and the list of all others.
int LlvmModule::own_scope(int array) const { return metadata_count_ + 2 + 3 * array; }
int LlvmModule::other_scopes(int array) const { return metadata_count_ + 3 + 3 * array; }

/// An output that may be in an operand's memory: its stores must stay behind the operand's loads.
bool LlvmModule::may_share(int a, int b) const {
  const auto is_pair = [&](const std::pair<int, int>& pair) { return pair == std::pair(std::min(a, b), std::max(a, b)); };
  return std::ranges::any_of(lowered_.may_share, is_pair);
}

void LlvmModule::define_scopes(const std::set<int>& arrays) {
  const int domain = metadata_count_;
  metadata_ += fmt::format("!{0} = distinct !{{!{0}}}\n", domain);
  for (const int a : arrays) {
    const int scope = own_scope(a) - 1;
    std::string others;
    for (const int b : arrays)
      if (b != a && !may_share(a, b)) others += fmt::format("{}!{}", others.empty() ? "" : ", ", own_scope(b) - 1);
    metadata_ += fmt::format("!{0} = distinct !{{!{0}, !{1}}}\n!{2} = !{{!{0}}}\n!{3} = !{{{4}}}\n", scope, domain, own_scope(a),
                             other_scopes(a), others);
  }
  metadata_count_ += 1 + 3 * static_cast<int>(lowered_.arrays.size());
}

/// Lines that give the array's address to %p<array>.
std::string LlvmModule::address(int array) const {
  const Array& a = lowered_.arrays[static_cast<size_t>(array)];
  if (a.kind == Array::Kind::constant) return {};
  if (a.kind == Array::Kind::thread) return fmt::format("  %p{} = getelementptr inbounds i8, ptr %scratch, i64 {}\n", array, a.offset);
  const bool shared = a.kind == Array::Kind::shared;
  const int position = shared ? lowered_.operands + lowered_.outputs : a.position;
  std::string lines = fmt::format("  %a{0} = getelementptr inbounds ptr, ptr %args, i64 {1}\n  %{2}{0} = load ptr, ptr %a{0}, !align !1\n",
                                  array, position, shared ? "s" : "p");
  if (shared) lines += fmt::format("  %p{0} = getelementptr inbounds i8, ptr %s{0}, i64 {1}\n", array, a.offset);
  return lines;
}

void LlvmModule::add(const List& list, std::string_view symbol) {
  LlvmFunction function(*this, list);
  function.print();
  std::string addresses;
  for (const int a : function.arrays) addresses += address(a);
  functions_ += fmt::format(
      "define void @{}(ptr %args, i64 %begin, i64 %end, ptr %scratch, i64 %thread) #0 {{\nentry:\n{}{}  br label %start\nstart:\n{}  ret "
      "void\n}}\n",
      symbol, addresses, function.entry, function.body);
  define_scopes(function.arrays);
}

std::string LlvmModule::text() const {
  std::string constants;
  for (size_t a = 0; a < lowered_.arrays.size(); ++a) {
    const Array& array = lowered_.arrays[a];
    if (array.kind != Array::Kind::constant) continue;
    constants += fmt::format("@c{} = private unnamed_addr constant [{} x i8] c\"", a, array.data.size());
    for (const std::byte b : array.data) constants += fmt::format("\\{:02X}", static_cast<unsigned>(b));
    constants += "\", align 64\n";
  }
  const std::string width = fmt::format("\"min-legal-vector-width\"=\"{0}\" \"prefer-vector-width\"=\"{0}\"", target_.lanes * 32);
  return declarations_ + constants + functions_ +
         fmt::format("attributes #0 = {{ nounwind {} }}\n!0 = !{{i32 1}}\n!1 = !{{i64 64}}\n{}", width, metadata_);
}

}  // namespace kernel
