// The importer over a corpus of real and intended texts, where one is present: what XLA's parser accepts must import.
// PROFILE_CORPUS_LIST=FILE writes every text that XLA accepts and we don't, with the reason.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "importers/hlo/hlo.h"
#include "src/base/file.h"
#include "src/ir/print.h"

namespace {

/// Where the corpus is: PROFILE_SHARED, or beside the source tree.
std::string shared_folder() {
  const char* given = std::getenv("PROFILE_SHARED");
  return given != nullptr ? given : SOURCE_DIR "/../shared";
}

struct Count {
  int accepted = 0, imported = 0, refused_by_both = 0, only_here = 0, round_trips = 0;
};

/// Whether the modules of an import print and parse again to the same.
bool survives(const model::Imported& imported) {
  for (const ir::Module& module : imported.modules) {
    for (const ir::Form form : {ir::Form::long_, ir::Form::short_}) {
      const auto again = importers::hlo::parse(ir::print(module, form), "printed");
      if (!again.ok() || !(*again == module)) return false;
    }
  }
  return true;
}

TEST(Corpus, WhatXlaAcceptsImports) {
  std::ifstream verdicts(shared_folder() + "/oracle/parse_verdicts.tsv");
  if (!verdicts) GTEST_SKIP() << "no corpus beside the source tree";
  const char* list_path = std::getenv("PROFILE_CORPUS_LIST");
  std::ofstream list(list_path != nullptr ? list_path : "/dev/null");
  Count count;
  for (std::string line; std::getline(verdicts, line);) {
    const size_t tab = line.find('\t');
    const std::string file = line.substr(0, tab), verdict = line.substr(tab + 1);
    const auto text = base::read_file(shared_folder() + "/corpus/" + file);
    if (!text.ok()) continue;
    const auto imported = importers::hlo::read({file, *text});
    const bool accepted = verdict == "ok";
    count.accepted += accepted;
    if (imported.ok()) {
      const bool same = survives(*imported);
      count.round_trips += same;
      if (!same) list << "ROUND TRIP " << file << '\n';
    }
    if (accepted)
      count.imported += imported.ok();
    else if (imported.ok())
      ++count.only_here, list << "ONLY HERE " << file << ": " << verdict << '\n';
    else
      ++count.refused_by_both;
    if (accepted && !imported.ok()) list << imported.error().message << '\n';
  }
  RecordProperty("accepted", count.accepted);
  RecordProperty("imported", count.imported);
  std::cerr << count.accepted << " accepted by XLA, " << count.imported << " of them here; " << count.only_here << " only here, "
            << count.refused_by_both << " by neither; " << count.round_trips << " round trips\n";
  EXPECT_GE(count.imported, count.accepted * 98 / 100);
  EXPECT_EQ(count.round_trips, count.imported + count.only_here);
}

}  // namespace
