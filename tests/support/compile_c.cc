// Equal kernels stand in the text once: functions are named after the kernel's key.
#include "tests/support/compile_c.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "src/base/file.h"

namespace support {
namespace {

std::string symbol_of(const kernel::Kernel& kernel, size_t part) { return fmt::format("kernel_{}_{}", kernel.key, part); }

std::string text_of(std::span<replay::Plan* const> plans) {
  std::string text;
  std::set<std::string> seen;
  for (const replay::Plan* plan : plans) {
    for (const kernel::Kernel& kernel : plan->kernels) {
      if (!seen.insert(kernel.key).second) continue;
      for (size_t i = 0; i < kernel.parts.size(); ++i) text += fmt::format("#define {} {}\n", kernel.parts[i].symbol, symbol_of(kernel, i));
      text += kernel.code;
      for (const kernel::Part& part : kernel.parts) text += fmt::format("#undef {}\n", part.symbol);
    }
  }
  return text;
}

/// A new folder that goes with its content.
class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "kernels.XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

SharedObject::~SharedObject() { dlclose(handle_); }
void* SharedObject::find(const std::string& symbol) const { return dlsym(handle_, symbol.c_str()); }

base::Result<std::unique_ptr<SharedObject>> compile_c(std::span<replay::Plan* const> plans) {
  const Folder folder;
  if (folder.path().empty()) return base::Error{"no temporary folder can be made; set TMPDIR to one that can be written"};
  const std::string source = folder.path() / "kernels.c", object = folder.path() / "kernels.so", log = folder.path() / "log";
  std::ofstream(source) << text_of(plans);
  const char* compiler = std::getenv("CC");
  const std::string command =
      fmt::format("{} -std=gnu11 -O0 -w -ffp-contract=off -fno-strict-aliasing -fPIC -shared -o '{}' '{}' -lm >'{}' 2>&1",
                  compiler != nullptr ? compiler : "cc", object, source, log);
  if (std::system(command.c_str()) != 0) {
    ASSIGN_OR_RETURN(const std::string said, base::read_file(log));
    return base::Error{"cc: " + said};
  }
  void* handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return base::Error{dlerror()};
  auto shared = std::make_unique<SharedObject>(handle);
  for (replay::Plan* plan : plans) {
    for (kernel::Kernel& kernel : plan->kernels) {
      for (size_t i = 0; i < kernel.parts.size(); ++i) kernel.entries.push_back(shared->find(symbol_of(kernel, i)));
    }
  }
  return shared;
}

}  // namespace support
