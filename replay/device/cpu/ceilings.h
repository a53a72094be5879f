// What this machine can do at most, measured when it is asked: the denominators of "share of the roof".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/device/cpu/jit.h"
#include "replay/device/cpu/threads.h"
#include "src/base/result.h"

namespace replay::cpu {

enum class Stores : uint8_t { ordinary, streaming };

/// d[i] = a[i] + 3·b[i] in f32 as LLVM IR, function "triad" with args {a, b, d}, all 64-byte aligned; sizes are multiples of 64 elements.
std::string triad_ir(int lanes, Stores stores);
/// One pass over arrays of `elements` on all threads.
void run_triad(Entry triad, void* const* args, int64_t elements, int threads);

/// Best of the repeats; 0 where memory or time did not suffice.
struct Ceilings {
  double triad_bytes_per_s = 0, triad_streaming_bytes_per_s = 0, product_flops_per_s = 0;
  std::vector<std::pair<std::string, double>> products;  ///< of small floats: "f16×f16→f32" and its rate
};
/// Takes about 2.5 s and up to 768 MiB, never more than half of `free_bytes`. Triads: 12 bytes an element.
base::Result<Ceilings> measure_ceilings(Jit& jit, int threads, int64_t free_bytes);

}  // namespace replay::cpu
