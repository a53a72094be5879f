// The importer over a corpus of real and intended texts, where one is present (PROFILE_SHARED, or ../shared beside the tree):
//   what XLA's parser accepts is parsed, and printed texts parse to the same module;
//   what XLA's parser accepts and the verifier here refuses stands with the rule in tests/corpus/refused.tsv;
//   what XLA's parser refuses and is imported here stands with XLA's reason in tests/corpus/only_here.tsv.
// tests/corpus/grammar.md is the table by folder. PROFILE_UPDATE=1 writes the three anew; read what changes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "importers/hlo/hlo.h"
#include "src/base/file.h"
#include "src/base/text.h"
#include "src/ir/print.h"

namespace {

const std::string kLists = SOURCE_DIR "/tests/corpus/";

std::string shared_folder() {
  const char* given = std::getenv("PROFILE_SHARED");
  return given != nullptr ? given : SOURCE_DIR "/../shared";
}

/// What became of the files of a folder.
struct Count {
  int files = 0, accepted = 0, parsed = 0, round_trips = 0, imported = 0, accepted_refused = 0, only_here = 0;
};

struct Verdict {
  std::string file, xla;
  bool accepted() const { return xla == "ok"; }
};

std::vector<Verdict> verdicts() {
  std::vector<Verdict> all;
  std::ifstream in(shared_folder() + "/oracle/parse_verdicts.tsv");
  for (std::string line; std::getline(in, line);) {
    const size_t tab = line.find('\t');
    if (tab != std::string::npos) all.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  return all;
}

/// hlo_xla/history/2018-06-30/inline/x.hlo → hlo_xla/history/2018-06-30/inline
std::string folder_of(const std::string& file) { return std::filesystem::path(file).parent_path().string(); }

bool survives(const ir::Module& module) {
  for (const ir::Form form : {ir::Form::long_, ir::Form::short_}) {
    const auto again = importers::hlo::parse(ir::print(module, form), "printed");
    if (!again.ok() || !(*again == module) || ir::print(*again, ir::Form::canonical) != ir::print(module, ir::Form::canonical))
      return false;
  }
  return true;
}

struct Outcome {
  std::map<std::string, Count> folders;
  std::string refused, only_here, broken;  ///< lines: file, reason
};

/// The first line of a message without its place.
std::string reason_of(const std::string& message, const std::string& file) {
  const std::string line = message.substr(0, message.find('\n'));
  return line.starts_with(file + ":") ? line.substr(file.size() + 1) : line;
}

void check(const Verdict& verdict, const std::string& text, Outcome& outcome) {
  Count& count = outcome.folders[folder_of(verdict.file)];
  ++count.files;
  count.accepted += verdict.accepted();
  const auto imported = importers::hlo::read({verdict.file, text});
  bool parsed = imported.ok(), same = true;
  if (imported.ok()) {
    for (const ir::Module& module : imported->modules) same = same && survives(module);
  } else if (const auto module = importers::hlo::parse(text, verdict.file); module.ok()) {
    parsed = true, same = survives(*module);
  }
  count.parsed += parsed;
  count.imported += imported.ok();
  count.round_trips += parsed && same;
  if (parsed && !same) outcome.broken += verdict.file + "\tis another module when printed\n";
  if (verdict.accepted() && !parsed) outcome.broken += verdict.file + "\t" + reason_of(imported.error().message, verdict.file) + "\n";
  if (verdict.accepted() && !imported.ok()) {
    ++count.accepted_refused;
    outcome.refused += verdict.file + "\t" + reason_of(imported.error().message, verdict.file) + "\n";
  }
  if (!verdict.accepted() && imported.ok()) {
    ++count.only_here;
    outcome.only_here += verdict.file + "\tXLA: " + base::escaped(verdict.xla) + "\n";
  }
}

std::string table(const std::map<std::string, Count>& folders) {
  std::string text =
      "# Texts of the corpus\n\nAccepted: by XLA's parser (jaxlib 0.10.2), which checks few shapes. Parsed and round trips: here, broken "
      "shapes "
      "included.\nImported: parsed and verified. Accepted but refused: a rule is broken, see `refused.tsv`. Only here: older and newer "
      "dialects, "
      "see `only_here.tsv`.\n\n| folder | files | accepted | parsed | round trips | imported | accepted but refused | only here |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|\n";
  Count all;
  const auto row = [&](const std::string& name, const Count& c) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", name, c.files, c.accepted, c.parsed, c.round_trips, c.imported,
                        c.accepted_refused, c.only_here);
  };
  for (const auto& [name, c] : folders) {
    row(name, c);
    all.files += c.files, all.accepted += c.accepted, all.parsed += c.parsed, all.round_trips += c.round_trips;
    all.imported += c.imported, all.accepted_refused += c.accepted_refused, all.only_here += c.only_here;
  }
  row("all", all);
  return text;
}

void expect_file(const std::string& name, const std::string& content) {
  if (std::getenv("PROFILE_UPDATE") != nullptr) {
    ASSERT_TRUE(base::write_file(kLists + name, content).ok());
  }
  const auto kept = base::read_file(kLists + name);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(*kept, content) << name << ": run with PROFILE_UPDATE=1 and read what changes";
}

TEST(Corpus, WhatXlaAcceptsIsParsedAndDifferencesAreListed) {
  const std::vector<Verdict> all = verdicts();
  if (all.empty()) GTEST_SKIP() << "no corpus beside the source tree";
  Outcome outcome;
  for (const Verdict& verdict : all) {
    const auto text = base::read_file(shared_folder() + "/corpus/" + verdict.file);
    if (text.ok()) check(verdict, *text, outcome);
  }
  EXPECT_EQ(outcome.broken, "");
  expect_file("refused.tsv", outcome.refused);
  expect_file("only_here.tsv", outcome.only_here);
  expect_file("grammar.md", table(outcome.folders));
}

}  // namespace
