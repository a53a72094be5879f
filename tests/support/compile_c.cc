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

/// Blocks begin … end - 1 of a grid, as the cpu device calls a part.
std::string block_runner(const kernel::Kernel& kernel, size_t part) {
  const int count = kernel.operands + kernel.outputs + (kernel.scratch_bytes > 0 ? 1 : 0);
  std::string args;
  for (int k = 0; k < count; ++k) args += fmt::format("{}(char*)args[{}]", k == 0 ? "" : ", ", k);
  return fmt::format(
      "extern \"C\" void {0}_blocks(void* const* args, int64_t begin, int64_t end, void*, int64_t) {{\n"
      "  on_host::run(\"{1} {2}\", begin, end, {3}, {4}, [&] {{ {0}({5}); }});\n}}\n",
      symbol_of(kernel, part), kernel.name, kernel.parts[part].symbol, kernel.parts[part].block_threads, kernel.parts[part].cooperates,
      args);
}

std::string text_of(std::span<replay::Plan* const> plans) {
  std::string text;
  std::set<std::string> seen;
  for (const replay::Plan* plan : plans) {
    for (const kernel::Kernel& kernel : plan->kernels) {
      if (!seen.insert(kernel.key).second) continue;
      for (size_t i = 0; i < kernel.parts.size(); ++i) text += fmt::format("#define {} {}\n", kernel.parts[i].symbol, symbol_of(kernel, i));
      text += kernel.code;
      for (const kernel::Part& part : kernel.parts) text += fmt::format("#undef {}\n", part.symbol);
      for (size_t i = 0; i < kernel.parts.size() && kernel.language == kernel::Language::cuda; ++i) text += block_runner(kernel, i);
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

/// How a language is compiled: the environment's name of the compiler, its usual name, what follows it.
struct Compiler {
  const char* variable;
  const char* name;
  const char* options;
  const char* suffix;  ///< of the symbols that the device calls
};

static base::Result<std::unique_ptr<SharedObject>> compile(std::span<replay::Plan* const> plans, const Compiler& how) {
  const Folder folder;
  if (folder.path().empty()) return base::Error{"no temporary folder can be made; set TMPDIR to one that can be written"};
  const std::string source = folder.path() / "kernels", object = folder.path() / "kernels.so", log = folder.path() / "log";
  std::ofstream(source) << text_of(plans);
  const char* compiler = std::getenv(how.variable);
  const std::string command = fmt::format("{} {} -O0 -w -ffp-contract=off -fno-strict-aliasing -fPIC -shared -o '{}' '{}' -lm >'{}' 2>&1",
                                          compiler != nullptr ? compiler : how.name, how.options, object, source, log);
  if (std::system(command.c_str()) != 0) {
    ASSIGN_OR_RETURN(const std::string said, base::read_file(log));
    return base::Error{fmt::format("{}: {}", how.name, said)};
  }
  void* handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return base::Error{dlerror()};
  auto shared = std::make_unique<SharedObject>(handle);
  for (replay::Plan* plan : plans) {
    for (kernel::Kernel& kernel : plan->kernels) {
      for (size_t i = 0; i < kernel.parts.size(); ++i) kernel.entries.push_back(shared->find(symbol_of(kernel, i) + how.suffix));
    }
  }
  return shared;
}

base::Result<std::unique_ptr<SharedObject>> compile_c(std::span<replay::Plan* const> plans) {
  return compile(plans, {"CC", "cc", "-std=gnu11 -x c", ""});
}

base::Result<std::unique_ptr<SharedObject>> compile_cuda(std::span<replay::Plan* const> plans) {
  return compile(plans, {"CXX", "c++",
                         "-std=gnu++17 -x c++ -I'" SOURCE_DIR "' -include '" SOURCE_DIR "/tests/support/cuda_on_host.h' '" SOURCE_DIR
                         "/tests/support/on_host.cc'",
                         "_blocks"});
}

void set_order(const SharedObject& object, Order order) {
  reinterpret_cast<void (*)(unsigned)>(object.find("on_host_start"))(static_cast<unsigned>(order));
}

std::string fault(const SharedObject& object) { return reinterpret_cast<const char* (*)()>(object.find("on_host_fault"))(); }

}  // namespace support
