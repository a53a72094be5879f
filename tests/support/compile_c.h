// Kernels written in C, compiled by the system's compiler into one shared object.
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

}  // namespace support
