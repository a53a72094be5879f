// gzip and zstd are unpacked whatever their members and frames; damage, cuts and bombs end in an error that says so.
#include "src/base/decompress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "src/base/file.h"

namespace {

/// `text` through a command of the system.
std::string packed(const std::string& command, const std::string& text) {
  const std::string of = testing::TempDir() + "/decompress" + std::to_string(::getpid());  // tests run at the same time
  const std::string in = of + ".txt", out = of + ".packed";
  EXPECT_TRUE(base::write_file(in, text).ok());
  EXPECT_EQ(std::system((command + " < '" + in + "' > '" + out + "'").c_str()), 0);
  const std::string result = *base::read_file(out);
  for (const std::string& file : {in, out}) std::remove(file.c_str());
  return result;
}

const std::string kText = [] {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "line " + std::to_string(i * 7919 % 100003) + "\n";
  return text;
}();

class Decompress : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::system((std::string("command -v ") + GetParam() + " > /dev/null").c_str()) != 0) GTEST_SKIP() << "no " << GetParam();
  }
  std::string command() const { return std::string(GetParam()) + " -c"; }
};

TEST_P(Decompress, GivesTheTextBack) {
  const auto text = base::decompressed(packed(command(), kText), "x");
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(*text, kText);
  EXPECT_EQ(*base::decompressed(packed(command(), ""), "x"), "");
}

TEST_P(Decompress, ReadsAllMembers) {
  const std::string one = packed(command(), "one\n"), two = packed(command(), "two\n");
  EXPECT_EQ(*base::decompressed(one + two, "x"), "one\ntwo\n");
}

TEST_P(Decompress, ACutOrDamagedFileIsSaid) {
  const std::string whole = packed(command(), kText);
  for (size_t size = 8; size < whole.size(); size += whole.size() / 97) {
    const auto cut = base::decompressed(whole.substr(0, size), "x.gz");
    ASSERT_FALSE(cut.ok()) << size;
    EXPECT_NE(cut.error().message.find("cut after"), std::string::npos) << cut.error().message;
  }
  std::string damaged = whole;
  for (size_t i = whole.size() / 2; i < whole.size() / 2 + 64; ++i) damaged[i] = static_cast<char>(~damaged[i]);
  EXPECT_FALSE(base::decompressed(damaged, "x").ok());
  EXPECT_FALSE(base::decompressed(whole + "more", "x").ok());
}

TEST_P(Decompress, ABombEndsAtTheLimitThatTheErrorNames) {
  const std::string bomb = packed(command(), std::string(size_t{8} << 20, '0'));
  const auto text = base::decompressed(bomb, "bomb", {.ratio = 10, .floor_bytes = 1 << 20, .most_bytes = 4 << 20});
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("bomb: unpacks to more than 1.05 MB, the limit for " + std::to_string(bomb.size())),
            std::string::npos)
      << text.error().message;
  EXPECT_TRUE(base::decompressed(bomb, "x", {.ratio = 10, .floor_bytes = 8 << 20, .most_bytes = 8 << 20}).ok()) << "exactly the limit";
  EXPECT_FALSE(base::decompressed(bomb, "x", {.ratio = 10, .floor_bytes = (8 << 20) - 1, .most_bytes = 8 << 20}).ok());
}

INSTANTIATE_TEST_SUITE_P(, Decompress, testing::Values("gzip", "zstd"), [](const auto& info) { return std::string(info.param); });

TEST(Compression, IsToldByTheFirstBytes) {
  EXPECT_EQ(base::compression_of("HloModule m"), "");
  EXPECT_EQ(base::compression_of("\x1f\x8b\x08"), "gzip");
  EXPECT_EQ(*base::decompressed("plain", "x"), "plain");
}

TEST(Compression, TheLimitGrowsWithTheFile) {
  const base::UnpackLimit limit;
  EXPECT_EQ(limit.of(1000), size_t{64} << 20);
  EXPECT_EQ(limit.of(1000000), 300000000u);
  EXPECT_EQ(limit.of(size_t{1} << 40), size_t{4} << 30);
}

}  // namespace
