// NVML: a GPU that runs at its highest clock until it is made to slow down.
#include <cstring>

#include "tests/support/fake_gpu/gpu.h"

using namespace fake_gpu;  // NOLINT: the functions below are C's

namespace {

constexpr unsigned kMostMhz = 1980, kSlowMhz = 1005, kMemoryMhz = 2619, kPowerMw = 412000;
constexpr unsigned long long kPowerCap = 4;  ///< nvmlClocksThrottleReasonSwPowerCap
constexpr int kNotFound = 6;

int called(const char* function) { return Gpu::get().called(function, Gpu::Library::other); }
/// Clocks were asked for so often: two a reading.
bool slow() {
  const Gpu& gpu = Gpu::get();
  return gpu.slow_after >= 0 && gpu.calls.at("nvmlDeviceGetClockInfo") > 2 * gpu.slow_after;
}

}  // namespace

#define CALLED() \
  if (const int asked_for = called(__func__); asked_for != 0) return asked_for

extern "C" {
int nvmlInit_v2() { return called(__func__); }
int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  CALLED();
  std::strncpy(text, "580.0", bytes);
  return 0;
}
const char* nvmlErrorString(int code) { return code == kNotFound ? "Not Found" : "an error of the tests"; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  CALLED();
  if (std::strcmp(bus, "0000:18:00.0") != 0) return kNotFound;
  return *device = &Gpu::get(), 0;
}
int nvmlDeviceGetClockInfo(void*, int which, unsigned* mhz) {
  CALLED();
  return *mhz = which == 2 ? kMemoryMhz : slow() ? kSlowMhz : kMostMhz, 0;
}
int nvmlDeviceGetMaxClockInfo(void*, int which, unsigned* mhz) {
  CALLED();
  return *mhz = which == 2 ? kMemoryMhz : kMostMhz, 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* mw) {
  CALLED();
  return *mw = kPowerMw, 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  CALLED();
  return *celsius = 61, 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  CALLED();
  return *reasons = slow() ? kPowerCap : 0, 0;
}
}
