// What all uses of oneDNN share; only dnnl*.cc include this.
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

}  // namespace replay::cpu
