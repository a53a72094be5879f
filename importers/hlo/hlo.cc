// The importer: finds the modules in a text, parses each, verifies it, and accounts for what was read.
#include "importers/hlo/hlo.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "importers/hlo/find.h"
#include "importers/hlo/parser.h"
#include "importers/hlo/words.h"
#include "src/base/hash.h"
#include "src/base/text.h"
#include "src/ir/verify.h"

namespace importers::hlo {
namespace {

constexpr std::string_view kHow = "for a binary dump (.hlo.pb) set --xla_dump_hlo_as_text";
/// What people take for HLO text, by how it begins.
struct Other {
  std::string_view begin, what;
};
constexpr Other kOthers[] = {
    {"module @", "this is MLIR"},           {"module attributes", "this is MLIR"},
    {"module {", "this is MLIR"},           {"#loc", "this is MLIR"},
    {"func.func", "this is MLIR"},          {"hlo_module {", "this is a protobuf text"},
    {"digraph", "this is a graph for dot"},
};

/// Notes with lines: offsets are sorted and the text is walked once.
void place_notes(std::string_view text, std::vector<PlacedNote> notes, std::vector<model::Note>& out) {
  std::ranges::stable_sort(notes, {}, &PlacedNote::offset);
  size_t at = 0, line_begin = 0;
  int64_t line = 1;
  for (PlacedNote& note : notes) {
    for (; at < note.offset; ++at) {
      if (text[at] == '\n') ++line, line_begin = at + 1;
    }
    out.push_back({line, static_cast<int64_t>(note.offset - line_begin) + 1, std::move(note.code), std::move(note.text)});
  }
}

bool begins_computation(std::string_view text, size_t at) {
  Lexer lexer(text, at);
  if (lexer.peek() == '%' || lexer.raw() == '}' || lexer.take_word("ENTRY") || lexer.take_word("ROOT")) return true;
  if (lexer.name().empty()) return false;
  return lexer.peek() == '{' || lexer.raw() == '=';
}

/// Text between modules: notes it, or refuses it where it looks like a part of the module before it.
base::Status skip_between(const Input& input, size_t from, size_t to, const Parser& before, std::vector<PlacedNote>& notes) {
  Lexer lexer(input.bytes, from);
  lexer.skip();
  if (!lexer.error().empty()) return base::error_at(input.path, input.bytes, lexer.at(), lexer.error());
  if (lexer.at() >= to) return {};
  if (!before.saw_entry() || begins_computation(input.bytes, lexer.at())) {
    return base::error_at(input.path, input.bytes, lexer.at(), fmt::format("expected a computation, got {}", lexer.found()));
  }
  notes.push_back({lexer.at(), "text-outside", fmt::format("{} bytes after the module are not read", to - lexer.at())});
  return {};
}

base::Status refuse_broken(const Input& input, const ir::Module& module, std::span<const ir::Finding> broken, size_t begin) {
  if (broken.empty()) return {};
  const ir::Finding& first = broken.front();
  const ir::Instr& instr = module.instr(first.at.comp, first.at.instr);
  const std::string more = broken.size() > 1 ? fmt::format(" (and {} more)", broken.size() - 1) : "";
  return base::error_at(input.path, input.bytes, begin + instr.offset, first.what + misspelt_attribute(module, instr) + more);
}

int64_t instructions(const ir::Module& module) {
  int64_t count = 0;
  for (const ir::Computation& comp : module.computations) count += static_cast<int64_t>(comp.instrs.size());
  return count;
}

std::string account(const ir::Module& module, std::string_view file) {
  const std::string of = file.empty() ? "" : fmt::format(" of {}", base::escaped(file));
  return fmt::format("module '{}'{}: {} instructions", base::escaped(module.text(module.name)), of, instructions(module));
}

/// What is said of a file's modules, and where each stands.
struct Notices {
  std::vector<PlacedNote> notes, found;
};

/// What the parser needed is gone when its module is handed on.
base::Result<ir::Module> parse_part(const Input& input, Part part, std::vector<PlacedNote>& notes) {
  Parser parser(input.bytes.substr(0, part.end), input.path, part.begin);
  ASSIGN_OR_RETURN(ir::Module module, parser.run());
  notes.insert(notes.end(), parser.notes().begin(), parser.notes().end());
  RETURN_IF_ERROR(skip_between(input, parser.end(), part.end, parser, notes));
  return module;
}

/// One module: parsed, verified, accounted for, handed on.
base::Status read_part(const Input& input, Part part, model::Source& source, Notices& notices, const TakeModule& take) {
  ASSIGN_OR_RETURN(ir::Module module, parse_part(input, part, notices.notes));
  const ir::Verdict verdict = ir::judge(module);
  RETURN_IF_ERROR(refuse_broken(input, module, verdict.broken, part.begin));
  for (const ir::Finding& mixed : verdict.mixed_precision) {
    notices.notes.push_back({part.begin + module.instr(mixed.at.comp, mixed.at.instr).offset, "mixed-precision", mixed.what});
  }
  Lexer lexer(input.bytes, part.begin);
  const size_t begin = (lexer.skip(), lexer.at());
  notices.found.push_back({begin, "module-found", account(module, file_marker(input.bytes, begin))});
  ++source.modules;
  source.computations += static_cast<int64_t>(module.computations.size());
  source.read += instructions(module);
  return take(source, {std::move(module)}, input.bytes.substr(part.begin, part.end - part.begin));
}

}  // namespace

Match match(const Input& input) {
  Lexer lexer(input.bytes);
  if (lexer.take_word(kModuleWord)) return {Match::sure, "begins with HloModule"};
  if (next_module(input.bytes, 0, Indent::any) < input.bytes.size()) return {Match::likely, "a line begins with HloModule"};
  if (has_log_prefixes(input.bytes)) return {Match::likely, "a log with a line that begins with HloModule"};
  lexer.skip();
  for (const auto& [begin, what] : kOthers) {
    if (input.bytes.substr(lexer.at()).starts_with(begin)) return {Match::none, fmt::format("{}; {}", what, kHow)};
  }
  if (lexer.take_word("ENTRY")) return {Match::weak, "begins with ENTRY"};
  if (!lexer.name().empty()) {
    if (lexer.peek() == '(' && !lexer.group().empty() && lexer.take("->")) return {Match::weak, "begins like a computation"};
    if (lexer.peek() == '{' || lexer.raw() == '=') return {Match::weak, "begins like a computation or an instruction"};
  }
  return {Match::none, fmt::format("no line begins with HloModule; {}", kHow)};
}

base::Result<ir::Module> parse(std::string_view text, std::string_view source, std::vector<model::Note>* notes) {
  Parser parser(text, source);
  auto module = parser.run();
  if (!module.ok()) return module.error();
  Lexer rest(text, parser.end());
  rest.skip();
  if (!rest.at_end())
    return base::error_at(source, text, rest.at(),
                          rest.error().empty() ? fmt::format("expected a computation, got {}", rest.found()) : std::string(rest.error()));
  if (notes != nullptr) place_notes(text, parser.notes(), *notes);
  return module;
}

base::Result<model::Imported> read(const Input& given, const TakeModule& take) {
  const bool logged = has_log_prefixes(given.bytes);
  const std::string blanked = logged ? without_log_prefixes(given.bytes) : std::string();
  const Input input{given.path, logged ? std::string_view(blanked) : given.bytes};
  model::Imported imported;
  imported.source.path = input.path;
  imported.source.format = "hlo";
  imported.source.sha256 = base::sha256_hex(given.bytes);
  imported.source.bytes = static_cast<int64_t>(input.bytes.size());
  Notices notices;
  const std::vector<Part> parts = parts_of(input.bytes);
  if (parts[0].begin > 0)
    notices.notes.push_back({0, "text-outside", fmt::format("{} bytes before the module are not read", parts[0].begin)});
  for (const Part& part : parts) RETURN_IF_ERROR(read_part(input, part, imported.source, notices, take));
  const auto is_outside = [](const PlacedNote& note) { return note.code == "text-outside"; };
  if (parts.size() > 1 || std::ranges::any_of(notices.notes, is_outside))
    std::ranges::move(notices.found, std::back_inserter(notices.notes));
  imported.source.kept = imported.source.read;
  place_notes(input.bytes, std::move(notices.notes), imported.notes);
  return imported;
}

base::Result<model::Imported> read(const Input& input) {
  return keep_modules(input, [](const Input& in, const TakeModule& take) { return read(in, take); });
}

}  // namespace importers::hlo
