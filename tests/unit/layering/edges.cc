// Who may include whom: the table of the architecture, section 3, one row a folder; the most specific row holds. Beyond the table of
// folders it says which of its neighbours a folder inside replay or importers may see.
#include <algorithm>
#include <array>
#include <regex>

#include "tests/unit/layering/layering.h"

namespace layering {
namespace {

/// An entry ending in "/" is a folder with all below it; one ending in "/*" is the files directly in it; else it is one file.
struct Row {
  std::string_view folder;
  std::vector<std::string_view> may_include;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {"src/base/", {"src/base/"}},
      {"src/ir/", {"src/base/", "src/ir/"}},
      // stats and timeline: what summaries need is computed once, when a run ends, and stored beside its samples (architecture, section 6)
      {"src/model/", {"src/base/", "src/ir/", "src/stats/", "src/timeline/", "src/model/", "embedded/model_sql.h"}},
      {"src/stats/", {"src/base/", "src/stats/"}},
      {"src/timeline/", {"src/base/", "src/timeline/"}},
      {"src/report/",
       {"src/base/", "src/model/", "src/stats/", "src/timeline/", "src/report/", "embedded/report_sql.h", "embedded/report_queries.h",
        "embedded/report_page.h"}},
      {"importers/", {"src/base/", "src/ir/", "src/model/records.h", "src/model/operator_records.h", "importers/"}},
      {"importers/hlo/",
       {"src/base/", "src/ir/", "src/model/records.h", "src/model/operator_records.h", "importers/importer.h", "importers/lowering/",
        "importers/hlo/"}},
      {"importers/paddle/",
       {"src/base/", "src/ir/", "src/model/records.h", "src/model/operator_records.h", "importers/importer.h", "importers/lowering/",
        "importers/paddle/"}},
      {"importers/tensorflow/",
       {"src/base/", "src/ir/", "src/model/records.h", "src/model/operator_records.h", "importers/importer.h", "importers/lowering/",
        "importers/tensorflow/"}},
      {"importers/symbols/",
       {"src/base/", "src/ir/", "src/model/records.h", "src/model/operator_records.h", "src/model/symbol_index.h", "importers/importer.h",
        "importers/symbols/"}},
      {"importers/lowering/", {"src/base/", "src/ir/", "src/model/records.h", "src/model/operator_records.h", "importers/lowering/"}},
      {"replay/", {"src/base/", "src/ir/", "src/stats/", "src/model/records.h", "replay/", "embedded/machines.h"}},
      {"replay/kernel/", {"src/base/", "src/ir/", "replay/rounding.h", "replay/kernel/"}},
      {"replay/measure/", {"src/base/", "src/stats/", "replay/measure/"}},
      {"replay/reference/", {"src/base/", "src/ir/", "replay/*", "replay/reference/"}},
      {"replay/device/cpu/", {"src/base/", "src/ir/", "src/model/records.h", "replay/*", "replay/kernel/", "replay/device/cpu/"}},
      {"replay/device/cuda/", {"src/base/", "src/ir/", "src/model/records.h", "replay/*", "replay/kernel/", "replay/device/cuda/"}},
      {"replay/device/null/", {"src/base/", "src/ir/", "src/model/records.h", "replay/*", "replay/device/null/"}},
      {"replay/device/reference/",
       {"src/base/", "src/ir/", "src/model/records.h", "replay/*", "replay/reference/", "replay/device/reference/"}},
      {"src/cli/", {"src/", "importers/", "replay/"}},
      {"src/main.cc", {"src/", "importers/", "replay/"}},
      {"ui/", {"src/base/", "src/model/", "src/report/", "src/stats/", "src/timeline/", "ui/"}},
  };
  return table;
}

const Row* row_of(std::string_view path) {
  const Row* best = nullptr;
  for (const Row& row : rows()) {
    if (path.starts_with(row.folder) && (best == nullptr || row.folder.size() > best->folder.size())) best = &row;
  }
  return best;
}

bool covers(std::string_view entry, std::string_view included) {
  if (entry.ends_with("/")) return included.starts_with(entry);
  if (!entry.ends_with("/*")) return included == entry;
  entry.remove_suffix(1);
  return included.starts_with(entry) && included.find('/', entry.size()) == std::string_view::npos;
}

/// A library that only one place may know. `headers` is matched against what stands between < and >.
struct Fence {
  std::string_view headers;
  std::vector<std::string_view> places;
};

const std::vector<Fence>& fences() {
  static const std::vector<Fence> table = {
      {R"(sqlite3.*)", {"src/model/database.cc", "src/model/memory_rows.cc"}},
      {R"(zstd.*)", {"src/model/", "src/base/"}},
      {R"(zlib.*)", {"src/base/decompress.cc"}},
      {R"(openssl/.*|xxhash.*)", {"src/base/hash.cc"}},
      {R"(llvm/.*|llvm-c/.*)", {"replay/device/cpu/"}},
      {R"(oneapi/.*|dnnl.*)", {"replay/device/cpu/"}},
      {R"(cuda.*|cupti.*|nvrtc.*|cublas.*|cudnn.*)", {"replay/device/cuda/"}},
      {R"(imgui.*|backends/imgui.*|GLFW/.*|GL/.*|stb.*)", {"ui/"}},
      {R"(CLI/.*)", {"src/cli/", "src/main.cc", "ui/main.cc"}},
      {R"(omp\.h)", {"replay/"}},
      {R"(iostream)", {"src/cli/", "src/main.cc", "ui/main.cc"}},
  };
  return table;
}

struct Include {
  int line;
  bool system;
  std::string header;
};

std::vector<Include> includes_of(const Source& source) {
  static const std::regex pattern(R"(^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]*)[>"])", std::regex::multiline);
  std::vector<Include> found;
  for (std::sregex_iterator it(source.text.begin(), source.text.end(), pattern), end; it != end; ++it) {
    const auto offset = static_cast<size_t>(it->position(1));
    found.push_back({line_of(source.text, offset), (*it)[1] == "<", (*it)[2]});
  }
  return found;
}

}  // namespace

