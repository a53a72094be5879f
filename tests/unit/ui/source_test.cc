// Source lines: the tree, the places where a text is looked for, its lines; then a person looks at them.
#include "ui/source_data.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "src/base/file.h"
#include "src/model/database.h"
#include "tests/unit/ui/person.h"

namespace ui {
namespace {

SourceFile file(std::string path, std::vector<SourceLine> lines) {
  SourceFile f;
  f.path = std::move(path), f.lines = std::move(lines);
  return f;
}

SourceLine line(int64_t number, double ns) { return {number, ns, 1, 1, "", false}; }

Sources three() {
  return arranged({file("/home/x/model/layers/dense.py", {line(3, 10), line(8, 40)}), file("/home/x/model/train.py", {line(1, 5)}),
                   file("/home/x/model/layers/norm.py", {}), file("", {line(0, 45)})});
}

TEST(SourceTree, LeavesOutWhatAllPathsHaveInCommonAndSumsFolders) {
  const Sources sources = three();
  EXPECT_EQ(sources.base, "/home/x/model/");
  EXPECT_DOUBLE_EQ(sources.pass_ns, 100);
  std::vector<std::string> names;
  for (const SourceNode& node : sources.tree) names.push_back(std::string(static_cast<size_t>(node.depth), ' ') + node.name);
  EXPECT_EQ(names, (std::vector<std::string>{"(not told)", "layers", " dense.py", " norm.py", "train.py"}));
  EXPECT_DOUBLE_EQ(sources.tree[1].pass_ns, 50);
  EXPECT_EQ(sources.tree[1].end, 4);
}

TEST(SourceTree, OfOneFileAndOfNone) {
  EXPECT_EQ(arranged({file("a.py", {})}).tree.size(), 1u);
  EXPECT_EQ(arranged({file("a.py", {})}).base, "");
  EXPECT_TRUE(arranged({}).tree.empty());
  EXPECT_EQ(arranged({file("/a.py", {}), file("/b.py", {})}).tree.size(), 2u);
}

TEST(SourceTree, TakesStrangePaths) {
  for (const std::string& path :
       {std::string("///"), std::string("/"), std::string("a//b"), std::string(5000, '/'), std::string("a\0b", 3)}) {
    const Sources sources = arranged({file(path, {line(1, 1)}), file("x/y", {})});
    EXPECT_GE(sources.tree.size(), 2u);
  }
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "d/";
  EXPECT_LT(arranged({file(deep + "f", {line(1, 1)}), file("x", {})}).tree.size(), 100u);
}

TEST(SourceLines, ComeByTime) {
  const Sources sources = three();
  const std::vector<HotLine> all = hottest(sources, -1);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(sources.files[static_cast<size_t>(all[0].file)].path, "");
  const std::vector<HotLine> one = hottest(sources, sources.find("/home/x/model/layers/dense.py"));
  ASSERT_EQ(one.size(), 2u);
  EXPECT_EQ(sources.files[static_cast<size_t>(one[0].file)].lines[static_cast<size_t>(one[0].line)].line, 8);
  EXPECT_EQ(sources.find("nowhere"), -1);
}

TEST(SourceCandidates, StayBelowTheFolders) {
  EXPECT_EQ(candidates("/a/b/c.py", {"/src"}), (std::vector<std::string>{"/a/b/c.py", "/src/a/b/c.py", "/src/b/c.py", "/src/c.py"}));
  EXPECT_EQ(candidates("b/c.py", {"", "/s"}), (std::vector<std::string>{"/s/b/c.py", "/s/c.py"}));
  EXPECT_TRUE(candidates("../../etc/passwd", {"/s"}).empty());
  EXPECT_TRUE(candidates(std::string("a\0b", 3), {"/s"}).empty());
  EXPECT_TRUE(candidates("", {"/s"}).empty());
  EXPECT_TRUE(candidates(std::string(100000, 'x'), {"/s"}).empty());
}

class SourceFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/profile_source_test" + std::to_string(::getpid());  // tests run at the same time
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ + "/inside/deep");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(SourceFiles, AreFoundWithoutTheFirstPartsOfTheirPath) {
  ASSERT_TRUE(base::write_file(folder_ + "/inside/deep/m.py", "one\r\ntwo\n\nlast").ok());
  const SourceText text = read_source("/elsewhere/deep/m.py", {folder_ + "/inside"});
  ASSERT_FALSE(text.path.empty()) << text.why;
  ASSERT_EQ(text.lines(), 4u);
  EXPECT_EQ(text.line(0), "one");
  EXPECT_EQ(text.line(2), "");
  EXPECT_EQ(text.line(3), "last");
}

TEST_F(SourceFiles, AreNotReadThroughALinkThatLeadsOut) {
  ASSERT_TRUE(base::write_file(folder_ + "/secret.py", "secret").ok());
  std::filesystem::create_symlink(folder_ + "/secret.py", folder_ + "/inside/m.py");
  EXPECT_TRUE(read_source("m.py", {folder_ + "/inside"}).path.empty());
}

TEST_F(SourceFiles, ThatAreNoTextOrTooLargeSaySo) {
  ASSERT_TRUE(base::write_file(folder_ + "/m.py", std::string("a\0b", 3)).ok());
  EXPECT_NE(read_source("m.py", {folder_}).why.find("not a text"), std::string::npos);
  ASSERT_TRUE(base::write_file(folder_ + "/m.py", std::string(kMostSourceBytes + 1, 'x')).ok());
  const SourceText text = read_source("m.py", {folder_});
  EXPECT_TRUE(text.path.empty());
  EXPECT_FALSE(text.why.empty());
}

TEST_F(SourceFiles, ThatAreMissingAreFoldersOrDevicesAreNotRead) {
  EXPECT_TRUE(read_source("inside", {folder_}).path.empty());
  EXPECT_TRUE(read_source("/dev/zero", {}).path.empty());
  EXPECT_FALSE(read_source("missing.py", {folder_}).why.empty());
  EXPECT_EQ(split_lines("x", "").lines(), 0u);
}

/// A database whose program has source lines, beside the text that they are of.
class SourcePanelFiles : public SourceFiles {
 protected:
  void SetUp() override {
    SourceFiles::SetUp();
    database_ = folder_ + "/run.db";
    std::filesystem::copy_file(sample("mnist"), database_);
    std::string text;
    for (int i = 1; i <= 200; ++i) text += "statement_" + std::to_string(i) + "()\n";
    ASSERT_TRUE(base::write_file(folder_ + "/model.py", text).ok());
    auto database = model::Database::open(database_, model::Database::Access::write, std::chrono::seconds(5));
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database
                    ->execute("INSERT INTO string VALUES (1, '/elsewhere/model.py'), (2, '/elsewhere/part/other.py');"
                              "INSERT INTO place VALUES (1, 1, 150), (2, 1, 3), (3, 2, 9);"
                              "UPDATE instruction SET place = 1 + id % 3;"
                              "DELETE FROM place_share")
                    .ok());
  }
  std::string database_;
};

