// Modules whose kernels are CUDA text, run on the host by the cpu device and judged by the reference.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/engine.h"
#include "tests/support/compile_c.h"

namespace cuda_text {

class OnHost {
 public:
  /// Plans each module; what fails is a failure of the test.
  explicit OnHost(const std::vector<std::string>& modules);
  size_t size() const { return cases_.size(); }
  /// The texts of a module's kernels, to plant faults before compile().
  kernel::Kernel& kernel(size_t module, size_t number = 0) { return cases_.at(module)->plan.kernels.at(number); }
  const replay::Plan& plan(size_t module) const { return cases_.at(module)->plan; }
  const ir::Module& module(size_t module) const { return cases_.at(module)->module; }
  void compile();
  /// "": all steps are right and no fault was seen; else the fault, or the step that differs.
  std::string shows(size_t module, support::Order order);
  /// The program's results after one pass, in logical order, leaf by leaf.
  base::Result<std::vector<replay::Tensor>> outputs(size_t module, support::Order order);
  /// What shows in the first order in which something does.
  std::string shows(size_t module);

 private:
  struct Case {
    ir::Module module;
    replay::Plan plan;
  };
  enum class Verify : uint8_t { yes, no };
  base::Result<replay::Outcome> run(replay::Plan& plan, support::Order order, Verify verify);

  std::unique_ptr<replay::Device> device_;
  std::vector<std::unique_ptr<Case>> cases_;
  std::unique_ptr<support::SharedObject> object_;
};

inline constexpr support::Order kOrders[] = {support::Order::forward, support::Order::backward, support::Order::random};

}  // namespace cuda_text
