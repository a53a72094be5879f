// profile replay FILE…, also spelled profile --replay FILE…
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "importers/importer.h"
#include "src/base/text.h"
#include "src/cli/answer.h"
#include "src/cli/command.h"
#include "src/cli/import_file.h"
#include "src/cli/replay_run.h"

namespace cli {
namespace {

/// Programs of one FILE argument, imported now or kept in a database.
struct Programs {
  std::string account;  ///< what was imported, and lost
  std::vector<ir::Module> modules;
  std::vector<Subject> subjects;  ///< point into `modules`
  std::string recipe_file;
};

/// FILE or FILE=RECIPE. A file whose own name has a '=' is taken whole.
std::pair<std::string, std::string> split_recipe(const std::string& argument) {
  const size_t equals = argument.rfind('=');
  if (equals == std::string::npos || !argument.ends_with(".json")) return {argument, ""};
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

base::Status load_database(const std::string& path, Programs& programs) {
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
      programs.modules.push_back(std::move(module));
      programs.subjects.push_back(subject);
    }
  }
  programs.account = fmt::format("{}: {} modules of a database", base::escaped(path), programs.modules.size());
  return {};
}

base::Status load_file(model::Store& store, const std::string& path, const ReplayOptions& options, Programs& programs) {
  ASSIGN_OR_RETURN(ImportedFile file, import_file(store, path));
  programs.account = import_account(file.imported);
  if (options.verbose) {
    for (const model::Note& note : file.imported.notes)
      programs.account += fmt::format("\n  {}:{}: {}: {}", note.line, note.column, note.code, base::escaped(note.text));
  }
  for (size_t m = 0; m < file.imported.modules.size(); ++m) {
    programs.modules.push_back(std::move(file.imported.modules[m]));
    Subject subject;
    subject.row = file.ids.modules[m];
    subject.first_instruction = file.ids.first_instruction[m];
    programs.subjects.push_back(std::move(subject));
  }
  return {};
}

base::Status select_module(const std::string& name, Programs& programs) {
  for (size_t i = 0; i < programs.subjects.size(); ++i) programs.subjects[i].module = &programs.modules[i];
  if (name.empty()) return {};
  std::vector<std::string_view> names;
  for (const ir::Module& module : programs.modules) names.push_back(module.text(module.name));
  std::erase_if(programs.subjects, [&](const Subject& s) { return s.module->text(s.module->name) != name; });
  if (!programs.subjects.empty()) return {};
  const std::string_view near = base::nearest(name, names);
  return base::Error{fmt::format("no module '{}'{}", base::escaped(name),
                                 near.empty() ? "; profile list shows them" : fmt::format("; did you mean '{}'?", near)),
                     base::Exit::wrong_use};
}

base::Exit worst(base::Exit a, base::Exit b) {
  const auto rank = [](base::Exit e) { return e == base::Exit::failed ? 2 : e == base::Exit::ok ? 0 : 1; };
  return rank(b) > rank(a) ? b : a;
}

class Replay {
 public:
  explicit Replay(const ReplayOptions& options) : options_(options), line_(options.verbosity()) {}

  base::Result<base::Exit> run() {
    catch_interrupts();
    for (const std::string& argument : options_.files) {
      RETURN_IF_ERROR(replay_file(argument));
      if (stop_requested()) break;
    }
    return exit_;
  }

 private:
  base::Status replay_file(const std::string& argument) {
    const auto [path, recipe] = split_recipe(argument);
    Programs programs;
    const bool from_database = is_database(path);
    const std::string database = from_database ? path : options_.database;
    if (options_.list_steps) return list(path, recipe);
    {
      const bool fresh = options_.fresh && !from_database && !opened_;
      ASSIGN_OR_RETURN(model::Store store, model::Store::open(database, fresh ? model::OpenMode::fresh : model::OpenMode::append));
      opened_ = true;
      RETURN_IF_ERROR(from_database ? load_database(path, programs) : load_file(store, path, options_, programs));
      RETURN_IF_ERROR(select_module(options_.module, programs));
      for (Subject& subject : programs.subjects) {
        subject.recipe_file = recipe;
        ASSIGN_OR_RETURN(const RunResult result, replay_module(subject, options_, store, line_));
        results_.push_back(result);
        if (stop_requested()) break;
      }
    }
    return answer(database, programs.account);
  }

  base::Status list(const std::string& path, const std::string& recipe) {
    ASSIGN_OR_RETURN(model::Imported imported, read_program(path));
    for (const ir::Module& module : imported.modules) {
      Subject subject;
      subject.module = &module;
      subject.recipe_file = recipe;
      RETURN_IF_ERROR(list_steps(subject, options_));
    }
    return {};
  }

  base::Status answer(const std::string& database, const std::string& account) {
    for (const RunResult& result : std::exchange(results_, {})) {
      RETURN_IF_ERROR(print_answer(database, account, result, options_));
      if (!result.failure.empty()) {
        fmt::print(stderr, "profile: verification failed: {}\n", result.failure);  // also when quiet
        exit_ = worst(exit_, base::Exit::failed);
      }
      const bool lost = 100 * result.skipped_share > options_.max_loss_percent;
      if (lost || result.status == model::RunStatus::interrupted) exit_ = worst(exit_, base::Exit::partial);
    }
    return {};
  }

  const ReplayOptions& options_;
  ProgressLine line_;
  std::vector<RunResult> results_;
  base::Exit exit_ = base::Exit::ok;
  bool opened_ = false;
};

}  // namespace

Action define_replay(CLI::App& app) {
  auto options = std::make_shared<ReplayOptions>();
  options->define(app);
  return [options] { return Replay(*options).run(); };
}

}  // namespace cli
