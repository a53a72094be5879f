// Where the modules of a text are: several in one file, or inside a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace importers::hlo {

/// A module with what follows it, up to the next one.
struct Part {
  size_t begin, end;
};

/// The next line that begins with HloModule and a space (white space may stand before it), at or after `at`; the text's size if there is
/// none.
size_t next_module(std::string_view text, size_t at);
/// From each line that begins with HloModule to the next; the first part takes in the space and comments before it.
std::vector<Part> parts_of(std::string_view text);

/// Loggers put a prefix before every line: `2026-01-02 03:04:05.6: I xla/service/dump.cc:42] HloModule m`.
bool has_log_prefixes(std::string_view text);
/// The same text with blanks in place of such prefixes: all places stay what they were.
std::string without_log_prefixes(std::string_view text);

/// The name after the last `// file: ` in a text, "" if there is none: tools that join dumps write it before each.
std::string_view file_marker(std::string_view between);

}  // namespace importers::hlo
