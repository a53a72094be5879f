// Records and rules of the oracle.
#include "tests/unit/reference/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include "importers/hlo/hlo.h"
#include "replay/element.h"
#include "src/base/file.h"
#include "src/base/hash.h"

namespace oracle {

using replay::Tensor;
using replay::reference::Values;

std::string folder() {
  const char* given = std::getenv("PROFILE_SHARED");
  const std::string path = given != nullptr ? given : SOURCE_DIR "/../shared";
  return std::filesystem::exists(path + "/oracle/README.md") ? path : "";
}

std::vector<Json> read_lines(const std::string& path) {
  std::vector<Json> lines;
  const auto text = base::read_file(path);
  std::istringstream in(text.ok() ? *text : "");
  for (std::string line; std::getline(in, line);) {
    // Python writes numbers that JSON lacks.
    for (const auto& [from, to] :
         {std::pair<std::string_view, std::string_view>{":Infinity", ":1e308"}, {":-Infinity", ":-1e308"}, {":NaN", ":0"}}) {
      for (size_t at = line.find(from); at != std::string::npos; at = line.find(from)) line.replace(at, from.size(), to);
    }
    lines.push_back(Json::parse(line, nullptr, false));
  }
  return lines;
}

Json read_json(const std::string& path) {
  const auto text = base::read_file(path);
  return text.ok() ? Json::parse(*text) : Json();
}

ir::Module read_module(const std::string& path, std::string* error) {
  const auto text = base::read_file(path);
  auto module = text.ok() ? importers::hlo::parse(*text, path) : base::Result<ir::Module>(text.error());
  if (module.ok()) return *std::move(module);
  if (error != nullptr) *error = module.error().message;
  return {};
}

namespace {

double number(const Json& json) {
  if (json.is_string()) return std::strtod(json.get<std::string>().c_str(), nullptr);
  if (json.is_boolean()) return json.get<bool>() ? 1 : 0;
  return json.get<double>();
}

struct Sample {
  double re = 0, im = 0;
};
Sample sample(const Json& json) { return json.is_array() ? Sample{number(json[0]), number(json[1])} : Sample{number(json), 0}; }

bool is_nan(Sample value) { return std::isnan(value.re) || std::isnan(value.im); }

double distance(Sample ours, Sample oracle, double rms) {
  if ((ours.re == oracle.re && ours.im == oracle.im) || (is_nan(ours) && is_nan(oracle))) return 0;
  const double off = std::hypot(ours.re - oracle.re, ours.im - oracle.im);
  return std::isfinite(off) ? off / std::max({std::hypot(oracle.re, oracle.im), rms, 1e-300}) : INFINITY;
}

std::string check_integers(const Json& output, const Values& values) {
  size_t wrong = 0;
  std::string first;
  const auto& samples = output.at("samples");
  for (size_t i = 0; i < samples.size(); ++i) {
    const Json& want = samples[i][1];
    const int64_t expected = want.is_number_unsigned() ? static_cast<int64_t>(want.get<uint64_t>())
                             : want.is_boolean()       ? want.get<bool>()
                                                       : want.get<int64_t>();
    if (values.integer.at(i) == expected) continue;
    if (first.empty()) first = fmt::format("[{}] {} for {}", samples[i][0].dump(), values.integer[i], want.dump());
    ++wrong;
  }
  const bool exact = output.value("exact", true);
  const double allowed =
      exact ? 0 : std::ceil(static_cast<double>(samples.size()) * std::min(1.0, 4 * output.value("differs", 0.0) + 0.02));
  return static_cast<double>(wrong) > allowed ? fmt::format("{} of {} samples differ: {}", wrong, samples.size(), first) : "";
}

}  // namespace

std::string check_samples(const Json& output, const Values& values, Against against) {
  const auto& samples = output.at("samples");
  if (std::max(values.re.size(), values.integer.size()) != samples.size()) return "another number of values";
  if (!output.contains("rtol")) return check_integers(output, values);
  if (values.re.empty() && !samples.empty()) return "integers instead of floats";
  double rtol = output.at("rtol").get<double>();
  const double typical = output.value("rtol_typical", rtol), rms = output.value("rms", 0.0);
  const bool upcast = against == Against::upcast && output.contains("upcast_samples");
  if (upcast) rtol = std::min(rtol, 4 * typical);
  size_t loose = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Sample ours{values.re[i], values.im.empty() ? 0 : values.im[i]};
    const Json& want = upcast ? output.at("upcast_samples")[i] : samples[i][1];
    const double off = distance(ours, sample(want), rms);
    if (off > rtol) return fmt::format("[{}] {} for {}: {:.3g} > {:.3g}", samples[i][0].dump(), ours.re, want.dump(), off, rtol);
    if (off > typical) ++loose;
  }
  const double allowed = samples.size() >= 20 ? 0.05 * static_cast<double>(samples.size()) : 1;
  return static_cast<double>(loose) > allowed ? fmt::format("{} of {} samples beyond the typical {:.3g}", loose, samples.size(), typical)
                                              : "";
}

