// Cold caches: what steps have left in them is driven out.
#pragma once

#include <cstdint>
#include <vector>

namespace replay::cpu {

/// Reads a byte of each line of memory that is twice as large as the last level of cache, shared out to all threads, so that their own
/// levels are emptied too.
class CacheWalk {
 public:
  explicit CacheWalk(int threads);
  void run() const;
  int64_t bytes() const { return static_cast<int64_t>(memory_.size()); }

 private:
  int threads_;
  std::vector<uint8_t> memory_;
};

}  // namespace replay::cpu
