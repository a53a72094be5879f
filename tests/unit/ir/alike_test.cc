// Which instructions count as alike: what they compute decides, not what they are called.
#include "src/ir/alike.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "importers/hlo/hlo.h"

namespace {

/// Numbers of the entry's instructions, by name.
std::map<std::string, size_t> numbers(std::string_view text) {
  const auto module = importers::hlo::parse(text, "alike.hlo");
  EXPECT_TRUE(module.ok()) << module.error().message;
  ir::Alike alike(*module);
  std::map<std::string, size_t> numbers;
  const ir::Computation& entry = module->comp(module->entry);
  for (const ir::Instr& instr : entry.instrs) numbers.emplace(module->name_of(instr), alike.number(entry, instr));
  return numbers;
}

TEST(Alike, NamesAndMetadataDoNotCount) {
  auto of = numbers(R"(HloModule m
ENTRY e {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  x = f32[4] add(a, b), metadata={op_name="one"}
  y = f32[4] add(x, a), metadata={op_name="two"}
  z = f32[4] subtract(x, a)
  w = f32[4] add(a, a)
  ROOT t = (f32[4], f32[4], f32[4]) tuple(y, z, w)
})");
  EXPECT_EQ(of["a"], of["b"]);
  EXPECT_EQ(of["x"], of["y"]);
  EXPECT_NE(of["x"], of["z"]) << "another opcode";
  EXPECT_NE(of["x"], of["w"]) << "one value twice is read once";
}

TEST(Alike, ShapesLayoutsAndAttributesCount) {
  auto of = numbers(R"(HloModule m
ENTRY e {
  a = f32[4,4]{1,0} parameter(0)
  b = f32[4,4]{0,1} parameter(1)
  t = f32[4,4]{1,0} transpose(a), dimensions={1,0}
  u = f32[4,4]{1,0} transpose(a), dimensions={0,1}
  v = f32[4,4]{1,0} transpose(b), dimensions={1,0}
  ROOT r = (f32[4,4], f32[4,4], f32[4,4]) tuple(t, u, v)
})");
  EXPECT_NE(of["a"], of["b"]);
  EXPECT_NE(of["t"], of["u"]);
  EXPECT_NE(of["t"], of["v"]);
}

TEST(Alike, CalleesCountByWhatTheyDo) {
  auto of = numbers(R"(HloModule m
one { p = f32[4] parameter(0) c = f32[] constant(1) d = f32[4] broadcast(c), dimensions={} ROOT r = f32[4] add(p, d) }
two { q = f32[4] parameter(0) k = f32[] constant(2) l = f32[4] broadcast(k), dimensions={} ROOT s = f32[4] add(q, l) }
three { q = f32[4] parameter(0) k = f32[] constant(2) l = f32[4] broadcast(k), dimensions={} ROOT s = f32[4] add(l, q) }
ENTRY e {
  a = f32[4] parameter(0)
  x = f32[4] fusion(a), kind=kLoop, calls=one
  y = f32[4] fusion(x), kind=kLoop, calls=two
  z = f32[4] fusion(y), kind=kLoop, calls=three
  ROOT w = f32[4] call(z), to_apply=one
})");
  EXPECT_EQ(of["x"], of["y"]) << "constants of another value";
  EXPECT_NE(of["x"], of["z"]) << "operands in another order";
  EXPECT_NE(of["x"], of["w"]);
}

}  // namespace
