// A table says which figure of a file is which field. Every figure is [number, key], and `sources` tells what the keys mean, so that a
// number without a source is an error.
#include "replay/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "embedded/machines.h"
#include "src/base/file.h"
#include "src/base/text.h"

namespace replay {
namespace {

using Json = nlohmann::json;

struct Field {
  std::string_view name;
  Figure Machine::*figure;
  double most;
  bool required = false;
};
constexpr double kShare = 1, kAny = 1e21;
constexpr Field kFields[] = {{"multiprocessors", &Machine::multiprocessors, 1e6},
                             {"clock_hz", &Machine::clock_hz, 1e11},
                             {"memory_bytes", &Machine::memory_bytes, kAny},
                             {"memory_bytes_per_s", &Machine::memory_bytes_per_s, kAny, true},
                             {"memory_efficiency", &Machine::memory_efficiency, kShare},
                             {"memory_latency_cycles", &Machine::memory_latency_cycles, 1e6},
                             {"l2_bytes", &Machine::l2_bytes, kAny},
                             {"l2_bytes_per_s", &Machine::l2_bytes_per_s, kAny},
                             {"vector_f32_flops_per_s", &Machine::vector_f32_flops_per_s, kAny, true},
                             {"vector_f64_flops_per_s", &Machine::vector_f64_flops_per_s, kAny},
                             {"functions_per_clock", &Machine::functions_per_clock, 1e6},
                             {"launch_ns", &Machine::launch_ns, 1e9}};

struct ProductType {
  std::string_view key;
  std::string_view operands;  ///< as a step's precision begins
};
constexpr ProductType kProductTypes[] = {{"f16", "f16×f16→f32"},     {"bf16", "bf16×bf16→f32"}, {"tf32", "f32×f32→f32"},
                                         {"f64", "f64×f64→f64"},     {"s8", "s8×s8→s32"},       {"f8", "f8e4m3fn×f8e4m3fn→f32"},
                                         {"f8", "f8e5m2×f8e5m2→f32"}};

/// What each type's products run as, the best first.
struct RunsAs {
  ir::Type type;
  std::string_view first, second;
};
constexpr RunsAs kRunsAs[] = {{ir::Type::f16, "f16", ""},        {ir::Type::bf16, "bf16", "f16"}, {ir::Type::f32, "tf32", ""},
                              {ir::Type::c64, "tf32", ""},       {ir::Type::f64, "f64", ""},      {ir::Type::c128, "f64", ""},
                              {ir::Type::f8e4m3fn, "f8", "f16"}, {ir::Type::f8e5m2, "f8", "f16"}, {ir::Type::s8, "s8", ""},
                              {ir::Type::u8, "s8", ""}};

/// The reader of one file.
class Reader {
 public:
  Reader(const Json& json, std::string_view path) : json_(json), path_(base::escaped(path)) {}

  base::Result<Machine> read() {
    if (!json_.is_object()) return wrong("", "it is no JSON object", "see `profile devices h100 --format json` for the form");
    ASSIGN_OR_RETURN(machine_.name, text("name"));
    ASSIGN_OR_RETURN(machine_.model, text("model"));
    machine_.architecture = json_.contains("architecture") ? *text("architecture") : "";
    ASSIGN_OR_RETURN(machine_.also, texts("also"));
    ASSIGN_OR_RETURN(machine_.reported_as, texts("reported_as"));
    RETURN_IF_ERROR(read_figures());
    RETURN_IF_ERROR(read_products());
    return machine_;
  }

 private:
  base::Error wrong(const std::string& where, std::string_view what, std::string_view remedy) const {
    return {fmt::format("{}: {}{}{}; {}", path_, base::escaped(where), where.empty() ? "" : ": ", what, remedy), base::Exit::wrong_use};
  }

  base::Result<std::string> text(const std::string& key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_string() || found->get_ref<const std::string&>().empty())
      return wrong(key, "a text is needed", fmt::format("give \"{}\": \"…\"", key));
    return found->get<std::string>();
  }

  base::Result<std::vector<std::string>> texts(const std::string& key) const {
    std::vector<std::string> list;
    const auto found = json_.find(key);
    if (found == json_.end()) return list;
    const auto is_text = [](const Json& item) { return item.is_string(); };
    if (!found->is_array() || !std::all_of(found->begin(), found->end(), is_text))
      return wrong(key, "it is no list of texts", fmt::format("give \"{}\": [\"…\"]", key));
    return found->get<std::vector<std::string>>();
  }

