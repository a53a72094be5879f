// Texts as JSON writes them, appended to what stands before.
#pragma once

#include <string>
#include <string_view>

namespace base {

/// "…" with its quotes. Bytes that are no UTF-8 become U+FFFD.
void append_json(std::string& out, std::string_view text);
std::string json_text(std::string_view text);

}  // namespace base
