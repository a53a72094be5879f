// Each step alone is made smaller and planned anew, for a GPU that is smaller as well, so that its kernels are of the classes of the full
// ones: vectors, blocks that share a row, partial results.
#include "tests/cuda_text/host_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <vector>

#include "src/base/clock.h"
#include "src/ir/verify.h"
#include "tests/cuda_text/on_host.h"
#include "tests/support/shrink.h"

namespace cuda_text {
namespace {

constexpr int64_t kMostElements = 1 << 16;
constexpr size_t kOfObject = 100;                       ///< kernels of a shared object
constexpr int kMultiprocessors[] = {132, 32, 8, 2, 1};  ///< of the GPUs that kernels are planned for

/// "rows 256 x8; map 64": classes of the parts, threads of their blocks, the widest vector.
std::string class_of(const kernel::Kernel& kernel) {
  if (kernel.list.empty()) return kernel.name.substr(0, kernel.name.find('_'));  // one of the device's own
  std::string words;
  for (const kernel::Part& part : kernel.parts) {
    const size_t at = kernel.list.find(part.symbol + " ") + part.symbol.size() + 1;
    words += fmt::format("{} {}; ", kernel.list.substr(at, kernel.list.find(':', at) - at), part.block_threads);
  }
  for (const int lanes : {8, 4, 2})
    if (kernel.code.find(fmt::format(", {}> v", lanes), kernel.code.find("KERNEL(", kernel.code.find("#endif"))) != std::string::npos)
      return words + fmt::format("x{}", lanes);
  return words;
}

/// As many of the first characters as they share: how near a class is to another.
size_t alike(const std::string& a, const std::string& b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin()) + (a == b ? 1 : 0);
}

struct Candidate {
  std::unique_ptr<Planned> planned;
  Shown shown;
};

/// The step at a smaller size, for the GPU with which its kernels are most like the full one.
base::Result<Candidate> smaller(const Distinct& one, const OnHost& host) {
  const ir::Module module = support::shrunk(*one.step, kMostElements);
  if (const auto findings = ir::verify(module); !findings.empty())
    return base::Error{"made smaller, it is no valid module: " + findings.front().what};
  const std::string wanted = class_of(one.kernel);
  Candidate best;
  size_t most = 0;
  for (const int multiprocessors : kMultiprocessors) {
    ASSIGN_OR_RETURN(auto made, planned(module, host.target(multiprocessors)));
    std::string found;
    for (const kernel::Kernel& kernel : made->plan.kernels)
      if (found.empty() || alike(class_of(kernel), wanted) > alike(found, wanted)) found = class_of(kernel);
    if (found.empty()) return base::Error{"made smaller, it has no kernel"};
    if (best.planned != nullptr && alike(found, wanted) <= most) continue;
    most = alike(found, wanted);
    best = {std::move(made), {support::largest_array(module), found == wanted, 0, ""}};
    if (best.shown.same_class) break;
  }
  return best;
}

/// Kernels that are compiled together, and whose they are.
struct Batch {
  OnHost host;
  std::vector<std::string> keys;  ///< by module of the host
  std::future<base::Status> compiled{};
};

class Runner {
 public:
  void add(const Distinct& one) {
    if (batch_ == nullptr) batch_ = std::make_unique<Batch>();
    auto made = smaller(one, batch_->host);
    Shown& shown = shown_[one.kernel.key];
    if (!made.ok()) {
      shown.fault = made.error().message;
      return;
    }
    shown = made->shown;
    std::string kernels;
    for (const kernel::Kernel& kernel : made->planned->plan.kernels) kernels += kernel.key + " ";
    const auto [first, fresh] = first_with_.emplace(kernels, one.kernel.key);
    if (!fresh) return void(same_as_.emplace(one.kernel.key, first->second));
    batch_->host.add(std::move(made->planned));
    batch_->keys.push_back(one.kernel.key);
    if (batch_->host.size() == kOfObject) flush();
  }
  std::map<std::string, Shown> finish() {
    if (batch_ != nullptr) flush();
    if (running_ != nullptr) run(*running_);
    for (const auto& [key, other] : same_as_) shown_[key].fault = shown_[other].fault;
    return std::move(shown_);
  }

 private:
  /// Compiles what has been collected while what was compiled before runs.
  void flush() {
    std::unique_ptr<Batch> next = std::exchange(batch_, nullptr);
    next->compiled = std::async(std::launch::async, [host = &next->host] { return host->compile(); });
    if (running_ != nullptr) run(*running_);
    running_ = std::move(next);
  }
  void run(Batch& batch) {
    const base::Status compiled = batch.compiled.get();
    for (size_t k = 0; k < batch.keys.size(); ++k) {
      Shown& shown = shown_[batch.keys[k]];
      const double begin = base::now_s();
      shown.fault = compiled.ok() ? batch.host.shows_alike(k) : compiled.error().message;
      shown.seconds = base::now_s() - begin;
    }
  }

  std::unique_ptr<Batch> batch_, running_;
  std::map<std::string, Shown> shown_;
  std::map<std::string, std::string> first_with_, same_as_;  ///< keys of kernels by those of the smaller ones; repetitions
};

}  // namespace

std::map<std::string, Shown> on_host(std::span<const Distinct* const> kernels) {
  Runner runner;
  for (const Distinct* one : kernels) runner.add(*one);
  return runner.finish();
}

}  // namespace cuda_text
