// What calls count, fail and leave behind.
#include "tests/support/fake_gpu/gpu.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "tests/support/fake_gpu/errors.h"

namespace fake_gpu {
namespace {

std::string report_file;

void write_report() {
  if (FILE* file = std::fopen(report_file.c_str(), "w"); file != nullptr) {
    std::fputs(Gpu::get().report().c_str(), file);
    std::fclose(file);
  }
}

int64_t host_ns() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Gpu& Gpu::get() {
  static Gpu* const gpu = [] {
    auto* made = new Gpu;
    if (const char* words = std::getenv("FAKE_GPU"); words != nullptr) made->plan(words);
    return made;
  }();
  return *gpu;
}

void Gpu::plan(const std::string& words) {
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    const std::string value = word.substr(word.find('=') + 1);
    if (word == "idle") idle = true;
    if (word.starts_with("free=")) free_bytes = static_cast<size_t>(std::atof(value.c_str()) * 1e9);
    if (word.starts_with("refuse=")) refused = value;
    if (word.starts_with("slow=")) slow_after = std::atoll(value.c_str());
    if (word.starts_with("report=")) {
      if (report_file.empty()) std::atexit(write_report);
      report_file = value;
    }
    if (word.starts_with("fail=")) {
      const size_t first = value.find(':'), second = value.find(':', first + 1);
      failures.push_back({value.substr(0, first), std::atoll(value.c_str() + first + 1), std::atoi(value.c_str() + second + 1)});
    }
  }
}

int Gpu::called(const char* function, Library library) {
  const std::lock_guard guard(lock);
  const int64_t count = ++calls[function];
  if (lost != 0 && library == Library::driver) ++calls_when_lost[function];
  for (const Failure& failure : failures) {
    if (failure.function != function || failure.at != count) continue;
    if (library == Library::driver && stays(failure.code)) lost = failure.code;
    return failure.code;
  }
  return library == Library::driver ? lost : 0;
}

void* Gpu::add(Thing thing, size_t bytes) {
  const std::lock_guard guard(lock);
  static uintptr_t next = 0x1000;
  void* made = reinterpret_cast<void*>(next += 16);
  things[thing][made] = bytes;
  return made;
}

bool Gpu::remove(Thing thing, void* which) {
  const std::lock_guard guard(lock);
  return things[thing].erase(which) == 1;
}

bool Gpu::has(Thing thing, const void* which) const {
  const auto kind = things.find(thing);
  return kind != things.end() && kind->second.contains(const_cast<void*>(which));
}

int Gpu::put_call(int64_t kernels, int64_t duration_ns, const std::function<void()>& does) {
  for (int64_t k = 0; k < kernels; ++k) {
    api_called(++correlation);
    Work one{Ran::Kind::kernel, duration_ns, nullptr};
    if (k == 0 && !idle) one.run = [does] { return does(), 0; };
    if (const int failed = put(std::move(one)); failed != 0) return failed;
  }
  return 0;
}

int Gpu::put(Work work) {
  if (capturing == nullptr) return run(work, 0);
  capturing->push_back(std::move(work));
  return 0;
}

int Gpu::run(const Work& work, uint64_t node) {
  if (now_ns == 0) catch_up();
  Ran ran{work.kind, now_ns, now_ns + work.duration_ns, correlation, node};
  now_ns = ran.end_ns;
  const int failed = work.run ? work.run() : 0;
  if (failed != 0) lost = failed;
  if (work.event == nullptr) recorded(ran), counted(ran);
  return 0;  // a kernel's fault shows at the next call
}

void Gpu::catch_up() { now_ns = std::max(now_ns, host_ns()); }

std::string Gpu::report() const {
  std::ostringstream text;
  for (const auto& [function, count] : calls) text << function << " " << count << "\n";
  for (const auto& [function, count] : calls_when_lost) text << "when lost: " << function << " " << count << "\n";
  for (const auto& [thing, left] : things)
    if (!left.empty()) text << "left behind: " << left.size() << " " << kThings[static_cast<size_t>(thing)] << "\n";
  return text.str();
}

extern "C" void fake_gpu_plan(const char* words) {
  Gpu& gpu = Gpu::get();
  Gpu fresh;
  const std::lock_guard guard(gpu.lock);
  gpu.calls.clear();
  gpu.calls_when_lost.clear();
  gpu.things.clear();
  gpu.lost = 0;
  gpu.capturing = nullptr;
  gpu.idle = false;
  gpu.free_bytes = fresh.free_bytes;
  gpu.refused.clear();
  gpu.slow_after = fresh.slow_after;
  gpu.failures.clear();
  gpu.plan(words);
}

extern "C" const char* fake_gpu_report() {
  static std::string text;
  return (text = Gpu::get().report()).c_str();
}

}  // namespace fake_gpu
