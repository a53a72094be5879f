// Exports read back: a trace by the rules of its format, a page by what a browser would take for markup.
#include "src/report/export.h"

#include <fmt/format.h>
#include <gtest/gtest-spi.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "src/base/text.h"
#include "src/report/report.h"
#include "tests/unit/model/fixture.h"

namespace report {
namespace {

using nlohmann::json;

/// What a stranger's file may call its steps: markup, quotes, ends of lines, a byte of nothing, no UTF-8, a line separator of JavaScript.
const std::vector<std::string> kHostile = {"</script><script>alert(1)</script>",
                                           "<img src=x onerror=alert(1)>",
                                           "\"quoted\\\"'",
                                           "two\nlines\r\t",
                                           std::string("nul\0nul", 7),
                                           "\xff\xfe broken \xc3",
                                           "\u2028\u2029",
                                           "-->]]>&lt;",
                                           "@DATA@ @SCRIPT@",
                                           std::string(100'000, 'x')};

class Export : public model::StoreTest {
 protected:
  /// A run of `names.size()` steps and `passes` passes, one behind the other; times are no whole microseconds.
  void save(const std::vector<std::string>& names, int passes, model::RunStatus status = model::RunStatus::complete) {
    auto store = model::Store::open(path(), model::OpenMode::append);
    const auto ids = store->add(model::imported(model::kProgram));
    model::Run run = model::tiny_run(*ids);
    const model::StepRecord like = run.steps[0];
    run.steps.clear();
    for (const std::string& name : names) {
      run.steps.push_back(like);
      run.steps.back().step = static_cast<int32_t>(run.steps.size()) - 1;
      run.steps.back().name = run.steps.back().key = name;
      run.steps.back().kernels.clear();
    }
    const auto id = store->begin(run);
    ASSERT_TRUE(id.ok());
    ASSERT_TRUE(store->describe(*id, run).ok());
    const auto steps = static_cast<int32_t>(names.size());
    for (int32_t pass = 0; pass < passes; ++pass) {
      std::vector<model::Sample> samples;
      const int64_t begin_ns = int64_t{pass} * steps * 2000;
      for (int32_t step = 0; step < steps; ++step) samples.push_back({step, pass, 0, begin_ns + 2000 * step + 1, 1234 + step, 1});
      ASSERT_TRUE(store->add(*id, {pass, begin_ns, begin_ns + 2000 * steps}, samples).ok());
    }
    ASSERT_TRUE(store->finish(*id, status, {}).ok());
  }

  std::string chrome(std::vector<int64_t> runs = {1}) {
    std::string out;
    const auto reader = model::Reader::open(path());
    const base::Status status = export_chrome(*reader, runs, [&](std::string_view bytes) -> base::Status {
      out += bytes;
      return {};
    });
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
    return out;
  }

  std::string page(const PageLimits& limits = {}) {
    std::string out;
    const auto reader = model::Reader::open(path());
    const base::Status status = export_html(*reader, 0, limits, [&](std::string_view bytes) -> base::Status {
      out += bytes;
      return {};
    });
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
    return out;
  }
};

/// Nanoseconds of a time in the trace, from its digits: no rounding on the way.
int64_t nanoseconds(const std::string& text) {
  const size_t point = text.find('.');
  EXPECT_EQ(text.size() - point, 4u) << text;
  return std::stoll(text.substr(0, point)) * 1000 + std::stoll(text.substr(point + 1));
}

/// The digits behind `"key":` in each line that holds it.
std::vector<int64_t> times(const std::string& trace, const std::string& phase, const std::string& key) {
  std::vector<int64_t> found;
  for (size_t at = trace.find("\"ph\":\"" + phase + "\""); at != std::string::npos; at = trace.find("\"ph\":\"" + phase + "\"", at + 1)) {
    const size_t begin = trace.find("\"" + key + "\":", at) + key.size() + 3;
    found.push_back(nanoseconds(trace.substr(begin, trace.find_first_of(",}", begin) - begin)));
  }
  return found;
}

int64_t ns_of(const json& microseconds) { return std::llround(microseconds.get<double>() * 1000); }

/// Complete events of a thread lie beside or within each other: viewers draw one that overlaps another over it, or drop it.
void check_nesting(const json& trace) {
  using Span = std::pair<int64_t, int64_t>;  // begin, and end negated: what contains another comes first
  std::map<std::pair<int64_t, int64_t>, std::vector<Span>> threads;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X")
      threads[{event["pid"], event["tid"]}].emplace_back(ns_of(event["ts"]), -ns_of(event["ts"]) - ns_of(event["dur"]));
  }
  for (auto& [thread, spans] : threads) {
    std::ranges::sort(spans);
    std::vector<int64_t> ends;
    for (const auto& [begin, negated_end] : spans) {
      while (!ends.empty() && ends.back() <= begin) ends.pop_back();
      ASSERT_TRUE(ends.empty() || -negated_end <= ends.back()) << "thread " << thread.second << " at " << begin << " ns";
      ends.push_back(-negated_end);
    }
  }
}

/// What "Trace Event Format" asks of every event, and of begins and ends.
void check_rules(const json& trace) {
  check_nesting(trace);
  ASSERT_TRUE(trace.at("traceEvents").is_array());
  std::map<std::pair<int64_t, int64_t>, std::vector<double>> open;
  for (const json& event : trace["traceEvents"]) {
    const std::string phase = event.at("ph");
    ASSERT_TRUE((std::set<std::string>{"X", "B", "E", "C", "M"}.contains(phase))) << phase;
    ASSERT_TRUE(event.at("pid").is_number_integer() && event.at("tid").is_number_integer());
    if (phase != "E") {
      ASSERT_TRUE(event.at("name").is_string() && !event.at("name").get<std::string>().empty()) << event;
    }
    if (phase == "M") continue;
    ASSERT_GE(event.at("ts").get<double>(), 0);
    if (phase == "X") {
      ASSERT_GE(event.at("dur").get<double>(), 0);
    }
    if (phase == "C") {
      ASSERT_TRUE(event.at("args").at("bytes").is_number());
    }
    auto& begun = open[{event["pid"], event["tid"]}];
    if (phase == "B") begun.push_back(event["ts"]);
    if (phase != "E") continue;
    ASSERT_FALSE(begun.empty()) << "an end without a begin";
    ASSERT_GE(event["ts"].get<double>(), begun.back());
    begun.pop_back();
  }
  for (const auto& [thread, begun] : open) ASSERT_TRUE(begun.empty()) << "a begin without an end";
}

TEST_F(Export, ATraceKeepsEveryNanosecondOfEverySample) {
  save({"a", "b", "c"}, 4);
  const std::string trace = chrome();
  check_rules(json::parse(trace));
  std::vector<int64_t> begins, durations;
  for (int pass = 0; pass < 4; ++pass) {
    begins.push_back(pass * 6000);
    durations.push_back(6000);
    for (int step = 0; step < 3; ++step) {
      begins.push_back(pass * 6000 + 2000 * step + 1);
      durations.push_back(1234 + step);
    }
  }
  EXPECT_EQ(times(trace, "X", "ts"), begins);
  EXPECT_EQ(times(trace, "X", "dur"), durations);
}

TEST_F(Export, ATraceAddsUpToTheStore) {
  save({"a", "b", "c"}, 7);
  save({"d"}, 2);
  const json trace = json::parse(chrome({1, 2}));
  check_rules(trace);
  std::map<std::string, int64_t> steps_ns, passes_ns;  // by process
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    auto& sum = event["cat"] == "step" ? steps_ns : passes_ns;
    sum[std::to_string(event["pid"].get<int64_t>())] += ns_of(event["dur"]);
  }
  std::string steps, passes;
  for (const auto& [run, ns] : steps_ns) steps += (steps.empty() ? "" : " ") + run + "|" + std::to_string(ns);
  for (const auto& [run, ns] : passes_ns) passes += (passes.empty() ? "" : " ") + run + "|" + std::to_string(ns);
  EXPECT_EQ(steps, model::ask(path(), "SELECT run, sum(duration_ns) FROM sample GROUP BY run ORDER BY run"));
  EXPECT_EQ(passes, model::ask(path(), "SELECT run, sum(end_ns - begin_ns) FROM pass GROUP BY run ORDER BY run"));
  EXPECT_EQ(trace["displayTimeUnit"], "ns") << "how it is shown; ts and dur are microseconds by the format";
}

TEST(TraceRules, FindWhatOverlaps) {
  static const json kTrace = json::parse(R"({"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 1.0, "dur": 2.0},
                                                             {"ph": "X", "pid": 1, "tid": 1, "ts": 2.5, "dur": 2.0}]})");
  EXPECT_FATAL_FAILURE(check_nesting(kTrace), "thread 1 at 2500 ns");
}

