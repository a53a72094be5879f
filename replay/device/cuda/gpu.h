// The GPU in use: its context, one stream, and what it says of itself.
#pragma once

#include <memory>
#include <string>

#include "replay/device/cuda/driver.h"
#include "src/base/result.h"
#include "src/model/records.h"

namespace replay::cuda {

struct Properties {
  std::string name, pci_bus_id;  ///< of the bus: "0000:18:00.0"
  int driver_version = 0;        ///< 13000: CUDA 13.0
  int major = 0, minor = 0, multiprocessors = 0, l2_bytes = 0, clock_khz = 0, memory_clock_khz = 0, bus_bits = 0;
  size_t memory_bytes = 0;
};

class Gpu {
 public:
  /// The first GPU that the driver names (CUDA_VISIBLE_DEVICES chooses). Error, with exit status 6: there is none that can be used.
  static base::Result<std::unique_ptr<Gpu>> open(const Opener& opener);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const Driver& driver() const { return driver_; }
  void* stream() const { return stream_; }
  void* context() const { return context_; }
  int device() const { return device_; }
  const Properties& properties() const { return properties_; }
  /// Waits for all that was launched.
  base::Status wait() const { return driver_.call(driver_.wait, stream_); }

 private:
  explicit Gpu(const Driver& driver) : driver_(driver) {}
  base::Status begin();
  base::Status ask();

  Driver driver_;
  Properties properties_;
  int device_ = -1;  ///< -1: no context is held
  void* context_ = nullptr;
  void* stream_ = nullptr;
};

/// Memory of the device that goes with its scope.
class Memory {
 public:
  explicit Memory(const Driver& driver) : driver_(driver) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { release(); }
  /// What was there before goes first. Nothing is allocated for no bytes.
  base::Status allocate(int64_t bytes);
  void release();
  Address address() const { return address_; }

 private:
  const Driver& driver_;
  Address address_ = 0;
};

}  // namespace replay::cuda
