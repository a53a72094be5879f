// A writer that is killed: whatever it had reported as saved is there, and nothing half.
#include <signal.h>
#include <sys/wait.h>

#include <random>

#include "src/model/checks.h"
#include "tests/unit/model/fixture.h"

namespace model {
namespace {

class Kill : public StoreTest {
 protected:
  /// Imports, runs and saves passes; a byte goes down the pipe for each step that was reported as done.
  void write_until_killed(int report) {
    auto store = Store::open(path(), OpenMode::append);
    if (!store.ok()) ::_exit(1);
    const auto tell = [&](char what) {
      if (::write(report, &what, 1) != 1) ::_exit(1);
    };
    const auto ids = store->add(imported(kProgram));
    if (!ids.ok()) ::_exit(1);
    tell('i');
    const auto run = store->begin(tiny_run(*ids));
    if (!run.ok()) ::_exit(1);
    tell('r');
    for (int32_t pass = 0; pass < 100'000; ++pass) {
      if (!store->add(*run, {pass, 10'000 * int64_t{pass}, 10'000 * int64_t{pass} + 9'000}, tiny_samples(pass)).ok()) ::_exit(1);
      tell('p');
    }
    ::_exit(0);
  }

  struct Reported {
    int imports = 0, runs = 0, passes = 0;
  };

  /// Kills the writer `wait` after it has reported `count` steps.
  Reported kill_after(int count, std::chrono::microseconds wait) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      write_until_killed(ends[1]);
    }
    ::close(ends[1]);
    Reported reported;
    const auto read_one = [&] {
      char what = 0;
      if (::read(ends[0], &what, 1) != 1) return false;
      ++(what == 'i' ? reported.imports : what == 'r' ? reported.runs : reported.passes);
      return true;
    };
    for (int i = 0; i < count && read_one(); ++i) {}
    ::usleep(static_cast<useconds_t>(wait.count()));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (read_one()) {}
    ::close(ends[0]);
    return reported;
  }
};

TEST_F(Kill, LosesNothingThatWasReported) {
  std::mt19937 random(11);
  int with_passes = 0;
  for (int moment = 0; moment < 50; ++moment) {
    std::filesystem::remove_all(std::filesystem::path(path()).parent_path());
    std::filesystem::create_directories(std::filesystem::path(path()).parent_path());
    const Reported reported = kill_after(moment / 2, std::chrono::microseconds(random() % (moment < 10 ? 20'000 : 500)));
    with_passes += reported.passes > 0;
    if (reported.imports == 0) continue;
    const auto reader = Reader::open(path());
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    EXPECT_EQ(ask(*reader, "PRAGMA integrity_check"), "ok");
    EXPECT_EQ(ask(*reader, "SELECT min(balanced), min(stored = kept) FROM import_account"), "1|1");
    EXPECT_GE(std::stoi(ask(*reader, "SELECT count(*) FROM run")), reported.runs);
    EXPECT_GE(std::stoi(ask(*reader, "SELECT count(*) FROM pass")), reported.passes);
    EXPECT_EQ(
        ask(*reader, "SELECT count(*) FROM pass p WHERE (SELECT count(*) FROM sample s WHERE s.run = p.run AND s.pass = p.pass) <> 2"),
        "0");
  }
  EXPECT_GE(with_passes, 30);
}

TEST_F(Kill, EarlyLeavesAFileThatTheNextWriterTakesOver) {
  for (int moment = 0; moment < 20; ++moment) {
    kill_after(0, std::chrono::microseconds(500 * moment));
    auto store = Store::open(path(), OpenMode::append);
    ASSERT_TRUE(store.ok()) << store.error().message;
    ASSERT_TRUE(store->add(imported(kProgram)).ok());
  }
}

TEST_F(Kill, MakesTheRunInterruptedAtTheNextWritersOpen) {
  const Reported reported = kill_after(20, std::chrono::microseconds(0));
  ASSERT_GT(reported.passes, 0);
  EXPECT_EQ(ask(path(), "SELECT status FROM run"), "running");
  ASSERT_TRUE(Store::open(path(), OpenMode::append).ok());
  EXPECT_EQ(ask(path(), "SELECT status, finished_unix_ns IS NULL FROM run"), "interrupted|1");
  EXPECT_EQ(ask(path(), "SELECT count(*) FROM top WHERE median_ns > 0"), "2");
  EXPECT_GT(std::stoi(ask(path(), "SELECT count(*) FROM slice_level")), 0);
}

TEST_F(Kill, LeavesAWriterThatIsDeadBeforeAnybodyHasAskedForItsStatus) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string writer = this_writer();
    ::_exit(::write(ends[1], writer.data(), writer.size()) == static_cast<ssize_t>(writer.size()) ? 0 : 1);
  }
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);  // from here on it is a zombie
  std::string writer(200, '\0');
  writer.resize(static_cast<size_t>(::read(ends[0], writer.data(), writer.size())));
  EXPECT_FALSE(writer_lives(writer)) << writer;
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]), ::close(ends[1]);
  EXPECT_TRUE(writer_lives(this_writer()));
}

TEST_F(Kill, DoesNotTakeALivingRunForDead) {
  auto first = Store::open(path(), OpenMode::append);
  const auto ids = first->add(imported(kProgram));
  ASSERT_TRUE(first->begin(tiny_run(*ids)).ok());
  ASSERT_TRUE(Store::open(path(), OpenMode::append).ok());
  EXPECT_EQ(ask(path(), "SELECT status FROM run"), "running");
}

}  // namespace
}  // namespace model
