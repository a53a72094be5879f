// The lines of a text, one by one.
#pragma once

#include <string_view>

namespace importers::symbols {

struct Line {
  std::string_view text;  ///< without its line end
  size_t begin = 0;       ///< offset in the text
};

/// Calls `each` for every line that is not blank; CR before LF belongs to the line end. `each` returns false to stop.
template <typename Each>
void each_line(std::string_view text, Each each) {
  for (size_t at = 0; at < text.size();) {
    const size_t newline = text.find('\n', at);
    const size_t end = newline == std::string_view::npos ? text.size() : newline;
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos && !each(Line{line, at})) return;
    at = end + 1;
  }
}

}  // namespace importers::symbols
