// Lists of names: every form of a line, accounts, and every list of the corpus.
#include "importers/tensorflow/node_list.h"

#include <algorithm>

#include "tests/unit/tensorflow/fixture.h"

namespace {

using importers::tensorflow::match_node_list;
using importers::tensorflow::NodeList;
using importers::tensorflow::read_node_list;
using namespace tensorflow_test;

TEST(NodeList, FormsOfALine) {
  const NodeList list = read_node_list("a/Relu\r\n\r\nb/Relu 12\nc/Relu:1\n^d/Relu\n{{node e/Relu}}\n_SOURCE\nlast/Relu");
  ASSERT_EQ(list.names.size(), 7u);
  EXPECT_EQ(list.names[0].name, "a/Relu");
  EXPECT_EQ(list.names[1].name, "b/Relu");
  EXPECT_EQ(list.names[1].number, 12);
  EXPECT_EQ(list.names[1].line, 3);
  EXPECT_EQ(list.names[2].name, "c/Relu");
  EXPECT_EQ(list.names[3].name, "d/Relu");
  EXPECT_EQ(list.names[4].name, "e/Relu");
  EXPECT_EQ(list.names[6].name, "last/Relu");
  EXPECT_EQ(list.read, 7);
  EXPECT_EQ(list.refused + list.repeated, 0);
}

TEST(NodeList, TheSectionOfResourcesIsNoNames) {
  const NodeList list = read_node_list("a/ReadVariableOp 3\nb/AssignVariableOp 7\nunsafe_resource_deps_ 1\n3 7\n7 3\nc/Relu 9\n");
  EXPECT_EQ(list.read, 3);
  EXPECT_EQ(list.resource_deps, (std::vector<std::pair<int64_t, int64_t>>{{3, 7}, {7, 3}}));
  const auto imported = read_list("a/ReadVariableOp 3\nb/AssignVariableOp 7\nunsafe_resource_deps_:\n3 7\n");
  EXPECT_EQ(imported.operators[1].inputs, std::vector<std::string>{"^a/ReadVariableOp"});
  EXPECT_EQ(imported.operators[1].attributes, R"({"id": 7})");
}

TEST(NodeList, NumbersThatRepeatAreClusters) {
  EXPECT_FALSE(read_node_list("a/Relu 1\nb/Relu 2\n").clusters);
  EXPECT_TRUE(read_node_list("a/Relu 1\nb/Relu 1\n").clusters);
  EXPECT_TRUE(read_node_list("a/Relu cluster_0\nb/Relu cluster_0\n").clusters);
  EXPECT_EQ(read_list("a/Relu 1\nb/Relu 1\n").operators[0].attributes, R"({"cluster": 1})");
}

TEST(NodeList, RepeatedNamesCountOnceAndOtherLinesAreRefused) {
  const auto imported = read_list("a/Relu\nb/Relu\na/Relu\nwhat is this?\n\xff\xfe/Relu\nq\"uote\n");
  EXPECT_EQ(imported.source.read, 6);
  EXPECT_EQ(imported.source.kept, 2);
  EXPECT_EQ(imported.source.dropped, 4);
  EXPECT_EQ(imported.operators.size(), 2u);
  ASSERT_NE(note(imported, "repeated-name"), nullptr);
  ASSERT_NE(note(imported, "not-a-name"), nullptr);
  EXPECT_EQ(note(imported, "not-a-name")->line, 4);
}

TEST(NodeList, MatchesWhatLooksLikeNodes) {
  using importers::Match;
  EXPECT_EQ(match_node_list(bytes_of(kResNet)).how, Match::likely);
  EXPECT_EQ(match_node_list("apple\nbanana\ncherry\n").how, Match::weak);
  EXPECT_EQ(match_node_list("HloModule m\n\nENTRY %e (p: f32[]) -> f32[] {\n}\n").how, Match::none);
  EXPECT_EQ(match_node_list("src/base/text.cc\nsrc/ir/op.h\n").how, Match::weak);
  EXPECT_EQ(match_node_list("").how, Match::none);
}

TEST(NodeList, TheCorpusImportsWithBalancedAccounts) {
  if (!has_corpus()) GTEST_SKIP() << "needs the corpus";
  struct Case {
    const char* file;
    int64_t read, kept, untyped;
  };
  // Most names without a type are final_shape/…, which dPRO made to ask for shapes.
  const Case kCases[] = {{"dpro__TF1.15_xla_candidates_bert.txt", 21913, 21910, 15473},
                         {"dpro__TF1.15_xla_candidates_inceptionv3.txt", 1615, 1615, 1},
                         {"dpro__TF1.15_xla_candidates_resnet.txt", 26014, 4711, 1474},
                         {"dpro__TF1.15_xla_candidates_vgg19.txt", 626, 621, 0},
                         {"own/mlp.nodes.txt", 60, 60, 11}};
  for (const Case& expected : kCases) {
    const std::string text = bytes_of(corpus(expected.file));
    EXPECT_EQ(importers::match({expected.file, text}), importers::Match::likely) << expected.file;
    const auto imported = read_list(text);
    EXPECT_EQ(imported.source.read, expected.read) << expected.file;
    EXPECT_EQ(imported.source.kept, expected.kept) << expected.file;
    EXPECT_EQ(std::ranges::count(operators_of(imported), "", &model::Operator::type), expected.untyped) << expected.file;
  }
}

TEST(NodeList, AnyPartAndAnyEditOfAListIsRead) {
  std::string text = bytes_of(kResNet);
  for (size_t part = 1; part <= 500; ++part) {
    const NodeList list = read_node_list(std::string_view(text).substr(0, text.size() * part / 500));
    EXPECT_EQ(list.read, static_cast<int64_t>(list.names.size()) + list.repeated + list.refused);
  }
  uint64_t state = 1;
  for (int edit = 0; edit < 10'000; ++edit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    text[(state >> 33) % text.size()] = static_cast<char>(state >> 25);
  }
  const NodeList list = read_node_list(text);
  EXPECT_EQ(list.read, static_cast<int64_t>(list.names.size()) + list.repeated + list.refused);
  EXPECT_GT(list.refused, 1000);
}

TEST(NodeList, AMillionLinesAreReadInLinearTime) {
  std::string text;
  for (int line = 0; line < 1'000'000; ++line) text += line % 2 == 0 ? "a/Relu\n" : "\x01\n";
  const NodeList list = read_node_list(text);
  EXPECT_EQ(list.read, 1'000'000);
  EXPECT_EQ(list.names.size(), 1u);
  EXPECT_EQ(list.refused, 500'000);
  EXPECT_EQ(list.notes.size(), 22u);  // the first twenty lines, how many more, how many repeat
}

}  // namespace
