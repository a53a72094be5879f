// One table in five spellings.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "src/report/report.h"

#include <algorithm>

namespace report {
namespace {

using Kind = model::Cell::Kind;
using model::Cell;
using model::Rows;

Cell text(std::string value) { return {Kind::text, 0, 0, std::move(value)}; }
Cell real(double value) { return {Kind::real, 0, value, {}}; }
Cell integer(int64_t value) { return {Kind::integer, value, 0, {}}; }

Rows sample() {
  return {{"step", "calls", "median_ns", "note"},
          {{text("fusion.1"), integer(1), real(1234567), text("")}, {text("dot, \"big\""), integer(24), {}, text("a|b\nc")}}};
}

TEST(Render, Table) {
  EXPECT_EQ(render(sample(), Format::table, {}),
            "step        calls   median  note\n"
            "fusion.1        1  1.23 ms\n"
            "dot, \"big\"     24        -  a|b\\nc\n");
}

TEST(Render, TableCutsTheWidestNamesToTheTerminal) {
  Rows rows{{"name", "bytes"}, {{text(std::string(50, 'a') + std::string(50, 'z')), integer(1000)}}};
  EXPECT_EQ(render(rows, Format::table, {false, 30, 0}), "name                      size\naaaaaaaaaa…zzzzzzzzzz  1.00 kB\n");
}

TEST(Render, TableEndsAfterTheRowsAskedFor) {
  const std::string all = render(sample(), Format::table, {false, 0, 1});
  EXPECT_NE(all.find("fusion.1"), std::string::npos);
  EXPECT_NE(all.find("\n(1 more)\n"), std::string::npos);
  EXPECT_EQ(render({{"a"}, {}}, Format::table, {}), "a\n(none)\n");
}

TEST(Render, TableHeadIsBoldOnlyInColour) {
  EXPECT_EQ(render({{"a"}, {{integer(1)}}}, Format::table, {true, 0, 0}), "\x1b[1ma\x1b[0m\n1\n");
}

TEST(Render, RowsAfterThoseThatWereMeasuredAreWhole) {
  const auto writer = row_writer({"name", "n"}, Format::table, {});
  std::string out;
  for (int i = 0; i < 20'000; ++i) out += writer->add({text("a"), integer(i)});
  EXPECT_FALSE(out.empty());
  out += writer->add({text("a name of another length"), integer(5)});
  out += writer->end();
  EXPECT_TRUE(out.starts_with("name     n\na        0\n"));
  EXPECT_TRUE(out.ends_with("a     19999\na name of another length     5\n"));
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 20'002);
}

TEST(Render, Markdown) {
  EXPECT_EQ(
      render(sample(), Format::md, {}),
      "| step | calls | median | note |\n|---|---:|---:|---|\n| fusion.1 | 1 | 1.23 ms |  |\n| dot, \"big\" | 24 | - | a\\|b\\\\nc |\n");
}

TEST(Render, MarkdownEscapesWhatWouldBeMarkup) {
  EXPECT_EQ(render({{"a"}, {{text("__cublas$gemm <b> a_b *x*")}}}, Format::md, {}),
            "| a |\n|---|\n| \\_\\_cublas$gemm \\<b> a_b \\*x\\* |\n");
}

TEST(Render, CsvQuotesAsRfc4180) {
  EXPECT_EQ(render(sample(), Format::csv, {}), "step,calls,median_ns,note\nfusion.1,1,1234567,\n\"dot, \"\"big\"\"\",24,,\"a|b\nc\"\n");
}

TEST(Render, JsonReadsBack) {
  const auto parsed = nlohmann::json::parse(render(sample(), Format::json, {}));
  EXPECT_EQ(parsed[0]["median_ns"], 1234567);
  EXPECT_TRUE(parsed[1]["median_ns"].is_null());
  EXPECT_EQ(parsed[1]["note"], "a|b\nc");
  EXPECT_EQ(render({{"a"}, {}}, Format::json, {}), "[]\n");
}

TEST(Render, JsonLinesAreOneObjectEach) {
  const std::string lines = render(sample(), Format::jsonl, {});
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  EXPECT_EQ(nlohmann::json::parse(lines.substr(0, lines.find('\n')))["step"], "fusion.1");
  EXPECT_EQ(render({{"a"}, {}}, Format::jsonl, {}), "");
}

TEST(Render, JsonHoldsAnyBytesAndNumbers) {
  const Rows rows{{"a", "a", "b", "c"}, {{text("\xff\x01"), real(0.1), real(HUGE_VAL), {Kind::blob, 0, 0, std::string("\0\xfe", 2)}}}};
  const auto parsed = nlohmann::json::parse(render(rows, Format::json, {}));
  EXPECT_EQ(parsed[0]["a_2"], 0.1);
  EXPECT_TRUE(parsed[0]["b"].is_null());
  EXPECT_EQ(parsed[0]["c"], "00fe");
}

TEST(Render, SectionsSayHowMuchTheyCover) {
  const Rows rows = sample();
  const Section section{"top", &rows};
  const auto parsed = nlohmann::json::parse(render_json(std::span(&section, 1), "partial", "2 steps skipped", 0.75));
  EXPECT_EQ(parsed["schema_version"], kJsonVersion);
  EXPECT_EQ(parsed["status"], "partial");
  EXPECT_EQ(parsed["reason"], "2 steps skipped");
  EXPECT_EQ(parsed["covered"], 0.75);
  EXPECT_EQ(parsed["top"].size(), 2u);
}

TEST(Render, FormatsHaveNames) {
  EXPECT_EQ(*format_named("csv"), Format::csv);
  EXPECT_EQ(format_named("josn").error().exit, base::Exit::wrong_use);
  EXPECT_NE(format_named("jsn").error().message.find("no format 'jsn'; there are table, json, jsonl, csv, md; did you mean 'json'?"),
            std::string::npos);
}

}  // namespace
}  // namespace report
