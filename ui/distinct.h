// Names beside each other in a picture, cut to what tells them apart. No ImGui in here.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ui {

/// Names with scopes ("tower/layer_1/dense/MatMul", or with points) as texts to show, each of at most `most` columns. Scopes that all of
/// them have are left out, then, where there is no room, those that most of them have; the last part never. "…" stands for what is left
/// out, and within a part that is too long by itself.
std::vector<std::string> distinct_names(std::span<const std::string_view> names, size_t most);

/// The same, made again only when the names are others.
class DistinctNames {
 public:
  const std::vector<std::string>& of(std::span<const std::string_view> names, size_t most);

 private:
  std::vector<std::string> names_, texts_;
  size_t most_ = 0;
};

}  // namespace ui
