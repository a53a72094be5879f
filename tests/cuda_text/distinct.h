// The distinct kernels of programs, as the cuda device plans them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "replay/plan.h"
#include "src/base/result.h"
#include "src/ir/module.h"

namespace cuda_text {

/// A kernel and the first step that launches it.
struct Distinct {
  std::string name;  ///< "bert_pretrain_step: fusion fusion.3, rows_f16_8192x768"
  kernel::Kernel kernel;
  std::shared_ptr<const ir::Module> step;  ///< alone: its operands are parameters
};

/// What a program launches.
struct Program {
  std::string name;
  int64_t launches = 0;        ///< of kernels
  std::set<std::string> keys;  ///< of the distinct ones
};

class Kernels {
 public:
  /// Every module of a file of any format that profile imports, as one program.
  base::Status add_file(const std::string& file);
  /// The differential tests' module of this seed; all such modules are one program.
  base::Status add_random(uint64_t seed);
  /// Every opcode on every type of element.
  base::Status add_opcodes_and_types();

  const std::vector<Program>& programs() const { return programs_; }
  /// In the order in which they are met.
  const std::vector<Distinct>& all() const { return all_; }

 private:
  base::Status add(const ir::Module& module, Program& program);
  void add(kernel::Kernel kernel, const replay::Plan& plan, const replay::Step& step, Program& program);
  Program& program(const std::string& name);

  std::vector<Program> programs_;
  std::vector<Distinct> all_;
  std::set<std::string> seen_;  ///< keys
};

}  // namespace cuda_text
