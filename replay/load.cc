// Values into a device before a replay, and out of it afterwards.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "replay/engine.h"
#include "src/base/file.h"
#include "src/base/text.h"

namespace replay {
namespace {

const Buffer& buffer(const Plan& plan, BufferId id) { return plan.buffers[static_cast<size_t>(id)]; }

base::Status write_logical(const Plan& plan, Device& device, BufferId id, std::span<const std::byte> logical) {
  const ir::Shape& shape = buffer(plan, id).shape;
  if (const auto memory = device.memory(id); !memory.empty()) {
    to_physical(shape, logical, memory);
    return {};
  }
  std::vector<std::byte> physical(logical.size());
  to_physical(shape, logical, physical);
  return device.write(id, physical);
}

base::Status write_generated(const Plan& plan, Device& device, BufferId id, const Recipe& recipe, uint64_t seed, std::string_view name) {
  const ir::Shape& shape = buffer(plan, id).shape;
  if (const auto memory = device.memory(id); !memory.empty()) {
    generate_into(memory, recipe, shape, seed, name);
    return {};
  }
  std::vector<std::byte> physical(static_cast<size_t>(ir::bytes(shape)));
  generate_into(physical, recipe, shape, seed, name);
  return device.write(id, physical);
}

base::Status write_captured(const Plan& plan, Device& device, BufferId id, const std::string& npy_file) {
  ASSIGN_OR_RETURN(const Tensor array, read_npy(npy_file, buffer(plan, id).shape));
  return write_logical(plan, device, id, array.data);
}

const ir::Literal& leaf_of(const ir::Literal& literal, const std::vector<int64_t>& path) {
  const ir::Literal* at = &literal;
  for (const int64_t index : path) {
    if (at->elided || at->elements.empty()) return *at;
    at = &at->elements[static_cast<size_t>(index)];
  }
  return *at;
}

/// One entry of the store's `inputs`: what filled this leaf.
model::Setting described(const std::string& name, const Chosen& chosen) {
  const std::string what = chosen.npy_file.empty() ? chosen.recipe.text : chosen.npy_file;
  return {"input " + name, what.empty() ? chosen.why : fmt::format("{} ({})", what, chosen.why)};
}

base::Status load_constants(const Plan& plan, Device& device, const InputOptions& options, const Chooser& chooser,
                            std::vector<model::Setting>& settings) {
  std::map<std::pair<ir::CompId, ir::InstrId>, size_t> leaf_count;
  for (const PlanConstant& constant : plan.constants) {
    const ir::Instr& instr = plan.module->instr(constant.instr.comp, constant.instr.instr);
    const ir::Shape& shape = plan.module->shape(instr);
    const auto leaves = ir::leaves(shape);
    const size_t index = leaf_count[{constant.instr.comp, constant.instr.instr}]++ % leaves.size();
    const ir::Literal& literal = leaf_of(plan.module->literal(instr), leaves[index].path);
    if (!leaves[index].shape->is_array()) continue;
    if (!literal.elided) {
      RETURN_IF_ERROR(write_logical(plan, device, constant.buffer, literal.data));
      continue;
    }
    std::string name(plan.module->name_of(instr));
    if (name.starts_with('%')) name.erase(0, 1);
    const Chosen chosen = chooser.constant(constant.instr);
    if (chosen.npy_file.empty()) {
      RETURN_IF_ERROR(write_generated(plan, device, constant.buffer, chosen.recipe, options.recipes.seed, name));
    } else {
      RETURN_IF_ERROR(write_captured(plan, device, constant.buffer, chosen.npy_file));
    }
    settings.push_back(described(name, chosen));
  }
  return {};
}

}  // namespace

base::Result<std::span<const std::byte>> host_bytes(const Plan& plan, Device& device, BufferId id, std::vector<std::byte>& storage) {
  if (const auto memory = device.memory(id); !memory.empty()) return std::span<const std::byte>(memory);
  storage.resize(static_cast<size_t>(ir::bytes(buffer(plan, id).shape)));
  RETURN_IF_ERROR(device.read(id, storage));
  return std::span<const std::byte>(storage);
}

base::Status check_inputs(const Plan& plan, const InputOptions& options) {
  RETURN_IF_ERROR(check_recipe_names(*plan.module, options.recipes));
  if (options.npy_files.empty()) return {};
  const Chooser chooser(*plan.module, options);
  std::set<std::string> unused;  // names
  for (const auto& [name, file] : options.npy_files) unused.insert(name);
  for (const PlanParameter& parameter : plan.parameters)
    unused.erase(chooser.parameter(parameter.number, {parameter.path, &buffer(plan, parameter.buffer).shape}).npy_name);
  for (const PlanConstant& constant : plan.constants) {
    if (constant.elided) unused.erase(chooser.constant(constant.instr).npy_name);
  }
  if (unused.empty()) return {};
  const std::string name = base::escaped(*unused.begin());
  return base::Error{
      fmt::format("--input {}: is no parameter of the program, or has a file under another name; use a number (0, 0.1) or its own name",
                  name),
      base::Exit::wrong_use};
}

namespace {

/// Fills one leaf of a parameter, and says with what.
base::Result<model::Setting> load_parameter(const Plan& plan, Device& device, const PlanParameter& parameter, const InputOptions& options,
                                            const Chooser& chooser) {
  const std::string name = input_name(parameter.number, parameter.path);
  const Chosen chosen = chooser.parameter(parameter.number, {parameter.path, &buffer(plan, parameter.buffer).shape});
  if (chosen.npy_file.empty()) {
    RETURN_IF_ERROR(write_generated(plan, device, parameter.buffer, chosen.recipe, options.recipes.seed, name));
  } else {
    RETURN_IF_ERROR(write_captured(plan, device, parameter.buffer, chosen.npy_file));
  }
  return described(name, chosen);
}

}  // namespace

base::Status restore_inputs(const Plan& plan, Device& device, const InputOptions& options) {
  if (!device.keeps_values() || plan.overwritten.empty()) return {};
  const Chooser chooser(*plan.module, options);
  const std::set<BufferId> overwritten(plan.overwritten.begin(), plan.overwritten.end());
  for (const PlanParameter& parameter : plan.parameters) {
    if (overwritten.contains(parameter.buffer)) RETURN_IF_ERROR(load_parameter(plan, device, parameter, options, chooser));
  }
  return {};
}

base::Result<std::vector<model::Setting>> load_inputs(const Plan& plan, Device& device, const InputOptions& options,
                                                      const std::atomic<bool>* stop) {
  std::vector<model::Setting> settings;
  RETURN_IF_ERROR(check_inputs(plan, options));
  if (!device.keeps_values()) return settings;
  const Chooser chooser(*plan.module, options);
  for (const PlanParameter& parameter : plan.parameters) {
    if (stop != nullptr && *stop) return settings;
    ASSIGN_OR_RETURN(model::Setting setting, load_parameter(plan, device, parameter, options, chooser));
    settings.push_back(std::move(setting));
  }
  RETURN_IF_ERROR(load_constants(plan, device, options, chooser, settings));
  return settings;
}

base::Status make_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!failed) return {};
  return base::Error{fmt::format("{}: cannot make the folder: {}; choose another place", base::escaped(folder), failed.message())};
}

