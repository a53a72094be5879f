// The classes of schedules: one member function each. schedule.cc chooses.
#pragma once

#include <set>
#include <vector>

#include "replay/kernel/schedule.h"
#include "replay/kernel/tile.h"
#include "replay/kernel/write.h"

namespace kernel {

inline constexpr int64_t kFlatBlock = 8192;  ///< elements of an iteration of a flat loop

/// Vectors that are interleaved, by the number of values: more would leave the registers and lengthen the code.
int interleave(size_t nodes);
/// Removes a loop from the list; one of extent 1 if it is not there.
Loop taken(std::vector<Loop>& loops, TermId variable);

class Scheduler {
 public:
  Scheduler(Lowered& lowered, const Target& target) : lowered_(lowered), graph_(lowered.graph), target_(target) {}
  std::vector<Scheduled> run();

 protected:
  /// An array with one value per outer iteration and block, for one result of a reduction.
  struct Partial {
    int array = 0;
    Reg reg = Reg::f32;  ///< of the accumulator
    NodeId start = -1, result = -1;
    size_t reduction = 0;
    Index at;
  };
  void nest(const Nest& nest);
  void map(const Nest& nest);
  void turned_map(const Stage& stage, const Footprint& print, std::vector<Loop> loops, const std::vector<TermId>& gone, TermId across,
                  const Turned& turned);
  void rows(const Nest& nest);
  void columns(const Nest& nest, TermId across);
  void swept_columns(const Nest& nest, TermId across);
  void blocked_rows(const Nest& nest, Loop blocked, int64_t size);
  void serial(const Nest& nest);
  void merge(const Merge& merge);
  std::vector<Partial> partials(const Nest& nest, int64_t blocks, TermId last);
  Nest combining(const Nest& nest, const std::vector<Partial>& partials, TermId block);
  void finish(Scheduled& part, const Footprint& print, const std::vector<Loop>& loops, int64_t per_iteration);
  int64_t lone_elements(const List& list, const Footprint& print, const std::vector<Loop>& loops) const;
  std::set<int> streamed(const std::vector<Store>& stores, TermId across);
  std::vector<Loop> all_loops(const Nest& nest) const;
  Footprint everything(const Nest& nest) const;

  /// How a sweep over rows is cut: rows a block, rows and vectors at once.
  struct Sweep {
    int64_t rows = 1, blocks = 1;
    int at_once = 1, vectors = 1;
  };
  Sweep plan_sweep(const Loop& rows, int64_t inside, size_t nodes) const;
  enum class Sweeping : uint8_t { start, add };
  void store_partials(Writer& writer, const Stage& stage, const std::vector<Partial>& parts, const Index& shift, Sweeping what);

  int64_t block_stride_ = 1;  ///< outer iterations: from block to block of a partial array
  Lowered& lowered_;
  Graph& graph_;
  const Target& target_;
  std::vector<Scheduled> parts_;
};

}  // namespace kernel
