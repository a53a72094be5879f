// First that every check finds what it must and nothing else, then the tree.
#include <gtest/gtest.h>

#include "tests/unit/layering/layering.h"

namespace layering {
namespace {

std::string join(const Findings& findings) {
  std::string text;
  for (const std::string& finding : findings) text += finding + "\n";
  return text;
}

struct Planted {
  const char* path;
  const char* text;
  const char* finding;  ///< how the only finding starts; "" for none
};

void expect_each(Findings (*check)(const Source&), std::initializer_list<Planted> cases) {
  for (const Planted& planted : cases) {
    const Findings findings = check({planted.path, planted.text});
    const size_t expected = *planted.finding == '\0' ? 0 : 1;
    ASSERT_EQ(findings.size(), expected) << planted.path << "\n" << planted.text << "\n" << join(findings);
    EXPECT_TRUE(findings.empty() || findings[0].starts_with(planted.finding)) << findings[0];
  }
}

TEST(Checks, FindEdgesThatPointUp) {
  expect_each(check_edges,
              {
                  {"src/base/text.cc", "#include \"src/ir/op.h\"\n", "src/base/text.cc:1: src/base/ may not include \"src/ir/op.h\""},
                  {"src/ir/cost.cc", "\n#include \"src/base/text.h\"\n#include \"src/ir/op.def\"\n", ""},
                  {"src/model/store.cc", "#include \"importers/importer.h\"\n", "src/model/store.cc:1: "},
                  {"src/model/store.cc", "#include \"embedded/model_sql.h\"\n", ""},
                  {"src/report/report.cc", "#include \"src/ir/module.h\"\n", "src/report/report.cc:1: "},
                  {"importers/hlo/lexer.cc", "#include \"src/model/store.h\"\n", "importers/hlo/lexer.cc:1: "},
                  {"importers/hlo/lexer.cc", "#include \"importers/paddle/paddle.h\"\n", "importers/hlo/lexer.cc:1: "},
                  {"importers/importers.cc", "#include \"importers/paddle/paddle.h\"\n", ""},
                  {"replay/engine.cc", "#  include \"src/model/store.h\"\n", "replay/engine.cc:1: "},
                  {"replay/engine.cc", "#include \"replay/device/null/null.h\"\n#include \"src/stats/stats.h\"\n", ""},
                  {"replay/kernel/lower.cc", "#include \"replay/rounding.h\"\n", ""},
                  {"replay/kernel/lower.cc", "#include \"replay/plan.h\"\n", "replay/kernel/lower.cc:1: "},
                  {"replay/device/cpu/cpu.cc", "#include \"replay/reference/reference.h\"\n", "replay/device/cpu/cpu.cc:1: "},
                  {"src/cli/import.cc", "#include \"ui/panel.h\"\n", "src/cli/import.cc:1: "},
                  {"ui/session.cc", "#include \"replay/plan.h\"\n", "ui/session.cc:1: "},
                  {"src/ir/print.cc", "#include \"print.h\"\n", "src/ir/print.cc:1: "},
                  {"src/novel/novel.cc", "#include \"src/base/text.h\"\n", "src/novel/novel.cc:1: this folder has no row"},
              });
}

TEST(Checks, FindLibrariesOutsideTheirFence) {
  expect_each(check_fences, {
                                {"src/report/report.cc", "#include <sqlite3.h>\n",
                                 "src/report/report.cc:1: <sqlite3.h> is known only to src/model/database.cc"},
                                {"src/model/database.cc", "#include <sqlite3.h>\n", ""},
                                {"replay/engine.cc", "#include <llvm/IR/Module.h>\n", "replay/engine.cc:1: "},
                                {"replay/device/cpu/jit.cc", "#include <llvm/IR/Module.h>\n", ""},
                                {"replay/plan.cc", "#include <oneapi/dnnl/dnnl.hpp>\n", "replay/plan.cc:1: "},
                                {"replay/device/cpu/cpu.cc", "#include <cuda.h>\n", "replay/device/cpu/cpu.cc:1: "},
                                {"src/cli/view.cc", "#include <imgui.h>\n", "src/cli/view.cc:1: "},
                                {"src/ir/print.cc", "#include <iostream>\n", "src/ir/print.cc:1: "},
                            });
}

TEST(Checks, FindOutputInLibraries) {
  expect_each(check_output, {
                                {"src/ir/print.cc", "void f() {\n  std::cout << 1;\n}\n", "src/ir/print.cc:2: 'std::cout'"},
                                {"src/ir/print.cc", "void f() { printf(\"%d\", 1); }\n", "src/ir/print.cc:1: 'printf'"},
                                {"src/ir/print.cc", "void f() { std::snprintf(b, 4, \"printf\"); }  // puts\n", ""},
                                {"replay/kernel/render.cc", "const char* c = R\"x(printf(\"hi\"))x\";\n", ""},
                                {"replay/engine.cc", "void f() { exit(1); }\n", "replay/engine.cc:1: 'exit'"},
                                {"replay/engine.cc", "int f(const Error& e) { return e.exit(); }\n", ""},
                                {"replay/engine.cc", "void f() { fputs(s, stderr); }\n", "replay/engine.cc:1: 'stderr'"},
                                {"src/cli/table.cc", "void f() { std::puts(s); }\n", ""},
                            });
}

std::string function_of(int lines, const std::string& head) {
  std::string text = head + " {\n";
  for (int i = 0; i < lines - 2; ++i) text += "  f(\"}\");\n";
  return text + "}\n";
}

TEST(Checks, FindWhatIsTooLong) {
  const auto findings = [](const std::string& path, const std::string& text) { return join(check_form({path, text})); };
  EXPECT_EQ(findings("src/a.cc", function_of(60, "void f(int x)")), "");
  EXPECT_TRUE(findings("src/a.cc", "\n" + function_of(61, "void f(int x)")).starts_with("src/a.cc:2: a function of 61 lines"));
  EXPECT_NE(findings("src/a.cc", "namespace n {\nstruct S {\n" + function_of(61, "bool operator==(S s) const") + "};\n}\n"), "");
  EXPECT_NE(findings("src/a.cc", function_of(61, "Base::Base(int x) : x_(x)")), "");
  EXPECT_EQ(findings("src/a.cc", "// Rounds.\n// Table: a line per type.\n" + function_of(61, "void f(int x)")), "");
  EXPECT_EQ(findings("src/a.cc", function_of(61, "const Row rows[] =")), "");
  EXPECT_EQ(findings("src/a.h", std::string(160, '\n')), "");
  EXPECT_NE(findings("src/a.h", std::string(161, '\n')), "");
  EXPECT_NE(findings("src/a.cc", std::string(601, '\n')), "");
}

TEST(Checks, FindMarksAndEmptyNames) {
  EXPECT_NE(join(check_form({"src/a.cc",
                             "// TO"
                             "DO: later\n"})),
            "");
  EXPECT_NE(join(check_form({"src/string_utils.cc", "\n"})), "");
  EXPECT_EQ(join(check_form({"src/ir/uncommon_shapes.cc", "// a todo list is a noun\n"})), "");
}

TEST(Checks, BlankWhatIsNoCode) {
  EXPECT_EQ(code_only("a /* { */ b // }\nc"), "a         b     \nc");
  EXPECT_EQ(code_only("'{' 1'000 \"\\\"{\" x"), "    1'000       x");
  EXPECT_EQ(code_only("#define F {\\\n  {\nint x;"), "            \n   \nint x;");
}

const std::vector<std::string> program = {"src", "importers", "replay", "ui"};

Findings over_tree(Findings (*check)(const Source&), const std::vector<std::string>& folders, bool cpp_only) {
  Findings all;
  for (const Source& source : read_tree(SOURCE_DIR, folders)) {
    if (cpp_only && !source.path.ends_with(".cc") && !source.path.ends_with(".h")) continue;
    const Findings found = check(source);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

TEST(Tree, HasSources) { EXPECT_GT(read_tree(SOURCE_DIR, program).size(), 20U); }
TEST(Tree, IncludesOnlyDownwards) { EXPECT_EQ(join(over_tree(check_edges, program, true)), ""); }
TEST(Tree, KeepsLibrariesInsideTheirFences) { EXPECT_EQ(join(over_tree(check_fences, program, true)), ""); }
TEST(Tree, PrintsOnlyInTheCommandLine) { EXPECT_EQ(join(over_tree(check_output, program, true)), ""); }
TEST(Tree, KeepsItsForm) {
  EXPECT_EQ(join(over_tree(check_form, {"src", "importers", "replay", "ui", "tests", "tools", "cmake"}, false)), "");
}

}  // namespace
}  // namespace layering
