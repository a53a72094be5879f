// Launches with every address resolved: what a timed step walks. Nothing here allocates, looks up or fails.
#pragma once

#include <memory>
#include <variant>
#include <vector>

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
  std::vector<PartCall> parts;
  std::vector<void*> args;
  ThreadScratch scratch;
};
struct ProductLaunch {
  std::shared_ptr<Product> product;  ///< shared by launches that differ in their buffers only
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
};
struct NativeLaunch {
  std::shared_ptr<Native> native;
  std::vector<const void*> in;
  std::vector<void*> out;
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
using ReadyLaunch = std::variant<KernelLaunch, ProductLaunch, CopyLaunch, FillLaunch, NativeLaunch>;

void run(const ReadyLaunch& launch, int threads);

}  // namespace replay::cpu
