// Texts with one mistake each, as people make them, and the message that answers each: tests/cases/errors/NAME.hlo and NAME.txt.
// PROFILE_UPDATE=1 writes the messages anew; read what changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "importers/hlo/hlo.h"
#include "src/base/file.h"

namespace {

const std::string kFolder = SOURCE_DIR "/tests/cases/errors/";

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".hlo") found.push_back(entry.path().stem().string());
  }
  std::ranges::sort(found);
  return found;
}

/// What is said of a text that is no program; of one that is no HLO at all: why.
std::string answer(const importers::Input& input) {
  const importers::Match match = importers::hlo::match(input);
  if (match.how == importers::Match::none && !input.bytes.empty()) return input.path + ":1:1: " + match.reason;
  const auto imported = importers::hlo::read(input);
  EXPECT_FALSE(imported.ok());
  return imported.ok() ? "" : imported.error().message;
}

class Mistake : public testing::TestWithParam<std::string> {};

TEST_P(Mistake, IsAnsweredByTheMessageBesideIt) {
  const auto text = base::read_file(kFolder + GetParam() + ".hlo");
  ASSERT_TRUE(text.ok()) << text.error().message;
  const std::string message = answer({GetParam() + ".hlo", *text}) + "\n", path = kFolder + GetParam() + ".txt";
  if (std::getenv("PROFILE_UPDATE") != nullptr) {
    ASSERT_TRUE(base::write_file(path, message).ok());
  }
  const auto expected = base::read_file(path);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  EXPECT_EQ(message, *expected);
}

INSTANTIATE_TEST_SUITE_P(Errors, Mistake, testing::ValuesIn(names()), [](const auto& info) { return info.param; });

}  // namespace
