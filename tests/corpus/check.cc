// The stages of a record. Inputs and rules are the oracle's (tests/unit/reference/oracle.h); the replay is that of the program.
#include "tests/corpus/check.h"

#include <fmt/format.h>

#include <array>

#include "importers/hlo/hlo.h"
#include "src/base/file.h"
#include "src/ir/print.h"
#include "src/ir/verify.h"

namespace corpus {
namespace {

using oracle::Json;

constexpr std::array<std::string_view, kStages> kStageNames = {"parse", "round-trip", "verify", "plan", "replay", "compare", "equal"};
constexpr std::array<std::string_view, 5> kKindNames = {"", "refused", "differs", "crash", "hang"};

template <typename Enum, size_t n>
Enum named(const std::array<std::string_view, n>& names, const std::string& name) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return Enum{};
}

/// One record on its way.
struct Check {
  const Json& record;
  const std::string& path;
  const std::string& device;
  const Entered& entered;
  Row row = {};
  ir::Module module = {};
  replay::Recipes recipes = {};

  void enter(Stage stage) {
    row.stage = stage;
    entered(stage);
  }
  bool stop(Kind kind, std::string where, std::string reason) {
    row.kind = kind, row.where = std::move(where), row.reason = std::move(reason);
    return false;
  }
  bool refuse(std::string reason) { return stop(Kind::refused, "", std::move(reason)); }

  bool parses();
  bool round_trips();
  bool verifies();
  bool takes_recipes();
  bool replays();
  bool plans(Planned& planned);
  bool equals(const Outputs& outputs);
};

bool Check::parses() {
  enter(Stage::parse);
  const auto text = base::read_file(path);
  if (!text.ok()) return refuse(text.error().message);
  auto parsed = importers::hlo::parse(*text, path);
  if (!parsed.ok()) return refuse(parsed.error().message);
  module = *std::move(parsed);
  return true;
}

bool Check::round_trips() {
  enter(Stage::round_trip);
  const auto again = importers::hlo::parse(ir::print(module), path);
  if (!again.ok()) return stop(Kind::differs, "", "its own print is refused: " + again.error().message);
  return *again == module || stop(Kind::differs, "", "parse(print(m)) is another module");
}

bool Check::verifies() {
  enter(Stage::verify);
  const auto findings = ir::verify(module);
  if (findings.empty()) return true;
  const ir::Finding& first = findings.front();
  const bool placed = first.at.comp >= 0 && first.at.instr >= 0;
  return stop(Kind::refused, placed ? std::string(module.name_of(module.instr(first.at.comp, first.at.instr))) : "", first.what);
}

/// Every leaf has a recipe: what the record does not name is filled by type, never by use. Elided constants of the corpus's records were
/// made with seed 0, whatever the record's seed: run_corpus.py read the modules with xla_oracle.py's default. Records of programs name
/// their seed.
bool Check::takes_recipes() {
  auto read = replay::parse_recipes(record.dump(), "record");
  if (!read.ok()) return refuse(read.error().message);
  recipes = *std::move(read);
  replay::Recipes elided = recipes;
  elided.seed = record.value("elided_seed", uint64_t{0});
  oracle::fill_elided(module, elided);
  recipes.constants.clear();
  const ir::Computation& entry = module.comp(module.entry);
  for (size_t k = 0; k < entry.parameters.size(); ++k) {
    for (const ir::Leaf& leaf : ir::leaves(module.shape(entry.instrs[static_cast<size_t>(entry.parameters[k])])))
      recipes.params.try_emplace(replay::input_name(static_cast<int64_t>(k), leaf.path));
  }
  return true;
}

bool Check::plans(Planned& planned) {
  enter(Stage::plan);
  auto made = plan_on(device, module, replay::Rounding::each, 1);
  if (!made.ok()) return refuse(made.error().message);
  planned = *std::move(made);
  const replay::Step* skipped = nullptr;
  for (const replay::Step* step : planned.plan.steps) {
    ++row.classes[std::string(replay::text(step->cls))];
    if (step->cls == replay::Class::skip && skipped == nullptr) skipped = step;
  }
  return skipped == nullptr || stop(Kind::refused, skipped->name, skipped->why);
}

bool Check::replays() {
  Planned planned;
  if (!plans(planned)) return false;
  enter(Stage::replay);
  const auto outputs = replay_once(planned, recipes);
  if (!outputs.ok()) return refuse(outputs.error().message);
  return equals(*outputs);
}

/// The output as an array of its own: its tensor has been picked out of the tuple already.
Json alone(Json output) {
  output["index"] = "";
  return output;
}

bool Check::equals(const Outputs& outputs) {
  enter(Stage::compare);
  for (const Json& output : record.at("outputs")) {
    const std::string wrong = compare(output, outputs, oracle::Against::samples);
    if (!wrong.empty()) return stop(Kind::differs, "output " + output.at("index").get<std::string>(), wrong);
  }
  const size_t expected = record.at("outputs").size();
  if (outputs.size() != expected) return stop(Kind::differs, "", fmt::format("{} outputs, expected {}", outputs.size(), expected));
  enter(Stage::equal);
  return true;
}

}  // namespace

std::string compare(const Json& output, const Outputs& outputs, oracle::Against against) {
  const auto it = outputs.find(oracle::path_of(output));
  if (it == outputs.end()) return "missing";
  const Json json = alone(output);
  std::string wrong = oracle::check_samples(output, oracle::pick(it->second, json), against);
  if (wrong.empty() && against == oracle::Against::samples) wrong = oracle::check_whole(json, it->second);
  return wrong;
}

std::string_view text(Stage stage) { return kStageNames[static_cast<size_t>(stage)]; }
std::string_view text(Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }

Row check(const Json& record, const std::string& path, const std::string& device, const Entered& entered) {
  Check check{record, path, device, entered};
  check.row.file = record.at("file").get<std::string>();
  check.row.device = device;
  (void)(check.parses() && check.round_trips() && check.verifies() && check.takes_recipes() && check.replays());
  return check.row;
}

Json to_json(const Row& row) {
  Json json = {{"file", row.file},   {"device", row.device}, {"stage", text(row.stage)}, {"kind", text(row.kind)},
               {"where", row.where}, {"reason", row.reason}, {"seconds", row.seconds},   {"classes", row.classes}};
  if (!row.explained.empty()) json["explained"] = row.explained;
  return json;
}

Row from_json(const Json& json) {
  Row row;
  row.file = json.at("file"), row.device = json.at("device");
  row.stage = named<Stage>(kStageNames, json.at("stage"));
  row.kind = named<Kind>(kKindNames, json.at("kind"));
  row.where = json.at("where"), row.reason = json.at("reason");
  row.seconds = json.at("seconds");
  row.classes = json.at("classes").get<std::map<std::string, int>>();
  return row;
}

}  // namespace corpus