  /// [number, "key of a source"].
  base::Result<Figure> figure(const std::string& where, const Json& json, double most) const {
    if (!json.is_array() || json.size() != 2 || !json[0].is_number() || !json[1].is_string())
      return wrong(where, "it is no [number, \"source\"]", "name the source of every figure");
    const double value = json[0].get<double>();
    if (!(value >= 0 && value <= most)) return wrong(where, fmt::format("{:g} is not from 0 to {:g}", value, most), "see its unit");
    const auto& key = json[1].get_ref<const std::string&>();
    const auto sources = json_.find("sources");
    const bool told = sources != json_.end() && sources->is_object() && sources->contains(key) && (*sources)[key].is_string();
    if (!told) return wrong(where, fmt::format("source '{}' is not explained", base::escaped(key)), "add it to \"sources\"");
    return Figure{value, (*sources)[key].get<std::string>()};
  }

  base::Status read_figures() {
    const auto figures = json_.find("figures");
    if (figures == json_.end() || !figures->is_object()) return wrong("figures", "they are missing", "give \"figures\": {…}");
    for (const auto& [key, value] : figures->items()) {
      const auto field = std::ranges::find(kFields, key, &Field::name);
      if (field == std::end(kFields)) return unknown("figures." + key, key, names_of(kFields, &Field::name));
      ASSIGN_OR_RETURN(machine_.*field->figure, figure("figures." + key, value, field->most));
    }
    for (const Field& field : kFields) {
      if (field.required && !((machine_.*field.figure).value > 0))
        return wrong(fmt::format("figures.{}", field.name), "it is needed", "without it nothing can be predicted");
    }
    return {};
  }

  base::Status read_products() {
    const auto products = json_.find("products");
    if (products == json_.end()) return {};
    if (!products->is_object()) return wrong("products", "it is no object", "give \"products\": {\"f16\": {…}}");
    for (const auto& [key, value] : products->items()) {
      const std::string where = "products." + key;
      if (std::ranges::find(kProductTypes, key, &ProductType::key) == std::end(kProductTypes))
        return unknown(where, key, names_of(kProductTypes, &ProductType::key));
      if (!value.is_object() || !value.contains("flops_per_s")) return wrong(where, "it has no flops_per_s", "give it with its source");
      ProductFigures& product = machine_.products[key];
      ASSIGN_OR_RETURN(product.flops_per_s, figure(where + ".flops_per_s", value["flops_per_s"], kAny));
      if (!(product.flops_per_s.value > 0)) return wrong(where + ".flops_per_s", "it is 0", "leave out what the machine has not");
      if (value.contains("efficiency")) {
        ASSIGN_OR_RETURN(product.efficiency, figure(where + ".efficiency", value["efficiency"], kShare));
        if (!(product.efficiency.value > 0)) return wrong(where + ".efficiency", "it is 0", "give a share of 1");
      }
    }
    return {};
  }

  template <typename Row, size_t N>
  static std::vector<std::string_view> names_of(const Row (&rows)[N], std::string_view Row::*name) {
    std::vector<std::string_view> names;
    for (const Row& row : rows) names.push_back(row.*name);
    return names;
  }

