// What all uses of oneDNN share, and all that differs between its versions 2 and 3; only dnnl*.cc include this.
#pragma once

#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>

namespace replay::cpu {

/// oneDNN takes its thread count from OpenMP, at creation and at execution: both must see the same.
class DnnlThreads {
 public:
  explicit DnnlThreads(int count) : before_(omp_get_max_threads()) {
    if (count != before_) omp_set_num_threads(count);
    changed_ = count != before_;
  }
  ~DnnlThreads() {
    if (changed_) omp_set_num_threads(before_);
  }
  DnnlThreads(const DnnlThreads&) = delete;
  DnnlThreads& operator=(const DnnlThreads&) = delete;

 private:
  int before_;
  bool changed_ = false;
};

inline const dnnl::engine& dnnl_engine() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

#if DNNL_VERSION_MAJOR >= 3

/// The description of a Primitive from its numbers, in oneDNN's order.
template <class Primitive, class... Numbers>
typename Primitive::primitive_desc dnnl_describe(const dnnl::primitive_attr& attributes, const Numbers&... numbers) {
  return {dnnl_engine(), numbers..., attributes};
}
/// The same of a backward pass; `hint` is the description of its forward pass.
template <class Primitive, class Hint, class... Numbers>
typename Primitive::primitive_desc dnnl_describe_backward(const dnnl::primitive_attr& attributes, const Hint& hint,
                                                          const Numbers&... numbers) {
  return {dnnl_engine(), numbers..., hint, attributes};
}
inline dnnl::memory::dims dnnl_sizes(const dnnl::memory::desc& desc) { return desc.get_dims(); }
inline void dnnl_scale(dnnl::post_ops& post, float factor) { post.append_eltwise(dnnl::algorithm::eltwise_linear, factor, 0); }

#else

template <class Primitive, class... Numbers>
typename Primitive::primitive_desc dnnl_describe(const dnnl::primitive_attr& attributes, const Numbers&... numbers) {
  return {typename Primitive::desc(numbers...), attributes, dnnl_engine()};
}
template <class Primitive, class Hint, class... Numbers>
typename Primitive::primitive_desc dnnl_describe_backward(const dnnl::primitive_attr& attributes, const Hint& hint,
                                                          const Numbers&... numbers) {
  return {typename Primitive::desc(numbers...), attributes, dnnl_engine(), hint};
}
inline dnnl::memory::dims dnnl_sizes(const dnnl::memory::desc& desc) { return desc.dims(); }
inline void dnnl_scale(dnnl::post_ops& post, float factor) { post.append_eltwise(1, dnnl::algorithm::eltwise_linear, factor, 0); }

#endif

}  // namespace replay::cpu
