// One row a library: its names in the order in which they are tried, and the one or two functions that tell whether it can be used. They
// are declared here by hand: numbers and addresses only.
#include "replay/device/cuda/libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <span>

namespace replay::cuda {
namespace {

/// A library in hand, and what its own functions say of it.
struct Handle {
  void* library;
  const Opener& opener;
  template <typename F>
  F* find(const char* symbol) const {
    return reinterpret_cast<F*>(opener.find(library, symbol));
  }
};

std::string lacks(std::string_view symbol) { return fmt::format("it has no function {}", symbol); }

/// CUDA counts 13.0 as 13000, or as 130000 in newer counts of cuDNN and cuBLAS.
std::string dotted(int64_t version, int64_t major) { return fmt::format("{}.{}", version / major, version % major / (major / 100)); }

constexpr int kStubLibrary = 34;  ///< the toolkit's stub under the driver's name: it fails in every call, also in the one that names errors

void ask_driver(const Handle& handle, Presence& presence) {
  const auto init = handle.find<int(unsigned)>("cuInit");
  const auto version = handle.find<int(int*)>("cuDriverGetVersion");
  const auto count = handle.find<int(int*)>("cuDeviceGetCount");
  const auto name = handle.find<int(int, const char**)>("cuGetErrorName");
  if (init == nullptr || version == nullptr || count == nullptr) {
    presence.why = lacks("cuInit, cuDriverGetVersion or cuDeviceGetCount");
    return;
  }
  if (const int failed = init(0); failed != 0) {
    const char* text = nullptr;
    const bool named = name != nullptr && name(failed, &text) == 0 && text != nullptr;
    if (!named && failed == kStubLibrary) text = "CUDA_ERROR_STUB_LIBRARY";
    presence.why = fmt::format("cuInit fails with {}{}", failed, text != nullptr ? fmt::format(" ({})", text) : "");
    return;
  }
  int number = 0, devices = 0;
  if (version(&number) == 0) presence.version = fmt::format("CUDA {}.{}", number / 1000, number % 1000 / 10);
  if (count(&devices) != 0 || devices == 0) presence.why = "it finds no GPU";
}

void ask_nvrtc(const Handle& handle, Presence& presence) {
  const auto version = handle.find<int(int*, int*)>("nvrtcVersion");
  int major = 0, minor = 0;
  if (version == nullptr || version(&major, &minor) != 0)
    presence.why = lacks("nvrtcVersion");
  else
    presence.version = fmt::format("{}.{}", major, minor);
}

void ask_cupti(const Handle& handle, Presence& presence) {
  const auto version = handle.find<int(uint32_t*)>("cuptiGetVersion");
  uint32_t number = 0;
  if (version == nullptr || version(&number) != 0)
    presence.why = lacks("cuptiGetVersion");
  else
    presence.version = fmt::format("API {}", number);
}

void ask_cublas_lt(const Handle& handle, Presence& presence) {
  const auto version = handle.find<size_t()>("cublasLtGetVersion");
  if (version == nullptr)
    presence.why = lacks("cublasLtGetVersion");
  else
    presence.version = dotted(static_cast<int64_t>(version()), 10000);
}

void ask_cudnn(const Handle& handle, Presence& presence) {
  const auto version = handle.find<size_t()>("cudnnGetVersion");
  if (version == nullptr)
    presence.why = lacks("cudnnGetVersion");
  else
    presence.version = dotted(static_cast<int64_t>(version()), 10000);
}

void ask_nvml(const Handle& handle, Presence& presence) {
  const auto init = handle.find<int()>("nvmlInit_v2");
  const auto version = handle.find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  if (init == nullptr || version == nullptr) {
    presence.why = lacks("nvmlInit_v2 or nvmlSystemGetDriverVersion");
    return;
  }
  if (const int failed = init(); failed != 0) {
    presence.why = fmt::format("nvmlInit_v2 fails with {}", failed);
    return;
  }
  std::array<char, 96> text{};
  if (version(text.data(), static_cast<unsigned>(text.size())) == 0) presence.version = fmt::format("driver {}", text.data());
}

struct Row {
  std::string_view name, about;
  std::array<const char*, 3> files;  ///< in the order in which they are tried
  void (*ask)(const Handle&, Presence&);
  std::string_view without_it;
};
constexpr Row kRows[] = {
    {"driver", "runs programs on the GPU", {"libcuda.so.1"}, ask_driver, "nothing runs on a GPU; --device auto takes the CPU"},
    {"NVRTC",
     "compiles kernels",
     {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"},
     ask_nvrtc,
     "kernels cannot be compiled; those that were compiled before can be run"},
    {"CUPTI",
     "times of kernels, and counters",
     {"libcupti.so.13", "libcupti.so.12", "libcupti.so"},
     ask_cupti,
     "times come from events, which say little of short steps, and there are no counters"},
    {"cuBLASLt",
     "matrix products",
     {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"},
     ask_cublas_lt,
     "matrix products run as kernels of ours, and cannot be measured as a framework runs them"},
    {"cuDNN",
     "convolutions",
     {"libcudnn.so.9", "libcudnn.so"},
     ask_cudnn,
     "convolutions run as kernels of ours, and cannot be measured as a framework runs them"},
    {"NVML", "clocks, power, throttling", {"libnvidia-ml.so.1"}, ask_nvml, "clocks, power and throttling are not recorded"},
};

/// Keeps symbols apart from those of other libraries; what is opened stays open.
void* load(const char* file) { return dlopen(file, RTLD_NOW | RTLD_LOCAL); }

std::string last_failure() {
  const char* text = dlerror();
  return text != nullptr ? text : "";
}

/// Folders beside the loader's own.
std::vector<std::string> folders() {
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable); root != nullptr && *root != '\0') roots.emplace_back(root);
  roots.emplace_back("/usr/local/cuda");
  std::vector<std::string> found;
  for (const std::string& root : roots)
    for (const char* folder : {"/lib64/", "/extras/CUPTI/lib64/"}) found.push_back(root + folder);
  return found;
}

}  // namespace

const Opener& system_opener() {
  static constexpr Opener kOpener{load, dlsym, last_failure};
  return kOpener;
}

std::string_view headers_version() { return PROFILE_CUDA_HEADERS; }

Opened open_library(Library library, const Opener& opener) {
  Opened opened;
  for (const char* file : kRows[static_cast<size_t>(library)].files) {
    if (file == nullptr) break;
    opened.handle = opener.open(file);
    if (opened.why.empty()) opened.why = opener.why();
    opened.file = file;
    for (const std::string& folder : folders()) {
      if (opened.handle != nullptr || library == Library::driver || library == Library::nvml) break;  // these come with the driver
      opened.file = folder + file;
      opened.handle = opener.open(opened.file.c_str());
    }
    if (opened.handle != nullptr) return {opened.handle, opened.file, ""};
  }
  return {nullptr, "", opened.why.empty() ? "it cannot be opened" : opened.why};
}

Presence look_at(Library library, const Opener& opener) {
  const Row& row = kRows[static_cast<size_t>(library)];
  Presence presence{row.name, row.about, "", "", "", row.without_it};
  const Opened opened = open_library(library, opener);
  presence.file = opened.file;
  presence.why = opened.why;
  if (opened.handle != nullptr) row.ask({opened.handle, opener}, presence);
  return presence;
}

std::vector<Presence> survey(const Opener& opener) {
  std::vector<Presence> found;
  for (size_t k = 0; k < std::size(kRows); ++k) found.push_back(look_at(static_cast<Library>(k), opener));
  return found;
}

}  // namespace replay::cuda
