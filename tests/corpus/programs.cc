// NAME.oracle.json and NAME.recipe.json, once for each NAME.STAGE.hlo.txt.
#include "tests/corpus/programs.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace corpus {
namespace {

using oracle::Json;
constexpr std::string_view kRecord = ".oracle.json";

/// XLA flattens tuples of handwritten modules when it optimises them: the outputs are then numbered in order.
void flatten(Json& record) {
  const bool nested = std::ranges::any_of(
      record.at("outputs"), [](const Json& output) { return output.at("index").get<std::string>().find('.') != std::string::npos; });
  size_t k = 0;
  for (Json& output : record.at("outputs")) {
    if (nested) output["index"] = std::to_string(k++);
  }
}

/// Constants that the text elides are made with the default recipe and the record's own seed.
Json record_of(const std::string& folder, const std::string& name, const std::string& stage) {
  Json record = oracle::read_json(folder + "/" + name + ".recipe.json");
  record.update(oracle::read_json(folder + "/" + name + std::string(kRecord)));
  record["file"] = name + "." + stage + ".hlo.txt";
  record["elided_seed"] = record.at("seed");
  if (stage == "after") flatten(record);
  return record;
}

}  // namespace

std::vector<Json> program_records(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(kRecord)) names.push_back(name.substr(0, name.size() - kRecord.size()));
  }
  std::ranges::sort(names);
  std::vector<Json> records;
  for (const std::string& name : names) {
    for (const std::string stage : {"before", "after"}) {
      if (std::filesystem::exists(folder + "/" + name + "." + stage + ".hlo.txt")) records.push_back(record_of(folder, name, stage));
    }
  }
  return records;
}

}  // namespace corpus
