// The schema explains itself, runs in the sqlite3 shell, and older files are brought up without a loss.
#include "src/model/schema.h"

#include <cstdlib>
#include <regex>
#include <sstream>

#include "src/model/checks.h"
#include "tests/unit/model/fixture.h"

namespace model {
namespace {

class Schema : public StoreTest {};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_F(Schema, EveryTableAndViewHasASentenceAboveIt) {
  const auto lines = lines_of(schema());
  int found = 0;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (!lines[i].starts_with("CREATE TABLE") && !lines[i].starts_with("CREATE VIEW")) continue;
    EXPECT_TRUE(lines[i - 1].starts_with("-- ")) << lines[i];
    ++found;
  }
  EXPECT_EQ(found, 26 + 13);
}

TEST_F(Schema, EveryColumnHasAComment) {
  bool inside_table = false;
  for (const std::string& line : lines_of(schema())) {
    if (line.starts_with("CREATE TABLE")) inside_table = true;
    if (line.starts_with(")")) inside_table = false;
    const bool column = inside_table && std::regex_search(line, std::regex(R"(^  ["a-z0-9_]+ +(INTEGER|REAL|TEXT|BLOB))"));
    const bool output = std::regex_search(line, std::regex(R"(^  (?!SELECT|FROM)\S.* AS [a-z0-9_]+(,| +--))"));
    const bool commented = line.find(" -- ") != std::string::npos || line.find("  --") != std::string::npos;
    EXPECT_TRUE(commented || !(column || output)) << line;
  }
}

TEST_F(Schema, TablesAreStrict) {
  ASSERT_TRUE(Store::open(path(), OpenMode::append).ok());
  EXPECT_EQ(ask(path(),
                "SELECT group_concat(name) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name <> "
                "'sqlite_schema'"),
            "NULL");
  EXPECT_EQ(ask(path(), "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version)"),
            std::to_string(kApplicationId) + "|" + std::to_string(kSchemaVersion));
}

TEST_F(Schema, EveryViewRunsInTheShell) {
  if (std::system("command -v sqlite3 > /dev/null") != 0) GTEST_SKIP() << "there is no sqlite3 shell";
  ASSERT_TRUE(Store::open(path(), OpenMode::append).ok());
  const auto reader = Reader::open(path());
  const auto views = reader->query("SELECT name FROM sqlite_schema WHERE type = 'view'");
  ASSERT_EQ(views->rows.size(), 13u);
  for (const auto& row : views->rows) {
    EXPECT_EQ(std::system(("sqlite3 -readonly -bail '" + path() + "' 'SELECT * FROM " + row[0].text + "'").c_str()), 0) << row[0].text;
  }
}

constexpr std::string_view kOld =
    "CREATE TABLE run (id INTEGER PRIMARY KEY, length INTEGER NOT NULL) STRICT; CREATE VIEW run_time AS SELECT length AS length FROM run;"
    "INSERT INTO run VALUES (1, 10), (2, 20);";
constexpr std::string_view kNew =
    "CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, length_ns INTEGER NOT NULL, status TEXT NOT NULL DEFAULT 'complete') STRICT;"
    "CREATE TABLE IF NOT EXISTS note (text TEXT) STRICT;"
    "CREATE VIEW IF NOT EXISTS run_time AS SELECT length_ns AS length, status AS status FROM run;";
constexpr Migration kSteps[] = {{1, "ALTER TABLE run RENAME COLUMN length TO length_ns"},
                                {2, "ALTER TABLE run ADD COLUMN status TEXT NOT NULL DEFAULT 'complete'"}};

Database old_store(const std::string& path) {
  auto database = Database::open(path, Database::Access::write, std::chrono::milliseconds(0));
  EXPECT_TRUE(
      database->execute(std::string(kOld) + "PRAGMA user_version = 1; PRAGMA application_id = " + std::to_string(kApplicationId)).ok());
  return *std::move(database);
}

TEST_F(Schema, MigrationsKeepRowsAndMakeViewsAnew) {
  Database database = old_store(path());
  const base::Status done = prepare_schema(database, kNew, kSteps, 3);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(*database.integer("SELECT sum(length) FROM run_time WHERE status = 'complete'"), 30);
  EXPECT_EQ(*database.integer("SELECT count(*) FROM note"), 0);
  EXPECT_EQ(*database.integer("PRAGMA user_version"), 3);
}

TEST_F(Schema, AFailedMigrationChangesNothing) {
  Database database = old_store(path());
  constexpr Migration kBroken[] = {kSteps[0], {2, "ALTER TABLE nothing ADD COLUMN x TEXT"}};
  EXPECT_FALSE(prepare_schema(database, kNew, kBroken, 3).ok());
  EXPECT_EQ(*database.integer("PRAGMA user_version"), 1);
  EXPECT_EQ(*database.integer("SELECT sum(length) FROM run_time"), 30);
}

TEST_F(Schema, AVersionWithoutAMigrationIsTold) {
  Database database = old_store(path());
  const base::Status done = prepare_schema(database, kNew, std::span(kSteps).subspan(1), 3);
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().message.find("schema 1 is too old for this version of profile"), std::string::npos);
}

TEST_F(Schema, OfThisVersionIsLeftAlone) {
  ASSERT_TRUE(Store::open(path(), OpenMode::append).ok());
  const std::string before = ask(path(), "SELECT schema_version FROM pragma_schema_version");
  ASSERT_TRUE(Store::open(path(), OpenMode::append).ok());
  EXPECT_EQ(ask(path(), "SELECT schema_version FROM pragma_schema_version"), before);
}

}  // namespace
}  // namespace model
