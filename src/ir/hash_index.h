// Finds values in a vector by their hashes: open addressing over positions, 8 bytes a slot, no values and no allocation of its own for
// each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ir {

class HashIndex {
 public:
  /// The position with this hash for which same(position) holds; if there is none, `next` is noted and returned: the caller appends there.
  template <typename Same>
  uint32_t find_or_add(uint64_t hash, size_t next, Same same) {
    if (4 * (used_ + 1) > 3 * slots_.size()) grow();
    const auto tag = static_cast<uint32_t>(hash ^ hash >> 32);
    Slot* slot = &slots_[tag & (slots_.size() - 1)];
    for (; slot->position_plus_1 != 0; slot = after(slot)) {
      if (slot->tag == tag && same(slot->position_plus_1 - 1)) return slot->position_plus_1 - 1;
    }
    *slot = {tag, static_cast<uint32_t>(next) + 1};
    ++used_;
    return static_cast<uint32_t>(next);
  }

  /// Begins to read where a value with this hash would be: of many that are looked up in turn, memory then serves several at once.
  void prefetch(uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[static_cast<uint32_t>(hash ^ hash >> 32) & (slots_.size() - 1)]);
  }

  /// The same, or -1 if there is none.
  template <typename Same>
  int64_t find(uint64_t hash, Same same) const {
    if (slots_.empty()) return -1;
    const auto tag = static_cast<uint32_t>(hash ^ hash >> 32);
    for (size_t at = tag & (slots_.size() - 1); slots_[at].position_plus_1 != 0; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].tag == tag && same(slots_[at].position_plus_1 - 1)) return int64_t{slots_[at].position_plus_1} - 1;
    }
    return -1;
  }

  /// Makes room for that many at once.
  void reserve(size_t count) {
    if (4 * (count + 1) > 3 * slots_.size()) grow(std::bit_ceil(4 * (count + 1) / 3 + 1));
  }

 private:
  struct Slot {
    uint32_t tag = 0;
    uint32_t position_plus_1 = 0;  ///< 0: free
  };
  Slot* after(Slot* slot) { return slot == &slots_.back() ? slots_.data() : slot + 1; }
  void grow() { grow(slots_.empty() ? 64 : 2 * slots_.size()); }
  void grow(size_t slots) {  // a power of two
    std::vector<Slot> old(slots);
    old.swap(slots_);
    for (const Slot& filled : old) {
      if (filled.position_plus_1 == 0) continue;
      Slot* slot = &slots_[filled.tag & (slots_.size() - 1)];
      while (slot->position_plus_1 != 0) slot = after(slot);
      *slot = filled;
    }
  }
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace ir
