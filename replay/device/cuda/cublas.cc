// Descriptions are made once, when a plan is prepared. The library checks next to nothing of them: what it is told was checked by
// plan_matmul(), and alignments are those of the addresses, because it takes 256 bytes for granted otherwise.
#include "replay/device/cuda/cublas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

namespace replay::cuda {
namespace {

using base::Error;
using base::Result;
using base::Status;

constexpr int kCandidates = 8;

constexpr std::pair<int, const char*> kStatus[] = {
    {1, "CUBLAS_STATUS_NOT_INITIALIZED"}, {3, "CUBLAS_STATUS_ALLOC_FAILED"},   {7, "CUBLAS_STATUS_INVALID_VALUE"},
    {8, "CUBLAS_STATUS_ARCH_MISMATCH"},   {11, "CUBLAS_STATUS_MAPPING_ERROR"}, {13, "CUBLAS_STATUS_EXECUTION_FAILED"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR"}, {15, "CUBLAS_STATUS_NOT_SUPPORTED"}, {16, "CUBLAS_STATUS_LICENSE_ERROR"},
};

/// Counted as 130100 since 13.0; as 120804 before.
std::string text_of_version(const CublasLt& lt) {
  const size_t number = lt.version();
  return fmt::format("{}.{}", number / 10000, number % 10000 / 100);
}

/// What an address is a multiple of, as far as kernels ask.
uint32_t alignment_of(Address address) {
  return address == 0 ? 256 : static_cast<uint32_t>(std::min<Address>(256, Address{1} << std::countr_zero(address)));
}

/// The number in the type that the product's factors have; s32 where sums are whole.
struct Factor {
  alignas(16) std::array<std::byte, 16> bytes{};
  Factor(CudaType type, double value) {
    const auto put = [&](auto typed) { std::ranges::copy(std::as_bytes(std::span(&typed, 1)), bytes.begin()); };
    if (type == CudaType::f64 || type == CudaType::c128)  // of a complex number the imaginary part stays 0
      put(value);
    else if (type == CudaType::s32)
      put(static_cast<int32_t>(value));
    else
      put(static_cast<float>(value));
  }
};

class Product final : public Routine {
 public:
  Product(const CublasLt& lt, void* handle, const Matmul& matmul, const ProductMemory& memory)
      : lt_(lt), handle_(handle), memory_(memory), alpha_(matmul.scale, matmul.alpha), beta_(matmul.scale, matmul.beta) {}
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  ~Product() override;

  Status describe(const Matmul& matmul);
  Status choose(int64_t workspace_bytes);
  Status run(void* stream, Address workspace) const override;
  int64_t workspace_bytes() const override { return static_cast<int64_t>(algorithm().workspace_bytes); }
  std::string implementation() const override;
  bool next() override { return chosen_ + 1 < algorithms_.size() ? (++chosen_, true) : false; }
  void take(int rank) override { chosen_ = static_cast<size_t>(rank); }

 private:
  const Algorithm& algorithm() const { return algorithms_[chosen_]; }
  template <typename T>
  Status set(ProductAttribute which, const T& value) {
    return lt_.call(lt_.set_product, product_, static_cast<int>(which), static_cast<const void*>(&value), sizeof value);
  }
  Status make(const StoredMatrix& matrix, int32_t batch, void*& made);
  Status describe_epilogue(const Matmul& matmul);

  const CublasLt& lt_;
  void* handle_;
  ProductMemory memory_;
  Factor alpha_, beta_;
  void *product_ = nullptr, *a_ = nullptr, *b_ = nullptr, *d_ = nullptr;
  std::vector<Algorithm> algorithms_;  ///< usable ones, best first
  size_t chosen_ = 0;
};

Product::~Product() {
  for (void* matrix : {a_, b_, d_})
    if (matrix != nullptr) lt_.drop_matrix.address(matrix);
  if (product_ != nullptr) lt_.drop_product.address(product_);
}

Status Product::make(const StoredMatrix& m, int32_t batch, void*& made) {
  RETURN_IF_ERROR(
      lt_.call(lt_.make_matrix, &made, static_cast<int>(m.type), static_cast<uint64_t>(m.rows), static_cast<uint64_t>(m.columns), m.ld));
  if (batch == 1) return {};
  const auto set = [&](MatrixAttribute which, const auto& value) {
    return lt_.call(lt_.set_matrix, made, static_cast<int>(which), static_cast<const void*>(&value), sizeof value);
  };
  RETURN_IF_ERROR(set(MatrixAttribute::batch, batch));
  return set(MatrixAttribute::batch_stride, m.batch_stride);
}

/// The heuristic looks at these addresses, so they are set before it is asked.
Status Product::describe_epilogue(const Matmul& p) {
  RETURN_IF_ERROR(set(ProductAttribute::epilogue, static_cast<uint32_t>(p.epilogue)));
  if (memory_.bias != 0) {
    RETURN_IF_ERROR(set(ProductAttribute::bias, memory_.bias));
    RETURN_IF_ERROR(set(ProductAttribute::bias_type, static_cast<int32_t>(p.bias)));
  }
  if (memory_.aux == 0) return {};
  RETURN_IF_ERROR(set(ProductAttribute::aux, memory_.aux));
  RETURN_IF_ERROR(set(ProductAttribute::aux_ld, p.d.ld));
  return p.batch > 1 ? set(ProductAttribute::aux_batch_stride, p.d.batch_stride) : Status();
}

Status Product::describe(const Matmul& p) {
  RETURN_IF_ERROR(lt_.call(lt_.make_product, &product_, static_cast<int>(p.compute), static_cast<int>(p.scale)));
  RETURN_IF_ERROR(set(ProductAttribute::op_a, static_cast<int32_t>(p.op_a)));
  RETURN_IF_ERROR(set(ProductAttribute::op_b, static_cast<int32_t>(p.op_b)));
  RETURN_IF_ERROR(describe_epilogue(p));
  const std::pair<ProductAttribute, Address> scales[] = {{ProductAttribute::a_scale, memory_.a_scale},
                                                         {ProductAttribute::b_scale, memory_.b_scale},
                                                         {ProductAttribute::d_scale, memory_.d_scale}};
  for (const auto& [which, address] : scales)
    if (address != 0) RETURN_IF_ERROR(set(which, address));
  RETURN_IF_ERROR(make(p.a, p.batch, a_));
  RETURN_IF_ERROR(make(p.b, p.batch, b_));
  return make(p.d, p.batch, d_);
}

/// What is wanted of an algorithm; goes with its scope.
class Preference {
 public:
  explicit Preference(const CublasLt& lt) : lt_(lt) {}
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  ~Preference() {
    if (handle_ != nullptr) lt_.drop_preference.address(handle_);
  }
  Status make(int64_t workspace_bytes, const ProductMemory& memory) {
    RETURN_IF_ERROR(lt_.call(lt_.make_preference, &handle_));
    RETURN_IF_ERROR(set(PreferenceAttribute::workspace_bytes, static_cast<uint64_t>(workspace_bytes)));
    const std::pair<PreferenceAttribute, Address> operands[] = {{PreferenceAttribute::alignment_a, memory.a},
                                                                {PreferenceAttribute::alignment_b, memory.b},
                                                                {PreferenceAttribute::alignment_c, memory.d},
                                                                {PreferenceAttribute::alignment_d, memory.d}};
    for (const auto& [which, address] : operands) RETURN_IF_ERROR(set(which, alignment_of(address)));
    return {};
  }
  void* handle() const { return handle_; }

 private:
  template <typename T>
  Status set(PreferenceAttribute which, const T& value) {
    return lt_.call(lt_.set_preference, handle_, static_cast<int>(which), static_cast<const void*>(&value), sizeof value);
  }
  const CublasLt& lt_;
  void* handle_ = nullptr;
};

Status Product::choose(int64_t workspace_bytes) {
  Preference preference(lt_);
  RETURN_IF_ERROR(preference.make(workspace_bytes, memory_));
  std::array<Algorithm, kCandidates> found;
  int count = 0;
  RETURN_IF_ERROR(lt_.call(lt_.choose, handle_, product_, a_, b_, d_, d_, preference.handle(), kCandidates, found.data(), &count));
  for (const Algorithm& one : std::span(found).first(static_cast<size_t>(std::clamp(count, 0, kCandidates))))
    if (one.state == 0 && one.workspace_bytes <= static_cast<size_t>(workspace_bytes)) algorithms_.push_back(one);
  return algorithms_.empty() ? Status(Error{"cuBLASLt has no algorithm for it"}) : Status();
}

Status Product::run(void* stream, Address workspace) const {
  const auto at = [](Address address) { return reinterpret_cast<void*>(address); };  // of the GPU
  return lt_.call(lt_.multiply, handle_, product_, static_cast<const void*>(alpha_.bytes.data()), static_cast<const void*>(at(memory_.a)),
                  a_, static_cast<const void*>(at(memory_.b)), b_, static_cast<const void*>(beta_.bytes.data()),
                  static_cast<const void*>(at(memory_.d)), d_, at(memory_.d), d_, static_cast<const void*>(algorithm().words),
                  at(algorithm().workspace_bytes > 0 ? workspace : 0), algorithm().workspace_bytes, stream);
}

std::string Product::implementation() const {
  std::string text = fmt::format("cuBLASLt {}: rank {} of {}", text_of_version(lt_), chosen_ + 1, algorithms_.size());
  constexpr std::pair<const char*, AlgorithmAttribute> kAsked[] = {{"algorithm", AlgorithmAttribute::id},
                                                                   {"tile", AlgorithmAttribute::tile},
                                                                   {"stages", AlgorithmAttribute::stages},
                                                                   {"split-K", AlgorithmAttribute::split_k}};
  for (const auto& [name, which] : kAsked) {
    int32_t value = 0;
    size_t written = 0;
    const int failed = lt_.ask_algorithm.address(algorithm().words, static_cast<int>(which), &value, sizeof value, &written);
    if (failed == 0) text += fmt::format(", {} {}", name, value);
  }
  return text + fmt::format(", workspace {} B", algorithm().workspace_bytes);
}

}  // namespace

Error CublasLt::failure(const char* symbol, int code) const {
  const auto found = std::ranges::find(kStatus, code, [](const auto& row) { return row.first; });
  return {fmt::format("{}: {} ({})", symbol, found != std::end(kStatus) ? found->second : "an error of no name", code)};
}

Result<std::unique_ptr<Cublas>> Cublas::open(const Opener& opener) {
  const Opened library = open_library(Library::cublas_lt, opener);
  if (library.handle == nullptr) return Error{fmt::format("no cuBLASLt ({})", library.why)};
  CublasLt lt;
  lt.version = reinterpret_cast<size_t (*)()>(opener.find(library.handle, "cublasLtGetVersion"));
  const char* missing = fill(lt, library.handle, opener);
  if (missing == nullptr && lt.version == nullptr) missing = "cublasLtGetVersion";
  if (missing != nullptr) return Error{fmt::format("cuBLASLt {} has no function {}", library.file, missing)};
  std::unique_ptr<Cublas> made(new Cublas(lt));
  RETURN_IF_ERROR(made->lt_.call(made->lt_.create, &made->handle_));
  return made;
}

Cublas::~Cublas() {
  if (handle_ != nullptr) lt_.destroy.address(handle_);
}

std::string Cublas::version() const { return text_of_version(lt_); }

Result<std::unique_ptr<Routine>> Cublas::product(const Matmul& matmul, const ProductMemory& memory, int64_t workspace_bytes) const {
  auto made = std::make_unique<Product>(lt_, handle_, matmul, memory);
  RETURN_IF_ERROR(made->describe(matmul));
  RETURN_IF_ERROR(made->choose(workspace_bytes));
  return std::unique_ptr<Routine>(std::move(made));
}

}  // namespace replay::cuda
