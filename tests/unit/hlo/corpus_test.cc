// The importer over a corpus of real and intended texts, where one is present (PROFILE_SHARED, or ../shared beside the tree):
//   what XLA's parser accepts is parsed, and printed texts parse to the same module;
//   what XLA's parser accepts and the verifier here refuses stands with the rule in tests/corpus/refused.tsv;
//   what XLA's parser refuses and is imported here stands with XLA's reason in tests/corpus/only_here.tsv;
//   what XLA's verifier refuses (folders verifier_negative) and is imported here stands with the kind of rule in
//   tests/corpus/not_checked.tsv.
// tests/corpus/grammar.md is the table by folder. PROFILE_UPDATE=1 writes the three anew; read what changes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
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
  std::string refused, only_here, not_checked, broken;  ///< lines: file, reason
};

/// The first line of a message without its place.
std::string reason_of(const std::string& message, const std::string& file) {
  const std::string line = message.substr(0, message.find('\n'));
  return line.starts_with(file + ":") ? line.substr(file.size() + 1) : line;
}

/// Rules of XLA's verifier that are not about the shape of a result, by words in the names of its tests.
std::string kind_of_rule(const std::string& file) {
  static constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"CheckCallOperandOutputAliasing", "the test breaks the module after it has read this text"},
      {"MismatchedMinorToMajor", "the test breaks the module after it has read this text"},
      {"CopyCannotChangeType", "mixed precision is noted (mixed-precision) and not refused: TPU dumps have it"},
      {"MixedPrecision", "mixed precision is noted (mixed-precision) and not refused: TPU dumps have it"},
      {"VerifyBuffers", "buffers (2025): who writes them is not followed"},
      {"SendRecvDeadlock", "who waits for whom between devices is not followed"},
      {"MatchingSend", "channels are not compared"},
      {"CollectivePermute", "pairs of devices are not compared, nor which start belongs to which done"},
      {"ReduceScatter", "groups of devices are not compared"},
      {"AllReduce", "groups of devices are not compared; a start that gives (operand, result) is read"},
      {"RaggedAllToAll", "the shapes of offsets and sizes are not compared"},
      {"AliasConfig", "output_to_operand_aliasing is kept as text"},
      {"Aliasing", "output_to_operand_aliasing is kept as text"},
      {"MemorySpace", "memory spaces are kept as text"},
      {"HostOffloading", "memory spaces are kept as text"},
      {"Layout", "layouts are free: another layout costs a copy and changes no value"},
      {"Sharding", "shardings are kept as text: one device replays"},
      {"Composite", "attributes of composite calls are kept as text"},
      {"OriginalValue", "origin is kept as text"},
      {"Comparison", "the type of a comparison follows from its operands"},
      {"Thread", "execution threads are kept as text"},
      {"NameChanged", "scheduling names are kept as text"},
      {"Async", "asynchronous operations may leave operands and results to their updates (2026-07); chains are not followed"},
      {"CopyDone", "which start belongs to which done is not compared"},
      {"CopyStart", "which start belongs to which done is not compared"},
      {"ScaledDot", "scales of a scaled dot are not compared"},
      {"BitcastCanNotChangeElementType", "a bitcast to another type of as many bytes is read"},
      {"F8Usage", "operations on small floats are computed in f32"},
      {"Int4", "what one backend lacks is not refused"},
      {"SparseDot", "the metadata of sparse products is not compared"},
      {"BranchIndex", "the test breaks the module after it has read this text"},
      {"RngSeed", "the result of a custom call is what the text says"},
  };
  const auto row = std::ranges::find_if(kKinds, [&](const auto& kind) { return file.find(kind.first) != std::string::npos; });
  return row == std::end(kKinds) ? "?" : std::string(row->second);
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
  if (imported.ok() && folder_of(verdict.file).ends_with("verifier_negative")) {
    outcome.not_checked += verdict.file + "\t" + kind_of_rule(verdict.file) + "\n";
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
  EXPECT_EQ(outcome.not_checked.find("\t?"), std::string::npos) << outcome.not_checked;
  expect_file("not_checked.tsv", outcome.not_checked);
  expect_file("only_here.tsv", outcome.only_here);
  expect_file("grammar.md", table(outcome.folders));
}

}  // namespace
