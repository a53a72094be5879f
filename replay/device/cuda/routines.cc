// Two rounds, because all calls share one workspace: first each is described and its algorithm chosen, then, with the largest workspace
// that any wants, each distinct one runs. That run finds out what a library says only when it is called, loads its kernels before anything
// is timed, and, repeated into a graph that is thrown away, tells how many operations of the GPU the call makes. Where it is asked for, the
// library's next choices run too, against the clock, and the fastest stays.
#include "replay/device/cuda/routines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "replay/device/cuda/timer.h"
#include "src/base/hash.h"

namespace replay::cuda {
namespace {

using base::Error;
using base::Result;
using base::Status;

/// What cuBLAS itself takes by default: Hopper's kernels want more than those before them.
int64_t workspace_limit(const Gpu& gpu) { return (gpu.properties().major >= 9 ? int64_t{32} : int64_t{4}) << 20; }

/// Alignments of addresses, which an algorithm depends on.
std::string alignments(std::initializer_list<Address> addresses) {
  std::string text;
  for (const Address address : addresses) text += fmt::format(" {}", address % 256);
  return text;
}

constexpr int kTimed = 10;  ///< executions of a trial; even

/// Of convolutions, whose kernels may bring their operands into another order there: half of what a plan leaves to others.
constexpr int64_t kConvolutionBytes = kReserved / 2;

const Convolution* convolution_in(const Launch& launch) {
  const auto* call = std::get_if<LibraryCall>(&launch);
  return call == nullptr ? nullptr : std::get_if<Convolution>(call->op.get());
}

bool may_be_a_librarys(const Launch& launch) { return std::holds_alternative<Gemm>(launch) || convolution_in(launch) != nullptr; }

/// Operands of a normal form (library.h) in the roles that they have in the forward convolution.
ConvolutionMemory roles_of(Gradient gradient, Address first, Address second, Address result) {
  if (gradient == Gradient::none) return {first, second, result};
  return gradient == Gradient::input ? ConvolutionMemory{result, second, first} : ConvolutionMemory{first, result, second};
}

}  // namespace

Result<const Cublas*> Libraries::cublas() {
  if (!cublas_) cublas_ = Cublas::open(opener_);
  if (!cublas_->ok()) return cublas_->error();
  return static_cast<const Cublas*>((**cublas_).get());
}

Result<Cudnn*> Libraries::cudnn() {
  if (!cudnn_) cudnn_ = Cudnn::open(opener_);
  if (!cudnn_->ok()) return cudnn_->error();
  return (**cudnn_).get();
}

std::string Libraries::text() const {
  std::vector<std::string> open;
  if (cublas_ && cublas_->ok()) open.push_back("cuBLASLt " + (**cublas_)->version());
  if (cudnn_ && cudnn_->ok()) open.push_back("cuDNN " + (**cudnn_)->version());
  return fmt::format("{}", fmt::join(open, ", "));
}

Routines::Asked Routines::ask(const Gemm& gemm) {
  const std::string name = fmt::format("product_{}x{}x{}x{}", gemm.batch, gemm.m, gemm.n, gemm.k);
  const Result<Matmul> matmul = plan_matmul(gemm);
  if (!matmul.ok()) return {fmt::format("{} {}", name, matmul.error().message), name, matmul.error()};
  const Epilogue& after = gemm.after;
  ProductMemory memory{address(gemm.a.buffer), address(gemm.b.buffer), address(gemm.d.buffer), address(after.bias.buffer),
                       address(after.aux),     address(after.a_scale), address(after.b_scale), address(after.d_scale)};
  if (matmul->swapped) std::swap(memory.a, memory.b), std::swap(memory.a_scale, memory.b_scale);
  std::string key = text_of(*matmul) + "; addresses" + alignments({memory.a, memory.b, memory.d, memory.bias, memory.aux});
  if (after.a_scale >= 0) key += ", with factors";
  const Result<const Cublas*> cublas = libraries_.cublas();
  if (!cublas.ok()) return {std::move(key), name, cublas.error()};
  return {std::move(key), name, (*cublas)->product(*matmul, memory, workspace_limit(gpu_))};
}

/// Which addresses these are makes no difference to the library: they are all multiples of what it is told.
Routines::Asked Routines::ask(const LibraryCall& call) {
  const auto& convolution = std::get<Convolution>(*call.op);
  const std::string name = name_of(*call.op);
  const Result<ConvolutionGraph> graph = plan_convolution(convolution);
  if (!graph.ok()) return {fmt::format("{} {}", text_of(*call.op), graph.error().message), name, graph.error()};
  ConvolutionMemory memory = roles_of(graph->gradient, address(call.in.at(0)), address(call.in.at(1)), address(call.out.at(0)));
  if (convolution.after.bias) memory.bias = address(call.in.at(2));
  if (convolution.after.side) memory.side = address(call.in.back());
  std::string key = text_of(*graph);
  const Result<Cudnn*> cudnn = libraries_.cudnn();
  if (!cudnn.ok()) return {std::move(key), name, cudnn.error()};
  return {std::move(key), name, (*cudnn)->convolution(*graph, memory, kConvolutionBytes)};
}

void Routines::add(const Launch& launch, std::string_view step) {
  const auto begin = std::chrono::steady_clock::now();
  const auto* gemm = std::get_if<Gemm>(&launch);
  Asked asked = gemm != nullptr ? ask(*gemm) : ask(std::get<LibraryCall>(launch));
  const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - begin;
  const auto [kind, fresh] = kinds_.try_emplace(asked.key);
  order_.push_back(&launch);
  Entry& entry = entries_[&launch] = {nullptr, asked.key, step};
  if (!asked.routine.ok()) {
    kind->second.why = asked.routine.error().message;
    return;
  }
  entry.routine = *std::move(asked.routine);
  if (!fresh) return;
  kind->second.record = records_.size();
  records_.push_back({.key = base::hash128_hex(asked.key),
                      .name = asked.name,
                      .language = "library",
                      .implementation = "",
                      .source = asked.key + "\n",
                      .compile_ns = spent.count()});
}

Result<int64_t> Routines::operations_of(const Routine& routine) {
  const Driver& d = gpu_.driver();
  RETURN_IF_ERROR(d.call(d.begin_capture, gpu_.stream(), kCaptureOfThread));
  const Status called = routine.run(gpu_.stream(), ready_.workspace.address());
  void* graph = nullptr;
  RETURN_IF_ERROR(d.call(d.end_capture, gpu_.stream(), &graph));
  size_t nodes = 0;
  const Status counted = d.call(d.graph_nodes, graph, static_cast<void**>(nullptr), &nodes);
  const Status destroyed = d.give_back(d.destroy_graph, graph);
  RETURN_IF_ERROR(counted);
  RETURN_IF_ERROR(destroyed);
  RETURN_IF_ERROR(called);
  return static_cast<int64_t>(nodes);
}

/// Of the choices that may come to run.
int64_t Routines::workspace_of(Routine& routine) const {
  int64_t bytes = routine.workspace_bytes();
  for (int rank = 1; rank < libraries_.trials() && routine.next(); ++rank) bytes = std::max(bytes, routine.workspace_bytes());
  routine.take(0);
  return bytes;
}

/// By rank, until one runs that the workspace suffices for. What the GPU itself says is an error.
Result<bool> Routines::try_out(Entry& entry, Kind& kind) {
  for (;; ++kind.rank) {
    if (entry.routine->workspace_bytes() <= workspace_bytes_) {
      const Status called = entry.routine->run(gpu_.stream(), ready_.workspace.address());
      RETURN_IF_ERROR(gpu_.wait());
      if (called.ok()) break;
      kind.why = called.error().message;
    }
    if (!entry.routine->next()) return false;
  }
  kind.why.clear();
  return true;
}

/// The median of some executions back to back, in ns; 0: the library refuses it.
Result<double> Routines::time(const Routine& routine) const {
  constexpr int kWarmUps = 3;
  const Driver& d = gpu_.driver();
  std::deque<Event> events;
  for (int k = -kWarmUps; k <= kTimed; ++k) {
    if (k >= 0) RETURN_IF_ERROR(events.emplace_back(d).record(gpu_.stream()));
    if (k == kTimed) break;
    if (!routine.run(gpu_.stream(), ready_.workspace.address()).ok()) {
      RETURN_IF_ERROR(gpu_.wait());
      return 0.0;
    }
  }
  RETURN_IF_ERROR(gpu_.wait());
  std::vector<float> ms(kTimed);
  for (size_t k = 0; k < ms.size(); ++k) RETURN_IF_ERROR(d.call(d.elapsed_ms, &ms[k], events[k].handle(), events[k + 1].handle()));
  std::ranges::sort(ms);
  return (static_cast<double>(ms[kTimed / 2 - 1]) + static_cast<double>(ms[kTimed / 2])) / 2 * 1e6;
}

/// Times the first choices and takes the fastest; those that do not run are left out.
Status Routines::tune(Entry& entry, Kind& kind) {
  Routine& routine = *entry.routine;
  std::vector<model::TrialRecord>& trials = records_[kind.record].trials;
  routine.take(0);
  for (int rank = 0; rank < libraries_.trials() && (rank == 0 || routine.next()); ++rank) {
    if (routine.workspace_bytes() > workspace_bytes_) continue;
    ASSIGN_OR_RETURN(const double ns, time(routine));
    if (ns > 0) trials.push_back({rank + 1, routine.implementation(), ns, kTimed, false});
  }
  if (const auto fastest = std::ranges::min_element(trials, std::less(), &model::TrialRecord::median_ns); fastest != trials.end()) {
    fastest->chosen = true;
    kind.rank = fastest->rank - 1;
  }
  routine.take(kind.rank);
  return {};
}

/// What runs of a call's choices, and what it is on the GPU.
Status Routines::settle(Entry& entry, Kind& kind) {
  kind.tried = true;
  ASSIGN_OR_RETURN(const bool runs, try_out(entry, kind));
  if (!runs) return {};
  if (libraries_.trials() > 1) RETURN_IF_ERROR(tune(entry, kind));
  ASSIGN_OR_RETURN(kind.operations, operations_of(*entry.routine));
  model::KernelRecord& record = records_[kind.record];
  record.implementation =
      fmt::format("{}, {} operation{}", entry.routine->implementation(), kind.operations, kind.operations == 1 ? "" : "s");
  if (record.trials.size() > 1) record.implementation += fmt::format(", the fastest of {}", record.trials.size());
  return {};
}

Status Routines::choose(const Plan& plan) {
  for (const Step* step : startable(plan))
    for (const Launch& launch : step->launches)
      if (may_be_a_librarys(launch)) add(launch, step->name);
  for (const auto& [launch, entry] : entries_)
    if (entry.routine != nullptr) workspace_bytes_ = std::max(workspace_bytes_, workspace_of(*entry.routine));
  RETURN_IF_ERROR(during("memory for libraries", ready_.workspace.allocate(workspace_bytes_)));
  for (const Launch* launch : order_) {
    Entry& entry = entries_.at(launch);
    Kind& kind = kinds_.at(entry.key);
    if (entry.routine == nullptr) continue;
    if (!kind.tried) {
      const Status settled = settle(entry, kind);
      if (!settled.ok()) return Error{fmt::format("{}: {}", entry.step, settled.error().message)};
    } else {
      for (int rank = 0; rank < kind.rank; ++rank) entry.routine->next();
    }
    if (!kind.why.empty()) entry.routine = nullptr;
  }
  return {};
}

std::optional<RoutineLaunch> Routines::of(const Launch& launch) const {
  const auto found = entries_.find(&launch);
  if (found == entries_.end() || found->second.routine == nullptr) return std::nullopt;
  return RoutineLaunch{found->second.routine, ready_.workspace.address(), kinds_.at(found->second.key).operations};
}

size_t Routines::record_of(const Launch& launch) const { return kinds_.at(entries_.at(&launch).key).record; }

std::string Routines::why_not(const Launch& launch) const {
  const auto found = entries_.find(&launch);
  return found == entries_.end() ? "" : kinds_.at(found->second.key).why;
}

}  // namespace replay::cuda
