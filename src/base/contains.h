// Membership, until the standard library of C++23 has it.
#pragma once

#include <algorithm>

namespace base {

/// Whether a list of axes, operands or the like has the value.
template <class List, class Value>
bool contains(const List& list, Value value) {
  return std::ranges::find(list, static_cast<typename List::value_type>(value)) != list.end();
}

}  // namespace base
