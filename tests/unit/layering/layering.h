// The rules of the house as functions over the text of one file, so that each rule is tested with a planted violation before it is trusted
// with the tree. Every function returns its findings as "path:line: what; what to do".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace layering {

struct Source {
  std::string path;  ///< from the root of the tree: "src/ir/op.cc"
  std::string text;
};

/// "path:line: what"
inline std::string at(const Source& source, int line, const std::string& what) {
  return source.path + ":" + std::to_string(line) + ": " + what;
}

using Findings = std::vector<std::string>;

/// An #include of ours that the folder may not have, or one that is not spelled from the root.
Findings check_edges(const Source& source);
/// A system header outside the place that is allowed to know the library.
Findings check_fences(const Source& source);
/// Output to the terminal, or the end of the process, outside src/cli and the mains.
Findings check_output(const Source& source);
/// Length of files, headers and functions; marks of unfinished work; names that say nothing.
Findings check_form(const Source& source);

/// C++ text with comments, literals and preprocessor lines blanked; lines and columns stay where they were.
std::string code_only(std::string_view text);
/// 1-based line of an offset.
int line_of(std::string_view text, size_t offset);

/// The tree's tracked kinds of files below `folders`, read from `root`.
std::vector<Source> read_tree(const std::string& root, const std::vector<std::string>& folders);

}  // namespace layering
