// Every file of the TensorFlow corpus that is text of a graph, a log, or a profile: what is read of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "importers/importer.h"
#include "src/base/decompress.h"

namespace {

const std::filesystem::path kCorpus = SOURCE_DIR "/../shared/corpus/tf";

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
  for (const auto& path : files) {
    const auto bytes = base::read_unpacked_file(path.string());
    ASSERT_TRUE(bytes.ok());
    const auto imported = importers::import({path.string(), *bytes});
    const std::string name = path.filename().string();
    if (!imported.ok()) {
      fmt::print("{:52} refused: {}\n", name, imported.error().message.substr(0, 300));
      EXPECT_NE(imported.error().message.find(":1:1: "), std::string::npos);
      continue;
    }
    const model::Source& source = imported->source;
    size_t operators = imported->operators.size();
    for (const auto& of_module : imported->module_operators) operators += of_module.size();
    fmt::print("{:52} {:22} {:6} operators {:6} timings {:2} recordings {} modules {} {} = {} + {};{}\n", name, source.format, operators,
               timings_of(*imported), imported->recordings.size(), imported->modules.size(), source.read, source.records, source.kept,
               source.dropped, codes_of(*imported));
    EXPECT_EQ(source.read, source.kept + source.dropped) << name;
    std::set<std::string> names;
    for (const model::Operator& op : imported->operators) EXPECT_TRUE(names.insert(op.name).second) << name << ": " << op.name;
  }
}
