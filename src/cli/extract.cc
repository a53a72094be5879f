// profile extract FILE --step NAME
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <string>

#include "replay/device/cuda/cudnn_plan.h"
#include "replay/device/cuda/own_kernels.h"
#include "replay/device/cuda/standalone.h"
#include "replay/plan.h"
#include "src/base/file.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/import_file.h"
#include "src/cli/output.h"
#include "src/cli/values.h"

namespace cli {
namespace {

struct ExtractOptions {
  std::string file, step, output;
  int multiprocessors = 132;
  bool fresh = false;
};

base::Result<replay::Plan> plan_of(const ir::Module& module, const ExtractOptions& options) {
  replay::PlanOptions how;
  how.rounding = replay::Rounding::each;
  how.target.language = kernel::Language::cuda;
  how.target.multiprocessors = options.multiprocessors;
  how.device_class = "cuda";
  how.accepts = replay::cuda::accepts;
  how.arranges = replay::cuda::arranged;
  return replay::make_plan(module, how);
}

/// The program of the first step of this name in the modules of the file.
base::Result<std::string> extracted(const model::Imported& imported, const ExtractOptions& options) {
  std::vector<std::string> names;
  const std::string wanted = options.step.starts_with('%') ? options.step.substr(1) : options.step;
  for (const ir::Module& module : imported.modules) {
    ASSIGN_OR_RETURN(const replay::Plan plan, plan_of(module, options));
    for (const replay::Step* step : plan.steps) {
      if (step->name == wanted) return replay::cuda::standalone_program(plan, *step);
      names.push_back(step->name);
    }
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view near = base::nearest(wanted, known);
  return base::Error{fmt::format("{}: no step '{}'; {}", base::escaped(options.file), base::escaped(wanted),
                                 near.empty() ? "profile replay --list-steps shows the steps" : fmt::format("did you mean '{}'?", near)),
                     base::Exit::wrong_use};
}

base::Status write(const std::string& text, const ExtractOptions& options) {
  if (options.output.empty() || options.output == "-") return print_out(text);
  std::error_code unknown;
  if (!options.fresh && std::filesystem::exists(options.output, unknown))
    return base::Error{fmt::format("{}: exists already; give another name, or -f to replace it", base::escaped(options.output)),
                       base::Exit::wrong_use};
  return base::write_file(options.output, text);
}

}  // namespace

Action define_extract(CLI::App& app) {
  auto options = std::make_shared<ExtractOptions>();
  app.add_option("FILE", options->file, "program dump; - is stdin")->required();
  app.add_option("--step", options->step, "name of the step (profile replay --list-steps)")->required()->check(not_empty("a name"));
  app.add_option("-o,--output", options->output, "file to write; stdout without it");
  app.add_flag("-f,--fresh", options->fresh, "replace an existing file");
  app.add_option("--multiprocessors", options->multiprocessors, "of the GPU that launches are laid out for")
      ->check(whole_number(1, 10000))
      ->capture_default_str();
  return [options]() -> base::Result<base::Exit> {
    ASSIGN_OR_RETURN(const model::Imported imported, read_program(options->file));
    ASSIGN_OR_RETURN(const std::string text, extracted(imported, *options));
    RETURN_IF_ERROR(write(text, *options));
    return base::Exit::ok;
  };
}

}  // namespace cli
