// GraphNet's form of PIR: a Python layer whose statements carry the operator and its types as a comment,
//   # pd_op.unsqueeze: (1x1x21xi64) <- (1x21xi64, 1xi64)
//   unsqueeze_0 = paddle._C_ops.unsqueeze(data_0, full_int_array_0)
// The comment gives type and shapes, the statement names: what stands first in the call are the operands, the rest are attributes by
// position.
#include <fmt/format.h>

#include <algorithm>

#include "importers/paddle/attribute.h"
#include "importers/paddle/cursor.h"
#include "importers/paddle/listing.h"
#include "src/base/text.h"

namespace importers::paddle {
namespace {

constexpr std::string_view kCall = "_C_ops.";

std::string_view trimmed(std::string_view text, std::string_view what = " \t\r\n") {
  const size_t first = text.find_first_not_of(what);
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(what) - first + 1);
}

class Reader {
 public:
  Reader(Cursor cursor, Listing& listing) : cursor_(cursor), listing_(listing) {}

  base::Result<size_t> run() {
    listing_.programs.push_back({Form::python, {}, {}, cursor_.at()});
    listing_.programs.back().blocks.push_back({});
    while (!cursor_.skip_space().at_end()) {
      if (cursor_.take("def forward("))
        parameters();
      else if (is_comment_of_operator(cursor_.line()))
        RETURN_IF_ERROR(operation());
      else
        cursor_.skip_line();
    }
    return cursor_.at();
  }

 private:
  Block& block() { return listing_.programs.back().blocks[0]; }

  void parameters() {
    const std::string_view inside = cursor_.rest().substr(0, cursor_.rest().find(')'));
    for (const std::string_view name : items_of(inside)) {
      if (name != "self") define(name, {});
    }
    cursor_.move_to(cursor_.at() + inside.size());
  }

  void define(std::string_view name, Type type) {
    Variable variable;
    variable.name = name;
    variable.type = std::move(type);
    variable.offset = cursor_.at();
    block().variables.push_back(std::move(variable));
    ++listing_.read;
  }

  static bool is_comment_of_operator(std::string_view line) {
    return line.starts_with("# ") && line.find(" <- (") != std::string_view::npos && line.find(": (") != std::string_view::npos;
  }

  base::Status operation() {
    Operator op;
    op.offset = cursor_.at();
    cursor_.take("# ");
    op.type = cursor_.word("_.");
    if (!cursor_.take(": ")) return cursor_.error(fmt::format("expected ': ' and types, got {}", cursor_.found()));
    ASSIGN_OR_RETURN(std::vector<Type> results, types());
    cursor_.take(" <- ");
    ASSIGN_OR_RETURN(const std::vector<Type> operands, types());
    cursor_.skip_line();
    name(op, results, operands.size());
    ++listing_.read;
    block().operators.push_back(std::move(op));
    return {};
  }

  base::Result<std::vector<Type>> types() {
    if (!cursor_.take('(')) return cursor_.error(fmt::format("expected '(' and types, got {}", cursor_.found()));
    return types_until(')');
  }

  /// `1x21xi64, [1xf32, 2xf32], None`
  base::Result<std::vector<Type>> types_until(char close) {
    std::vector<Type> types;
    while (!cursor_.skip_blanks().take(close)) {
      const size_t begin = cursor_.at();
      Type type;
      if (close == ')' && cursor_.take('[')) {
        ASSIGN_OR_RETURN(type.elements, types_until(']'));
        type.kind = Type::Kind::list;
      } else if (!cursor_.take("None")) {
        const std::string_view spelling = cursor_.word("_-");
        if (spelling.empty()) return cursor_.error(begin, fmt::format("expected a type, got {}", cursor_.found()));
        const std::string whole = fmt::format("tensor<{}>", spelling);
        Cursor inner(listing_.keep(whole), cursor_.source());
        auto read = read_type(inner);
        if (!read.ok()) return cursor_.error(begin, fmt::format("'{}' is no type", base::escaped(spelling)));
        type = *std::move(read);
      }
      types.push_back(std::move(type));
      cursor_.take(',');
    }
    return types;
  }

  /// The statement below the comment: up to an empty line, a comment or a `del`.
  std::string_view statement() {
    const size_t begin = cursor_.at();
    while (!cursor_.at_end()) {
      const std::string_view line = trimmed(cursor_.line());
      if (line.empty() || line[0] == '#' || line.starts_with("del ") || line.starts_with("return ")) break;
      cursor_.skip_line();
    }
    return trimmed(cursor_.since(begin));
  }

  void name(Operator& op, std::vector<Type>& results, size_t operands) {
    const std::string_view text = statement();
    const size_t equals = text.find(" = ");
    Slot out, in;
    if (equals != std::string_view::npos) {
      for (const std::string_view name : items_of(trimmed(text.substr(0, equals), " \t\r\n()"))) out.arguments.push_back(name);
      arguments(op, in, text.substr(equals + 3), operands);
    }
    if (out.arguments.size() != results.size()) {
      listing_.notes.push_back({op.offset, "unnamed-results",
                                fmt::format("{} has {} results, its statement names {}", op.type, results.size(), out.arguments.size())});
      listing_.programs.back().gaps = true;
    }
    for (size_t k = 0; k < std::min(out.arguments.size(), results.size()); ++k) define(out.arguments[k], std::move(results[k]));
    op.outputs.push_back(std::move(out));
    op.inputs.push_back(std::move(in));
  }

  void arguments(Operator& op, Slot& in, std::string_view text, size_t operands) {
    std::string_view list = text;
    if (const size_t call = text.find(kCall); call != std::string_view::npos) {
      Cursor inner(text, "", std::min(text.find('(', call), text.size()));
      list = trimmed(inner.group());
      if (list.size() >= 2) list = list.substr(1, list.size() - 2);
    }
    for (const std::string_view item : items_of(list)) {
      if (in.arguments.size() < operands)
        in.arguments.push_back(item == "None" ? std::string_view() : item);
      else
        op.attributes.push_back({listing_.keep(fmt::format("argument_{}", in.arguments.size() + op.attributes.size())), item});
    }
  }

  Cursor cursor_;
  Listing& listing_;
};

}  // namespace

base::Result<size_t> read_python(Cursor cursor, Listing& listing) { return Reader(cursor, listing).run(); }

}  // namespace importers::paddle