std::vector<int64_t> sample_indices(const Json& output) {
  std::vector<int64_t> out;
  for (const Json& pair : output.at("samples")) out.push_back(pair[0].get<int64_t>());
  return out;
}

std::vector<int64_t> path_of(const Json& output) {
  std::vector<int64_t> path;
  std::istringstream in(output.at("index").get<std::string>());
  for (std::string part; std::getline(in, part, '.');) path.push_back(std::stoll(part));
  return path;
}

namespace {

const Tensor* leaf_of(const Tensor& tensor, const Json& output) {
  const Tensor* at = &tensor;
  for (const int64_t k : path_of(output)) {
    if (k >= static_cast<int64_t>(at->elements.size())) return nullptr;
    at = &at->elements[static_cast<size_t>(k)];
  }
  return at;
}

}  // namespace

Values pick(const Tensor& tensor, const Json& output) {
  Values out;
  const Tensor* leaf = leaf_of(tensor, output);
  if (leaf == nullptr) return out;
  out.type = leaf->shape.type;
  for (const int64_t i : sample_indices(output)) {
    if (i >= ir::elements(leaf->shape)) return {};
    const std::byte* data = leaf->data.data();
    if (ir::is_float(out.type) || ir::is_complex(out.type))
      out.re.push_back(replay::load_real(out.type, data, i));
    else
      out.integer.push_back(replay::load_integer(out.type, data, i));
    if (ir::is_complex(out.type)) out.im.push_back(replay::load_real(out.type, data, i, 1));
  }
  return out;
}

namespace {

/// As numpy holds them: a 2- or 4-bit integer is the low bits of its byte.
std::string bytes_of(const Tensor& leaf) {
  std::string bytes(reinterpret_cast<const char*>(leaf.data.data()), leaf.data.size());
  const int bits = ir::info(leaf.shape.type).significant_bits;
  if (ir::is_integer(leaf.shape.type) && bits < 8) {
    for (char& byte : bytes) byte = static_cast<char>(byte & ((1 << bits) - 1));
  }
  return bytes;
}

struct Totals {
  int64_t nan = 0, inf = 0;
  Sample sum;
};

Totals totals_of(const Tensor& leaf) {
  const ir::Type type = leaf.shape.type;
  Totals totals;
  for (int64_t i = 0; i < ir::elements(leaf.shape); ++i) {
    const Sample v{replay::load_real(type, leaf.data.data(), i),
                   ir::is_complex(type) ? replay::load_real(type, leaf.data.data(), i, 1) : 0};
    const bool nan = is_nan(v), inf = std::isinf(v.re) || std::isinf(v.im);  // of a complex number both may hold
    totals.nan += nan ? 1 : 0;
    totals.inf += inf ? 1 : 0;
    if (!nan && !inf) totals.sum.re += v.re, totals.sum.im += v.im;
  }
  return totals;
}

}  // namespace

std::string check_whole(const Json& output, const Tensor& tensor) {
  const Tensor* leaf = leaf_of(tensor, output);
  if (leaf == nullptr) return "missing";
  const ir::Type type = leaf->shape.type;
  if (output.at("shape").get<std::vector<int64_t>>() != leaf->shape.dims || ir::text(type) != output.at("dtype").get<std::string>())
    return "another shape";
  if (!output.contains("rtol")) {
    if (!output.value("exact", true) || !output.contains("sha256")) return "";
    return base::sha256_hex(bytes_of(*leaf)) == output.at("sha256").get<std::string>() ? "" : "sha256 differs";
  }
  if (output.contains("nonfinite_unstable")) return "";
  const Totals ours = totals_of(*leaf);
  const int64_t nan = output.value("nan", int64_t{0}), inf = output.value("inf", int64_t{0});
  if (ours.nan != nan || ours.inf != inf) return fmt::format("{} NaN and {} inf, expected {} and {}", ours.nan, ours.inf, nan, inf);
  if (!output.contains("sum")) return "";
  const double slack = output.value("rtol_typical", output.at("rtol").get<double>()) * output.value("abs_sum", 0.0) + 1e-300;
  const Sample want = sample(output.at("sum"));
  const bool off = std::hypot(ours.sum.re - want.re, ours.sum.im - want.im) > slack;
  return off ? fmt::format("sum {:.9g}, expected {} within {:.3g}", ours.sum.re, output.at("sum").dump(), slack) : "";
}

