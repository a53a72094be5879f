// The angle-bracket dump: the counts of the sample, both grammars of types, what the source text tells, and which definition a use means.
#include "importers/symbols/angle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tests/unit/symbols/fixture.h"

namespace {

using model::Symbol;
using model::SymbolRole;
using symbols_test::corpus;
using symbols_test::kSample;
using symbols_test::note;
using symbols_test::read_file;

int64_t count(const model::SymbolIndex& index, auto predicate) {
  return std::count_if(index.symbols.begin(), index.symbols.end(), predicate);
}
bool is_definition(const Symbol& symbol) { return symbol.role == SymbolRole::definition; }

TEST(Angle, TheSampleHasTheCountsOfTheFacts) {
  const auto imported = read_file(kSample, false);
  const model::SymbolIndex& index = *imported.symbols;
  EXPECT_EQ(imported.source.format, "symbols");
  EXPECT_EQ(imported.source.read, 348);
  EXPECT_EQ(imported.source.kept, 348);
  EXPECT_EQ(count(index, is_definition), 110);
  EXPECT_EQ(count(index, [](const Symbol& s) { return s.role == SymbolRole::reference; }), 238);
  std::map<std::string, int> kinds, types, names;
  for (const Symbol& symbol : index.symbols) {
    ++names[std::string(index.view(symbol.name))];
    if (!is_definition(symbol)) continue;
    ++kinds[std::string(index.view(symbol.kind))];
    ++types[std::string(index.view(symbol.type))];
  }
  EXPECT_EQ(names.size(), 77u);
  EXPECT_EQ(kinds, (std::map<std::string, int>{{"VARIABLE", 37},
                                               {"PARAMETER", 24},
                                               {"SCOPE", 23},
                                               {"ATTRIBUTE", 17},
                                               {"METHOD", 5},
                                               {"FUNCTION", 2},
                                               {"CLASS", 1},
                                               {"CONSTRUCTOR", 1}}));
  EXPECT_EQ(types, (std::map<std::string, int>{{"?", 64},
                                               {"int", 14},
                                               {"list", 10},
                                               {"function", 8},
                                               {"LocalSyncParallelOptimizer", 6},
                                               {"dict", 3},
                                               {"tuple", 2},
                                               {"type", 2},
                                               {"str", 1}}));
}

TEST(Angle, EveryLinkOfTheSampleHasItsAnchor) {
  for (const bool with_source : {false, true}) {
    if (with_source && !symbols_test::has_corpus()) GTEST_SKIP() << "no corpus of symbol indexes";
    const auto imported = read_file(kSample, with_source);
    const model::SymbolIndex& index = *imported.symbols;
    for (const Symbol& symbol : index.symbols) {
      if (is_definition(symbol)) continue;
      ASSERT_GE(symbol.target, 0) << index.view(symbol.name) << " in line " << symbol.line;
      const Symbol& target = index.symbols[static_cast<size_t>(symbol.target)];
      EXPECT_TRUE(is_definition(target));
      EXPECT_EQ(index.view(target.name), index.view(symbol.name));
      EXPECT_GT(symbol.confidence, 0.3F);
    }
  }
}

TEST(Angle, AllOffsetsOfTheSampleCountCrlf) {
  if (!symbols_test::has_corpus()) GTEST_SKIP() << "no corpus of symbol indexes";
  const auto imported = read_file(kSample, true);
  const model::SymbolIndex& index = *imported.symbols;
  EXPECT_EQ(index.newline, "crlf");
  EXPECT_EQ(index.unit, "any");
  EXPECT_EQ(index.tested, 348);
  EXPECT_EQ(index.fitted, 348);
  EXPECT_EQ(note(imported, "mended-spans"), "the spans of 24 parameters are not as long as their names; they are mended to begin + length");
  for (const Symbol& symbol : index.symbols)
    EXPECT_EQ(symbol.end_offset - symbol.begin_offset, static_cast<int64_t>(index.view(symbol.name).size()));
}

TEST(Angle, AFileOfCrlfIsFoundToFitAsWell) {
  if (!symbols_test::has_corpus()) GTEST_SKIP() << "no corpus of symbol indexes";
  std::string crlf;
  for (const char c : symbols_test::bytes_of(corpus(symbols_test::kSourceFile)))
    crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(crlf.size(), 14065u);
  const auto imported = symbols_test::read(kSample, symbols_test::bytes_of(kSample), crlf, "multi_gpu_impl.py");
  EXPECT_EQ(imported.symbols->newline, "crlf");
  EXPECT_EQ(imported.symbols->fitted, 348);
}

TEST(Angle, WhatIsAroundEachRecordFollowsFromTheText) {
  if (!symbols_test::has_corpus()) GTEST_SKIP() << "no corpus of symbol indexes";
  const auto imported = read_file(kSample, true);
  const model::SymbolIndex& index = *imported.symbols;
  std::map<std::string, std::string> ends;
  std::map<std::string, int> inside;
  for (const Symbol& symbol : index.symbols) {
    if (symbol.within >= 0) ++inside[std::string(index.view(index.symbols[static_cast<size_t>(symbol.within)].name))];
    if (is_definition(symbol) && symbol.end_line > 0)
      ends[std::string(index.view(symbol.name))] = fmt::format("{}-{}", symbol.line, symbol.end_line);
  }
  EXPECT_EQ(ends, (std::map<std::string, std::string>{{"LocalSyncParallelOptimizer", "16-268"},
                                                      {"__init__", "52-116"},
                                                      {"load_data", "118-193"},
                                                      {"optimize", "195-228"},
                                                      {"get_common_loss", "230-231"},
                                                      {"get_device_losses", "233-234"},
                                                      {"_setup_device", "236-268"},
                                                      {"make_divisible_by", "275-278"},
                                                      {"average_gradients", "281-328"}}));
  EXPECT_EQ(inside["LocalSyncParallelOptimizer"], 6);  // its methods
}

TEST(Angle, ValuesAndScopeNamesAreTakenFromTheText) {
  if (!symbols_test::has_corpus()) GTEST_SKIP() << "no corpus of symbol indexes";
  const auto imported = read_file(kSample, true);
  const model::SymbolIndex& index = *imported.symbols;
  std::string values, literals;
  for (const Symbol& symbol : index.symbols) {
    if (symbol.value != ir::StringId::empty) values += fmt::format("{}={} ", index.view(symbol.name), index.view(symbol.value));
  }
  for (const auto& literal : index.literals)
    literals += fmt::format("{}:{}:{} ", index.view(index.symbols[static_cast<size_t>(literal.within)].name), literal.line,
                            index.view(literal.value));
  EXPECT_EQ(values, "TOWER_SCOPE_NAME=tower ");
  EXPECT_EQ(literals, "__init__:73:batch_index __init__:77:per_device_batch_size __init__:81:max_seq_len ");
}

TEST(Angle, PySonarsOwnDumpReadsWithItsNativeTypes) {
  if (!symbols_test::has_corpus()) GTEST_SKIP() << "no corpus of symbol indexes";
  const auto imported = read_file(corpus("pysonar2_head_rllib_multi_gpu_impl_angle.txt"), true);
  EXPECT_EQ(imported.source.dropped, 0);
  EXPECT_EQ(note(imported, "unknown-type"), "");
  EXPECT_EQ(imported.symbols->newline, "crlf");
}

TEST(Angle, BothGrammarsOfTypesHaveOneSpelling) {
  const std::map<std::string, std::string> types = {
      {"?", "?"},
      {"LocalSyncParallelOptimizer", "LocalSyncParallelOptimizer"},
      {"{int||?}", "{int | ?}"},
      {"{? | int}", "{? | int}"},
      {"{str : int}", "{str : int}"},
      {"[(?, ?)]", "[(?, ?)]"},
      {"<(namedtuple)>", "<(namedtuple)>"},
      {"(?, ?) -> None / (int, int) -> int / (?, int) -> int", "(?, ?) -> None / (int, int) -> int / (?, int) -> int"},
      {"? -> [(?,?)]", "? -> [(?, ?)]"},
      {"()", "()"},
  };
  for (const auto& [given, spelled] : types) EXPECT_EQ(importers::symbols::canonical_type(given).value_or("none"), spelled) << given;
  for (const char* given : {"", "[", "[?", "{int||}", "? ->", "(,)", "a b", "]", "<>>"})
    EXPECT_FALSE(importers::symbols::canonical_type(given)) << given;
  EXPECT_FALSE(importers::symbols::canonical_type(std::string(100000, '[')));
}

TEST(Angle, NamesAndTypesMayHoldAngles) {
  const auto imported = symbols_test::read(
      "x.txt", "<<a<<b>> <<1:0-4>> <<<A>>> <<CLASS>> <<ANCHOR>>\r\n<<c>> <<2:6-7>> <<>> >> <<>> <<NEW_KIND>> <<LINK>>\n");
  const model::SymbolIndex& index = *imported.symbols;
  ASSERT_EQ(index.symbols.size(), 2u);
  EXPECT_EQ(index.view(index.symbols[0].name), "a<<b");
  EXPECT_EQ(index.view(index.symbols[0].type), "<A>");
  EXPECT_EQ(index.view(index.symbols[1].kind), "NEW_KIND");
  EXPECT_EQ(note(imported, "assumed-file"), "the index names no source file; 'x.py' is assumed; --source FILE tells");
}

TEST(Angle, ALineThatIsNoRecordIsDroppedWithItsPlace) {
  const auto imported = symbols_test::read(
      "x.txt", "<<a>> <<1:0-1>> <<?>> <<SCOPE>> <<ANCHOR>>\n<<b>> <<1:3-x>> <<?>> <<SCOPE>> <<ANCHOR>>\n<<c>> <<1:5-6>> <<?>>\n");
  EXPECT_EQ(imported.source.read, 3);
  EXPECT_EQ(imported.source.dropped, 2);
  ASSERT_GE(imported.notes.size(), 2u);
  EXPECT_EQ(imported.notes[0].line, 2);
  EXPECT_EQ(imported.notes[0].column, 9);
  EXPECT_EQ(imported.notes[0].text, "expected line:begin-end");
  EXPECT_EQ(imported.notes[1].text, "expected type, kind and role after the place");
}

TEST(Angle, AFileWithoutARecordIsRefusedAtThePlace) {
  EXPECT_EQ(
      symbols_test::error_of("x.txt", "<<a>> <<1:0-1>> <<?>> <<SCOPE>> <<OTHER>>\n"),
      "x.txt:1:35: expected the role ANCHOR or LINK\n  <<a>> <<1:0-1>> <<?>> <<SCOPE>> <<OTHER>>\n                                    ^");
}

TEST(Angle, ATextOfAnotherVersionIsSaidAndNotUsed) {
  const auto imported = symbols_test::read(
      "x.txt", "<<a>> <<1:0-1>> <<?>> <<SCOPE>> <<ANCHOR>>\n<<b>> <<2:3-4>> <<?>> <<SCOPE>> <<ANCHOR>>\n", "x = 1\ny = 2\n", "x.py");
  EXPECT_EQ(note(imported, "source-mismatch"),
            "0 of 2 names stand in x.py where the index has them: it is another version of the file, and is not used");
  EXPECT_EQ(imported.symbols->newline, "");
}

TEST(Angle, OffsetsInBytesCharactersAndUtf16AreToldApart) {
  const std::string source = "s = '\xc3\xa4\xf0\x9f\x98\x80'\r\nx = s\r\ny = x\r\n";
  const std::map<std::string, std::pair<std::string, std::string>> places = {
      {"bytes", {"14-15", "21-22"}}, {"characters", {"10-11", "17-18"}}, {"utf-16", {"11-12", "18-19"}}};
  for (const auto& [unit, spans] : places) {
    const auto imported = symbols_test::read(
        "x.txt",
        fmt::format("<<x>> <<2:{}>> <<?>> <<SCOPE>> <<ANCHOR>>\n<<y>> <<3:{}>> <<?>> <<SCOPE>> <<ANCHOR>>\n", spans.first, spans.second),
        source, "x.py");
    EXPECT_EQ(imported.symbols->unit, unit);
    EXPECT_EQ(imported.symbols->newline, "crlf") << unit;
    EXPECT_EQ(imported.symbols->fitted, 2) << unit;
    EXPECT_EQ(imported.symbols->symbols[0].column, 1);
  }
}

}  // namespace
