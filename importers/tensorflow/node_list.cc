// A line is a name, or a name and a number. What tells a list from any text with a word a line is that names end in op types.
#include "importers/tensorflow/node_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_set>

#include "importers/tensorflow/names.h"
#include "src/base/hash.h"
#include "src/base/text.h"

namespace importers::tensorflow {
namespace {

constexpr std::string_view kNodeListSection = "unsafe_resource_deps_";
constexpr int64_t kMostNodeListNotes = 20;  ///< of lines that are no names; the rest is counted

/// The next line of `rest`, without its end.
std::string_view take_line(std::string_view& rest) {
  const size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  return line;
}

constexpr std::array<bool, 256> kIsNameChar = [] {
  std::array<bool, 256> is_char{};
  for (const char c : std::string_view("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-/>\\"))
    is_char[static_cast<unsigned char>(c)] = true;
  return is_char;
}();

/// TensorFlow's own rule, with the leading '_' of nodes that its runtime makes.
bool is_name(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.front() == '-' || name.front() == '>' || name.front() == '\\') return false;
  return std::ranges::all_of(name, [](char c) { return kIsNameChar[static_cast<unsigned char>(c)]; });
}

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::pair<std::string_view, std::string_view> split(std::string_view line) {
  if (line.find(' ') == std::string_view::npos && line.find('\t') == std::string_view::npos) return {line, {}};  // most, and quickly seen
  const size_t at = line.find_last_of(" \t");
  const size_t end = line.find_last_not_of(" \t", at);
  return {line.substr(0, end + 1), line.substr(at + 1)};
}

/// "cluster_3" is a number too: dumps of clusters write either.
std::optional<int64_t> id_or_cluster(std::string_view word) {
  constexpr std::string_view kCluster = "cluster_";
  return number(word.starts_with(kCluster) ? word.substr(kCluster.size()) : word);
}

std::optional<ListedName> parse(std::string_view line) {
  ListedName listed;
  if (const auto [first, second] = split(line); !second.empty()) {
    if (const auto value = id_or_cluster(second)) {
      listed.number = *value;
      line = first;
    }
  }
  listed.name = node_name(line);
  return is_name(listed.name) ? std::optional(listed) : std::nullopt;
}

class NodeListReader {
 public:
  NodeList read(std::string_view text) {
    constexpr size_t kShortName = 16;  // shorter ones on average are no list of a graph, and get their room as they come
    const size_t names = std::min(static_cast<size_t>(std::ranges::count(text, '\n')), text.size() / kShortName);
    list_.names.reserve(names);
    list_.by_name.reserve(names);
    while (!text.empty()) {
      ++line_;
      const std::string_view line = take_line(text);
      if (line.empty() || take_pair(line)) continue;
      in_section_ = line.starts_with(kNodeListSection);
      if (!in_section_) take_name(line);
    }
    finish();
    return std::move(list_);
  }

 private:
  bool take_pair(std::string_view line) {
    if (!in_section_) return false;
    const auto [first, second] = split(line);
    const auto before = number(first), after = number(second);
    if (!before || !after) return false;
    list_.resource_deps.emplace_back(*before, *after);
    return true;
  }

  void take_name(std::string_view line) {
    ++list_.read;
    auto listed = parse(line);
    if (!listed) return refuse(line);
    listed->line = line_;
    const uint64_t hash = base::hash64(listed->name);
    list_.by_name.prefetch(hash);
    parsed_.push_back({*listed, hash});
    if (parsed_.size() == kTogether) add_parsed();
  }

  void add_parsed() {
    for (const Parsed& parsed : parsed_) add(parsed.listed, parsed.hash);
    parsed_.clear();
  }

  void add(const ListedName& listed, uint64_t hash) {
    const size_t next = list_.names.size();
    const uint32_t at = list_.by_name.find_or_add(hash, next, [&](uint32_t k) { return list_.names[k].name == listed.name; });
    const bool fresh = at == next;
    if (listed.number >= 0 && fresh && !numbers_.insert(listed.number).second) list_.clusters = true;
    if (fresh) {
      list_.names.push_back(listed);
    } else {
      ++list_.names[at].times;
      ++list_.repeated;
    }
  }

  void refuse(std::string_view line) {
    if (++list_.refused > kMostNodeListNotes) return;
    list_.notes.push_back({line_, 1, "not-a-name", fmt::format("'{}' is no name of a node", base::escaped(line.substr(0, 60)))});
  }

  void finish() {
    add_parsed();
    if (list_.refused > kMostNodeListNotes)
      list_.notes.push_back({0, 0, "not-a-name", fmt::format("{} more lines are no names of nodes", list_.refused - kMostNodeListNotes)});
    if (list_.repeated == 0) return;
    list_.notes.push_back(
        {0, 0, "repeated-name",
         fmt::format("{} lines repeat a name: the list holds several dumps of the graph, and a name counts once", list_.repeated)});
  }

  static constexpr size_t kTogether = 32;  ///< names whose places in the index are read at once
  struct Parsed {
    ListedName listed;
    uint64_t hash;
  };

  NodeList list_;
  std::vector<Parsed> parsed_;  ///< not in the list yet
  std::unordered_set<int64_t> numbers_;
  int64_t line_ = 0;
  bool in_section_ = false;
};

}  // namespace

int64_t NodeList::find(std::string_view name) const {
  return by_name.find(base::hash64(name), [&](size_t at) { return names[at].name == name; });
}

NodeList read_node_list(std::string_view text) { return NodeListReader().read(text); }

Match match_node_list(std::string_view text) {
  constexpr int64_t kLines = 1000;
  int64_t lines = 0, names = 0, typed = 0, paths = 0;
  while (!text.empty() && lines < kLines) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    ++lines;
    const auto listed = parse(line);
    names += listed.has_value() ? 1 : 0;
    if (!listed) continue;
    typed += type_of_name(listed->name).empty() ? 0 : 1;
    paths += listed->name.find('/') == std::string_view::npos ? 0 : 1;
  }
  if (lines == 0 || names * 10 < lines * 9) return {Match::none, fmt::format("{} of the first {} lines are names of nodes", names, lines)};
  if (typed * 2 < names || paths == 0)
    return {Match::weak, fmt::format("lines are words, but {} of {} are named like TensorFlow's nodes", typed, names)};
  return {Match::likely, fmt::format("{} of {} names end in TensorFlow's op types", typed, names)};
}

}  // namespace importers::tensorflow
