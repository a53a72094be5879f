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
  double saved_bytes = 0;  ///< traffic of both less that of the fusion
  double extra_flops = 0;  ///< recomputed_flops of the fusion beyond that of both
  double saved_ns = 0;     ///< roofline of both less roofline of the fusion
  double calls = 1;        ///< executions in a pass, as far as the text tells
};

/// The machine's limits.
struct Roof {
  double bytes_per_s = 0, flops_per_s = 0;
};

/// The module with each pair as one fusion, "producer+consumer"; ids stay valid. The fusion holds both instructions as they are, so that
/// with_parts (Parts::calls) gives them back. A producer that others read too is a further result of the fusion.
/// Error: why a pair can't be fused: no launch of its own, a way around from producer to consumer, a pair that shares a step with another.
base::Result<std::shared_ptr<const ir::Module>> with_fused(const ir::Module& module, const std::vector<Neighbours>& pairs);

/// Pairs whose fusion is predicted to save time and has a kernel, best first: by saved_ns · calls.
std::vector<Suggestion> suggestions(const ir::Module& module, const Roof& roof, replay::Rounding rounding, const kernel::Target& target);

}  // namespace replay
