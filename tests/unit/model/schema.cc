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
  EXPECT_EQ(found, 41 + 25);
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
  ASSERT_EQ(views->rows.size(), 25u);
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

/// What versions 4 to 12 changed, as version 3 had it: n = f(p, p), where f is a fusion and p a parameter.
constexpr std::string_view kVersion3 = R"(
  CREATE TABLE instruction (id INTEGER PRIMARY KEY, computation INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,
    opcode TEXT NOT NULL, kind TEXT NOT NULL, dtype TEXT NOT NULL, shape INTEGER NOT NULL, layout INTEGER NOT NULL,
    result_bytes INTEGER NOT NULL, op INTEGER, source_file INTEGER, source_line INTEGER, attributes TEXT) STRICT;
  CREATE TABLE operand (instruction INTEGER NOT NULL, position INTEGER NOT NULL, operand INTEGER NOT NULL, PRIMARY KEY (instruction, position))
    STRICT, WITHOUT ROWID;
  CREATE TABLE cost (instruction INTEGER NOT NULL, method TEXT NOT NULL, flops REAL NOT NULL, transcendentals REAL NOT NULL,
    bytes_read REAL NOT NULL, bytes_written REAL NOT NULL, known INTEGER NOT NULL, PRIMARY KEY (instruction, method)) STRICT, WITHOUT ROWID;
  CREATE TABLE op_instruction (instruction INTEGER NOT NULL, op INTEGER NOT NULL, share REAL NOT NULL, PRIMARY KEY (instruction, op))
    STRICT, WITHOUT ROWID;
  CREATE INDEX operand_users ON operand(operand);
  CREATE INDEX instruction_name ON instruction(name);
  CREATE INDEX op_instruction_of ON op_instruction(op);
  CREATE TABLE source (id INTEGER PRIMARY KEY, path TEXT NOT NULL, format TEXT NOT NULL, sha256 TEXT NOT NULL UNIQUE,
    bytes INTEGER NOT NULL, read INTEGER NOT NULL, kept INTEGER NOT NULL, dropped INTEGER NOT NULL) STRICT;
  CREATE TABLE module (id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source(id), position INTEGER NOT NULL, name TEXT NOT NULL,
    content INTEGER NOT NULL, entry INTEGER) STRICT;
  CREATE TABLE computation (id INTEGER PRIMARY KEY, module INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,
    first_instruction INTEGER NOT NULL, instructions INTEGER NOT NULL, root INTEGER) STRICT;
  CREATE TABLE string (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
  CREATE TABLE scope (id INTEGER PRIMARY KEY, module INTEGER NOT NULL REFERENCES module(id), parent INTEGER REFERENCES scope(id),
    depth INTEGER NOT NULL, name TEXT NOT NULL) STRICT;
  CREATE TABLE op (id INTEGER PRIMARY KEY, module INTEGER NOT NULL REFERENCES module(id), position INTEGER NOT NULL, type TEXT NOT NULL,
    name TEXT NOT NULL, short_name TEXT NOT NULL, scope INTEGER NOT NULL REFERENCES scope(id), phase TEXT NOT NULL) STRICT;
  CREATE TABLE device (id INTEGER PRIMARY KEY, name TEXT NOT NULL, model TEXT NOT NULL, driver TEXT NOT NULL, libraries TEXT NOT NULL,
    threads INTEGER NOT NULL, triad_bytes_per_s REAL, triad_streaming_bytes_per_s REAL, product_flops_per_s REAL) STRICT;
  CREATE TABLE device_product (device INTEGER NOT NULL REFERENCES device(id), operands TEXT NOT NULL, flops_per_s REAL NOT NULL,
    PRIMARY KEY (device, operands)) STRICT, WITHOUT ROWID;
  INSERT INTO device VALUES (8, 'cpu', 'a machine', '1', 'none', 2, 20e9, NULL, 200e9), (9, 'null', 'nothing', '', '', 1, NULL, NULL, NULL);
  INSERT INTO device_product VALUES (8, 'bf16×bf16→f32', 400e9), (8, 'f32×f32→f32', 1);
  CREATE TABLE run (id INTEGER PRIMARY KEY, module INTEGER REFERENCES module(id), device INTEGER, status TEXT NOT NULL, writer TEXT NOT NULL,
    started_unix_ns INTEGER NOT NULL, finished_unix_ns INTEGER, plan_ns INTEGER NOT NULL, compile_ns INTEGER NOT NULL,
    arena_bytes INTEGER NOT NULL, peak_bytes INTEGER NOT NULL, peak_step TEXT NOT NULL) STRICT;
  CREATE TABLE step (run INTEGER NOT NULL REFERENCES run(id), step INTEGER NOT NULL, name TEXT NOT NULL, computation TEXT NOT NULL,
    opcode TEXT NOT NULL, kind TEXT NOT NULL, class TEXT NOT NULL, key TEXT NOT NULL, why TEXT NOT NULL, precision TEXT NOT NULL,
    instruction INTEGER, trips REAL NOT NULL, flops REAL NOT NULL, bytes REAL NOT NULL, transcendentals REAL NOT NULL,
    saved_bytes REAL NOT NULL, worst_error REAL, verified_elements INTEGER NOT NULL, PRIMARY KEY (run, step)) STRICT, WITHOUT ROWID;
  CREATE TABLE sample (run INTEGER NOT NULL, pass INTEGER NOT NULL, step INTEGER NOT NULL, variant INTEGER NOT NULL,
    begin_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, executions INTEGER NOT NULL, PRIMARY KEY (run, pass, step, variant))
    STRICT, WITHOUT ROWID;
  INSERT INTO sample VALUES (1, 0, 0, 0, 5, 70, 2), (1, 1, 0, 0, 90, 60, 2);
  INSERT INTO source VALUES (3, 'f.hlo', 'hlo', 'abc', 9, 3, 3, 0);
  INSERT INTO module VALUES (4, 3, 0, 'm', 1, 5);
  INSERT INTO scope VALUES (1, 4, NULL, 0, 'net');
  INSERT INTO op VALUES (1, 4, 0, 'MatMul', 'net/a', 'net/a', 1, 'forward'), (2, 4, 1, '', 'net/b', 'net/b', 1, 'backward');
  INSERT INTO run VALUES (1, 4, 8, 'complete', 'w', 1, 2, 3, 4, 5, 6, 's');
  INSERT INTO step VALUES (1, 0, 'n', 'main', 'negate', '', 'kernel', 'k', '', 'f32', 13, 1, 2, 3, 0, 0, NULL, 0);
  INSERT INTO computation VALUES (5, 4, 0, 'main', 11, 3, 13);
  INSERT INTO string VALUES (1, 'f32[1]'), (2, '{0}'), (3, 'net.py'), (4, '');
  INSERT INTO instruction VALUES (11, 5, 0, 'p', 'parameter', '', 'f32', 1, 2, 4, NULL, NULL, NULL, NULL),
    (12, 5, 1, 'f', 'fusion', 'kLoop', 'f32', 1, 4, 4, 1, 3, 7, NULL), (13, 5, 2, 'n', 'negate', '', 'f32', 1, 2, 4, 2, 3, 7, NULL);
  INSERT INTO operand VALUES (12, 0, 11), (12, 1, 11), (13, 0, 12);
  INSERT INTO cost VALUES (12, 'xla', 3, 0, 8, 4, 1), (13, 'xla', 1, 0, 4, 4, 1);
  INSERT INTO op_instruction VALUES (12, 1, 0.25), (12, 2, 0.75), (13, 2, 1);
)";

