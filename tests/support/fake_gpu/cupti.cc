// CUPTI: records in buffers of the program's, laid out as those of CUDA 13, operations before the calls that launched them. They are walked
// by NVIDIA's own cuptiActivityGetNextRecord where the toolkit is installed: it needs no GPU.
#include <dlfcn.h>

#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "tests/support/fake_gpu/gpu.h"

namespace fake_gpu {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr int kInvalidParameter = 1, kEnd = 12, kTwoSubscribers = 39;
constexpr uint32_t kMemcpy = 1, kMemset = 2, kDriver = 4, kConcurrentKernel = 10, kExternal = 39;
/// By kind.
const std::map<uint32_t, size_t> kSizes{{kMemcpy, 96}, {kMemset, 88}, {kDriver, 40}, {kConcurrentKernel, 216}, {kExternal, 24}};

struct State {
  bool subscribed = false;
  void (*request)(uint8_t**, size_t*, size_t*) = nullptr;
  void (*complete)(void*, uint32_t, uint8_t*, size_t, size_t) = nullptr;
  std::map<uint32_t, bool> enabled;
  std::vector<uint64_t> ids;
  std::vector<Bytes> operations, calls;
};
State& state() {
  static auto* const made = new State;
  return *made;
}

template <typename T>
void set(Bytes& record, size_t at, T value) {
  std::memcpy(record.data() + at, &value, sizeof value);
}

Bytes record_of(uint32_t kind) {
  Bytes record(kSizes.at(kind));
  set(record, 0, kind);
  return record;
}

/// As many buffers as it takes; a record is never split.
void hand_over(const std::vector<Bytes>& records) {
  uint8_t* buffer = nullptr;
  size_t bytes = 0, most = 0, used = 0;
  for (const Bytes& record : records) {
    if (buffer != nullptr && used + record.size() > bytes) {
      state().complete(nullptr, 0, buffer, bytes, used);
      buffer = nullptr;
    }
    if (buffer == nullptr) state().request(&buffer, &bytes, &most), used = 0;
    std::memcpy(buffer + used, record.data(), record.size());
    used += record.size();
  }
  if (buffer != nullptr) state().complete(nullptr, 0, buffer, bytes, used);
}

using Next = int (*)(uint8_t*, size_t, void**);
Next real_next() {
  static const Next found = [] {
    void* library = dlopen("/usr/local/cuda/lib64/libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<Next>(dlsym(library, "cuptiActivityGetNextRecord"));
  }();
  return found;
}

int called(const char* function) { return Gpu::get().called(function, Gpu::Library::other); }

}  // namespace

void recorded(const Ran& ran) {
  constexpr uint32_t kKinds[] = {kConcurrentKernel, kMemcpy, kMemset};
  const uint32_t kind = kKinds[static_cast<size_t>(ran.kind)];
  if (!state().enabled[kind]) return;
  Bytes record = record_of(kind);
  const bool kernel = kind == kConcurrentKernel;
  set(record, 16, ran.begin_ns);
  set(record, 24, ran.end_ns);
  set(record, kernel ? 92 : 44, ran.correlation);
  set(record, kernel ? 144 : 64, ran.node);
  state().operations.push_back(std::move(record));
}

void api_called(uint32_t correlation) {
  if (!state().enabled[kDriver]) return;
  if (!state().ids.empty() && state().enabled[kExternal]) {
    Bytes external = record_of(kExternal);
    set(external, 4, uint32_t{3});
    set(external, 8, state().ids.back());
    set(external, 16, correlation);
    state().calls.push_back(std::move(external));
  }
  Bytes call = record_of(kDriver);
  set(call, 32, correlation);
  state().calls.push_back(std::move(call));
}

}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT: the functions below are C's

#define CALLED() \
  if (const int asked_for = called(__func__); asked_for != 0) return asked_for

extern "C" {
int cuptiGetVersion(uint32_t* version) { return *version = 130001, 0; }
int cuptiGetResultString(int code, const char** text) {
  static const std::map<int, const char*> names{{7, "CUPTI_ERROR_INVALID_OPERATION"},
                                                {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
                                                {kTwoSubscribers, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"}};
  const auto found = names.find(code);
  return found == names.end() ? kInvalidParameter : (*text = found->second, 0);
}
int cuptiSubscribe(void** subscriber, void (*)(void*, int, uint32_t, const void*), void*) {
  CALLED();
  if (std::exchange(state().subscribed, true)) return kTwoSubscribers;
  return *subscriber = &state(), 0;
}
int cuptiSetThreadIdType(int) { return called(__func__); }
int cuptiActivitySetAttribute(uint32_t, size_t*, void*) { return called(__func__); }
int cuptiActivityRegisterCallbacks(void (*request)(uint8_t**, size_t*, size_t*),
                                   void (*complete)(void*, uint32_t, uint8_t*, size_t, size_t)) {
  CALLED();
  state().request = request;
  state().complete = complete;
  return 0;
}
int cuptiActivityEnable(uint32_t kind) {
  CALLED();
  state().enabled[kind] = true;
  return 0;
}
int cuptiActivityFlushAll(uint32_t) {
  CALLED();
  hand_over(std::exchange(state().operations, {}));
  hand_over(std::exchange(state().calls, {}));
  return 0;
}
int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) { return *dropped = 0, called(__func__); }
int cuptiActivityPushExternalCorrelationId(uint32_t, uint64_t id) {
  CALLED();
  state().ids.push_back(id);
  return 0;
}
int cuptiActivityPopExternalCorrelationId(uint32_t, uint64_t* id) {
  CALLED();
  if (state().ids.empty()) return kInvalidParameter;
  *id = state().ids.back();
  state().ids.pop_back();
  return 0;
}
int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, void** record) {
  if (const Next next = real_next(); next != nullptr) return next(buffer, valid, record);
  uint8_t* at = buffer;
  if (*record != nullptr) {
    uint32_t kind;
    std::memcpy(&kind, *record, sizeof kind);
    at = static_cast<uint8_t*>(*record) + kSizes.at(kind);
  }
  if (at >= buffer + valid) return kEnd;
  return *record = at, 0;
}
/// A new program may subscribe; records of the old one are gone.
void fake_cupti_reset() {
  state().ids.clear();
  state().operations.clear();
  state().calls.clear();
}
}
