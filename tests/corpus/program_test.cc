// The corpus program judges itself: crashes, hangs and memory become rows, a list of differences that no longer holds is reported, reasons
// are grouped.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/corpus/apart.h"
#include "tests/corpus/differences.h"
#include "tests/corpus/table.h"

namespace corpus {
namespace {

void say(int to, std::string_view what) { EXPECT_EQ(write(to, what.data(), what.size()), static_cast<ssize_t>(what.size())); }

TEST(Corpus, ChildrenMayCrashOrHangWithoutTheOthersNoticing) {
  std::vector<Ended> ended(4);
  const Limits limits{.seconds = 1, .memory_bytes = 0};
  run_apart(
      4, 2, limits,
      [](size_t i, int to) {
        say(to, "began");
        if (i == 1) raise(SIGSEGV);
        for (volatile int forever = 1; i == 2 && forever != 0;) continue;
      },
      [&](size_t i, const Ended& end) { ended[i] = end; });
  for (const Ended& end : ended) EXPECT_EQ(end.output, "began");
  EXPECT_EQ(ended[0].signal, 0);
  EXPECT_EQ(ended[1].signal, SIGSEGV);
  EXPECT_TRUE(ended[2].timed_out);
  EXPECT_FALSE(ended[3].timed_out);
}

Row row(const char* file, const char* device, Stage stage, Kind kind, const char* reason = "") {
  Row made;
  made.file = file, made.device = device, made.stage = stage, made.kind = kind, made.reason = reason;
  return made;
}

TEST(Corpus, ADifferenceThatNoLongerHoldsIsStale) {
  const std::string path = std::filesystem::temp_directory_path() / ("differences." + std::to_string(getpid()));
  std::ofstream(path) << "# device file kind reason\nboth\ta/x.hlo\tdiffers\tties\ncpu\ta/y.hlo\trefused\tlater\n";
  auto differences = Differences::read(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(differences.ok()) << differences.error().message;
  Row explained = row("a/x.hlo", "reference", Stage::compare, Kind::differs), agrees = row("a/y.hlo", "cpu", Stage::equal, Kind::none),
      crash = row("a/x.hlo", "cpu", Stage::replay, Kind::crash);
  for (Row* each : {&explained, &agrees, &crash}) differences->explain(*each);
  EXPECT_EQ(explained.explained, "ties");
  EXPECT_EQ(crash.explained, "");  // it is listed as another kind of failure
  EXPECT_EQ(differences->stale(), (std::vector<std::string>{"cpu a/x.hlo: listed as differs", "cpu a/y.hlo: listed as refused"}));
}

TEST(Corpus, ALineWithoutAReasonIsAnError) {
  const std::string path = std::filesystem::temp_directory_path() / ("differences." + std::to_string(getpid()));
  std::ofstream(path) << "both\ta/x.hlo\tdiffers\n";
  const auto differences = Differences::read(path);
  std::filesystem::remove(path);
  ASSERT_FALSE(differences.ok());
  EXPECT_NE(differences.error().message.find(":1: expected device, file, kind, reason"), std::string::npos) << differences.error().message;
}

TEST(Corpus, TheTableCountsStagesByDirectoryAndReasonsByPattern) {
  const std::vector<Row> rows = {row("a/x.hlo", "cpu", Stage::equal, Kind::none),
                                 row("a/y.hlo", "cpu", Stage::compare, Kind::differs, "[3] 1.5 for 2: 0.25 > 1e-05"),
                                 row("b/z.hlo", "cpu", Stage::compare, Kind::differs, "[7] -4 for 9: 3 > 0.016"),
                                 row("b/w.hlo", "cpu", Stage::plan, Kind::refused, "custom-call nobody")};
  const std::string printed = table(rows, "cpu");
  EXPECT_NE(printed.find("| a | 2 | 2 | 2 | 2 | 2 | 2 | 1 | 0 | 1 | 0 | 0 | 0 |"), std::string::npos) << printed;
  EXPECT_NE(printed.find("| **all** | 4 | 4 | 4 | 4 | 3 | 3 | 1 | 0 | 2 | 1 | 0 | 0 |"), std::string::npos) << printed;
  const std::string why = reasons(rows, "cpu", 10);
  EXPECT_NE(why.find("    2  differs"), std::string::npos) << why;
  EXPECT_NE(why.find("    1  refused"), std::string::npos) << why;
}

}  // namespace
}  // namespace corpus
