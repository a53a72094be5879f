// What a bench cannot go on without.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "src/base/result.h"

namespace bench {

/// The value; of an error its message on stderr, and exit 1.
template <typename T>
T must(base::Result<T> result) {
  if (result.ok()) return *std::move(result);
  fmt::print(stderr, "{}\n", result.error().message);
  std::exit(1);
}
inline void must(const base::Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "{}\n", status.error().message);
  std::exit(1);
}

}  // namespace bench
