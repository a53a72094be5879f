// Filters are short and texts may be long: a plain search, without copies of the texts.
#include "ui/words.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace ui {
namespace {

bool has_word(std::string_view text, std::string_view lower_word) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == static_cast<unsigned char>(b); };
  return !std::ranges::search(text, lower_word, same).empty();
}

}  // namespace

std::vector<std::string> words_of(std::string_view filter) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < filter.size();) {
    const size_t end = std::min(filter.find(' ', begin), filter.size());
    std::string word(filter.substr(begin, end - begin));
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!word.empty()) words.push_back(std::move(word));
    begin = end + 1;
  }
  return words;
}

bool has_all(std::span<const std::string> words, std::initializer_list<std::string_view> texts) {
  return std::ranges::all_of(words, [&](const std::string& word) {
    return std::ranges::any_of(texts, [&](std::string_view text) { return has_word(text, word); });
  });
}

model::Cell real_cell(double value) { return std::isfinite(value) ? model::Cell{model::Cell::Kind::real, 0, value, {}} : model::Cell{}; }

}  // namespace ui
