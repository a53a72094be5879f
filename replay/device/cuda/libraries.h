// The libraries of a GPU run, opened when they are wanted: one binary serves machines with and without a GPU. Nothing here needs CUDA's
// headers, and nothing is linked: a program that names libcuda.so.1 does not start where there is no driver.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace replay::cuda {

enum class Library : uint8_t { driver, nvrtc, cupti, cublas_lt, cudnn, nvml };

/// How libraries are opened: the dynamic loader's functions, or a test's.
struct Opener {
  void* (*open)(const char* file);                   ///< null: not there
  void* (*find)(void* library, const char* symbol);  ///< null: not there
  std::string (*why)();                              ///< the last failure of `open`
};
/// Tries a name as the loader does, then CUDA_HOME, CUDA_PATH and /usr/local/cuda.
const Opener& system_opener();

struct Presence {
  std::string_view name, about;
  std::string file;             ///< that was opened; empty: none
  std::string version;          ///< as the library says it: "13.0"
  std::string why;              ///< what makes it useless, in one sentence; empty: usable
  std::string_view without_it;  ///< what its absence costs, in one sentence
  bool usable() const { return why.empty(); }
};
Presence look_at(Library library, const Opener& opener);
/// All of them, in the order of the enum.
std::vector<Presence> survey(const Opener& opener);

/// An opened library; null if no name opens.
struct Opened {
  void* handle = nullptr;
  std::string file, why;
};
Opened open_library(Library library, const Opener& opener);

/// "13.0": CUDA's headers that this program was built with; empty: none.
std::string_view headers_version();

}  // namespace replay::cuda
