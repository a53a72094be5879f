// A tag of either spelling, and what it means as a record.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "importers/symbols/collector.h"

namespace importers::symbols {

/// As written, escapes resolved. Views point into the input or into what the reader keeps while it adds the tag.
struct Tag {
  std::string_view name, file, pattern, kind, language, scope, roles, type, signature;
  int32_t line = 0, end = 0;
};

/// Lines of the source text by their patterns: tags without a line number are found by what their line says.
class PatternIndex {
 public:
  /// `text` may be empty: nothing is found then. It must outlive the index.
  explicit PatternIndex(std::string_view text);
  /// Line of "/^    def step(self):$/", 0 if there is none. Of equal lines the first.
  int32_t line_of(std::string_view pattern) const;

 private:
  std::unordered_map<std::string_view, int32_t> whole_;
  std::vector<std::pair<std::string_view, int32_t>> sorted_;  ///< for patterns that are cut: without $
};

void add_tag(Collector& out, const Tag& tag, const PatternIndex& patterns);

/// "\t", "\\" and the like of tag files as the bytes that they mean.
std::string unescaped(std::string_view text);

}  // namespace importers::symbols
