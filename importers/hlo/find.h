// Where the modules of a text are: several in one file, or inside a log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace importers::hlo {

inline constexpr std::string_view kModuleWord = "HloModule";

/// A module with what follows it, up to the next one.
struct Part {
  size_t begin, end;
};

enum class Indent : uint8_t { none, any };
/// The next line that begins with HloModule and a space, at or after `at`; the text's size if there is none.
size_t next_module(std::string_view text, size_t at, Indent indent);
/// From each line that begins with HloModule to the next (indented lines count only where no other does: a header may quote a module); the
/// first part takes in the space and comments before it.
std::vector<Part> parts_of(std::string_view text);

/// Loggers put a prefix before every line: `2026-01-02 03:04:05.6: I xla/service/dump.cc:42] HloModule m`.
bool has_log_prefixes(std::string_view text);
/// The same text with blanks in place of such prefixes: all places stay what they were.
std::string without_log_prefixes(std::string_view text);

/// The name in a comment `// file: name` before the module at `begin`, "" if there is none: tools that join dumps write one.
std::string_view file_marker(std::string_view text, size_t begin);

}  // namespace importers::hlo
