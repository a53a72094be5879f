// A GPU's block on the CPU, for tests: its threads are fibers that switch where they wait for each other, in one of three orders, so that a
// missing barrier gives another result in one of them. What a GPU does not say is said here: an element outside of its array, a thread that
// leaves while others wait for it, barriers that not all reach. The first such fault is kept, and the block is given up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = unsigned long long;
using i8 = int8_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = long long;

namespace on_host {

constexpr int kWarp = 32, kMostThreads = 1024;
enum class Order : unsigned { forward, backward, random };

extern Order order;
struct Fiber {
  void* stack_pointer = nullptr;
  u64 value = 0, received = 0;
  int source = 0;
};

/// The block that an operating system's thread runs.
struct Block {
  int number = 0, current = 0, threads = 1, live = 1, at_barrier = 0;
  bool cooperates = false;
  const char* kernel = "";
  void (*run)(void*) = nullptr;
  void* argument = nullptr;
  void* scheduler = nullptr;                                         ///< its stack pointer
  u32 ready[kWarp] = {}, in_exchange[kWarp] = {}, left[kWarp] = {};  ///< lanes by warp
  Fiber fibers[kMostThreads];
  char* stacks = nullptr;
  char* memory = nullptr;  ///< of the kernel that runs; null: not asked for yet
  u32 dice = 1;
};
extern thread_local Block block;

/// Keeps the fault and gives the block up.
void give_up(const char* what);
/// The barrier.
void meet();
/// All lanes of a warp give a value and get that of their source.
u64 exchange(u64 value, int source);
/// Memory of the block, filled with what is no number in any type.
char* block_memory(size_t bytes);
void run_block();

template <class T>
T exchanged(T value, int source) {
  u64 bits = 0;
  memcpy(&bits, &value, sizeof value);
  bits = exchange(bits, source);
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// Blocks begin … end - 1 of a grid.
template <class F>
void run(const char* kernel, i64 begin, i64 end, int threads, bool cooperates, F body) {
  block.kernel = kernel;
  block.threads = threads;
  block.cooperates = cooperates;
  block.run = [](void* f) { (*static_cast<F*>(f))(); };
  block.argument = &body;
  for (i64 k = begin; k < end; ++k) {
    block.number = static_cast<int>(order == Order::backward ? begin + end - 1 - k : k);
    run_block();
  }
}

template <class T>
T* checked(T* array, i64 element, i64 lanes, i64 bytes) {
  alignas(64) static thread_local char nothing[64];
  if (element >= 0 && (element + lanes) * static_cast<i64>(sizeof(T)) <= bytes) return array + element;
  give_up("an element outside of its array");
  return reinterpret_cast<T*>(nothing);
}

}  // namespace on_host
