// Forms of HLO text: each case is one spelling that dumps of some year or tool have.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "importers/hlo/hlo.h"
#include "src/ir/attr.h"
#include "src/ir/print.h"

namespace {

using importers::hlo::parse;

ir::Module parsed(std::string_view text) {
  auto module = parse(text, "f.hlo");
  EXPECT_TRUE(module.ok()) << module.error().message;
  return module.ok() ? *std::move(module) : ir::Module();
}

const ir::Instr& named(const ir::Module& module, std::string_view name) {
  for (const ir::Computation& comp : module.computations) {
    for (const ir::Instr& instr : comp.instrs) {
      if (module.name_of(instr) == name) return instr;
    }
  }
  ADD_FAILURE() << "no instruction " << name;
  return module.computations[0].instrs[0];
}

std::string error_of(std::string_view text) {
  const auto imported = importers::hlo::read({"f.hlo", text});
  return imported.ok() ? "imported" : imported.error().message;
}

TEST(Parse, OneLineModuleWithoutHeader) {
  const ir::Module m = parsed("ENTRY e { p = f32[2]{0} parameter(0) ROOT n = f32[2]{0} negate(p) }");
  EXPECT_EQ(m.text(m.name), "module_e");
  EXPECT_EQ(m.comp(m.entry).root, 1);
}

TEST(Parse, OneInstructionMakesItsOperandsParameters) {
  const ir::Module m = parsed("add(f32[10] x, f32[10] y)");
  EXPECT_EQ(m.comp(0).parameters.size(), 2u);
  EXPECT_EQ(ir::print(m.shape(m.instr(0, m.comp(0).root))), "f32[10]");
}

TEST(Parse, NamesMayBeTypeWords) {
  const ir::Module m = parsed("ENTRY e { s1 = s32[] parameter(0) u4 = s32[] negate(s1) ROOT token = s32[] add(s1, u4) }");
  EXPECT_EQ(m.comp(0).instrs.size(), 3u);
}

TEST(Parse, CommentsAndIndexCommentsAreSkipped) {
  const ir::Module m = parsed(
      "HloModule m // a\nENTRY e {\n  p = (f32[], /*index=1*/f32[]) parameter(0) // here\n  ROOT g = f32[] get-tuple-element(/*x*/p), "
      "index=1\n}");
  EXPECT_EQ(ir::attr_int(m, named(m, "g"), "index"), 1);
}

TEST(Parse, NestedInstructionsAreNamedAndStandBeforeTheirUser) {
  const ir::Module m = parsed("ENTRY e { a = f32[] parameter(0) ROOT r = f32[] add(f32[] multiply(a, a), a) }");
  EXPECT_EQ(m.name_of(m.instr(0, 1)), "multiply.anon");
  EXPECT_EQ(m.instr(0, 2).operands, (std::vector<ir::InstrId>{1, 0}));
}

TEST(Parse, CompactTupleElementsAreSharedInstructions) {
  const ir::Module m = parsed("ENTRY e { t = ((f32[2]{0}, s32[]), f32[]) parameter(0) ROOT r = f32[2]{0} add(t#0#0, t#0#0) }");
  EXPECT_EQ(m.comp(0).instrs.size(), 4u);
  EXPECT_EQ(ir::print(m.shape(m.instr(0, 2))), "f32[2]{0}");
}

TEST(Parse, BodiesInPlaceBecomeComputations) {
  const ir::Module m = parsed(
      "ENTRY e { a = f32[4]{0} parameter(0) z = f32[] constant(0) ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply={ x = f32[] "
      "parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) } }");
  EXPECT_EQ(m.computations.size(), 2u);
  EXPECT_EQ(m.text(m.comp(0).name), "r.to_apply");
  EXPECT_EQ(ir::simple_reducer(m, 0), ir::Op::add);
}

TEST(Parse, AShapeThatIsLeftOutIsInferred) {
  const ir::Module m = parsed("ENTRY e { a = f32[4,8]{1,0} parameter(0) t = transpose(a), dimensions={1,0} ROOT n = negate(t) }");
  EXPECT_EQ(ir::print(m.shape(named(m, "n"))), "f32[8,4]{1,0}");
}

TEST(Parse, AsynchronousSugarBecomesABody) {
  const ir::Module m = parsed(
      "ENTRY e { a = f32[4]{0} parameter(0) s = ((f32[4]{0}), f32[4]{0}, u32[]) custom-call-start(a), custom_call_target=\"f\" ROOT d = "
      "f32[4]{0} custom-call-done(s) }");
  EXPECT_EQ(named(m, "s").op, ir::Op::async_start);
  EXPECT_EQ(named(m, "d").op, ir::Op::async_done);
  EXPECT_EQ(ir::attr_string(m, named(m, "custom-call"), "custom_call_target"), "f");
}

TEST(Parse, OldComparisonsBecomeCompare) {
  const ir::Module m = parsed("ENTRY e { a = f32[] parameter(0) ROOT r = pred[] less-than-or-equal-to(a, a) }");
  EXPECT_EQ(ir::attr_compare(m, named(m, "r"))->direction, ir::Direction::LE);
}

TEST(Parse, DictionariesAndStringsStayAsTheyAre) {
  const ir::Module m = parsed(
      "ENTRY e { ROOT c = f32[] custom-call(), custom_call_target=\"a\\\"b\", backend_config={opaque = \"}\", n = 1 : i32}, "
      "frontend_attributes={k={ \"x\" : 1 },l=\"a  b\"} }");
  const ir::Instr& c = named(m, "c");
  EXPECT_EQ(ir::attr_text(m, c, "backend_config"), "{opaque = \"}\", n = 1 : i32}");
  EXPECT_EQ(ir::attr_text(m, c, "frontend_attributes"), "{k={ \"x\" : 1 },l=\"a  b\"}");
  EXPECT_EQ(ir::attr_string(m, c, "custom_call_target"), "a\"b");
}

TEST(Parse, AValueEndsWhereTheNextThingBegins) {
  for (const auto& [written, kept] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{{"{1,0}", "{1,0}"},
                                                                            {"{ 1, 0 }", "{1,0}"},
                                                                            {"{1,0}/*x*/", "{1,0}"},
                                                                            {"{%a,b}", "{%a,b}"},
                                                                            {"{a b}", "{a b}"},
                                                                            {"{a={b},c=d}", "{a={b},c=d}"},
                                                                            {"[2,4]<=[8]", "[2,4]<=[8]"},
                                                                            {"[2,4] <= [8]", "[2,4]<=[8]"},
                                                                            {"b01f_01io->b01f", "b01f_01io->b01f"},
                                                                            {"-1e-5", "-1e-5"},
                                                                            {"word {1}", "word {1}"},
                                                                            {"word", "word"},
                                                                            {"\"a, \\\"b\\\\\"", "\"a, \\\"b\\\\\""},
                                                                            {"\"\"", "\"\""}}) {
    for (const std::string_view rest : {"\n}", " }", "\n ROOT n = f32[] negate(c) }", "\n%n = f32[] negate(c) }", ", index=1 }"}) {
      const ir::Module m = parsed("ENTRY e { c = f32[] custom-call(), novel=" + std::string(written) + std::string(rest));
      EXPECT_EQ(ir::attr_text(m, named(m, "c"), "novel"), kept) << rest;
    }
  }
}

TEST(Parse, NeedlessSpaceInAttributesGoes) {
  const ir::Module m = parsed(
      "ENTRY e { ROOT c = f32[] custom-call(), custom_call_target=\"f\", window={size=3x3  pad=0_1x0_1}, replica_groups={ {0, 1}, {2,3} }, "
      "sharding={devices=[2,2]<=[4] last_tile_dim_replicate} }");
  const ir::Instr& c = named(m, "c");
  EXPECT_EQ(ir::attr_text(m, c, "window"), "{size=3x3 pad=0_1x0_1}");
  EXPECT_EQ(ir::attr_text(m, c, "replica_groups"), "{{0,1},{2,3}}");
  EXPECT_EQ(ir::attr_text(m, c, "sharding"), "{devices=[2,2]<=[4] last_tile_dim_replicate}");
}

TEST(Parse, MetadataIsSplitIntoFields) {
  const ir::Module m = parsed(
      "ENTRY e { ROOT c = f32[] parameter(0), metadata={op_type=\"Mul\" op_name=\"jit(f)/a\\\"}b\", source_file=\"x.py\" source_line=7 "
      "profile_type={1}} }");
  const ir::Origin& origin = *m.origin(named(m, "c"));
  EXPECT_EQ(m.text(origin.op_name), "jit(f)/a\"}b");
  EXPECT_EQ(origin.source_line, 7);
  EXPECT_EQ(m.text(origin.rest), "profile_type={1}");
}

TEST(Parse, StackFramesGiveTheSourceLine) {
  const ir::Module m = parsed(
      "HloModule m\n\nFileNames\n1 \"/a.py\"\n2 \"/b.py\"\nFunctionNames\n1 \"main\"\nFileLocations\n"
      "1 {file_name_id=1 function_name_id=1 line=10 end_line=10 column=4 end_column=20}\n"
      "2 {file_name_id=2 function_name_id=1 line=33 end_line=34 column=5 end_column=6}\nStackFrames\n"
      "1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=2 parent_frame_id=2}\n\n"
      "ENTRY e { ROOT c = f32[] parameter(0), metadata={op_name=\"x\" stack_frame_id=2} }");
  const ir::Origin& origin = *m.origin(named(m, "c"));
  EXPECT_EQ(m.text(origin.source_file), "/b.py");
  EXPECT_EQ(origin.source_line, 33);
  EXPECT_TRUE(parsed(ir::print(m)) == m);
}

TEST(Parse, LayoutsKeepTilesAndMemorySpaces) {
  const ir::Module m = parsed("ENTRY e { ROOT p = bf16[8,128]{1,0:T(8,128)(2,1)S(1)} parameter(0) }");
  EXPECT_EQ(ir::print(m.shape(named(m, "p"))), "bf16[8,128]{1,0:T(8,128)(2,1)S(1)}");
}

TEST(Parse, DynamicSizesAreBounds) {
  const ir::Module m = parsed("ENTRY e { ROOT p = f32[2,<=8,?] parameter(0) }");
  EXPECT_EQ(ir::print(m.shape(named(m, "p"))), "f32[2,<=8,?]");
}

TEST(Parse, OffsetsPointAtTheName) {
  const std::string text = "HloModule m\nENTRY e {\n  p = f32[] parameter(0)\n  ROOT n = f32[] negate(p)\n}\n";
  const ir::Module m = parsed(text);
  EXPECT_EQ(text.substr(named(m, "n").offset, 3), "n =");
}

TEST(Parse, ErrorsSayWhereAndWhatToDo) {
  EXPECT_EQ(error_of("ENTRY e {\n  a = f32[] parameter(0)\n  ROOT b = f32[] ad(a, a)\n}"),
            "f.hlo:3:18: no op 'ad'; did you mean 'add'?\n    ROOT b = f32[] ad(a, a)\n                   ^");
  EXPECT_EQ(error_of("ENTRY e {\n  alpha = f32[] parameter(0)\n  ROOT b = f32[] negate(alpa)\n}"),
            "f.hlo:3:25: no instruction 'alpa'; did you mean 'alpha'?\n    ROOT b = f32[] negate(alpa)\n                          ^");
  EXPECT_EQ(error_of("ENTRY e {\n  a = f32[2] parameter(0)\n  ROOT b = f32[3] negate(a)\n}"),
            "f.hlo:3:8: 'b' is declared f32[3], negate of its operands gives f32[2]\n    ROOT b = f32[3] negate(a)\n         ^");
}

TEST(Literals, OfEveryKindPrintAsTheyWereRead) {
  const std::pair<const char*, const char*> cases[] = {
      {"f32[]", "1.5"},
      {"f32[]", "-inf"},
      {"f32[]", "nan"},
      {"f32[]", "nan(0x7f)"},
      {"f16[]", "0.099975586"},
      {"f32[2]{0}", "{1, 2}"},
      {"f32[2,1]{1,0}", "{ {1}, {2} }"},
      {"pred[]", "true"},
      {"pred[3]{0}", "{1, 0, 1}"},
      {"u64[]", "18446744073709551615"},
      {"s8[]", "-128"},
      {"c64[]", "(1, -2)"},
      {"f32[0]{0}", "{}"},
      {"(f32[], s32[2]{0})", "( 1, {2, 3} )"},
      {"f32[100]{0}", "{...}"},
      {"bf16[]", "3.3895314e+38"},
      {"s4[2]{0}", "{-8, 7}"},
  };
  for (const auto& [shape, text] : cases) {
    const ir::Module m = parsed("ENTRY e { ROOT c = " + std::string(shape) + " constant(" + text + ") }");
    const ir::Instr& c = named(m, "c");
    EXPECT_EQ(ir::print(m.literal(c), m.shape(c)), text) << shape;
  }
}

TEST(Literals, ThatDoNotFitAreRefused) {
  EXPECT_NE(error_of("ENTRY e { ROOT c = s8[] constant(300) }").find("does not fit"), std::string::npos);
  EXPECT_NE(error_of("ENTRY e { ROOT c = s32[] constant(1.5) }").find("expected an integer of s32[], got '1.5'"), std::string::npos);
  EXPECT_NE(error_of("ENTRY e { ROOT c = f16[] constant(1e6) }").find("too large"), std::string::npos);
  EXPECT_NE(error_of("ENTRY e { ROOT c = f32[3] constant({1, 2}) }").find("too few"), std::string::npos);
  EXPECT_NE(error_of("ENTRY e { ROOT c = f32[1] constant({1, 2}) }").find("more elements"), std::string::npos);
}

TEST(Literals, OldSpellingsAreRead) {
  const ir::Module m = parsed("ENTRY e { a = pred[3]{0} constant({101}) ROOT b = f32[2]{0} constant(f32[2]{0} {1, 2}) }");
  EXPECT_EQ(ir::as_int(m.literal(named(m, "a")), ir::Type::pred, 2), 1);
  EXPECT_EQ(ir::as_double(m.literal(named(m, "b")), ir::Type::f32, 1), 2);
}

TEST(Read, SeveralModulesWithTextAround) {
  const std::string one = "HloModule a\nENTRY e { ROOT p = f32[] parameter(0) }\n";
  const std::string two = "HloModule b\nENTRY e { p = f32[] parameter(0) ROOT n = f32[] negate(p) }\n";
  const auto imported = importers::hlo::read({"log.txt", "a log line\n" + one + "// -----\n" + two + "another log line\n"});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  ASSERT_EQ(imported->modules.size(), 2u);
  EXPECT_EQ(imported->source.read, 3);
  EXPECT_EQ(imported->source.read, imported->source.kept + imported->source.dropped);
  ASSERT_EQ(imported->notes.size(), 4u);
  EXPECT_EQ(imported->notes[1].code, "module-found");
  EXPECT_EQ(imported->notes[1].line, 2);
  EXPECT_EQ(imported->notes[2].text, "module 'b': 2 instructions");
  const std::string& text = imported->module_texts[1];
  EXPECT_EQ(text.substr(imported->modules[1].instr(0, 1).offset, 3), "n =");
  EXPECT_EQ(error_of(one + two + "HloModule c\nENTRY e { ROOT p = f32[] parametre(0) }").substr(0, 11), "f.hlo:6:26:");
}

TEST(Read, ModulesInALogWithPrefixes) {
  const std::string prefix = "2026-01-02 03:04:05.678901: I xla/service/dump.cc:42] ";
  const std::string log = prefix + "Compiling\n" + prefix + "HloModule a\n" + prefix + "ENTRY e {\n" + prefix +
                          "  ROOT p = f32[] parameter(0)\n" + prefix + "}\n" + prefix + "Done\n";
  const auto imported = importers::hlo::read({"log.txt", log});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  ASSERT_EQ(imported->modules.size(), 1u);
  EXPECT_EQ(imported->modules[0].text(imported->modules[0].name), "a");
  EXPECT_NE(std::ranges::find(imported->notes, 2, &model::Note::line), imported->notes.end());
}

TEST(Read, FileMarkersNameTheModules) {
  const auto imported = importers::hlo::read({"all.txt",
                                              "// file: one.hlo\nHloModule a\nENTRY e { ROOT p = f32[] parameter(0) }\n// file: two.hlo\n"
                                              "HloModule b\nENTRY e { ROOT p = f32[] parameter(0) }\n"});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  ASSERT_EQ(imported->notes.size(), 2u);
  EXPECT_EQ(imported->notes[1].text, "module 'b' of two.hlo: 1 instructions");
}

TEST(Parse, SparseArraysOf2018AreDense) {
  const ir::Module m = parsed("ENTRY e { ROOT c = f32[2,3]sparse{10} constant({[0, 1]: 5, [1, 2]: 7}) }");
  EXPECT_EQ(ir::as_double(m.literal(named(m, "c")), ir::Type::f32, 1), 5);
  EXPECT_EQ(ir::as_double(m.literal(named(m, "c")), ir::Type::f32, 5), 7);
  EXPECT_EQ(ir::as_double(m.literal(named(m, "c")), ir::Type::f32, 0), 0);
}

TEST(Parse, InputAndOutputOf2018HaveNoTokens) {
  const auto imported = importers::hlo::read({"f.hlo", "ENTRY e { i = f32[2]{0} infeed() ROOT o = () outfeed(i) }"});
  EXPECT_TRUE(imported.ok()) << imported.error().message;
}

TEST(Read, NotesElidedConstantsAndUnknownAttributes) {
  const auto imported =
      importers::hlo::read({"f.hlo", "HloModule m\nENTRY e {\n  ROOT c = f32[99]{0} constant({...}), novel_attribute={1}\n}"});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  ASSERT_EQ(imported->notes.size(), 2u);
  EXPECT_EQ(imported->notes[0].code, "elided-constant");
  EXPECT_EQ(imported->notes[0].line, 3);
  EXPECT_EQ(imported->notes[0].column, 8);
  EXPECT_EQ(imported->notes[1].code, "unknown-attribute");
}

TEST(Match, GivesAReasonWhereItIsNoHlo) {
  const importers::Match match = importers::hlo::match({"x.bin", std::string_view("\x0a\x03\x00", 3)});
  EXPECT_EQ(match.how, importers::Match::none);
  EXPECT_NE(match.reason.find("no line begins with HloModule"), std::string::npos);
}

}  // namespace
