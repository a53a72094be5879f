// Modules whose kernels are CUDA text, run on the host by the cpu device and judged by the reference.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/engine.h"
#include "tests/support/compile_c.h"

namespace cuda_text {

inline constexpr support::Order kOrders[] = {support::Order::forward, support::Order::backward, support::Order::random};

/// A module and its plan, with the cuda device's kernels: those of its steps, and its own for products and changes of layout.
struct Planned {
  ir::Module module;
  replay::Plan plan;
};
base::Result<std::unique_ptr<Planned>> planned(ir::Module module, const kernel::Target& target);

class OnHost {
 public:
  OnHost();
  /// For planned().
  kernel::Target target(int multiprocessors = 132) const;
  void add(std::unique_ptr<Planned> module) { cases_.push_back(std::move(module)); }
  /// Parses and plans.
  base::Status add(const std::string& hlo);

  size_t size() const { return cases_.size(); }
  /// The texts of a module's kernels, to plant faults before compile().
  kernel::Kernel& kernel(size_t module, size_t number = 0) { return cases_.at(module)->plan.kernels.at(number); }
  const replay::Plan& plan(size_t module) const { return cases_.at(module)->plan; }
  const ir::Module& module(size_t module) const { return cases_.at(module)->module; }
  /// One shared object of all that were added.
  base::Status compile();

  /// "": all steps are right and no fault was seen; else the fault, or the step that differs.
  std::string shows(size_t module, support::Order order);
  /// What shows in the first order in which something does.
  std::string shows(size_t module);
  /// The same, judged in one order; in the others the results must be the same bits.
  std::string shows_alike(size_t module);
  /// The program's results after one pass, in logical order, leaf by leaf.
  base::Result<std::vector<replay::Tensor>> outputs(size_t module, support::Order order);

 private:
  enum class Verify : uint8_t { yes, no };
  base::Result<replay::Outcome> run(replay::Plan& plan, support::Order order, Verify verify);
  base::Result<std::vector<replay::Tensor>> read(const replay::Plan& plan);

  std::unique_ptr<replay::Device> device_;
  std::vector<std::unique_ptr<Planned>> cases_;
  std::unique_ptr<support::SharedObject> object_;
};

}  // namespace cuda_text
