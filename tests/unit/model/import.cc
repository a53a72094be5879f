// What an import writes, and that it writes all or nothing.
#include "tests/unit/model/fixture.h"

#include <chrono>
#include <utility>

#include "src/ir/print.h"
#include "src/model/database.h"

namespace model {
namespace {

class Import : public StoreTest {
 protected:
  ImportIds add(std::string_view text = kProgram, const std::string& name = "tiny.hlo") {
    auto store = Store::open(path(), OpenMode::append);
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
    auto ids = store->add(imported(text, name));
    EXPECT_TRUE(ids.ok()) << (ids.ok() ? "" : ids.error().message);
    return *ids;
  }
};

TEST_F(Import, WritesInstructionsWithTheirNamesShapesAndPlaces) {
  add();
  EXPECT_EQ(ask(path(), "SELECT name, opcode, kind, dtype, shape, layout, result_bytes FROM program WHERE computation = 'main'"),
            "x|parameter||f32|f32[8,4]|{1,0}|128 f|fusion|kInput|f32|f32[8]|{0}|32 n|negate||f32|f32[8]|{0}|32");
  EXPECT_EQ(ask(path(), "SELECT op_type, op_name, source_file, source_line FROM program WHERE name = 'e'"),
            "Exp|model/layer_0/Exp|net.py|12");
}

TEST_F(Import, StagesOfAProgramAreLinkedByTheirNames) {
  add(kProgram, "d/module_0001.jit_f.before_optimizations.txt");
  add(std::string(kProgram) + "// 2", "d/module_0001.jit_f.sm_8.0_gpu_after_optimizations.txt");
  add(std::string(kProgram) + "// 3", "d/other.hlo");
  EXPECT_EQ(ask(path(), "SELECT program, stage FROM module_stage ORDER BY module"),
            "d/module_0001.jit_f|before d/module_0001.jit_f|after d/other.hlo|");
}

TEST_F(Import, WritesOperandsAndCallees) {
  add();
  EXPECT_EQ(ask(path(),
                "SELECT a.name, b.name FROM operand o JOIN instruction a ON a.id = o.instruction JOIN instruction b ON b.id = o.operand "
                "ORDER BY a.id, o.position"),
            "s|a s|b e|p r|e r|zero f|x n|f");
  EXPECT_EQ(ask(path(),
                "SELECT i.name, c.name FROM call k JOIN instruction i ON i.id = k.instruction JOIN computation c ON c.id = k.computation"),
            "r|sum f|body");
  EXPECT_EQ(ask(path(), "SELECT c.name, i.name FROM module m JOIN computation c ON c.id = m.entry JOIN instruction i ON i.id = c.root"),
            "main|n");
}

TEST_F(Import, WritesUsersOnceEach) {
  std::string twice(kProgram);
  twice.replace(twice.find("add(a, b)"), 9, "add(b, b)");
  add(twice);
  EXPECT_EQ(
      ask(path(),
          "SELECT a.name, b.name FROM instruction_user u JOIN instruction a ON a.id = u.instruction JOIN instruction b ON b.id = u.user "
          "ORDER BY a.id, b.id"),
      "b|s p|e e|r zero|r x|f f|n");
}

TEST_F(Import, WritesAttributesAsJson) {
  add();
  EXPECT_EQ(
      ask(path(),
          "SELECT json_extract(attributes, '$.dimensions'), json_extract(attributes, '$.to_apply') FROM instruction WHERE name = 'r'"),
      "{1}|sum");
}

TEST_F(Import, WritesThreeCostsAnInstruction) {
  add();
  EXPECT_EQ(ask(path(), "SELECT count(*), count(DISTINCT method) FROM cost"), "30|3");
  EXPECT_EQ(
      ask(path(),
          "SELECT c.flops, c.bytes_read FROM cost c JOIN instruction i ON i.id = c.instruction WHERE i.name = 'n' AND method = 'xla'"),
      "8.000000|32.000000");
  EXPECT_EQ(ask(path(), "SELECT count(DISTINCT work) < 10 FROM work"), "1");  // equal ones share
}

/// x → f(x) twice, by two operators of which the second is given with more than its name tells.
constexpr std::string_view kTwoOperators = R"(HloModule two

ENTRY main {
  x = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(x), metadata={op_type="Neg" op_name="net/layer/neg"}
  ROOT b = f32[4]{0} exponential(a), metadata={op_type="Exp" op_name="net/given"}
})";

Operator given(std::string name, std::string type, Phase phase) {
  Operator op;
  op.name = std::move(name), op.type = std::move(type), op.phase = phase, op.scope = "tower/head", op.line = 7;
  op.attributes = R"({"recompute": true})";
  op.inputs = {"x", "^y"};
  return op;
}

TEST_F(Import, GivenOperatorsAreWhatInstructionsName) {
  Imported program = imported(kTwoOperators);
  program.module_operators = {{given("net/given", "Exp", Phase::backward), given("net/idle", "", Phase::auxiliary)}};
  program.module_operators[0][1].launches = Launches::nothing;
  ASSERT_TRUE(Store::open(path(), OpenMode::append)->add(program).ok());
  EXPECT_EQ(ask(path(), "SELECT position, type, name, phase, type_from, launches, line FROM op ORDER BY position"),
            "0|Exp|net/given|backward|given|device|7 1|NULL|net/idle|auxiliary||nothing|7 2|Neg|net/layer/neg|forward|given|device|NULL");
  EXPECT_EQ(
      ask(path(), "SELECT i.name, o.name, s.name FROM instruction i JOIN op o ON o.id = i.op JOIN scope s ON s.id = o.scope ORDER BY 1"),
      "a|net/layer/neg|net/layer b|net/given|tower/head");
  EXPECT_EQ(ask(path(), "SELECT attributes ->> '$.recompute', inputs ->> '$[1]' FROM op WHERE position = 0"), "1|^y");
}

TEST_F(Import, TheSameBytesWithOtherOptionsAreAnotherProgram) {
  Imported program = imported(kTwoOperators);
  for (const std::string_view options : {"batch=2", "batch=4", "batch=2"}) {
    program.source.options = options;
    ASSERT_TRUE(Store::open(path(), OpenMode::append)->add(program).ok());
  }
  EXPECT_EQ(ask(path(), "SELECT options FROM source ORDER BY id"), "batch=2 batch=4");
}

TEST_F(Import, ALogsTimesAreARecordedRun) {
  Imported log;
  log.source.path = "log", log.source.format = "tf-log", log.source.sha256 = "1";
  log.operators = {given("a", "MatMul", Phase::forward), given("b", "Relu", Phase::backward), given("c", "Never", Phase::forward)};
  Recording recording;
  recording.device = "/device:GPU:0", recording.timer = "step_stats";
  // In each of two passes b runs once and a twice; what points nowhere is no time.
  for (int pass = 0; pass < 2; ++pass) {
    const int64_t at = 1000 * pass;
    for (const Recording::Timing& timing :
         {Recording::Timing{0, pass, at + 10, 5}, {1, pass, at, 7}, {0, pass, at + 20, 15}, {9, pass, 0, 1}, {0, pass, at, -1}})
      recording.timings.push_back(timing);
  }
  log.recordings = {recording};
  ASSERT_TRUE(Store::open(path(), OpenMode::append)->add(log).ok());
  EXPECT_EQ(ask(path(), "SELECT kind, status, source, module FROM run"), "recorded|complete|1|NULL");
  EXPECT_EQ(ask(path(), "SELECT step, name, op, calls, median_ns, pass_ns, class FROM step_time ORDER BY step"),
            "0|b|2|1.000000|7.000000|7.000000|recorded 1|a|1|2.000000|10.000000|20.000000|recorded");
  EXPECT_EQ(ask(path(), "SELECT name, pass_ns FROM top"), "a|20.000000 b|7.000000");
  EXPECT_EQ(ask(path(), "SELECT layer, pass_ns, forward_ns, backward_ns FROM layer_time WHERE depth = 1"),
            "tower/head|27.000000|20.000000|7.000000");
}

TEST_F(Import, ThatIsNotFinishedLeavesNothing) {
  const Imported program = imported(kProgram);
  {
    auto store = Store::open(path(), OpenMode::append);
    auto import = store->import(program.source);
    ASSERT_TRUE(import->add(program.modules[0], program.module_texts[0]).ok());
  }
  EXPECT_EQ(ask(path(), "SELECT (SELECT count(*) FROM module), (SELECT count(*) FROM instruction), (SELECT count(*) FROM content)"),
            "0|0|0");
  EXPECT_FALSE(add().existed);
}

TEST_F(Import, TakesManyModulesOneByOne) {
  const Imported program = imported(kProgram);
  auto store = Store::open(path(), OpenMode::append);
  auto import = store->import(program.source);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(import->add(program.modules[0], "// " + std::to_string(i)).ok());
  const auto ids = import->finish(program);
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(ids->first_instruction.back().back(), 10 * 999 + 3 + 4 + 1);
  store = Store::open(path("other.db"), OpenMode::append);
  EXPECT_EQ(ask(path(), "SELECT count(*), count(DISTINCT computation), max(id) FROM instruction"), "10000|3000|10000");
  EXPECT_EQ(ask(path(), "SELECT plain FROM module m JOIN content c ON c.id = m.content WHERE m.position = 500"), "// 500");
}

TEST_F(Import, ModulesThatAreTakenHaveTheRowsOfThoseThatAreAdded) {
  const Imported program = imported(kTwoOperators);
  const std::vector<Operator> operators = {given("tower/head/MatMul", "MatMul", Phase::forward)};
  for (const bool takes : {false, true}) {
    auto store = Store::open(path(takes ? "taken.db" : "added.db"), OpenMode::append);
    auto import = store->import(program.source);
    for (int i = 0; i < 3; ++i) {
      const std::string text = "// " + std::to_string(i);
      ASSERT_TRUE((takes ? import->take(program.modules[0], text, operators) : import->add(program.modules[0], text, operators)).ok());
    }
    const auto ids = import->finish(program);
    ASSERT_TRUE(ids.ok());
    EXPECT_EQ(ids->modules, (std::vector<int64_t>{1, 2, 3}));
  }
  for (const std::string_view query :
       {"SELECT * FROM module", "SELECT * FROM op", "SELECT * FROM instruction", "SELECT * FROM scope", "SELECT * FROM content"}) {
    EXPECT_EQ(ask(path("taken.db"), query), ask(path("added.db"), query)) << query;
    EXPECT_NE(ask(path("taken.db"), query), "") << query;
  }
}

TEST_F(Import, OperatorsAheadOfTheirModuleHaveTheRowsOfThoseThatComeWithIt) {
  const Imported program = imported(kTwoOperators);
  const std::vector<Operator> operators = {given("net/given", "Exp", Phase::backward), given("net/idle", "", Phase::auxiliary)};
  for (const bool ahead : {false, true}) {
    auto store = Store::open(path(ahead ? "ahead.db" : "with.db"), OpenMode::append);
    auto import = store->import(program.source);
    for (int i = 0; i < 3; ++i) {
      if (ahead) {
        ASSERT_TRUE(import->ahead({operators.size(), [&](size_t k) { return operators[k]; }}).ok());
      }
      ASSERT_TRUE(import->take(program.modules[0], "// " + std::to_string(i), ahead ? std::vector<Operator>() : operators).ok());
    }
    ASSERT_TRUE(import->finish(program).ok());
  }
  for (const std::string_view query : {"SELECT * FROM op", "SELECT * FROM instruction", "SELECT * FROM scope"}) {
    EXPECT_EQ(ask(path("ahead.db"), query), ask(path("with.db"), query)) << query;
    EXPECT_NE(ask(path("ahead.db"), query), "") << query;
  }
}

TEST_F(Import, OperatorsAheadOfNoModuleAreTheFilesOwn) {
  Imported program = imported(kTwoOperators);
  program.operators = {given("net/given", "Exp", Phase::backward), given("net/idle", "", Phase::auxiliary)};
  for (const bool ahead : {false, true}) {
    auto store = Store::open(path(ahead ? "ahead.db" : "own.db"), OpenMode::append);
    auto import = store->import(program.source);
    const std::vector<Operator> own = ahead ? std::exchange(program.operators, {}) : std::vector<Operator>();
    if (ahead) {
      ASSERT_TRUE(import->ahead({own.size(), [&](size_t k) { return own[k]; }}).ok());
    }
    ASSERT_TRUE(import->finish(program).ok());
  }
  for (const std::string_view query : {"SELECT * FROM op", "SELECT * FROM scope"}) {
    EXPECT_EQ(ask(path("ahead.db"), query), ask(path("own.db"), query)) << query;
    EXPECT_NE(ask(path("ahead.db"), query), "") << query;
  }
}

TEST_F(Import, TellsThatTheDiskIsFull) {
  const Imported program = imported(kProgram);
  auto database = Database::open(path(), Database::Access::write, std::chrono::milliseconds(0));
  ASSERT_TRUE(Store::open(path(), OpenMode::append).ok());
  ASSERT_TRUE(database->execute("PRAGMA max_page_count = 1").ok());  // becomes what the file has
  auto import = model::Import::begin(*database, program.source);
  base::Status status;
  for (int i = 0; i < 2000 && status.ok(); ++i) status = import->add(program.modules[0], "// " + std::to_string(i));
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("no space is left for it"), std::string::npos) << status.error().message;
}

