// Damages files in every way of the table below, and reads what comes of it:
//
//   fuzz_hostile FILE... [--edits 10000] [--seed 1] [--keep FOLDER]
//
// A FILE of any format is cut at every 500th part, edited at random (one edit in ten is read without being told the format), gets deep
// nests and names that nobody gives. Each time the answer is an error with a place or a sound import (support::flaw_of), within a time that
// grows with the input. One line says how a file went. What crashes, hangs or is unsound ends its file: the input is written to FOLDER and
// named, and the exit status is 1. Each file is read in a process of its own; the parent makes the input again from its number.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "src/base/decompress.h"
#include "tests/support/hostile.h"

namespace {

constexpr size_t kCuts = 500;

/// A way to damage a file: the same number makes the same input.
struct Damage {
  const char* name;
  size_t count;
  std::function<std::string(size_t)> make;
};

/// What the child tells its parent, in shared memory.
struct Tally {
  char format[64];        ///< "": the file itself is none of ours
  size_t damage, number;  ///< of the input that is being read
  size_t errors, results;
  double worst;  ///< s of the processor: other programs on the machine do not count
  size_t worst_damage, worst_number, worst_bytes;
};

/// Up to eight words of a text, which may be names in it.
std::vector<std::string> words_of(std::string_view text, std::mt19937 random) {
  std::vector<std::string> words;
  const auto in_word = [&](size_t at) { return std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_'; };
  for (size_t tries = 0; tries < 400 && words.size() < 8; ++tries) {
    size_t begin = random() % text.size(), end = begin;
    while (begin > 0 && in_word(begin - 1)) --begin;
    while (end < text.size() && in_word(end)) ++end;
    const std::string word(text.substr(begin, end - begin));
    if (word.size() >= 3 && !std::ranges::count(words, word)) words.push_back(word);
  }
  return words;
}

/// Everywhere; a long name 20 times.
std::string renamed(std::string text, std::string_view word, std::string_view name) {
  size_t most = name.size() < 1000 ? text.size() : 20;
  for (size_t at = text.find(word); at != std::string::npos && most > 0; at = text.find(word, at + name.size()), --most)
    text.replace(at, word.size(), name);
  return text;
}

/// The first is the file as it is.
std::vector<Damage> damages(const std::string& text, size_t edits, uint32_t seed) {
  const std::mt19937 random(seed);
  const bool is_binary = text.find('\0') != std::string::npos;
  const auto nests = is_binary ? support::wire_nests() : support::text_nests(text, random);
  const auto words = words_of(text, random), names = support::hostile_names();
  const size_t half = text.size() / 2, line = text.find('\n', text.size() / 3) + 1;  // 0 where there is no line
  return {{"file", 1, [=](size_t) { return text; }},
          {"cut", kCuts, [=](size_t k) { return text.substr(0, text.size() * k / kCuts); }},
          {"edit", edits,
           [=](size_t k) {
             std::mt19937 of_edit(seed * 1'000'003 + static_cast<uint32_t>(k));
             return support::edited(text, of_edit);
           }},
          {"nesting", 4 * nests.size(),
           [=](size_t k) {
             const size_t at[] = {0, text.size(), half, line};
             const std::string deep = nests[k / 4].text();
             return k % 4 == 0 ? deep : text.substr(0, at[k % 4]) + deep + text.substr(at[k % 4]);
           }},
          {"name", words.size() * names.size(), [=](size_t k) { return renamed(text, words[k / names.size()], names[k % names.size()]); }}};
}

/// Processor time, after which SIGPROF ends the process.
double limit(size_t bytes) { return 3 + 20e-6 * static_cast<double>(bytes); }

void read(const std::string& bytes, Tally& tally) {
  const auto seconds = static_cast<time_t>(limit(bytes.size()));
  const itimerval timer = {{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
  importers::Input input{"hostile", bytes};
  if (tally.damage != 0 && tally.number % 10 != 0) input.options.as = tally.format;
  const std::clock_t begin = std::clock();
  const auto imported = importers::import(input);
  const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (took > tally.worst) {
    tally.worst = took;
    tally.worst_damage = tally.damage, tally.worst_number = tally.number, tally.worst_bytes = bytes.size();
  }
  if (const std::string flaw = support::flaw_of(imported); !flaw.empty()) {
    fmt::print(stderr, "{}\n", flaw);
    std::abort();
  }
  if (tally.damage == 0 && imported.ok()) fmt::format_to_n(tally.format, sizeof tally.format - 1, "{}", imported->source.format);
  ++(imported.ok() ? tally.results : tally.errors);
}

/// True: nothing was found.
bool survives(const std::string& path, const std::vector<Damage>& ways, const std::filesystem::path& keep, Tally& tally) {
  tally = {};
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (; tally.damage < ways.size(); ++tally.damage)
      for (tally.number = 0; tally.number < ways[tally.damage].count; ++tally.number) read(ways[tally.damage].make(tally.number), tally);
    _exit(0);
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  if (tally.damage < ways.size()) {
    const Damage& way = ways[tally.damage];
    const std::string bytes = way.make(tally.number);
    const auto kept = keep / fmt::format("{}.{}.{}", std::filesystem::path(path).filename().string(), way.name, tally.number);
    std::ofstream(kept, std::ios::binary) << bytes;
    const bool hangs = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
    fmt::print(
        "{}: {} {} {}: {}\n", path, way.name, tally.number,
        hangs ? fmt::format("took more than {:.0f} s of the processor", limit(bytes.size())) : fmt::format("failed (status {:#x})", status),
        kept.string());
    return false;
  }
  std::vector<std::string> counts;
  for (const Damage& way : ways) counts.push_back(fmt::format("{} {}s", way.count, way.name));
  fmt::print("{}: {}; {}: {} errors, {} results; worst {:.2f} s ({} {}, {} bytes); peak {} MB\n", path,
             *tally.format == '\0' ? "refused" : tally.format, fmt::join(counts, ", "), tally.errors, tally.results, tally.worst,
             ways[tally.worst_damage].name, tally.worst_number, tally.worst_bytes, used.ru_maxrss / 1024);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Damages files of any format and reads what comes of it"};
  std::vector<std::string> files;
  std::filesystem::path keep = ".";
  size_t edits = 10'000;
  uint32_t seed = 1;
  app.add_option("FILE", files)->required();
  app.add_option("--edits", edits);
  app.add_option("--seed", seed);
  app.add_option("--keep", keep);
  CLI11_PARSE(app, argc, argv);
  std::filesystem::create_directories(keep);
  void* shared = mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  bool all = shared != MAP_FAILED;
  for (const std::string& file : files) {
    const auto text = base::read_unpacked_file(file);
    if (!text.ok() || text->empty()) fmt::print("{}\n", text.ok() ? file + ": is empty" : text.error().message);
    all = text.ok() && !text->empty() && survives(file, damages(*text, edits, seed), keep, *static_cast<Tally*>(shared)) && all;
    std::fflush(stdout);
  }
  return all ? 0 : 1;
}
