// Symbols in the store: rows, which operators they are joined to and by which rule, whichever came first.
#include "src/model/symbols.h"

#include "importers/importer.h"
#include "src/model/symbol_names.h"
#include "tests/unit/model/fixture.h"

namespace model {
namespace {

/// Two methods of a class and a function, in the angle-bracket form; lines as in kSource.
constexpr std::string_view kIndex =
    "<<SCOPE>> <<1:0-5>> <<str>> <<SCOPE>> <<ANCHOR>>\n"
    "<<Net>> <<3:23-26>> <<type>> <<CLASS>> <<ANCHOR>>\n"
    "<<build>> <<4:36-41>> <<function>> <<METHOD>> <<ANCHOR>>\n"
    "<<step>> <<8:124-128>> <<function>> <<FUNCTION>> <<ANCHOR>>\n"
    "<<SCOPE>> <<5:73-78>> <<str>> <<VARIABLE>> <<LINK>>\n";
constexpr std::string_view kSource =
    "SCOPE = \"tower\"\n"
    "\n"
    "class Net:\n"
    "    def build(self):\n"
    "        with name_scope(SCOPE):\n"
    "            return mul(name=\"scaled\")\n"
    "\n"
    "def step(x):\n"
    "    return x + 1\n";
constexpr std::string_view kProgram = R"(HloModule m

fused {
  a = f32[8] parameter(0)
  b = f32[8] multiply(a, a), metadata={op_type="mul" op_name="jit(step)/mul" source_file="/w/app/net.py" source_line=6}
  c = f32[8] negate(b), metadata={op_type="neg" op_name="jit(step)/neg" source_file="/w/app/net.py" source_line=9}
  ROOT d = f32[8] add(b, c), metadata={op_type="add" op_name="jit(step)/add" source_file="/w/app/net.py" source_line=9}
}

ENTRY e {
  p = f32[8] parameter(0)
  f = f32[8] fusion(p), kind=kLoop, calls=fused, metadata={op_type="add" op_name="jit(step)/add"}
  t = f32[8] tanh(f), metadata={op_type="tanh" op_name="tower_1/gradients/tanh"}
  u = f32[8] exponential(t), metadata={op_type="exp" op_name="jit(step)/exp"}
  v = f32[8] cosine(u), metadata={op_type="cos" op_name="model/net_3/cos"}
  w = f32[8] sine(v), metadata={op_type="sin" op_name="scaled"}
  ROOT x = f32[8] floor(w), metadata={op_type="floor" op_name="other/floor"}
}
)";

class StoredSymbols : public StoreTest {
 protected:
  void add(std::string_view path, std::string_view bytes, std::string_view source_text = {}) {
    importers::Input input{std::string(path), bytes};
    input.source_text = source_text;
    if (!source_text.empty()) input.options.source = "app/net.py";
    auto imported = importers::import(input);
    ASSERT_TRUE(imported.ok()) << imported.error().message;
    auto store = Store::open(this->path(), OpenMode::append);
    ASSERT_TRUE(store.ok()) << store.error().message;
    const auto added = store->add(*imported);
    ASSERT_TRUE(added.ok()) << added.error().message;
  }
  std::string links() const {
    return ask(
        path(),
        "SELECT o.name, y.name, s.rule, format('%.2f', s.confidence) FROM op_symbol s JOIN op o ON o.id = s.op JOIN symbol y ON y.id = "
        "s.symbol ORDER BY o.id, s.rank");
  }
};

constexpr const char* kLinks =
    "jit(step)/mul|build|line|0.95 jit(step)/neg|step|line|0.95 jit(step)/add|step|line|0.95 tower_1/gradients/tanh|build|constant|0.40 "
    "jit(step)/exp|step|function|0.60 model/net_3/cos|Net|name|0.30 scaled|build|literal|0.50";

TEST_F(StoredSymbols, AreJoinedWhenTheProgramWasFirst) {
  add("net.hlo", kProgram);
  add("net.symbols.txt", kIndex, kSource);
  EXPECT_EQ(links(), kLinks);
}

TEST_F(StoredSymbols, AreJoinedWhenTheIndexWasFirst) {
  add("net.symbols.txt", kIndex, kSource);
  add("net.hlo", kProgram);
  EXPECT_EQ(links(), kLinks);
}

TEST_F(StoredSymbols, HaveTheirPlacesAndTheirUses) {
  add("net.symbols.txt", kIndex, kSource);
  EXPECT_EQ(
      ask(path(), "SELECT name, kind, sort, line, \"column\", end_line, coalesce(within, 0), coalesce(value, '') FROM symbol ORDER BY id"),
      "SCOPE|SCOPE|variable|1|1|NULL|0|tower Net|CLASS|type|3|7|6|0| build|METHOD|function|4|9|6|2| step|FUNCTION|function|8|5|9|0|");
  EXPECT_EQ(ask(path(), "SELECT symbol, rule, role, name, line, \"column\", within FROM symbol_use"), "1|module|reference|SCOPE|5|25|3");
  EXPECT_EQ(ask(path(), "SELECT symbol, value, line, constant FROM symbol_literal ORDER BY line"), "3|tower|5|1 3|scaled|6|NULL");
  EXPECT_EQ(ask(path(), "SELECT tool, text_path, newline, unit, tested, fitted FROM symbol_index"), "PySonar2|app/net.py|lf|any|5|5");
}

TEST_F(StoredSymbols, AFusionIsDividedAmongTheLinesOfItsParts) {
  add("net.hlo", kProgram);
  EXPECT_EQ(ask(path(),
                "SELECT o.name, f.text, p.line, format('%.3f', s.share) FROM place_share s JOIN op o ON o.id = s.op JOIN place p ON p.id = "
                "s.place JOIN string f ON f.id = p.file ORDER BY s.op"),
            "jit(step)/mul|/w/app/net.py|6|0.333 jit(step)/neg|/w/app/net.py|9|0.333 jit(step)/add|/w/app/net.py|9|0.333");
}

TEST_F(StoredSymbols, TwoIndexesOfAFileDoNotMakeItsNamesAmbiguous) {
  add("net.symbols.txt", kIndex, kSource);
  add("tags", "step\tapp/net.py\t/^def step(x):$/;\"\tf\tline:8\n");
  add("net.hlo", kProgram);
  EXPECT_EQ(ask(path(), "SELECT count(*), min(s.confidence) FROM op_symbol s JOIN op o ON o.id = s.op WHERE o.name = 'jit(step)/exp'"),
            "1|0.600000");
}

TEST_F(StoredSymbols, AFileOfTheSameNameElsewhereIsADoubtfulOne) {
  add("net.symbols.txt", kIndex, kSource);
  std::string elsewhere(kProgram);
  for (size_t at = 0; (at = elsewhere.find("/w/app/net.py", at)) != std::string::npos;) elsewhere.replace(at, 13, "/w/lib/net.py");
  add("net.hlo", elsewhere);
  EXPECT_EQ(ask(path(), "SELECT DISTINCT confidence FROM place_symbol"), "0.600000");
}

std::string guesses(const SymbolNames& names, std::string_view op) {
  std::string text;
  for (const SymbolGuess& guess : names.guesses(op)) text += std::to_string(guess.symbol) + ":" + std::string(guess.rule) + " ";
  return text;
}

TEST(SymbolNames, LookUpEachPartOfAnOperatorsName) {
  SymbolNames names;
  names.add_symbol(1, "train_step");
  names.add_symbol(2, "EncoderLayer");
  names.add_symbol(3, "n");
  names.add_string(4, "tower", true);
  names.add_string(5, "input", false);
  EXPECT_EQ(guesses(names, "jit(train_step)/dot_general"), "1:function ");
  EXPECT_EQ(guesses(names, "jit(main)/transpose(jvp(EncoderLayer_2))/dot_general"), "2:name ");
  EXPECT_EQ(guesses(names, "model/encoder_layer_11/MatMul"), "2:name ");
  EXPECT_EQ(guesses(names, "tower_3/input_1"), "5:literal 4:constant ");
  EXPECT_EQ(guesses(names, "n/MatMul"), "") << "a name of one letter says nothing";
  EXPECT_EQ(guesses(names, "model/EncoderLayer"), "") << "the last part is the operator";
  EXPECT_EQ(guesses(names, "((((//)"), "");
}

TEST(SymbolNames, TheMoreShareANameTheLessIsSure) {
  SymbolNames names;
  for (int64_t symbol = 1; symbol <= 100; ++symbol) names.add_symbol(symbol, "forward");
  const auto found = names.guesses("jit(forward)/add");
  EXPECT_EQ(found.size(), 8u);
  EXPECT_LT(found[0].confidence, 0.6);
}

}  // namespace
}  // namespace model
