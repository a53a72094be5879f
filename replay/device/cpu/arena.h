// Memory of a plan: one mapping for parameters and constants, one for everything that lives for a part of a pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/plan.h"
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

/// Where a buffer lies, in bytes from the start of its mapping.
struct Place {
  enum class Area : uint8_t { parameters, arena } area = Area::arena;
  int64_t offset = 0, bytes = 0;
};

struct Layout {
  std::vector<Place> places;  ///< by BufferId; an alias has the place of the buffer that it lives in
  int64_t parameter_bytes = 0, arena_bytes = 0;
};

/// Parameters and constants stand one after another with a line of guard between; the rest stands where the plan put it. An Error: the
/// plan places a buffer outside its arena, or aliases in a circle.
base::Result<Layout> lay_out(const Plan& plan);

/// "needs 6.9 GB, 3.1 GB free; try --isolated (each step alone), --computation NAME or --instruction NAME".
base::Status check_fits(int64_t needed_bytes, int64_t free_bytes);

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
