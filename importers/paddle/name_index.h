// Finds variables by name. PIR's values are called by numbers, one after another: those stand in a table, where neighbours in the text are
// neighbours in memory; all other names are hashed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/base/hash.h"
#include "src/ir/hash_index.h"

namespace importers::paddle {

class NameIndex {
 public:
  /// The position with this name, for which same(position) holds; if there is none, `next` is noted and returned: the caller appends there.
  template <typename Same>
  size_t find_or_add(std::string_view name, size_t next, Same same) {
    const size_t number = number_of(name);
    if (number == kNone) return others_.find_or_add(base::hash64(name), next, same);
    if (number >= numbered_.size()) numbered_.resize(number + 1);
    if (numbered_[number] == 0) numbered_[number] = static_cast<uint32_t>(next) + 1;
    return numbered_[number] - 1;
  }

  /// The same, or -1 if there is none.
  template <typename Same>
  int64_t find(std::string_view name, Same same) const {
    const size_t number = number_of(name);
    if (number == kNone) return others_.find(base::hash64(name), same);
    return number < numbered_.size() ? int64_t{numbered_[number]} - 1 : -1;
  }

  void prefetch(std::string_view name) const {
    if (number_of(name) == kNone) others_.prefetch(base::hash64(name));
  }

 private:
  static constexpr size_t kNone = SIZE_MAX, kMostDigits = 6;  ///< a table of 4 MB at most, whatever a text says

  /// Of "%12"; a number is spelled in one way only.
  static size_t number_of(std::string_view name) {
    if (name.size() < 2 || name.size() > 1 + kMostDigits || name[0] != '%' || (name[1] == '0' && name.size() > 2)) return kNone;
    size_t number = 0;
    for (const char c : name.substr(1)) {
      if (c < '0' || c > '9') return kNone;
      number = 10 * number + static_cast<size_t>(c - '0');
    }
    return number;
  }

  std::vector<uint32_t> numbered_;  ///< position + 1 by number; 0: none
  ir::HashIndex others_;
};

}  // namespace importers::paddle
