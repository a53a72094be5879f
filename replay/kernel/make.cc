// The three moves in a row, and what a plan needs to know of the result.
#include <fmt/format.h>

#include <algorithm>

#include "replay/kernel/analyse.h"
#include "replay/kernel/cuda_launch.h"
#include "replay/kernel/kernel.h"
#include "replay/kernel/lower.h"
#include "replay/kernel/render_c.h"
#include "replay/kernel/render_cuda.h"
#include "replay/kernel/render_llvm.h"
#include "replay/kernel/schedule.h"
#include "src/base/hash.h"

namespace kernel {
namespace {

/// "rows_f16_8192x768": the first part's class, the first output's type, the largest operand's or output's dims.
std::string name_of(const ir::Module& module, ir::InstrRef ref, const std::vector<Scheduled>& parts) {
  const ir::Instr& instr = module.instr(ref.comp, ref.instr);
  const auto outputs = ir::leaves(module.shape(instr));
  const ir::Shape* largest = outputs.empty() ? nullptr : outputs[0].shape;
  for (const ir::InstrId o : instr.operands)
    for (const ir::Leaf& leaf : ir::leaves(module.shape(module.instr(ref.comp, o))))
      if (!largest || ir::elements(*leaf.shape) > ir::elements(*largest)) largest = leaf.shape;
  std::string shapes;
  for (const Scheduled& p : parts)
    if (shapes.find(p.shape) == std::string::npos) shapes += (shapes.empty() ? "" : "_") + p.shape;
  if (shapes.empty()) shapes = "nothing";
  std::string dims;
  if (largest)
    for (const int64_t d : largest->dims) dims += fmt::format("{}{}", dims.empty() ? "" : "x", d);
  return fmt::format("{}_{}{}{}", shapes, outputs.empty() ? "" : ir::text(outputs[0].shape->type), dims.empty() ? "" : "_", dims);
}

/// One function for each part, named k0, k1, …
template <typename Module>
std::string rendered(Module module, const std::vector<Scheduled>& parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string symbol = fmt::format("k{}", i);
    if constexpr (std::is_same_v<Module, CudaModule>)
      module.add(parts[i], symbol);
    else
      module.add(parts[i].list, symbol);
  }
  return module.text();
}
std::string rendered(const Lowered& lowered, const Target& target, const std::vector<Scheduled>& parts) {
  if (target.language == Language::cuda) return rendered(CudaModule(lowered), parts);
  return target.language == Language::c ? rendered(CModule(lowered), parts) : rendered(LlvmModule(lowered, target), parts);
}

/// Error: a launch that no driver takes.
base::Status check_launches(const Lowered& lowered, const std::vector<Scheduled>& parts) {
  for (const Scheduled& p : parts) {
    const int64_t pointers = lowered.operands + lowered.outputs + 1;
    const std::string found = cuda::illegal({p.count, p.block_threads, p.thread_bytes, pointers * 8});
    if (!found.empty()) return base::Error{"no kernel: " + found};
  }
  return {};
}

/// Everything that all nests read and write.
std::vector<Footprint> footprints(const Lowered& lowered) {
  std::vector<Footprint> prints;
  for (const Nest& nest : lowered.nests) {
    std::vector<NodeId> roots;
    std::vector<Store> stores = nest.finish;
    for (const Stage& s : nest.stages) {
      for (const NodeId id : roots_of(s)) roots.push_back(id);
      stores.insert(stores.end(), s.stores.begin(), s.stores.end());
    }
    prints.push_back(footprint(lowered.graph, roots, stores));
  }
  return prints;
}

/// An operand may be overwritten by an output if each element is read only where, and in the nest in which, that output's element is first
/// written.
bool may_overwrite(const Lowered& lowered, const std::vector<Footprint>& prints, int operand, int output) {
  const Index* written = nullptr;
  size_t writer = 0;
  int bytes_written = 0;
  for (size_t n = 0; n < prints.size(); ++n)
    for (const Access& a : prints[n].accesses) {
      if (a.array != output) continue;
      if (written && (writer == n || !lowered.nests[n].stages[0].reductions.empty())) return false;
      if (!written) written = &a.at, writer = n, bytes_written = bytes(a.reg);
      if (lowered.nests[n].serial) continue;
    }
  bool read = false;
  for (size_t n = 0; n < prints.size(); ++n)
    for (const Access& a : prints[n].accesses) {
      if (a.array != operand) continue;
      read = true;
      if (!written || n != writer || a.at != *written || bytes(a.reg) != bytes_written) return false;
    }
  return read && lowered.arrays[static_cast<size_t>(operand)].bytes == lowered.arrays[static_cast<size_t>(output)].bytes;
}

/// An output that is an operand with changes: whatever reads the operand only copies it.
bool is_update(const Lowered& lowered, const std::vector<Footprint>& prints, int operand, int output) {
  bool copied = false;
  for (size_t n = 0; n < prints.size(); ++n) {
    const auto& same = lowered.nests[n].skip_if_same;
    const bool copies = same[0] == operand && same[1] == output;
    const bool reads = std::ranges::any_of(prints[n].accesses, [&](const Access& a) { return a.array == operand; });
    if (reads && !copies) return false;
    copied = copied || copies;
  }
  return copied;
}

}  // namespace

