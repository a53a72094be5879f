// A table as wide and high as its rows, for a few of them among other things.
#pragma once

#include "src/model/store.h"

namespace ui {

/// At most `most` rows, then a line that says how many more there are.
void draw_small_table(const char* id, const model::Rows& rows, size_t most);

}  // namespace ui
