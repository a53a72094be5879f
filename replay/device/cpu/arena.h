// Memory of a plan: one mapping for parameters and constants, one for everything that lives for a part of a pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/layout.h"
#include "src/base/result.h"

namespace replay::cpu {

inline constexpr int64_t kLine = 64;  ///< bytes: alignment of buffers, and how far a kernel's last vector may run over their end

/// Zeroed memory of its own mapping: 2 MiB aligned, on huge pages where the system gives them, every page touched (in parallel).
class Pages {
 public:
  static base::Result<Pages> make(int64_t bytes, int threads);
  Pages() = default;
  ~Pages();
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;
  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  std::byte* mapping_ = nullptr;
  int64_t mapped_bytes_ = 0;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

class Arena {
 public:
  static base::Result<Arena> make(Layout layout, int threads);
  std::span<std::byte> memory(BufferId buffer) const;
  bool has(BufferId buffer) const { return buffer >= 0 && static_cast<size_t>(buffer) < layout_.places.size(); }

 private:
  Layout layout_;
  Pages parameters_, temporaries_;
};

}  // namespace replay::cpu
