// Reading costs some 10 µs a value, so it is done outside of passes, and never sets anything: clocks are not locked, they are told.
#include "replay/device/cuda/nvml.h"

#include <fmt/format.h>

#include <type_traits>

namespace replay::cuda {
namespace {

constexpr int kMultiprocessorClock = 1, kMemoryClock = 2;  ///< NVML_CLOCK_SM, NVML_CLOCK_MEM
constexpr int kDieSensor = 0;                              ///< NVML_TEMPERATURE_GPU

base::Result<NvmlFunctions> find_all(const Opened& library, const Opener& opener) {
  NvmlFunctions functions;
  const char* missing = nullptr;
  const auto find = [&](auto*& to, const char* symbol) {
    to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(opener.find(library.handle, symbol));
    if (to == nullptr && missing == nullptr) missing = symbol;
  };
  find(functions.init, "nvmlInit_v2");
  find(functions.device, "nvmlDeviceGetHandleByPciBusId_v2");
  find(functions.clock, "nvmlDeviceGetClockInfo");
  find(functions.most_clock, "nvmlDeviceGetMaxClockInfo");
  find(functions.power, "nvmlDeviceGetPowerUsage");
  find(functions.temperature, "nvmlDeviceGetTemperature");
  find(functions.slowed_by, "nvmlDeviceGetCurrentClocksThrottleReasons");
  find(functions.text, "nvmlErrorString");
  if (missing != nullptr) return base::Error{fmt::format("NVML: {} has no function {}", library.file, missing)};
  return functions;
}

base::Status told(const NvmlFunctions& functions, const char* symbol, int code) {
  if (code == 0) return {};
  const char* text = functions.text(code);
  return base::Error{fmt::format("{}: {} ({})", symbol, text != nullptr ? text : "an error that NVML does not name", code)};
}

}  // namespace

base::Result<Nvml> Nvml::open(const Opener& opener, const std::string& pci_bus_id) {
  const Opened library = open_library(Library::nvml, opener);
  if (library.handle == nullptr) return base::Error{"NVML: " + library.why};
  Nvml nvml;
  ASSIGN_OR_RETURN(nvml.functions_, find_all(library, opener));
  RETURN_IF_ERROR(told(nvml.functions_, "nvmlInit_v2", nvml.functions_.init()));
  RETURN_IF_ERROR(told(nvml.functions_, "nvmlDeviceGetHandleByPciBusId_v2", nvml.functions_.device(pci_bus_id.c_str(), &nvml.device_)));
  return nvml;
}

model::Clocks Nvml::read() const {
  model::Clocks clocks;
  const auto keep = [](std::optional<int64_t>& to, auto value, int code) {
    if (code == 0) to = static_cast<int64_t>(value);
  };
  unsigned value = 0;
  unsigned long long reasons = 0;
  int code = functions_.clock(device_, kMultiprocessorClock, &value);
  keep(clocks.multiprocessor_mhz, value, code);
  code = functions_.clock(device_, kMemoryClock, &value);
  keep(clocks.memory_mhz, value, code);
  code = functions_.power(device_, &value);
  keep(clocks.power_mw, value, code);
  code = functions_.temperature(device_, kDieSensor, &value);
  keep(clocks.temperature_c, value, code);
  code = functions_.slowed_by(device_, &reasons);
  keep(clocks.slowed_by, reasons, code);
  return clocks;
}

int Nvml::most_mhz() const {
  unsigned mhz = 0;
  return functions_.most_clock(device_, kMultiprocessorClock, &mhz) == 0 ? static_cast<int>(mhz) : 0;
}

}  // namespace replay::cuda
