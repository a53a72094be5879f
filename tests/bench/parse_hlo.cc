// How long a text takes to become an ir::Module, and how much memory the module keeps: parse_hlo FILE [REPEATS]. Prints one JSON line.
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "importers/hlo/hlo.h"
#include "src/base/file.h"
#include "src/ir/print.h"
#include "src/ir/verify.h"

namespace {

size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// Resident memory of the process now (VmRSS), or its highest since the last reset (VmHWM).
size_t resident_bytes(const char* field) {
  std::FILE* status = std::fopen("/proc/self/status", "r");
  char line[128];
  size_t kib = 0;
  while (status != nullptr && std::fgets(line, sizeof line, status) != nullptr) {
    if (std::strncmp(line, field, std::strlen(field)) == 0) kib = std::strtoull(line + std::strlen(field) + 1, nullptr, 10);
  }
  if (status != nullptr) std::fclose(status);
  return kib * 1024;
}

/// Makes VmHWM count from now on.
void reset_peak() {
  malloc_trim(0);
  if (std::FILE* refs = std::fopen("/proc/self/clear_refs", "w")) std::fputs("5", refs), std::fclose(refs);
}

/// CPU time of this thread: other work on the machine does not count.
double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

template <typename Call>
double median_ms(int repeats, Call call) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const double begin = cpu_ms();
    call();
    times.push_back(cpu_ms() - begin);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "samples/bert_pretrain_step.hlo.txt";
  const int repeats = argc > 2 ? std::max(1, std::atoi(argv[2])) : 21;
  const auto text = base::read_file(path);
  if (!text.ok()) return std::fprintf(stderr, "%s\n", text.error().message.c_str()), 1;
  reset_peak();
  const size_t before = heap_bytes(), resident = resident_bytes("VmRSS");
  const auto module = importers::hlo::parse(*text, path);
  const size_t kept = heap_bytes() - before, peak = resident_bytes("VmHWM") - resident;
  if (!module.ok()) return std::fprintf(stderr, "%s\n", module.error().message.c_str()), 1;
  const double parse_ms = median_ms(repeats, [&] { (void)importers::hlo::parse(*text, path); });
  const double verify_ms = median_ms(repeats, [&] { (void)ir::verify(*module); });
  const double print_ms = median_ms(repeats, [&] { (void)ir::print(*module); });
  std::printf(
      "{\"file\": \"%s\", \"bytes\": %zu, \"repeats\": %d, \"parse_ms\": %.3f, \"verify_ms\": %.3f, \"print_ms\": %.3f, "
      "\"module_bytes\": %zu, \"module_bytes_per_byte\": %.2f, \"peak_bytes_per_byte\": %.2f}\n",
      path.c_str(), text->size(), repeats, parse_ms, verify_ms, print_ms, kept,
      static_cast<double>(kept) / static_cast<double>(text->size()), static_cast<double>(peak) / static_cast<double>(text->size()));
}
