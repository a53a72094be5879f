// Every file of the corpus: what it gives, against the table that is kept in tests/corpus/paddle.tsv. Where they differ for a good reason,
// PROFILE_UPDATE=1 writes the table anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "importers/paddle/paddle.h"
#include "src/base/file.h"
#include "tests/unit/paddle/run.h"

namespace importers::paddle {
namespace {

constexpr std::string_view kTableHead = "file\tread\tkept\tdropped\tmodules\toperators\tlowered\tnotes\n";

std::string notes_of(const model::Imported& imported) {
  std::map<std::string, int> counts;
  for (const model::Note& note : imported.notes) ++counts[note.code];
  std::string text;
  for (const auto& [code, n] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, code);
  return text.empty() ? "-" : text;
}

/// Accounts of one file, or where and why it is refused.
std::string row(const std::string& name, const std::string& text) {
  const auto result = keep_modules(Input{name, text}, [](const Input& in, const TakeModule& take) { return read(in, take); });
  if (!result.ok()) {
    const std::string& message = result.error().message;
    return fmt::format("{}\trefused: {}\n", name, message.substr(0, message.find('\n')));
  }
  EXPECT_EQ(result->source.read, result->source.kept + result->source.dropped) << name;
  size_t operators = result->operators.size();
  for (const auto& of_module : result->module_operators) operators += of_module.size();
  const auto lost = static_cast<size_t>(std::ranges::count(result->notes, "not-lowered", &model::Note::code));
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", name, result->source.read, result->source.kept, result->source.dropped,
                     result->source.modules, operators, operators - lost, notes_of(*result));
}

TEST(Corpus, GivesWhatTheTableSays) {
  const std::filesystem::path folder = shared_folder() + "/corpus/paddle";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no corpus at " << folder;
  std::map<std::string, std::string> rows;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = std::filesystem::relative(entry.path(), folder).string();
    if (!entry.is_regular_file() || name.ends_with("manifest.tsv") || name.ends_with("README.md")) continue;
    const auto text = base::read_file(entry.path().string());
    ASSERT_TRUE(text.ok());
    rows[name] = row(name, *text);
  }
  std::string table(kTableHead);
  for (const auto& [name, line] : rows) table += line;
  std::printf("%s", table.c_str());
  const std::string kept = SOURCE_DIR "/tests/corpus/paddle.tsv";
  if (std::getenv("PROFILE_UPDATE") != nullptr) {
    ASSERT_TRUE(base::write_file(kept, table).ok());
  }
  const auto expected = base::read_file(kept);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  EXPECT_EQ(table, *expected);
}

}  // namespace
}  // namespace importers::paddle
