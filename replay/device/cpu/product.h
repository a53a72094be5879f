// Matrix products on the CPU: what a replay::Gemm becomes, chosen per type and shape when a plan is prepared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replay/plan.h"
#include "src/base/result.h"

namespace replay::cpu {

/// Memory that products which run one after another share: as much as the largest needs, instead of the sum over a plan's products.
class Scratch {
 public:
  /// One piece of `bytes` for each of `threads` threads, 64-byte aligned, contents arbitrary. Valid until the next call.
  std::vector<std::byte*> pieces(int threads, int64_t bytes);
  int64_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  int64_t bytes_ = 0;
};

/// D[b,m,n] = alpha·Σ_k A[b,m,k]·B[b,k,n] + beta·D[b,m,n], made ready for one replay::Gemm. D may not overlap A or B.
/// The same inputs give the same bits with the same thread count.
class Product {
 public:
  virtual ~Product() = default;
  /// `a`, `b`, `d` point at element (0, 0) of the first matrix of each operand. beta = 0: D isn't read. One call at a time among
  /// the products that share a Scratch.
  virtual void run(const void* a, const void* b, void* d) = 0;
  virtual std::string implementation() const = 0;  ///< "oneDNN brg:avx512_core", "packed f32 avx512"
  virtual std::string precision() const = 0;       ///< operands → sums → result: "f16×f16→f32→f16"
  virtual int64_t scratch_bytes() const = 0;       ///< what run takes from the Scratch
};

/// The quickest way that keeps the accuracy rule 4·√K·ε·Σ|terms| before the one rounding to D's type; f32 sums unless a
/// type is wider. Without a `scratch` the product has its own. Error: sizes that overflow, integers from floats, reals from
/// complex numbers, types that have no numbers.
base::Result<std::unique_ptr<Product>> make_product(const replay::Gemm& gemm, int threads, std::shared_ptr<Scratch> scratch = nullptr);

}  // namespace replay::cpu
