// The readable text of the old IR, `str(program)` of Paddle 2.0 to 3.x: a header, a line for each variable, a line for each operator, `}`.
// Strings are printed without quotes and may be empty or hold commas, so an attribute ends where the next `, name = ` begins.
#include <fmt/format.h>

#include <algorithm>

#include "importers/paddle/attribute.h"
#include "importers/paddle/cursor.h"
#include "importers/paddle/listing.h"
#include "src/base/text.h"

namespace importers::paddle {
namespace {

constexpr std::string_view kInputs = "(inputs={";
constexpr std::string_view kDistribution = "dist_attr = ";

struct Prefix {
  std::string_view word;
  void (*apply)(Variable&);
};
constexpr Prefix kPrefixes[] = {
    {"persist ", [](Variable& v) { v.persistable = true; }},
    {"trainable ", [](Variable& v) { v.trainable = true; }},
    {"param ", [](Variable& v) { v.parameter = true; }},
    {"var ", [](Variable&) {}},
};

class ReadableReader {
 public:
  ReadableReader(Cursor cursor, Listing& listing) : cursor_(cursor), listing_(listing) {}

  base::Result<size_t> run() {
    while (cursor_.skip_space().rest().starts_with("{ // block")) {
      RETURN_IF_ERROR(header());
      bool closed = false;
      while (!closed && !cursor_.at_end()) {
        ASSIGN_OR_RETURN(closed, line());
      }
      if (!closed) cut_short();
    }
    return cursor_.at();
  }

 private:
  Program& program() { return listing_.programs.back(); }
  Block& block() { return program().blocks.back(); }
  void note(size_t offset, std::string code, std::string text) { listing_.notes.push_back({offset, std::move(code), std::move(text)}); }

  void cut_short() {
    program().gaps = true;
    note(cursor_.text().empty() ? 0 : cursor_.text().size() - 1, "cut-short", "the block has no '}': what follows is missing");
  }

  /// `{ // block 0` or `{ // block_idx:0  parent_idx:-1 …`
  base::Status header() {
    const size_t begin = cursor_.at();
    cursor_.take("{ // block");
    cursor_.take("_idx:");
    const auto index = cursor_.skip_blanks().integer();
    if (!index || *index < 0) return cursor_.error(fmt::format("expected the number of a block, got {}", cursor_.found()));
    int64_t parent = -1;
    if (cursor_.skip_blanks().take("parent_idx:")) parent = cursor_.integer().value_or(-1);
    if (*index == 0) {
      listing_.programs.push_back({Form::readable, {}, {}, begin});
    } else if (listing_.programs.empty() || program().form != Form::readable || static_cast<size_t>(*index) != program().blocks.size()) {
      return cursor_.error(begin, fmt::format("block {} does not follow block {}; give the whole program", *index, *index - 1));
    }
    if (parent >= *index) return cursor_.error(fmt::format("block {} cannot lie in block {}", *index, parent));
    program().blocks.emplace_back().parent = static_cast<int32_t>(parent);
    cursor_.skip_line();
    return {};
  }

  /// One line of a block; true where it closes the block.
  base::Result<bool> line() {
    cursor_.skip_space();
    if (cursor_.at_end()) return false;
    const std::string_view text = cursor_.line();
    if (text == "}") return cursor_.move_to(cursor_.at() + 1), true;
    if (begins_variable(text)) {
      RETURN_IF_ERROR(variable());
    } else if (text.find(kInputs) != std::string_view::npos) {
      RETURN_IF_ERROR(operation(text));
    } else if (is_remark(text)) {
      remark(text);
    } else {
      return cursor_.error(fmt::format("expected a variable, an operator or '}}', got {}", cursor_.found()));
    }
    return false;
  }

  static bool begins_variable(std::string_view text) {
    return std::ranges::any_of(kPrefixes, [&](const Prefix& prefix) { return text.starts_with(prefix.word); });
  }

  /// Comments, lines of a log, and dots for what a writer has left out.
  static bool is_remark(std::string_view text) {
    const bool log =
        text.size() > 5 && std::string_view("IWEF").find(text[0]) != std::string_view::npos && text[1] >= '0' && text[1] <= '9';
    return log || text[0] == '#' || text.starts_with("//") || text.starts_with("..") || text.starts_with("…");
  }

  void remark(std::string_view text) {
    const bool gap = text.starts_with("..") || text.starts_with("…");
    if (gap) program().gaps = true;
    note(cursor_.at(), gap ? "left-out" : "text-skipped", fmt::format("'{}' is not read", base::escaped(text.substr(0, 40))));
    cursor_.skip_line();
  }

