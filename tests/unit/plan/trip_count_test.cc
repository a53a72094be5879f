// Trip counts of loops: from the compiler's note, from the counter's pattern, and not where neither tells.
#include "replay/trip_count.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include "importers/hlo/hlo.h"
#include "replay/plan.h"

namespace replay {
namespace {

struct Counter {
  const char* start;
  const char* limit;
  const char* update;     ///< of i by k
  const char* step;       ///< k
  const char* direction;  ///< of i against the limit
  const char* type = "s32";
};

std::string text_of(const Counter& c, const std::string& attributes = "") {
  return fmt::format(R"(
less {{ s = ({0}[], f32[2]{{0}}) parameter(0)  i = {0}[] get-tuple-element(s), index=0  n = {0}[] constant({2})  ROOT c = pred[] compare(i, n), direction={5} }}
next {{
  s = ({0}[], f32[2]{{0}}) parameter(0)
  i = {0}[] get-tuple-element(s), index=0
  v = f32[2]{{0}} get-tuple-element(s), index=1
  k = {0}[] constant({4})
  j = {0}[] {3}
  ROOT r = ({0}[], f32[2]{{0}}) tuple(j, v)
}}
ENTRY main {{
  z = {0}[] constant({1})
  zc = {0}[] copy(z)
  a = f32[2]{{0}} parameter(0)
  s = ({0}[], f32[2]{{0}}) tuple(zc, a)
  ROOT l = ({0}[], f32[2]{{0}}) while(s), condition=less, body=next{6}
}})",
                     c.type, c.start, c.limit, c.update, c.step, c.direction, attributes);
}

std::optional<int64_t> trips(const std::string& text) {
  const auto module = importers::hlo::parse(text, "test.hlo");
  EXPECT_TRUE(module.ok()) << module.error().message;
  const ir::Computation& entry = module->comp(module->entry);
  return trip_count(*module, {module->entry, entry.root});
}

TEST(TripCount, OfCountersUpAndDown) {
  EXPECT_EQ(trips(text_of({"0", "10", "add(i, k)", "1", "LT"})), 10);
  EXPECT_EQ(trips(text_of({"0", "10", "add(k, i)", "3", "LT"})), 4);
  EXPECT_EQ(trips(text_of({"0", "10", "add(i, k)", "1", "LE"})), 11);
  EXPECT_EQ(trips(text_of({"7", "7", "add(i, k)", "1", "LT"})), 0);
  EXPECT_EQ(trips(text_of({"10", "0", "subtract(i, k)", "2", "GT"})), 5);
  EXPECT_EQ(trips(text_of({"10", "0", "add(i, k)", "-1", "GE"})), 11);
  EXPECT_EQ(trips(text_of({"0", "12", "add(i, k)", "4", "NE"})), 3);
  EXPECT_EQ(trips(text_of({"3", "3", "add(i, k)", "4", "EQ"})), 1);
  EXPECT_EQ(trips(text_of({"0", "200", "add(i, k)", "100", "LT", "u8"})), 2);
  EXPECT_EQ(trips(text_of({"0", "5000000000", "add(i, k)", "1", "LT", "s64"})), 5000000000);
}

TEST(TripCount, IsNotGuessed) {
  EXPECT_EQ(trips(text_of({"0", "10", "add(i, k)", "0", "LT"})), std::nullopt);          // for ever
  EXPECT_EQ(trips(text_of({"0", "10", "add(i, k)", "3", "NE"})), std::nullopt);          // passes it by
  EXPECT_EQ(trips(text_of({"0", "10", "multiply(i, k)", "2", "LT"})), std::nullopt);     // another pattern
  EXPECT_EQ(trips(text_of({"0", "120", "add(i, k)", "50", "LT", "s8"})), std::nullopt);  // wraps before it ends
}

TEST(TripCount, TheCompilersNoteComesFirst) {
  const Counter endless{"0", "10", "add(i, k)", "0", "LT"};
  EXPECT_EQ(trips(text_of(endless, R"(, backend_config={"known_trip_count":{"n":"25"}})")), 25);
  EXPECT_EQ(trips(text_of(endless, R"(, backend_config="{\"known_trip_count\":{\"n\":\"5\"}}")")), 5);
}

TEST(TripCount, StepsInLoopsAreCountedByTrips) {
  auto module = importers::hlo::parse(text_of({"0", "10", "add(i, k)", "1", "LT"}), "test.hlo");
  ASSERT_TRUE(module.ok());
  const auto plan = make_plan(*module, {});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  std::map<std::string, double> by_name;
  for (const Step* step : plan->steps) by_name[step->name] = step->trips;
  EXPECT_EQ(by_name.at("c"), 11);
  EXPECT_EQ(by_name.at("j"), 10);
  EXPECT_EQ(by_name.at("zc"), 1);
}

TEST(TripCount, ALoopThatNeverEndsIsRefused) {
  const auto module = importers::hlo::parse(R"(
ever { s = f32[2]{0} parameter(0)  ROOT c = pred[] constant(true) }
next { s = f32[2]{0} parameter(0)  ROOT r = f32[2]{0} negate(s) }
ENTRY main { a = f32[2]{0} parameter(0)  ROOT l = f32[2]{0} while(a), condition=ever, body=next })",
                                            "test.hlo");
  ASSERT_TRUE(module.ok());
  const auto plan = make_plan(*module, {});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().message, "l: its condition stays true, so it never ends; try --computation NAME");
}

TEST(TripCount, ALoopThatNeverEndsAndChangesNothingIsRemoved) {
  const auto module = importers::hlo::parse(R"(
ever { s = (s32[], (f32[2]{0}, f32[3]{0})) parameter(0)  n = s32[] get-tuple-element(s), index=0  k = s32[] constant(5)
  ROOT c = pred[] compare(n, k), direction=LT }
next { s = (s32[], (f32[2]{0}, f32[3]{0})) parameter(0)  n = s32[] get-tuple-element(s), index=0  z = s32[] constant(0)
  m = s32[] add(z, n)  t = (f32[2]{0}, f32[3]{0}) get-tuple-element(s), index=1  a = f32[2]{0} get-tuple-element(t), index=0
  b = f32[3]{0} get-tuple-element(t), index=1  c = f32[3]{0} copy(b)  u = (f32[2]{0}, f32[3]{0}) tuple(a, c)
  unused = f32[2]{0} negate(a)  ROOT r = (s32[], (f32[2]{0}, f32[3]{0})) tuple(m, u) }
ENTRY main { n = s32[] constant(1)  a = f32[2]{0} parameter(0)  b = f32[3]{0} parameter(1)  t = (f32[2]{0}, f32[3]{0}) tuple(a, b)
  i = (s32[], (f32[2]{0}, f32[3]{0})) tuple(n, t)
  ROOT l = (s32[], (f32[2]{0}, f32[3]{0})) while(i), condition=ever, body=next })",
                                            "test.hlo");
  ASSERT_TRUE(module.ok()) << module.error().message;
  const auto plan = make_plan(*module, {});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_TRUE(plan->steps.empty());
  ASSERT_EQ(plan->outputs.size(), 3u);
  EXPECT_EQ(plan->outputs[1].buffer, plan->parameters[0].buffer);
  EXPECT_EQ(plan->outputs[2].buffer, plan->parameters[1].buffer);
}

TEST(TripCount, ALoopWhoseResultNobodyNeedsIsRemoved) {
  const auto module = importers::hlo::parse(R"(
ever { s = f32[2]{0} parameter(0)  ROOT c = pred[] constant(true) }
next { s = f32[2]{0} parameter(0)  ROOT r = f32[2]{0} negate(s) }
ENTRY main { a = f32[2]{0} parameter(0)  l = f32[2]{0} while(a), condition=ever, body=next  m = f32[2]{0} abs(l)
  ROOT r = f32[2]{0} exponential(a) })",
                                            "test.hlo");
  ASSERT_TRUE(module.ok()) << module.error().message;
  const auto plan = make_plan(*module, {});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  ASSERT_EQ(plan->steps.size(), 1u);
  EXPECT_EQ(plan->steps[0]->name, "r");
}

