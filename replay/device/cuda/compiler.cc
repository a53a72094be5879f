// NVRTC's functions, declared by hand: a program is an address, a result a number that is 0 where all went well. ptxas' report of registers
// and spills arrives in the program's log.
#include "replay/device/cuda/compiler.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <span>

#include "src/base/text.h"

namespace replay::cuda {

struct Compiler::Functions {
  int (*version)(int*, int*) = nullptr;
  int (*count_architectures)(int*) = nullptr;
  int (*list_architectures)(int*) = nullptr;
  int (*create)(void**, const char* text, const char* name, int headers, const char* const*, const char* const*) = nullptr;
  int (*destroy)(void**) = nullptr;
  int (*compile)(void*, int options, const char* const*) = nullptr;
  int (*code_size)(void*, size_t*) = nullptr;
  int (*code)(void*, char*) = nullptr;
  int (*ptx_size)(void*, size_t*) = nullptr;
  int (*ptx)(void*, char*) = nullptr;
  int (*log_size)(void*, size_t*) = nullptr;
  int (*log)(void*, char*) = nullptr;
  const char* (*error)(int) = nullptr;
};

namespace {

/// Of the notes of a library: each has the lengths of its name and of its content, a type, and both, padded to 4 bytes.
std::string build_id_in(std::string_view notes) {
  const auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes.data(), sizeof head);
    const size_t content = sizeof head + padded(head.n_namesz), end = content + padded(head.n_descsz);
    if (end > notes.size()) break;
    std::string id;
    for (const char c : notes.substr(content, head.n_descsz)) id += fmt::format("{:02x}", static_cast<unsigned char>(c));
    if (head.n_type == NT_GNU_BUILD_ID) return id;
    notes.remove_prefix(end);
  }
  return "";
}

/// Without --no-cache NVRTC looks for a driver, to keep a cache of its own.
constexpr const char* kOptions[] = {"--std=c++17", "--no-cache", "--ptxas-options=-v"};

/// The build id of the library that holds an address, as hexadecimal digits; "": it has none.
std::string build_id_of(const void* address) {
  struct Search {
    uintptr_t address;
    std::string found;
  } search{reinterpret_cast<uintptr_t>(address), ""};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        auto& looked_for = *static_cast<Search*>(to);
        const std::span segments(info->dlpi_phdr, info->dlpi_phnum);
        const bool here = std::ranges::any_of(segments, [&](const ElfW(Phdr) & s) {
          return s.p_type == PT_LOAD && looked_for.address - (info->dlpi_addr + s.p_vaddr) < s.p_memsz;
        });
        if (!here) return 0;
        for (const auto& s : segments)
          if (s.p_type == PT_NOTE) looked_for.found = build_id_in({reinterpret_cast<const char*>(info->dlpi_addr + s.p_vaddr), s.p_memsz});
        return 1;
      },
      &search);
  return search.found;
}

/// A program that goes with its scope.
template <typename Functions>
struct Program {
  const Functions& functions;
  void* handle = nullptr;
  ~Program() {
    if (handle != nullptr) functions.destroy(&handle);
  }
};

/// The number before `word`, which follows `after`: "Used 14 registers".
int64_t number_before(std::string_view line, std::string_view word) {
  const size_t at = line.find(word);
  if (at == std::string_view::npos) return 0;
  size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int64_t value = 0;
  std::from_chars(line.data() + begin, line.data() + at, value);
  return value;
}

/// Of a log, the first line that names an error; "": none does.
std::string first_error(std::string_view log) {
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.find("error") != std::string_view::npos) return base::escaped(line);
  }
  return "";
}

}  // namespace

std::string Architecture::text() const { return fmt::format("{}_{}", ptx ? "compute" : "sm", number); }

base::Result<Architecture> architecture_for(int major, int minor, const std::vector<int>& known) {
  const int own = 10 * major + minor;
  int machine = 0, older = 0;
  for (const int candidate : known) {
    if (candidate > own) continue;
    older = std::max(older, candidate);
    if (candidate / 10 == major) machine = std::max(machine, candidate);
  }
  if (machine != 0) return Architecture{machine, false};
  if (older != 0) return Architecture{older, true};
  return base::Error{fmt::format("compiles for nothing as old as sm_{}", own), base::Exit::missing_capability};
}

