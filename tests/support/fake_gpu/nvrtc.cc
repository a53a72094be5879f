// NVRTC: the text of a kernel as code of the host, by the system's compiler, with a function that runs a range of the blocks.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "tests/support/fake_gpu/gpu.h"

namespace fake_gpu {
namespace {

constexpr int kCompilation = 6, kInvalidOption = 5;
constexpr int kArchitectures[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

struct Program {
  std::string text, log, code;
};

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// "#define k0 k_add_0": the name under which a function is found.
std::string name_of(const std::string& text, const std::string& function) {
  const std::string define = "#define " + function + " ";
  const size_t at = text.find(define);
  if (at == std::string::npos) return function;
  const size_t begin = at + define.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// For "KERNEL(256) k0(const char* a0, char* a1) { …": what launches find, and what ptxas would say.
std::string runner_of(const std::string& text, const std::string& kernel, std::string& log) {
  const size_t close = kernel.find(')'), open = kernel.find('(', close), end = kernel.find(')', open);
  const std::string threads = kernel.substr(7, close - 7), function = kernel.substr(close + 2, open - close - 2);
  const std::string name = name_of(text, function);
  const size_t args = count(kernel.substr(open, end - open), "char*");
  const bool meets = count(kernel, "meet()") + count(kernel, "down(") + count(kernel, "leader(") > 0;
  std::string list;
  for (size_t k = 0; k < args; ++k) list += (k > 0 ? ", *(char**)p[" : "*(char**)p[") + std::to_string(k) + "]";
  log += "ptxas info    : Compiling entry function '" + name +
         "' for 'host'\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n" + "ptxas info    : Used 32 registers\n";
  return "extern \"C\" void " + name + "__run(void** p, i64 begin, i64 end) {\n  on_host::run(\"" + name + "\", begin, end, " + threads +
         ", " + (meets ? "true" : "false") + ", [&] { " + function + "(" + list + "); });\n}\nextern \"C\" { int " + name +
         "__args = " + std::to_string(args) + ", " + name + "__threads = " + threads + "; }\n";
}

std::string runners_of(const std::string& text, std::string& log) {
  std::string all;
  for (size_t at = text.find("\nKERNEL("); at != std::string::npos;) {
    const size_t next = text.find("\nKERNEL(", at + 1);
    all += runner_of(text, text.substr(at + 1, next - at - 1), log);
    at = next;
  }
  return all;
}

int compile(Program& program) {
  std::string folder = (std::filesystem::temp_directory_path() / "fake_nvrtc.XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return kCompilation;
  std::string log;
  const std::string runners = runners_of(program.text, log);
  const std::string& refused = Gpu::get().refused;
  const bool refuses = !refused.empty() && program.text.find(refused) != std::string::npos;
  std::ofstream(folder + "/kernel.cc") << program.text << runners << (refuses ? "#error \"refused\"\n" : "");
  const char* compiler = std::getenv("CXX");
  const std::string command = std::string(compiler != nullptr ? compiler : "c++") +
                              " -O1 -w -std=gnu++17 -ffp-contract=off -fno-strict-aliasing -fPIC -shared -I'" SOURCE_DIR
                              "' -include '" SOURCE_DIR "/tests/support/cuda_on_host.h' -o '" +
                              folder + "/kernel.so' '" + folder + "/kernel.cc' >'" + folder + "/log' 2>&1";
  const int failed = std::system(command.c_str());
  program.log = failed != 0 ? bytes_of(folder + "/log") : log;
  if (failed == 0) program.code = bytes_of(folder + "/kernel.so");
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return failed != 0 ? kCompilation : 0;
}

int called(const char* function) { return Gpu::get().called(function, Gpu::Library::other); }

}  // namespace
}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT: the functions below are C's

extern "C" {
int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 0, 0; }
int nvrtcGetNumSupportedArchs(int* number) { return *number = static_cast<int>(std::size(kArchitectures)), 0; }
int nvrtcGetSupportedArchs(int* list) { return std::copy(std::begin(kArchitectures), std::end(kArchitectures), list), 0; }
int nvrtcCreateProgram(void** program, const char* text, const char*, int, const char* const*, const char* const*) {
  if (const int failed = called(__func__); failed != 0) return failed;
  auto* made = new Program;
  made->text = text;
  return *program = made, 0;
}
int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  return *program = nullptr, 0;
}
int nvrtcCompileProgram(void* program, int options, const char* const* list) {
  if (const int failed = called(__func__); failed != 0) return failed;
  for (int k = 0; k < options; ++k)
    if (std::strncmp(list[k], "--gpu-architecture=", 19) == 0 &&
        std::ranges::find(kArchitectures, std::atoi(std::strchr(list[k], '_') + 1)) == std::end(kArchitectures))
      return kInvalidOption;
  return compile(*static_cast<Program*>(program));
}
int nvrtcGetCUBINSize(void* program, size_t* bytes) { return *bytes = static_cast<Program*>(program)->code.size(), 0; }
int nvrtcGetCUBIN(void* program, char* code) {
  const std::string& made = static_cast<Program*>(program)->code;
  return std::memcpy(code, made.data(), made.size()), 0;
}
int nvrtcGetPTXSize(void* program, size_t* bytes) { return nvrtcGetCUBINSize(program, bytes); }
int nvrtcGetPTX(void* program, char* code) { return nvrtcGetCUBIN(program, code); }
int nvrtcGetProgramLogSize(void* program, size_t* bytes) { return *bytes = static_cast<Program*>(program)->log.size() + 1, 0; }
int nvrtcGetProgramLog(void* program, char* log) {
  const std::string& text = static_cast<Program*>(program)->log;
  return std::memcpy(log, text.c_str(), text.size() + 1), 0;
}
const char* nvrtcGetErrorString(int code) {
  return code == kCompilation     ? "NVRTC_ERROR_COMPILATION"
         : code == kInvalidOption ? "NVRTC_ERROR_INVALID_OPTION"
                                  : "NVRTC_ERROR_INTERNAL_ERROR";
}
}
