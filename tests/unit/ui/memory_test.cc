// Live bytes, the peak, what fusions do to it, and the panel that shows them.
#include <cmath>
#include <limits>

#include "src/report/report.h"
#include "tests/unit/ui/person.h"
#include "ui/memory_data.h"

namespace ui {
namespace {

std::shared_ptr<const RunData> run_of(int steps) {
  RunData run;
  run.run = 1;
  for (int i = 0; i < steps; ++i) {
    StepInfo s;
    s.step = i;
    s.name = "s" + std::to_string(i);
    run.steps.push_back(s);
  }
  return std::make_shared<const RunData>(std::move(run));
}

Buffer buffer(uint8_t kind, int64_t bytes, int64_t first, int64_t last, int64_t offset = -1) {
  Buffer b;
  b.name = "b", b.kind = kind, b.bytes = bytes, b.first_step = first, b.last_step = last, b.offset = offset;
  return b;
}

constexpr uint8_t kParameterKind = 1, kTemporary = 3;

TEST(Memory, CountsABufferFromItsFirstStepToItsLast) {
  const MemoryPicture m = arrange_memory(run_of(4), {buffer(kParameterKind, 100, 2, 2), buffer(kTemporary, 10, 1, 2, 0)}, {});
  EXPECT_EQ(m.live, (std::vector<double>{100, 110, 110, 100})) << "a parameter lives all the time";
  EXPECT_EQ(m.peak, 1u);
  EXPECT_EQ(m.arena_bytes, 10);
  EXPECT_EQ(m.alive(1), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(m.alive(3), (std::vector<uint32_t>{0}));
}

TEST(Memory, TakesLivesThatAreNone) {
  const MemoryPicture m =
      arrange_memory(run_of(3),
                     {buffer(kTemporary, 7, 2, 1), buffer(kTemporary, 5, -9, 0), buffer(kTemporary, -3, 0, 2), buffer(5, 1, 0, 1 << 30),
                      buffer(kTemporary, std::numeric_limits<int64_t>::max(), 1000, 2000, std::numeric_limits<int64_t>::max())},
                     {});
  EXPECT_EQ(m.live.size(), 3u);
  EXPECT_EQ(m.live[0], 6);
  EXPECT_EQ(m.live[2], 1);
  EXPECT_TRUE(arrange_memory(run_of(0), {buffer(kTemporary, 1, 0, 1)}, {}).live.empty());
}

TEST(Memory, OfPartsIsWhatLiesBetweenThem) {
  // p → a → b → root, and a is read again by the root: a and b live together.
  const InnerValue chain[] = {{"parameter", 100, {1}}, {"add", 40, {2, 3}}, {"multiply", 30, {3}}, {"subtract", 20, {}, true}};
  EXPECT_EQ(peak_between_parts(chain), 70);
  // A value behind a bitcast lives as long as who reads the bitcast; broadcasts and constants need nothing.
  const InnerValue renamed[] = {{"constant", 4, {1}}, {"broadcast", 400, {2}}, {"exponential", 40, {3}},
                                {"bitcast", 40, {5}}, {"negate", 9, {5}},      {"add", 40, {}, true}};
  EXPECT_EQ(peak_between_parts(renamed), 49);
  const InnerValue wrong[] = {{"add", 1, {-5, 0, 99}}, {"add", std::nan(""), {}, false}};
  EXPECT_EQ(peak_between_parts(wrong), 1);
  EXPECT_EQ(peak_between_parts({}), 0);
}

TEST(Memory, WithoutFusionThePeakMayLieElsewhere) {
  const MemoryPicture m = arrange_memory(run_of(3), {buffer(kTemporary, 100, 0, 1), buffer(kTemporary, 50, 2, 2)}, {0, 0, 80});
  EXPECT_EQ(m.peak, 0u);
  EXPECT_EQ(m.unfused_peak, 2u);
  EXPECT_NE(fusion_sentence(m).find("130 B"), std::string::npos) << fusion_sentence(m);
  EXPECT_NE(fusion_sentence(m).find("modelled"), std::string::npos);
  EXPECT_EQ(fusion_sentence(arrange_memory(run_of(3), {buffer(kTemporary, 1, 0, 1)}, {0, 0, 0})), "");
}

TEST(Memory, RowsAtThePeakAreThoseOfTheReport) {
  for (const char* name : {"mnist", "bert", "llama", "resnet50", "interrupted"}) {
    SCOPED_TRACE(name);
    const auto reader = model::Reader::open(sample(name));
    ASSERT_TRUE(reader.ok());
    auto run = read_run(*reader, 1);
    ASSERT_TRUE(run.ok());
    const auto memory = read_memory(*reader, std::make_shared<const RunData>(*std::move(run)));
    const auto report = report::run(*reader, *report::find("memory"), 1);
    ASSERT_TRUE(memory.ok() && report.ok());
    const model::Rows rows = memory_rows(*memory, memory->peak);
    EXPECT_EQ(report::render(rows, report::Format::csv, {}), report::render(*report, report::Format::csv, {}));
  }
}

// --- the panel

TEST(MemoryPanel, ShowsThePeakAndFollowsTheSelection) {
  Person person({sample("mnist")});
  person.show("memory");
  EXPECT_TRUE(person.sees("the peak")) << screen::dump();
  person.session.select_step(0);
  person.look(2);
  EXPECT_TRUE(person.sees("alive at step 0 "));
  person.press('P');
  EXPECT_TRUE(person.sees("the peak"));
}

TEST(MemoryPanel, AClickInThePlotSelectsItsStep) {
  Person person({sample("mnist")});
  person.show("memory");
  person.click_at({640, 300});
  ASSERT_GE(person.session.selection().step, 10);
  EXPECT_TRUE(person.sees("alive at step " + std::to_string(person.session.selection().step) + " "));
}

TEST(MemoryPanel, ABufferOfTheTableSelectsItsMakerAndStaysListed) {
  Person person({sample("bert")});
  person.show("memory");
  const std::string before = screen::find("the peak")->text;
  person.click("fusion.");
  EXPECT_GE(person.session.selection().step, 0);
  EXPECT_TRUE(person.sees(before)) << screen::dump();
}

TEST(MemoryPanel, ShowsTheArenaWhereABufferIsFound) {
  Person person({sample("mnist")});
  person.show("memory");
  person.press('V');
  EXPECT_TRUE(person.sees("place in the arena"));
  person.click_at({640, 400});
  EXPECT_GE(person.session.selection().step, 0);
  person.press('V');
  EXPECT_FALSE(person.sees("place in the arena"));
}

TEST(MemoryPanel, SaysWhyItIsEmpty) {
  Person person({sample("recorded")});
  person.show("memory");
  EXPECT_TRUE(person.sees("no buffers were planned")) << screen::dump();
}

}  // namespace
}  // namespace ui
