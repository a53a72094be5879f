// Library ops on the CPU: what a replay::LibraryOp becomes when a plan is prepared.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "replay/device/cpu/product.h"
#include "replay/library.h"
#include "src/base/result.h"

namespace replay::cpu {

/// An op made ready: everything that depends on sizes is decided. Runs one after another with all that share its Scratch.
class Native {
 public:
  virtual ~Native() = default;
  /// Addresses of the operands and of the results; no result overlaps an operand.
  virtual void run(std::span<const void* const> in, std::span<void* const> out) = 0;
  virtual std::string implementation() const = 0;  ///< "oneDNN brgconv:avx512_core", "fft avx512"
  virtual std::string precision() const = 0;       ///< as Product::precision; "" where nothing is computed
};

/// Error: a type that the op's functions lack.
base::Result<std::unique_ptr<Native>> make_native(const LibraryOp& op, int threads, std::shared_ptr<Scratch> scratch);

base::Result<std::unique_ptr<Native>> make_convolution(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch);
base::Result<std::unique_ptr<Native>> make_fft(const Fft& op, int threads, std::shared_ptr<Scratch> scratch);
base::Result<std::unique_ptr<Native>> make_cholesky(const Cholesky& op, int threads, std::shared_ptr<Scratch> scratch);
base::Result<std::unique_ptr<Native>> make_triangular_solve(const TriangularSolve& op, int threads, std::shared_ptr<Scratch> scratch);
base::Result<std::unique_ptr<Native>> make_top_k(const TopK& op, int threads, std::shared_ptr<Scratch> scratch);
base::Result<std::unique_ptr<Native>> make_permute(const Permute& op, int threads, std::shared_ptr<Scratch> scratch);

}  // namespace replay::cpu