TEST_F(Schema, OfVersion3IsBroughtUpWithAllItsRows) {
  {
    auto database = Database::open(path(), Database::Access::write, std::chrono::milliseconds(0));
    const std::string mark = "PRAGMA user_version = 3; PRAGMA application_id = " + std::to_string(kApplicationId);
    ASSERT_TRUE(database->execute(std::string(kVersion3) + mark).ok());
  }
  ASSERT_TRUE(Store::open(path(), OpenMode::append).ok());
  EXPECT_EQ(ask(path(), "SELECT instruction, position, operand FROM operand ORDER BY 1, 2"), "12|0|11 12|1|11 13|0|12");
  EXPECT_EQ(ask(path(), "SELECT instruction, user FROM instruction_user ORDER BY 1"), "11|12 12|13");
  EXPECT_EQ(ask(path(), "SELECT instruction, method, format('%g', flops) FROM cost ORDER BY 1"), "12|xla|3 13|xla|1");
  EXPECT_EQ(ask(path(), "SELECT instruction, op, format('%g', share) FROM op_instruction ORDER BY 1, 2"), "12|1|0.25 12|2|0.75 13|2|1");
  EXPECT_EQ(ask(path(), "SELECT position, name, dtype, shape, layout, result_bytes, source_file, source_line FROM program"),
            "0|p|f32|f32[1]|{0}|4|NULL|NULL 1|f|f32|f32[1]||4|net.py|7 2|n|f32|f32[1]|{0}|4|net.py|7");
  EXPECT_EQ(ask(path(), "SELECT (SELECT count(*) FROM shape), (SELECT count(*) FROM place), (SELECT count(*) FROM string)"), "2|1|1");
  EXPECT_EQ(ask(path(), "SELECT id, path, sha256, read, options FROM source"), "3|f.hlo|abc|3|");
  EXPECT_EQ(ask(path(), "SELECT o.id, o.source, o.type, o.name, s.name, o.type_from, o.launches FROM op o JOIN scope s ON s.id = o.scope"),
            "1|3|MatMul|net/a|net|given|device 2|3|NULL|net/b|net||device");
  EXPECT_EQ(ask(path(), "SELECT r.kind, r.source, t.op, t.flops FROM run r JOIN step_time t ON t.run = r.id"), "replay|NULL|2|2.000000");
  EXPECT_EQ(ask(path(), "SELECT pass, variant, round, begin_ns, duration_ns, executions FROM sample"), "0|0|0|5|70|2 1|0|0|90|60|2");
  EXPECT_EQ(ask(path(), "SELECT device, limits, name, provenance, format('%g', per_s) FROM ceiling"),
            "8|compute|bf16×bf16→f32|measured|4e+11 8|compute|f32×f32→f32|measured|2e+11 8|memory|triad|measured|2e+10");
  EXPECT_EQ(ask(path(), "SELECT format('%g', memory_bytes_per_s), format('%g', compute_flops_per_s) FROM run_ceiling"), "2e+10|2e+11");
  EXPECT_EQ(ask(path(), "SELECT name, threads FROM device"), "cpu|2 null|1");
  EXPECT_EQ(ask(path(), "SELECT * FROM pragma_foreign_key_check"), "");
  EXPECT_EQ(ask(path(), "SELECT count(*) FROM clocks"), "0");
  EXPECT_EQ(ask(path(), "SELECT count(*) FROM throttling"), "0");
  EXPECT_EQ(ask(path(), "SELECT (SELECT count(*) FROM counter), (SELECT count(*) FROM counter_value), (SELECT count(*) FROM step_counter)"),
            "0|0|0");
  EXPECT_EQ(ask(path(), "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name IN ('instruction', 'operand')"), "0");
}

