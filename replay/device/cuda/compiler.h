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
  std::vector<char> code;  ///< a cubin, or PTX with the 0 that ends it
  std::vector<Usage> usage;
  std::string log;
  int64_t compile_ns = 0;
};

/// What kernels are compiled for.
struct Architecture {
  int number = 0;            ///< of a compute capability: 90
  bool ptx = false;          ///< not machine code, but what the driver of a newer GPU compiles itself
  std::string text() const;  ///< "sm_90"; PTX: "compute_90"
};
/// Machine code of the newest architecture of the GPU's generation that is not newer than it; where the compiler knows none, PTX of the
/// newest that it knows. Error: the GPU is older than all of them.
base::Result<Architecture> architecture_for(int major, int minor, const std::vector<int>& known);

class Compiler {
 public:
  /// Error: NVRTC is not there, with the reason.
  static base::Result<std::unique_ptr<Compiler>> open(const Opener& opener);
  ~Compiler();
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  /// Error: the first line in which NVRTC or ptxas says what is wrong. May be called by several threads.
  base::Result<Machine> compile(const std::string& text, const Architecture& architecture) const;
  /// Those that can be compiled for, ascending.
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
