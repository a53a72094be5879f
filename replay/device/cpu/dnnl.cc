// oneDNN's matrix products behind our own interface. The two versions differ in how a primitive is described and in one post-op's
// arguments; everything else is the same code. The library's exceptions end here: at creation they become an Error, and the C
// interface, which returns a status, executes.
#include "replay/device/cpu/dnnl.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "replay/device/cpu/dnnl_engine.h"
#include "replay/device/cpu/gemm_form.h"

namespace replay::cpu {
namespace {

std::optional<dnnl::memory::data_type> data_type(ir::Type type) {
  switch (type) {
    case ir::Type::f32:
      return dnnl::memory::data_type::f32;
    case ir::Type::f16:
      return dnnl::memory::data_type::f16;
    case ir::Type::bf16:
      return dnnl::memory::data_type::bf16;
    default:
      return std::nullopt;  // f64: nowhere on CPUs; integers: inexact on many
  }
}

enum class Major : uint8_t { row, column };
struct Leading {
  Major major;
  int64_t stride;
};
/// How BLAS describes a matrix: which dimension is adjacent and the stride of the other. Nothing where it can't.
std::optional<Leading> leading(const Gemm::Operand& operand, int64_t rows, int64_t columns) {
  if (operand.column_stride == 1 && operand.row_stride >= columns) return Leading{Major::row, operand.row_stride};
  if (operand.row_stride == 1 && operand.column_stride >= rows) return Leading{Major::column, operand.column_stride};
  return std::nullopt;
}

base::Error refuse(std::string_view what, std::string_view why) {
  return base::Error{fmt::format("{}: {}; use the packed product", what, why)};
}

std::string precision_of(const Gemm& gemm) {
  return fmt::format("{}×{}→f32→{}", ir::text(gemm.a.type), ir::text(gemm.b.type), ir::text(gemm.d.type));
}

class Matmul final : public Product {
 public:
  Matmul(const Gemm& gemm, Order order, int threads, std::shared_ptr<Scratch> scratch, std::unique_ptr<Product> fallback)
      : gemm_(gemm), order_(order), threads_(threads), scratch_(std::move(scratch)), fallback_(std::move(fallback)) {
    const DnnlThreads scope(threads);
    const auto a = describe(gemm.a, gemm.m, gemm.k), b = describe(gemm.b, gemm.k, gemm.n), d = describe(gemm.d, gemm.m, gemm.n);
    const dnnl::primitive_attr attributes = scaling(gemm.alpha, gemm.beta);
    const auto description = dnnl_describe<dnnl::matmul>(attributes, a, b, d);
    implementation_ = description.impl_info_str();
    primitive_ = dnnl::matmul(description);
    scratchpad_ = dnnl::memory(description.scratchpad_desc(), dnnl_engine(), nullptr);
    scratch_bytes_ = static_cast<int64_t>(description.scratchpad_desc().get_size());
    a_ = dnnl::memory(a, dnnl_engine(), nullptr);
    b_ = dnnl::memory(b, dnnl_engine(), nullptr);
    d_ = dnnl::memory(d, dnnl_engine(), nullptr);
    stream_ = dnnl::stream(dnnl_engine());
    arguments_ = {
        {{DNNL_ARG_SRC, a_.get()}, {DNNL_ARG_WEIGHTS, b_.get()}, {DNNL_ARG_DST, d_.get()}, {DNNL_ARG_SCRATCHPAD, scratchpad_.get()}}};
  }

  void run(const void* a, const void* b, void* d) override {
    const DnnlThreads scope(threads_);
    if (!execute(order_ == Order::swapped ? b : a, order_ == Order::swapped ? a : b, d)) fallback_->run(a, b, d);
  }
  std::string implementation() const override { return "oneDNN " + implementation_; }
  std::string precision() const override { return precision_of(gemm_); }
  int64_t scratch_bytes() const override { return scratch_bytes_; }

 private:
  dnnl::memory::desc describe(const Gemm::Operand& operand, int64_t rows, int64_t columns) const {
    dnnl::memory::dims dims{rows, columns}, strides{operand.row_stride, operand.column_stride};
    if (gemm_.batch > 1) {
      const bool shared = operand.batch_stride == 0;
      dims.insert(dims.begin(), shared ? 1 : gemm_.batch);
      strides.insert(strides.begin(), shared ? rows * columns : operand.batch_stride);
    }
    return {dims, *data_type(operand.type), strides};
  }

  static dnnl::primitive_attr scaling(double alpha, double beta) {
    dnnl::post_ops post;
    if (alpha != 1) dnnl_scale(post, static_cast<float>(alpha));
    if (beta != 0) post.append_sum(static_cast<float>(beta));
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(post);
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);  // else the library allocates at every execution
    return attributes;
  }

