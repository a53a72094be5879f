// A product as cuBLASLt is asked for it, as plain data: which matrix is which, how each is stored, what sums are made in.
#pragma once

#include <cstdint>
#include <string>

#include "replay/step.h"
#include "src/base/result.h"

namespace replay::cuda {

/// cudaDataType_t.
enum class CudaType : int { f32 = 0, f64 = 1, f16 = 2, s8 = 3, c64 = 4, c128 = 5, s32 = 10, bf16 = 14, f8e4m3 = 28, f8e5m2 = 29 };
/// cublasComputeType_t.
enum class ComputeType : int { f32 = 68, f64 = 70, s32 = 72 };
/// cublasOperation_t.
enum class Transposed : int { no = 0, yes = 1 };

/// By columns, which lie `ld` elements apart.
struct StoredMatrix {
  CudaType type = CudaType::f32;
  int64_t rows = 1, columns = 1, ld = 1, batch_stride = 0;
  bool operator==(const StoredMatrix&) const = default;
};

/// D = epilogue(alpha·op(A)·op(B) + beta·D), where op(A) is m × k, op(B) k × n and D m × n.
struct Matmul {
  ComputeType compute = ComputeType::f32;
  CudaType scale = CudaType::f32;  ///< of alpha and beta
  Transposed op_a = Transposed::no, op_b = Transposed::no;
  int64_t m = 1, n = 1, k = 1;
  int32_t batch = 1;
  StoredMatrix a, b, d;
  double alpha = 1, beta = 0;
  bool swapped = false;           ///< computes Dᵀ = Bᵀ·Aᵀ: A is the product's b, B its a
  int epilogue = 1;               ///< cublasLtEpilogue_t
  CudaType bias = CudaType::f32;  ///< of the epilogue's vector, if it has one
  bool operator==(const Matmul&) const = default;
};

/// Error: what cuBLASLt has no words for, by the rules of its manual; the reason as a clause.
base::Result<Matmul> plan_matmul(const Gemm& gemm);
/// "TN 768x8192x3072 f16·f16→f16, ld 3072 3072 768": all that distinguishes one product from another.
std::string text_of(const Matmul& matmul);

}  // namespace replay::cuda
