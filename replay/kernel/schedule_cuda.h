// Schedules for a GPU: who takes what is a number made of the block's and the thread's; reductions are shared by teams of threads.
#pragma once

#include <functional>
#include <vector>

#include "replay/kernel/cuda_launch.h"
#include "replay/kernel/scheduler.h"

namespace kernel {

/// Where a thread sits in its team, as values of the list; -1: nothing to ask (there is one only; it always holds).
struct Seat {
  ValueId thread = -1;  ///< in the block
  ValueId member = -1;  ///< of the team
  ValueId column = -1;
  ValueId group = -1;  ///< team of the block, where columns == 1
  ValueId valid = -1;  ///< false: the iteration is a repetition of the last one; nothing is stored
  ValueId split = -1;
};

class TeamWriter : public Writer {
 public:
  TeamWriter(List& list, Lowered& lowered, const Target& target, const cuda::Team& plan)
      : Writer(list, lowered, target), lowered_(lowered), plan_(plan) {}

  Seat seat;
  /// Accumulates over a stage's loops, shared by the team, and binds the results, which all members get.
  void stage(const Stage& stage);
  /// The body runs where the iteration is real, on one member of the team.
  void once_a_team(const Body& body);
  /// Binds loops to the parts of a number, the last loop fastest.
  void decompose(const std::vector<Loop>& loops, ValueId number);
  int64_t block_bytes() const { return block_bytes_; }
  ValueId remainder(ValueId number, int64_t of);
  ValueId quotient(ValueId number, int64_t by);
  ValueId less(ValueId a, int64_t b);

 private:
  /// Values of one reduction.
  using Values = std::vector<ValueId>;
  void loop_over(const Stage& stage, const std::vector<Loop>& loops, TermId across, int lanes,
                 const std::vector<std::vector<Cells>>& cells);
  void guarded(ValueId condition, const Body& body);
  std::vector<Values> in_warps(const Stage& stage, std::vector<Values> values);
  std::vector<Values> in_memory(const Stage& stage, std::vector<Values> values);
  ValueId in_bytes(ValueId value);
  ValueId from_bytes(ValueId value, Reg reg);

  Lowered& lowered_;
  const cuda::Team& plan_;
  int64_t block_bytes_ = 0;
  bool memory_used_ = false;
};

/// The number of the thread in the whole grid.
ValueId number_of_thread(List& list, int threads);

class CudaScheduler : private Scheduler {
 public:
  using Scheduler::Scheduler;
  std::vector<Scheduled> run();

 private:
  enum class Splits : uint8_t { allowed, none };
  void nest(const Nest& nest);
  /// A square of a load's elements; `at`: where one of them is found.
  struct Tile {
    NodeId load = -1;
    int array = 0;
    Index at;
  };
  void map(const Stage& stage);
  bool fits_tiles(const Turned& turned, const std::vector<Loop>& loops, TermId across) const;
  std::vector<Tile> tiles_for(const Turned& turned, const Index& row, const Index& column, Scheduled& part);
  void turned_map(const Stage& stage, const Footprint& print, std::vector<Loop> loops, const std::vector<TermId>& gone, TermId across,
                  const Turned& turned);
  void serial(const Nest& nest);
  void merge(const Merge& merge);
  void reduce(const Nest& nest, Splits splits);
  /// How a nest's outer loops are laid over teams; `wide`: the loop over columns (variable < 0: none).
  struct Laid {
    cuda::Team plan;
    Loop wide;
    std::vector<Loop> outer;
    std::vector<TermId> gone;
  };
  Laid lay(const Nest& nest, Splits splits);
  cuda::Vector vector_for(const Footprint& print, TermId across, const std::vector<Loop>& loops) const;
  void fit_memory(const Nest& nest, cuda::Team& plan) const;
  void sit(TeamWriter& writer, const Laid& laid, Scheduled& part) const;
};

}  // namespace kernel