TEST_F(SourcePanelFiles, ShowTheTextAtTheLineOfTheSelectedStepAndItsSteps) {
  Person person({database_});
  person.show("source");
  EXPECT_TRUE(person.sees("/elsewhere/")) << screen::dump();
  EXPECT_TRUE(person.sees("other.py")) << screen::dump();
  const StepInfo* found = nullptr;
  for (const StepInfo& step : person.session.data()->steps) {
    if (step.source_line == 150) found = &step;
  }
  ASSERT_NE(found, nullptr);
  person.session.select_step(found->step);
  person.look(4);
  EXPECT_TRUE(person.sees("statement_150()")) << screen::dump();
  EXPECT_TRUE(person.sees(found->name)) << screen::dump();
  person.press('N');
  EXPECT_EQ(person.session.selection().line, 3);
  EXPECT_TRUE(person.sees("statement_3()")) << screen::dump();
  person.press(Session::kDown);
  EXPECT_EQ(person.session.selection().line, 4);
  EXPECT_TRUE(person.sees("No step comes from line 4")) << screen::dump();
  person.click("other.py");
  EXPECT_EQ(person.session.selection().file, "/elsewhere/part/other.py");
  EXPECT_TRUE(person.sees("not at hand")) << screen::dump();
}

TEST(SourcePanel, SaysWhyItIsEmpty) {
  Person person({sample("mnist")});
  person.show("source");
  EXPECT_TRUE(person.sees("names no source lines")) << screen::dump();
}

}  // namespace
}  // namespace ui
