// Counting rows.
#include "tests/corpus/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <regex>

namespace corpus {
namespace {

/// Of one directory.
struct Counts {
  int files = 0, explained = 0;
  std::array<int, kStages> passed{};  ///< came through that stage
  std::array<int, 5> kinds{};         ///< not explained, by kind
};

void count(Counts& counts, const Row& row) {
  ++counts.files;
  for (int stage = 0; stage < static_cast<int>(row.stage); ++stage) ++counts.passed[static_cast<size_t>(stage)];
  if (!row.explained.empty()) {
    ++counts.explained;
  } else {
    ++counts.kinds[static_cast<size_t>(row.kind)];
  }
}

std::string line(const std::string& name, const Counts& c) {
  std::string out = "| " + name + " | " + std::to_string(c.files);
  for (const Stage stage : {Stage::parse, Stage::round_trip, Stage::verify, Stage::plan, Stage::replay, Stage::compare})
    out += " | " + std::to_string(c.passed[static_cast<size_t>(stage)]);
  out += " | " + std::to_string(c.explained);
  for (const Kind kind : {Kind::differs, Kind::refused, Kind::crash, Kind::hang})
    out += " | " + std::to_string(c.kinds[static_cast<size_t>(kind)]);
  return out + " |\n";
}

}  // namespace

std::string table(const std::vector<Row>& rows, const std::string& device) {
  std::map<std::string, Counts> directories;
  Counts all;
  for (const Row& row : rows) {
    if (row.device != device) continue;
    count(directories[std::filesystem::path(row.file).parent_path().string()], row);
    count(all, row);
  }
  std::string out =
      "| " + device +
      " | files | parsed | round trip | verified | planned | replayed | equal | explained | differs | refused | crash | hang |\n" +
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, counts] : directories) out += line(name.empty() ? "." : name, counts);
  return out + line("**all**", all);
}

std::string pattern_of(const std::string& reason) {
  static const std::regex numbers(R"(-?[0-9]([0-9A-Za-z_.]|[eE][+-])*)");
  static const std::regex names(R"([A-Za-z_%-][A-Za-z_.-]*#+|#+)");
  const std::string first = reason.substr(0, std::min(reason.find('\n'), size_t{300}));
  return std::regex_replace(std::regex_replace(first, numbers, "#"), names, "#");
}

std::string reasons(const std::vector<Row>& rows, const std::string& device, size_t most) {
  struct Group {
    int count = 0;
    std::string example;
  };
  std::map<std::string, Group> groups;
  for (const Row& row : rows) {
    if (row.device != device || row.kind == Kind::none || !row.explained.empty()) continue;
    Group& group = groups[fmt::format("{:<8} {:<10} {}", text(row.kind), text(row.stage), pattern_of(row.reason))];
    if (group.count++ == 0) group.example = row.file + (row.where.empty() ? "" : ": " + row.where);
  }
  std::vector<std::pair<std::string, Group>> sorted(groups.begin(), groups.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  std::string out;
  for (size_t i = 0; i < std::min(most, sorted.size()); ++i)
    out += fmt::format("{:>5}  {}  ({})\n", sorted[i].second.count, sorted[i].first, sorted[i].second.example);
  if (sorted.size() > most) out += fmt::format("       and {} other reasons\n", sorted.size() - most);
  return out;
}

}  // namespace corpus
