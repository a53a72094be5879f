// Names and values whose texts can be selected and copied.
#pragma once

#include <string>
#include <string_view>

namespace ui {

/// Between begin and end: rows. False: it cannot be seen, and nothing more must be called.
bool begin_facts(const char* id);
void fact_heading(std::string_view text);
/// `raw` is what "Copy" copies beside the value as shown.
void fact_row(int id, std::string_view name, const std::string& value, const std::string& raw, std::string_view about);
void end_facts();

}  // namespace ui
