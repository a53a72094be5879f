// Time by source line, the tree of the files, and where their text may be found on this machine. No ImGui in here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/store.h"

namespace ui {

struct SourceLine {
  int64_t line = 0;  ///< 0: not told
  double pass_ns = 0;
  int64_t ops = 0, steps = 0;
  std::string function;
  bool guessed = false;  ///< by names, not told by the program
};
struct SourceFile {
  std::string path;  ///< as named; empty: what has no source
  double pass_ns = 0;
  std::vector<SourceLine> lines;  ///< with a time, ascending
  const SourceLine* find(int64_t line) const;
};
/// A folder or a file of the tree, in the order in which it is drawn.
struct SourceNode {
  std::string name;  ///< last part of the path; of the first level what all files have in common is left out
  int depth = 0;
  int file = -1;  ///< −1: a folder
  double pass_ns = 0;
  int end = 0;  ///< index of the first node that is not inside
};
struct Sources {
  std::vector<SourceFile> files;  ///< by path
  std::vector<SourceNode> tree;
  std::string base;                       ///< folder that all files have in common
  double pass_ns = 0;                     ///< of all lines
  int find(std::string_view path) const;  ///< index of a file; −1: none
};
base::Result<Sources> read_sources(const model::Reader& reader, int64_t run);
/// Fills tree, base and sums from files.
Sources arranged(std::vector<SourceFile> files);
/// A line of the table that is shown where no text is at hand: file and line, the longest first.
struct HotLine {
  int file = 0;
  int line = 0;  ///< index in SourceFile::lines
};
std::vector<HotLine> hottest(const Sources& sources, int file);  ///< file −1: of all files

struct SourceStep {
  int32_t step = 0;
  std::string op;
  double pass_ns = 0;
};
base::Result<std::vector<SourceStep>> read_source_steps(const model::Reader& reader, int64_t run, const std::string& file, int64_t line);

/// Places to look for a file, in order: as named where that is absolute; then below each folder, the whole path first, then without its
/// first part, and so on. Never outside a folder: a path with ".." is not looked for.
std::vector<std::string> candidates(const std::string& path, const std::vector<std::string>& folders);

struct SourceText {
  std::string path;  ///< where it was found; empty: nowhere
  std::string text;
  std::vector<uint32_t> begin;  ///< of each line, and the end
  std::string why;              ///< why there is no text
  size_t lines() const { return begin.empty() ? 0 : begin.size() - 1; }
  std::string_view line(size_t i) const;  ///< from 0, without its end
};
inline constexpr size_t kMostSourceBytes = 10'000'000;
/// Reads the first candidate that is there. Files that are larger, or that are no text, are not shown and say so.
SourceText read_source(const std::string& path, const std::vector<std::string>& folders);
SourceText split_lines(std::string path, std::string text);

/// The folder of the file that the program of the run came in; "" where it is not known.
base::Result<std::string> dump_folder(const model::Reader& reader, int64_t run);

}  // namespace ui