TEST_F(Import, DividesAFusionAmongItsOperators) {
  add();
  // The exponential makes 128 bytes, the reduction 32.
  EXPECT_EQ(ask(path(),
                "SELECT o.name, format('%.1f', x.share), o.phase, s.name FROM op_instruction x JOIN op o ON o.id = x.op JOIN scope s ON "
                "s.id = o.scope "
                "JOIN instruction i ON i.id = x.instruction WHERE i.name = 'f' ORDER BY x.share DESC"),
            "model/layer_0/Exp|0.8|forward|model/layer_0 gradient_tape/model/layer_0/Sum|0.2|backward|model/layer_0");
}

TEST_F(Import, OfTheSameBytesIsFoundAgain) {
  const ImportIds first = add();
  const ImportIds second = add();
  EXPECT_FALSE(first.existed);
  EXPECT_TRUE(second.existed);
  EXPECT_EQ(second.source, first.source);
  EXPECT_EQ(second.modules, first.modules);
  EXPECT_EQ(second.first_instruction, first.first_instruction);
  EXPECT_EQ(ask(path(), "SELECT count(*) FROM source"), "1");
}

TEST_F(Import, RowsOfASecondProgramFollowTheFirst) {
  add();
  std::string other(kProgram);
  other.replace(other.find("negate"), 6, "floor ");
  const ImportIds ids = add(other, "other.hlo");
  EXPECT_EQ(ask(path(), "SELECT opcode FROM instruction WHERE id = " + std::to_string(ids.first_instruction[0][2] + 2)), "floor");
  EXPECT_EQ(ask(path(), "SELECT count(*), count(DISTINCT id) FROM instruction"), "20|20");
}

