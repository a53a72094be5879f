// Which implementation a product gets. The packed product can do everything and stands behind every other choice: oneDNN may lack a
// primitive for the strides, or fail when it runs.
#include "replay/device/cpu/product.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <utility>

#include "replay/device/cpu/dnnl.h"
#include "replay/device/cpu/packed.h"

namespace replay::cpu {
namespace {

/// Each row either makes a product or says why it can't; the first that can is taken.
using MakeProduct = base::Result<std::unique_ptr<Product>> (*)(const Gemm&, int, std::shared_ptr<Scratch>);

template <base::Result<std::unique_ptr<Product>> (*MakeLibrary)(const Gemm&, int, std::shared_ptr<Scratch>, std::unique_ptr<Product>)>
base::Result<std::unique_ptr<Product>> with_fallback(const Gemm& gemm, int threads, std::shared_ptr<Scratch> scratch) {
  ASSIGN_OR_RETURN(std::unique_ptr<Product> fallback, make_packed(gemm, threads, scratch));
  return MakeLibrary(gemm, threads, scratch, std::move(fallback));
}

base::Result<std::unique_ptr<Product>> packed(const Gemm& gemm, int threads, std::shared_ptr<Scratch> scratch) {
  return make_packed(gemm, threads, std::move(scratch));
}

/// Where oneDNN's matmul beats its own sgemm by more than a tenth, by shape alone, so that two runs never choose differently. Measured
/// over m 4–512, n and k 8–768, both operands either way, with 2.6.3 on AVX-512 (elsewhere sgemm wins, by up to five times): few columns
/// or a transposed B with a long sum, and outer products (short sums) whose result stays in the cache.
bool matmul_beats_sgemm(const Gemm& gemm) {
  const bool a_by_rows = gemm.a.column_stride == 1, b_by_rows = gemm.b.column_stride == 1;
  const bool long_sum = a_by_rows && gemm.m >= 16 && gemm.m <= 512 && ((gemm.n <= 8 && gemm.k >= 128) || (!b_by_rows && gemm.k >= 512));
  const bool outer_product = gemm.k <= 32 && gemm.m >= 512 && gemm.n >= 128 && gemm.m * gemm.n <= 1 << 20;
  return long_sum || outer_product;
}

bool all(const Gemm& gemm, ir::Type type) { return gemm.a.type == type && gemm.b.type == type && gemm.d.type == type; }

}  // namespace

void Scratch::Free::operator()(std::byte* data) const { std::free(data); }

std::vector<std::byte*> Scratch::pieces(int threads, int64_t bytes) {
  constexpr int64_t kLine = 64, kHugePage = 2 << 20;
  const int64_t piece = (bytes / kLine + 1) * kLine, needed = (threads * piece / kHugePage + 1) * kHugePage;
  if (needed > bytes_) {
    data_.reset();
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(kHugePage, static_cast<size_t>(needed))));
    if (data_ == nullptr) throw std::bad_alloc();
    madvise(data_.get(), static_cast<size_t>(needed), MADV_HUGEPAGE);  // a hint: small pages only cost time
    bytes_ = needed;
  }
  std::vector<std::byte*> pieces;
  for (int i = 0; i < threads; ++i) pieces.push_back(data_.get() + i * piece);
  return pieces;
}

base::Result<std::unique_ptr<Product>> make_product(const replay::Gemm& gemm, int threads, std::shared_ptr<Scratch> scratch) {
  if (scratch == nullptr) scratch = std::make_shared<Scratch>();
  constexpr MakeProduct kSgemmFirst[] = {with_fallback<make_dnnl_sgemm>, with_fallback<make_dnnl_matmul>};
  constexpr MakeProduct kMatmulFirst[] = {with_fallback<make_dnnl_matmul>, with_fallback<make_dnnl_sgemm>};
  if (all(gemm, ir::Type::f32)) {
    for (const MakeProduct make : matmul_beats_sgemm(gemm) ? kMatmulFirst : kSgemmFirst) {
      if (auto product = make(gemm, threads, scratch); product.ok()) return product;
    }
  }
  return packed(gemm, threads, scratch);
}

}  // namespace replay::cpu
