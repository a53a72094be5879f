// Whatever a path leads to: bytes, or one line that names it safely and says what to do.
#include "src/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace base {
namespace {

class File : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("file_test." + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string put(const std::string& name, const std::string& bytes) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::filesystem::path folder_;
};

TEST_F(File, GivesAllBytes) {
  const std::string bytes("a\0b\n\xff", 5);
  EXPECT_EQ(*read_file(put("bytes", bytes)), bytes);
  EXPECT_EQ(*read_file(put("none", "")), "");
}

TEST_F(File, OfExactlyTheLimitIsReadAndOneByteMoreIsAnError) {
  const std::string path = put("ten", "0123456789");
  EXPECT_TRUE(read_file(path, 10).ok());
  EXPECT_EQ(read_file(path, 9).error().message, path + ": has more than 9 B; split it");
}

TEST_F(File, WhoseSizeIsNotKnownBeforeIsLimitedToo) {
  const std::string path = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  if (const pid_t child = fork(); child == 0) {
    std::ofstream(path) << std::string(200'000, 'x');
    _exit(0);
  }
  EXPECT_EQ(read_file(path, 150'000).error().message, path + ": has more than 150 kB; split it");
}

TEST_F(File, ThatIsLargerThanTheDiskIsNotAllocated) {
  const std::string path = put("sparse", "");
  std::error_code failed;
  std::filesystem::resize_file(path, uintmax_t{1} << 42, failed);
  if (failed) GTEST_SKIP() << "this file system makes no file of 4 TB: " << failed.message();
  EXPECT_EQ(read_file(path).error().message, path + ": has more than 4.29 GB; split it");
}

TEST_F(File, ThatIsNoneIsAnError) {
  EXPECT_EQ(read_file("/dev/zero").error().message, "/dev/zero: is a device; give a file");
  EXPECT_EQ(read_file(folder_.string()).error().message, folder_.string() + ": is a directory; give the files in it");
  EXPECT_EQ(read_file("no\x1b[31m\nfile").error().message, "no\\x1b[31m\\nfile: cannot open: No such file or directory; check the path");
}

TEST_F(File, IsCheckedWithTheMessagesOfReading) {
  for (const std::string& path : {folder_.string(), std::string("nofile")}) {
    EXPECT_EQ(check_readable(path).error().message, read_file(path).error().message);
  }
  EXPECT_TRUE(check_readable(put("bytes", "x")).ok());
}

TEST_F(File, KeepsItsOldBytesWhereTheNewOnesCannotBeWritten) {
  EXPECT_TRUE(write_file((folder_ / "new").string(), "x").ok());
  EXPECT_EQ(*read_file((folder_ / "new").string()), "x");
  EXPECT_FALSE(write_file((folder_ / "no" / "new").string(), "x").ok());
}

}  // namespace
}  // namespace base
