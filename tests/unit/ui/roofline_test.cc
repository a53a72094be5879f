// Where steps stand under the roof, and what a person does there.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/report/report.h"
#include "tests/unit/ui/person.h"
#include "ui/roofline_data.h"
#include "ui/roofline_draw.h"
#include "ui/roofline_marks.h"

namespace ui {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

StepInfo step(int32_t number, double median_ns, double flops, double bytes) {
  StepInfo s;
  s.step = number;
  s.name = "s" + std::to_string(number);
  s.cls = "kernel";
  s.calls = 2, s.median_ns = median_ns, s.pass_ns = 2 * median_ns;
  s.flops = flops, s.bytes = bytes;
  s.intensity = flops / bytes;
  s.attainable_ns = std::max(flops / 100e9, bytes / 10e9) * 1e9;
  s.roof_percent = 100 * s.attainable_ns / median_ns;
  s.gflop_per_s = flops / median_ns, s.gb_per_s = bytes / median_ns;
  s.bound_by = flops / 100e9 > bytes / 10e9 ? "compute" : "memory";
  return s;
}

std::shared_ptr<const RunData> run_of(std::vector<StepInfo> steps) {
  RunData run;
  run.run = 1;
  run.steps = std::move(steps);
  for (const StepInfo& s : run.steps) run.pass_ns += std::isfinite(s.pass_ns) ? s.pass_ns : 0;
  return std::make_shared<const RunData>(std::move(run));
}

const std::vector<Ceiling> kCeilings = {{Ceiling::Limits::memory, "triad", 10e9}, {Ceiling::Limits::compute, "f32×f32→f32", 100e9}};

TEST(Roofline, PutsEachStepWhereItsNumbersSay) {
  const Roofline roof = make_roofline(run_of({step(0, 1000, 10'000, 1000), step(1, 4000, 0, 8000)}), kCeilings);
  ASSERT_EQ(roof.points.size(), 2u);
  EXPECT_EQ(roof.points[0].index, 1u) << "most time first";
  EXPECT_TRUE(roof.points[0].beside);
  EXPECT_NEAR(roof.points[0].y, std::log10(2), 1e-6) << "8000 bytes in 4000 ns are 2 GB/s";
  EXPECT_FALSE(roof.points[1].beside);
  EXPECT_NEAR(roof.points[1].x, 1, 1e-6) << "10 FLOP/byte";
  EXPECT_NEAR(roof.points[1].y, 1, 1e-6) << "10 GFLOP/s";
  EXPECT_FLOAT_EQ(roof.points[1].weight, 0.25f);
  EXPECT_EQ(roof.beside, 1u);
  EXPECT_LE(roof.x_lo, 1);
  EXPECT_GE(roof.y_hi, 2) << "the compute ceiling is in the picture";
}

TEST(Roofline, CountsWhatHasNoPlace) {
  const Roofline roof =
      make_roofline(run_of({step(0, kNothing, 1, 1), step(1, 0, 1, 1), step(2, 5, 1, 0), step(3, 5, 1, kNothing), step(4, 10, 1, 1000),
                            step(5, 5, 1e300, 1e-300)}),
                    {{Ceiling::Limits::memory, "triad", std::numeric_limits<double>::infinity()}, {Ceiling::Limits::compute, "x", -1}});
  EXPECT_EQ(roof.untimed, 2u);
  EXPECT_EQ(roof.without_traffic, 2u);
  EXPECT_EQ(roof.above, 2u) << "1000 bytes in 10 ns are 100 GB/s";
  EXPECT_TRUE(roof.ceilings.empty());
  for (const RoofPoint& p : roof.points) EXPECT_TRUE(std::isfinite(p.x) && std::isfinite(p.y) && p.weight >= 0 && p.weight <= 1);
  EXPECT_TRUE(std::isfinite(roof.y_hi) && roof.y_hi > roof.y_lo && roof.x_hi > roof.x_lo);
  EXPECT_TRUE(make_roofline(run_of({}), {}).points.empty());
}

TEST(Roofline, CeilingsOfTypesThatNobodyUsesAreMarked) {
  std::vector<Ceiling> ceilings = kCeilings;
  ceilings.push_back({Ceiling::Limits::compute, "f16×f16→f32", 300e9});
  ceilings.push_back({Ceiling::Limits::compute, "bf16×bf16→f32", 400e9});
  StepInfo half = step(0, 1000, 10'000, 1000);
  half.precision = "f16×f16→f32 → f16";
  const Roofline roof = make_roofline(run_of({half}), ceilings);
  EXPECT_FALSE(roof.ceilings[1].used);
  EXPECT_TRUE(roof.ceilings[2].used);
  EXPECT_FALSE(roof.ceilings[3].used);
}

TEST(Roofline, ColoursHaveAWordEachAndTheRestIsOther) {
  std::vector<StepInfo> steps;
  for (int i = 0; i < 40; ++i) {
    steps.push_back(step(i, 1000 - i, 10, 10));
    steps.back().op_type = "T" + std::to_string(i);
  }
  const Roofline roof = make_roofline(run_of(steps), kCeilings);
  const ColorWords words = color_words(roof, RoofColor::op_type, 12);
  ASSERT_EQ(words.words.size(), 12u);
  EXPECT_EQ(words.words.front(), "T0");
  EXPECT_EQ(words.words.back(), "other");
  for (const uint16_t word : words.of_point) EXPECT_LT(word, words.words.size());
}

TEST(Roofline, AHundredThousandStepsArePreparedInAMoment) {
  std::vector<StepInfo> steps;
  for (int i = 0; i < 100'000; ++i) steps.push_back(step(i, 1000 + i % 977, i % 1013, 1 + i % 101));
  const Roofline roof = make_roofline(run_of(std::move(steps)), kCeilings);
  EXPECT_EQ(roof.points.size(), 100'000u);
  EXPECT_EQ(color_words(roof, RoofColor::cls).words.size(), 1u);
}

TEST(Roofline, RowsAreThoseOfTheReport) {
  for (const char* name : {"mnist", "llama", "hostile", "interrupted"}) {
    SCOPED_TRACE(name);
    const auto reader = model::Reader::open(sample(name));
    ASSERT_TRUE(reader.ok());
    const auto run = read_run(*reader, 1);
    const auto report = report::run(*reader, *report::find("roofline"), 1);
    ASSERT_TRUE(run.ok() && report.ok());
    const model::Rows rows = roofline_rows(*run, roofline_order(*run));
    EXPECT_EQ(rows.columns, report->columns);
    ASSERT_EQ(rows.rows.size(), report->rows.size());
    for (size_t r = 0; r < rows.rows.size(); ++r) {
      for (size_t c = 0; c < rows.columns.size(); ++c) {
        const model::Cell &ours = rows.rows[r][c], &theirs = report->rows[r][c];
        EXPECT_EQ(ours.text, theirs.text) << rows.columns[c] << " of row " << r;
        const double x = number(ours), y = number(theirs);
        EXPECT_TRUE((std::isfinite(y) ? std::abs(x - y) <= 1e-9 * std::abs(y) : !std::isfinite(x)))
            << rows.columns[c] << " " << x << " " << y;
      }
    }
  }
}

TEST(Roofline, SumsWeighByTime) {
  const auto run = run_of({step(0, 1000, 10'000, 1000), step(1, 3000, 0, 30'000), step(2, kNothing, 1, 1)});
  const uint32_t all[] = {0, 1, 2};
  const StepSum sum = sum_steps(*run, all);
  EXPECT_EQ(sum.steps, 3u);
  EXPECT_DOUBLE_EQ(sum.pass_ns, 8000);
  EXPECT_DOUBLE_EQ(sum.bytes, 62'000);
  EXPECT_DOUBLE_EQ(sum.attainable_ns, 2 * 100 + 2 * 3000);
}

TEST(Roofline, HoldsStepsAgainstWhatWasMeasuredAndElseAgainstWhatIsPublished) {
  using Limits = Ceiling::Limits;
  using Provenance = Ceiling::Provenance;
  std::vector<Ceiling> ceilings = {{Limits::memory, "triad", 8e9},
                                   {Limits::memory, "memory", 12e9, Provenance::published, "a datasheet"},
                                   {Limits::compute, "f32×f32→f32", 200e9, Provenance::published, "a datasheet"}};
  const Roofline roof = make_roofline(run_of({step(0, 1000, 10'000, 1000)}), ceilings);
  EXPECT_EQ(roof.best(Limits::memory), 8e9);
  EXPECT_EQ(roof.best(Limits::compute), 200e9);
  EXPECT_EQ(roof.best(Limits::cache), 0);
}

TEST(Roofline, DrawsOfCachesTheFasterWayAndOfPublishedProductsThoseThatAreUsed) {
  using Limits = Ceiling::Limits;
  using Provenance = Ceiling::Provenance;
  StepInfo product = step(0, 1000, 10'000, 1000);
  product.precision = "f16×f16→f32→f16";
  const Roofline roof = make_roofline(run_of({product}), {{Limits::compute, "f16×f16→f32", 300e9},
                                                          {Limits::compute, "f32×f32→f32", 100e9},
                                                          {Limits::compute, "f16×f16→f32", 400e9, Provenance::published, ""},
                                                          {Limits::compute, "f64×f64→f64", 50e9, Provenance::published, ""},
                                                          {Limits::cache, "L1 read", 90e9},
                                                          {Limits::cache, "L1 copy", 70e9}});
  std::string names;
  for (const Ceiling& c : drawn_ceilings(roof)) names += c.name + (c.is_published() ? " p" : "") + (c.used ? "; " : " (not used); ");
  EXPECT_EQ(names, "f16×f16→f32; f32×f32→f32 (not used); f16×f16→f32 p; L1 read; ");
}

RoofView plain_view() { return {{0, 0, 1000, 500}, {}, {500, 100}, {250, -100}, {}, 13}; }

TEST(RoofMarks, OfPointsOnOnePlaceOneIsDrawn) {
  std::vector<StepInfo> steps;
  for (int i = 0; i < 50'000; ++i) steps.push_back(step(i, 1000, 1000, 1000));
  steps.push_back(step(50'000, 1e9, 1e9, 1e8));  // all others are nothing beside it
  const Roofline roof = make_roofline(run_of(std::move(steps)), kCeilings);
  RoofMarks marks;
  marks.place(roof, color_words(roof, RoofColor::cls), {}, plain_view());
  ASSERT_EQ(marks.main().size(), 2u);
  EXPECT_GT(marks.main()[0].radius, marks.main()[1].radius) << "the largest is drawn first";
  EXPECT_EQ(marks.at(marks.main()[1].x, marks.main()[1].y), static_cast<int64_t>(marks.main()[1].point));
  EXPECT_EQ(marks.at(5, 5), -1);
  EXPECT_TRUE(marks.strip().empty());
}

TEST(RoofMarks, ManyPointsAreBoundedByPixels) {
  std::vector<StepInfo> steps;
  for (int i = 0; i < 200'000; ++i)
    steps.push_back(step(i, 1000 * std::pow(10, (i % 499) / 250.0), 1000 * std::pow(10, (i % 997) / 400.0), 1000));
  const Roofline roof = make_roofline(run_of(std::move(steps)), kCeilings);
  RoofMarks marks;
  RoofView small = plain_view();
  small.main = {0, 0, 100, 100};
  small.x = {0, 40}, small.y = {100, -40};
  marks.place(roof, color_words(roof, RoofColor::cls), {}, small);
  EXPECT_LT(marks.main().size(), 42u * 42 + 400);
  EXPECT_GT(marks.main().size(), 20u);
}

TEST(RoofMarks, InSlicesAreThoseOfOnePiece) {
  std::vector<StepInfo> steps;
  for (int i = 0; i < 5000; ++i) {
    steps.push_back(step(i, 1000 * std::pow(10, (i % 499) / 150.0), i % 7 == 0 ? 0 : 1000 * std::pow(10, (i % 97) / 40.0), 1000));
    steps.back().cls = i % 3 == 0 ? "kernel" : "library";
  }
  const Roofline roof = make_roofline(run_of(std::move(steps)), kCeilings);
  const ColorWords colors = color_words(roof, RoofColor::cls);
  RoofView view = plain_view();
  view.strip = {-200, 0, -10, 500}, view.strip_y = {250, -100};
  RoofMarks whole, sliced;
  whole.place(roof, colors, {}, view);
  EXPECT_TRUE(whole.is_complete(roof));
  sliced.place(roof, colors, {}, view, 700);
  EXPECT_EQ(sliced.points(), 700u);
  EXPECT_FALSE(sliced.position(700).shown) << "it has no place yet";
  ASSERT_FALSE(sliced.main().empty());
  EXPECT_EQ(sliced.main()[0].point, whole.main()[0].point) << "most time first";
  while (!sliced.is_complete(roof)) sliced.place_more(roof, colors, 700);
  const auto points = [](std::span<const RoofMark> marks) {
    std::vector<uint32_t> of;
    for (const RoofMark& mark : marks) of.push_back(mark.point);
    return of;
  };
  EXPECT_EQ(points(sliced.main()), points(whole.main()));
  EXPECT_EQ(points(sliced.strip()), points(whole.strip()));
  EXPECT_EQ(sliced.at(whole.main()[9].x, whole.main()[9].y), whole.at(whole.main()[9].x, whole.main()[9].y));
}

TEST(RoofMarks, HiddenColoursAndWhatIsOutsideAreNotShown) {
  StepInfo other = step(1, 1000, 1e6, 1000);
  other.cls = "library";
  const Roofline roof = make_roofline(run_of({step(0, 2000, 1000, 1000), other}), kCeilings);
  const ColorWords words = color_words(roof, RoofColor::cls);
  RoofMarks marks;
  marks.place(roof, words, {1}, plain_view());
  ASSERT_EQ(marks.main().size(), 1u);
  EXPECT_EQ(words.words[marks.main()[0].word], "kernel");
  EXPECT_FALSE(marks.position(1).shown);
  RoofView away = plain_view();
  away.x.at_zero = -5000;
  marks.place(roof, words, {}, away);
  EXPECT_TRUE(marks.main().empty());
}

TEST(RoofMarks, ALassoTakesWhatIsInside) {
  std::vector<StepInfo> steps;
  for (int i = 0; i < 100; ++i) steps.push_back(step(i, 1000, 1000 * std::pow(10, i / 40.0), 1000));
  const Roofline roof = make_roofline(run_of(std::move(steps)), kCeilings);
  RoofMarks marks;
  marks.place(roof, color_words(roof, RoofColor::cls), {}, plain_view());
  const std::vector<float> xs = {400, 620, 640, 390}, ys = {20, 10, 480, 490};
  std::vector<uint32_t> expected;
  for (size_t i = 0; i < marks.points(); ++i) {
    const auto p = marks.position(i);
    if (p.shown && inside(xs, ys, p.x, p.y)) expected.push_back(static_cast<uint32_t>(i));
  }
  EXPECT_EQ(points_inside(marks, xs, ys), expected);
  EXPECT_FALSE(expected.empty());
  EXPECT_TRUE(points_inside(marks, std::vector<float>{1, 2}, std::vector<float>{1, 2}).empty());
  EXPECT_TRUE(points_inside(marks, std::vector<float>{1, 2, 1e30f}, std::vector<float>{1, 1e30f, -1e30f}).empty());
}

// --- the panel

TEST(RooflinePanel, ALineOfTheTableSelectsItsStep) {
  Person person({sample("mnist")});
  person.show("roofline");
  ASSERT_TRUE(person.sees("steps drawn")) << screen::dump();
  const RunData& run = *person.session.data();
  const std::string longest = run.steps[roofline_order(run)[0]].name;
  const auto& words = screen::words();  // the point has its name too: the last one is in the table
  const auto line = std::ranges::find(words.rbegin(), words.rend(), longest, &screen::Word::text);
  ASSERT_NE(line, words.rend());
  person.click_at(line->middle());
  EXPECT_EQ(person.session.step(), run.find(run.steps[roofline_order(run)[0]].step));
}

TEST(RooflinePanel, ALassoListsWhatItGoesAroundAndEscapeForgetsIt) {
  Person person({sample("llama")});
  person.show("roofline");
  // A lasso around the whole plot: three sides by hand, the last one closes itself.
  const screen::Word* x = screen::find("FLOP/byte");
  ASSERT_NE(x, nullptr);
  Offscreen::Hand hand;
  hand.shift = true;
  const ImVec2 corners[] = {{270, 130}, {1260, 130}, {1260, 500}, {270, 500}};
  hand.mouse = corners[0];
  person.frame(hand);
  person.frame(hand);
  hand.down[0] = true;
  for (const ImVec2& corner : corners) hand.mouse = corner, person.frame(hand), person.frame(hand);
  hand.down[0] = false;
  person.frame(hand);
  person.look(2);
  EXPECT_TRUE(person.sees("selected:")) << screen::dump();
  person.press(Session::kEscape);
  EXPECT_FALSE(person.sees("selected:"));
}

TEST(RooflinePanel, ZoomsByWheelAndShowsAllAgain) {
  Person person({sample("llama")});
  person.show("roofline");
  const std::string before = screen::dump();
  person.wheel({700, 300}, 5);
  EXPECT_NE(screen::dump(), before);
  person.press('F');
  EXPECT_EQ(screen::dump(), before);
}

TEST(RooflinePanel, AWordOfTheLegendHidesItsPoints) {
  Person person({sample("llama")});
  person.show("roofline");
  const std::string before = screen::dump();
  person.click("library");
  person.move({5, 5});
  EXPECT_NE(screen::dump(), before) << "the labels of library calls are gone";
}

TEST(RooflinePanel, SaysWhyItIsEmpty) {
  for (const auto& [name, reason] : {std::pair{"empty", "No run"}, std::pair{"no_steps", "no steps"}}) {
    Person person({sample(name)});
    person.show("roofline");
    EXPECT_TRUE(person.sees(reason)) << name << "\n" << screen::dump();
  }
  Person person({sample("recorded")});
  person.show("roofline");
  EXPECT_TRUE(person.sees("no ceilings")) << screen::dump();
}

}  // namespace
}  // namespace ui
