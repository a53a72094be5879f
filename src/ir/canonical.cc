// The text of what an instruction computes, whatever things are called: the identity of steps and kernels.
// Names become numbers; each distinct callee is written out once, in front, and referred to by number, so that the text is linear in
// the module even where computations share callees.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "src/ir/print.h"

namespace ir {
namespace {

/// Attributes that don't change what is computed.
constexpr std::string_view kIgnored[] = {"control-predecessors", "sharding", "frontend_attributes",
                                         "statistics",           "origin",   "parameter_replication"};

class Canonical {
 public:
  explicit Canonical(const Module& module) : module_(module) {}

  /// The bodies of all callees so far, then `text`.
  std::string with_callees(const std::string& text) const { return callees_ + text; }

  std::string body(CompId id) {
    const Computation& comp = module_.comp(id);
    std::string out;
    for (size_t i = 0; i < comp.instrs.size(); ++i) {
      const Instr& instr = comp.instrs[i];
      fmt::format_to(std::back_inserter(out), "{}{}=", static_cast<InstrId>(i) == comp.root ? "ROOT " : "", i);
      begin(out, instr);
      for (size_t k = 0; k < instr.operands.size(); ++k)
        fmt::format_to(std::back_inserter(out), "{}{}", k > 0 ? "," : "", instr.operands[k]);
      end(out, instr);
      out += ';';
    }
    return out;
  }

  std::string alone(const Computation& comp, const Instr& instr) {
    std::string out;
    begin(out, instr);
    for (size_t k = 0; k < instr.operands.size(); ++k) {
      if (k > 0) out += ',';
      shape(out, module_.shape(comp.instrs[static_cast<size_t>(instr.operands[k])]));
      const auto first = std::ranges::find(instr.operands, instr.operands[k]) - instr.operands.begin();
      if (first != static_cast<std::ptrdiff_t>(k)) fmt::format_to(std::back_inserter(out), "={}", first);  // one value twice is less work
    }
    end(out, instr);
    return out;
  }

 private:
  /// "c0": equal bodies have equal numbers.
  std::string callee(CompId id) {
    if (const auto known = known_.find(id); known != known_.end()) return fmt::format("c{}", known->second);
    std::string text = body(id);
    const auto [it, fresh] = numbers_.emplace(std::move(text), numbers_.size());
    if (fresh) fmt::format_to(std::back_inserter(callees_), "c{}={{{}}}", it->second, it->first);
    known_.emplace(id, it->second);
    return fmt::format("c{}", it->second);
  }

  void begin(std::string& out, const Instr& instr) {
    shape(out, module_.shape(instr));
    out.append(text(instr.op)).append("(");
    if (instr.op == Op::parameter) fmt::format_to(std::back_inserter(out), "{}", instr.number);
    if (instr.literal != LiteralId::none) out += print(module_.literal(instr), module_.shape(instr));
  }

  void end(std::string& out, const Instr& instr) {
    out += ')';
    std::vector<std::string> attrs;
    size_t next = 0;
    for (const Attr& attr : instr.attrs) {
      const std::string_view key = module_.text(attr.key);
      std::string text(module_.text(attr.text));
      for (int32_t i = 0; i < attr.calls; ++i) text += callee(instr.calls[next++]) + ",";
      if (std::ranges::find(kIgnored, key) == std::end(kIgnored)) attrs.push_back(fmt::format(",{}={}", key, text));
    }
    std::ranges::sort(attrs);
    for (const std::string& attr : attrs) out += attr;
  }

  /// With the layout spelled out.
  void shape(std::string& out, const Shape& s) {
    if (s.is_tuple()) {
      out += '(';
      for (const Shape& element : s.elements) shape(out, element);
      out += ')';
      return;
    }
    print_to(out, s, LayoutPrint::without);
    if (s.is_array() && !s.dims.empty())
      fmt::format_to(std::back_inserter(out), "{{{}:{}}}", fmt::join(minor_to_major(s), ","), s.layout_rest);
    else if (!s.layout_rest.empty())
      fmt::format_to(std::back_inserter(out), "{{:{}}}", s.layout_rest);
  }

  const Module& module_;
  std::unordered_map<std::string, size_t> numbers_;  ///< by body
  std::unordered_map<CompId, size_t> known_;
  std::string callees_;
};

}  // namespace

std::string canonical(const Module& module, InstrRef ref) {
  Canonical text(module);
  const std::string alone = text.alone(module.comp(ref.comp), module.instr(ref.comp, ref.instr));
  return text.with_callees(alone);
}

std::string canonical(const Module& module, CompId comp) {
  Canonical text(module);
  const std::string body = text.body(comp);
  return text.with_callees(body);
}

}  // namespace ir