TEST(TripCount, ALoopThatExchangesItsStateIsNotRemoved) {
  const auto module = importers::hlo::parse(R"(
ever { s = (f32[2]{0}, f32[2]{0}) parameter(0)  ROOT c = pred[] constant(true) }
next { s = (f32[2]{0}, f32[2]{0}) parameter(0)  a = f32[2]{0} get-tuple-element(s), index=0
  b = f32[2]{0} get-tuple-element(s), index=1  ROOT r = (f32[2]{0}, f32[2]{0}) tuple(b, a) }
ENTRY main { a = f32[2]{0} parameter(0)  i = (f32[2]{0}, f32[2]{0}) tuple(a, a)
  ROOT l = (f32[2]{0}, f32[2]{0}) while(i), condition=ever, body=next })",
                                            "test.hlo");
  ASSERT_TRUE(module.ok()) << module.error().message;
  EXPECT_FALSE(make_plan(*module, {}).ok());
}

TEST(TripCount, ALoopThatNeverEndsMayStandInABranchThatIsNotTaken) {
  const auto module = importers::hlo::parse(R"(
ever { s = f32[2]{0} parameter(0)  ROOT c = pred[] constant(true) }
next { s = f32[2]{0} parameter(0)  ROOT r = f32[2]{0} negate(s) }
spin { a = f32[2]{0} parameter(0)  ROOT l = f32[2]{0} while(a), condition=ever, body=next }
pass { ROOT a = f32[2]{0} parameter(0) }
ENTRY main { p = pred[] parameter(0)  a = f32[2]{0} parameter(1)
  ROOT r = f32[2]{0} conditional(p, a, a), true_computation=spin, false_computation=pass })",
                                            "test.hlo");
  ASSERT_TRUE(module.ok());
  EXPECT_TRUE(make_plan(*module, {}).ok());
}

TEST(TripCount, ACounterThatNobodyMovesNeverArrives) {
  const auto ends = [](const Counter& counter) {
    const auto module = importers::hlo::parse(text_of(counter), "test.hlo");
    EXPECT_TRUE(module.ok());
    return !never_ends(*module, {module->entry, module->comp(module->entry).root});
  };
  EXPECT_FALSE(ends({"0", "10", "add(i, k)", "0", "LT"}));
  EXPECT_TRUE(ends({"10", "10", "add(i, k)", "0", "LT"}));
  EXPECT_TRUE(ends({"0", "10", "multiply(i, k)", "2", "LT"}));  // not known
}

}  // namespace
}  // namespace replay
