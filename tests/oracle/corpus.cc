// How much of the oracle's corpus the reference agrees with:
//   oracle_corpus RECORDS.jsonl FOLDER [EVERY] [FIRST]     every EVERY-th record, from FIRST
// Prints one line for each record that fails, and the shares at the end.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
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

/// In a process of its own, so that neither time nor a crash ends the run.
std::string check_apart(const Json& record, const std::string& folder) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    const std::string wrong = check(record, folder);
    const bool written = write(ends[1], wrong.data(), wrong.size()) >= 0;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string wrong;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) wrong.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGALRM ? "slow: more than 10 s" : "crash: signal " + std::to_string(WTERMSIG(status));
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: oracle_corpus RECORDS.jsonl FOLDER [EVERY] [FIRST]\n"), 2;
  const size_t every = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1, first = argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 0;
  const auto records = oracle::read_lines(argv[1]);
  size_t tried = 0, agree = 0;
  for (size_t i = first; i < records.size(); i += every) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string wrong = check_apart(records[i], argv[2]);
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
