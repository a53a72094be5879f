// Most texts of programs need no escapes, and are copied as they are.
#include "src/base/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace base {

void append_json(std::string& out, std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; };
  if (std::ranges::all_of(text, is_plain))
    out.append("\"").append(text).append("\"");
  else
    out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_text(std::string_view text) {
  std::string out;
  append_json(out, text);
  return out;
}

}  // namespace base
