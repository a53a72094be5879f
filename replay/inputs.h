// Inputs of a replay: the one generator (same numbers bit for bit as the oracle's), recipes, captured arrays.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/tensor.h"
#include "src/base/result.h"
#include "src/ir/module.h"

namespace replay {

/// mix64, fnv1a64, key, x(i): see the comment in inputs.cc for the definition.
uint64_t stream_key(uint64_t seed, std::string_view name);
uint64_t stream(uint64_t key, uint64_t index);

/// How the elements of one array are made.
struct Recipe {
  enum class Kind : uint8_t { standard, uniform, integers, pred, constant, iota, values } kind = Kind::standard;
  double a = 0, b = 0;                      ///< uniform lo, hi; integers lo, hi; constant a; iota start a, step b
  std::vector<std::vector<double>> values;  ///< row-major; one number, or re and im
  std::string text;                         ///< as JSON, for the store
};

/// A recipe file, or an oracle record: {"seed": 1, "params": {"0": {...}, "1.0": {...}}, "constants": {"constant_36": {...}}}.
struct Recipes {
  uint64_t seed = 1;
  std::map<std::string, Recipe, std::less<>> params, constants;
};
/// One recipe: {"uniform": [0, 1]}. `name` tells in messages whose it is.
base::Result<Recipe> parse_recipe(std::string_view json, std::string_view name);
base::Result<Recipes> parse_recipes(std::string_view json, std::string_view source);

/// Elements of an array in logical row-major order. `name`: "0", "0.1", "constant_36".
Tensor generate(const Recipe& recipe, const ir::Shape& shape, uint64_t seed, std::string_view name);
/// Straight into physical order, in parallel, without a second copy: for large parameters. `out` holds bytes(shape).
void generate_into(std::span<std::byte> out, const Recipe& recipe, const ir::Shape& shape, uint64_t seed, std::string_view name);

/// Where the values of entry parameters and elided constants come from, by precedence: captured .npy, recipe, what the importer
/// says, rule by use, default by type.
struct InputOptions {
  Recipes recipes;
  bool seed_given = false;                                    ///< --seed overrides the recipe's
  std::map<std::string, std::string, std::less<>> npy_files;  ///< --input NAME=FILE; NAME as in recipes, or the parameter's own name
};
/// Every recipe is for a leaf of an entry parameter (by number or by its own name) or an elided constant. The Error suggests the nearest
/// name.
base::Status check_recipe_names(const ir::Module& module, const Recipes& recipes);

/// The recipe for a leaf and why: "recipe", "npy", "importer", "use: index of a gather", "default". Rules by use keep indices in range and
/// so on.
struct Chosen {
  Recipe recipe;
  std::string npy_file;
  std::string why;
  std::string npy_name{};  ///< the key of npy_files
};

/// Chooses for all inputs of a module's entry; users are listed once, so that a program of thousands of parameters is still linear.
class Chooser {
 public:
  /// Both must outlive the chooser.
  Chooser(const ir::Module& module, const InputOptions& options);
  ~Chooser();
  Chosen parameter(int64_t number, const ir::Leaf& leaf) const;
  Chosen constant(ir::InstrRef elided) const;  ///< of an elided constant

 private:
  struct Uses;
  const ir::Module& module_;
  const InputOptions& options_;
  std::unique_ptr<Uses> uses_;
};

/// "0", "0.1": the generator's name of a leaf of a parameter.
std::string input_name(int64_t parameter, const std::vector<int64_t>& path);

}  // namespace replay
