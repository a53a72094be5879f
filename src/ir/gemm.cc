// Products in custom calls: backend_config of `__cublas$gemm` and `__cublas$lt$matmul`, in its flat form (2019–2023) and nested under
// gemm_backend_config (since 2024-01). 64-bit numbers are JSON strings there.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "src/ir/attr.h"
#include "src/ir/escape.h"

namespace ir {
namespace {

using nlohmann::json;

double number(const json& object, const char* key, double otherwise) {
  const auto it = object.find(key);
  if (it == object.end()) return otherwise;
  if (it->is_number()) return it->get<double>();
  double value = otherwise;
  if (it->is_string()) {
    const auto& text = it->get_ref<const std::string&>();
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return value;
}

std::vector<int64_t> dims(const json& object, const char* key) {
  std::vector<int64_t> result;
  const auto it = object.find(key);
  if (it == object.end() || !it->is_array()) return result;
  for (const json& item : *it) {
    int64_t value = -1;
    if (item.is_number_integer()) value = item.get<int64_t>();
    if (item.is_string()) {
      const auto& text = item.get_ref<const std::string&>();
      std::from_chars(text.data(), text.data() + text.size(), value);
    }
    result.push_back(value);
  }
  return result;
}

/// An instruction of another op may also carry a target; only custom calls count.
bool targets(const Module& module, const Instr& instr, std::string_view target) {
  const auto text = attr_text(module, instr, "custom_call_target");
  return instr.op == Op::custom_call && text && text->size() == target.size() + 2 && text->substr(1, target.size()) == target;
}

}  // namespace

bool is_gemm_call(const Module& module, const Instr& instr) {
  return targets(module, instr, "__cublas$gemm") || targets(module, instr, "__cublas$lt$matmul");
}

base::Result<GemmConfig> gemm_config(const Module& module, const Instr& instr) {
  if (instr.op == Op::dot) {
    GemmConfig plain;
    plain.dims = attr_dot_dims(module, instr);
    return plain;
  }
  const json parsed = json::parse(attr_string(module, instr, "backend_config"), nullptr, false);
  const auto fail = [&](std::string_view why) {
    return base::Error{fmt::format("backend_config of '{}': {}", module.name_of(instr), why)};
  };
  if (!parsed.is_object()) return fail("expected a JSON object with dot_dimension_numbers");
  const auto nested = parsed.find("gemm_backend_config");
  const json& config = nested != parsed.end() && nested->is_object() ? *nested : parsed;
  const auto numbers = config.find("dot_dimension_numbers");
  if (numbers == config.end() || !numbers->is_object()) return fail("no dot_dimension_numbers");
  GemmConfig result;
  if (number(config, "alpha_imag", 0) != 0) return fail("a complex factor");
  result.alpha = number(config, "alpha_real", 1);
  result.beta = number(config, "beta", 0);
  result.dims = {dims(*numbers, "lhs_batch_dimensions"), dims(*numbers, "lhs_contracting_dimensions"),
                 dims(*numbers, "rhs_batch_dimensions"), dims(*numbers, "rhs_contracting_dimensions")};
  if (const auto epilogue = config.find("epilogue"); epilogue != config.end() && epilogue->is_string()) {
    result.epilogue = epilogue->get<std::string>();
  }
  return result;
}

}  // namespace ir
