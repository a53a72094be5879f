// Whatever a path holds: one line that names the file and says what to do.
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <functional>
#include <random>

#include "src/model/checks.h"
#include "src/model/database.h"
#include "src/model/schema.h"
#include "tests/unit/model/fixture.h"

namespace model {
namespace {

using std::chrono::milliseconds;

class Errors : public StoreTest {
 protected:
  void make_store(const std::string& file) {
    auto store = Store::open(file, OpenMode::append);
    const auto ids = store->add(imported(kProgram));
    const auto run = store->begin(tiny_run(*ids));
    ASSERT_TRUE(store->add(*run, {0, 0, 9'000}, tiny_samples(0)).ok());
    ASSERT_TRUE(store->finish(*run, RunStatus::complete, {}).ok());
  }
  static std::string reading(const std::string& file) {
    const auto reader = Reader::open(file);
    return reader.ok() ? "" : reader.error().message;
  }
  static std::string writing(const std::string& file, OpenMode mode = OpenMode::append) {
    const auto store = Store::open(file, mode, milliseconds(50));
    return store.ok() ? "" : store.error().message;
  }
  static void sql(const std::string& file, std::string_view statements) {
    auto database = Database::open(file, Database::Access::write, milliseconds(0));
    const base::Status done = database->execute(statements);
    ASSERT_TRUE(done.ok()) << done.error().message;
  }
  /// Runs `body` as a user who may not do everything; true if it returned true.
  static bool as_nobody(const std::function<bool()>& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::geteuid() != 0 || (::setgid(65534) == 0 && ::setuid(65534) == 0) ? (body() ? 0 : 1) : 2);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
};

bool says(const std::string& message, std::string_view what) {
  return message.find(what) != std::string::npos && message.find('\n') == std::string::npos;
}
#define EXPECT_SAYS(message, what) EXPECT_PRED2(says, message, what)

TEST_F(Errors, AMissingFile) { EXPECT_SAYS(reading(path()), "run.db: there is no such file; check the path, or make it"); }

TEST_F(Errors, AMissingFolder) { EXPECT_SAYS(writing(path("no/run.db")), "no/run.db: cannot be opened"); }

TEST_F(Errors, ADirectory) {
  std::filesystem::create_directory(path());
  EXPECT_SAYS(reading(path()), "run.db: is a directory; give a file in it");
  EXPECT_SAYS(writing(path()), "run.db: is a directory");
  EXPECT_SAYS(writing(path(), OpenMode::fresh), "run.db: is a directory");
  EXPECT_TRUE(std::filesystem::is_directory(path()));
}

TEST_F(Errors, ADevice) { EXPECT_SAYS(reading("/dev/null"), "/dev/null: is not a regular file"); }

TEST_F(Errors, AnEmptyFileIsNothingToReadButCanBeWritten) {
  write(path(), "");
  EXPECT_SAYS(reading(path()), "run.db: is empty, nothing was saved in it");
  EXPECT_EQ(writing(path()), "");
  EXPECT_EQ(reading(path()), "");
}

TEST_F(Errors, SomethingElseThanADatabase) {
  write(path(), "HloModule m\n");
  EXPECT_SAYS(reading(path()), "run.db: is not a database; give a file that profile has made");
  EXPECT_SAYS(writing(path()), "run.db: is not a database");
  EXPECT_SAYS(writing(path(), OpenMode::fresh), "run.db: is not a database");
  EXPECT_EQ(bytes_of(path()), "HloModule m\n");
}

TEST_F(Errors, ADatabaseOfAnotherApplicationIsLeftAsItWas) {
  sql(path(), "CREATE TABLE bookmark (url TEXT); INSERT INTO bookmark VALUES ('x')");
  const std::string before = bytes_of(path());
  EXPECT_SAYS(reading(path()), "run.db: is a database of another application; choose another file with -o");
  EXPECT_SAYS(writing(path()), "run.db: is a database of another application");
  EXPECT_SAYS(writing(path(), OpenMode::fresh), "run.db: is a database of another application");
  EXPECT_EQ(bytes_of(path()), before);
}

TEST_F(Errors, ANewerVersion) {
  make_store(path());
  sql(path(), "PRAGMA user_version = 99");
  EXPECT_SAYS(reading(path()), "run.db: was made by a newer version of profile (schema 99, this one knows " +
                                   std::to_string(kSchemaVersion) + "); update profile");
  EXPECT_SAYS(writing(path()), "run.db: was made by a newer version");
}

TEST_F(Errors, AnOlderVersionThatLacksAView) {
  make_store(path());
  sql(path(), "DROP VIEW top; PRAGMA user_version = 6");
  const auto reader = Reader::open(path());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  const auto rows = reader->query("SELECT * FROM top");
  ASSERT_FALSE(rows.ok());
  EXPECT_NE(rows.error().message.find("no such table: top"), std::string::npos) << rows.error().message;
  EXPECT_NE(rows.error().message.find("was made by an older version of profile (schema 6, this one makes " +
                                      std::to_string(kSchemaVersion) + "); `profile upgrade "),
            std::string::npos)
      << rows.error().message;
  EXPECT_TRUE(reader->query("SELECT count(*) FROM run").ok()) << "what is there can be read";
}

TEST_F(Errors, FreshReplacesAFileOfOurs) {
  make_store(path());
  EXPECT_EQ(writing(path(), OpenMode::fresh), "");
  EXPECT_EQ(ask(path(), "SELECT count(*) FROM run"), "0");
}

TEST_F(Errors, FreshDoesNotReplaceARunInProgress) {
  make_store(path());
  const pid_t child = ::fork();
  if (child == 0) {
    while (true) ::pause();
  }
  // The writer is a process that is there and is not this one.
  const std::string stat = bytes_of("/proc/" + std::to_string(child) + "/stat");
  size_t at = stat.rfind(')');
  for (int field = 2; field < 22; ++field) at = stat.find(' ', at + 1);
  const std::string boot = this_writer().substr(0, this_writer().find(' '));
  sql(path(), "UPDATE run SET status = 'running', writer = '" + boot + " " + std::to_string(child) +
                  stat.substr(at, stat.find(' ', at + 1) - at) + "'");
  EXPECT_SAYS(writing(path(), OpenMode::fresh),
              "run.db: another process is writing it; wait until it ends, or choose another file with -o");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(writing(path(), OpenMode::fresh), "");
}

TEST_F(Errors, ASecondProcessThatWrites) {
  make_store(path());
  auto other = Database::open(path(), Database::Access::write, milliseconds(0));
  ASSERT_TRUE(other->execute("PRAGMA journal_mode = WAL").ok());
  auto store = Store::open(path(), OpenMode::append, milliseconds(50));
  ASSERT_TRUE(store.ok());
  const auto transaction = Transaction::begin(*other);
  ASSERT_TRUE(transaction.ok());
  const auto added = store->add(imported(kProgram));
  ASSERT_FALSE(added.ok());
  EXPECT_SAYS(added.error().message,
              "run.db: another process is writing it (database is locked); wait until it ends, or choose another file with -o");
  EXPECT_SAYS(writing(path()), "run.db: another process is writing it");
}

TEST_F(Errors, AFileThatWasCutShort) {
  make_store(path());
  const std::string whole = bytes_of(path());
  for (const size_t size : {size_t{5'000}, whole.size() / 2, whole.size() - 1}) {
    write(path("cut.db"), whole.substr(0, size));
    EXPECT_SAYS(reading(path("cut.db")), "cut.db: is damaged");
    EXPECT_SAYS(writing(path("cut.db")), "cut.db: is damaged");
  }
  write(path("cut.db"), whole.substr(0, 50));
  EXPECT_SAYS(reading(path("cut.db")), "cut.db: is damaged: its end is missing");
}

TEST_F(Errors, FlippedBytesNeverCrash) {
  make_store(path());
  const std::string whole = bytes_of(path());
  std::mt19937 random(3);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 20; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    write(path("bad.db"), bytes);
    const auto reader = Reader::open(path("bad.db"));
    bool failed = !reader.ok();
    for (const char* view : {"top", "program", "op_time", "layer_time", "memory", "fusion_cost"}) {
      if (failed) break;
      failed = !reader->query(std::string("SELECT * FROM ") + view).ok();
    }
    if (reader.ok()) static_cast<void>(reader->module_text(1));
    refused += failed;
  }
  EXPECT_GT(refused, 100);
}

TEST_F(Errors, DamageSaysWhatToDo) {
  make_store(path());
  std::string bytes = bytes_of(path());
  for (size_t i = 100; i < 4096; ++i) bytes[i] = '\x5a';
  write(path(), bytes);
  EXPECT_SAYS(reading(path()), "run.db: is damaged (");
  EXPECT_SAYS(reading(path()), "replay again into a new file");
}

TEST_F(Errors, AReadOnlyFileCanBeReadButNotWritten) {
  make_store(path());
  std::filesystem::permissions(std::filesystem::path(path()).parent_path(), std::filesystem::perms(0555));
  std::filesystem::permissions(path(), std::filesystem::perms(0444));
  EXPECT_TRUE(as_nobody([&] { return says(writing(path()), "run.db: cannot be written"); }));
  EXPECT_TRUE(as_nobody([&] { return says(writing(path("new.db")), "new.db: cannot be opened"); }));
  EXPECT_TRUE(as_nobody([&] { return says(writing(path(), OpenMode::fresh), "run.db: cannot be replaced; make its folder writable"); }));
  EXPECT_TRUE(as_nobody([&] { return ask(path(), "SELECT count(*) FROM sample") == "2"; }));
  std::filesystem::permissions(path(), std::filesystem::perms(0000));
  EXPECT_TRUE(as_nobody([&] { return says(reading(path()), "run.db: cannot be opened: Permission denied"); }));
  std::filesystem::permissions(std::filesystem::path(path()).parent_path(), std::filesystem::perms(0755));
}

TEST_F(Errors, AFullDisk) {
  make_store(path());
  const std::string before = ask(path(), "SELECT count(*) FROM sample");
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    auto store = Store::open(path(), OpenMode::append);
    const rlimit limit{200'000, 200'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::vector<Sample> many(100'000);
    for (size_t i = 0; i < many.size(); ++i) many[i].step = static_cast<int32_t>(i);
    const base::Status added = store->add(1, {1, 0, 1}, many);
    const bool told = !added.ok() && says(added.error().message, "run.db: ") && says(added.error().message, "space");
    ::_exit(told ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(ask(path(), "SELECT count(*) FROM sample"), before);
}

TEST_F(Errors, ADatabaseThatMayNotGrowIsLikeAFullDisk) {
  auto database = Database::open(path(), Database::Access::write, milliseconds(0));
  ASSERT_TRUE(database->execute("CREATE TABLE t (x); PRAGMA max_page_count = 3").ok());
  const base::Status full = database->execute("INSERT INTO t VALUES (zeroblob(100000))");
  ASSERT_FALSE(full.ok());
  EXPECT_SAYS(full.error().message,
              "run.db: no space is left for it (database or disk is full); free some space, or choose another place with -o");
}

TEST_F(Errors, OfSqlShowThePlaceAndAreWrongUse) {
  make_store(path());
  const auto reader = Reader::open(path());
  const auto error_of = [&](std::string_view statement) { return reader->query(statement).error(); };
  EXPECT_EQ(error_of("SELECT * FROM tops").exit, base::Exit::wrong_use);
  EXPECT_NE(error_of("SELECT * FROM tops").message.find("no such table: tops; did you mean 'top'?"), std::string::npos);
  EXPECT_NE(error_of("SELECT * FROM pineapple").message.find("`profile schema` lists"), std::string::npos);
  EXPECT_NE(error_of("SELEC 1").message.find("syntax error"), std::string::npos);
  EXPECT_NE(error_of("SELECT 1; SELECT 2").message.find("a second statement; give one at a time"), std::string::npos);
  EXPECT_NE(error_of("  -- nothing").message.find("there is no statement"), std::string::npos);
  EXPECT_NE(error_of("DELETE FROM run").message.find("opens databases for reading only"), std::string::npos);
  EXPECT_NE(error_of("SELECT ?1").message.find("1 parameters in the statement, 0 given"), std::string::npos);
  EXPECT_EQ(ask(*reader, "SELECT 1; -- one\n /* two */ ;"), "1");
}

TEST_F(Errors, PathsMayHoldWhatUrisDoNot) {
  const std::string odd = path("a b?c#d%41.db");
  make_store(odd);
  EXPECT_TRUE(std::filesystem::exists(odd));
  EXPECT_EQ(ask(odd, "SELECT count(*) FROM run"), "1");
}

TEST_F(Errors, ParametersOfEveryKindComeBack) {
  make_store(path());
  const auto reader = Reader::open(path());
  using Kind = Cell::Kind;
  const std::vector<Cell> cells{
      {}, {Kind::integer, -5, 0, {}}, {Kind::real, 0, 0.5, {}}, {Kind::text, 0, 0, "a"}, {Kind::blob, 0, 0, std::string("\0b", 2)}};
  const auto rows = reader->query("SELECT ?1, ?2, ?3, ?4, ?5", cells);
  ASSERT_TRUE(rows.ok());
  for (size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(rows->rows[0][i].kind, cells[i].kind);
  EXPECT_EQ(rows->rows[0][4].text, cells[4].text);
}

}  // namespace
}  // namespace model
