// What cuDNN can run a convolution by: descriptors, the list of its heuristics, and the plans that are made of it one after another.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "replay/device/cuda/cudnn_plan.h"
#include "replay/device/cuda/cudnn_table.h"
#include "src/base/result.h"

namespace replay::cuda {

/// One of the library's descriptors, which goes with its scope. The table outlives it.
class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(Descriptor&& other) noexcept : table_(other.table_), handle_(std::exchange(other.handle_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(table_, other.table_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Descriptor() {
    if (handle_ != nullptr) table_->drop.address(handle_);
  }
  static base::Result<Descriptor> make(const CudnnTable& table, DescriptorKind kind);

  base::Status set(CudnnAttribute which, ValueKind kind, const void* values, int64_t count = 1);
  base::Status set(CudnnAttribute which, int64_t value) { return set(which, ValueKind::integer, &value); }
  base::Status set(CudnnAttribute which, std::span<const int64_t> values) {
    return set(which, ValueKind::integer, values.data(), static_cast<int64_t>(values.size()));
  }
  base::Status set(CudnnAttribute which, CudnnType value) { return set(which, ValueKind::type, &value); }
  base::Status set(CudnnAttribute which, const Descriptor& value) { return set(which, ValueKind::descriptor, &value.handle_); }
  base::Status set_number(CudnnAttribute which, int value, ValueKind kind) { return set(which, kind, &value); }
  base::Status set_real(CudnnAttribute which, double value) { return set(which, ValueKind::real, &value); }
  base::Status set_pointer(CudnnAttribute which, void* value, ValueKind kind) { return set(which, kind, &value); }
  /// How many values there are; as many of them as there is room for.
  base::Result<int64_t> get(CudnnAttribute which, ValueKind kind, void* values, int64_t room) const;
  base::Status finalize();
  void* handle() const { return handle_; }

 private:
  const CudnnTable* table_ = nullptr;
  void* handle_ = nullptr;
};

/// What plans are made for.
struct CudnnTarget {
  void* handle = nullptr;  ///< of the library; null: none, but a device by its description
  Descriptor device;
};

/// Names of the arrays of a graph, which the addresses are given by.
enum class ArrayId : int64_t { x = 1, w = 2, y = 3, bias = 4, side = 5 };

/// The operations of a convolution and all that they hold.
struct OperationGraph {
  std::vector<Descriptor> parts;
  Descriptor graph;
};
base::Result<OperationGraph> describe(const CudnnTable& table, const CudnnTarget& target, const ConvolutionGraph& convolution);

/// One way to run it, ready.
struct ExecutionPlan {
  Descriptor configuration, plan;
  int64_t workspace_bytes = 0, engine = 0;
  size_t number = 0;  ///< of the configuration in the lists of the heuristics, from 1
  std::string notes;  ///< ", tensor cores"
};

class Engines {
 public:
  Engines(const CudnnTable& table, const CudnnTarget& target, OperationGraph graph, CudnnType type, int64_t workspace_bytes)
      : table_(table), target_(target), graph_(std::move(graph)), type_(type), limit_bytes_(workspace_bytes) {}
  /// Makes plans as far as that one, configurations that cannot be used left out. False: there are not so many.
  bool has(size_t rank);
  const ExecutionPlan& at(size_t rank) const { return plans_[rank]; }
  size_t configurations() const { return configurations_.size(); }
  /// Why there is no plan: how many configurations there were, and what was wrong with the last.
  std::string why_none() const;

 private:
  base::Status list(int mode);
  base::Result<ExecutionPlan> plan_of(Descriptor& configuration);
  base::Status read_engine(const Descriptor& configuration, ExecutionPlan& plan) const;

  const CudnnTable& table_;
  const CudnnTarget& target_;
  OperationGraph graph_;
  CudnnType type_;
  int64_t limit_bytes_;
  std::vector<Descriptor> configurations_;  ///< those before `next_` are used up
  size_t next_ = 0, modes_ = 0;             ///< modes of heuristics that were asked
  std::vector<ExecutionPlan> plans_;
  std::string why_;
};

}  // namespace replay::cuda
