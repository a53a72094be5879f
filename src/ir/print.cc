// HLO text of a module. What the parser keeps as text is printed as it stands, so that parse(print(m)) == m.
#include "src/ir/print.h"

#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "src/ir/escape.h"

namespace ir {
namespace {

constexpr size_t kUsualLine = 192;  ///< bytes; room that stays unused costs no memory where a program is large

/// Appends the text of one module in the long or the short form.
class Printer {
 public:
  Printer(const Module& module, Form form) : module_(module), long_(form == Form::long_) {}

  void module() {
    printed_.resize(module_.shapes.size());
    size_t lines = 0;
    for (const Computation& comp : module_.computations) lines += comp.instrs.size();
    out_.reserve(lines * kUsualLine);
    out_.append("HloModule ").append(module_.text(module_.name));
    for (const Attr& attr : module_.attrs) out_.append(", ").append(module_.text(attr.key)).append("=").append(module_.text(attr.text));
    out_ += "\n\n";
    if (module_.stack_frames != StringId::empty) out_.append(module_.text(module_.stack_frames)).append("\n\n");
    for (size_t i = 0; i < module_.computations.size(); ++i) {
      if (i > 0) out_ += '\n';
      computation(static_cast<CompId>(i));
    }
  }

  void computation(CompId id) {
    const Computation& comp = module_.comp(id);
    if (id == module_.entry) out_ += "ENTRY ";
    name(comp.name);
    if (long_) signature(comp);
    out_ += " {\n";
    for (size_t i = 0; i < comp.instrs.size(); ++i) {
      out_ += static_cast<InstrId>(i) == comp.root ? "  ROOT " : "  ";
      instruction(comp, comp.instrs[i]);
      out_ += '\n';
    }
    out_ += '}';
    if (comp.execution_thread != StringId::empty) append_quoted(out_.append(", execution_thread="), module_.text(comp.execution_thread));
    out_ += '\n';
  }

  void instruction(const Computation& comp, const Instr& instr) {
    name(instr.name);
    out_ += " = ";
    shape(instr.shape);
    out_.append(" ").append(text(instr.op)).append("(");
    arguments(comp, instr);
    out_ += ')';
    size_t next_call = 0;
    for (const Attr& attr : instr.attrs) attribute(instr, attr, next_call);
    if (const Origin* origin = module_.origin(instr)) metadata(*origin);
  }

  std::string take() { return std::move(out_); }

 private:
  /// Of a whole module the text of a shape is made once and copied then.
  void shape(ShapeId id) {
    const auto i = static_cast<size_t>(id);
    const size_t begin = out_.size();
    if (i < printed_.size() && printed_[i].size != 0)
      out_.append(out_, printed_[i].begin, printed_[i].size);
    else
      print_to(out_, module_.shape(id));
    if (i < printed_.size()) printed_[i] = {begin, out_.size() - begin};
  }

  void name(StringId id) {
    if (long_) out_ += '%';
    out_ += module_.text(id);
  }

  void signature(const Computation& comp) {
    out_ += " (";
    for (size_t i = 0; i < comp.parameters.size(); ++i) {
      const Instr& parameter = comp.instrs[static_cast<size_t>(comp.parameters[i])];
      if (i > 0) out_ += ", ";
      if (i > 0 && i % 5 == 0) fmt::format_to(std::back_inserter(out_), "/*index={}*/", i);
      out_.append(module_.text(parameter.name)).append(": ");
      print_to(out_, module_.shape(parameter), LayoutPrint::without);
    }
    out_ += ") -> ";
    print_to(out_, module_.shape(comp.instrs[static_cast<size_t>(comp.root)]), LayoutPrint::without);
  }

  void arguments(const Computation& comp, const Instr& instr) {
    if (instr.op == Op::parameter) fmt::format_to(std::back_inserter(out_), "{}", instr.number);
    if (instr.literal != LiteralId::none) out_ += print(module_.literal(instr), module_.shape(instr));
    for (size_t i = 0; i < instr.operands.size(); ++i) {
      const Instr& operand = comp.instrs[static_cast<size_t>(instr.operands[i])];
      if (i > 0) out_ += ", ";
      if (i > 0 && i % 5 == 0) fmt::format_to(std::back_inserter(out_), "/*index={}*/", i);
      if (long_) shape(operand.shape), out_ += ' ';
      name(operand.name);
    }
  }

  void attribute(const Instr& instr, const Attr& attr, size_t& next_call) {
    out_.append(", ").append(module_.text(attr.key)).append("=");
    if (attr.calls < 0) {
      out_ += module_.text(attr.text);
      return;
    }
    if (attr.braces) out_ += '{';
    for (int32_t i = 0; i < attr.calls; ++i) {
      if (i > 0) out_ += ", ";
      name(module_.comp(instr.calls[next_call++]).name);
    }
    if (attr.braces) out_ += '}';
  }

  void metadata(const Origin& origin) {
    out_ += ", metadata={";
    const size_t begin = out_.size();
    const auto separate = [&] { out_ += out_.size() == begin ? "" : " "; };
    const auto string = [&](std::string_view key, StringId id) {
      if (id != StringId::empty) separate(), append_quoted(out_.append(key).append("="), module_.text(id));
    };
    const auto number = [&](std::string_view key, int32_t value) {
      if (value != 0) separate(), fmt::format_to(std::back_inserter(out_), "{}={}", key, value);
    };
    string("op_type", origin.op_type);
    string("op_name", origin.op_name);
    string("source_file", origin.source_file);
    number("source_line", origin.source_line);
    number("source_end_line", origin.source_end_line);
    number("source_column", origin.source_column);
    number("source_end_column", origin.source_end_column);
    number("stack_frame_id", origin.stack_frame_id);
    if (origin.rest != StringId::empty) separate(), out_ += module_.text(origin.rest);
    out_ += '}';
  }

  struct Part {
    size_t begin = 0, size = 0;
  };
  const Module& module_;
  bool long_;
  std::string out_;
  std::vector<Part> printed_;  ///< where in the output a shape stands, by ShapeId; size 0: nowhere yet
};

}  // namespace

std::string print(const Module& module, Form form) {
  if (form == Form::canonical) return canonical(module, module.entry);
  Printer printer(module, form);
  printer.module();
  return printer.take();
}

std::string print(const Module& module, CompId comp, Form form) {
  if (form == Form::canonical) return canonical(module, comp);
  Printer printer(module, form);
  printer.computation(comp);
  return printer.take();
}

std::string print(const Module& module, InstrRef ref, Form form) {
  if (form == Form::canonical) return canonical(module, ref);
  Printer printer(module, form);
  printer.instruction(module.comp(ref.comp), module.instr(ref.comp, ref.instr));
  return printer.take();
}

}  // namespace ir
