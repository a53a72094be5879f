// Descriptions of machines: every one of the tree is whole and says where its figures are from; a user's own is read or told what is wrong.
#include "replay/machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace replay {
namespace {

std::string file_with(const std::string& figures, const std::string& rest = R"("sources": {"d": "a datasheet"})") {
  return R"({"name": "mine", "model": "My card", "figures": {)" + figures + "}, " + rest + "}";
}
const std::string kLeast = R"("memory_bytes_per_s": [1e12, "d"], "vector_f32_flops_per_s": [20e12, "d"])";

std::string error_of(const std::string& json) {
  const auto machine = parse_machine(json, "my.json");
  return machine.ok() ? "" : machine.error().message;
}

TEST(Machines, OfTheTreeAreWholeAndNamedOnce) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SOURCE_DIR "/devices")) {
    std::ifstream in(entry.path());
    const std::string json((std::istreambuf_iterator<char>(in)), {});
    const auto machine = parse_machine(json, entry.path().string());
    ASSERT_TRUE(machine.ok()) << machine.error().message;
    EXPECT_EQ(machine->name, entry.path().stem().string());
    ++files;
  }
  EXPECT_EQ(known_machines().size(), files);
  std::set<std::string> words;
  for (const Machine& machine : known_machines()) {
    EXPECT_TRUE(words.insert(machine.name).second) << machine.name;
    for (const std::string& word : machine.also) EXPECT_TRUE(words.insert(word).second) << word;
    for (const NamedFigure& f : figures_of(machine)) {
      EXPECT_FALSE(f.figure.source.empty()) << machine.name << " " << f.name;
      EXPECT_GT(f.figure.value, 0) << machine.name << " " << f.name;
    }
    EXPECT_GT(machine.latency_ns(), 100) << machine.name;
    EXPECT_LT(machine.latency_ns(), 1000) << machine.name;
    ASSERT_NE(product_figures(machine, ir::Type::bf16), nullptr) << machine.name;
    EXPECT_GT(product_figures(machine, ir::Type::bf16)->flops_per_s.value, 3 * machine.vector_f32_flops_per_s.value) << machine.name;
    EXPECT_EQ(machine.memory_bytes_per_s.value > 250e9 && machine.memory_bytes_per_s.value < 10e12, true) << machine.name;
  }
  for (const char* asked : {"h100", "h100-pcie", "a100", "l4", "b200", "h200"}) EXPECT_TRUE(machine_named(asked).ok()) << asked;
}

TEST(Machines, AreFoundByTheirWordsAndByWhatDriversCallThem) {
  EXPECT_EQ(machine_named("h100-sxm")->name, "h100");
  EXPECT_EQ(machine_reported_as("NVIDIA A100-SXM4-80GB")->name, "a100");
  EXPECT_EQ(machine_reported_as("NVIDIA H200, 132 multiprocessors")->name, "h200");
  EXPECT_EQ(machine_reported_as("NVIDIA H200 NVL, 132 multiprocessors"), nullptr) << "another card";
  EXPECT_EQ(machine_reported_as("Intel(R) Xeon(R) Processor, 2 threads"), nullptr);
  EXPECT_EQ(machine_named("h10").error().message, "no description of a machine 'h10'; did you mean 'h100'? `profile devices` lists all");
  EXPECT_EQ(machine_named("toaster").error().message,
            "no description of a machine 'toaster'; known are a100, a100-40gb, b200, h100, h100-pcie, h200, l4; or give a file.json");
  EXPECT_EQ(machine_named("h10").error().exit, base::Exit::wrong_use);
  EXPECT_NE(machine_named("/nowhere/my.json").error().message.find("/nowhere/my.json"), std::string::npos);
}

TEST(Machines, ProductsRunAsWhatTheMachineHas) {
  const Machine a100 = *machine_named("a100");
  EXPECT_EQ(product_figures(a100, ir::Type::f32), &a100.products.find("tf32")->second);
  EXPECT_EQ(product_figures(a100, ir::Type::f8e4m3fn), &a100.products.find("f16")->second) << "no unit for f8: converted";
  EXPECT_EQ(product_figures(a100, ir::Type::s32), nullptr) << "vectors compute it";
  EXPECT_EQ(product_figures(*parse_machine(file_with(kLeast), "my.json"), ir::Type::f16), nullptr);
}

TEST(Machines, OfAUserNeedLittle) {
  const auto machine = parse_machine(file_with(kLeast), "my.json");
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_EQ(machine->latency_ns(), 0);
  EXPECT_EQ(machine->memory_efficiency.value, 1);
  const auto ceilings = published_ceilings(*machine);
  ASSERT_EQ(ceilings.size(), 2u);
  EXPECT_EQ(ceilings[0].source, "a datasheet");
  EXPECT_EQ(ceilings[0].provenance, model::CeilingRecord::Provenance::published);
}

TEST(Machines, SayWhatIsWrongWithThem) {
  EXPECT_EQ(error_of("{"), "my.json: it is no JSON; see `profile devices h100 --format json` for the form");
  EXPECT_EQ(error_of(std::string(100'000, '[')), error_of("{")) << "depth is bounded";
  EXPECT_EQ(error_of("[]"), "my.json: it is no JSON object; see `profile devices h100 --format json` for the form");
  EXPECT_EQ(error_of(R"({"model": "x"})"), "my.json: name: a text is needed; give \"name\": \"…\"");
  EXPECT_EQ(error_of(file_with("")), "my.json: figures.memory_bytes_per_s: it is needed; without it nothing can be predicted");
  EXPECT_EQ(error_of(file_with(kLeast + R"(, "memory_byte": [1, "d"])")),
            "my.json: figures.memory_byte: no such figure; did you mean 'memory_bytes'?");
  EXPECT_EQ(error_of(file_with(R"("memory_bytes_per_s": 1e12)")),
            "my.json: figures.memory_bytes_per_s: it is no [number, \"source\"]; name the source of every figure");
  EXPECT_EQ(error_of(file_with(R"("memory_bytes_per_s": [1e12, "x"])")),
            "my.json: figures.memory_bytes_per_s: source 'x' is not explained; add it to \"sources\"");
  EXPECT_EQ(error_of(file_with(R"("memory_efficiency": [90, "d"])")),
            "my.json: figures.memory_efficiency: 90 is not from 0 to 1; see its unit");
  EXPECT_EQ(error_of(file_with(kLeast, R"("products": {"f61": {}}, "sources": {"d": ""})")),
            "my.json: products.f61: no such figure; did you mean 'f64'?");
  EXPECT_EQ(error_of(file_with(kLeast, R"("products": {"f16": {"flops_per_s": [0, "d"]}}, "sources": {"d": ""})")),
            "my.json: products.f16.flops_per_s: it is 0; leave out what the machine has not");
  EXPECT_EQ(error_of(file_with(kLeast, R"("also": "x", "sources": {"d": ""})")),
            "my.json: also: it is no list of texts; give \"also\": [\"…\"]");
}

TEST(Machines, PrintedAreReadAgain) {
  for (const Machine& machine : known_machines()) {
    const auto again = parse_machine(json_of(machine), "again.json");
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(json_of(*again), json_of(machine));
    EXPECT_EQ(again->launch_ns.value, machine.launch_ns.value);
    EXPECT_EQ(again->products.size(), machine.products.size());
  }
}

}  // namespace
}  // namespace replay