base::Status dump_outputs(const Plan& plan, Device& device, const std::string& folder) {
  if (!device.keeps_values())
    return base::Error{"--dump-outputs: this device computes no values; choose another --device", base::Exit::wrong_use};
  RETURN_IF_ERROR(make_folder(folder));
  auto list = nlohmann::ordered_json::array();
  for (const PlanOutput& output : plan.outputs) {
    Tensor array;
    array.shape = buffer(plan, output.buffer).shape;
    std::vector<std::byte> storage;
    ASSIGN_OR_RETURN(const auto physical, host_bytes(plan, device, output.buffer, storage));
    array.data.resize(static_cast<size_t>(ir::bytes(array.shape)));
    to_logical(array.shape, physical.first(array.data.size()), array.data);
    const std::string index = ir::path_text(output.path);
    const std::string file = index.empty() ? "output.npy" : "output." + index + ".npy";
    RETURN_IF_ERROR(base::write_file((std::filesystem::path(folder) / file).string(), npy(array)));
    list.push_back({{"index", index}, {"dtype", ir::text(array.shape.type)}, {"shape", array.shape.dims}, {"file", file}});
  }
  return base::write_file((std::filesystem::path(folder) / "outputs.json").string(), list.dump(1) + "\n");
}

}  // namespace replay
