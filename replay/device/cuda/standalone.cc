// The text between the kernels and the main is the same for all; what differs are tables: buffers, and launches that speak of them.
#include "replay/device/cuda/standalone.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <vector>

#include "replay/device/cuda/modules.h"
#include "replay/device/cuda/own_kernels.h"
#include "src/base/text.h"

namespace replay::cuda {
namespace {

constexpr std::string_view kHead = R"(#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

)";

constexpr std::string_view kMain = R"(
static void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
  std::exit(1);
}

static unsigned long long random_bits(unsigned long long n) {  // splitmix64
  n += 0x9e3779b97f4a7c15ull;
  n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
  n = (n ^ n >> 27) * 0x94d049bb133111ebull;
  return n ^ n >> 31;
}

/// Floats of either sign between 1/2 and 1 with all bits of their mantissa, integers from 0 to 3, truth values.
static std::vector<char> made(const Buffer& buffer) {
  std::vector<char> bytes(buffer.bytes);
  for (size_t k = 0; k + buffer.element <= bytes.size(); k += buffer.element) {
    const unsigned long long dice = random_bits(k);
    const unsigned long long bits = buffer.mantissa == 0 ? dice & buffer.mask
                                                         : (dice >> 63) << (8 * buffer.element - 1) | buffer.exponent << buffer.mantissa | (dice & buffer.mask);
    std::memcpy(&bytes[k], &bits, std::min<size_t>(buffer.element, sizeof bits));
  }
  return bytes;
}

int main() {
  std::vector<char*> b;
  for (const Buffer& buffer : kBuffers) {
    char* data = nullptr;
    check(cudaMalloc(&data, buffer.bytes + 256), "cudaMalloc");
    const std::vector<char> bytes = made(buffer);
    check(cudaMemcpy(data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), buffer.name);
    b.push_back(data);
  }
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> us;
  for (int pass = 0; pass < 23; ++pass) {
    check(cudaEventRecord(begin), "cudaEventRecord");
    launch(b.data());
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), "the kernel");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    if (pass >= 3) us.push_back(ms * 1000);
  }
  std::sort(us.begin(), us.end());
  std::printf("%s: median %.2f us, least %.2f us of %zu passes\n", kName, us[us.size() / 2], us[0], us.size());
  return 0;
}
)";

/// Bits of a random element: where the exponent stands, what it is, which bits are random.
struct Bits {
  int mantissa = 0;
  unsigned long long exponent = 0, mask = 3;
};
Bits bits_of(ir::Type type) {
  switch (type) {
    case ir::Type::f16:
      return {10, 14, 0x3ff};
    case ir::Type::bf16:
      return {7, 126, 0x7f};
    case ir::Type::f32:
    case ir::Type::c64:
      return {23, 126, 0x7fffff};
    case ir::Type::f64:
    case ir::Type::c128:
      return {52, 1022, 0xfffffffffffffull};
    case ir::Type::pred:
      return {0, 0, 1};
    default:
      return {};
  }
}

class Program {
 public:
  Program(const Plan& plan, const Step& step) : plan_(plan), step_(step) {}

  base::Result<std::string> text() {
    if (step_.launches.empty())
      return base::Error{fmt::format("{}: it launches nothing ({}); choose a step of class kernel: --list-steps", step_.name,
                                     step_.why.empty() ? replay::text(step_.cls) : step_.why)};
    for (const Launch& launch : step_.launches) RETURN_IF_ERROR(add(launch));
    const std::string name = base::escaped(step_.name);
    return fmt::format("// Step {} of {}, written by profile extract.\n// nvcc -std=c++17 -O3 -arch=native -o step FILE.cu && ./step\n",
                       name, base::escaped(plan_.module->text(plan_.module->name))) +
           std::string(kHead) + kernels_ + tables() + "\nstatic void launch(char** b) {\n" + launches_ + "}\n" + std::string(kMain);
  }

