// profile devices [NAME]: what runs programs here, and the machines that times can be predicted for; with a name every figure of one, and
// where it is from. In JSON a machine is printed as its file has it, to be changed and given to --as.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "replay/device/devices.h"
#include "replay/machine.h"
#include "replay/predict.h"
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/report/query.h"

namespace cli {
namespace {

/// What a description leaves out is NULL.
model::Cell known(double value) { return value > 0 ? report::cell(value) : model::Cell{}; }

model::Rows kinds() {
  model::Rows rows{{"device", "about"}, {}};
  for (const replay::DeviceKind& kind : replay::device_kinds()) rows.rows.push_back({report::cell(kind.name), report::cell(kind.about)});
  return rows;
}

model::Rows machines() {
  model::Rows rows{{"as", "machine", "architecture", "memory_bytes", "memory_bytes_per_s", "f16_flops_per_s", "tf32_flops_per_s",
                    "vector_f32_flops_per_s", "other_names"},
                   {}};
  for (const replay::Machine& m : replay::known_machines()) {
    const auto product = [&](ir::Type type) {
      const auto* figures = replay::product_figures(m, type);
      return known(figures == nullptr ? 0 : figures->flops_per_s.value);
    };
    rows.rows.push_back({report::cell(m.name), report::cell(m.model), report::cell(m.architecture), known(m.memory_bytes.value),
                         known(m.memory_bytes_per_s.value), product(ir::Type::f16), product(ir::Type::f32),
                         known(m.vector_f32_flops_per_s.value), report::cell(fmt::format("{}", fmt::join(m.also, " ")))});
  }
  return rows;
}

model::Rows figures(const replay::Machine& machine) {
  model::Rows rows{{"figure", "value", "source"}, {}};
  for (const replay::NamedFigure& f : replay::figures_of(machine))
    rows.rows.push_back({report::cell(f.name), report::cell(fmt::format("{:g}", f.figure.value)), report::cell(f.figure.source)});
  return rows;
}

base::Status print_machine(const std::string& name, const OutputOptions& output) {
  ASSIGN_OR_RETURN(const replay::Machine machine, replay::machine_named(name));
  if (output.format == "json") return print_out(replay::json_of(machine) + "\n");
  const bool for_people = output.format == "table" || output.format == "md";
  if (for_people) RETURN_IF_ERROR(print_out(fmt::format("{} ({})\n\n", machine.model, machine.architecture)));
  RETURN_IF_ERROR(print_rows(figures(machine), output));
  return for_people ? print_out(fmt::format("\nPredicted time of a step: {}\n", replay::kPredictionFormula)) : base::Status();
}

base::Status print_all(const OutputOptions& output) {
  ASSIGN_OR_RETURN(const report::Format format, report::format_named(output.format));
  const model::Rows run = kinds(), described = machines();
  if (format == report::Format::json) {
    const report::Section sections[] = {{"devices", &run}, {"machines", &described}};
    return print_out(report::render_json(sections, "ok", "", 1));
  }
  RETURN_IF_ERROR(print_rows(run, output));
  RETURN_IF_ERROR(print_out("\n"));
  return print_rows(described, output);
}

}  // namespace

Action define_devices(CLI::App& app) {
  struct Options {
    std::string name;
    OutputOptions output;
  };
  auto options = std::make_shared<Options>();
  app.add_option("NAME", options->name, "a machine, or a description file.json: all its figures and where they are from");
  options->output.define(app);
  return [options]() -> base::Result<base::Exit> {
    RETURN_IF_ERROR(options->name.empty() ? print_all(options->output) : print_machine(options->name, options->output));
    return base::Exit::ok;
  };
}

}  // namespace cli