std::vector<Usage> read_usage(std::string_view log) {
  constexpr std::string_view kEntry = "Compiling entry function '";
  std::vector<Usage> found;
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (const size_t at = line.find(kEntry); at != std::string_view::npos) {
      const std::string_view name = line.substr(at + kEntry.size());
      found.push_back({std::string(name.substr(0, name.find('\'')))});
    }
    if (found.empty()) continue;
    Usage& usage = found.back();
    // Lines of functions that are called (a long division, a slow sine) stand with their caller: its own numbers may not hide theirs.
    usage.stack_bytes = std::max(usage.stack_bytes, number_before(line, " bytes stack frame"));
    usage.spill_store_bytes = std::max(usage.spill_store_bytes, number_before(line, " bytes spill stores"));
    usage.spill_load_bytes = std::max(usage.spill_load_bytes, number_before(line, " bytes spill loads"));
    usage.registers = std::max(usage.registers, static_cast<int>(number_before(line, " registers")));
    usage.shared_bytes = std::max(usage.shared_bytes, number_before(line, " bytes smem"));
  }
  return found;
}

Compiler::Compiler(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {}
Compiler::~Compiler() = default;

base::Result<std::unique_ptr<Compiler>> Compiler::open(const Opener& opener) {
  const Opened library = open_library(Library::nvrtc, opener);
  if (library.handle == nullptr) return base::Error{"NVRTC: " + library.why, base::Exit::missing_capability};
  auto functions = std::make_unique<Functions>();
  std::string missing;
  const auto find = [&](auto*& to, const char* symbol) {
    to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(opener.find(library.handle, symbol));
    if (to == nullptr && missing.empty()) missing = symbol;
  };
  find(functions->version, "nvrtcVersion");
  find(functions->count_architectures, "nvrtcGetNumSupportedArchs");
  find(functions->list_architectures, "nvrtcGetSupportedArchs");
  find(functions->create, "nvrtcCreateProgram");
  find(functions->destroy, "nvrtcDestroyProgram");
  find(functions->compile, "nvrtcCompileProgram");
  find(functions->code_size, "nvrtcGetCUBINSize");
  find(functions->code, "nvrtcGetCUBIN");
  find(functions->ptx_size, "nvrtcGetPTXSize");
  find(functions->ptx, "nvrtcGetPTX");
  find(functions->log_size, "nvrtcGetProgramLogSize");
  find(functions->log, "nvrtcGetProgramLog");
  find(functions->error, "nvrtcGetErrorString");
  if (!missing.empty())
    return base::Error{fmt::format("NVRTC: {} has no function {}", library.file, missing), base::Exit::missing_capability};
  return std::unique_ptr<Compiler>(new Compiler(std::move(functions)));
}

std::vector<int> Compiler::architectures() const {
  int count = 0;
  if (functions_->count_architectures(&count) != 0 || count <= 0) return {};
  std::vector<int> list(static_cast<size_t>(count));
  return functions_->list_architectures(list.data()) == 0 ? list : std::vector<int>();
}

std::string Compiler::version() const {
  int major = 0, minor = 0;
  functions_->version(&major, &minor);
  return fmt::format("{}.{}", major, minor);
}

std::string Compiler::identity() const {
  return fmt::format("NVRTC {} {} {}", version(), build_id_of(reinterpret_cast<const void*>(functions_->compile)),
                     fmt::join(kOptions, " "));
}

base::Result<Machine> Compiler::compile(const std::string& text, const Architecture& architecture) const {
  const Functions& f = *functions_;
  const auto begin = std::chrono::steady_clock::now();
  Program<Functions> program{f};
  if (const int failed = f.create(&program.handle, text.c_str(), "kernel.cu", 0, nullptr, nullptr); failed != 0)
    return base::Error{fmt::format("NVRTC: {}", f.error(failed))};
  const std::string arch = "--gpu-architecture=" + architecture.text();
  std::vector<const char*> options{arch.c_str()};
  options.insert(options.end(), std::begin(kOptions), std::end(kOptions));
  const int failed = f.compile(program.handle, static_cast<int>(options.size()), options.data());
  Machine made;
  size_t size = 0;
  if (f.log_size(program.handle, &size) == 0 && size > 1) {
    made.log.resize(size);
    f.log(program.handle, made.log.data());
    made.log.resize(size - 1);
  }
  if (failed != 0) {
    const std::string line = first_error(made.log);
    return base::Error{fmt::format("NVRTC, {}: {}", architecture.text(), line.empty() ? f.error(failed) : line)};
  }
  if ((architecture.ptx ? f.ptx_size : f.code_size)(program.handle, &size) != 0) return base::Error{"NVRTC gives no code"};
  made.code.resize(size);
  (architecture.ptx ? f.ptx : f.code)(program.handle, made.code.data());
  made.usage = read_usage(made.log);
  made.compile_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  return made;
}

}  // namespace replay::cuda