TEST_F(Import, AccountsBalance) {
  add();
  EXPECT_EQ(ask(path(), "SELECT path, modules, read, kept, dropped, stored, balanced FROM import_account"), "tiny.hlo|1|10|10|0|10|1");
}

TEST_F(Import, KeepsNotesWithTheirPlaces) {
  Imported program = imported(kProgram);
  program.notes = {{3, 7, "elided-constant", "c is elided"}, {0, 0, "unknown-attribute", "x"}};
  {
    auto store = Store::open(path(), OpenMode::append);
    ASSERT_TRUE(store->add(program).ok());
  }
  EXPECT_EQ(ask(path(), "SELECT line, \"column\", code FROM note ORDER BY id"), "3|7|elided-constant NULL|NULL|unknown-attribute");
}

TEST_F(Import, LongTextsAreCompressedAndReadBackEqual) {
  std::string text(kProgram);
  while (text.size() < 100'000) text += "// a comment that makes it long\n";
  const ImportIds ids = add(text);
  EXPECT_EQ(ask(path(), "SELECT bytes, plain IS NULL, length(zstd) < 10000 FROM content"), std::to_string(text.size()) + "|1|1");
  const auto reader = Reader::open(path());
  EXPECT_EQ(*reader->module_text(ids.modules[0]), text);
}

TEST_F(Import, ShortTextsStayReadable) {
  const ImportIds ids = add();
  EXPECT_EQ(ask(path(), "SELECT plain FROM content"), kProgram);
  const auto reader = Reader::open(path());
  EXPECT_EQ(*reader->module_text(ids.modules[0]), kProgram);
  EXPECT_NE(reader->module_text(99).error().message.find("there is no module 99"), std::string::npos);
}

TEST_F(Import, ReferencesHold) {
  add();
  EXPECT_EQ(ask(path(), "SELECT * FROM pragma_foreign_key_check"), "");
}

TEST_F(Import, OfTheSamplesBalances) {
  for (const char* name : {"bert_pretrain_step", "mnist_train_step"}) {
    const std::string file = std::string(SOURCE_DIR "/samples/") + name + ".hlo.txt";
    const auto bytes = base::read_file(file);
    ASSERT_TRUE(bytes.ok());
    const auto begin = std::chrono::steady_clock::now();
    const Imported program = imported(*bytes, file);
    const auto middle = std::chrono::steady_clock::now();
    auto store = Store::open(path(), OpenMode::append);
    const auto opened = std::chrono::steady_clock::now();
    ASSERT_TRUE(store->add(program).ok());
    const auto added = std::chrono::steady_clock::now();
    store = Store::open(path("other.db"), OpenMode::append);
    const auto end = std::chrono::steady_clock::now();
    const auto ms = [](auto a, auto b) { return std::to_string(std::chrono::duration<double, std::milli>(b - a).count()); };
    RecordProperty(std::string(name) + "_parse_ms", ms(begin, middle));
    RecordProperty(std::string(name) + "_open_ms", ms(middle, opened));
    RecordProperty(std::string(name) + "_add_ms", ms(opened, added));
    RecordProperty(std::string(name) + "_close_ms", ms(added, end));
  }
  EXPECT_EQ(ask(path(), "SELECT count(*), min(balanced), min(stored = kept) FROM import_account"), "2|1|1");
  EXPECT_EQ(ask(path(), "SELECT * FROM pragma_foreign_key_check"), "");
  EXPECT_EQ(
      ask(path(), "SELECT count(*) FROM (SELECT sum(share) AS whole FROM op_instruction GROUP BY instruction) WHERE abs(whole - 1) > 1e-9"),
      "0");
}

}  // namespace
}  // namespace model
