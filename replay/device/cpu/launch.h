// Launches with every address resolved: what a timed step walks. Nothing that runs allocates, looks up or fails.
#pragma once

#include <array>
#include <memory>
#include <memory_resource>
#include <span>
#include <type_traits>
#include <variant>

#include "replay/device/cpu/arena.h"
#include "replay/device/cpu/native.h"
#include "replay/device/cpu/product.h"
#include "replay/device/cpu/threads.h"

namespace replay::cpu {

struct PartCall {
  Entry entry = nullptr;
  Split split;
};

/// Parts run one after another, with a barrier between. `args` and `scratch` are as kernel::Kernel says.
struct KernelLaunch {
  std::span<const PartCall> parts;
  std::span<void* const> args;
  ThreadScratch scratch;
};
struct ProductLaunch {
  Product* product = nullptr;  ///< shared by launches that differ in their buffers only
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
};
struct NativeLaunch {
  Native* native = nullptr;
  std::span<const void* const> in;
  std::span<void* const> out;
};
struct CopyLaunch {
  void* to = nullptr;
  const void* from = nullptr;
  int64_t bytes = 0;
};
struct FillLaunch {
  void* to = nullptr;
  uint8_t byte = 0;
  int64_t bytes = 0;
};
/// Owns nothing: products, natives and lists are kept beside (Prepared, LaunchTable).
using ReadyLaunch = std::variant<KernelLaunch, ProductLaunch, CopyLaunch, FillLaunch, NativeLaunch>;
static_assert(std::is_trivially_copyable_v<ReadyLaunch>);

/// Copies `list` to a line of its own in `memory`.
template <typename T>
std::span<const T> keep(std::span<const T> list, std::pmr::memory_resource& memory) {
  auto* const at = static_cast<T*>(memory.allocate(list.size_bytes(), kLine));
  std::uninitialized_copy(list.begin(), list.end(), at);
  return {at, list.size()};
}

/// The place where every step's launches lie while they are timed. A load waits for an earlier store to the same place of another page; so
/// what a kernel of some nanoseconds takes depends on where its table of addresses lies: one and the same kernel with the same arrays
/// took up to 10 % longer from another table, in every round of a process.
class LaunchTable {
 public:
  void set(std::span<const ReadyLaunch> launches);
  void run(int threads) const;

 private:
  static constexpr size_t kPage = 4096;
  struct alignas(kPage) Place {
    std::array<std::byte, 16 * kPage> bytes;  ///< some 300 launches; longer steps' lie anywhere
  };
  std::unique_ptr<Place> place_ = std::make_unique<Place>();
  std::pmr::monotonic_buffer_resource memory_{place_->bytes.data(), place_->bytes.size()};
  std::span<const ReadyLaunch> launches_;
};

}  // namespace replay::cpu
