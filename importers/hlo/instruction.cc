// One instruction, whatever its opcode: `ROOT name = shape opcode(operands), attribute=value, …`.
// Operands and callees stay names here; resolve.cc looks them up.
#include <fmt/format.h>

#include "importers/hlo/parser.h"
#include "importers/hlo/words.h"
#include "src/base/text.h"

namespace importers::hlo {
namespace {

struct AsyncSuffix {
  std::string_view text;
  ir::Op op;
};
constexpr AsyncSuffix kAsyncSuffixes[] = {
    {"-start", ir::Op::async_start}, {"-update", ir::Op::async_update}, {"-done", ir::Op::async_done}};

constexpr size_t kShownName = 60;  ///< bytes of a name that a message repeats

}  // namespace

bool Parser::parse_instruction(Scope& scope) {
  const bool root = lexer_.peek() == 'R' && lexer_.take_word("ROOT");
  ir::Instr instr;
  lexer_.skip();
  instr.offset = static_cast<uint32_t>(lexer_.at());
  const std::string_view name = lexer_.name();
  if (name.empty()) {
    const bool number = continues_word(lexer_.raw());
    return expected(number ? "an instruction or '}': names begin with a letter or '_'" : "an instruction or '}'");
  }
  instr.name = module_.strings.intern(name);
  if (!lexer_.take('=')) return no_instruction(instr.offset, name);
  if (at_attribute(name)) return fail(instr.offset, fmt::format("expected ',' before attribute '{}'", name));
  if (root && scope.root >= 0) return fail(instr.offset, "a second ROOT; a computation has one");
  const auto id = parse_rhs(scope, std::move(instr));
  if (!id) return false;
  if (root) scope.root = *id;
  return parse_attributes(scope.instrs.back());  // they may hold bodies, which do not touch this scope
}

/// Why there is no '=' after a name: most often something before it has no end.
bool Parser::no_instruction(size_t offset, std::string_view name) {
  if (same_but_for_case(name, "ROOT")) return fail(offset, fmt::format("expected '=' after '{}'; did you mean 'ROOT'?", name));
  const size_t at = lexer_.at();
  lexer_.move_to(offset);
  if (at_computation()) return fail(offset, "expected '}': a computation begins here, and the one before has no end");
  lexer_.move_to(at);
  return expected(fmt::format("'=' after '{}'", base::escaped(name.substr(0, kShownName))));
}

/// Whether what follows `key=` is an attribute's value and not an instruction; a name may be spelled like an attribute.
bool Parser::at_attribute(std::string_view key) {
  if (find_attribute(key) == nullptr || at_shape()) return false;
  const size_t begin = lexer_.at();
  const std::string_view word = lexer_.name();
  const bool yes = word.empty() || lexer_.peek() != '(';
  lexer_.move_to(begin);
  return yes;
}

/// `shape? opcode(operands)`, appended to the scope after the instructions that stand inside it.
std::optional<ir::InstrId> Parser::parse_rhs(Scope& scope, ir::Instr instr) {
  if (++depth_ > kMaxDepth) return fail(lexer_.at(), fmt::format("instructions nest deeper than {}", kMaxDepth)), std::nullopt;
  const auto shape = parse_shape_if_any();
  if (!shape) return std::nullopt;
  instr.shape = *shape;
  lexer_.skip();
  const size_t place = lexer_.at();
  const std::string_view word = lexer_.word();
  if (word.empty()) return expected(instr.shape == kNoShape ? "a shape or an opcode" : "an opcode"), std::nullopt;
  if (!parse_opcode(instr, word, place)) return std::nullopt;
  omitted_shape_ = omitted_shape_ || instr.shape == kNoShape;
  if (!expect('(') || !parse_arguments(scope, instr) || !expect(')')) return std::nullopt;
  --depth_;
  scope.instrs.push_back(std::move(instr));
  return static_cast<ir::InstrId>(scope.instrs.size() - 1);
}

/// An opcode of today, of an old text, or `<opcode>-start`: the short spelling of an asynchronous body of one instruction.
bool Parser::parse_opcode(ir::Instr& instr, std::string_view word, size_t offset) {
  if (const auto op = ir::find_op(word)) return instr.op = *op, true;
  if (const OldOpcode* old = find_old_opcode(word)) {
    instr.op = old->op;
    if (!old->key.empty()) instr.attrs.push_back({module_.strings.intern(old->key), module_.strings.intern(old->value)});
    notes_.add_once(offset, "old-opcode", word, fmt::format("'{}' is read as '{}'", word, ir::text(old->op)));
    return true;
  }
  for (const auto& [suffix, async] : kAsyncSuffixes) {
    if (!word.ends_with(suffix)) continue;
    const auto wrapped = ir::find_op(word.substr(0, word.size() - suffix.size()));
    if (!wrapped) continue;
    instr.op = async;
    instr.number = static_cast<int64_t>(*wrapped) + 1;  // until wrap_async()
    return true;
  }
  if (lexer_.raw() == '[') return no_type(offset, word);
  const size_t dialect = word.rfind('.');  // stablehlo.add, mhlo.add
  const std::string_view near = ir::nearest_op(dialect == std::string_view::npos ? word : word.substr(dialect + 1));
  return fail(offset, near.empty() ? fmt::format("no op '{}'", base::escaped(word.substr(0, 60)))
                                   : fmt::format("no op '{}'; did you mean '{}'?", base::escaped(word), near));
}

/// What stands between the parentheses: a number, a literal, or operands.
bool Parser::parse_arguments(Scope& scope, ir::Instr& instr) {
  lexer_.skip();
  const size_t place = lexer_.at();
  if (instr.op == ir::Op::parameter) {
    const auto number = lexer_.integer();
    if (!number || *number < 0) return lexer_.move_to(place), expected("the parameter's number");
    instr.number = *number;
    return instr.shape != kNoShape || fail(place, "a parameter needs its shape");
  }
  if (instr.op == ir::Op::constant) {
    if (instr.shape == kNoShape) return fail(place, "a constant needs its shape");
    auto literal = parse_literal(module_.shape(instr.shape), 0);
    if (!literal) return false;
    if (literal->elided)
      notes_.add(instr.offset, "elided-constant",
                 fmt::format("'{}' has no values: a replay fills it like an input", module_.text(instr.name)));
    instr.literal = module_.add(*std::move(literal));
    return true;
  }
  const size_t outer = operands_.size();
  for (bool first = true; lexer_.peek() != ')'; first = false) {
    if (!first && !lexer_.take(',')) return expected("',' or ')' after an operand");
    if (!parse_operand(scope)) return false;
  }
  instr.operands.assign(operands_.begin() + static_cast<std::ptrdiff_t>(outer), operands_.end());
  operands_.resize(outer);
  return true;
}

/// `shape? name (#index)*`, or an instruction in place.
bool Parser::parse_operand(Scope& scope) {
  lexer_.skip();
  const size_t begin = lexer_.at();
  const auto written = parse_shape_if_any();
  if (!written) return false;
  const ir::ShapeId shape = *written;
  if (shape != kNoShape && !single_ && (lexer_.peek() == ',' || lexer_.raw() == ')')) {
    notes_.add(begin, "nameless-operand", "an operand without a name is left out, as XLA does");
    return true;
  }
  lexer_.skip();
  const size_t place = lexer_.at();
  std::string_view name = lexer_.name();
  if (!name.empty() && lexer_.text()[place] != '%' && lexer_.peek() == '(') {
    lexer_.move_to(begin);
    ir::Instr nested;
    nested.offset = static_cast<uint32_t>(begin);
    const auto id = parse_rhs(scope, std::move(nested));
    if (id) operands_.push_back(~*id);
    return id.has_value();
  }
  if (name.empty() && !(single_ && shape != kNoShape)) return expected("an operand");
  const size_t name_begin = lexer_.at() - name.size();
  while (!name.empty() && lexer_.raw() == '#') {
    lexer_.move_to(lexer_.at() + 1);
    if (!lexer_.integer()) return expected("an index");
    name = lexer_.text().substr(name_begin, lexer_.at() - name_begin);
  }
  operands_.push_back(static_cast<ir::InstrId>(scope.uses.size()));
  scope.uses.push_back({module_.strings.intern(name), shape, static_cast<uint32_t>(place)});
  return true;
}

/// `, key=…, key=…`: `take` reads each value.
bool Parser::parse_pairs(const std::function<bool(std::string_view key, size_t offset)>& take) {
  while (lexer_.take(',')) {
    lexer_.skip();
    const size_t place = lexer_.at();
    const std::string_view key = lexer_.word();
    if (key.empty()) return expected("an attribute's name");
    if (!lexer_.take('=')) return expected(fmt::format("'=' after '{}'", base::escaped(key.substr(0, kShownName))));
    lexer_.skip();
    if (!take(key, place)) return false;
  }
  return true;
}

bool Parser::parse_attributes(ir::Instr& instr) {
  if (!parse_pairs([&](std::string_view key, size_t place) { return parse_attribute(instr, key, place); })) return false;
  const bool is_async = instr.op == ir::Op::async_start || instr.op == ir::Op::async_update || instr.op == ir::Op::async_done;
  return !is_async || wrap_async(instr);
}

bool Parser::parse_attribute(ir::Instr& instr, std::string_view key, size_t offset) {
  if (key == "metadata") {
    if (instr.origin != ir::OriginId::none) return fail(offset, "'metadata' is given twice");
    const auto origin = parse_origin();
    if (!origin) return false;
    instr.origin = *origin;
    return true;
  }
  ir::Attr attr{module_.strings.intern(key), {}};
  if (!is_new(instr.attrs, attr.key, offset)) return false;
  if (names_computations(key)) return parse_calls(instr, attr);
  const size_t place = lexer_.at();
  const auto value = parse_value(key);
  if (!value) return false;
  if (const Attribute* known = find_attribute(key)) {
    if (std::string what = wrong_form(*known, *value); !what.empty()) return fail(place, std::move(what));
  } else {
    const std::string_view near = nearest_attribute(key);
    notes_.add_once(
        offset, "unknown-attribute", key,
        fmt::format("attribute '{}' is kept and not used{}", key, near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
  }
  if (key == "control-predecessors") {  // names print with '%' in one form and without in the other
    std::string names(*value);
    std::erase(names, '%');
    attr.text = module_.strings.intern(names);
  } else {
    attr.text = module_.strings.intern(*value);
  }
  instr.attrs.push_back(attr);
  return true;
}

/// Whether the '{' here opens a body (`{ x = …`) and not a list of names.
bool Parser::at_body() {
  const size_t begin = lexer_.at();
  lexer_.take('{');
  lexer_.take_word("ROOT");
  const bool yes = !lexer_.name().empty() && lexer_.peek() == '=';
  lexer_.move_to(begin);
  return yes;
}

/// `%name`, `{%name, …}` or a body in place.
bool Parser::parse_calls(ir::Instr& instr, ir::Attr attr) {
  attr.calls = 0;
  attr.braces = lexer_.peek() == '{' && !at_body();
  if (!attr.braces) {
    if (!parse_call(instr, attr)) return false;
  } else {
    lexer_.take('{');
    while (!lexer_.take('}')) {
      if (attr.calls > 0 && !expect(',')) return false;
      if (!parse_call(instr, attr)) return false;
    }
  }
  instr.attrs.push_back(attr);
  return true;
}

bool Parser::parse_call(ir::Instr& instr, ir::Attr& attr) {
  ++attr.calls;
  if (lexer_.peek() == '{') {
    const auto body = parse_body(ir::StringId::empty, std::nullopt);
    if (body) instr.calls.push_back(~*body);
    return body.has_value();
  }
  const size_t place = lexer_.at();
  const std::string_view name = lexer_.name();
  if (name.empty()) return expected("a computation's name");
  instr.calls.push_back(static_cast<ir::CompId>(call_uses_.size()));
  call_uses_.push_back({module_.strings.intern(name), static_cast<uint32_t>(place)});
  return true;
}

/// Makes the body that `custom-call-start(…)` and the like leave out. Its result is ((operands…), result, …), so all shapes are known.
bool Parser::wrap_async(ir::Instr& instr) {
  if (instr.number == 0) return true;
  const auto op = static_cast<ir::Op>(instr.number - 1);
  instr.number = 0;
  if (instr.op != ir::Op::async_start) return true;
  if (instr.shape == kNoShape) return fail(instr.offset, "an asynchronous start needs its shape");
  const ir::Shape shape = module_.shape(instr.shape);
  const bool pair = shape.is_tuple() && shape.elements.size() >= 2 && shape.elements[0].is_tuple();
  if (!pair || shape.elements[0].elements.size() != instr.operands.size()) {
    return fail(instr.offset, "the result of an asynchronous start is ((operands…), result, …)");
  }
  Scope scope;
  ir::Instr body;
  body.op = op;
  body.offset = instr.offset;
  body.shape = module_.intern(shape.elements[1]);
  std::vector<ir::Attr> of_start;  // all others are the body's
  for (const ir::Attr& attr : instr.attrs) {
    (module_.text(attr.key).starts_with("async_") ? of_start : body.attrs).push_back(attr);
  }
  body.calls = std::move(instr.calls);
  body.name = module_.strings.intern(ir::text(op));
  for (size_t i = 0; i < instr.operands.size(); ++i) {
    ir::Instr parameter;
    parameter.name = module_.strings.intern(fmt::format("param_{}", i));
    parameter.number = static_cast<int64_t>(i);
    parameter.shape = module_.intern(shape.elements[0].elements[i]);
    parameter.offset = instr.offset;
    scope.instrs.push_back(std::move(parameter));
    body.operands.push_back(~static_cast<ir::InstrId>(i));
  }
  scope.instrs.push_back(std::move(body));
  const auto comp = finish(std::move(scope), ir::StringId::empty, instr.offset);
  if (!comp) return false;
  instr.attrs = std::move(of_start);
  instr.attrs.push_back({module_.strings.intern("calls"), {}, 1, false});
  instr.calls = {~*comp};
  return true;
}

}  // namespace importers::hlo