TEST_F(Schema, OfVersion7TakesPredictedRunsOnceItIsBroughtUp) {
  {
    auto database = Database::open(path(), Database::Access::write, std::chrono::milliseconds(0));
    const std::string mark = "PRAGMA user_version = 3; PRAGMA application_id = " + std::to_string(kApplicationId);
    ASSERT_TRUE(database->execute(std::string(kVersion3) + "DROP TABLE device_product;" + mark).ok()) << "version 1 had no such table";
  }
  auto store = Store::open(path(), OpenMode::append);
  ASSERT_TRUE(store.ok()) << store.error().message;
  model::Run run;
  run.kind = RunKind::predicted;
  run.device.name = "h100";
  run.device.ceilings = {{CeilingRecord::Limits::memory, "memory", 3e12, CeilingRecord::Provenance::published, "a datasheet"}};
  ASSERT_TRUE(store->begin(run).ok());
  EXPECT_EQ(ask(path(), "SELECT id, kind FROM run"), "1|replay 2|predicted");
  EXPECT_EQ(
      ask(path(), "SELECT run, limits, name, measured_per_s, format('%g', published_per_s), published_in FROM run_limit WHERE run = 2"),
      "2|memory|memory|NULL|3e+12|a datasheet");
}

TEST_F(Schema, OfThisVersionIsLeftAlone) {
  ASSERT_TRUE(Store::open(path(), OpenMode::append).ok());
  const std::string before = ask(path(), "SELECT schema_version FROM pragma_schema_version");
  ASSERT_TRUE(Store::open(path(), OpenMode::append).ok());
  EXPECT_EQ(ask(path(), "SELECT schema_version FROM pragma_schema_version"), before);
}

}  // namespace
}  // namespace model
