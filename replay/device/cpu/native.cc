// One row a kind of library op.
#include "replay/device/cpu/native.h"

namespace replay::cpu {
namespace {

struct Maker {
  int threads;
  std::shared_ptr<Scratch> scratch;
  using Made = base::Result<std::unique_ptr<Native>>;
  Made operator()(const Convolution& op) const { return make_convolution(op, threads, scratch); }
  Made operator()(const Fft& op) const { return make_fft(op, threads, scratch); }
  Made operator()(const Cholesky& op) const { return make_cholesky(op, threads, scratch); }
  Made operator()(const TriangularSolve& op) const { return make_triangular_solve(op, threads, scratch); }
  Made operator()(const TopK& op) const { return make_top_k(op, threads, scratch); }
  Made operator()(const Permute& op) const { return make_permute(op, threads, scratch); }
};

}  // namespace

base::Result<std::unique_ptr<Native>> make_native(const LibraryOp& op, int threads, std::shared_ptr<Scratch> scratch) {
  return std::visit(Maker{threads, std::move(scratch)}, op);
}

}  // namespace replay::cpu
