// Rules by use: what a program does with a parameter says which values keep it running as it would with real data. Users are followed
// through operations that pass values on; each rule of the table looks at one use. Indices stay in range, what goes under a root or a
// logarithm is positive, weights of products keep the variance, loop counters start at 0.
#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include "replay/callees.h"
#include "replay/inputs.h"
#include "src/ir/attr.h"
#include "src/ir/escape.h"

namespace replay {
namespace {

struct Use {
  ir::InstrId user;
  int operand;
};
using Users = std::vector<std::vector<Use>>;  ///< by instruction

/// A value on its way: an instruction's result, or the leaf of it under `path`; steps: how much arithmetic it went through.
struct Read {
  ir::InstrRef at;
  std::vector<int64_t> path;
  int steps = 0;
};

/// A use of the value as operand `operand` of `instr`.
struct Seen {
  const ir::Module& module;
  ir::CompId comp;
  const ir::Instr& instr;
  int operand;
  int steps;
  const ir::Shape& operand_shape(int k) const { return module.shape(module.instr(comp, instr.operands[static_cast<size_t>(k)])); }
};

Recipe make(Recipe::Kind kind, double a, double b = 0) {
  Recipe recipe;
  recipe.kind = kind;
  recipe.a = a, recipe.b = b;
  switch (kind) {
    case Recipe::Kind::uniform:
      recipe.text = fmt::format("{{\"uniform\":[{},{}]}}", a, b);
      break;
    case Recipe::Kind::integers:
      recipe.text = fmt::format("{{\"integers\":[{},{}]}}", a, b);
      break;
    default:
      recipe.text = fmt::format("{{\"constant\":{}}}", a);
      break;
  }
  return recipe;
}

/// Indices 0 … room.
std::optional<Recipe> indices(int64_t room) {
  if (room < 0) return std::nullopt;
  return make(Recipe::Kind::integers, 0, static_cast<double>(std::min<int64_t>(room, (int64_t{1} << 31) - 1)));
}

int64_t dim(const ir::Shape& shape, int64_t d) { return d >= 0 && d < shape.rank() ? shape.dims[static_cast<size_t>(d)] : 0; }

std::optional<Recipe> gather_index(const Seen& use) {
  if (use.operand != 1) return std::nullopt;
  const ir::GatherDims dims = ir::attr_gather(use.module, use.instr);
  int64_t room = INT64_MAX;
  for (const int64_t d : dims.start_index_map) {
    const int64_t size = d >= 0 && d < static_cast<int64_t>(dims.slice_sizes.size()) ? dims.slice_sizes[static_cast<size_t>(d)] : 1;
    room = std::min(room, dim(use.operand_shape(0), d) - size);
  }
  return dims.start_index_map.empty() ? std::nullopt : indices(room);
}

std::optional<Recipe> scatter_index(const Seen& use) {
  const auto inputs = static_cast<int>(use.instr.operands.size() / 2);
  if (use.operand != inputs) return std::nullopt;
  const ir::ScatterDims dims = ir::attr_scatter(use.module, use.instr);
  int64_t room = INT64_MAX;
  for (const int64_t d : dims.scatter_dims_to_operand_dims) room = std::min(room, dim(use.operand_shape(0), d) - 1);
  return dims.scatter_dims_to_operand_dims.empty() ? std::nullopt : indices(room);
}

/// Start of a dynamic-slice (first = 1) or dynamic-update-slice (first = 2).
std::optional<Recipe> slice_start(const Seen& use) {
  const bool update = use.instr.op == ir::Op::dynamic_update_slice;
  const int first = update ? 2 : 1;
  if (use.operand < first) return std::nullopt;
  const ir::Shape& box = update ? use.operand_shape(1) : use.module.shape(use.instr);
  if (use.operand_shape(use.operand).rank() == 0)
    return indices(dim(use.operand_shape(0), use.operand - first) - dim(box, use.operand - first));
  int64_t room = INT64_MAX;
  for (int64_t d = 0; d < box.rank(); ++d) room = std::min(room, dim(use.operand_shape(0), d) - dim(box, d));
  return indices(room);
}

const ir::Instr& strip_broadcasts(const ir::Module& module, ir::CompId comp, const ir::Instr* instr) {
  for (int depth = 0; depth < 16 && !instr->operands.empty(); ++depth) {
    if (instr->op != ir::Op::broadcast && instr->op != ir::Op::convert && instr->op != ir::Op::bitcast && instr->op != ir::Op::reshape)
      break;
    instr = &module.instr(comp, instr->operands[0]);
  }
  return *instr;
}

/// Class numbers compared with an iota; random numbers compared with a rate; a loop's counter.
std::optional<Recipe> compared(const Seen& use) {
  const ir::Instr& other =
      strip_broadcasts(use.module, use.comp, &use.module.instr(use.comp, use.instr.operands[use.operand == 0 ? 1 : 0]));
  const ir::Type type = use.operand_shape(use.operand).type;
  if (ir::is_integer(type) && other.op == ir::Op::iota) {
    const ir::Shape& shape = use.module.shape(other);
    return indices(dim(shape, ir::attr_int(use.module, other, "iota_dimension").value_or(0)) - 1);
  }
  if (ir::is_float(type) && other.op == ir::Op::constant && use.module.shape(other).rank() == 0 && !use.module.literal(other).elided) {
    const double rate = ir::as_double(use.module.literal(other), use.module.shape(other).type, 0);
    if (rate > 0 && rate < 1) return make(Recipe::Kind::uniform, 0, 1);
  }
  return std::nullopt;
}

/// Under a root, a logarithm, a line: away from 0.
std::optional<Recipe> positive(const Seen& use) {
  if (!ir::is_float(use.operand_shape(use.operand).type)) return std::nullopt;
  if (use.instr.op == ir::Op::divide && (use.operand != 1 || use.steps > 0)) return std::nullopt;
  if (use.instr.op == ir::Op::power) {
    if (use.operand != 0) return std::nullopt;
    if (use.operand_shape(0).rank() == 0) return make(Recipe::Kind::constant, 0.9);  // a decay rate to the power of the step
  }
  return make(Recipe::Kind::uniform, 0.5, 1.5);
}

/// The right side of a product: weights that keep the variance.
std::optional<Recipe> weight(const Seen& use) {
  if (use.operand != 1 || use.steps > 0 || !ir::is_float(use.operand_shape(1).type)) return std::nullopt;
  double fan_in = 1;
  if (use.instr.op == ir::Op::convolution) {
    const auto dims = ir::attr_conv_dims(use.module, use.instr);
    if (!dims.ok()) return std::nullopt;
    fan_in = static_cast<double>(ir::elements(use.operand_shape(1))) /
             static_cast<double>(std::max<int64_t>(1, dim(use.operand_shape(1), dims->kernel_out)));
  } else {
    if (use.instr.op == ir::Op::custom_call && !ir::is_gemm_call(use.module, use.instr)) return std::nullopt;
    const auto config = ir::gemm_config(use.module, use.instr);
    const ir::DotDims dims = use.instr.op == ir::Op::dot ? ir::attr_dot_dims(use.module, use.instr)
                             : config.ok()               ? config->dims
                                                         : ir::DotDims{};
    for (const int64_t d : dims.rhs_contracting) fan_in *= static_cast<double>(std::max<int64_t>(1, dim(use.operand_shape(1), d)));
  }
  const double range = std::sqrt(3 / std::max(1.0, fan_in));
  return make(Recipe::Kind::uniform, -range, range);
}

/// A signed integer that becomes a real number is a mask, a weight or a label, and programs take 1 − mask times −10000: 0 or 1.
std::optional<Recipe> flag(const Seen& use) {
  const ir::Type from = use.operand_shape(0).type;
  const bool is_count = from == ir::Type::s32 || from == ir::Type::s64;
  if (!is_count || use.steps > 0 || !ir::is_float(use.module.shape(use.instr).type)) return std::nullopt;
  return make(Recipe::Kind::integers, 0, 1);
}

/// Ordered by strength: the first rule that fits any use wins; among index rules the smallest range.
struct Rule {
  ir::Op op;
  std::optional<Recipe> (*rule)(const Seen&);
  int rank;  ///< 0 is strongest
  std::string_view why;
};
constexpr Rule kRules[] = {
    {ir::Op::gather, gather_index, 0, "use: index of a gather"},
    {ir::Op::scatter, scatter_index, 0, "use: index of a scatter"},
    {ir::Op::dynamic_slice, slice_start, 0, "use: start of a slice"},
    {ir::Op::dynamic_update_slice, slice_start, 0, "use: start of a slice"},
    {ir::Op::compare, compared, 1, "use: compared with an iota or a rate"},
    {ir::Op::sqrt, positive, 2, "use: under a root"},
    {ir::Op::rsqrt, positive, 2, "use: under a root"},
    {ir::Op::log, positive, 2, "use: of a logarithm"},
    {ir::Op::power, positive, 2, "use: base of a power"},
    {ir::Op::divide, positive, 3, "use: divisor"},
    {ir::Op::dot, weight, 4, "use: weight of a product"},
    {ir::Op::convolution, weight, 4, "use: weight of a convolution"},
    {ir::Op::custom_call, weight, 4, "use: weight of a product"},
    {ir::Op::convert, flag, 5, "use: integer that becomes a real number"},
};

/// Operations that pass all values of any operand on.
bool transparent(ir::Op op) {
  static constexpr ir::Op kOps[] = {ir::Op::bitcast, ir::Op::convert, ir::Op::reshape,     ir::Op::transpose, ir::Op::broadcast,
                                    ir::Op::copy,    ir::Op::slice,   ir::Op::concatenate, ir::Op::reverse,   ir::Op::opt_barrier};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

bool arithmetic(ir::Op op, int operand) {
  return op == ir::Op::add || op == ir::Op::multiply || op == ir::Op::maximum || (op == ir::Op::subtract && operand == 0);
}

constexpr int kArithmeticSteps = 4;  ///< Adam's second moment meets three operations before its root
constexpr size_t kPlaces = 1 << 14;  ///< places looked at for one parameter

/// Where the value goes by this use; nothing if it ends there.
std::vector<Read> next_places(const ir::Module& module, const Read& from, const Use& use) {
  const ir::Instr& user = module.instr(from.at.comp, use.user);
  const ir::InstrRef at{from.at.comp, use.user};
  std::vector<Read> next;
  const auto enter = [&](ir::CompId callee, int parameter) {
    const ir::Computation& comp = module.comp(callee);
    if (parameter >= 0 && parameter < static_cast<int>(comp.parameters.size())) {
      next.push_back({{callee, comp.parameters[static_cast<size_t>(parameter)]}, from.path, from.steps});
    }
  };
  if (user.op == ir::Op::get_tuple_element) {
    const int64_t wanted = ir::attr_int(module, user, "index").value_or(-1);
    if (!from.path.empty() && from.path[0] == wanted) next.push_back({at, {from.path.begin() + 1, from.path.end()}, from.steps});
  } else if (user.op == ir::Op::tuple) {
    std::vector<int64_t> path = from.path;
    path.insert(path.begin(), use.operand);
    next.push_back({at, std::move(path), from.steps});
  } else if (user.op == ir::Op::fusion || user.op == ir::Op::call || user.op == ir::Op::while_) {
    for (const ir::CompId callee : user.calls) enter(callee, use.operand);
  } else if (user.op == ir::Op::conditional) {
    const std::vector<ir::CompId> branches = branches_of(module, user);
    if (use.operand > 0 && use.operand <= static_cast<int>(branches.size())) enter(branches[static_cast<size_t>(use.operand - 1)], 0);
  } else if (transparent(user.op) || (user.op == ir::Op::select && use.operand > 0)) {
    next.push_back({at, from.path, from.steps});
  } else if (arithmetic(user.op, use.operand) && from.steps < kArithmeticSteps && ir::is_float(module.shape(user).type)) {
    next.push_back({at, from.path, from.steps + 1});
  }
  return next;
}

std::string describe(const ir::Module& module, const ir::Instr& instr) {
  const ir::Origin* origin = module.origin(instr);
  std::string text(module.name_of(instr));
  if (origin != nullptr) text += std::string(" ") + std::string(module.text(origin->op_name));
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Scalars that trainers pass, known by their names.
std::optional<Chosen> by_name(const ir::Module& module, const ir::Instr& instr, const ir::Shape& leaf) {
  if (leaf.rank() != 0 || !ir::is_float(leaf.type)) return std::nullopt;
  const std::string name = describe(module, instr);
  if (name.find("loss_scale") != std::string::npos) return Chosen{make(Recipe::Kind::constant, 1024), "", "use: loss scale"};
  for (const char* word : {"learning_rate", "learningrate"}) {
    if (name.find(word) != std::string::npos) return Chosen{make(Recipe::Kind::constant, 1e-3), "", "use: learning rate"};
  }
  return std::nullopt;
}

}  // namespace

/// Users of every instruction, by computation.
struct Chooser::Uses {
  std::unordered_map<ir::CompId, Users> by_comp;

  const Users& of(const ir::Module& module, ir::CompId comp) {
    const auto [it, is_new] = by_comp.try_emplace(comp);
    if (!is_new) return it->second;
    const auto& instrs = module.comp(comp).instrs;
    it->second.resize(instrs.size());
    for (size_t i = 0; i < instrs.size(); ++i) {
      for (size_t k = 0; k < instrs[i].operands.size(); ++k) {
        it->second[static_cast<size_t>(instrs[i].operands[k])].push_back({static_cast<ir::InstrId>(i), static_cast<int>(k)});
      }
    }
    return it->second;
  }

  /// The recipe of the strongest rule that fits a use of the value.
  std::optional<Chosen> rule(const ir::Module& module, Read start) {
    std::optional<Chosen> best;
    int best_rank = INT32_MAX;
    std::vector<Read> todo{std::move(start)};
    std::set<std::pair<ir::InstrRef, std::vector<int64_t>>> seen;
    while (!todo.empty() && seen.size() < kPlaces) {
      const Read place = std::move(todo.back());
      todo.pop_back();
      if (!seen.emplace(place.at, place.path).second) continue;
      for (const Use& use : of(module, place.at.comp)[static_cast<size_t>(place.at.instr)]) {
        const ir::Instr& user = module.instr(place.at.comp, use.user);
        for (const Rule& rule : kRules) {
          if (rule.op != user.op || !place.path.empty() || rule.rank > best_rank) continue;
          const auto recipe = rule.rule({module, place.at.comp, user, use.operand, place.steps});
          if (!recipe || (rule.rank == best_rank && recipe->b >= best->recipe.b)) continue;
          best = Chosen{*recipe, "", std::string(rule.why)};
          best_rank = rule.rank;
        }
        for (Read& next : next_places(module, place, use)) todo.push_back(std::move(next));
      }
    }
    return best;
  }

  /// A scalar integer of a while's state that its condition compares.
  bool loop_counter(const ir::Module& module, Read start) {
    std::vector<Read> todo{std::move(start)};
    std::set<std::pair<ir::InstrRef, std::vector<int64_t>>> seen;
    std::set<ir::CompId> conditions;
    while (!todo.empty() && seen.size() < kPlaces) {
      const Read place = std::move(todo.back());
      todo.pop_back();
      if (!seen.emplace(place.at, place.path).second) continue;
      for (const Use& use : of(module, place.at.comp)[static_cast<size_t>(place.at.instr)]) {
        const ir::Instr& user = module.instr(place.at.comp, use.user);
        if (user.op == ir::Op::while_) {
          for (const ir::CompId callee : ir::attr_calls(module, user, "condition")) conditions.insert(callee);
        }
        if (user.op == ir::Op::compare && conditions.count(place.at.comp) != 0) return true;
        for (Read& next : next_places(module, place, use)) todo.push_back(std::move(next));
      }
    }
    return false;
  }
};

Chooser::Chooser(const ir::Module& module, const InputOptions& options)
    : module_(module), options_(options), uses_(std::make_unique<Uses>()) {}
Chooser::~Chooser() = default;

namespace {

/// What the importer of the program says: frontend_attributes={profile_input="{\"integers\": [0, 9]}"}. What is no recipe says nothing.
std::optional<Recipe> of_importer(const ir::Module& module, const ir::Instr& instr) {
  constexpr std::string_view kKey = "profile_input=";
  const std::string_view text = ir::attr_text(module, instr, "frontend_attributes").value_or("");
  const size_t begin = text.find(kKey);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view quoted = text.substr(begin + kKey.size());
  size_t end = 1;
  while (end < quoted.size() && quoted[end] != '"') end += quoted[end] == '\\' ? 2 : 1;
  if (end >= quoted.size() || quoted.front() != '"') return std::nullopt;
  const auto recipe = parse_recipe(ir::unescaped(quoted.substr(0, end + 1)), "profile_input");
  return recipe.ok() ? std::optional(*recipe) : std::nullopt;
}

}  // namespace

Chosen Chooser::parameter(int64_t number, const ir::Leaf& leaf) const {
  const std::string name = input_name(number, leaf.path);
  const ir::Computation& entry = module_.comp(module_.entry);
  const ir::InstrId id = entry.parameters[static_cast<size_t>(number)];
  const ir::Instr& instr = entry.instrs[static_cast<size_t>(id)];
  std::string_view own = module_.name_of(instr);
  if (own.starts_with('%')) own.remove_prefix(1);
  for (const std::string& key : {name, leaf.path.empty() ? std::string(own) : std::string()}) {
    if (const auto it = options_.npy_files.find(key); it != options_.npy_files.end()) return {{}, it->second, "npy", it->first};
    if (const auto it = options_.recipes.params.find(key); it != options_.recipes.params.end()) return {it->second, "", "recipe"};
  }
  if (const auto given = of_importer(module_, instr)) return {*given, "", "importer"};
  if (const auto named = by_name(module_, instr, *leaf.shape)) return *named;
  const Read start{{module_.entry, id}, leaf.path, 0};
  const bool scalar_integer = leaf.shape->rank() == 0 && ir::is_integer(leaf.shape->type);
  if (scalar_integer && uses_->loop_counter(module_, start)) return {make(Recipe::Kind::constant, 0), "", "use: counter of a loop"};
  if (const auto by_use = uses_->rule(module_, start)) return *by_use;
  return {{}, "", "default"};
}

Chosen Chooser::constant(ir::InstrRef elided) const {
  std::string_view name = module_.name_of(module_.instr(elided.comp, elided.instr));
  if (name.starts_with('%')) name.remove_prefix(1);
  if (const auto it = options_.npy_files.find(name); it != options_.npy_files.end()) return {{}, it->second, "npy", it->first};
  if (const auto it = options_.recipes.constants.find(name); it != options_.recipes.constants.end()) return {it->second, "", "recipe"};
  if (const auto by_use = uses_->rule(module_, {elided, {}, 0})) return *by_use;
  return {{}, "", "default"};
}

}  // namespace replay
