// What the tables of several panels do with words and cells. No ImGui in here.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/store.h"

namespace ui {

/// The words of a filter, in lower case.
std::vector<std::string> words_of(std::string_view filter);
/// Each word is found in one of the texts, in any case.
bool has_all(std::span<const std::string> words, std::initializer_list<std::string_view> texts);
/// NULL where it is not finite.
model::Cell real_cell(double value);

}  // namespace ui
