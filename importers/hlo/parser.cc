// Modules, their headers and computations. Line breaks mean nothing; computations and operands may stand in any order.
#include "importers/hlo/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "importers/hlo/words.h"
#include "src/base/text.h"
#include "src/ir/escape.h"

namespace importers::hlo {
namespace {

constexpr std::string_view kEntry = "ENTRY";

}  // namespace

bool Parser::fail(size_t offset, std::string what) {
  if (error_) return false;
  if (!lexer_.error().empty()) offset = lexer_.at(), what = lexer_.error();
  error_ = base::error_at(source_, lexer_.text(), offset, what);
  return false;
}

bool Parser::expected(std::string_view what) {
  const std::string found = lexer_.found();
  return fail(lexer_.at(), fmt::format("expected {}, got {}", what, found));
}

bool Parser::expect(char c) { return lexer_.take(c) || expected(fmt::format("'{}'", c)); }

base::Result<ir::Module> Parser::run() {
  if (lexer_.text().size() > kMaxText) return base::Error{fmt::format("{}: larger than 2 GiB; split the dump", source_)};
  if (!parse_module()) return *error_;
  for (ir::Computation& comp : module_.computations) {
    for (ir::Instr& instr : comp.instrs) instr.offset -= static_cast<uint32_t>(begin_);
  }
  return std::move(module_);
}

bool Parser::parse_module() {
  if (lexer_.take_word("HloModule")) {
    if (!parse_header()) return false;
  } else if (!at_computation()) {
    return parse_single_instruction();
  }
  while (at_computation()) {
    if (!parse_computation()) return false;
  }
  if (module_.computations.empty()) {
    const bool is_entry = same_but_for_case(Lexer(lexer_).name().substr(0, kEntry.size()), kEntry);
    return expected(fmt::format("a computation: 'name {{' or '%name (p: f32[2]) -> f32[2] {{'{}", is_entry ? ", or ENTRY before it" : ""));
  }
  if (!resolve_calls() || !order_computations() || !infer_shapes()) return false;
  if (module_.name == ir::StringId::empty) {
    module_.name = module_.strings.intern(fmt::format("module_{}", module_.text(module_.comp(module_.entry).name)));
  }
  return true;
}

/// `HloModule name, key=value, …` and the stack frame tables.
bool Parser::parse_header() {
  const size_t place = (lexer_.skip(), lexer_.at());
  const std::string_view name = lexer_.name();
  if (name.empty() || name == "ENTRY") return lexer_.move_to(place), expected("the module's name");
  module_.name = module_.strings.intern(name);
  if (lexer_.raw() == ':') lexer_.take(':');  // of 2017
  if (!parse_pairs([this](std::string_view key, size_t place) { return parse_header_attribute(key, place); })) return false;
  return parse_stack_frames();
}

bool Parser::parse_header_attribute(std::string_view key, size_t offset) {
  const ir::StringId id = module_.strings.intern(key);
  if (!is_new(module_.attrs, id, offset)) return false;
  const size_t place = lexer_.at();
  const auto value = parse_value(key);
  if (!value) return false;
  if (const Attribute* known = find_header_attribute(key)) {
    if (std::string what = wrong_form(*known, *value); !what.empty()) return fail(place, std::move(what));
  } else {
    notes_.add_once(offset, "unknown-attribute", key, fmt::format("header attribute '{}' is kept and not used", key));
  }
  module_.attrs.push_back({id, module_.strings.intern(*value)});
  return true;
}

bool Parser::is_new(const std::vector<ir::Attr>& attrs, ir::StringId key, size_t offset) {
  if (attrs.size() >= kMaxAttributes) return fail(offset, fmt::format("more than {} attributes", kMaxAttributes));
  const auto same = [&](const ir::Attr& attr) { return attr.key == key; };
  return std::ranges::none_of(attrs, same) || fail(offset, fmt::format("'{}' is given twice", module_.text(key)));
}

/// `ENTRY …`, `name {`, `name (…) -> …`: without moving the cursor.
bool Parser::at_computation() {
  const size_t begin = (lexer_.skip(), lexer_.at());
  const std::string_view word = lexer_.name();
  const bool named = !word.empty();
  const bool entry = word == "ENTRY";
  bool yes = false;
  if (entry)
    yes = true;
  else if (named && lexer_.peek() == '{')
    yes = true;
  else if (named && word != "HloModule" && lexer_.peek() == '(')
    yes = !lexer_.group().empty() && lexer_.take("->");
  lexer_.move_to(begin);
  return yes;
}

bool Parser::parse_computation() {
  const bool entry = lexer_.take_word("ENTRY");
  lexer_.skip();
  const size_t place = lexer_.at();
  if (entry && entry_ >= 0) return fail(place, "a second ENTRY; a module has one");
  const std::string_view name = lexer_.name();
  if (name.empty()) return expected("the computation's name");
  const ir::StringId id = module_.strings.intern(name);
  std::optional<ir::Shape> declared;
  if (lexer_.peek() == '(') {
    if (lexer_.group().empty()) return fail(lexer_.at(), "this bracket has no partner");
    if (!lexer_.take("->")) return expected("'->' and the result's shape");
    declared = parse_shape_at(0);
    if (!declared) return false;
  }
  const auto comp = parse_body(id, std::move(declared));
  if (!comp) return false;
  comp_offsets_.back() = place;
  if (entry) entry_ = *comp;
  if (!lexer_.take(',')) return true;
  if (!lexer_.take_word("execution_thread") || !expect('=')) return expected("execution_thread=\"…\"");
  lexer_.skip();
  const std::string_view thread = lexer_.quoted();
  if (thread.empty()) return expected("a string");
  module_.comp(*comp).execution_thread = module_.strings.intern(ir::unescaped(thread));
  return true;
}

/// `{ instruction… }`, also in place of a computation's name.
std::optional<ir::CompId> Parser::parse_body(ir::StringId name, std::optional<ir::Shape> declared) {
  if (++depth_ > kMaxDepth) return fail(lexer_.at(), fmt::format("bodies nest deeper than {}", kMaxDepth)), std::nullopt;
  const size_t begin = (lexer_.skip(), lexer_.at());
  if (!expect('{')) return std::nullopt;
  Scope scope;
  while (!lexer_.take('}')) {
    if (lexer_.at_end()) {
      return expected(name == ir::StringId::empty ? "'}' of a body"
                                                  : fmt::format("'}}' of computation '{}'", base::escaped(module_.text(name)))),
             std::nullopt;
    }
    if (!parse_instruction(scope)) return std::nullopt;
  }
  if (scope.instrs.empty()) return fail(begin, "a computation needs at least one instruction"), std::nullopt;
  --depth_;
  const auto comp = finish(std::move(scope), name, begin);
  if (comp) declared_.back() = std::move(declared);
  return comp;
}

/// The third kind of text: one instruction, whose unknown operands are parameters in order of first use.
bool Parser::parse_single_instruction() {
  single_ = true;
  Scope scope;
  lexer_.skip();
  const size_t begin = lexer_.at();
  if (lexer_.at_end()) return expected("HloModule, a computation or an instruction");
  lexer_.take_word("ROOT");
  const size_t start = (lexer_.skip(), lexer_.at());
  const bool named = !lexer_.name().empty() && lexer_.peek() == '=';
  lexer_.move_to(start);
  bool ok = false;
  if (named) {
    ok = parse_instruction(scope);
  } else {
    ir::Instr instr;
    instr.offset = static_cast<uint32_t>(start);
    const auto id = parse_rhs(scope, std::move(instr));
    ok = id && parse_attributes(scope.instrs[static_cast<size_t>(*id)]);
  }
  if (!ok || !finish(std::move(scope), module_.strings.intern("entry"), begin)) return false;
  module_.name = module_.strings.intern("module_entry");
  lexer_.skip();
  return resolve_calls() && order_computations() && infer_shapes();
}

}  // namespace importers::hlo
