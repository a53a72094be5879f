// The order of the calls is what matters: subscribe (there is one place only), register, enable, and only then let modules be loaded, for
// which CUPTI makes code. Kinds are never disabled and the library never finalised: both have hung or crashed in the field.
#include "replay/device/cuda/cupti.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "replay/device/cuda/cupti_errors.h"

namespace replay::cuda {
namespace {

constexpr size_t kBufferBytes = 4 << 20, kAlignment = 4096;
constexpr size_t kMostBytes = size_t{512} << 20;  ///< of records that wait to be read: 1.8 million launches
constexpr uint32_t kOldest = 24;                  ///< API of CUDA 12.4: records are read as that release laid them out
constexpr uint32_t kCustomIds = 3;                ///< CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0
constexpr int kSystemThreads = 1;                 ///< CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
constexpr uint32_t kZeroedBuffers = 5;            ///< CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER
constexpr uint32_t kForced = 1;                   ///< CUPTI_ACTIVITY_FLAG_FLUSH_FORCED
/// Memcpy, memset, concurrent kernels; driver and runtime calls, without which there are no external ids; ids; overhead.
constexpr uint32_t kKinds[] = {1, 2, 10, 4, 5, 39, 17};

void nothing(void*, int, uint32_t, const void*) {}

}  // namespace

/// Buffers that CUPTI asks for and gives back, on threads of its own.
struct Cupti::Buffers {
  std::mutex lock;
  std::vector<std::vector<uint8_t>> full;
  size_t bytes = 0, discarded = 0;  ///< of `full`; of buffers that had no room in it
  bool wanted = false;              ///< nobody reads what comes before CUPTI is wholly on
  std::vector<uint8_t*> spare;      ///< zeroed: fresh ones cost more than what is recorded in them

