// A GPU for tests, on the host: libraries under the names of NVIDIA's (libcuda.so.1, libcupti.so.13, libnvrtc.so.13, libcublasLt.so.13,
// libcudnn.so.9), all of them this one, that the program opens as it opens theirs. Memory is memory of the host between pages that cannot
// be touched, machine code is code of the host, made from the same text (tests/support/cuda_on_host.h), and time is counted, not measured:
// 2 µs a launch and 1 ns a block.
//
// What a test wants to happen it says in the environment, or by fake_gpu_plan(): words separated by spaces,
//
//   fail=cuLaunchKernel:3:700   the third call of the function gives the error 700; errors of kernels (700 …) stay (errors.h)
//   idle                        launches are checked, counted and timed, but compute nothing
//   slow=N                      clocks fall after N readings: the card draws too much
//   free=GB                     memory that is free at first, of 80
//   refuse=WORD                 NVRTC finds an error in every text with this word in it; no metric with it in its name is known
//   report=FILE                 when the process ends: calls by function, those after an error that stays, and what was not given back
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace fake_gpu {

using Address = unsigned long long;

/// One of the kinds of things that are made and have to be given back.
enum class Thing : uint8_t { memory, module, stream, event, graph, instance, context, library, description, counter_host, profiler };
inline constexpr const char* kThings[] = {"memory",  "module",  "stream",      "event",        "graph",   "instance",
                                          "context", "library", "description", "counter_host", "profiler"};

/// A kernel, a copy or a fill that ran: what a record of CUPTI tells.
struct Ran {
  enum class Kind : uint8_t { kernel, copy, fill } kind = Kind::kernel;
  int64_t begin_ns = 0, end_ns = 0;
  uint32_t correlation = 0;
  uint64_t node = 0;  ///< of a graph; 0: none
};
/// What a stream does: now, or whenever the graph that it was captured into is launched.
struct Work {
  Ran::Kind kind = Ran::Kind::kernel;
  int64_t duration_ns = 0;
  std::function<int()> run;  ///< the number of the error that it makes, or 0
  void* event = nullptr;     ///< not null: records this event, and is nothing else
};

struct Gpu {
  std::mutex lock;
  bool idle = false;
  int64_t slow_after = -1;  ///< readings of clocks; -1: never
  size_t free_bytes = size_t{80} << 30;
  std::string refused;  ///< word of texts that do not compile; empty: none
  std::map<std::string, int64_t> calls, calls_when_lost;
  std::map<Thing, std::map<void*, size_t>> things;
  int lost = 0;  ///< the error that stays; 0: none
  int64_t now_ns = 0;
  uint32_t correlation = 0;
  std::vector<Work>* capturing = nullptr;

  static Gpu& get();
  /// What the call of a function shall give: 0, or an error that was asked for, or that stays for the driver's. Counts the call.
  enum class Library : uint8_t { driver, other };
  int called(const char* function, Library library = Library::driver);
  void plan(const std::string& words);
  void* add(Thing thing, size_t bytes = 0);
  bool remove(Thing thing, void* which);
  bool has(Thing thing, const void* which) const;
  /// Into the stream: runs, or is captured.
  int put(Work work);
  /// A library's call of several kernels, each its own launch in CUPTI's records; the first does the work, unless the GPU is idle.
  int put_call(int64_t kernels, int64_t duration_ns, const std::function<void()>& does);
  /// Is it all in one piece of memory that was allocated?
  static bool inside(Address at, size_t bytes);
  int run(const Work& work, uint64_t node);
  /// The GPU's clock is the host's where it was waited for; in between only what runs takes time.
  void catch_up();
  std::string report() const;

  struct Failure {
    std::string function;
    int64_t at;
    int code;
  };
  std::vector<Failure> failures;
};

/// For CUPTI.
void recorded(const Ran& ran);
void counted(const Ran& ran);
void api_called(uint32_t correlation);

}  // namespace fake_gpu
