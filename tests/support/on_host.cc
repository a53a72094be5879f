// Fibers with a switch of their own: a context of the C library takes a system call a switch, which is ten times as slow.
#include "tests/support/on_host.h"

#include <sys/mman.h>

#include <cstdio>

#ifndef __x86_64__
#error "the fibers are written for x86-64"
#endif

extern "C" void switch_fiber(void** save, void* to);
asm(".text\n.globl switch_fiber\n.type switch_fiber,@function\nswitch_fiber:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\nmov %rsp,(%rdi)\nmov %rsi,%rsp\n"
    "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n.size switch_fiber,.-switch_fiber\n");

namespace on_host {

Order order = Order::forward;
thread_local Block block;

namespace {

constexpr size_t kStack = (64 << 10) + 320;  // the tops of the stacks must not share one set of the cache
char fault[400];                             ///< the first one; empty: none

void switch_to(int from, int to) {
  switch_fiber(from < 0 ? &block.scheduler : &block.fibers[from].stack_pointer, to < 0 ? block.scheduler : block.fibers[to].stack_pointer);
}

/// The next thread that can run: of the same warp first. Forward a warp runs until it can't, backward all of them advance together: what
/// one warp overwrites too early, and what it reads too early, needs one of the two to show.
int pick() {
  const int warps = (block.threads + kWarp - 1) / kWarp;
  int warp = block.current / kWarp, lane = block.current % kWarp;
  if (order == Order::random) {
    block.dice = block.dice * 1664525u + 1013904223u;
    warp = static_cast<int>((block.dice >> 8) % static_cast<u32>(warps));
    lane = static_cast<int>(block.dice >> 27);
  }
  for (int k = 0; k <= warps; ++k) {
    const int at = order == Order::backward ? (warp + 2 * warps - k) % warps : (warp + k) % warps;
    u32 able = block.ready[at];
    if (k == 0 && order == Order::backward) able &= (1u << lane) - 1;
    if (k == 0 && order != Order::backward) able &= ~((2u << lane) - 1);
    if (k == 0 && order == Order::forward && able == 0) able = block.ready[at];
    if (able == 0) continue;
    return at * kWarp + (order == Order::backward ? 31 - __builtin_clz(able) : __builtin_ctz(able));
  }
  return -1;
}

void wait() {
  const int own = block.current, next = pick();
  if (next < 0) return give_up("all threads wait, and not at the same place");
  if (next == own) return;
  block.current = next;
  switch_to(own, next);
  block.current = own;
}

void release_barrier() {
  if (block.at_barrier < block.live || block.live == 0) return;
  for (int w = 0; w < (block.threads + kWarp - 1) / kWarp; ++w) {
    const u32 all = block.threads - w * kWarp >= kWarp ? ~0u : (1u << (block.threads - w * kWarp)) - 1;
    block.ready[w] = all & ~block.left[w];
  }
  block.at_barrier = 0;
}

void fiber_main() {
  block.run(block.argument);
  const int own = block.current, w = own / kWarp;
  block.ready[w] &= ~(1u << own % kWarp);
  block.left[w] |= 1u << own % kWarp;
  --block.live;
  if (block.in_exchange[w] != 0) give_up("left while its warp waits for its value");
  if (block.at_barrier > 0) give_up("left while others wait at a barrier");
  const int next = block.live == 0 ? -1 : pick();
  if (block.live > 0 && next < 0) give_up("left, and all others wait");
  if (next >= 0) block.current = next;
  switch_to(own, next);
}

void prepare_fibers() {
  if (block.stacks == nullptr) {
    block.stacks = static_cast<char*>(
        mmap(nullptr, kMostThreads * kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  for (int t = 0; t < block.threads; ++t) {
    auto* top = reinterpret_cast<void**>(block.stacks + static_cast<size_t>(t + 1) * kStack - 64);
    *--top = nullptr;
    *--top = reinterpret_cast<void*>(fiber_main);
    for (int k = 0; k < 6; ++k) *--top = nullptr;
    block.fibers[t].stack_pointer = top;
  }
  block.live = block.threads;
  block.at_barrier = 0;
  for (int w = 0; w < kWarp; ++w) {
    const int lanes = block.threads - w * kWarp;
    block.ready[w] = lanes >= kWarp ? ~0u : lanes <= 0 ? 0 : (1u << lanes) - 1;
    block.in_exchange[w] = block.left[w] = 0;
  }
}

}  // namespace

void give_up(const char* what) {
  if (fault[0] == 0) {
    snprintf(fault, sizeof fault, "%s: block %d, thread %d: %s", block.kernel, block.number, block.current, what);
  }
  if (block.cooperates) switch_to(block.current, -1);
}

void meet() {
  if (!block.cooperates) return give_up("a barrier in a kernel that was declared without");
  if (block.live != block.threads) return give_up("a barrier after threads have left");
  const int own = block.current;
  block.ready[own / kWarp] &= ~(1u << own % kWarp);
  ++block.at_barrier;
  release_barrier();
  if ((block.ready[own / kWarp] >> own % kWarp & 1) == 0 || order == Order::random) wait();
}

u64 exchange(u64 value, int source) {
  if (!block.cooperates) return give_up("an exchange in a kernel that was declared without"), value;
  const int own = block.current, w = own / kWarp, lane = own % kWarp;
  if (block.left[w] != 0) return give_up("an exchange with a lane that has left"), value;
  Fiber* lanes = block.fibers + w * kWarp;
  lanes[lane].value = value;
  lanes[lane].source = source;
  block.in_exchange[w] |= 1u << lane;
  block.ready[w] &= ~(1u << lane);
  if (block.in_exchange[w] == ~0u) {
    for (int l = 0; l < kWarp; ++l) lanes[l].received = lanes[lanes[l].source].value;
    block.in_exchange[w] = 0;
    block.ready[w] = ~0u;
  } else {
    wait();
  }
  return lanes[lane].received;
}

char* block_memory(size_t bytes) {
  constexpr size_t kMost = 64 << 10;
  alignas(16) static thread_local char memory[kMost];
  if (block.memory == nullptr) memset(memory, 0xff, bytes < kMost ? bytes : kMost);
  return block.memory = memory;
}

void run_block() {
  block.memory = nullptr;
  if (!block.cooperates) {
    for (int k = 0; k < block.threads; ++k) {
      block.current = order == Order::backward ? block.threads - 1 - k : k;
      block.run(block.argument);
    }
    return;
  }
  prepare_fibers();
  block.current = order == Order::backward ? 0 : block.threads - 1;
  block.current = pick();
  switch_to(-1, block.current);
}

}  // namespace on_host

extern "C" {
const char* on_host_fault() { return on_host::fault; }
void on_host_start(unsigned order) {
  on_host::order = static_cast<on_host::Order>(order);
  on_host::fault[0] = 0;
}
}
