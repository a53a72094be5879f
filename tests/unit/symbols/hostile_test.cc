// Whatever bytes come: a result with a balanced account, or an error; never a crash, and time that grows with the input.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

#include "tests/support/hostile.h"
#include "tests/unit/symbols/fixture.h"

namespace {

using symbols_test::bytes_of;
using symbols_test::corpus;

constexpr const char* kFormats[] = {"symbols", "ctags", "ctags-json", "pysonar", "scip", "scip-json", "lsif"};

std::string scip_json() {
  return R"({"metadata":{"tool_info":{"name":"t","version":"1"}},"documents":[{"relative_path":"a.py","occurrences":[{"range":[2,4,8],"symbol":"s p n 1 a/f().","symbol_roles":1},)"
         R"({"range":[3,4,4,8],"symbol":"local 1","enclosing_range":[1,0,9,0]}],"symbols":[{"symbol":"local 1","documentation":["```python\n(variable) x: int\n```"]}]}]})";
}

std::string lsif() {
  std::string text = R"({"id":1,"type":"vertex","label":"metaData","version":"0.4.3","toolInfo":{"name":"x"}})"
                     "\n";
  text += R"({"id":"d","type":"vertex","label":"document","uri":"file:///a.py"})"
          "\n";
  text += R"({"id":3,"type":"vertex","label":"range","start":{"line":2,"character":4},"end":{"line":2,"character":8}})"
          "\n";
  text += R"({"id":4,"type":"vertex","label":"range","start":{"line":5,"character":4},"end":{"line":5,"character":8}})"
          "\n";
  text += R"({"id":5,"type":"edge","label":"next","outV":3,"inV":6}{"id":7,"type":"edge","label":"next","outV":4,"inV":6})"
          "\n";
  text += R"({"id":7,"type":"edge","label":"next","outV":4,"inV":6})"
          "\n"
          R"({"id":8,"type":"edge","label":"next","outV":6,"inV":4})"
          "\n";
  text += R"({"id":9,"type":"edge","label":"textDocument/definition","outV":6,"inV":10})"
          "\n";
  text += R"({"id":11,"type":"edge","label":"item","outV":10,"inVs":[3],"document":"d"})"
          "\n";
  text += R"({"id":12,"type":"edge","label":"contains","outV":"d","inVs":[3,4]})"
          "\n";
  return text;
}

/// A small text of each format, in the order of kFormats.
std::string seed_of(std::string_view format) {
  if (format == "symbols") return bytes_of(symbols_test::kSample).substr(0, 6000);
  if (format == "ctags")
    return "!_TAG_FILE_SORTED\t1\t/x/\nf\ta.py\t/^def f(x):$/;\"\tf\tline:2\tclass:A\tsignature:(x)\tend:4\ng\ta.py\t?^g?;12;\"\tkind:v\n";
  if (format == "ctags-json")
    return "{\"_type\": \"tag\", \"name\": \"f\", \"path\": \"a.py\", \"pattern\": \"/^def f/\", \"line\": 2, \"kind\": \"function\"}\n";
  if (format == "pysonar")
    return R"([{"ref":{"name":"x","file":"a.py","start":4,"end":5,"line":1,"col":5},"dests":[{"name":"x","file":"a.py","start":0,"end":1,"line":1,"col":1,"type":"int"}]},{"sym":"a/x","file":"a.py","start":3,"end":4}])";
  if (format == "scip-json") return scip_json();
  if (format == "lsif") return lsif();
  const std::string tool("\x0a\x01t", 3), metadata = "\x12" + std::string(1, static_cast<char>(tool.size())) + tool;
  const std::string occurrence("\x0a\x03\x02\x04\x08\x12\x0es p n 1 a/f().x\x18\x01", 23);
  const std::string document =
      "\x0a\x04"
      "a.py"
      "\x12" +
      std::string(1, static_cast<char>(occurrence.size())) + occurrence;
  return "\x0a" + std::string(1, static_cast<char>(metadata.size())) + metadata + "\x12" +
         std::string(1, static_cast<char>(document.size())) + document;
}

/// Read as `format`, with a source text: balanced, or an error that names the file.
void check(std::string_view format, std::string_view bytes) {
  importers::Input input{"hostile", bytes};
  input.options.as = format;
  input.options.source = "a.py";
  input.source_text = "x = \"y\"\ndef f(x):\n    return x\n";
  ASSERT_EQ(support::flaw_of(importers::import(input)), "");
}

class HostileSymbols : public testing::TestWithParam<const char*> {};

TEST_P(HostileSymbols, TheSeedIsReadAndEveryCutIsHandled) {
  const std::string seed = seed_of(GetParam());
  importers::Input input{"x", seed};
  EXPECT_GE(importers::match(input), importers::Match::likely);
  const size_t step = std::max<size_t>(1, seed.size() / 500);
  for (size_t size = 1; size <= seed.size(); size += step) check(GetParam(), std::string_view(seed).substr(0, size));
}

TEST_P(HostileSymbols, TenThousandRandomEditsAreHandled) {
  const std::string seed = seed_of(GetParam());
  std::mt19937 random(7);
  for (int i = 0; i < 10000; ++i) check(GetParam(), support::edited(seed, random));
}

TEST_P(HostileSymbols, DeepNestingIsHandled) {
  for (const char* unit : {"[", "{\"a\":", "<<", "(", "\x0a\x7f", "{\"documents\":[", "\t", "/"}) {
    std::string bytes;
    for (int i = 0; i < 200000; ++i) bytes += unit;
    check(GetParam(), bytes);
    check(GetParam(), seed_of(GetParam()) + bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(, HostileSymbols, testing::ValuesIn(kFormats), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

std::string counted(std::string_view bytes) {
  std::string size;
  for (size_t rest = bytes.size(); size.empty() || rest != 0; rest >>= 7) size += static_cast<char>((rest & 127) | (rest > 127 ? 128 : 0));
  return size + std::string(bytes);
}

/// An occurrence in a document of SCIP, as protobuf.
std::string occurrence(int64_t i, int64_t n) {
  const std::string range = {static_cast<char>(i % 128 | 128), static_cast<char>(i / 128 % 128 | 128), static_cast<char>(i / 16384 % 128),
                             4, 12};
  const std::string symbol = fmt::format("scip-python python p 1 mod/Cls{}#name{}().", n % 100, n % 5000);
  return "\x12" + counted("\x0a" + counted(range) + "\x12" + counted(symbol) + "\x18" + (i % 5 == 0 ? '\1' : '\0'));
}

/// `count` records; every format has its own.
std::string many(std::string_view format, int64_t count) {
  std::string text = format == "pysonar" ? "[" : "";
  for (int64_t i = 0; i < count; ++i) {
    const int64_t n = i * 7919 % 1000003;
    if (format == "scip") text += occurrence(i, n);
    if (format == "symbols")
      text += fmt::format("<<name{}>> <<{}:{}-{}>> <<{{int||?}}>> <<{}>> <<{}>>\n", n % 5000, i / 3 + 1, 12 * i, 12 * i + 5,
                          i % 50 == 0 ? "FUNCTION" : "VARIABLE", i % 5 == 0 || i % 50 == 0 ? "ANCHOR" : "LINK");
    if (format == "ctags")
      text += fmt::format("name{}\tsrc/file{}.py\t/^    def name{}(self, x):$/;\"\tkind:member\tline:{}\tclass:Cls{}\troles:def\tend:{}\n",
                          n, i / 100, n, i % 100 * 10 + 1, n % 100, i % 100 * 10 + 9);
    if (format == "ctags-json")
      text += fmt::format(
          R"({{"_type": "tag", "name": "name{}", "path": "src/file{}.py", "pattern": "/^    def name{}(self):$/", "line": {}, "kind": "member", "scope": "Cls{}", "scopeKind": "class"}})"
          "\n",
          n, i / 100, n, i % 100 * 10 + 1, n % 100);
    if (format == "pysonar")
      text += fmt::format(R"({}{{"sym":"/w/mod{}/name{}","file":"/w/mod{}.py","start":{},"end":{},"builtin":false}})", i == 0 ? "" : ",",
                          i / 1000, n, i / 1000, 20 * i, 20 * i + 8);
    if (format == "scip-json")
      text += fmt::format(R"({}{{"range":[{},4,12],"symbol":"scip-python python p 1 mod/Cls{}#name{}().","symbol_roles":{}}})",
                          i == 0 ? "{\"documents\":[{\"relative_path\":\"a.py\",\"occurrences\":[" : ",", i, n % 100, n % 5000, i % 5 == 0);
    if (format == "lsif")
      text +=
          i % 3 == 0
              ? fmt::format(
                    R"({{"id":{},"type":"vertex","label":"range","start":{{"line":{},"character":4}},"end":{{"line":{},"character":9}}}})"
                    "\n",
                    i + 3, i, i)
              : fmt::format(R"({{"id":{},"type":"edge","label":"next","outV":{},"inV":{}}})"
                            "\n",
                            i + 3, i - i % 3 + 3, n);
  }
  if (format == "scip") return "\x12" + counted("\x0a" + counted("a.py") + text);
  return text + (format == "pysonar" ? "]" : format == "scip-json" ? "]}]}" : "");
}

/// Of the processor, so that others do not count.
double seconds(std::string_view format, std::string_view bytes) {
  importers::Input input{"x", bytes};
  input.options.as = format;
  const std::clock_t begin = std::clock();
  const auto imported = importers::import(input);
  EXPECT_TRUE(imported.ok()) << (imported.ok() ? "" : imported.error().message);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

class LargeSymbols : public testing::TestWithParam<const char*> {};

/// The bound is loose; what is quadratic exceeds it.
TEST_P(LargeSymbols, TimeGrowsWithTheInput) {
  const int64_t records = std::getenv("PROFILE_HOSTILE") == nullptr ? 200'000 : 10'000'000;
  const std::string small = many(GetParam(), records / 10), large = many(GetParam(), records);
  const double of_small = seconds(GetParam(), small), of_large = seconds(GetParam(), large);
  RecordProperty("MB_per_s", fmt::format("{:.0f}", 1e-6 * static_cast<double>(large.size()) / of_large));
  std::printf("%s: %.1f MB/s\n", GetParam(), 1e-6 * static_cast<double>(large.size()) / of_large);
  EXPECT_LT(of_large, 30 * of_small + 0.5);
}

INSTANTIATE_TEST_SUITE_P(, LargeSymbols, testing::ValuesIn(kFormats), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(HostileSource, ManyNestedFunctionsAndLongLinesAreHandled) {
  std::string nested, blank(400000, '\n');
  for (int i = 0; i < 2000; ++i) nested += std::string(static_cast<size_t>(i), ' ') + "def f" + std::to_string(i) + "(x):\n";
  const std::string index = symbols_test::bytes_of(symbols_test::kSample);
  for (const std::string& source :
       {nested + "(" + blank, std::string(1 << 20, '\xc3'), std::string(1 << 20, '"'), std::string(1 << 20, '(')}) {
    const auto imported = symbols_test::read("x", index, source, "a.py");
    EXPECT_EQ(imported.source.kept, 348);
  }
}

}  // namespace
