// profile print FILE [--long | --short | --canonical]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/import_file.h"
#include "src/cli/output.h"
#include "src/cli/values.h"
#include "src/ir/print.h"

namespace cli {
namespace {

base::Result<std::vector<const ir::Module*>> chosen(const model::Imported& imported, const std::string& name) {
  std::vector<const ir::Module*> modules;
  std::vector<std::string_view> names;
  for (const ir::Module& module : imported.modules) {
    names.push_back(module.text(module.name));
    if (name.empty() || names.back() == name) modules.push_back(&module);
  }
  if (!modules.empty()) return modules;
  const std::string_view near = base::nearest(name, names);
  return base::Error{fmt::format("{}: no module '{}'{}", base::escaped(imported.source.path), base::escaped(name),
                                 near.empty() ? "" : fmt::format("; did you mean '{}'?", base::escaped(near))),
                     base::Exit::wrong_use};
}

}  // namespace

Action define_print(CLI::App& app) {
  struct Options {
    std::string file, module;
    bool long_form = false, short_form = false, canonical = false;
  };
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->file, "program dump; - is stdin")->required();
  app.add_option("-m,--module", options->module, "only the module of this name")->check(not_empty("a name"));
  CLI::Option* long_form = app.add_flag("--long", options->long_form, "% names, operands with shapes (the default)");
  CLI::Option* short_form = app.add_flag("--short", options->short_form, "bare names")->excludes(long_form);
  app.add_flag("--canonical", options->canonical, "what the entry computes, without names")->excludes(long_form)->excludes(short_form);
  return [options]() -> base::Result<base::Exit> {
    ASSIGN_OR_RETURN(const model::Imported imported, read_program(options->file));
    ASSIGN_OR_RETURN(const std::vector<const ir::Module*> modules, chosen(imported, options->module));
    const ir::Form form = options->canonical ? ir::Form::canonical : options->short_form ? ir::Form::short_ : ir::Form::long_;
    for (size_t i = 0; i < modules.size(); ++i) {
      const std::string text = ir::print(*modules[i], form);
      RETURN_IF_ERROR(print_out((i > 0 ? "\n" : "") + text + (text.ends_with('\n') ? "" : "\n")));
    }
    return base::Exit::ok;
  };
}

}  // namespace cli
