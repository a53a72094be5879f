// Oracle records: inputs made as they say, outputs compared by their rules (../shared/oracle/README.md).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include "replay/inputs.h"
#include "replay/reference/reference.h"
#include "src/ir/module.h"

namespace oracle {

using Json = nlohmann::json;

/// Folder of the shared data, "" if it is not on this machine.
std::string folder();
std::vector<Json> read_lines(const std::string& path);
Json read_json(const std::string& path);
ir::Module read_module(const std::string& path, std::string* error = nullptr);

/// Against `samples`, or `upcast_samples` where a record has them.
enum class Against { samples, upcast };

/// "" if the values at the samples' indices pass, else what is wrong.
std::string check_samples(const Json& output, const replay::reference::Values& values, Against against);
std::vector<int64_t> sample_indices(const Json& output);
/// "0.1" → {0, 1}.
std::vector<int64_t> path_of(const Json& output);
/// Elements of a tensor's leaf at the samples' indices.
replay::reference::Values pick(const replay::Tensor& tensor, const Json& output);
/// Counts of NaN and infinities, sum, hash: what needs the whole array. "" if they pass.
std::string check_whole(const Json& output, const replay::Tensor& tensor);

/// Memory of operands, with views on it.
struct Inputs {
  std::vector<std::vector<std::byte>> memory;
  std::vector<ir::Shape> shapes;
  std::vector<replay::reference::View> views;
};
/// Operands of an instruction, made by the record's recipes: `distinct` counts equal operands once, as records of single gemms do.
Inputs operands_of(const ir::Module& module, ir::InstrRef at, const replay::Recipes& recipes, bool distinct);
/// Arguments of the entry.
std::vector<replay::Tensor> arguments_of(const ir::Module& module, const replay::Recipes& recipes);
/// Fills elided constants like inputs.
void fill_elided(ir::Module& module, const replay::Recipes& recipes);

ir::InstrRef find_instruction(const ir::Module& module, const std::string& name);

}  // namespace oracle
