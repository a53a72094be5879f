// The reference beside a device: evaluates steps that have no machine code, and judges the results of those that have.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "replay/engine.h"
#include "replay/reference/reference.h"

namespace replay {

/// Operands of a step as views of host memory. Holds copies where the device's memory is elsewhere, or where the step overwrites an
/// operand.
class OperandViews {
 public:
  OperandViews(const Plan& plan, Device& device) : plan_(plan), device_(device) {}
  enum class Keep { borrow, copy_what_is_overwritten };
  base::Status load(const Step& step, Keep keep);
  std::span<const reference::View> views() const { return views_; }

 private:
  base::Result<reference::View> view(const ir::Shape& shape, const Step& step, size_t& next, Keep keep);
  const Plan& plan_;
  Device& device_;
  std::vector<reference::View> views_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> storage_;
};

class StepEvaluator {
 public:
  StepEvaluator(const Plan& plan, Device& device);
  /// Runs the step through the reference and writes its results to the device.
  base::Status evaluate(const Step& step);

 private:
  const Plan& plan_;
  Device& device_;
  reference::Evaluator reference_;
};

class Verifier {
 public:
  Verifier(const Plan& plan, Device& device, uint64_t seed);
  /// Operands must be looked at before a step that overwrites them. Only the first execution of a step is judged.
  base::Status before(const Step& step);
  base::Status after(const Step& step);
  /// These buffers get other values now, without a step.
  void forget(std::span<const BufferId> buffers);
  const std::vector<Verdict>& verdicts() const { return verdicts_; }
  int failed_step() const { return failed_step_; }

 private:
  /// What a step reads must be what was written: a value that changed in between shows two live buffers in the same memory.
  base::Status check_unchanged(const Step& step, std::span<const BufferId> buffers);
  base::Status remember(std::span<const BufferId> buffers);
  void fail(const Step& step, std::string place);
  base::Status judge_copies(const Step& step);
  base::Status judge_leaf(const Step& step, const std::vector<int64_t>& path, BufferId buffer);
  void note(const Step& step, const reference::Judged& judged, const std::vector<int64_t>& path);
  bool skips(const Step& step) const;

  const Plan& plan_;
  Device& device_;
  uint64_t seed_;
  reference::Evaluator reference_;
  OperandViews operands_;
  std::vector<Verdict> verdicts_;
  std::map<BufferId, uint64_t> hashes_;  ///< of a buffer's bytes when it was last written; by the buffer and its aliases' owner
  int failed_step_ = -1;
};

}  // namespace replay
