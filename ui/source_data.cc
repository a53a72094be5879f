// Names of files come from strangers' dumps: what is read is a regular file, as named or below a folder that the person has chosen, and
// links that lead out of that folder are not followed.
#include "ui/source_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "src/base/file.h"
#include "src/base/text.h"
#include "src/report/query.h"
#include "ui/run_data.h"

namespace ui {
namespace {

namespace fs = std::filesystem;

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// The folders that all paths begin with; of absolute paths with the slash before.
size_t common_parts(const std::vector<std::vector<std::string_view>>& paths) {
  size_t common = paths.empty() ? 0 : paths[0].size() - std::min<size_t>(paths[0].size(), 1);
  for (const auto& path : paths) {
    size_t same = 0;
    while (same < common && same + 1 < path.size() && path[same] == paths[0][same]) ++same;
    common = std::min(common, same);
  }
  return common;
}

class TreeBuilder {
 public:
  explicit TreeBuilder(Sources& sources) : out_(sources) {}

  /// Files come sorted by path, so that those of a folder stand together.
  void add(int file, std::vector<std::string_view> parts) {
    constexpr size_t kDeepest = 40;
    size_t same = 0;
    while (same < open_.size() && same + 1 < parts.size() && open_[same].name == parts[same]) ++same;
    close(same);
    while (open_.size() + 1 < std::min(parts.size(), kDeepest)) {
      open_.push_back({std::string(parts[open_.size()]), out_.tree.size()});
      out_.tree.push_back({open_.back().name, static_cast<int>(open_.size()) - 1, -1, 0, 0});
    }
    const double ns = out_.files[static_cast<size_t>(file)].pass_ns;
    for (const Open& folder : open_) out_.tree[folder.node].pass_ns += ns;
    const int at = static_cast<int>(out_.tree.size());
    out_.tree.push_back({std::string(parts.empty() ? "(not told)" : parts.back()), static_cast<int>(open_.size()), file, ns, at + 1});
  }
  void close(size_t keep) {
    while (open_.size() > keep) {
      out_.tree[open_.back().node].end = static_cast<int>(out_.tree.size());
      open_.pop_back();
    }
  }

 private:
  struct Open {
    std::string name;
    size_t node;
  };
  Sources& out_;
  std::vector<Open> open_;
};

bool is_inside(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return false;
  const fs::path root = fs::canonical(folder, error);
  return !error && std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
}

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && !error;
}

bool is_text(std::string_view bytes) { return bytes.substr(0, 65536).find('\0') == std::string_view::npos; }

}  // namespace

const SourceLine* SourceFile::find(int64_t line) const {
  const auto found = std::ranges::lower_bound(lines, line, {}, &SourceLine::line);
  return found == lines.end() || found->line != line ? nullptr : &*found;
}

int Sources::find(std::string_view path) const {
  const auto found = std::ranges::lower_bound(files, path, {}, &SourceFile::path);
  return found == files.end() || found->path != path ? -1 : static_cast<int>(found - files.begin());
}

Sources arranged(std::vector<SourceFile> files) {
  Sources out;
  std::ranges::sort(files, {}, &SourceFile::path);
  out.files = std::move(files);
  std::vector<std::vector<std::string_view>> paths;
  for (SourceFile& file : out.files) {
    for (const SourceLine& line : file.lines) file.pass_ns += std::isfinite(line.pass_ns) ? line.pass_ns : 0;
    out.pass_ns += file.pass_ns;
    if (!file.path.empty()) paths.push_back(parts_of(file.path));
  }
  const size_t common = common_parts(paths);
  if (common > 0) {
    out.base = paths[0][0].empty() || !out.files.back().path.starts_with('/') ? "" : "/";
    for (size_t i = 0; i < common; ++i) out.base += std::string(paths[0][i]) + "/";
  }
  TreeBuilder builder(out);
  for (size_t i = 0; i < out.files.size(); ++i) {
    std::vector<std::string_view> parts = parts_of(out.files[i].path);
    if (!parts.empty()) parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(std::min(common, parts.size() - 1)));
    builder.add(static_cast<int>(i), std::move(parts));
  }
  builder.close(0);
  return out;
}

