// Any bytes give an Error with a place or a clean import: cut and edited dumps, and texts made to exhaust stack, memory or time.
// The seed is fixed. Built with PROFILE_SANITIZE these tests also find what does not crash by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>

#include "importers/hlo/hlo.h"
#include "src/base/file.h"
#include "src/ir/cost.h"
#include "src/ir/print.h"

namespace {

std::string sample() {
  const auto text = base::read_file(SOURCE_DIR "/samples/mnist_train_step.hlo.txt");
  EXPECT_TRUE(text.ok());
  return text.ok() ? *text : "";
}

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

/// "file:line:column: …", the source line and a caret.
bool has_place(const std::string& message) {
  int line = 0, column = 0;
  return std::sscanf(message.c_str(), "f.hlo:%d:%d: ", &line, &column) == 2 && line > 0 && column > 0 && message.ends_with('^') &&
         std::ranges::count(message, '\n') == 2;
}

/// Imports and, when that works, does what a replay would do first: costs and a second parse of the printed text.
bool is_handled(const std::string& text) {
  const auto imported = importers::hlo::read({"f.hlo", text});
  if (!imported.ok()) return has_place(imported.error().message);
  const model::Source& source = imported->source;
  if (source.read != source.kept + source.dropped) return false;
  for (const ir::Module& module : imported->modules) {
    for (ir::InstrId i = 0; i < static_cast<ir::InstrId>(module.comp(module.entry).instrs.size()); ++i) {
      for (const ir::CostMethod method : ir::kCostMethods) (void)ir::cost(module, {module.entry, i}, method);
    }
    const auto again = importers::hlo::parse(ir::print(module), "printed");
    if (!again.ok() || !(*again == module)) return false;
  }
  return true;
}

TEST(Hostile, EveryCutOfADumpIsHandled) {
  const std::string text = sample();
  for (size_t i = 0; i < 500; ++i) {
    const size_t cut = text.size() * i / 500;
    EXPECT_TRUE(is_handled(text.substr(0, cut))) << "cut at " << cut;
  }
}

TEST(Hostile, RandomBytesInADumpAreHandled) {
  const std::string text = sample();
  std::mt19937_64 random(20260822);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  constexpr std::string_view kBytes = "{}()[]\",=%#/*.-+<>0123456789abcdefxyz_ \n\\\0\xff:;T";
  for (int i = 0; i < 10000; ++i) {
    std::string edited = text;
    for (size_t edits = 1 + below(3); edits > 0; --edits) {
      const size_t at = below(edited.size());
      switch (below(4)) {
        case 0:
          edited[at] = kBytes[below(kBytes.size())];
          break;
        case 1:
          edited.erase(at, 1 + below(8));
          break;
        case 2:
          edited.insert(at, 1, kBytes[below(kBytes.size())]);
          break;
        default:
          edited.insert(at, text.substr(below(text.size()), below(40)));
          break;
      }
    }
    ASSERT_TRUE(is_handled(edited)) << "edit " << i << ": " << [&] {
      const auto r = importers::hlo::read({"f.hlo", edited});
      return r.ok() ? std::string("imported, but not the same after printing") : r.error().message;
    }();
  }
}

struct Text {
  const char* name;
  std::string text;
};

class HostileText : public testing::TestWithParam<Text> {};

TEST_P(HostileText, IsRefusedWithAPlaceAndQuickly) {
  const auto begin = std::chrono::steady_clock::now();
  const auto imported = importers::hlo::read({"f.hlo", GetParam().text});
  ASSERT_FALSE(imported.ok());
  EXPECT_TRUE(has_place(imported.error().message)) << imported.error().message;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

std::string entry(const std::string& body) { return "HloModule m\nENTRY e {\n" + body + "\n}\n"; }

/// `count` times, `{}` replaced by 0, 1, ….
std::string numbered(std::string_view pattern, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    for (size_t at = 0; at < pattern.size(); ++at) {
      if (pattern[at] == '$')
        out += std::to_string(i);
      else if (pattern[at] == '@')
        out += std::to_string(i + 1);
      else
        out += pattern[at];
    }
  }
  return out;
}

std::vector<Text> hostile_texts() {
  std::string calls = "HloModule m\nc0 { ROOT p = f32[] parameter(0) }\n";
  for (int i = 1; i < 2000; ++i)
    calls += "c" + std::to_string(i) + " { p = f32[] parameter(0) ROOT r = f32[] call(p), to_apply=c" + std::to_string(i - 1) + " }\n";
  return {
      {"Nothing", ""},
      {"OnlyTheHeader", "HloModule m"},
      {"NestedTuples", entry("p = " + repeated("(", 100000))},
      {"NestedInstructions", entry("ROOT p = " + repeated("f32[] add(", 100000))},
      {"NestedBodies", entry("ROOT p = f32[] call(), to_apply=" + repeated("{ x = f32[] call(), to_apply=", 100000))},
      {"NestedBrackets", entry("p = f32[] parameter(0), sharding=" + repeated("{", 100000))},
      {"DeepCalls", calls},
      {"TuplesThatDouble", entry("t0 = f32[] parameter(0)\n" + numbered("t@ = tuple(t$, t$)\n", 200))},
      {"TuplesThatDeepen", entry("t0 = f32[] parameter(0)\n" + numbered("t@ = tuple(t$)\n", 100000))},
      {"ManyAttributes", entry("p = f32[] parameter(0)" + numbered(", a$=1", 100000))},
      {"ManyBodies", entry("i = s32[] parameter(0)\nROOT c = f32[] conditional(i), branch_computations={" +
                           numbered("{ x$ = f32[] constant($) },", 20000) + "{ y = f32[] constant(0) }}")},
      {"ManyDimensions", entry("p = f32[" + repeated("1,", 100000) + "1] parameter(0)")},
      {"SizesThatOverflow", entry("p = f32[4294967296,4294967296,4294967296] parameter(0)")},
      {"ALiteralLargerThanTheText", entry("c = f32[1000000000000]{0} constant({1, 2})")},
      {"ALoneNumberForALargeArray", entry("c = f32[1000000000]{0} constant(1)")},
      {"ASizeBeyond64Bits", entry("p = f32[99999999999999999999] parameter(0)")},
      {"ANegativeSize", entry("p = f32[-1] parameter(0)")},
      {"AParameterNumberBeyondAll", entry("p = f32[] parameter(9223372036854775807)")},
      {"ANulByte", entry(std::string("p = f32[]\0 parameter(0)", 23))},
      {"AStringWithoutEnd", entry("p = f32[] parameter(0), metadata={op_name=\"x}")},
      {"ACommentWithoutEnd", "HloModule m /* never closed"},
      {"ACommentWithoutEndAfterAll", entry("p = f32[] parameter(0)") + "/*"},
      {"ADictionaryWithoutEnd", entry("p = f32[] parameter(0), backend_config={\"a\":{}")},
      {"AnInstructionOfItself", entry("a = f32[] negate(b)\n b = f32[] negate(a)")},
      {"AComputationOfItself",
       "HloModule m\nc { p = f32[] parameter(0) ROOT r = f32[] call(p), to_apply=c }\nENTRY e { ROOT p = f32[] parameter(0) }"},
      {"TheSameNameTwice", entry("a = f32[] parameter(0)\n a = f32[] parameter(1)")},
      {"TwoRoots", entry("ROOT a = f32[] parameter(0)\n ROOT b = f32[] negate(a)")},
      {"TwoEntries", "HloModule m\nENTRY e { p = f32[] parameter(0) }\nENTRY f { p = f32[] parameter(0) }"},
      {"AnEmptyBody", entry("")},
      {"ALayoutOfAnotherRank", entry("p = f32[2,3]{0} parameter(0)")},
      {"TwoShapesForOne", entry("a = f32[2]{0} parameter(0)\n b = f32[3]{0} parameter(1)\n ROOT c = f32[2]{0} add(a, b)")},
      {"TheEndAfterTheEntry", entry("p = f32[] parameter(0)") + "%late {"},
  };
}

INSTANTIATE_TEST_SUITE_P(Hlo, HostileText, testing::ValuesIn(hostile_texts()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Hostile, SharedCalleesCostLinearTime) {
  std::string text = "HloModule m\nc0 { p = f32[] parameter(0) ROOT r = f32[] add(p, p) }\n";
  for (int i = 1; i < 200; ++i) {
    const std::string callee = "c" + std::to_string(i - 1);
    text += "c" + std::to_string(i) + " { p = f32[] parameter(0) a = f32[] fusion(p), kind=kLoop, calls=" + callee +
            " b = f32[] fusion(p), kind=kLoop, calls=" + callee + " ROOT r = f32[] add(a, b) }\n";
  }
  text += "ENTRY e { p = f32[] parameter(0) ROOT r = f32[] fusion(p), kind=kLoop, calls=c199 }";
  const auto module = importers::hlo::parse(text, "f.hlo");
  ASSERT_TRUE(module.ok()) << module.error().message;
  for (const ir::CostMethod method : ir::kCostMethods) EXPECT_GT(ir::cost(*module, {module->entry, 1}, method).flops, 1e50);
  EXPECT_LT(ir::canonical(*module, ir::InstrRef{module->entry, 1}).size(), 100000u);
}

TEST(Hostile, ALongChainInAFusionNeedsNoStack) {
  std::string text = "HloModule m\nbody { x0 = f32[4]{0} parameter(0)\n";
  for (int i = 1; i < 100000; ++i) text += "x" + std::to_string(i) + " = f32[4]{0} reshape(x" + std::to_string(i - 1) + ")\n";
  text += "}\nENTRY e { p = f32[4]{0} parameter(0) ROOT r = f32[4]{0} fusion(p), kind=kLoop, calls=body }";
  const auto module = importers::hlo::parse(text, "f.hlo");
  ASSERT_TRUE(module.ok()) << module.error().message;
  EXPECT_EQ(ir::cost(*module, {module->entry, 1}, ir::CostMethod::traffic).bytes(), 32);
}

TEST(Hostile, OneInstructionOfManyOperandsIsQuick) {
  const auto imported = importers::hlo::read({"f.hlo", "tuple(" + numbered("f32[] x$, ", 100000) + "f32[] y)"});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(imported->source.read, 100002);
}

TEST(Hostile, ADefinitionAfterItsUseIsSorted) {
  std::string text = "HloModule m\nENTRY e {\n";
  for (int i = 100000; i > 0; --i)
    text += (i == 100000 ? "ROOT x" : "x") + std::to_string(i) + " = f32[] negate(x" + std::to_string(i - 1) + ")\n";
  text += "x0 = f32[] parameter(0)\n}";
  const auto imported = importers::hlo::read({"f.hlo", text});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(imported->modules[0].comp(0).root, 100000);
}

}  // namespace
