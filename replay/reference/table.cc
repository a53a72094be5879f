// The table of ops: one row an op. Ops without a row are what the reference lacks.
#include <array>

#include "replay/reference/ops.h"

namespace replay::reference {
namespace {

using Op = ir::Op;

constexpr OpRow elementwise(Op op, EvalFn eval) { return {.op = op, .eval = eval, .lanes = true}; }
/// Values pass unchanged; those of one element also inside scalar computations.
constexpr OpRow moving(Op op, EvalFn eval, bool lanes = false) { return {.op = op, .eval = eval, .rounds = false, .lanes = lanes}; }
constexpr OpRow summing(Op op, EvalFn eval) { return {.op = op, .eval = eval, .heavy = true}; }
constexpr OpRow whole(Op op, WholeFn function, bool rounds = true) { return {.op = op, .whole = function, .rounds = rounds}; }

constexpr OpRow kRows[] = {
    moving(Op::parameter, parameter, true),
    moving(Op::constant, constant, true),
    elementwise(Op::iota, iota),
    moving(Op::replica_id, device_number),
    moving(Op::partition_id, device_number),
    moving(Op::after_all, zero),
    elementwise(Op::abs, unary),
    elementwise(Op::negate, unary),
    elementwise(Op::sign, unary),
    elementwise(Op::floor, unary),
    elementwise(Op::ceil, unary),
    elementwise(Op::round_nearest_afz, unary),
    elementwise(Op::round_nearest_even, unary),
    elementwise(Op::sqrt, unary),
    elementwise(Op::rsqrt, unary),
    elementwise(Op::cbrt, unary),
    elementwise(Op::exponential, unary),
    elementwise(Op::exponential_minus_one, unary),
    elementwise(Op::log, unary),
    elementwise(Op::log_plus_one, unary),
    elementwise(Op::logistic, unary),
    elementwise(Op::tanh, unary),
    elementwise(Op::tan, unary),
    elementwise(Op::sine, unary),
    elementwise(Op::cosine, unary),
    elementwise(Op::sinh, unary),
    elementwise(Op::cosh, unary),
    elementwise(Op::asin, unary),
    elementwise(Op::acos, unary),
    elementwise(Op::asinh, unary),
    elementwise(Op::acosh, unary),
    elementwise(Op::atanh, unary),
    elementwise(Op::erf, unary),
    elementwise(Op::not_, unary),
    elementwise(Op::popcnt, unary),
    elementwise(Op::count_leading_zeros, unary),
    elementwise(Op::is_finite, is_finite),
    moving(Op::real, complex_parts, true),
    moving(Op::imag, complex_parts, true),
    elementwise(Op::convert, convert),
    moving(Op::bitcast_convert, bitcast_convert, true),
    moving(Op::bitcast, bitcast, true),
    elementwise(Op::reduce_precision, reduce_precision),
    moving(Op::copy, forward, true),
    moving(Op::opt_barrier, forward, true),
    moving(Op::domain, forward, true),
    elementwise(Op::add, binary),
    elementwise(Op::subtract, binary),
    elementwise(Op::multiply, binary),
    elementwise(Op::divide, binary),
    elementwise(Op::remainder, binary),
    moving(Op::maximum, binary, true),
    moving(Op::minimum, binary, true),
    elementwise(Op::power, binary),
    elementwise(Op::atan2, binary),
    elementwise(Op::and_, binary),
    elementwise(Op::or_, binary),
    elementwise(Op::xor_, binary),
    elementwise(Op::shift_left, binary),
    elementwise(Op::shift_right_logical, binary),
    elementwise(Op::shift_right_arithmetic, binary),
    elementwise(Op::mulhi, binary),
    elementwise(Op::complex, make_complex),
    elementwise(Op::compare, compare),
    moving(Op::select, select, true),
    moving(Op::clamp, clamp, true),
    elementwise(Op::stochastic_convert, stochastic_convert),
    elementwise(Op::map, map),
    moving(Op::broadcast, broadcast, true),
    moving(Op::reshape, identity, true),
    moving(Op::transpose, transpose, true),
    moving(Op::reverse, reverse),
    moving(Op::slice, slice),
    moving(Op::dynamic_slice, dynamic_slice),
    moving(Op::dynamic_update_slice, dynamic_update_slice),
    moving(Op::concatenate, concatenate),
    moving(Op::pad, pad),
    moving(Op::gather, gather),
    summing(Op::scatter, scatter),
    moving(Op::tuple, tuple, true),
    moving(Op::get_tuple_element, get_tuple_element, true),
    moving(Op::get_dimension_size, dimension_size),
    moving(Op::set_dimension_size, set_dimension_size),
    moving(Op::dynamic_reshape, identity),
    moving(Op::copy_start, collective),
    moving(Op::copy_done, forward),
    moving(Op::add_dependency, identity, true),
    summing(Op::dot, dot),
    summing(Op::convolution, convolution),
    whole(Op::fft, fft),
    whole(Op::triangular_solve, triangular_solve),
    whole(Op::cholesky, cholesky),
    whole(Op::sort, sort, false),
    whole(Op::topk, topk, false),
    summing(Op::reduce, reduce),
    summing(Op::reduce_window, reduce_window),
    whole(Op::select_and_scatter, select_and_scatter),
    whole(Op::scan, scan),
    whole(Op::batch_norm_training, batch_norm_training),
    whole(Op::batch_norm_inference, batch_norm_inference),
    whole(Op::batch_norm_grad, batch_norm_grad),
    elementwise(Op::call, called),
    elementwise(Op::fusion, called),
    whole(Op::while_, while_loop, false),
    whole(Op::conditional, conditional, false),
    summing(Op::custom_call, custom_call),
    elementwise(Op::async_start, async_start),
    moving(Op::async_update, forward),
    moving(Op::async_done, async_done),
    elementwise(Op::rng, rng),
    whole(Op::rng_bit_generator, rng_bit_generator, false),
    moving(Op::rng_get_and_update_state, rng_state),
    summing(Op::ragged_dot, ragged_dot),
    summing(Op::scaled_dot, scaled_dot),
    moving(Op::all_reduce, collective),
    moving(Op::all_gather, collective),
    moving(Op::reduce_scatter, collective),
    moving(Op::all_to_all, collective),
    moving(Op::collective_broadcast, collective),
    moving(Op::collective_permute, collective),
    moving(Op::all_reduce_start, collective),
    moving(Op::all_reduce_done, forward),
    moving(Op::all_gather_start, collective),
    moving(Op::all_gather_done, async_done),
    moving(Op::collective_permute_start, collective),
    moving(Op::collective_permute_done, async_done),
};

constexpr size_t kOps = static_cast<size_t>(Op::collective_permute_done) + 1;

/// Rows by opcode.
constexpr std::array<int16_t, kOps> indexed() {
  std::array<int16_t, kOps> out{};
  out.fill(-1);
  int16_t next = 0;
  for (const OpRow& row : kRows) out[static_cast<size_t>(row.op)] = next++;
  return out;
}

}  // namespace

const OpRow* find_row(Op op) {
  static constexpr std::array<int16_t, kOps> by_op = indexed();
  const int16_t row = by_op[static_cast<size_t>(op)];
  return row < 0 ? nullptr : &kRows[row];
}

}  // namespace replay::reference
