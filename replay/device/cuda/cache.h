// Machine code kept on disk: NVRTC takes a tenth of a second a kernel, reading takes none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replay/device/cuda/compiler.h"

namespace replay::cuda {

class Cache {
 public:
  /// Files of `folder`, which is made when something is kept; "": nothing is found or kept.
  explicit Cache(std::string folder) : folder_(std::move(folder)) {}
  /// Nothing where there is no file, or one that is not whole. `compile_ns` of what is found is 0.
  std::optional<Machine> find(const std::string& key) const;
  /// Through a temporary file and a rename, so that several writers do no harm. What can't be written is not kept.
  void keep(const std::string& key, const Machine& machine) const;
  const std::string& folder() const { return folder_; }

 private:
  std::string path_of(const std::string& key) const;
  std::string folder_;
};

/// PROFILE_CACHE, or profile/cubins in the user's cache folder; "": there is none.
std::string cache_folder();
/// Changes with each of: text, architecture, and the compiler (its options, version and build).
std::string cache_key(std::string_view text, std::string_view architecture, std::string_view compiler);

}  // namespace replay::cuda
