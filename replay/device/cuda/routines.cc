// Two rounds, because all calls share one workspace: first each is described and its algorithm chosen, then, with the largest workspace
// that any wants, each distinct one runs. That run finds out what a library says only when it is called, loads its kernels before anything
// is timed, and, repeated into a graph that is thrown away, tells how many operations of the GPU the call makes.
#include "replay/device/cuda/routines.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

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

bool may_be_a_librarys(const Launch& launch) { return std::holds_alternative<Gemm>(launch); }

}  // namespace

Result<const Cublas*> Libraries::cublas() {
  if (!cublas_) cublas_ = Cublas::open(opener_);
  if (!cublas_->ok()) return cublas_->error();
  return static_cast<const Cublas*>((**cublas_).get());
}

std::string Libraries::text() const { return cublas_ && cublas_->ok() ? fmt::format("cuBLASLt {}", (**cublas_)->version()) : ""; }

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

void Routines::add(const Launch& launch, std::string_view step) {
  const auto begin = std::chrono::steady_clock::now();
  Asked asked = ask(std::get<Gemm>(launch));
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

/// By rank, until one runs. What the GPU itself says is an error.
Status Routines::try_out(Entry& entry, Kind& kind) {
  kind.tried = true;
  for (;; ++kind.rank) {
    const Status called = entry.routine->run(gpu_.stream(), ready_.workspace.address());
    RETURN_IF_ERROR(gpu_.wait());
    if (called.ok()) break;
    kind.why = called.error().message;
    if (!entry.routine->next()) return {};
  }
  kind.why.clear();
  ASSIGN_OR_RETURN(kind.operations, operations_of(*entry.routine));
  records_[kind.record].implementation =
      fmt::format("{}, {} operation{}", entry.routine->implementation(), kind.operations, kind.operations == 1 ? "" : "s");
  return {};
}

Status Routines::choose(const Plan& plan) {
  for (const Step* step : startable(plan))
    for (const Launch& launch : step->launches)
      if (may_be_a_librarys(launch)) add(launch, step->name);
  int64_t workspace_bytes = 0;
  for (const auto& [launch, entry] : entries_)
    if (entry.routine != nullptr) workspace_bytes = std::max(workspace_bytes, entry.routine->workspace_bytes());
  RETURN_IF_ERROR(during("memory for libraries", ready_.workspace.allocate(workspace_bytes)));
  for (const Launch* launch : order_) {
    Entry& entry = entries_.at(launch);
    Kind& kind = kinds_.at(entry.key);
    if (entry.routine == nullptr) continue;
    if (!kind.tried) {
      const Status tried = try_out(entry, kind);
      if (!tried.ok()) return Error{fmt::format("{}: {}", entry.step, tried.error().message)};
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
