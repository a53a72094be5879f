// Kernels written in C or CUDA, compiled by the system's compiler into one shared object.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "replay/plan.h"

namespace support {

/// Functions that live as long as this.
class SharedObject {
 public:
  explicit SharedObject(void* handle) : handle_(handle) {}
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  ~SharedObject();
  void* find(const std::string& symbol) const;

 private:
  void* handle_;
};

/// Fills the entries of all kernels of `plans`. Errors: no compiler (`cc`, or the environment's CC); a text that it refuses.
base::Result<std::unique_ptr<SharedObject>> compile_c(std::span<replay::Plan* const> plans);
/// The same for CUDA: entries run a range of blocks on the host (cuda_on_host.h). Needs `c++`, or the environment's CXX.
base::Result<std::unique_ptr<SharedObject>> compile_cuda(std::span<replay::Plan* const> plans);

/// The order in which the threads of a block run.
enum class Order : unsigned { forward, backward, random };
/// Of the kernels of compile_cuda: what was found before is forgotten.
void set_order(const SharedObject& object, Order order);
/// The first fault that the kernels showed since then; "": none.
std::string fault(const SharedObject& object);

}  // namespace support