  static Buffers& all() {
    static auto* const buffers = new Buffers;  // CUPTI may call at the process's end
    return *buffers;
  }
  uint8_t* zeroed() {
    const std::lock_guard guard(lock);
    if (!spare.empty()) {
      uint8_t* const buffer = spare.back();
      spare.pop_back();
      return buffer;
    }
    auto* const made = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
    if (made != nullptr) std::memset(made, 0, kBufferBytes);
    return made;
  }
  static void request(uint8_t** buffer, size_t* bytes, size_t* most_records) {
    *buffer = Buffers::all().zeroed();
    *bytes = *buffer == nullptr ? 0 : kBufferBytes;
    *most_records = 0;
  }
  /// No call of CUPTI in here: it holds its own lock.
  static void complete(void*, uint32_t, uint8_t* buffer, size_t, size_t valid) {
    Buffers& all = Buffers::all();
    const std::lock_guard guard(all.lock);
    const bool room = all.bytes + valid <= kMostBytes;
    if (all.wanted && room && valid > 0) {
      all.full.emplace_back(buffer, buffer + valid);
      all.bytes += valid;
    }
    if (all.wanted && !room) all.discarded += valid;
    std::memset(buffer, 0, valid);
    all.spare.push_back(buffer);
  }
  /// All that is full. Error: not all had room.
  static base::Result<std::vector<std::vector<uint8_t>>> take() {
    Buffers& all = Buffers::all();
    const std::lock_guard guard(all.lock);
    all.bytes = 0;
    auto taken = std::exchange(all.full, {});
    if (const size_t lost = std::exchange(all.discarded, 0); lost > 0)
      return base::Error{
          fmt::format("CUPTI's records of one pass took more than {} MiB: {} bytes are lost; use --mode events", kMostBytes >> 20, lost)};
    return taken;
  }
};

struct Cupti::Functions {
  int (*version)(uint32_t*) = nullptr;
  int (*text)(int, const char**) = nullptr;
  int (*subscribe)(void**, void (*)(void*, int, uint32_t, const void*), void*) = nullptr;
  int (*thread_ids)(int) = nullptr;
  int (*set)(uint32_t, size_t*, void*) = nullptr;
  int (*register_buffers)(void (*)(uint8_t**, size_t*, size_t*), void (*)(void*, uint32_t, uint8_t*, size_t, size_t)) = nullptr;
  int (*enable)(uint32_t) = nullptr;
  int (*flush)(uint32_t) = nullptr;
  int (*next)(uint8_t*, size_t, void**) = nullptr;
  int (*dropped)(void*, uint32_t, size_t*) = nullptr;
  int (*push)(uint32_t, uint64_t) = nullptr;
  int (*pop)(uint32_t, uint64_t*) = nullptr;
};

Cupti* Cupti::opened_ = nullptr;

Cupti::Cupti(std::unique_ptr<Functions> functions, uint32_t version) : functions_(std::move(functions)), version_(version) {}

base::Error Cupti::failure(const char* symbol, int code) const { return {cupti_error(symbol, code, functions_->text)}; }

base::Status Cupti::start() {
  void* subscriber = nullptr;
  if (const int code = functions_->subscribe(&subscriber, nothing, nullptr); code != 0) return failure("cuptiSubscribe", code);
  functions_->thread_ids(kSystemThreads);  // this and the next only spare work
  uint8_t yes = 1;
  size_t bytes = sizeof yes;
  functions_->set(kZeroedBuffers, &bytes, &yes);
  if (const int code = functions_->register_buffers(Buffers::request, Buffers::complete); code != 0)
    return failure("cuptiActivityRegisterCallbacks", code);
  for (const uint32_t kind : kKinds)
    if (const int code = functions_->enable(kind); code != 0) return failure("cuptiActivityEnable", code);
  return {};
}

base::Result<Cupti*> Cupti::open(const Opener& opener) {
  if (opened_ != nullptr) return opened_;
  const Opened library = open_library(Library::cupti, opener);
  if (library.handle == nullptr) return base::Error{"CUPTI: " + library.why};
  auto functions = std::make_unique<Functions>();
  const char* missing = nullptr;
  const auto find = [&](auto*& to, const char* symbol) {
    to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(opener.find(library.handle, symbol));
    if (to == nullptr && missing == nullptr) missing = symbol;
  };
  find(functions->version, "cuptiGetVersion");
  find(functions->text, "cuptiGetResultString");
  find(functions->subscribe, "cuptiSubscribe");
  find(functions->thread_ids, "cuptiSetThreadIdType");
  find(functions->set, "cuptiActivitySetAttribute");
  find(functions->register_buffers, "cuptiActivityRegisterCallbacks");
  find(functions->enable, "cuptiActivityEnable");
  find(functions->flush, "cuptiActivityFlushAll");
  find(functions->next, "cuptiActivityGetNextRecord");
  find(functions->dropped, "cuptiActivityGetNumDroppedRecords");
  find(functions->push, "cuptiActivityPushExternalCorrelationId");
  find(functions->pop, "cuptiActivityPopExternalCorrelationId");
  if (missing != nullptr) return base::Error{fmt::format("CUPTI: {} has no function {}", library.file, missing)};
  uint32_t version = 0;
  functions->version(&version);
  if (version < kOldest) return base::Error{fmt::format("CUPTI: {} has API {}; {} (CUDA 12.4) is needed", library.file, version, kOldest)};
  std::unique_ptr<Cupti> made(new Cupti(std::move(functions), version));
  RETURN_IF_ERROR(made->start());
  Buffers::all().wanted = true;
  return opened_ = made.release();
}

base::Result<uint64_t> Cupti::push() {
  const int code = functions_->push(kCustomIds, ++last_id_);
  if (code != 0) return failure("cuptiActivityPushExternalCorrelationId", code);
  return last_id_;
}

base::Status Cupti::pop() const {
  uint64_t id = 0;
  const int code = functions_->pop(kCustomIds, &id);
  return code == 0 ? base::Status() : failure("cuptiActivityPopExternalCorrelationId", code);
}

/// Forced, because a flush without force may give nothing; nothing runs any more.
base::Result<Activity> Cupti::collect() {
  if (const int code = functions_->flush(kForced); code != 0) return failure("cuptiActivityFlushAll", code);
  size_t dropped = 0;
  if (const int code = functions_->dropped(nullptr, 0, &dropped); code != 0) return failure("cuptiActivityGetNumDroppedRecords", code);
  if (dropped > 0) return base::Error{fmt::format("CUPTI dropped {} records: its buffers were full; use --mode events", dropped)};
  ASSIGN_OR_RETURN(const auto full, Buffers::take());
  return read_activity(full, functions_->next);
}

}  // namespace replay::cuda
