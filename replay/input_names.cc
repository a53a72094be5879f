// Names in --inputs must name something: a recipe that nothing takes would leave the default in its place, unseen.
#include <fmt/format.h>

#include <algorithm>

#include "replay/inputs.h"
#include "src/base/text.h"

namespace replay {
namespace {

struct Names {
  std::vector<std::string> parameters, constants;
};

std::string_view plain(std::string_view name) {
  if (name.starts_with('%')) name.remove_prefix(1);
  return name;
}

Names names_of(const ir::Module& module) {
  Names names;
  const ir::Computation& entry = module.comp(module.entry);
  for (size_t k = 0; k < entry.parameters.size(); ++k) {
    const ir::Instr& instr = entry.instrs[static_cast<size_t>(entry.parameters[k])];
    for (const ir::Leaf& leaf : ir::leaves(module.shape(instr))) {
      names.parameters.push_back(input_name(static_cast<int64_t>(k), leaf.path));
      if (leaf.path.empty()) names.parameters.emplace_back(plain(module.name_of(instr)));
    }
  }
  for (const ir::Computation& comp : module.computations) {
    for (const ir::Instr& instr : comp.instrs) {
      if (instr.op == ir::Op::constant && module.literal(instr).elided) names.constants.emplace_back(plain(module.name_of(instr)));
    }
  }
  std::ranges::sort(names.parameters);
  std::ranges::sort(names.constants);
  return names;
}

bool holds(const std::vector<std::string>& sorted, const std::string& name) { return std::ranges::binary_search(sorted, name); }

base::Error unknown(const std::string& name, std::string_view what, const std::vector<std::string>& known, std::string_view advice) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string_view near = base::nearest(name, views);
  const std::string hint = near.empty() ? std::string(advice) : fmt::format("did you mean '{}'?", base::escaped(near));
  return {fmt::format("--inputs: '{}' names no {} of the program; {}", base::escaped(name), what, hint), base::Exit::wrong_use};
}

constexpr std::string_view kParameterAdvice = "use a parameter's number (0; 0.1 for a leaf of a tuple) or its name";
constexpr std::string_view kConstantAdvice = "name a constant that the dump elides, constant({...})";

}  // namespace

base::Status check_recipe_names(const ir::Module& module, const Recipes& recipes) {
  if (recipes.params.empty() && recipes.constants.empty()) return {};
  const Names names = names_of(module);
  for (const auto& [name, recipe] : recipes.params) {
    if (!holds(names.parameters, name)) return unknown(name, "parameter", names.parameters, kParameterAdvice);
  }
  for (const auto& [name, recipe] : recipes.constants) {
    if (!holds(names.constants, name)) return unknown(name, "elided constant", names.constants, kConstantAdvice);
  }
  return {};
}

}  // namespace replay
