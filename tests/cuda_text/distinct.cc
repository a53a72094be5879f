// Plans of programs for the cuda device, and what their steps launch.
#include "tests/cuda_text/distinct.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "importers/hlo/hlo.h"
#include "importers/importer.h"
#include "replay/device/cuda/cudnn_plan.h"
#include "replay/device/cuda/own_kernels.h"
#include "src/base/file.h"
#include "src/ir/builder.h"
#include "tests/cuda_text/pairs.h"
#include "tests/differential/generate.h"

namespace cuda_text {

Program& Kernels::program(const std::string& name) {
  const auto found = std::ranges::find(programs_, name, &Program::name);
  return found != programs_.end() ? *found : programs_.emplace_back(Program{name, 0, {}});
}

base::Status Kernels::add_file(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string bytes, base::read_file(file));
  ASSIGN_OR_RETURN(const model::Imported imported, importers::import({file, bytes}));
  Program& into = program(std::filesystem::path(file).stem().stem().string());
  for (const ir::Module& module : imported.modules) RETURN_IF_ERROR(add(module, into));
  return {};
}

base::Status Kernels::add_random(uint64_t seed) {
  ASSIGN_OR_RETURN(const ir::Module module, importers::hlo::parse(differential::random_module(seed), fmt::format("seed {}", seed)));
  return add(module, program("random modules"));
}

base::Status Kernels::add_opcodes_and_types() {
  Program& into = program("opcodes and types");
  for (const std::string& text : opcode_and_type_modules()) {
    ASSIGN_OR_RETURN(const ir::Module module, importers::hlo::parse(text, "opcode and type"));
    RETURN_IF_ERROR(add(module, into));
  }
  return {};
}

base::Status Kernels::add(const ir::Module& module, Program& program) {
  replay::PlanOptions options;
  options.rounding = replay::Rounding::each;
  options.target.language = kernel::Language::cuda;
  options.device_class = "cuda";
  options.accepts = replay::cuda::accepts;
  options.arranges = replay::cuda::arranged;
  ASSIGN_OR_RETURN(const replay::Plan plan, replay::make_plan(module, options));
  for (const replay::Step* step : replay::startable(plan)) {
    for (const replay::Launch& launch : step->launches) {
      const auto* call = std::get_if<replay::KernelCall>(&launch);
      if (call != nullptr)
        add(plan.kernels[static_cast<size_t>(call->kernel)], plan, *step, program);
      else if (auto own = replay::cuda::own_kernel(launch); own.ok())
        add(*std::move(own), plan, *step, program);
    }
  }
  return {};
}

void Kernels::add(kernel::Kernel kernel, const replay::Plan& plan, const replay::Step& step, Program& program) {
  if (kernel.parts.empty()) return;
  ++program.launches;
  program.keys.insert(kernel.key);
  if (!seen_.insert(kernel.key).second) return;
  Distinct& made = all_.emplace_back();
  const ir::Instr& instr = plan.module->instr(step.instr.comp, step.instr.instr);
  made.name = fmt::format("{}: {} {}, {}", program.name, ir::text(instr.op), plan.module->name_of(instr), kernel.name);
  made.kernel = std::move(kernel);
  made.step = std::make_shared<const ir::Module>(
      ir::extract_instruction(*plan.module, step.instr, replay::overwritten_operands(*plan.module, step)));
}

}  // namespace cuda_text