namespace {

replay::Recipe recipe_of(const replay::Recipes& recipes, const std::string& name) {
  const auto it = recipes.params.find(name);
  return it == recipes.params.end() ? replay::Recipe() : it->second;
}

replay::reference::View make_view(Inputs& inputs, const ir::Shape& shape, const replay::Recipes& recipes, const std::string& name) {
  replay::reference::View view;
  view.shape = &shape;
  if (shape.is_tuple()) {
    for (size_t k = 0; k < shape.elements.size(); ++k)
      view.elements.push_back(make_view(inputs, shape.elements[k], recipes, name + "." + std::to_string(k)));
    return view;
  }
  inputs.memory.emplace_back(static_cast<size_t>(ir::bytes(shape)));
  replay::generate_into(inputs.memory.back(), recipe_of(recipes, name), shape, recipes.seed, name);
  view.data = inputs.memory.back().data();
  return view;
}

Tensor make_tensor(const ir::Shape& shape, const replay::Recipes& recipes, const std::string& name) {
  if (!shape.is_tuple())
    return shape.is_array() ? replay::generate(recipe_of(recipes, name), shape, recipes.seed, name) : Tensor{shape, {}, {}};
  Tensor out;
  out.shape = shape;
  for (size_t k = 0; k < shape.elements.size(); ++k)
    out.elements.push_back(make_tensor(shape.elements[k], recipes, name + "." + std::to_string(k)));
  return out;
}

}  // namespace

Inputs operands_of(const ir::Module& module, ir::InstrRef at, const replay::Recipes& recipes, bool distinct) {
  Inputs inputs;
  const ir::Instr& instr = module.instr(at.comp, at.instr);
  std::map<ir::InstrId, size_t> numbers;
  std::vector<replay::reference::View> made;
  for (const ir::InstrId operand : instr.operands) {
    const size_t number = distinct ? numbers.size() : made.size();
    const auto [it, is_new] = numbers.try_emplace(operand, number);
    if (!is_new && distinct) {
      inputs.views.push_back(made[it->second]);
      continue;
    }
    made.push_back(make_view(inputs, module.shape(module.instr(at.comp, operand)), recipes, std::to_string(number)));
    inputs.views.push_back(made.back());
  }
  return inputs;
}

std::vector<Tensor> arguments_of(const ir::Module& module, const replay::Recipes& recipes) {
  std::vector<Tensor> out;
  const ir::Computation& entry = module.comp(module.entry);
  for (size_t k = 0; k < entry.parameters.size(); ++k) {
    out.push_back(make_tensor(module.shape(entry.instrs[static_cast<size_t>(entry.parameters[k])]), recipes, std::to_string(k)));
  }
  return out;
}

void fill_elided(ir::Module& module, const replay::Recipes& recipes) {
  for (ir::Computation& comp : module.computations) {
    for (ir::Instr& instr : comp.instrs) {
      if (instr.op != ir::Op::constant || !module.literal(instr).elided) continue;
      std::string name(module.name_of(instr));
      if (name.starts_with('%')) name.erase(0, 1);
      const auto it = recipes.constants.find(name);
      ir::Literal literal;
      literal.data =
          replay::generate(it == recipes.constants.end() ? replay::Recipe() : it->second, module.shape(instr), recipes.seed, name).data;
      instr.literal = module.add(std::move(literal));
    }
  }
}

ir::InstrRef find_instruction(const ir::Module& module, const std::string& name) {
  for (size_t c = 0; c < module.computations.size(); ++c) {
    for (size_t i = 0; i < module.computations[c].instrs.size(); ++i) {
      std::string_view own = module.name_of(module.computations[c].instrs[i]);
      if (own.starts_with('%')) own.remove_prefix(1);
      if (own == name) return {static_cast<ir::CompId>(c), static_cast<ir::InstrId>(i)};
    }
  }
  return {-1, -1};
}

}  // namespace oracle