TEST_F(Export, ATraceSaysWhatAStepIs) {
  save({"a"}, 1);
  const json trace = json::parse(chrome());
  const auto step = std::ranges::find_if(trace["traceEvents"], [](const json& event) { return event["name"] == "a"; });
  ASSERT_NE(step, trace["traceEvents"].end());
  EXPECT_EQ((*step)["args"]["class"], "kernel");
  EXPECT_EQ((*step)["args"]["median_ns"], 1234);
  EXPECT_EQ((*step)["args"]["flops"], 32);
  EXPECT_EQ((*step)["args"]["bytes"], 160);
  EXPECT_EQ((*step)["args"]["executions"], 1);
  const auto scopes = std::ranges::count_if(trace["traceEvents"], [](const json& event) { return event["ph"] == "B"; });
  EXPECT_EQ(scopes, 2);  // model, layer_0
  EXPECT_EQ(trace["otherData"]["run 1 device"], "null");
}

TEST_F(Export, ATraceOfSeveralRunsHasAProcessForEach) {
  save({"a"}, 1);
  save({"b"}, 2);
  const json trace = json::parse(chrome({1, 2}));
  check_rules(trace);
  std::set<int64_t> processes;
  for (const json& event : trace["traceEvents"]) processes.insert(event["pid"].get<int64_t>());
  EXPECT_EQ(processes, (std::set<int64_t>{0, 1, 2}));
}