  base::Error unknown(const std::string& where, const std::string& key, const std::vector<std::string_view>& names) const {
    const std::string_view near = base::nearest(key, names);
    return wrong(where, "no such figure",
                 near.empty() ? fmt::format("known are {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near));
  }

  const Json& json_;
  std::string path_;
  Machine machine_;
};

}  // namespace

base::Result<Machine> parse_machine(std::string_view json, std::string_view path) {
  constexpr size_t kLargest = 1 << 20, kDeepest = 16;
  if (json.size() > kLargest)
    return base::Error{fmt::format("{}: {} bytes are no description of a machine", base::escaped(path), json.size())};
  size_t depth = 0, deepest = 0;
  for (const char c : json) {  // the library's parser recurses when it destroys what it has read
    depth = c == '{' || c == '[' ? depth + 1 : c == '}' || c == ']' ? depth - (depth > 0) : depth;
    deepest = std::max(deepest, depth);
  }
  const Json parsed = deepest > kDeepest ? Json(Json::value_t::discarded) : Json::parse(json, nullptr, false);
  if (parsed.is_discarded())
    return base::Error{fmt::format("{}: it is no JSON; see `profile devices h100 --format json` for the form", base::escaped(path)),
                       base::Exit::wrong_use};
  return Reader(parsed, path).read();
}

std::string json_of(const Machine& machine) {
  using Ordered = nlohmann::ordered_json;
  Ordered out = {{"name", machine.name},
                 {"also", machine.also},
                 {"model", machine.model},
                 {"reported_as", machine.reported_as},
                 {"architecture", machine.architecture}};
  Ordered sources = Ordered::object();
  std::map<std::string, std::string> keys;
  const auto figure = [&](const Figure& f) {
    const auto [key, fresh] = keys.try_emplace(f.source, fmt::format("source {}", keys.size() + 1));
    if (fresh) sources[key->second] = f.source;
    return Ordered::array({f.value, key->second});
  };
  out["figures"] = out["products"] = Ordered::object();
  for (const Field& field : kFields) {
    if (!(machine.*field.figure).source.empty()) out["figures"][std::string(field.name)] = figure(machine.*field.figure);
  }
  for (const auto& [type, product] : machine.products) {
    out["products"][type]["flops_per_s"] = figure(product.flops_per_s);
    if (!product.efficiency.source.empty()) out["products"][type]["efficiency"] = figure(product.efficiency);
  }
  out["sources"] = sources;
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::span<const Machine> known_machines() {
  static const std::vector<Machine> kMachines = [] {
    std::vector<Machine> machines;
    for (const auto& file : machines::embedded::kFiles) {
      auto machine = parse_machine(file.text, file.name);
      assert(machine.ok());  // a test reads them all
      if (machine.ok()) machines.push_back(*std::move(machine));
    }
    std::ranges::sort(machines, {}, &Machine::name);
    return machines;
  }();
  return kMachines;
}

std::vector<std::string_view> names(std::span<const Machine> machines) {
  std::vector<std::string_view> names;
  for (const Machine& machine : machines) names.push_back(machine.name);
  return names;
}

base::Result<Machine> machine_named(const std::string& name) {
  if (name.ends_with(".json")) {
    ASSIGN_OR_RETURN(const std::string json, base::read_file(name));
    return parse_machine(json, name);
  }
  std::vector<std::string_view> words;
  for (const Machine& machine : known_machines()) {
    if (machine.name == name || std::ranges::find(machine.also, name) != machine.also.end()) return machine;
    words.push_back(machine.name);
    words.insert(words.end(), machine.also.begin(), machine.also.end());
  }
  const std::string_view near = base::nearest(name, words);
  const std::string hint = near.empty() ? fmt::format("known are {}; or give a file.json", fmt::join(names(known_machines()), ", "))
                                        : fmt::format("did you mean '{}'? `profile devices` lists all", near);
  return base::Error{fmt::format("no description of a machine '{}'; {}", base::escaped(name), hint), base::Exit::wrong_use};
}

const Machine* machine_reported_as(std::string_view model) {
  for (const Machine& machine : known_machines()) {
    for (const std::string& name : machine.reported_as) {
      if (model.starts_with(name) && (model.size() == name.size() || model[name.size()] == ',')) return &machine;
    }
  }
  return nullptr;
}

const ProductFigures* product_figures(const Machine& machine, ir::Type type) {
  const auto row = std::ranges::find(kRunsAs, type, &RunsAs::type);
  if (row == std::end(kRunsAs)) return nullptr;
  for (const std::string_view key : {row->first, row->second}) {
    if (const auto found = machine.products.find(key); found != machine.products.end()) return &found->second;
  }
  return nullptr;
}

std::vector<NamedFigure> figures_of(const Machine& machine) {
  std::vector<NamedFigure> all;
  for (const Field& field : kFields) {
    const Figure& figure = machine.*field.figure;
    if (!figure.source.empty()) all.push_back({std::string(field.name), figure});
  }
  for (const auto& [type, product] : machine.products) {
    all.push_back({fmt::format("products.{}.flops_per_s", type), product.flops_per_s});
    if (!product.efficiency.source.empty()) all.push_back({fmt::format("products.{}.efficiency", type), product.efficiency});
  }
  return all;
}

std::vector<model::CeilingRecord> published_ceilings(const Machine& machine) {
  using Limits = model::CeilingRecord::Limits;
  std::vector<model::CeilingRecord> all;
  const auto add = [&](Limits limits, std::string_view name, const Figure& figure) {
    if (figure.value > 0)
      all.push_back({limits, std::string(name), figure.value, model::CeilingRecord::Provenance::published, figure.source});
  };
  add(Limits::memory, "memory", machine.memory_bytes_per_s);
  add(Limits::cache, "L2 read", machine.l2_bytes_per_s);
  add(Limits::compute, kVectorPrecision, machine.vector_f32_flops_per_s);
  for (const ProductType& type : kProductTypes) {
    if (const auto found = machine.products.find(type.key); found != machine.products.end())
      add(Limits::compute, type.operands, found->second.flops_per_s);
  }
  return all;
}

}  // namespace replay
