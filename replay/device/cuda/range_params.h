// What the functions of CUPTI's range profiler take and give: each one address of such a structure, declared by hand as in the headers of
// CUDA 12.6 to 13 (a test compares them). `bytes` is what the headers' macros give: up to the last field's end, which sizeof is not.
#pragma once

#include <cstddef>
#include <cstdint>

namespace replay::cuda::range {

constexpr int kRangeProfiler = 0;  ///< CUPTI_PROFILER_TYPE_RANGE_PROFILER
constexpr int kUserRange = 2;      ///< CUPTI_UserRange: from a push to its pop
constexpr int kUserReplay = 3;     ///< CUPTI_UserReplay: who counts runs everything again for each pass

// The host's side: which counters, and what they say.
struct MakeHost {
  size_t bytes = 48;
  void* none = nullptr;
  int type = kRangeProfiler;
  const char* chip = nullptr;
  const uint8_t* availability = nullptr;
  void* host = nullptr;
};
struct DropHost {
  size_t bytes = 24;
  void* none = nullptr;
  void* host = nullptr;
};
struct AskMetric {
  size_t bytes = 60;
  void* none = nullptr;
  void* host = nullptr;
  const char *metric = nullptr, *description = nullptr, *hardware_unit = nullptr, *unit = nullptr;
  int type = 0;
};
struct AddMetrics {
  size_t bytes = 40;
  void* none = nullptr;
  void* host = nullptr;
  const char** metrics = nullptr;
  size_t count = 0;
};
struct ConfigSize {
  size_t bytes = 32;
  void* none = nullptr;
  void* host = nullptr;
  size_t config_bytes = 0;
};
struct GetConfig {
  size_t bytes = 40;
  void* none = nullptr;
  void* host = nullptr;
  size_t config_bytes = 0;
  uint8_t* config = nullptr;
};
struct CountPasses {
  size_t bytes = 40;
  void* none = nullptr;
  size_t config_bytes = 0;
  uint8_t* config = nullptr;
  size_t passes = 0;
};
struct Evaluate {
  size_t bytes = 72;
  void* none = nullptr;
  void* host = nullptr;
  const uint8_t* data = nullptr;
  size_t data_bytes = 0, range = 0;
  const char** metrics = nullptr;
  size_t count = 0;
  double* values = nullptr;
};

// The GPU's side: ranges of work, counted.
struct Initialize {
  size_t bytes = 16;
  void* none = nullptr;
};
struct ChipName {
  size_t bytes = 32;
  void* none = nullptr;
  size_t device = 0;
  const char* chip = nullptr;
};
struct Enable {
  size_t bytes = 32;
  void* none = nullptr;
  void *context = nullptr, *profiler = nullptr;
};
struct OfProfiler {  ///< Disable, Start, PopRange
  size_t bytes = 24;
  void* none = nullptr;
  void* profiler = nullptr;
};
struct DataSize {
  size_t bytes = 64;
  void* none = nullptr;
  void* profiler = nullptr;
  const char** metrics = nullptr;
  size_t count = 0, ranges = 0;
  uint32_t nodes = 0;
  size_t data_bytes = 0;
};
struct StartData {
  size_t bytes = 40;
  void* none = nullptr;
  void* profiler = nullptr;
  size_t data_bytes = 0;
  uint8_t* data = nullptr;
};
struct SetConfig {
  size_t bytes = 90;
  void* none = nullptr;
  void* profiler = nullptr;
  size_t config_bytes = 0;
  const uint8_t* config = nullptr;
  size_t data_bytes = 0;
  uint8_t* data = nullptr;
  int range = kUserRange, replay = kUserReplay;
  size_t ranges = 0;
  uint16_t levels = 1, first_level = 1;
  size_t pass = 0;
  uint16_t target_level = 1;
};
struct Stop {
  size_t bytes = 41;
  void* none = nullptr;
  void* profiler = nullptr;
  size_t pass = 0, level = 0;
  uint8_t all_passes = 0;
};
struct Push {
  size_t bytes = 32;
  void* none = nullptr;
  void* profiler = nullptr;
  const char* name = nullptr;
};
struct Decode {
  size_t bytes = 32;
  void* none = nullptr;
  void* profiler = nullptr;
  size_t dropped = 0;
};
struct CountRanges {
  size_t bytes = 40;
  void* none = nullptr;
  const uint8_t* data = nullptr;
  size_t data_bytes = 0, ranges = 0;
};
struct NameRange {
  size_t bytes = 56;
  void* none = nullptr;
  const uint8_t* data = nullptr;
  size_t data_bytes = 0, range = 0;
  const char *delimiter = "/", *name = nullptr;
};

}  // namespace replay::cuda::range
