// How much of the oracle's corpus the reference agrees with:
//   oracle_corpus RECORDS.jsonl FOLDER [EVERY] [FIRST]     every EVERY-th record, from FIRST
// Prints one line for each record that fails, and the shares at the end.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/unit/reference/oracle.h"

namespace {

using oracle::Json;

/// "" if the module's outputs pass, else what is wrong; "parse: …", "run: …" for what did not come that far.
std::string check(const Json& record, const std::string& folder) {
  std::string error;
  ir::Module module = oracle::read_module(folder + "/" + record.at("file").get<std::string>(), &error);
  if (!error.empty()) return "parse: " + error;
  const auto recipes = replay::parse_recipes(record.dump(), "record");
  if (!recipes.ok()) return "recipe: " + recipes.error().message;
  oracle::fill_elided(module, *recipes);
  const auto arguments = oracle::arguments_of(module, *recipes);
  replay::reference::Evaluator evaluator(module, replay::Rounding::each);
  const auto result = evaluator.run(module.entry, arguments);
  if (!result.ok()) return "run: " + result.error().message;
  for (const Json& output : record.at("outputs")) {
    std::string wrong = oracle::check_samples(output, oracle::pick(*result, output), oracle::Against::samples);
    if (wrong.empty()) wrong = oracle::check_whole(output, *result);
    if (!wrong.empty()) return "output " + output.at("index").get<std::string>() + ": " + wrong;
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: oracle_corpus RECORDS.jsonl FOLDER [EVERY] [FIRST]\n"), 2;
  const size_t every = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1, first = argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 0;
  const auto records = oracle::read_lines(argv[1]);
  size_t tried = 0, agree = 0;
  for (size_t i = first; i < records.size(); i += every) {
    const auto begin = std::chrono::steady_clock::now();
    std::fprintf(stderr, "%s\n", records[i].at("file").get<std::string>().c_str());
    const std::string wrong = check(records[i], argv[2]);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ++tried;
    if (wrong.empty()) ++agree;
    if (!wrong.empty() || seconds > 5)
      std::printf("%s\t%.1f s\t%s\n", records[i].at("file").get<std::string>().c_str(), seconds, wrong.empty() ? "slow" : wrong.c_str());
    std::fflush(stdout);
  }
  std::printf("%zu of %zu records agree\n", agree, tried);
  return 0;
}