  base::Status end_of_line() {
    if (cursor_.skip_blanks().at_end() || cursor_.take('\n')) return {};
    return cursor_.error(fmt::format("expected the end of the line, got {}", cursor_.found()));
  }

  base::Status variable() {
    Variable variable;
    variable.offset = cursor_.at();
    for (const Prefix& prefix : kPrefixes) {
      if (cursor_.take(prefix.word)) prefix.apply(variable);
    }
    const std::string_view text = cursor_.line();
    const size_t colon = text.find(" : ");
    if (colon == std::string_view::npos || colon == 0) return cursor_.error("expected the name of a variable and ' : ' with its type");
    variable.name = text.substr(0, colon);
    cursor_.move_to(cursor_.at() + colon + 3);
    RETURN_IF_ERROR(type_of(variable));
    if (cursor_.take(", ") && cursor_.take(kDistribution)) {
      ASSIGN_OR_RETURN(variable.distribution, group());
    }
    RETURN_IF_ERROR(end_of_line());
    ++listing_.read;
    block().variables.push_back(std::move(variable));
    return {};
  }

  /// `LOD_TENSOR.shape(1, 2).dtype(float32).stop_gradient(True)`; for other types the name and a ')' that opens nowhere.
  base::Status type_of(Variable& variable) {
    for (const std::string_view prefix : {"fluid.", "paddle.", "VarType."}) cursor_.take(prefix);
    variable.type.holder = cursor_.word();
    if (variable.type.holder.empty()) return cursor_.error(fmt::format("expected a type, got {}", cursor_.found()));
    variable.type.kind = Type::Kind::other;
    if (cursor_.take(')')) return {};
    while (cursor_.take('.')) {
      const std::string_view property = cursor_.word();
      if (!cursor_.take('(')) return cursor_.error(fmt::format("expected '(', got {}", cursor_.found()));
      const std::string_view inside = cursor_.rest().substr(0, cursor_.line().find(')'));
      if (property == "shape") RETURN_IF_ERROR(shape_of(variable, inside));
      if (property == "dtype" || property == "astype") RETURN_IF_ERROR(dtype_of(variable, inside));
      cursor_.move_to(cursor_.at() + inside.size());
      if (!cursor_.take(')')) return cursor_.error(fmt::format("expected ')', got {}", cursor_.found()));
    }
    return {};
  }

  base::Status shape_of(Variable& variable, std::string_view inside) {
    const auto dims = integers_of(inside);
    if (!dims) return cursor_.error(fmt::format("expected sizes, got {}", cursor_.found()));
    variable.type.kind = Type::Kind::tensor;
    variable.type.dims = listing_.keep(*dims);
    return {};
  }

  base::Status dtype_of(Variable& variable, std::string_view inside) {
    variable.type.dtype = dtype_name(inside);
    if (variable.type.dtype.empty()) return cursor_.error(fmt::format("no data type '{}'", base::escaped(inside)));
    return {};
  }

  base::Result<std::string_view> group() {
    const std::string_view group = cursor_.group();
    if (group.empty()) return cursor_.error(fmt::format("expected balanced brackets, got {}", cursor_.found()));
    return group;
  }

  /// `{Out=['a']} = matmul_v2(inputs={X=['x'], Y=['y']}, trans_x = False, …)`; what stands before the '{' is none of the program.
  base::Status operation(std::string_view text) {
    const size_t end = cursor_.at() + text.size();
    skip_junk(text);
    Operator op;
    op.offset = cursor_.at();
    if (cursor_.take('{')) {
      ASSIGN_OR_RETURN(op.outputs, slots());
      if (!cursor_.take(" = ")) return cursor_.error(fmt::format("expected ' = ', got {}", cursor_.found()));
    }
    op.type = cursor_.word();
    if (op.type.empty() || !cursor_.take(kInputs)) return cursor_.error(fmt::format("expected an operator, got {}", cursor_.found()));
    ASSIGN_OR_RETURN(op.inputs, slots());
    RETURN_IF_ERROR(attributes(op, end));
    cursor_.move_to(end);
    RETURN_IF_ERROR(end_of_line());
    ++listing_.read;
    block().operators.push_back(std::move(op));
    return {};
  }

  void skip_junk(std::string_view text) {
    if (text[0] == '{') return;
    const size_t open = text.find(kInputs), brace = text.find('{');
    if (brace > open) return;  // an operator without outputs
    note(cursor_.at(), "junk",
         fmt::format("'{}' before the operator is not read", base::escaped(text.substr(0, std::min<size_t>(brace, 40)))));
    cursor_.move_to(cursor_.at() + brace);
  }

