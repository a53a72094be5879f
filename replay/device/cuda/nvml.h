// NVML: clocks, power and what slows the GPU down, around each pass.
#pragma once

#include <cstdint>
#include <string>

#include "replay/device/cuda/libraries.h"
#include "src/base/result.h"
#include "src/model/records.h"

namespace replay::cuda {

/// Functions by hand: no toolkit brings nvml.h. Each returns 0 or the number of an error.
struct NvmlFunctions {
  int (*init)() = nullptr;
  int (*device)(const char* pci_bus_id, void** device) = nullptr;
  int (*clock)(void* device, int which, unsigned* mhz) = nullptr;
  int (*most_clock)(void* device, int which, unsigned* mhz) = nullptr;
  int (*power)(void* device, unsigned* mw) = nullptr;
  int (*temperature)(void* device, int sensor, unsigned* celsius) = nullptr;
  int (*slowed_by)(void* device, unsigned long long* reasons) = nullptr;
  const char* (*text)(int code) = nullptr;
};

class Nvml {
 public:
  /// Of the GPU at this address of the bus. Error: no library, one without a function of the table, or one that does not know the GPU.
  static base::Result<Nvml> open(const Opener& opener, const std::string& pci_bus_id);
  /// What a GPU does not tell (under MIG, in virtual machines) stays unknown.
  model::Clocks read() const;
  /// The highest clock of the multiprocessors; 0: not told.
  int most_mhz() const;

 private:
  NvmlFunctions functions_;
  void* device_ = nullptr;
};

}  // namespace replay::cuda
