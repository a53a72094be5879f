// Differences from XLA that are explained by name: tests/corpus/differences.tsv.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/base/result.h"
#include "tests/corpus/check.h"

namespace corpus {

/// "device file kind reason", tab-separated, a line each; device `both` stands for both. '#' begins a comment line.
class Differences {
 public:
  static base::Result<Differences> read(const std::string& path);
  /// Fills in row.explained where a line names file, device and kind.
  void explain(Row& row);
  /// Lines whose file was run on their device and agreed, or failed otherwise than the line says.
  std::vector<std::string> stale() const;

 private:
  struct Line {
    std::string kind, reason;
    bool seen = false, used = false;
  };
  std::map<std::pair<std::string, std::string>, Line> lines_;  ///< by device and file
};

}  // namespace corpus
