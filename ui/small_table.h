// A table as wide and high as its rows, for a few of them among other things.
#pragma once

#include <string_view>

#include "src/model/store.h"

namespace ui {

/// At most `most` rows. Returns the row that was clicked, or −1; with `clickable` empty none can be, else those whose cell in that column
/// is not NULL. That column is not shown.
int draw_small_table(const char* id, const model::Rows& rows, size_t most, std::string_view clickable = {});

}  // namespace ui