base::Result<Sources> read_sources(const model::Reader& reader, int64_t run) {
  const model::Cell id = report::cell(run);
  ASSIGN_OR_RETURN(model::Rows rows, report::ask(reader, "source_lines", std::span(&id, 1)));
  std::map<std::string, SourceFile> files;
  for (std::vector<model::Cell>& row : rows.rows) {
    SourceFile& file = files[row[0].text];
    file.path = row[0].text;
    if (row[7].kind == model::Cell::Kind::null && row[6].integer == 0) continue;  // only named
    file.lines.push_back({row[1].integer, number(row[7]), row[5].integer, row[6].integer, std::move(row[2].text), row[3].text != "line"});
  }
  std::vector<SourceFile> all;
  for (auto& [path, file] : files) all.push_back(std::move(file));
  return arranged(std::move(all));
}

std::vector<HotLine> hottest(const Sources& sources, int file) {
  std::vector<HotLine> lines;
  for (size_t f = 0; f < sources.files.size(); ++f) {
    if (file >= 0 && static_cast<size_t>(file) != f) continue;
    for (size_t l = 0; l < sources.files[f].lines.size(); ++l) lines.push_back({static_cast<int>(f), static_cast<int>(l)});
  }
  std::ranges::stable_sort(lines, [&](const HotLine& a, const HotLine& b) {
    const auto ns = [&](const HotLine& h) {
      const double value = sources.files[static_cast<size_t>(h.file)].lines[static_cast<size_t>(h.line)].pass_ns;
      return std::isfinite(value) ? value : -1;
    };
    return ns(a) > ns(b);
  });
  return lines;
}

base::Result<std::vector<SourceStep>> read_source_steps(const model::Reader& reader, int64_t run, const std::string& file, int64_t line) {
  const std::array<model::Cell, 3> which = {report::cell(run), report::cell(file), report::cell(line)};
  ASSIGN_OR_RETURN(model::Rows rows, report::ask(reader, "source_steps", which));
  std::vector<SourceStep> steps;
  for (std::vector<model::Cell>& row : rows.rows)
    steps.push_back({static_cast<int32_t>(row[0].integer), std::move(row[1].text), number(row[3])});
  return steps;
}

std::vector<std::string> candidates(const std::string& path, const std::vector<std::string>& folders) {
  std::vector<std::string> out;
  const std::vector<std::string_view> parts = parts_of(path);
  constexpr size_t kLongest = 4096, kMostParts = 64;
  if (parts.empty() || path.size() > kLongest || parts.size() > kMostParts || path.find('\0') != std::string::npos) return out;
  if (path.starts_with('/')) out.push_back(path);
  if (std::ranges::find(parts, "..") != parts.end()) return out;
  for (const std::string& folder : folders) {
    if (folder.empty()) continue;
    for (size_t skip = 0; skip < parts.size(); ++skip)
      out.push_back(fmt::format("{}/{}", folder, fmt::join(parts.begin() + static_cast<std::ptrdiff_t>(skip), parts.end(), "/")));
  }
  return out;
}

SourceText split_lines(std::string path, std::string text) {
  SourceText out;
  out.path = std::move(path), out.text = std::move(text);
  out.begin.push_back(0);
  for (size_t at = 0; at < out.text.size();) {
    const size_t end = std::min(out.text.find('\n', at), out.text.size() - 1);
    at = end + 1;
    out.begin.push_back(static_cast<uint32_t>(at));
  }
  return out;
}

std::string_view SourceText::line(size_t i) const {
  std::string_view line = std::string_view(text).substr(begin[i], begin[i + 1] - begin[i]);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

SourceText read_source(const std::string& path, const std::vector<std::string>& folders) {
  SourceText none;
  none.why = "The text is not at hand here: " + base::escaped(path).substr(0, 300);
  const size_t as_named = path.starts_with('/') ? 1 : 0;
  const std::vector<std::string> places = candidates(path, folders);
  for (size_t i = 0; i < places.size(); ++i) {
    if (!is_file(places[i])) continue;
    const bool below =
        i < as_named || std::ranges::any_of(folders, [&](const std::string& f) { return !f.empty() && is_inside(places[i], f); });
    if (!below) continue;
    base::Result<std::string> text = base::read_file(places[i], kMostSourceBytes);
    if (!text.ok()) {
      none.why = text.error().message;
      continue;
    }
    if (!is_text(*text)) {
      none.why = base::escaped(places[i]) + " is not a text.";
      continue;
    }
    return split_lines(places[i], *std::move(text));
  }
  return none;
}

base::Result<std::string> dump_folder(const model::Reader& reader, int64_t run) {
  const model::Cell id = report::cell(run);
  ASSIGN_OR_RETURN(const model::Rows rows, report::ask(reader, "run_source", std::span(&id, 1)));
  return rows.rows.empty() ? std::string() : fs::path(rows.rows[0][0].text).parent_path().string();
}

}  // namespace ui
