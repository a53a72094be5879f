// Loops over what is independent, on all processors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <future>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace base {

/// What `make(begin, end)` returns for the parts of [0, count), in order; they are made side by side. A part has at least `least` of them,
/// unless it is the only one.
template <typename Make>
auto in_parts(size_t count, size_t least, Make make) {
  using Made = std::invoke_result_t<Make, size_t, size_t>;
  const size_t processors = std::max(1u, std::thread::hardware_concurrency());
  const size_t parts = std::clamp<size_t>(count / std::max<size_t>(least, 1), 1, processors);
  const auto begin = [&](size_t part) { return count * part / parts; };
  std::vector<std::future<Made>> others;
  for (size_t part = 1; part < parts; ++part)
    others.push_back(std::async(std::launch::async, [&make, from = begin(part), to = begin(part + 1)] { return make(from, to); }));
  std::vector<Made> made;
  made.reserve(parts);
  made.push_back(make(size_t{0}, begin(1)));
  for (std::future<Made>& other : others) made.push_back(other.get());
  return made;
}

/// Calls `each(i)` for all of [0, count).
template <typename Each>
void for_all(size_t count, size_t least, Each each) {
  in_parts(count, least, [&each](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) each(i);
    return end;
  });
}

}  // namespace base
