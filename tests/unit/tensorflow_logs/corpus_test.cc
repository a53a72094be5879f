// Every file of the TensorFlow corpus that is text of a graph, a log, or a profile: what is read of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "importers/importer.h"
#include "src/base/decompress.h"

namespace {

std::string codes_of(const model::Imported& imported) {
  std::map<std::string, int> codes;
  for (const model::Note& note : imported.notes) ++codes[note.code];
  std::string text;
  for (const auto& [code, count] : codes) text += fmt::format(" {}×{}", count, code);
  return text;
}

size_t timings_of(const model::Imported& imported) {
  size_t timings = 0;
  for (const model::Recording& recording : imported.recordings) timings += recording.timings.size();
  return timings;
}

/// What is read of a file, one line of the table.
std::string row(const std::string& name, const base::Result<model::Imported>& imported) {
  if (!imported.ok()) return name + " | refused";
  const model::Source& source = imported->source;
  size_t operators = imported->operators.size();
  for (const auto& of_module : imported->module_operators) operators += of_module.size();
  return fmt::format("{} | {} | {} operators | {} timings | {} recordings | {} modules | {} {} = {} + {} |{}", name, source.format,
                     operators, timings_of(*imported), imported->recordings.size(), imported->modules.size(), source.read, source.records,
                     source.kept, source.dropped, codes_of(*imported));
}

/// The table that is kept beside this test, by file.
std::map<std::string, std::string> kept_table() {
  const auto text = base::read_unpacked_file(SOURCE_DIR "/tests/unit/tensorflow_logs/corpus.txt");
  EXPECT_TRUE(text.ok());
  std::map<std::string, std::string> rows;
  std::istringstream lines(text.ok() ? *text : "");
  for (std::string line; std::getline(lines, line);) rows.emplace(line.substr(0, line.find(" | ")), line);
  return rows;
}

std::vector<std::filesystem::path> corpus_files() {
  std::vector<std::filesystem::path> files;
  std::error_code missing;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kCorpus, missing)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

TEST(TensorflowCorpus, EveryFileIsReadWithABalancedAccountOrRefusedWithAPlace) {
  const auto files = corpus_files();
  if (files.empty()) GTEST_SKIP() << "no corpus at " << kCorpus;
  const auto kept = kept_table();
  for (const auto& path : files) {
    const auto bytes = base::read_unpacked_file(path.string());
    ASSERT_TRUE(bytes.ok());
    const auto imported = importers::import({path.string(), *bytes});
    const std::string name = path.filename().string(), line = row(name, imported);
    fmt::print("{}\n", line);
    EXPECT_TRUE(imported.ok() || imported.error().message.find(":1:1: ") != std::string::npos) << name;
    EXPECT_TRUE(imported.ok() || !kept.contains(name)) << line;
    if (!imported.ok() || imported->source.format == "tensorflow-nodes") continue;  // lists of names have tests of their own
    EXPECT_TRUE(kept.contains(name) && kept.at(name) == line) << line;
    EXPECT_EQ(imported->source.read, imported->source.kept + imported->source.dropped) << name;
    std::set<std::string> names;
    for (const model::Operator& op : imported->operators) EXPECT_TRUE(names.insert(op.name).second) << name << ": " << op.name;
  }
}
