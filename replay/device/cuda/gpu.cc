// The primary context, as libraries of CUDA use it too, and a stream that does not wait for the default one.
#include "replay/device/cuda/gpu.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace replay::cuda {

base::Result<std::unique_ptr<Gpu>> Gpu::open(const Opener& opener) {
  ASSIGN_OR_RETURN(const Driver driver, open_driver(opener));
  std::unique_ptr<Gpu> gpu(new Gpu(driver));
  if (base::Status begun = gpu->begin(); !begun.ok()) return base::Error{begun.error().message, base::Exit::missing_capability};
  return gpu;
}

base::Status Gpu::begin() {
  const Driver& d = driver_;
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);  // loading at a kernel's first launch would fall into what is timed
  RETURN_IF_ERROR(d.call(d.init, 0u));
  int count = 0, device = 0;
  RETURN_IF_ERROR(d.call(d.device_count, &count));
  if (count == 0) return base::Error{"the driver finds no GPU"};
  RETURN_IF_ERROR(d.call(d.device, &device, 0));
  RETURN_IF_ERROR(d.call(d.retain_context, &context_, device));
  device_ = device;
  RETURN_IF_ERROR(d.call(d.set_context, context_));
  RETURN_IF_ERROR(ask());
  return d.call(d.create_stream, &stream_, kNonBlockingStream);
}

base::Status Gpu::ask() {
  const Driver& d = driver_;
  Properties& p = properties_;
  std::array<char, 256> name{};
  RETURN_IF_ERROR(d.call(d.device_name, name.data(), static_cast<int>(name.size()) - 1, device_));
  p.name = name.data();
  RETURN_IF_ERROR(d.call(d.pci_bus_id, name.data(), static_cast<int>(name.size()) - 1, device_));
  p.pci_bus_id = name.data();
  RETURN_IF_ERROR(d.call(d.version, &p.driver_version));
  RETURN_IF_ERROR(d.call(d.device_memory, &p.memory_bytes, device_));
  const std::pair<DeviceAttribute, int*> wanted[] = {
      {DeviceAttribute::major, &p.major},         {DeviceAttribute::minor, &p.minor},
      {DeviceAttribute::l2_bytes, &p.l2_bytes},   {DeviceAttribute::multiprocessors, &p.multiprocessors},
      {DeviceAttribute::bus_bits, &p.bus_bits},   {DeviceAttribute::memory_clock_khz, &p.memory_clock_khz},
      {DeviceAttribute::clock_khz, &p.clock_khz},
  };
  for (const auto& [attribute, to] : wanted) RETURN_IF_ERROR(d.call(d.device_attribute, to, static_cast<int>(attribute), device_));
  return {};
}

/// Nothing can be done where these fail: the context may be lost.
Gpu::~Gpu() {
  if (stream_ != nullptr) driver_.destroy_stream.address(stream_);
  if (device_ >= 0) driver_.release_context.address(device_);
}

base::Status Memory::allocate(int64_t bytes) {
  release();
  return bytes > 0 ? driver_.call(driver_.allocate, &address_, static_cast<size_t>(bytes)) : base::Status();
}

void Memory::release() {
  if (address_ != 0) driver_.free.address(address_);
  address_ = 0;
}

}  // namespace replay::cuda
