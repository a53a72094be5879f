// cuBLASLt's functions as a table of addresses, declared by hand as the driver's are, and products that it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replay/device/cuda/cublas_plan.h"
#include "replay/device/cuda/driver.h"
#include "replay/device/cuda/routine.h"

namespace replay::cuda {

/// cublasLtMatmulHeuristicResult_t.
struct Algorithm {
  uint64_t words[8] = {};  ///< cublasLtMatmulAlgo_t: plain bytes, which a library of the same version takes again
  size_t workspace_bytes = 0;
  int state = 0;  ///< 0: usable
  float waves = 0;
  int reserved[4] = {};
};

struct CublasLt {
  Function<void**> create{"cublasLtCreate"};
  Function<void*> destroy{"cublasLtDestroy"};
  Function<void**, int, int> make_product{"cublasLtMatmulDescCreate"};
  Function<void*> drop_product{"cublasLtMatmulDescDestroy"};
  Function<void*, int, const void*, size_t> set_product{"cublasLtMatmulDescSetAttribute"};
  Function<void**, int, uint64_t, uint64_t, int64_t> make_matrix{"cublasLtMatrixLayoutCreate"};
  Function<void*> drop_matrix{"cublasLtMatrixLayoutDestroy"};
  Function<void*, int, const void*, size_t> set_matrix{"cublasLtMatrixLayoutSetAttribute"};
  Function<void**> make_preference{"cublasLtMatmulPreferenceCreate"};
  Function<void*> drop_preference{"cublasLtMatmulPreferenceDestroy"};
  Function<void*, int, const void*, size_t> set_preference{"cublasLtMatmulPreferenceSetAttribute"};
  Function<void*, void*, void*, void*, void*, void*, void*, int, Algorithm*, int*> choose{"cublasLtMatmulAlgoGetHeuristic"};
  Function<const void*, int, void*, size_t, size_t*> ask_algorithm{"cublasLtMatmulAlgoConfigGetAttribute"};
  Function<void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*, void*, void*, const void*,
           void*, size_t, void*>
      multiply{"cublasLtMatmul"};
  size_t (*version)() = nullptr;

  template <typename Visitor>
  void each(Visitor&& visit) {
    const auto all = [&](auto&... functions) { (visit(functions), ...); };
    all(create, destroy, make_product, drop_product, set_product, make_matrix, drop_matrix, set_matrix, make_preference, drop_preference,
        set_preference, choose, ask_algorithm, multiply);
  }
  /// "cublasLtMatmul: CUBLAS_STATUS_NOT_SUPPORTED (15)".
  template <typename... P, typename... A>
  base::Status call(const Function<P...>& function, A... args) const {
    const int code = function.address(args...);
    return code == 0 ? base::Status() : failure(function.symbol, code);
  }
  base::Error failure(const char* symbol, int code) const;
};

/// Of attributes that are set or asked for, as cublasLt.h numbers them.
enum class ProductAttribute : int {
  op_a = 3,
  op_b = 4,
  epilogue = 7,
  bias = 8,
  aux = 11,
  aux_ld = 12,
  aux_batch_stride = 13,
  a_scale = 17,
  b_scale = 18,
  d_scale = 20,
  bias_type = 26
};
enum class MatrixAttribute : int { batch = 5, batch_stride = 6 };
enum class PreferenceAttribute : int { workspace_bytes = 1, alignment_a = 5, alignment_b = 6, alignment_c = 7, alignment_d = 8 };
enum class AlgorithmAttribute : int { id = 0, tile = 1, split_k = 2, stages = 6 };

/// Where the operands of a product lie on the GPU; 0: not there.
struct ProductMemory {
  Address a = 0, b = 0, d = 0;  ///< of the matrices of a Matmul: swapped already
  Address bias = 0, aux = 0, a_scale = 0, b_scale = 0, d_scale = 0;
};

/// The library on a GPU whose context is current.
class Cublas {
 public:
  /// Error: why there is none, in one sentence.
  static base::Result<std::unique_ptr<Cublas>> open(const Opener& opener);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// With the algorithm that the library's heuristic ranks first of those that need at most `workspace_bytes`. Error: there is none.
  base::Result<std::unique_ptr<Routine>> product(const Matmul& matmul, const ProductMemory& memory, int64_t workspace_bytes) const;
  std::string version() const;

 private:
  explicit Cublas(const CublasLt& lt) : lt_(lt) {}
  CublasLt lt_;
  void* handle_ = nullptr;
};

}  // namespace replay::cuda