TEST_F(Export, StepsThatOverlapLieInDifferentThreads) {
  auto store = model::Store::open(path(), model::OpenMode::append);
  const auto ids = store->add(model::imported(model::kProgram));
  const auto run = store->begin(model::tiny_run(*ids));
  const std::vector<model::Sample> samples = {{0, 0, 0, 100, 1000, 1}, {1, 0, 0, 500, 1000, 1}};
  ASSERT_TRUE(store->add(*run, {0, 0, 2000}, samples).ok());
  ASSERT_TRUE(store->finish(*run, model::RunStatus::complete, {}).ok());
  const json trace = json::parse(chrome());
  check_rules(trace);
  std::set<int64_t> threads;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["cat"] == "step") threads.insert(event["tid"].get<int64_t>());
  }
  EXPECT_EQ(threads.size(), 2u);
}

TEST_F(Export, RunsWithoutATimeAreExportedToo) {
  save({"a"}, 0, model::RunStatus::interrupted);
  check_rules(json::parse(chrome()));
  EXPECT_NE(page().find("interrupted"), std::string::npos);
}

TEST_F(Export, HostileNamesAreTextInATrace) {
  save(kHostile, 2);
  const json trace = json::parse(chrome());
  check_rules(trace);
  std::set<std::string> names;
  for (const json& event : trace["traceEvents"]) names.insert(event.value("name", ""));
  for (const std::string& name : kHostile) EXPECT_TRUE(names.contains(name) || names.contains(base::escaped(name))) << base::escaped(name);
}

/// Occurrences of tags that can begin something, outside of what the frame itself holds.
size_t count(const std::string& text, std::string_view what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

std::string data_text(const std::string& page) {
  constexpr std::string_view kOpen = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(kOpen) + kOpen.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}
json data_of(const std::string& page) { return json::parse(data_text(page)); }

TEST_F(Export, HostileNamesAreNeverMarkupInAPage) {
  save(kHostile, 3);
  const std::string page = Export::page();
  EXPECT_EQ(count(page, "<script"), 2u);
  EXPECT_EQ(count(page, "</script>"), 2u);
  EXPECT_EQ(count(page, "<img"), 0u);
  EXPECT_TRUE(std::ranges::all_of(data_text(page), [](char c) { return c >= 0x20 && c < 0x7f && c != '<'; }));
  EXPECT_EQ(page.find('\0'), std::string::npos);
  const json data = data_of(page);
  EXPECT_EQ(data["steps"]["rows"].size(), kHostile.size());
  EXPECT_EQ(data["steps"]["rows"][0][1], kHostile[0]);
  EXPECT_LT(page.size(), 200'000u) << "a name of 100 kB is cut";
}

TEST_F(Export, APageLoadsNothing) {
  save({"a"}, 1);
  const std::string page = Export::page();
  EXPECT_EQ(count(page, " src="), 0u);
  EXPECT_EQ(count(page, "@import"), 0u);
  EXPECT_EQ(count(page, "url("), 0u);
  EXPECT_EQ(count(page, "<link"), 0u);
  EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
}

TEST_F(Export, APageIsBoundedAndSaysWhatItLeavesOut) {
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back(fmt::format("step_{}", i));
  save(names, 30);
  const json data = data_of(page({.steps = 100, .records = 2'000, .rows = 50}));
  EXPECT_EQ(data["steps"]["rows"].size(), 100u);
  EXPECT_EQ(data["steps"]["more"], 200);
  EXPECT_EQ(data["steps"]["rows"][0][1], "step_200") << "the longest are kept";
  EXPECT_EQ(data["tables"]["fusions"]["rows"].size(), 50u);
  EXPECT_EQ(data["tables"]["fusions"]["more"], 250);
  const json& lane = data["timeline"]["lanes"][0];
  EXPECT_GE(lane["level"], 0) << "9,000 slices are folded";
  EXPECT_LE(lane["begin"].size(), 2'000u);
  EXPECT_EQ(data_of(page())["timeline"]["lanes"][0]["level"], -1);
}

TEST_F(Export, APageAddsUp) {
  save({"a", "b"}, 3);
  const json data = data_of(page());
  EXPECT_DOUBLE_EQ(data["steps"]["pass_ns"].get<double>(), 1234 + 1235);
  int64_t begin_ns = 0;
  const json& lane = data["timeline"]["lanes"][0];
  for (const json& difference : lane["begin"]) begin_ns += difference.get<int64_t>();
  EXPECT_EQ(begin_ns, 2 * 4000 + 2001);
  EXPECT_EQ(lane["length"].size(), 6u);
}

}  // namespace
}  // namespace report