 private:
  /// The number of a buffer in the program; those that share memory are one.
  size_t number(BufferId buffer) {
    const BufferId alias = plan_.buffers[static_cast<size_t>(buffer)].alias_of;
    return numbers_.emplace(alias >= 0 ? alias : buffer, numbers_.size()).first->second;
  }
  int64_t bytes(BufferId buffer) const { return plan_.buffers[static_cast<size_t>(buffer)].bytes; }

  base::Status add(const Launch& launch) {
    if (const auto* move = std::get_if<Copy>(&launch)) {
      launches_ += fmt::format("  cudaMemcpyAsync(b[{}], b[{}], {}, cudaMemcpyDeviceToDevice, 0);\n", number(move->to), number(move->from),
                               std::min(bytes(move->to), bytes(move->from)));
      return {};
    }
    if (const auto* set = std::get_if<Fill>(&launch)) {
      launches_ += fmt::format("  cudaMemsetAsync(b[{}], {}, {}, 0);\n", number(set->to), set->byte, bytes(set->to));
      return {};
    }
    if (const auto* call = std::get_if<KernelCall>(&launch)) {
      add_kernel(plan_.kernels[static_cast<size_t>(call->kernel)], args_of(launch));
      return {};
    }
    ASSIGN_OR_RETURN(const kernel::Kernel kernel, own_kernel(launch));
    add_kernel(kernel, args_of(launch));
    return {};
  }

  void add_kernel(const kernel::Kernel& kernel, const std::vector<BufferId>& args) {
    if (seen_.insert(kernel.key).second) {
      kernels_ += named_text(kernel);
      for (const kernel::Part& part : kernel.parts) kernels_ += fmt::format("#undef {}\n", part.symbol);
    }
    std::string list;
    for (const BufferId arg : args) list += fmt::format("{}&b[{}]", list.empty() ? "" : ", ", number(arg));
    for (size_t i = 0; i < kernel.parts.size(); ++i) {
      const kernel::Part& part = kernel.parts[i];
      const bool nothing =
          part.same[0] >= 0 && number(args[static_cast<size_t>(part.same[0])]) == number(args[static_cast<size_t>(part.same[1])]);
      if (nothing || part.count == 0) continue;
      launches_ += fmt::format(
          "  {{\n    void* args[] = {{{}}};\n    check(cudaLaunchKernel((const void*){}, dim3({}), dim3({}), args, 0, 0), \"{}\");\n  }}\n",
          list, symbol_of(kernel, i), part.count, part.block_threads, symbol_of(kernel, i));
    }
  }

  std::string tables() const {
    std::vector<std::string> lines(numbers_.size());
    for (const auto& [buffer, number] : numbers_) {
      const Buffer& b = plan_.buffers[static_cast<size_t>(buffer)];
      const Bits bits = bits_of(b.shape.type);
      const bool halves = b.shape.type == ir::Type::c64 || b.shape.type == ir::Type::c128;
      lines[number] =
          fmt::format("    {{\"{}\", {}, {}, {}, {}ull, {:#x}ull}},\n", base::escaped(b.name), b.bytes,
                      std::max<int64_t>(1, ir::bytes(b.shape.type) / (halves ? 2 : 1)), bits.mantissa, bits.exponent, bits.mask);
    }
    std::string table;
    for (const std::string& line : lines) table += line;
    return fmt::format(
        "\nstatic const char* const kName = \"{}\";\nstruct Buffer {{\n  const char* name;\n  size_t bytes, element;\n  int mantissa;  // "
        "0: an "
        "integer\n  unsigned long long exponent, mask;\n}};\nstatic const Buffer kBuffers[] = {{\n{}}};\nstatic void check(cudaError_t "
        "code, const char* "
        "what);\n",
        base::escaped(step_.name), table);
  }

  const Plan& plan_;
  const Step& step_;
  std::map<BufferId, size_t> numbers_;
  std::set<std::string> seen_;
  std::string kernels_, launches_;
};

}  // namespace

base::Result<std::string> standalone_program(const Plan& plan, const Step& step) { return Program(plan, step).text(); }

}  // namespace replay::cuda
