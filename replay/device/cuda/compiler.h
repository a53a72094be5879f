// Kernels compiled to machine code by NVRTC, in the process. It needs no GPU and no headers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "replay/device/cuda/libraries.h"
#include "src/base/result.h"

namespace replay::cuda {

/// What ptxas says of one function.
struct Usage {
  std::string function;
  int registers = 0;
  int64_t stack_bytes = 0, spill_store_bytes = 0, spill_load_bytes = 0, shared_bytes = 0;
};
/// Reads the lines of `ptxas -v`; what is not of them is passed over.
std::vector<Usage> read_usage(std::string_view log);

struct Machine {
  std::vector<char> code;  ///< a cubin
  std::vector<Usage> usage;
  std::string log;
  int64_t compile_ns = 0;
};

class Compiler {
 public:
  /// Error: NVRTC is not there, with the reason.
  static base::Result<std::unique_ptr<Compiler>> open(const Opener& opener);
  ~Compiler();
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  /// For compute capability `architecture` (90: sm_90). Error: what NVRTC or ptxas says. May be called by several threads.
  base::Result<Machine> compile(const std::string& text, int architecture) const;
  /// Those that cubins can be made for, ascending.
  std::vector<int> architectures() const;
  std::string version() const;
  /// All of it that machine code depends on: version, build, and the options that are given.
  std::string identity() const;

 private:
  struct Functions;
  explicit Compiler(std::unique_ptr<Functions> functions);
  std::unique_ptr<Functions> functions_;
};

}  // namespace replay::cuda