  bool execute(const void* a, const void* b, void* d) {
    const std::pair<dnnl_memory_t, void*> places[] = {{a_.get(), const_cast<void*>(a)},
                                                      {b_.get(), const_cast<void*>(b)},
                                                      {d_.get(), d},
                                                      {scratchpad_.get(), scratch_->pieces(1, scratch_bytes_).front()}};
    for (const auto& [memory, data] : places) {
      if (dnnl_memory_set_data_handle(memory, data) != dnnl_success) return false;
    }
    return dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data()) ==
               dnnl_success &&
           dnnl_stream_wait(stream_.get()) == dnnl_success;
  }

  Gemm gemm_;
  Order order_;
  int threads_;
  std::shared_ptr<Scratch> scratch_;
  std::unique_ptr<Product> fallback_;
  std::string implementation_;
  dnnl::matmul primitive_;
  dnnl::memory a_, b_, d_, scratchpad_;
  dnnl::stream stream_;
  std::array<dnnl_exec_arg_t, 4> arguments_{};
  int64_t scratch_bytes_ = 0;
};

class Sgemm final : public Product {
 public:
  Sgemm(const Gemm& gemm, Order order, Leading a, Leading b, int threads, std::unique_ptr<Product> fallback)
      : gemm_(gemm), order_(order), a_(a), b_(b), threads_(threads), fallback_(std::move(fallback)) {}

  void run(const void* a, const void* b, void* d) override {
    const DnnlThreads scope(threads_);
    const auto* left = static_cast<const float*>(order_ == Order::swapped ? b : a);
    const auto* right = static_cast<const float*>(order_ == Order::swapped ? a : b);
    const dnnl_status_t status =
        dnnl_sgemm(letter(a_), letter(b_), gemm_.m, gemm_.n, gemm_.k, static_cast<float>(gemm_.alpha), left, a_.stride, right, b_.stride,
                   static_cast<float>(gemm_.beta), static_cast<float*>(d), gemm_.d.row_stride);
    if (status != dnnl_success) fallback_->run(a, b, d);
  }
  std::string implementation() const override { return "oneDNN sgemm"; }
  std::string precision() const override { return precision_of(gemm_); }
  int64_t scratch_bytes() const override { return 0; }

 private:
  static char letter(const Leading& leading) { return leading.major == Major::row ? 'N' : 'T'; }

  Gemm gemm_;
  Order order_;
  Leading a_, b_;
  int threads_;
  std::unique_ptr<Product> fallback_;
};

bool empty(const Gemm& gemm) { return gemm.batch == 0 || gemm.m == 0 || gemm.n == 0 || gemm.k == 0; }

}  // namespace

std::string dnnl_version_text() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
}

base::Result<std::unique_ptr<Product>> make_dnnl_matmul(const replay::Gemm& gemm, int threads, std::shared_ptr<Scratch> scratch,
                                                        std::unique_ptr<Product> fallback) {
  ASSIGN_OR_RETURN(const Form form, form_of(gemm));
  const Gemm& g = form.gemm;
  for (const Gemm::Operand* operand : {&g.a, &g.b, &g.d}) {
    if (!data_type(operand->type)) return refuse("oneDNN matmul", fmt::format("no exact {}", ir::text(operand->type)));
    if (operand->batch_stride < 0) return refuse("oneDNN matmul", "a batch that runs backwards");
  }
  const auto d = leading(g.d, g.m, g.n);
  if (empty(g) || !leading(g.a, g.m, g.k) || !leading(g.b, g.k, g.n) || !d || d->major != Major::row) {
    return refuse("oneDNN matmul", "no elements, or strides that BLAS can't describe");
  }
  try {
    auto product = std::make_unique<Matmul>(g, form.order, threads, std::move(scratch), std::move(fallback));
    if (product->implementation().find("ref") != std::string::npos) return refuse("oneDNN matmul", "only a reference implementation");
    return std::unique_ptr<Product>(std::move(product));
  } catch (const dnnl::error& error) {
    return refuse("oneDNN matmul", error.what());
  }
}

base::Result<std::unique_ptr<Product>> make_dnnl_sgemm(const replay::Gemm& gemm, int threads, std::shared_ptr<Scratch>,
                                                       std::unique_ptr<Product> fallback) {
  ASSIGN_OR_RETURN(const Form form, form_of(gemm));
  const Gemm& g = form.gemm;
  const auto a = leading(g.a, g.m, g.k), b = leading(g.b, g.k, g.n), d = leading(g.d, g.m, g.n);
  const bool f32 = g.a.type == ir::Type::f32 && g.b.type == ir::Type::f32 && g.d.type == ir::Type::f32;
  if (!f32 || g.batch != 1 || empty(g) || g.alpha == 0 || !a || !b || !d || d->major != Major::row) {
    return refuse("oneDNN sgemm", "not a single f32 product with BLAS strides");
  }
  return std::unique_ptr<Product>(std::make_unique<Sgemm>(g, form.order, *a, *b, threads, std::move(fallback)));
}

}  // namespace replay::cpu
