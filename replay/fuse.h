// The reverse of defuse: neighbouring steps put together as one fusion.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/kernel/kernel.h"
#include "src/base/result.h"
#include "src/ir/module.h"

namespace replay {

/// A step and one that reads its result, in one computation.
struct Neighbours {
  ir::CompId comp = 0;
  ir::InstrId producer = 0, consumer = 0;
  auto operator<=>(const Neighbours&) const = default;
};

/// What fusing them is worth on paper, for one execution.
struct Suggestion {
  Neighbours pair;
  std::string name;        ///< of the fusion: "producer+consumer"
  double saved_bytes = 0;  ///< traffic of both less that of the fusion, what a kernel keeps in memory for itself included
  double extra_flops = 0;  ///< operations that the fusion does again, beyond those that of both
  double saved_ns = 0;     ///< roofline of both less roofline of the fusion
  double apart_ns = 0;     ///< roofline of both
  double calls = 1;        ///< executions in a pass, as far as the text tells
};
/// Savings below this can't be told from noise: a hundredth of what both take, as in the verdicts on what is measured, and of the
/// shortest time that is taken for sure.
double noise_ns(const Suggestion& suggestion);

/// The machine's limits. flops_per_s: of products, multiply and add as two.
struct Roof {
  double bytes_per_s = 0, flops_per_s = 0;
};
struct Suggestions {
  std::vector<Suggestion> paying;  ///< best first: by saved_ns · calls
  size_t within_noise = 0;         ///< pairs that are predicted to save something, but less than noise_ns
};

/// The module with each pair as one fusion, "producer+consumer"; ids stay valid. The fusion holds both instructions as they are, so that
/// with_parts (Parts::calls) gives them back. A producer that others read too is a further result of the fusion.
/// Error: why a pair can't be fused: no launch of its own, a way around from producer to consumer, a pair that shares a step with another.
base::Result<std::shared_ptr<const ir::Module>> with_fused(const ir::Module& module, const std::vector<Neighbours>& pairs);

/// Pairs whose fusion is predicted to save time and has a kernel. What is predicted of the kernels of `target`
/// is the larger time of their traffic and their arithmetic (a function counts as 20 operations; half of the rate is that of multiplying
/// and adding at once), and with it those of elements that they read or write one by one and of arithmetic that they do again.
Suggestions suggestions(const ir::Module& module, const Roof& roof, replay::Rounding rounding, const kernel::Target& target);

}  // namespace replay
