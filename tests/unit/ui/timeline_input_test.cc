// A person at the timeline alone: zooms, drags, clicks, searches; the state after it is asserted.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

#include "src/model/store.h"
#include "tests/unit/ui/databases.h"
#include "tests/unit/ui/screen.h"
#include "ui/input.h"
#include "ui/offscreen.h"
#include "ui/timeline_panel.h"

namespace ui {
namespace {

class Stage {
 public:
  explicit Stage(const std::vector<std::string>& databases) : offscreen_(1280, 800, {}), session(Loader::Mode::here) {
    for (const std::string& path : databases) session.open(path);
    look(5);
  }
  void frame(const Offscreen::Hand& hand) {
    screen::begin_frame();
    feed_pointer({hand.mouse, {hand.down[0], hand.down[1], hand.down[2]}, hand.wheel, hand.wheel_x, hand.ctrl, hand.shift});
    session.keys = hand.keys;
    ImGui::GetIO().AddInputCharactersUTF8(hand.text.c_str());
    ImGui::NewFrame();
    session.update();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin("stage", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    panel.draw(session);
    ImGui::End();
    ImGui::Render();
    session.keys.clear();
  }
  void look(int frames = 2) {
    for (int i = 0; i < frames; ++i) frame({mouse, {}, 0, 0, false, false, {}, {}});
  }
  void press(int key, bool shift = false) {
    frame({mouse, {}, 0, 0, false, shift, {}, {{key, false, shift, false}}});
    look();
  }
  void wheel(ImVec2 at, float amount, bool ctrl, bool shift = false) {
    mouse = at;
    look();
    frame({mouse, {}, amount, 0, ctrl, shift, {}, {}});
  }
  void drag(ImVec2 from, ImVec2 to, bool shift = false) {
    mouse = from;
    frame({mouse, {}, 0, 0, false, shift, {}, {}});
    for (int i = 0; i <= 4; ++i) {
      const float t = static_cast<float>(i) / 4;
      mouse = {from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t};
      frame({mouse, {true, false, false}, 0, 0, false, shift, {}, {}});
    }
    look(3);
  }
  void click(ImVec2 at) { drag(at, at); }
  void type(const std::string& text) {
    press('/');
    frame({mouse, {}, 0, 0, false, false, text, {}});
    look(3);
  }
  /// Middle of the first row of a kind.
  float row(TimelineRow::Kind kind) const {
    float top = panel.layout().rows;
    for (const TimelineRow& row : panel.rows()) {
      if (row.kind == kind) return top + row.height * panel.layout().em / 2;
      top += row.height * panel.layout().em;
    }
    return -1;
  }
  /// For a look at what a test does: PROFILE_PICTURES names a folder.
  void picture(const std::string& name) {
    const char* folder = std::getenv("PROFILE_PICTURES");
    if (folder == nullptr) return;
    EXPECT_TRUE(write_png(offscreen_.picture(), std::string(folder) + "/timeline_" + name + ".png").ok());
  }

 private:
  Offscreen offscreen_;

 public:
  Session session;
  TimelinePanel panel;
  ImVec2 mouse = {-1, -1};
};

/// The slice of the pass of medians that takes longest.
timeline::Slice longest(const Stage& stage) {
  timeline::Slice best;
  for (const timeline::Slice& slice : stage.panel.runs()[0]->steps()->medians.slices())
    best = slice.duration_ns > best.duration_ns ? slice : best;
  return best;
}

float middle_x(const Stage& stage, const timeline::Slice& slice) {
  return stage.panel.x_of(static_cast<double>(slice.begin_ns) + static_cast<double>(slice.duration_ns) / 2);
}

TEST(Timeline, CtrlWheelKeepsTheTimeUnderTheCursor) {
  Stage stage({sample("mnist")});
  const ImVec2 at{700, 300};
  for (int i = 0; i < 12; ++i) {
    const double before = stage.panel.time_at(at.x), length = stage.panel.view().span().length_ns();
    stage.wheel(at, 1, true);
    EXPECT_NEAR(stage.panel.time_at(at.x), before, length * 1e-9);
    EXPECT_LT(stage.panel.view().span().length_ns(), length);
  }
  stage.picture("zoomed");
}

TEST(Timeline, DragMovesTheTimeWithTheMouse) {
  Stage stage({sample("mnist")});
  for (int i = 0; i < 6; ++i) stage.wheel({700, 300}, 1, true);
  const double under = stage.panel.time_at(700);
  stage.drag({700, 300}, {760, 300});
  EXPECT_NEAR(stage.panel.time_at(760), under, stage.panel.view().span().length_ns() * 1e-6);
  EXPECT_FALSE(stage.panel.picked()) << "a drag is no click";
}

TEST(Timeline, KeysZoomPanFitAndGoBack) {
  Stage stage({sample("mnist")});
  const TimeSpan all = stage.panel.view().span();
  stage.press('W');
  EXPECT_NEAR(stage.panel.view().span().length_ns(), all.length_ns() / 1.5, 1);
  const TimeSpan zoomed = stage.panel.view().span();
  stage.press('D');
  EXPECT_GT(stage.panel.view().span().begin_ns, zoomed.begin_ns);
  stage.press('F');
  EXPECT_EQ(stage.panel.view().span(), all);
  stage.press('[');
  EXPECT_NE(stage.panel.view().span(), all);
  stage.press(']');
  EXPECT_EQ(stage.panel.view().span(), all);
}

TEST(Timeline, AClickSelectsTheSliceAndEnterShowsIt) {
  Stage stage({sample("mnist")});
  const timeline::Slice slice = longest(stage);
  stage.click({middle_x(stage, slice), stage.row(TimelineRow::Kind::lane)});
  ASSERT_TRUE(stage.panel.picked());
  EXPECT_EQ(stage.session.selection().step, slice.name);
  EXPECT_EQ(stage.panel.picked()->span.begin_ns, static_cast<double>(slice.begin_ns));
  stage.picture("selected");
  stage.press(Session::kEnter);
  EXPECT_NEAR(stage.panel.view().span().length_ns(),
              std::min(stage.panel.view().all().length_ns(), 3 * static_cast<double>(slice.duration_ns)), 1);
  stage.press(Session::kRight);
  EXPECT_NE(stage.session.selection().step, slice.name);
  stage.press(Session::kLeft);
  EXPECT_EQ(stage.session.selection().step, slice.name);
}

TEST(Timeline, ASelectionElsewhereIsBroughtIntoView) {
  Stage stage({sample("mnist")});
  const auto& slices = stage.panel.runs()[0]->steps()->medians.slices();
  for (int i = 0; i < 30; ++i) stage.press('W');
  stage.session.select_step(slices.back().name);
  stage.look(4);
  ASSERT_TRUE(stage.panel.picked());
  EXPECT_LE(stage.panel.view().span().begin_ns, static_cast<double>(slices.back().begin_ns));
  EXPECT_GE(stage.panel.view().span().end_ns, static_cast<double>(slices.back().begin_ns + slices.back().duration_ns));
}

TEST(Timeline, HoveringTellsTheSlice) {
  Stage stage({sample("mnist")});
  const timeline::Slice slice = longest(stage);
  stage.mouse = {middle_x(stage, slice), stage.row(TimelineRow::Kind::lane)};
  stage.look(3);
  ASSERT_TRUE(stage.panel.hovered());
  EXPECT_EQ(stage.panel.hovered()->step, slice.name);
  EXPECT_TRUE(stage.panel.hovered()->exact);
  EXPECT_EQ(stage.panel.hovered()->span.length_ns(), static_cast<double>(slice.duration_ns));
  stage.picture("hover");
}

TEST(Timeline, ABoxAddsUpWhatSqlAddsUp) {
  Stage stage({sample("mnist")});
  stage.press('P');
  ASSERT_EQ(stage.panel.runs()[0]->mode(), PassMode::happened);
  const float y = stage.row(TimelineRow::Kind::lane);
  stage.drag({500, y - 3}, {900, y + 3}, true);
  ASSERT_NE(stage.panel.box(), nullptr);
  stage.picture("box");
  const auto reader = model::Reader::open(sample("mnist"));
  ASSERT_TRUE(reader.ok());
  const auto a = std::llround(stage.panel.time_at(500)), b = std::llround(stage.panel.time_at(900));
  const auto rows = reader->query(
      fmt::format("SELECT count(*), total(min(begin_ns + duration_ns, {1}) - max(begin_ns, {0})) FROM sample WHERE run = {2} AND "
                  "duration_ns > 0 AND begin_ns < {1} AND begin_ns + duration_ns > {0}",
                  a, b, stage.session.selection().run));
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(static_cast<double>(stage.panel.box()->sums.count), number(rows->rows[0][0]));
  EXPECT_NEAR(stage.panel.box()->sums.inside_ns, number(rows->rows[0][1]), 2);
  stage.frame({stage.mouse, {}, 0, 0, true, false, {}, {{'C', true, false, false}}});
  EXPECT_NE(std::string(ImGui::GetClipboardText()).find(fmt::format("{} slices", stage.panel.box()->sums.count)), std::string::npos);
  stage.press(Session::kEscape);
}

TEST(Timeline, PointAndCommaWalkThroughSlicesLikeTheSelectedOne) {
  Stage stage({sample("bert")});
  const auto& model = *stage.panel.runs()[0]->steps();
  const StepInfo* first = nullptr;
  for (const timeline::Slice& slice : model.medians.slices()) {
    const StepInfo* step = model.find(slice.name);
    const auto same = std::ranges::count(model.run->steps, step->key, &StepInfo::key);
    if (!step->key.empty() && same > 1) first = step;
    if (first != nullptr) break;
  }
  ASSERT_NE(first, nullptr) << "BERT's layers have equal steps";
  stage.session.select_step(first->step);
  stage.look(4);
  stage.press('.');
  const StepInfo* next = model.find(stage.session.selection().step);
  ASSERT_NE(next, nullptr);
  EXPECT_NE(next->step, first->step);
  EXPECT_EQ(next->key, first->key);
  stage.press(',');
  EXPECT_EQ(stage.session.selection().step, first->step);
}

TEST(Timeline, ASearchMarksHitsAndNWalksThem) {
  Stage stage({sample("mnist")});
  stage.type("fusion");
  ASSERT_NE(stage.panel.found(), nullptr);
  const auto& run = *stage.panel.runs()[0]->steps()->run;
  int64_t expected = 0;
  for (const StepInfo& step : run.steps) {
    for (const std::string& text : {step.name, step.op_name, step.op_type, step.opcode, step.kind}) {
      if (text.find("fusion") == std::string::npos) continue;
      ++expected;
      break;
    }
  }
  ASSERT_GT(expected, 1);
  EXPECT_EQ(stage.panel.found()->matched, expected);
  stage.picture("search");
  stage.click({stage.panel.layout().labels + 5, 790});  // out of the field
  stage.press('N');
  ASSERT_TRUE(stage.panel.picked());
  const double first = stage.panel.picked()->span.begin_ns;
  stage.press('N');
  EXPECT_NE(stage.panel.picked()->span.begin_ns, first);
  stage.press('N', true);
  EXPECT_EQ(stage.panel.picked()->span.begin_ns, first);
  const int32_t place = stage.panel.runs()[0]->steps()->places[stage.session.selection().step];
  EXPECT_EQ(stage.panel.found()->steps[static_cast<size_t>(place)], 1);
}

TEST(Timeline, ARulerSnapsToTheEdgesOfASlice) {
  Stage stage({sample("mnist")});
  const timeline::Slice slice = longest(stage);
  const float y = stage.row(TimelineRow::Kind::lane);
  const auto begin = static_cast<double>(slice.begin_ns), end = begin + static_cast<double>(slice.duration_ns);
  stage.press('M');
  stage.drag({stage.panel.x_of(begin) + 3, y}, {stage.panel.x_of(end) - 3, y});
  ASSERT_TRUE(stage.panel.measured());
  EXPECT_EQ(stage.panel.measured()->begin_ns, begin);
  EXPECT_EQ(stage.panel.measured()->end_ns, end);
  stage.picture("ruler");
  stage.press(Session::kEscape);
  EXPECT_FALSE(stage.panel.measured());
}

TEST(Timeline, TheMinimapMovesTheView) {
  Stage stage({sample("mnist")});
  for (int i = 0; i < 6; ++i) stage.press('W');
  const TimelineLayout& at = stage.panel.layout();
  stage.drag({at.labels + at.width() * 0.5f, at.minimap + 10}, {at.labels + at.width() * 0.9f, at.minimap + 10});
  const double middle = (stage.panel.view().span().begin_ns + stage.panel.view().span().end_ns) / 2;
  EXPECT_NEAR(middle, stage.panel.view().all().begin_ns + 0.9 * stage.panel.view().all().length_ns(),
              stage.panel.view().all().length_ns() * 0.01);
}

TEST(Timeline, AClickOnALabelOpensARow) {
  Stage stage({sample("bert")});
  const size_t before = stage.panel.rows().size();
  float top = stage.panel.layout().rows;
  for (const TimelineRow& row : stage.panel.rows()) {
    const float y = top + row.height * stage.panel.layout().em / 2;
    top += row.height * stage.panel.layout().em;
    if (row.kind != TimelineRow::Kind::group || !row.can_open || row.open) continue;
    stage.click({stage.panel.layout().min.x + 30, y});
    break;
  }
  EXPECT_GT(stage.panel.rows().size(), before);
}

TEST(Timeline, ShowsTheRangeThatItWasGiven) {
  Stage stage({sample("mnist")});
  const TimeSpan all = stage.panel.runs()[0]->extent();
  (void)all;
  const auto* timeline = stage.panel.runs()[0]->timeline();
  ASSERT_NE(timeline, nullptr);
  const int64_t begin = timeline->begin_ns + (timeline->end_ns - timeline->begin_ns) / 3,
                end = begin + (timeline->end_ns - timeline->begin_ns) / 10;
  stage.session.show_range = TimeRange{begin, end};
  stage.look(4);
  EXPECT_EQ(stage.panel.runs()[0]->mode(), PassMode::happened);
  EXPECT_EQ(stage.panel.view().span(), (TimeSpan{static_cast<double>(begin), static_cast<double>(end)}));
  EXPECT_FALSE(stage.session.show_range);
  stage.picture("happened");
}

/// Clicks a word that the last frame has shown.
void click_word(Stage& stage, std::string_view word) {
  const screen::Word* at = screen::find(word);
  ASSERT_NE(at, nullptr) << word << "\n" << screen::dump();
  stage.click(at->middle());
}

TEST(Timeline, ShowsRunsBesideEachOther) {
  Stage stage({sample("mnist"), sample("bert")});
  stage.look();
  click_word(stage, "Beside");
  const screen::Word* other = screen::find("bert.db");
  ASSERT_NE(other, nullptr) << screen::dump();
  stage.click({other->min.x - 15, other->middle().y});
  stage.press(Session::kEscape);
  ASSERT_EQ(stage.panel.runs().size(), 2u);
  stage.look(4);
  EXPECT_FALSE(stage.panel.runs()[1]->lanes().empty());
  EXPECT_GE(stage.panel.view().all().end_ns, stage.panel.runs()[1]->extent().end_ns) << "both fit into the view";
  stage.picture("beside");
}

TEST(Timeline, ASearchGoesThroughAllRunsThatAreShown) {
  Stage stage({sample("mnist"), sample("bert")});
  stage.look();
  click_word(stage, "Beside");
  const screen::Word* other = screen::find("bert.db");
  ASSERT_NE(other, nullptr) << screen::dump();
  stage.click({other->min.x - 15, other->middle().y});
  stage.press(Session::kEscape);
  stage.type("einsum");  // BERT alone has them
  ASSERT_NE(stage.panel.found(1), nullptr);
  EXPECT_EQ(stage.panel.found(0)->matched, 0);
  EXPECT_GT(stage.panel.found(1)->matched, 1);
  EXPECT_NE(screen::find("in 1 of 2 runs"), nullptr) << screen::dump();
  const Selection before = stage.session.selection();
  stage.click({stage.panel.layout().labels + 5, 790});
  stage.press('N');
  ASSERT_TRUE(stage.panel.picked());
  EXPECT_EQ(stage.panel.picked()->run, 1u);
  EXPECT_EQ(stage.session.selection().run, before.run);
  const double first = stage.panel.picked()->span.begin_ns;
  stage.press('N');
  EXPECT_GT(stage.panel.picked()->span.begin_ns, first);
  stage.press('N', true);
  EXPECT_EQ(stage.panel.picked()->span.begin_ns, first);
}

TEST(Timeline, OpensAndClosesScopesByKey) {
  Stage stage({sample("bert")});
  const size_t before = stage.panel.rows().size();
  stage.press('E');
  EXPECT_GT(stage.panel.rows().size(), before);
  for (int i = 0; i < 10; ++i) stage.press('E', true);
  EXPECT_LT(stage.panel.rows().size(), before);
}

TEST(Timeline, ShowsARunThatHasNotEnded) {
  Stage stage({sample("running")});
  ASSERT_FALSE(stage.panel.runs()[0]->lanes().empty());
  const auto reader = model::Reader::open(sample("running"));
  ASSERT_TRUE(reader.ok());
  const auto rows = reader->query(fmt::format("SELECT count(*) FROM sample WHERE run = {}", stage.session.selection().run));
  ASSERT_TRUE(rows.ok());
  size_t slices = 0;
  for (const LaneView& lane : stage.panel.runs()[0]->lanes()) slices += lane.overview->slices.size();
  EXPECT_EQ(static_cast<double>(slices), number(rows->rows[0][0]));
  stage.picture("running");
}

/// Three passes of two fusions, each compared with its parts.
std::string compared_database() {
  const std::string path = std::string(BINARY_DIR) + "/timeline_compared.db";
  auto store = model::Store::open(path, model::OpenMode::fresh);
  EXPECT_TRUE(store.ok());
  model::Run run;
  run.device = {"cpu", "a machine", "1", "none", 2, 10e9, 0, 100e9, {}, {}};
  for (int32_t step = 0; step < 2; ++step) {
    model::StepRecord record;
    record.step = step, record.name = fmt::format("fusion.{}", step), record.computation = "main", record.opcode = "fusion",
    record.kind = "kLoop";
    record.cls = "kernel", record.key = record.name, record.trips = step == 0 ? 1 : 12;
    run.steps.push_back(record);
  }
  const auto id = store->begin(run);
  EXPECT_TRUE(id.ok() && store->describe(*id, run).ok());
  for (int32_t pass = 0; pass < 3; ++pass) {
    std::vector<model::Sample> samples;
    int64_t at = 100'000 * pass;
    for (int32_t step = 0; step < 2; ++step) {
      for (const int32_t variant : {0, 1, 2}) {
        samples.push_back({step, pass, variant, at, variant == 1 ? 9000 : 5000, 1, 0});
        at += 10'000;
      }
    }
    EXPECT_TRUE(store->add(*id, {pass, 100'000 * pass, at}, samples).ok());
  }
  EXPECT_TRUE(store->finish(*id, model::RunStatus::complete, {}).ok());
  return path;
}

TEST(Timeline, ComparisonsHaveALaneOfTheirOwn) {
  Stage stage({compared_database()});
  stage.press('P');
  const auto& lanes = stage.panel.runs()[0]->lanes();
  ASSERT_EQ(lanes.size(), 2u);
  EXPECT_EQ(lanes[0].variant, 0);
  EXPECT_EQ(lanes[0].overview->slices.size(), 6u);
  EXPECT_NE(lanes[1].variant, 0);
  EXPECT_EQ(lanes[1].overview->slices.size(), 12u);
  stage.picture("compared");
}

TEST(Timeline, TheRulersLabelsDifferHoweverFarAway) {
  for (const char* name : {"mnist", "hostile"}) {
    Stage stage({sample(name)});
    stage.press('P');
    for (int i = 0; i < 60; ++i) {
      stage.wheel({900, 300}, 1, true);
      stage.look(1);
      const float ruler = stage.panel.layout().ruler, rows = stage.panel.layout().rows;
      std::set<std::string> labels;
      for (const screen::Word& word : screen::words()) {
        if (word.min.y >= ruler && word.min.y < rows - 8 && word.min.x >= stage.panel.layout().labels) {
          EXPECT_TRUE(labels.insert(word.text).second) << word.text << " stands twice at zoom " << i;
        }
      }
    }
    stage.picture(std::string("deep_") + name);
  }
}

TEST(Timeline, AKeyChangesWhatColoursMean) {
  Stage stage({sample("mnist")});
  std::set<std::vector<std::string>> legends;
  for (size_t i = 0; i < std::size(kColorByNames); ++i) {
    std::vector<std::string> words;
    for (const LegendEntry& entry : stage.panel.runs()[0]->colors().legend) words.push_back(entry.word);
    ASSERT_FALSE(words.empty());
    for (size_t w = 0; w < std::min<size_t>(words.size(), 2); ++w) EXPECT_NE(screen::find(shown_name(words[w])), nullptr) << words[w];
    EXPECT_NE(screen::find("by " + std::string(kColorByNames[i])), nullptr) << screen::dump();
    legends.insert(words);
    stage.press('C');
  }
  EXPECT_EQ(legends.size(), std::size(kColorByNames)) << "each way has words of its own";
}

TEST(Timeline, CopiesWhatIsInView) {
  Stage stage({sample("mnist")});
  const screen::Word* button = screen::find("Copy");
  ASSERT_NE(button, nullptr) << screen::dump();
  stage.click(button->middle());
  const screen::Word* shown = screen::find("What is shown, CSV");
  ASSERT_NE(shown, nullptr) << screen::dump();
  stage.click(shown->middle());
  const std::string csv = ImGui::GetClipboardText();
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + std::ssize(stage.session.data()->steps));
}

TEST(Timeline, DrawsWhatStrangersRecorded) {
  for (const char* name : {"recorded", "hostile", "interrupted", "no_steps", "empty", "running"}) {
    SCOPED_TRACE(name);
    Stage stage({sample(name), sample("mnist")});
    for (const int key :
         std::initializer_list<int>{'W', 'W', 'D', 'S', 'P', 'N', '.', ',', 'F', Session::kEnter, 'C', 'C', 'C', 'C', 'C', Session::kRight})
      stage.press(key);
    for (int i = 0; i < 40; ++i) stage.wheel({700, 300}, 3, true);
    stage.type("%s##\xff(");
    stage.picture(name);
  }
}

}  // namespace
}  // namespace ui
