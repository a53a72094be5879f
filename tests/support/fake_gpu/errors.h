// Numbers of errors and their names: what the driver of the tests says, and what tests make it give.
#pragma once

#include <span>

namespace fake_gpu {

struct ErrorName {
  int code;
  const char* name;
};
/// In the order of their numbers; without CUDA_SUCCESS.
std::span<const ErrorName> errors();
/// After such an error a context is of no use.
bool stays(int code);

}  // namespace fake_gpu