Findings check_edges(const Source& source) {
  Findings findings;
  const Row* row = row_of(source.path);
  for (const Include& include : includes_of(source)) {
    if (include.system) continue;
    if (row == nullptr) {
      findings.push_back(at(source, include.line, "this folder has no row in the table; add one to tests/unit/layering/edges.cc"));
      break;
    }
    const auto allows = [&](std::string_view entry) { return covers(entry, include.header); };
    if (std::ranges::any_of(row->may_include, allows)) continue;
    findings.push_back(
        at(source, include.line,
           std::string(row->folder) + " may not include \"" + include.header + "\"; see the table in tests/unit/layering/edges.cc"));
  }
  return findings;
}

Findings check_fences(const Source& source) {
  Findings findings;
  for (const Include& include : includes_of(source)) {
    for (const Fence& fence : fences()) {
      if (!std::regex_match(include.header, std::regex(fence.headers.begin(), fence.headers.end()))) continue;
      const auto holds = [&](std::string_view place) { return source.path.starts_with(place); };
      if (std::ranges::any_of(fence.places, holds)) continue;
      findings.push_back(
          at(source, include.line,
             "<" + include.header + "> is known only to " + std::string(fence.places.front()) + "; go through its interface"));
    }
  }
  return findings;
}

Findings check_output(const Source& source) {
  static const std::regex pattern(
      R"(\b(std::cout|std::cerr|std::clog|cout|cerr|stdout|stderr|printf|vprintf|puts|putchar|perror|fmt::print|std::print|std::exit|_exit|quick_exit)\b)"
      R"(|(?:^|[^\w.>:])(exit|abort)\s*\()");
  static const std::array<std::string_view, 3> allowed = {"src/cli/", "src/main.cc", "ui/main.cc"};
  Findings findings;
  if (std::ranges::any_of(allowed, [&](std::string_view place) { return source.path.starts_with(place); })) return findings;
  const std::string code = code_only(source.text);
  for (std::sregex_iterator it(code.begin(), code.end(), pattern), end; it != end; ++it) {
    const int group = (*it)[1].matched ? 1 : 2;
    findings.push_back(at(source, line_of(code, static_cast<size_t>(it->position(group))),
                          "'" + (*it)[group].str() + "' in a library; return an Error or a value and let src/cli print"));
  }
  return findings;
}

}  // namespace layering
