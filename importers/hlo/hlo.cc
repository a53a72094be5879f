// The importer: finds the modules in a text, parses each, verifies it, and accounts for what was read.
#include "importers/hlo/hlo.h"

#include <fmt/format.h>

#include <algorithm>

#include "importers/hlo/parser.h"
#include "src/base/hash.h"
#include "src/base/text.h"
#include "src/ir/verify.h"

namespace importers::hlo {
namespace {

constexpr std::string_view kWord = "HloModule";

/// The next line that begins with HloModule and a space, at or after `at`.
size_t next_module(std::string_view text, size_t at) {
  for (size_t i = text.find(kWord, at); i != std::string_view::npos; i = text.find(kWord, i + 1)) {
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    const size_t end = i + kWord.size();
    if (begins_line && end < text.size() && is_space(text[end])) return i;
  }
  return text.size();
}

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
  if (lexer.peek() == '%' || lexer.take_word("ENTRY") || lexer.take_word("ROOT")) return true;
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

base::Status verify(const Input& input, const ir::Module& module, size_t begin) {
  const std::vector<ir::Finding> findings = ir::verify(module);
  if (findings.empty()) return {};
  const ir::Finding& first = findings.front();
  const size_t offset = begin + module.instr(first.at.comp, first.at.instr).offset;
  const std::string more = findings.size() > 1 ? fmt::format(" (and {} more)", findings.size() - 1) : "";
  return base::error_at(input.path, input.bytes, offset, first.what + more);
}

/// Where a module stands in the file, with what follows it.
struct Part {
  size_t begin, end;
};

/// From each line that begins with HloModule to the next; the first part takes in the space and comments before it.
std::vector<Part> parts_of(std::string_view text) {
  std::vector<Part> parts;
  for (size_t i = next_module(text, 0); i < text.size(); i = next_module(text, i + 1)) parts.push_back({i, text.size()});
  for (size_t i = 0; i + 1 < parts.size(); ++i) parts[i].end = parts[i + 1].begin;
  if (parts.empty()) parts.push_back({0, text.size()});
  if (Lexer lexer(text); lexer.skip(), lexer.at() == parts[0].begin) parts[0].begin = 0;
  return parts;
}

int64_t instructions(const ir::Module& module) {
  int64_t count = 0;
  for (const ir::Computation& comp : module.computations) count += static_cast<int64_t>(comp.instrs.size());
  return count;
}

}  // namespace

Match match(const Input& input) {
  Lexer lexer(input.bytes);
  if (lexer.take_word(kWord)) return {Match::sure, "begins with HloModule"};
  if (next_module(input.bytes, 0) < input.bytes.size()) return {Match::weak, "a line begins with HloModule"};
  lexer.skip();
  if (lexer.take_word("ENTRY")) return {Match::weak, "begins with ENTRY"};
  if (!lexer.name().empty()) {
    if (lexer.peek() == '(' && !lexer.group().empty() && lexer.take("->")) return {Match::weak, "begins like a computation"};
    if (lexer.peek() == '{' || lexer.raw() == '=') return {Match::weak, "begins like a computation or an instruction"};
  }
  return {Match::none, "no line begins with HloModule; for a binary dump (.hlo.pb) set --xla_dump_hlo_as_text"};
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

base::Result<model::Imported> read(const Input& input) {
  model::Imported imported;
  imported.source.path = input.path;
  imported.source.format = "hlo";
  imported.source.sha256 = base::sha256_hex(input.bytes);
  imported.source.bytes = static_cast<int64_t>(input.bytes.size());
  std::vector<PlacedNote> notes;
  const std::vector<Part> parts = parts_of(input.bytes);
  if (parts[0].begin > 0) notes.push_back({0, "text-outside", fmt::format("{} bytes before the module are not read", parts[0].begin)});
  for (const auto& [begin, end] : parts) {
    const std::string_view text = input.bytes.substr(begin, end - begin);
    Parser parser(input.bytes.substr(0, end), input.path, begin);
    ASSIGN_OR_RETURN(ir::Module module, parser.run());
    notes.insert(notes.end(), parser.notes().begin(), parser.notes().end());
    RETURN_IF_ERROR(skip_between(input, parser.end(), end, parser, notes));
    RETURN_IF_ERROR(verify(input, module, begin));
    for (const ir::Finding& mixed : ir::mixed_precision(module)) {
      notes.push_back({begin + module.instr(mixed.at.comp, mixed.at.instr).offset, "mixed-precision", mixed.what});
    }
    imported.source.read += instructions(module);
    imported.modules.push_back(std::move(module));
    imported.module_texts.emplace_back(text);
  }
  imported.source.kept = imported.source.read;
  place_notes(input.bytes, std::move(notes), imported.notes);
  return imported;
}

}  // namespace importers::hlo
