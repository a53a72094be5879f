// What the comments of an embedded .sql file say.
#pragma once

#include <string_view>

namespace report {

/// The sentence of its first line; empty where that is no comment.
constexpr std::string_view first_comment(std::string_view sql) {
  const std::string_view line = sql.substr(0, sql.find('\n'));
  return line.starts_with("-- ") ? line.substr(3) : std::string_view();
}

}  // namespace report
