// The third move for GPUs: flat lists as CUDA C++ that includes nothing, one __global__ function per part.
#pragma once

#include <string>
#include <string_view>

#include "replay/kernel/nest.h"
#include "replay/kernel/schedule.h"

namespace kernel {

/// Collects the functions of a kernel. On the host the text runs with the names of tests/support/cuda_on_host.h.
class CudaModule {
 public:
  explicit CudaModule(const Lowered& lowered) : lowered_(lowered) {}
  /// KERNEL(threads) symbol(char* a0, char* a1, …): all of Kernel's args, one by one.
  void add(const Scheduled& part, std::string_view symbol);
  std::string text() const;

 private:
  std::string parameters() const;
  std::string address(int array) const;
  bool may_share(int array) const;

  const Lowered& lowered_;
  std::string functions_;
  bool trigonometry_ = false;  ///< a function calls sine, cosine or tangent
};

/// Does a thread of this part ever wait for another?
bool cooperates(const List& list);

}  // namespace kernel
