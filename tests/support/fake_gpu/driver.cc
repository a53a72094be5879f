// The driver: everything that a real one refuses is refused here, and memory is looked at before it is used.
#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/fake_gpu/errors.h"
#include "tests/support/fake_gpu/gpu.h"

extern "C" const char* on_host_fault();
extern "C" void on_host_start(unsigned order);

namespace fake_gpu {
namespace {

constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidContext = 201, kInvalidImage = 200, kInvalidHandle = 400, kNotFound = 500,
              kNotReady = 600, kIllegalAddress = 700, kCapture = 900;
constexpr size_t kPage = 4096, kPoisoned = size_t{256} << 20;
constexpr int kMultiprocessors = 132;

/// Machine code of the host as a library, or of a GPU, which is only looked at.
struct Module {
  void* library = nullptr;
  std::string image;
};
struct Function {
  std::string name;
  void (*run)(void**, long long, long long) = nullptr;
  int args = -1, threads = 0;  ///< -1: not known
};
struct Graph {
  std::vector<Work> work;
};

std::map<void*, Module> modules;
std::map<void*, std::unique_ptr<Function>> functions;
std::map<void*, std::unique_ptr<Graph>> graphs;
std::map<void*, int64_t> event_times;
std::map<Address, size_t> memory;
bool initialised = false;
void* current = nullptr;

Gpu& gpu() { return Gpu::get(); }

/// Is it all in one piece of memory?
bool inside(Address at, size_t bytes) {
  auto next = memory.upper_bound(at);
  if (next == memory.begin()) return false;
  --next;
  return at + bytes <= next->first + next->second;
}

std::string image_of(const void* data) {
  Elf64_Ehdr header;
  std::memcpy(&header, data, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "";
  const size_t sections = header.e_shoff + static_cast<size_t>(header.e_shnum) * header.e_shentsize;
  const size_t programs = header.e_phoff + static_cast<size_t>(header.e_phnum) * header.e_phentsize;
  return {static_cast<const char*>(data), std::max(sections, programs)};
}

bool is_of_host(const std::string& image) {
  Elf64_Half machine;
  std::memcpy(&machine, image.data() + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
  return machine == EM_X86_64;
}

/// From a path that no other had: the loader knows libraries by their paths. What was loaded once stays, for who loads it again.
bool open_image(Module& module) {
  static std::map<std::string, void*> loaded;
  void*& known = loaded[module.image];
  if (known != nullptr) return (module.library = known) != nullptr;
  std::string path = (std::filesystem::temp_directory_path() / "fake_gpu.XXXXXX").string();
  const int file = mkstemp(path.data());
  const std::string& image = module.image;
  const bool written = file >= 0 && write(file, image.data(), image.size()) == static_cast<ssize_t>(image.size());
  if (written) module.library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module.library == nullptr) std::fprintf(stderr, "fake GPU: %s\n", dlerror());
  if (file >= 0) close(file), unlink(path.c_str());
  return (known = module.library) != nullptr;
}

int64_t duration_of(unsigned blocks) { return 2000 + blocks; }
int64_t duration_of_bytes(size_t bytes) { return 2000 + static_cast<int64_t>(bytes / 2000); }

bool legal(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared) {
  return gx > 0 && gy > 0 && gz > 0 && gx < (1u << 31) && gy < 65536 && gz < 65536 && bx * by * bz > 0 && bx * by * bz <= 1024 &&
         bz <= 64 && shared <= 48 << 10;
}

int run_kernel(const Function& function, std::vector<Address> args, unsigned blocks) {
  std::vector<void*> params;
  for (Address& arg : args) params.push_back(&arg);
  on_host_start(0);
  function.run(params.data(), 0, blocks);
  if (*on_host_fault() == 0) return 0;
  std::fprintf(stderr, "fake GPU: %s\n", on_host_fault());
  return kIllegalAddress;
}

}  // namespace

bool Gpu::inside(Address at, size_t bytes) { return fake_gpu::inside(at, bytes); }

}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT: the functions below are C's

#define CALLED() \
  if (const int asked_for = gpu().called(__func__); asked_for != 0) return asked_for
#define OUTSIDE_CAPTURE() \
  if (gpu().capturing != nullptr) return kCapture

extern "C" {
int cuInit(unsigned) {
  CALLED();
  Dl_info self{};
  if (!initialised && dladdr(reinterpret_cast<void*>(cuInit), &self) != 0)
    dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);  // kernels find the host's threads in here
  initialised = true;
  return 0;
}
int cuDriverGetVersion(int* version) {
  CALLED();
  return *version = 13000, 0;
}
int cuDeviceGetCount(int* count) {
  CALLED();
  return *count = 1, 0;
}
int cuDeviceGet(int* device, int ordinal) {
  CALLED();
  return ordinal == 0 ? (*device = 0, 0) : 101;
}
int cuDeviceGetName(char* name, int bytes, int) {
  CALLED();
  std::snprintf(name, static_cast<size_t>(bytes), "fake GPU of the tests");
  return 0;
}
int cuDeviceGetPCIBusId(char* text, int bytes, int) {
  CALLED();
  std::snprintf(text, static_cast<size_t>(bytes), "0000:18:00.0");
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  CALLED();
  static const std::map<int, int> known{{10, 32}, {13, 1980000}, {16, kMultiprocessors}, {36, 2619000}, {37, 5120}, {38, 50 << 20},
                                        {75, 9},  {76, 0}};
  const auto found = known.find(attribute);
  return found != known.end() ? (*value = found->second, 0) : kInvalidValue;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  CALLED();
  return *bytes = size_t{80} << 30, 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  CALLED();
  return *context = gpu().add(Thing::context), 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  const int asked_for = gpu().called(__func__);
  auto& contexts = gpu().things[Thing::context];
  if (contexts.empty()) return kInvalidContext;
  gpu().remove(Thing::context, contexts.begin()->first);
  return asked_for;
}
int cuCtxSetCurrent(void* context) {
  CALLED();
  return current = context, 0;
}
int cuGetErrorName(int code, const char** text) {
  const auto found = std::ranges::find(errors(), code, &ErrorName::code);
  return found != errors().end() ? (*text = found->name, 0) : kInvalidValue;
}
int cuGetErrorString(int code, const char** text) {
  if (code != kIllegalAddress) return kInvalidValue;
  return *text = "an illegal memory access was encountered", 0;
}
int cuMemAlloc_v2(Address* address, size_t bytes) {
  CALLED();
  OUTSIDE_CAPTURE();
  if (bytes == 0) return kInvalidValue;
  const size_t pages = (bytes + kPage - 1) / kPage * kPage;
  void* mapping = mmap(nullptr, pages + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return kOutOfMemory;
  char* data = static_cast<char*>(mapping) + kPage;
  mprotect(data, pages, PROT_READ | PROT_WRITE);
  if (!gpu().idle && bytes < kPoisoned) std::memset(data, 0xcb, bytes);
  *address = reinterpret_cast<Address>(data);
  gpu().things[Thing::memory][data] = bytes;
  memory[*address] = bytes;
  return 0;
}
int cuMemFree_v2(Address address) {
  const int asked_for = gpu().called(__func__);
  const auto found = memory.find(address);
  if (found == memory.end()) return kInvalidValue;
  munmap(reinterpret_cast<char*>(address) - kPage, (found->second + kPage - 1) / kPage * kPage + 2 * kPage);
  gpu().remove(Thing::memory, reinterpret_cast<void*>(address));
  memory.erase(found);
  return asked_for;
}
int cuMemGetInfo_v2(size_t* free, size_t* total) {
  CALLED();
  size_t used = 0;
  for (const auto& [address, bytes] : memory) used += bytes;
  return *free = gpu().free_bytes - std::min(used, gpu().free_bytes), *total = size_t{80} << 30, 0;
}
int cuMemcpyHtoD_v2(Address to, const void* from, size_t bytes) {
  CALLED();
  OUTSIDE_CAPTURE();
  if (!inside(to, bytes)) return kInvalidValue;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, Address from, size_t bytes) {
  CALLED();
  OUTSIDE_CAPTURE();
  if (!inside(from, bytes)) return kInvalidValue;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void* stream) {
  CALLED();
  if (!gpu().has(Thing::stream, stream)) return kInvalidHandle;
  if (!inside(to, bytes) || !inside(from, bytes)) return kInvalidValue;
  api_called(++gpu().correlation);
  const bool idle = gpu().idle;
  return gpu().put({Ran::Kind::copy, duration_of_bytes(bytes), [=] {
                      if (!idle) std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
                      return 0;
                    }});
}
int cuMemsetD8Async(Address to, unsigned char byte, size_t bytes, void* stream) {
  CALLED();
  if (!gpu().has(Thing::stream, stream)) return kInvalidHandle;
  if (!inside(to, bytes)) return kInvalidValue;
  api_called(++gpu().correlation);
  const bool idle = gpu().idle;
  return gpu().put({Ran::Kind::fill, duration_of_bytes(bytes), [=] {
                      if (!idle) std::memset(reinterpret_cast<void*>(to), byte, bytes);
                      return 0;
                    }});
}
int cuModuleLoadData(void** module, const void* data) {
  CALLED();
  OUTSIDE_CAPTURE();
  Module made;
  made.image = image_of(data);
  if (made.image.empty()) return kInvalidImage;
  if (is_of_host(made.image) && !open_image(made)) return kInvalidImage;
  if (made.library == nullptr && !gpu().idle) return 209;  // code of a GPU can't be run here
  *module = gpu().add(Thing::module);
  modules[*module] = std::move(made);
  return 0;
}
int cuModuleUnload(void* module) {
  const int asked_for = gpu().called(__func__);
  if (!gpu().remove(Thing::module, module)) return kInvalidHandle;
  modules.erase(module);
  return asked_for;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  CALLED();
  const auto found = modules.find(module);
  if (found == modules.end()) return kInvalidHandle;
  auto made = std::make_unique<Function>();
  made->name = name;
  if (void* library = found->second.library; library != nullptr) {
    const auto symbol = [&](const char* end) { return dlsym(library, (made->name + end).c_str()); };
    if (symbol("__run") == nullptr) return kNotFound;
    made->run = reinterpret_cast<void (*)(void**, long long, long long)>(symbol("__run"));
    made->args = *static_cast<int*>(symbol("__args"));
    made->threads = *static_cast<int*>(symbol("__threads"));
  } else if (found->second.image.find(std::string(1, '\0') + name + '\0') == std::string::npos) {
    return kNotFound;
  }
  *function = made.get();
  functions[*function] = std::move(made);
  return 0;
}
int cuFuncGetAttribute(int* value, int attribute, void* function) {
  CALLED();
  if (!functions.contains(function)) return kInvalidHandle;
  return *value = attribute == 4 ? 32 : 0, 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads, size_t) {
  CALLED();
  if (!functions.contains(function) || threads <= 0) return kInvalidValue;
  return *blocks = 2048 / threads, 0;
}
int cuStreamCreate(void** stream, unsigned) {
  CALLED();
  return *stream = gpu().add(Thing::stream), 0;
}
int cuStreamDestroy_v2(void* stream) {
  const int asked_for = gpu().called(__func__);
  return gpu().remove(Thing::stream, stream) ? asked_for : kInvalidHandle;
}
int cuStreamSynchronize(void* stream) {
  CALLED();
  OUTSIDE_CAPTURE();
  gpu().catch_up();
  return gpu().has(Thing::stream, stream) ? 0 : kInvalidHandle;
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void* stream, void** params, void**) {
  CALLED();
  const auto found = functions.find(function);
  if (found == functions.end() || !gpu().has(Thing::stream, stream)) return kInvalidHandle;
  const Function& f = *found->second;
  if (!legal(gx, gy, gz, bx, by, bz, shared)) return kInvalidValue;
  if (f.threads != 0 && static_cast<unsigned>(f.threads) != bx) return 701;
  std::vector<Address> args;
  for (int k = 0; k < f.args; ++k) {
    args.push_back(*static_cast<Address*>(params[k]));
    if (args.back() != 0 && !inside(args.back(), 0)) return kIllegalAddress;
  }
  api_called(++gpu().correlation);
  Work work{Ran::Kind::kernel, duration_of(gx), nullptr};
  if (!gpu().idle && f.run != nullptr) work.run = [&f, args, gx] { return run_kernel(f, args, gx); };
  return gpu().put(std::move(work));
}
int cuEventCreate(void** event, unsigned) {
  CALLED();
  *event = gpu().add(Thing::event);
  event_times.erase(*event);
  return 0;
}
int cuEventDestroy_v2(void* event) {
  const int asked_for = gpu().called(__func__);
  return gpu().remove(Thing::event, event) ? asked_for : kInvalidHandle;
}
int cuEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  CALLED();
  if (!gpu().has(Thing::event, event) || !gpu().has(Thing::stream, stream)) return kInvalidHandle;
  if ((gpu().capturing != nullptr) != (flags == 1)) return kInvalidValue;
  Work work{Ran::Kind::kernel, 0, [event] { return event_times[event] = gpu().now_ns, 0; }};
  work.event = event;
  return gpu().put(std::move(work));
}
int cuEventElapsedTime(float* ms, void* from, void* to) {
  CALLED();
  if (!event_times.contains(from) || !event_times.contains(to)) return kNotReady;
  *ms = static_cast<float>(event_times[to] - event_times[from]) * 1e-6f;
  return 0;
}
int cuStreamBeginCapture_v2(void* stream, int) {
  CALLED();
  OUTSIDE_CAPTURE();
  if (!gpu().has(Thing::stream, stream)) return kInvalidHandle;
  gpu().capturing = new std::vector<Work>;
  return 0;
}
int cuStreamEndCapture(void*, void** graph) {
  const int asked_for = gpu().called(__func__);
  if (gpu().capturing == nullptr) return asked_for != 0 ? asked_for : kInvalidValue;
  const std::unique_ptr<std::vector<Work>> work(std::exchange(gpu().capturing, nullptr));
  if (asked_for != 0) return asked_for;
  *graph = gpu().add(Thing::graph);
  graphs[*graph] = std::make_unique<Graph>(Graph{*work});
  return 0;
}
int cuGraphInstantiateWithFlags(void** instance, void* graph, unsigned long long) {
  CALLED();
  if (!gpu().has(Thing::graph, graph)) return kInvalidHandle;
  *instance = gpu().add(Thing::instance);
  graphs[*instance] = std::make_unique<Graph>(*graphs[graph]);
  return 0;
}
int cuGraphUpload(void* instance, void*) {
  CALLED();
  return gpu().has(Thing::instance, instance) ? 0 : kInvalidHandle;
}
int cuGraphLaunch(void* instance, void*) {
  CALLED();
  if (!gpu().has(Thing::instance, instance)) return kInvalidHandle;
  api_called(++gpu().correlation);
  uint64_t node = reinterpret_cast<uint64_t>(instance) << 20;
  for (const Work& work : graphs[instance]->work) gpu().run(work, ++node);
  return 0;
}
int cuGraphExecDestroy(void* instance) {
  const int asked_for = gpu().called(__func__);
  graphs.erase(instance);
  return gpu().remove(Thing::instance, instance) ? asked_for : kInvalidHandle;
}
int cuGraphGetNodes(void* graph, void** nodes, size_t* count) {
  CALLED();
  if (!gpu().has(Thing::graph, graph) || nodes != nullptr) return kInvalidValue;
  return *count = graphs[graph]->work.size(), 0;
}
int cuGraphDestroy(void* graph) {
  const int asked_for = gpu().called(__func__);
  graphs.erase(graph);
  return gpu().remove(Thing::graph, graph) ? asked_for : kInvalidHandle;
}
}
