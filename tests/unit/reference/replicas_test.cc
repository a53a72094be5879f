// Collectives on several devices, by values worked out by hand: device d begins with a vector that tells it from the others.
#include "replay/reference/replicas.h"

#include <gtest/gtest.h>

#include "importers/hlo/hlo.h"
#include "replay/element.h"
#include "tests/unit/reference/numbers.h"

namespace replay::reference {
namespace {

constexpr const char* kAdd = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n";

/// The f32 vector {10·d + 1, 10·d + 2, …} of each device, n long.
std::vector<std::vector<Tensor>> vectors(int64_t devices, int64_t n) {
  std::vector<std::vector<Tensor>> out;
  for (int64_t d = 0; d < devices; ++d) {
    Tensor tensor;
    tensor.shape = ir::array_shape(ir::Type::f32, {n});
    tensor.data.resize(static_cast<size_t>(n) * 4);
    for (int64_t i = 0; i < n; ++i) store_real(ir::Type::f32, tensor.data.data(), i, static_cast<double>(10 * d + i + 1));
    out.push_back({tensor});
  }
  return out;
}

/// Result on each device; the text's parameter x is f32[n].
std::vector<Numbers> on_devices(const Devices& devices, int64_t n, const std::string& text) {
  const auto module = importers::hlo::parse("HloModule m\n" + text, "test");
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message);
  if (!module.ok()) return {};
  const auto made = run_on_devices(*module, Rounding::each, devices, vectors(devices.count(), n));
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
  std::vector<Numbers> out;
  for (size_t d = 0; made.ok() && d < made->size(); ++d) out.push_back(numbers_of((*made)[d]));
  return out;
}

std::string entry(const std::string& x, const std::string& body) { return "ENTRY e { x = " + x + " parameter(0)  " + body + " }"; }

TEST(Groups, TheirTextsAreListsAndIotas) {
  EXPECT_EQ(*parse_groups("{{0,2},{1,3}}"), (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(*parse_groups("{}"), Groups{});
  EXPECT_EQ(*parse_groups("[2,3]<=[6]"), (Groups{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(*parse_groups("[2,2]<=[2,2]T(1,0)"), (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(*parse_groups("[4,2]<=[2,2,2]T(0,2,1)"), (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  for (const char* broken : {"", "{{0,1}", "[2,2]<=[5]", "[0,2]<=[4]", "[2,2]<=[2,2]T(1,1)", "[1,1]<=[99999999999]", "{{x}}"})
    EXPECT_FALSE(parse_groups(broken).ok()) << broken;
}

TEST(Replicas, AnAllReduceSumsWithinItsGroups) {
  const std::string text = kAdd + entry("f32[2]{0}", "ROOT r = f32[2]{0} all-reduce(x), replica_groups={{0,3},{1,2}}, to_apply=add");
  EXPECT_EQ(on_devices({4, 1}, 2, text), (std::vector<Numbers>{{32, 34}, {32, 34}, {32, 34}, {32, 34}}));
  const std::string max = "max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }\n" +
                          entry("f32[1]{0}", "ROOT r = f32[1]{0} all-reduce(x), replica_groups={{0,2},{1}}, to_apply=max");
  EXPECT_EQ(on_devices({3, 1}, 1, max), (std::vector<Numbers>{{21}, {11}, {21}}));
}

TEST(Replicas, ChannelsAndGlobalIdsSayWhatTheNumbersAre) {
  const auto reduce = [](const std::string& attributes) {
    return kAdd + entry("f32[1]{0}", "ROOT r = f32[1]{0} all-reduce(x), to_apply=add, " + attributes);
  };
  // Devices 0 … 3 hold 1, 11, 21, 31; device 2r + p is partition p of replica r.
  EXPECT_EQ(on_devices({2, 2}, 1, reduce("replica_groups={{0,1}}")), (std::vector<Numbers>{{22}, {42}, {22}, {42}}));
  EXPECT_EQ(on_devices({2, 2}, 1, reduce("replica_groups={{0},{1}}, channel_id=1")), (std::vector<Numbers>{{12}, {12}, {52}, {52}}));
  EXPECT_EQ(on_devices({2, 2}, 1, reduce("replica_groups={{0,3},{1,2}}, channel_id=1, use_global_device_ids=true")),
            (std::vector<Numbers>{{32}, {32}, {32}, {32}}));
  EXPECT_EQ(on_devices({2, 2}, 1, reduce("replica_groups={}")), (std::vector<Numbers>{{22}, {42}, {22}, {42}}));
}

TEST(Replicas, AnAllGatherPutsItsMembersSideBySideInTheirOrder) {
  const std::string text = entry("f32[2]{0}", "ROOT r = f32[4]{0} all-gather(x), dimensions={0}, replica_groups={{1,0}}");
  EXPECT_EQ(on_devices({2, 1}, 2, text), (std::vector<Numbers>{{11, 12, 1, 2}, {11, 12, 1, 2}}));
  const std::string inner = entry("f32[2]{0}",
                                  "y = f32[2,1]{1,0} reshape(x)  s = (f32[2,1]{1,0}, f32[2,2]{1,0}) all-gather-start(y), dimensions={1}, "
                                  "replica_groups={{0,1}}  ROOT r = f32[2,2]{1,0} all-gather-done(s)");
  EXPECT_EQ(on_devices({2, 1}, 2, inner), (std::vector<Numbers>{{1, 11, 2, 12}, {1, 11, 2, 12}}));
}

TEST(Replicas, AReduceScatterLeavesEachMemberItsPart) {
  const std::string text =
      kAdd + entry("f32[4]{0}", "ROOT r = f32[2]{0} reduce-scatter(x), dimensions={0}, replica_groups={{0,1}}, to_apply=add");
  EXPECT_EQ(on_devices({2, 1}, 4, text), (std::vector<Numbers>{{12, 14}, {16, 18}}));
}

TEST(Replicas, AnAllToAllSendsPieceMToMemberM) {
  const std::string array = entry("f32[4]{0}", "ROOT r = f32[4]{0} all-to-all(x), dimensions={0}, replica_groups={{0,1}}");
  EXPECT_EQ(on_devices({2, 1}, 4, array), (std::vector<Numbers>{{1, 2, 11, 12}, {3, 4, 13, 14}}));
  const std::string operands =
      entry("f32[2]{0}",
            "a = f32[1]{0} slice(x), slice={[0:1]}  b = f32[1]{0} slice(x), slice={[1:2]}  t = (f32[1]{0}, f32[1]{0}) all-to-all(a, b), "
            "replica_groups={{0,1}}  p = f32[1]{0} get-tuple-element(t), index=0  q = f32[1]{0} get-tuple-element(t), index=1  ROOT r = "
            "f32[2]{0} concatenate(p, q), dimensions={0}");
  EXPECT_EQ(on_devices({2, 1}, 2, operands), (std::vector<Numbers>{{1, 11}, {2, 12}}));
}

TEST(Replicas, APermuteMovesValuesAndLeavesZerosWhereNothingComes) {
  const std::string text = entry("f32[1]{0}", "ROOT r = f32[1]{0} collective-permute(x), source_target_pairs={{0,1},{1,2}}");
  EXPECT_EQ(on_devices({3, 1}, 1, text), (std::vector<Numbers>{{0}, {1}, {11}}));
  const std::string pair = entry("f32[1]{0}",
                                 "s = (f32[1]{0}, f32[1]{0}, u32[], u32[]) collective-permute-start(x), source_target_pairs={{0,1},{1,0}}  "
                                 "ROOT r = f32[1]{0} collective-permute-done(s)");
  EXPECT_EQ(on_devices({2, 1}, 1, pair), (std::vector<Numbers>{{11}, {1}}));
}

TEST(Replicas, ABroadcastGivesWhatTheFirstMemberHolds) {
  const std::string text = entry("f32[1]{0}", "ROOT r = f32[1]{0} collective-broadcast(x), replica_groups={{2,0}}");
  EXPECT_EQ(on_devices({3, 1}, 1, text), (std::vector<Numbers>{{21}, {0}, {21}}));
}

TEST(Replicas, DevicesKnowTheirNumbers) {
  const std::string text =
      "ENTRY e { x = f32[1]{0} parameter(0)  r = u32[] replica-id()  p = u32[] partition-id()  k = u32[] constant(10)  m = u32[] "
      "multiply(r, k)  ROOT s = u32[] add(m, p) }";
  EXPECT_EQ(on_devices({2, 2}, 1, text), (std::vector<Numbers>{{0}, {1}, {10}, {11}}));
}

TEST(Replicas, ExchangesInLoopsMeetTripByTrip) {
  const std::string text = kAdd + std::string(R"(
less { s = (s32[], f32[1]{0}) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
next { s = (s32[], f32[1]{0}) parameter(0)  i = s32[] get-tuple-element(s), index=0  k = s32[] constant(1)  j = s32[] add(i, k)
  v = f32[1]{0} get-tuple-element(s), index=1  w = f32[1]{0} all-reduce(v), replica_groups={{0,1}}, to_apply=add
  ROOT r = (s32[], f32[1]{0}) tuple(j, w) }
ENTRY e { x = f32[1]{0} parameter(0)  z = s32[] constant(0)  t = (s32[], f32[1]{0}) tuple(z, x)
  l = (s32[], f32[1]{0}) while(t), condition=less, body=next  ROOT r = f32[1]{0} get-tuple-element(l), index=1 })");
  EXPECT_EQ(on_devices({2, 1}, 1, text), (std::vector<Numbers>{{48}, {48}}));  // 1 + 11, doubled twice
}

TEST(Replicas, DevicesThatPartWaysBeforeAnExchangeAreAnError) {
  const auto module = importers::hlo::parse(std::string("HloModule m\n") + kAdd + R"(
some { a = f32[1]{0} parameter(0)  ROOT r = f32[1]{0} all-reduce(a), replica_groups={}, to_apply=add }
none { ROOT a = f32[1]{0} parameter(0) }
ENTRY e { x = f32[1]{0} parameter(0)  r = u32[] replica-id()  z = u32[] constant(0)  p = pred[] compare(r, z), direction=EQ
  ROOT c = f32[1]{0} conditional(p, x, x), true_computation=some, false_computation=none })",
                                            "test");
  ASSERT_TRUE(module.ok()) << module.error().message;
  const auto made = run_on_devices(*module, Rounding::each, {2, 1}, vectors(2, 1));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message, "reference: c (conditional) exchanges in a branch that not all devices take");
}

TEST(Replicas, HeadersSayHowManyDevicesThereAre) {
  const auto module =
      importers::hlo::parse("HloModule m, replica_count=2, num_partitions=3\nENTRY e { ROOT x = f32[] parameter(0) }", "test");
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(devices_of(*module).count(), 6);
}

}  // namespace
}  // namespace replay::reference