  /// `X=['a', 'b'], Y=[]}` with the brace.
  base::Result<std::span<const Slot>> slots() {
    slots_.clear();
    while (!cursor_.take('}')) {
      Slot slot{cursor_.word("_@."), {}};
      arguments_.clear();
      if (slot.name.empty() || !cursor_.take("=[")) return cursor_.error(fmt::format("expected a slot 'NAME=[', got {}", cursor_.found()));
      while (!cursor_.take(']')) {
        const auto name = cursor_.quoted();
        if (!name) return cursor_.error(fmt::format("expected a variable in quotes or ']', got {}", cursor_.found()));
        arguments_.push_back(*name);
        cursor_.take(", ");
      }
      slot.arguments = listing_.keep(arguments_);
      slots_.push_back(slot);
      cursor_.take(", ");
    }
    return listing_.keep(slots_);
  }

  /// From behind the inputs to the line's last ')'.
  base::Status attributes(Operator& op, size_t end) {
    attributes_.clear();
    if (cursor_.text()[end - 1] != ')' || cursor_.at() >= end) return cursor_.error(end, "expected ')' at the end of the operator");
    const size_t close = end - 1;
    while (cursor_.at() < close && cursor_.take(',')) {
      cursor_.skip_blanks();
      if (cursor_.at() >= close || cursor_.peek() == ',') continue;  // the callstack was skipped, its comma was not
      const std::string_view name = cursor_.word("_@.");
      if (name.empty() || !cursor_.take(" = ")) return cursor_.error(fmt::format("expected an attribute, got {}", cursor_.found()));
      ASSIGN_OR_RETURN(const std::string_view value, value_of(close));
      if (name == "dist_attr")
        op.distribution = value;
      else
        attributes_.push_back({name, value});
      if (value.starts_with("block")) sub_blocks(op, value);
    }
    if (cursor_.at() < close) return cursor_.error(fmt::format("expected ', ' or ')', got {}", cursor_.found()));
    op.attributes = listing_.keep(attributes_);
    return {};
  }

  base::Result<std::string_view> value_of(size_t close) {
    if (cursor_.peek() == '{') return group();
    const size_t begin = cursor_.at();
    if (cursor_.peek() == '[') RETURN_IF_ERROR(skip_list());
    while (cursor_.at() < close && !at_next_attribute()) cursor_.move_to(cursor_.at() + 1);
    const std::string_view value = cursor_.text().substr(begin, std::min(cursor_.at(), close) - begin);
    cursor_.move_to(begin + value.size());
    return value.substr(0, value.find_last_not_of(' ') + 1);
  }

  bool at_next_attribute() {
    if (!cursor_.rest().starts_with(", ")) return false;
    Cursor ahead = cursor_;
    ahead.take(", ");
    if (ahead.peek() == ',' || ahead.peek() == ')') return true;
    return !ahead.word("_@.").empty() && ahead.take(" = ");
  }

  /// A list of numbers or of quoted strings; its strings may hold brackets.
  base::Status skip_list() {
    const size_t begin = cursor_.at();
    int depth = 0;
    do {
      if (cursor_.at_end() || cursor_.peek() == '\n') return cursor_.error(begin, "this list has no ']'");
      if (cursor_.quoted()) continue;
      depth += cursor_.peek() == '[' ? 1 : cursor_.peek() == ']' ? -1 : 0;
      cursor_.move_to(cursor_.at() + 1);
    } while (depth > 0);
    return {};
  }

  /// `block[1]`, `blocks[1, 2]`
  static void sub_blocks(Operator& op, std::string_view value) {
    const size_t open = value.find('['), close = value.rfind(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return;
    const auto indices = integers_of(value.substr(open + 1, close - open - 1));
    if (!indices) return;
    for (const int64_t index : *indices) op.blocks.push_back(static_cast<int32_t>(std::clamp<int64_t>(index, 0, INT32_MAX)));
  }

  Cursor cursor_;
  Listing& listing_;
  // Of the operator in hand, until the listing keeps them.
  std::vector<Slot> slots_;
  std::vector<std::string_view> arguments_;
  std::vector<Attribute> attributes_;
};

}  // namespace

base::Result<size_t> read_readable(Cursor cursor, Listing& listing) { return ReadableReader(cursor, listing).run(); }

}  // namespace importers::paddle
