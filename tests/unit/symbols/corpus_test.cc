// Every file of the corpus: what it is taken for, what is read, how its places fit the source; and how well uses get their definitions by
// rule, judged by an index that knows them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/unit/symbols/fixture.h"

namespace {

using model::Symbol;
using model::SymbolRole;
using symbols_test::corpus;
using symbols_test::note;
using symbols_test::read_file;

struct Row {
  const char *file, *format;
  int64_t read, definitions, uses, targets;
};
/// Counted in the files themselves, with grep and with scripts of a few lines.
constexpr Row kRows[] = {
    {"ctags_python_cli_tool.tags", "ctags", 1, 0, 1, 0},
    {"ctags_uctags5.9_rllib_multi_gpu_impl.tags", "ctags", 23, 13, 10, 0},
    {"pysonar2_head_rllib_multi_gpu_impl_angle.txt", "symbols", 1191, 182, 1009, 1009 - 50},  // 50 uses of builtins
    {"pysonar2_jsondump_rllib_multi_gpu_impl.doc.json", "pysonar", 4, 0, 4, 0},
    {"pysonar2_tests_branch.test_refs.json", "pysonar", 11 + 19, 17, 19, 19},  // refs + dests; definitions: distinct dests
    {"pysonar2_tests_call.test_refs.json", "pysonar", 32 + 34, 12, 34, 34},
    {"pysonar2_tests_constructor.test_refs.json", "pysonar", 22 + 26, 15, 26, 26},
    {"scip_python_rllib.scip", "scip", 469 + 99 + 43, 98, 371, 269},  // occurrences, symbols, external symbols
    {"uctags_Units_fortran_common.tags-json", "ctags-json", 4, 4, 0, 0},
    {"uctags_Units_python_bug1856363.tags", "ctags", 1, 1, 0, 0},
};

class SymbolCorpus : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    if (!symbols_test::has_corpus()) GTEST_SKIP() << "no corpus of symbol indexes";
  }
};

TEST_P(SymbolCorpus, IsReadWithABalancedAccount) {
  const Row& row = GetParam();
  const auto imported = read_file(corpus(row.file), false);
  EXPECT_EQ(imported.source.format, row.format);
  EXPECT_EQ(imported.source.dropped, 0);
  int64_t definitions = 0, uses = 0, targets = 0;
  for (const Symbol& symbol : imported.symbols->symbols) {
    ++(symbol.role == SymbolRole::definition ? definitions : uses);
    targets += symbol.role != SymbolRole::definition && symbol.target >= 0;
  }
  EXPECT_EQ(fmt::format("{} {} {} {}", imported.source.read, definitions, uses, targets),
            fmt::format("{} {} {} {}", row.read, row.definitions, row.uses, row.targets));
}

INSTANTIATE_TEST_SUITE_P(, SymbolCorpus, testing::ValuesIn(kRows), [](const auto& info) {
  std::string name = info.param.file;
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

TEST(SymbolsAgainstTheSource, EveryIndexOfTheFileFitsIt) {
  if (!symbols_test::has_corpus()) GTEST_SKIP() << "no corpus of symbol indexes";
  const auto fit = [](const char* file) {
    const auto imported = read_file(corpus(file), true);
    const model::SymbolIndex& index = *imported.symbols;
    return fmt::format("{} of {}, {}", index.fitted, index.tested, index.newline);
  };
  EXPECT_EQ(fit("ctags_uctags5.9_rllib_multi_gpu_impl.tags"), "23 of 23, ");
  EXPECT_EQ(fit("scip_python_rllib.scip"), "275 of 276, ");                              // __name__ is the module to it
  EXPECT_EQ(fit("pysonar2_head_rllib_multi_gpu_impl_angle.txt"), "1190 of 1190, crlf");  // 1,191 without the module
}

/// A use and its definition are the same symbol of SCIP, whose type checker knows. It has one symbol for a variable however often that is
/// assigned.
TEST(SymbolsAgainstTheSource, UsesMeanTheDefinitionsThatSCIPGives) {
  if (!symbols_test::has_corpus()) GTEST_SKIP() << "no corpus of symbol indexes";
  const auto scip = read_file(corpus("scip_python_rllib.scip"), true);
  std::map<std::pair<int32_t, int32_t>, std::string> known;
  for (const Symbol& symbol : scip.symbols->symbols) known[{symbol.line, symbol.column}] = scip.symbols->view(symbol.key);
  const auto imported = read_file(symbols_test::kSample, true);
  const model::SymbolIndex& index = *imported.symbols;
  std::map<model::TargetRule, std::pair<int, int>> agree;
  for (const Symbol& use : index.symbols) {
    if (use.role == SymbolRole::definition || use.target < 0) continue;
    const Symbol& target = index.symbols[static_cast<size_t>(use.target)];
    const auto here = known.find({use.line, use.column}), there = known.find({target.line, target.column});
    if (here == known.end() || there == known.end()) continue;
    auto& [right, all] = agree[use.rule];
    ++all;
    right += here->second == there->second;
  }
  const auto of = [&](model::TargetRule rule) {
    const auto& [right, all] = agree[rule];
    return fmt::format("{} of {}", right, all);
  };
  EXPECT_EQ(of(model::TargetRule::place), "10 of 10");
  EXPECT_EQ(of(model::TargetRule::function), "189 of 190");  // the index lacks a loop's variable that is meant
  EXPECT_EQ(of(model::TargetRule::later), "7 of 7");
  EXPECT_EQ(of(model::TargetRule::type), "23 of 23");
  EXPECT_EQ(of(model::TargetRule::module), "8 of 8");
}

}  // namespace
