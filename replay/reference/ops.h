// The functions behind the table of ops, by class. Each answers one request; see interpreter.h.
#pragma once

#include "replay/reference/interpreter.h"

namespace replay::reference {

// elementwise.cc: by the kind of the operands, each with tables of plain functions; bounds beside them.
Batch unary(const Call& call);
Batch binary(const Call& call);
Batch compare(const Call& call);
Batch select(const Call& call);
Batch clamp(const Call& call);
Batch is_finite(const Call& call);
Batch complex_parts(const Call& call);  ///< real, imag
Batch make_complex(const Call& call);
Batch reduce_precision(const Call& call);
// convert.cc
Batch convert(const Call& call);
Values converted(Values x, ir::Type type);  ///< as convert does; floats are rounded by the caller
Batch bitcast_convert(const Call& call);
/// Operand 0 as elements of the result's type: its elements in some order, one after the other, are one string of bits, the lowest first.
/// `elements`: numbers of results in that string; `to_logical`: logical indices of numbers of operands.
using ToLogical = std::function<Indices(const Indices&)>;
Batch reinterpreted(const Call& call, const Indices& elements, const ToLogical& to_logical);
Batch stochastic_convert(const Call& call);

/// One application of a two-argument op to element i of `a` and j of `b`, into a: what reducers do. Real sums and products without
/// rounding.
void combine(ir::Op op, Values& a, size_t i, const Values& b, size_t j);

// move.cc
Batch constant(const Call& call);
Batch iota(const Call& call);
Batch parameter(const Call& call);
Batch identity(const Call& call);
Batch bitcast(const Call& call);
Batch broadcast(const Call& call);
Batch transpose(const Call& call);
Batch reverse(const Call& call);
Batch slice(const Call& call);
Batch pad(const Call& call);
Batch concatenate(const Call& call);
Batch zero(const Call& call);
Batch device_number(const Call& call);  ///< replica-id, partition-id
Batch dimension_size(const Call& call);
Batch set_dimension_size(const Call& call);
// index.cc
Batch dynamic_slice(const Call& call);
Batch dynamic_update_slice(const Call& call);
Batch gather(const Call& call);
Batch scatter(const Call& call);
// reduce.cc, window.cc
Batch reduce(const Call& call);
Batch reduce_window(const Call& call);
std::vector<Values> select_and_scatter(const Call& call);
std::vector<Values> scan(const Call& call);
// contract.cc
Batch dot(const Call& call);
Batch convolution(const Call& call);
// control.cc
Batch tuple(const Call& call);
Batch get_tuple_element(const Call& call);
Batch forward(const Call& call);  ///< all leaves of operand 0
Batch called(const Call& call);   ///< fusion, call
Batch map(const Call& call);
Batch async_start(const Call& call);
Batch async_done(const Call& call);   ///< element 1 of its start
Batch custom_call(const Call& call);  // custom_calls.cc
Batch collective(const Call& call);   ///< one device: what the others hold is what this one holds
std::vector<Values> while_loop(const Call& call);
std::vector<Values> conditional(const Call& call);
/// "" if the target of a custom call is known.
std::string unknown_target(const ir::Module& module, ir::InstrRef at);
/// "" if the form of a call of cuDNN's convolutions is.
std::string unknown_convolution(const ir::Module& module, ir::InstrRef at);
// sort.cc, linear.cc, fft.cc, norm.cc, random.cc
std::vector<Values> sort(const Call& call);
std::vector<Values> topk(const Call& call);
enum class Order : uint8_t { ascending, descending };
/// The first k of each line of operand 0 in an order, and their places, s32.
std::vector<Values> largest(const Call& call, int64_t k, Order order);
std::vector<Values> cholesky(const Call& call);
std::vector<Values> triangular_solve(const Call& call);
std::vector<Values> fft(const Call& call);
std::vector<Values> batch_norm_training(const Call& call);
std::vector<Values> batch_norm_inference(const Call& call);
std::vector<Values> batch_norm_grad(const Call& call);
std::vector<Values> rng_bit_generator(const Call& call);
Batch rng(const Call& call);
Batch rng_state(const Call& call);
Batch threefry_call(const Call& call);  ///< (k0, k1, x0, x1) → both words of each block
// contract_ragged.cc
Batch ragged_dot(const Call& call);
Batch scaled_dot(const Call& call);
Batch scaled_dot_call(const Call& call);  ///< __op$block_scaled_dot: sums over the last dimension of both
// lapack_calls.cc, eigen_calls.cc, singular_calls.cc, banded_calls.cc: custom calls of LAPACK, of the GPUs' libraries and of XLA for TPU
std::vector<Values> tpu_lu(const Call& call);
std::vector<Values> tpu_eigh(const Call& call);
std::vector<Values> pivots_to_permutation(const Call& call);
std::vector<Values> lapack_potrf(const Call& call);
std::vector<Values> lapack_getrf(const Call& call);
std::vector<Values> lapack_geqrf(const Call& call);
std::vector<Values> lapack_orgqr(const Call& call);
std::vector<Values> lapack_trsm(const Call& call);
std::vector<Values> lapack_syevd(const Call& call);
std::vector<Values> lapack_gesdd(const Call& call);  ///< also gesvd
std::vector<Values> jacobi_svd(const Call& call);    ///< cuSOLVER's: V in the place of Vᴴ
std::vector<Values> lapack_gtsv(const Call& call);
std::vector<Values> gpu_gtsv(const Call& call);  ///< the solution alone
std::vector<Values> csr_product(const Call& call);
// convolution_calls.cc: cuDNN's custom calls
std::vector<Values> cudnn_forward(const Call& call);
std::vector<Values> cudnn_backward_input(const Call& call);
std::vector<Values> cudnn_backward_filter(const Call& call);

}  // namespace replay::reference
