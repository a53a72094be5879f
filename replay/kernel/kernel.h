// Kernels in three moves: lower (device-free loop nests), schedule (flat lists of lines with launch data), render (LLVM IR, C or CUDA C++).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay/rounding.h"
#include "src/base/result.h"
#include "src/ir/module.h"

namespace kernel {

enum class Language : uint8_t {
  llvm_ir,
  c,     ///< C11 with _Float16, every function of libm: what tests compile to see that lowering and schedules do not lean on LLVM
  cuda,  ///< CUDA C++ without any include: schedules of its own, for blocks of threads
};
std::string_view text(Language language);

/// What a schedule needs to know of a machine, and what its code is to be written in.
struct Target {
  Language language = Language::llvm_ir;
  int lanes = 8;  ///< f32 elements of a vector register: 8 (AVX2), 16 (AVX-512)
  int registers = 16;
  int threads = 1;
  bool vector_functions = true;  ///< libmvec of glibc 2.35 or newer is loaded: all functions on vectors
  int multiprocessors = 132;     ///< CUDA
  int64_t l1_bytes = 32 << 10, l2_bytes = 512 << 10, l3_bytes = 32 << 20;
  bool operator==(const Target&) const = default;
};

/// The code of one part, and how to split it over threads. Parts of a kernel run one after another with a barrier between.
struct Part {
  std::string symbol;       ///< void symbol(void* const* args, int64_t begin, int64_t end, void* scratch, int64_t thread)
  int64_t count = 1;        ///< iterations of the outermost loop
  int64_t grain = 1;        ///< a chunk is a multiple of this (last one excepted)
  int64_t chunk = 1;        ///< recommended iterations a chunk; count ≤ chunk: run on one thread
  bool by_thread = false;   ///< static split, thread t of `Target::threads` gets one contiguous range: partial results a thread
  int64_t work_bytes = 0;   ///< memory that one call of the whole part touches: small parts run on one thread
  int same[2] = {-1, -1};   ///< positions in args: nothing to do where both are the same memory (the old array, before an update)
  int block_threads = 0;    ///< CUDA: of a block; the grid has `count` blocks, and the symbol takes the args one by one
  bool cooperates = false;  ///< CUDA: threads of a block meet at barriers or exchange values
};

/// A kernel ready to be compiled for its target.
struct Kernel {
  std::string name;  ///< readable: "row_reduce_f16_8192x768"
  std::string key;   ///< content hash: equal keys = equal code
  int operands = 0,
      outputs = 0;            ///< args: operands in order, outputs (leaves of the root in order), then shared scratch if scratch_bytes > 0
  int64_t scratch_bytes = 0;  ///< shared by all threads (partial results, materialised phases); 64-byte aligned
  int64_t thread_scratch_bytes = 0;  ///< one a thread (tiles, rows); 64-byte aligned
  std::vector<Part> parts;
  int64_t lone_elements = 0;  ///< CPU: elements that are read or written one by one, as their neighbours lie elsewhere; over all iterations
  Language language = Language::llvm_ir;
  std::string code;             ///< one function per part; declares what it needs from libm/libmvec
  std::vector<void*> entries;   ///< by part, where the code has been compiled already; else empty, and the device compiles it
  std::string list;             ///< the flat list as text, to read
  std::vector<bool> reads_all;  ///< per operand: is it read at all
  std::vector<int> updates;     ///< per output: operand of which it changes a part; best in the operand's buffer; or -1
  std::vector<int> may_alias;   ///< per output: operand whose buffer it may overwrite (read only at the element that is written), or -1
};

/// The body: the operation of `instr` (a fusion, or a single op) on operands with the layouts in their shapes. Error: the op that has no
/// lowering.
base::Result<Kernel> make(const ir::Module& module, ir::InstrRef instr, replay::Rounding rounding, const Target& target);

}  // namespace kernel
