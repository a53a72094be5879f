// A file is imported; a database gives the texts that it keeps, which are parsed again.
#include "src/cli/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "importers/importer.h"
#include "src/base/text.h"
#include "src/cli/import_file.h"

namespace cli {
namespace {

/// A list or a log without what a replay needs. Its importer's note `not-replayable` says what that is.
base::Error not_replayable(const std::string& path, const model::Imported& imported) {
  std::string why = "it holds no program";
  for (const model::Note& note : imported.notes) {
    if (note.code == "not-replayable") why = base::escaped(note.text);
  }
  const std::string shown = base::escaped(path);
  return {fmt::format("{}: cannot be replayed: {}; `profile import {}` keeps its {} {}", shown, why, shown, imported.source.kept,
                      imported.source.records)};
}

}  // namespace

std::pair<std::string, std::string> split_recipe(const std::string& argument) {
  const size_t equals = argument.rfind('=');
  std::error_code ignored;
  if (equals == std::string::npos || !argument.ends_with(".json") || std::filesystem::exists(argument, ignored)) return {argument, ""};
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

base::Result<Programs> load_database(const std::string& path) {
  Programs programs;
  programs.stored = true;
  ASSIGN_OR_RETURN(const model::Reader reader, model::Reader::open(path));
  ASSIGN_OR_RETURN(const model::Rows modules, reader.query("SELECT id FROM module ORDER BY id"));
  for (const auto& row : modules.rows) {
    const int64_t id = row[0].integer;
    ASSIGN_OR_RETURN(const std::string text, reader.module_text(id));
    ASSIGN_OR_RETURN(model::Imported imported, importers::import({fmt::format("{}: module {}", path, id), text}));
    model::Cell parameter;
    parameter.kind = model::Cell::Kind::integer;
    parameter.integer = id;
    ASSIGN_OR_RETURN(const model::Rows first, reader.query("SELECT min(i.id) FROM instruction i JOIN computation c ON c.id = i.computation "
                                                           "WHERE c.module = ?1 GROUP BY c.id ORDER BY c.id",
                                                           {{parameter}}));
    Subject subject;
    subject.row = id;
    for (const auto& computation : first.rows) subject.first_instruction.push_back(computation[0].integer);
    for (ir::Module& module : imported.modules) {
      programs.imported.modules.push_back(std::move(module));
      programs.subjects.push_back(subject);
    }
  }
  if (modules.rows.empty())
    return base::Error{
        fmt::format("{}: holds no program; add one with `profile import FILE -o {}`", base::escaped(path), base::escaped(path))};
  programs.account = fmt::format("{}: {} modules of a database", base::escaped(path), programs.subjects.size());
  return programs;
}

base::Result<Programs> load_file(const std::string& path, const ReplayOptions& options) {
  Programs programs;
  ASSIGN_OR_RETURN(programs.imported, read_program(path, options.program));
  if (programs.imported.modules.empty()) return not_replayable(path, programs.imported);
  programs.subjects.resize(programs.imported.modules.size());
  programs.account = import_account(programs.imported);
  if (options.verbose) {
    for (const model::Note& note : programs.imported.notes)
      programs.account += fmt::format("\n  {}:{}: {}: {}", note.line, note.column, note.code, base::escaped(note.text));
  }
  return programs;
}

base::Status keep(model::Store& store, Programs& programs) {
  if (programs.stored) return {};
  ASSIGN_OR_RETURN(const model::ImportIds ids, store.add(programs.imported));
  for (size_t m = 0; m < programs.subjects.size(); ++m) {
    programs.subjects[m].row = ids.modules[m];
    programs.subjects[m].first_instruction = ids.first_instruction[m];
  }
  return {};
}

base::Status select_module(const std::string& name, Programs& programs) {
  for (size_t i = 0; i < programs.subjects.size(); ++i) programs.subjects[i].module = &programs.imported.modules[i];
  if (name.empty()) return {};
  std::vector<std::string_view> names;
  for (const ir::Module& module : programs.imported.modules) names.push_back(module.text(module.name));
  std::erase_if(programs.subjects, [&](const Subject& s) { return s.module->text(s.module->name) != name; });
  if (!programs.subjects.empty()) return {};
  const std::string_view near = base::nearest(name, names);
  return base::Error{fmt::format("no module '{}'{}", base::escaped(name),
                                 near.empty() ? "; profile list shows them" : fmt::format("; did you mean '{}'?", near)),
                     base::Exit::wrong_use};
}

}  // namespace cli
