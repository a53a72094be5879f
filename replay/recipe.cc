// Recipes from JSON: the keys of one array are tried in a table, the first that is there decides.
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include "replay/inputs.h"

namespace replay {
namespace {

using Json = nlohmann::json;

/// A number, or one of the strings "nan", "inf", "-inf"; booleans are 0 and 1.
std::optional<double> number(const Json& json) {
  if (json.is_boolean()) return json.get<bool>() ? 1 : 0;
  if (json.is_number()) return json.get<double>();
  if (!json.is_string()) return std::nullopt;
  const auto& text = json.get_ref<const std::string&>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

bool read_pair(const Json& json, Recipe& recipe) {
  if (!json.is_array() || json.size() != 2) return false;
  const auto a = number(json[0]), b = number(json[1]);
  if (!a || !b) return false;
  recipe.a = *a, recipe.b = *b;
  return true;
}

bool read_integers(const Json& json, Recipe& recipe) {
  return read_pair(json, recipe) && recipe.a <= recipe.b && recipe.b - recipe.a < 0x1p32;
}

bool read_constant(const Json& json, Recipe& recipe) {
  const auto value = number(json);
  if (value) recipe.a = *value;
  return value.has_value();
}

bool read_pred(const Json& json, Recipe&) { return json == "fair"; }

bool read_values(const Json& json, Recipe& recipe) {
  if (!json.is_array()) return false;
  for (const Json& element : json) {
    const Json parts = element.is_array() ? element : Json::array({element});
    std::vector<double> value;
    for (const Json& part : parts) {
      const auto v = number(part);
      if (!v || value.size() == 2) return false;
      value.push_back(*v);
    }
    if (value.empty()) return false;
    recipe.values.push_back(std::move(value));
  }
  return true;
}

struct Key {
  const char* name;
  Recipe::Kind kind;
  bool (*read)(const Json&, Recipe&);
  const char* form;
};
constexpr Key kKeys[] = {
    {"uniform", Recipe::Kind::uniform, read_pair, "[low, high]"},
    {"integers", Recipe::Kind::integers, read_integers, "[low, high], at most 2^32 values"},
    {"pred", Recipe::Kind::pred, read_pred, "\"fair\""},
    {"constant", Recipe::Kind::constant, read_constant, "a number"},
    {"iota", Recipe::Kind::iota, read_pair, "[start, step]"},
    {"values", Recipe::Kind::values, read_values, "a flat list of numbers, complex ones as [re, im]"},
};

base::Result<Recipe> parse_recipe(const Json& json, std::string_view source, const std::string& name) {
  if (!json.is_object()) return base::Error{fmt::format("{}: recipe of {}: expected an object like {{\"uniform\": [0, 1]}}", source, name)};
  Recipe recipe;
  for (const Key& key : kKeys) {
    const auto it = json.find(key.name);
    if (it == json.end()) continue;
    recipe.kind = key.kind;
    if (!key.read(*it, recipe)) return base::Error{fmt::format("{}: recipe of {}: \"{}\" takes {}", source, name, key.name, key.form)};
    recipe.text = Json{{key.name, *it}}.dump();
    break;
  }
  return recipe;
}

using Map = std::map<std::string, Recipe, std::less<>>;

base::Result<Map> parse_map(const Json& json, const char* key, std::string_view source) {
  Map map;
  const auto it = json.find(key);
  if (it == json.end()) return map;
  if (!it->is_object()) return base::Error{fmt::format("{}: \"{}\": expected an object of recipes by name", source, key)};
  for (const auto& [name, value] : it->items()) {
    ASSIGN_OR_RETURN(map[name], parse_recipe(value, source, name));
  }
  return map;
}

}  // namespace

base::Result<Recipe> parse_recipe(std::string_view text, std::string_view name) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return base::Error{fmt::format("recipe of {}: not one JSON object", name)};
  return parse_recipe(json, "input", std::string(name));
}

base::Result<Recipes> parse_recipes(std::string_view text, std::string_view source) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    return base::Error{fmt::format("{}: not one JSON object: {}", source, error.what())};
  }
  if (!json.is_object()) return base::Error{fmt::format("{}: expected an object with \"params\", like an oracle record", source)};
  Recipes recipes;
  if (const auto seed = json.find("seed"); seed != json.end()) {
    if (!seed->is_number_integer()) return base::Error{fmt::format("{}: \"seed\": expected an integer", source)};
    recipes.seed = seed->is_number_unsigned() ? seed->get<uint64_t>() : static_cast<uint64_t>(seed->get<int64_t>());
  }
  ASSIGN_OR_RETURN(recipes.params, parse_map(json, "params", source));
  ASSIGN_OR_RETURN(recipes.constants, parse_map(json, "constants", source));
  if (const auto elided = json.find("elided"); elided != json.end() && elided->is_array()) {  // an oracle record: filled by type
    for (const Json& name : *elided) {
      if (name.is_string()) recipes.constants.try_emplace(name.get<std::string>());
    }
  }
  return recipes;
}

}  // namespace replay
