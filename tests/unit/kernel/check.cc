// Kernels run in two pieces, as two threads would run them; a guard stands behind every array.
#include "tests/unit/kernel/check.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "importers/hlo/hlo.h"
#include "replay/device/cpu/jit.h"
#include "replay/inputs.h"
#include "replay/kernel/kernel.h"
#include "replay/reference/reference.h"

namespace kernel {
namespace {

using Entry = void (*)(void* const*, int64_t, int64_t, void*, int64_t);
constexpr std::byte kGuard{0x5a};

/// 64-byte aligned bytes with a guard behind them.
class Memory {
 public:
  explicit Memory(int64_t bytes) : store_(static_cast<size_t>(bytes) + 192, kGuard), bytes_(static_cast<size_t>(bytes)) {
    begin_ = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(store_.data()) + 63) / 64 * 64);
  }
  std::span<std::byte> bytes() const { return {begin_, bytes_}; }
  bool intact() const {
    for (size_t i = 0; i < 64; ++i)
      if (begin_[bytes_ + i] != kGuard) return false;
    return true;
  }

 private:
  std::vector<std::byte> store_;
  size_t bytes_;
  std::byte* begin_;
};

replay::cpu::Jit& jit(int lanes) {
  static auto* const wide = replay::cpu::Jit::make({.lanes = 16}).ok() ? new auto(*replay::cpu::Jit::make({.lanes = 16})) : nullptr;
  static auto* const narrow = new auto(*replay::cpu::Jit::make({.lanes = 8}));
  (void)dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL);
  return lanes == 16 && wide ? **wide : **narrow;
}

void run(const Kernel& kernel, int lanes, const std::vector<Memory>& memory) {
  std::vector<std::string> symbols;
  for (const Part& p : kernel.parts) symbols.push_back(p.symbol);
  const auto code = jit(lanes).compile(replay::cpu::Source{kernel.code, symbols});
  ASSERT_TRUE(code.ok()) << code.error().message;
  std::vector<void*> args;
  for (const Memory& m : memory) args.push_back(m.bytes().data());
  const Memory scratch(kernel.thread_scratch_bytes);
  for (size_t i = 0; i < kernel.parts.size(); ++i) {  // in two pieces, as two threads would
    const Part& p = kernel.parts[i];
    const auto entry = reinterpret_cast<Entry>(code->entries[i]);
    const int64_t half = p.count / 2 / p.grain * p.grain;
    if (half > 0) entry(args.data(), 0, half, scratch.bytes().data(), 0);
    if (half < p.count) entry(args.data(), half, p.count, scratch.bytes().data(), 1);
  }
}

}  // namespace

void check(const std::string& text, replay::Rounding rounding) {
  const auto module = importers::hlo::parse(text, "test");
  ASSERT_TRUE(module.ok()) << module.error().message << "\n" << text;
  const ir::InstrRef root{module->entry, module->comp(module->entry).root};
  const ir::Instr& instr = module->instr(root.comp, root.instr);
  for (const int lanes : {8, 16}) {
    Target target;
    target.lanes = jit(lanes).lanes() == 16 ? lanes : 8;
    target.registers = target.lanes == 16 ? 32 : 16;
    target.threads = 2;
    target.l3_bytes = 1 << 16;  // so that streaming stores are tested
    const auto kernel = make(*module, root, rounding, target);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message << "\n" << text;
    std::vector<Memory> memory;
    std::vector<replay::reference::View> views;
    for (size_t k = 0; k < instr.operands.size(); ++k) {
      const ir::Shape& shape = module->shape(module->instr(root.comp, instr.operands[k]));
      memory.emplace_back(ir::bytes(shape));
      replay::generate_into(memory.back().bytes(), {}, shape, 1, fmt::format("{}", k));
      views.push_back({&shape, memory.back().bytes().data(), {}});
    }
    const auto leaves = ir::leaves(module->shape(instr));
    for (const ir::Leaf& leaf : leaves) memory.emplace_back(ir::bytes(*leaf.shape));
    memory.emplace_back(kernel->scratch_bytes);
    run(*kernel, lanes, memory);
    for (const Memory& m : memory) EXPECT_TRUE(m.intact()) << text;
    replay::reference::Evaluator evaluator(*module, rounding);
    for (size_t l = 0; l < leaves.size(); ++l) {
      if (ir::elements(*leaves[l].shape) == 0) continue;
      const replay::reference::View device{leaves[l].shape, memory[instr.operands.size() + l].bytes().data(), {}};
      const auto judged = replay::reference::judge(evaluator, root, views, leaves[l].path, device, {});
      ASSERT_TRUE(judged.ok()) << judged.error().message;
      EXPECT_LE(judged->worst, 1) << kernel->name << " at " << judged->index << ": " << judged->device << ", reference "
                                  << judged->reference << "\n"
                                  << text;
    }
  }
}

std::string fused(std::string_view parameters, std::string_view body) {
  std::string inside, outside, names;
  int number = 0;
  for (size_t at = 0; at < parameters.size();) {
    const size_t end = std::min(parameters.find(';', at), parameters.size());
    const std::string shape(parameters.substr(at, end - at));
    inside += fmt::format("  p{0} = {1} parameter({0})\n", number, shape);
    outside += fmt::format("  a{0} = {1} parameter({0})\n", number, shape);
    names += fmt::format("{}a{}", number ? ", " : "", number);
    ++number;
    at = end + 1;
  }
  const size_t root = body.find("ROOT r = ") + 9;
  const bool tuple = body[root] == '(';
  const std::string shape(body.substr(root, tuple ? body.find(") ", root) + 1 - root : body.find(' ', root) - root));
  return fmt::format(
      "HloModule m\nadd {{ x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }}\n"
      "max {{ x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] maximum(x, y) }}\n"
      "f {{\n{}{}\n}}\nENTRY e {{\n{}  ROOT call = {} fusion({}), kind=kLoop, calls=f\n}}\n",
      inside, body, outside, shape, names);
}

}  // namespace kernel