std::string_view text(Language language) { return language == Language::cuda ? "cuda" : language == Language::c ? "c" : "llvm-ir"; }

base::Result<Kernel> make(const ir::Module& module, ir::InstrRef instr, replay::Rounding rounding, const Target& target) {
  ASSIGN_OR_RETURN(Lowered lowered, lower(module, instr, rounding));
  const std::vector<Footprint> prints = footprints(lowered);
  Kernel kernel;
  kernel.operands = lowered.operands;
  kernel.outputs = lowered.outputs;
  for (int k = 0; k < lowered.operands; ++k) {
    const bool read = std::ranges::any_of(
        prints, [&](const Footprint& p) { return std::ranges::any_of(p.accesses, [&](const Access& a) { return a.array == k; }); });
    kernel.reads_all.push_back(read);
  }
  for (int o = 0; o < lowered.outputs; ++o) {
    kernel.may_alias.push_back(-1);
    for (int k = 0; k < lowered.operands && kernel.may_alias.back() < 0; ++k)
      if (std::ranges::count(kernel.may_alias, k) == 0 && may_overwrite(lowered, prints, k, lowered.operands + o))
        kernel.may_alias.back() = k;
    const int old = kernel.may_alias.back();
    if (old >= 0) lowered.may_share.emplace_back(old, lowered.operands + o);
    kernel.updates.push_back(old >= 0 && is_update(lowered, prints, old, lowered.operands + o) ? old : -1);
  }
  const bool on_gpu = target.language == Language::cuda;
  const std::vector<Scheduled> parts = on_gpu ? schedule_cuda(lowered, target) : schedule(lowered, target);
  if (on_gpu) RETURN_IF_ERROR(check_launches(lowered, parts));
  kernel.name = name_of(module, instr, parts);
  std::string launch;
  const auto position = [&](int array) { return array < 0 ? -1 : lowered.arrays[static_cast<size_t>(array)].position; };
  for (size_t i = 0; i < parts.size(); ++i) {
    const Scheduled& p = parts[i];
    const std::string symbol = fmt::format("k{}", i);
    kernel.lone_elements += p.lone_elements;
    kernel.list += fmt::format("{} {}: {} iterations\n{}", symbol, p.shape, p.count, print(p.list));
    kernel.parts.push_back({symbol,
                            p.count,
                            p.grain,
                            p.chunk,
                            p.by_thread,
                            p.work_bytes,
                            {position(p.same[0]), position(p.same[1])},
                            p.block_threads,
                            on_gpu && cooperates(p.list)});
    if (!on_gpu) kernel.thread_scratch_bytes = std::max(kernel.thread_scratch_bytes, p.thread_bytes);
    launch += fmt::format("{} {} {} {} {} {} {} ", p.count, p.grain, p.chunk, p.by_thread, p.work_bytes, p.same[0], p.same[1]);
  }
  kernel.scratch_bytes = lowered.shared_bytes;
  kernel.language = target.language;
  kernel.code = rendered(lowered, target, parts);
  kernel.key = base::hash128_hex(fmt::format("{}{} {} {} {}\n{}", launch, kernel.scratch_bytes, kernel.thread_scratch_bytes,
                                             kernel.operands, kernel.outputs, kernel.code));
  return kernel;
}

}  // namespace kernel
