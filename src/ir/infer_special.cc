// Shapes of operations with rules of their own: solvers, random numbers, normalisation, windows that scatter, sizes, the largest k.
#include <algorithm>

#include "src/ir/infer_rules.h"

namespace ir::rules {
namespace {

bool same_size(int64_t a, int64_t b) { return a == b || a < 0 || b < 0; }
bool is_number(const Shape& shape) { return is_float(shape.type) || is_complex(shape.type); }

/// "" if the last two dimensions are equal.
std::string not_square(const In& in, const Shape& a) {
  if (!is_number(a)) return fmt::format("{} takes floating or complex numbers, got {}", text(in.instr.op), show(a));
  if (a.rank() < 2 || !same_size(a.dims.back(), a.dims[a.dims.size() - 2]))
    return fmt::format("{} takes square matrices in the last two dimensions, got {}", text(in.instr.op), show(a));
  return "";
}

Inferred cholesky(const In& in) {
  const std::string what = not_square(in, in.operand(0));
  return what.empty() ? follows(in.operand(0)) : broken("{}", what);
}

/// a·x = b, or x·a = b where left_side=false.
Inferred triangular_solve(const In& in) {
  const Shape &a = in.operand(0), &b = in.operand(1);
  if (const std::string what = not_square(in, a); !what.empty()) return broken("{}", what);
  if (a.rank() != b.rank() || a.type != b.type)
    return broken("triangular-solve takes arrays of one rank and type, got {} and {}", show(a), show(b));
  const size_t shared = b.dims.size() - (attr_true(in.module, in.instr, "left_side") ? 2 : 1);
  if (!same_size(b.dims[shared], a.dims.back()))
    return broken("triangular-solve: dimension {} of {} is not the size of the matrices in {}", shared, show(b), show(a));
  for (size_t i = 0; i + 2 < a.dims.size(); ++i) {
    if (!same_size(a.dims[i], b.dims[i])) return broken("triangular-solve: {} and {} differ in dimension {}", show(a), show(b), i);
  }
  return follows(b);
}

/// Scale, offset and the like are vectors along the feature dimension.
std::string not_normal(const In& in, size_t first, size_t last) {
  const Shape& x = in.operand(0);
  const int64_t feature = attr_int(in.module, in.instr, "feature_index").value_or(-1);
  if (feature < 0 || feature >= x.rank())
    return fmt::format("{}: feature_index={} is not a dimension of {}", text(in.instr.op), feature, show(x));
  for (size_t i = first; i <= last; ++i) {
    const Shape& vector = in.operand(i);
    if (vector.rank() != 1 || !same_size(vector.dims[0], x.dims[static_cast<size_t>(feature)]))
      return fmt::format("{}: operand {} is a vector of dimension {} of {}, got {}", text(in.instr.op), i, feature, show(x), show(vector));
  }
  return "";
}

Inferred batch_norm_training(const In& in) {
  const std::string what = not_normal(in, 1, 2);
  return what.empty() ? follows(tuple_shape({in.operand(0), in.operand(1), in.operand(1)})) : broken("{}", what);
}
Inferred batch_norm_inference(const In& in) {
  const std::string what = not_normal(in, 1, 4);
  return what.empty() ? follows(in.operand(0)) : broken("{}", what);
}
Inferred batch_norm_grad(const In& in) {
  const std::string what = not_normal(in, 1, 3);
  if (what.empty() && !fits_but_for_precision(in.operand(0), in.operand(4)))
    return broken("batch-norm-grad: the gradient {} has not the shape of {}", show(in.operand(4)), show(in.operand(0)));
  return what.empty() ? follows(tuple_shape({in.operand(0), in.operand(1), in.operand(1)})) : broken("{}", what);
}

/// The windows choose one element for each of the source.
Inferred select_and_scatter(const In& in) {
  const Shape &operand = in.operand(0), &source = in.operand(1);
  const auto window = attr_window(in.module, in.instr);
  if (!window.ok()) return broken("{}", window.error().message);
  if (!fits_but_for_precision(in.operand(2), array_shape(operand.type, {})))
    return broken("select-and-scatter into {} begins with a scalar of its type, got {}", show(operand), show(in.operand(2)));
  if (window->empty()) return follows(operand);  // a window of ones
  if (window->size() != operand.dims.size())
    return broken("select-and-scatter: the window has {} dimensions, {} has {}", window->size(), show(operand), operand.rank());
  Shape windows = operand;
  for (size_t i = 0; i < operand.dims.size(); ++i) windows.dims[i] = operand.dims[i] < 0 ? -1 : windowed(operand.dims[i], (*window)[i]);
  if (!fits_but_for_precision(windows, source))
    return broken("select-and-scatter: the windows of {} are {}, the source is {}", show(operand),
                  show(array_shape(windows.type, windows.dims)), show(source));
  return follows(operand);
}

/// (state, bits), or the bits alone.
Inferred rng_bit_generator(const In& in) {
  if (in.declared() == nullptr) return as_written();
  const Shape& result = *in.declared();
  const Shape& bits = result.is_tuple() && result.elements.size() == 2 ? result.elements[1] : result;
  if (!is_integer(bits.type) && !is_float(bits.type)) return broken("rng-bit-generator gives numbers of one type, got {}", show(result));
  if (result.is_tuple() && (result.elements.size() != 2 || !fits(result.elements[0], in.operand(0))))
    return broken("rng-bit-generator gives (state, bits) with the state {}, got {}", show(in.operand(0)), show(result));
  return follows(result);
}

/// Two scalars; one of a distribution that is gone, and a third, the sizes, in texts made by hand.
Inferred rng(const In& in) {
  for (size_t i = 0; i < std::min<size_t>(in.count(), 2); ++i) {
    if (!in.operand(i).dims.empty()) return broken("rng takes scalars, got {}", show(in.operand(i)));
  }
  return in.declared() != nullptr ? follows(*in.declared()) : as_written();
}

/// (the largest k along the last dimension, their places).
Inferred topk(const In& in) {
  const Shape& from = in.operand(0);
  const int64_t k = attr_int(in.module, in.instr, "k").value_or(-1);
  if (from.dims.empty() || k < 0 || (from.dims.back() >= 0 && k > from.dims.back()))
    return broken("topk: k={} is not within the last dimension of {}", k, show(from));
  std::vector<int64_t> dims = from.dims;
  dims.back() = k;
  return follows(tuple_shape({array_shape(from.type, dims), array_shape(Type::s32, dims)}));
}

/// One size, a scalar, for each dimension of the result.
Inferred dynamic_reshape(const In& in) {
  if (in.count() == 0) return broken("dynamic-reshape takes an array and its sizes");
  if (in.declared() == nullptr) return as_written();
  if (!in.operand(0).is_array() || !fits_but_for_precision(array_shape(in.operand(0).type, {}), array_shape(in.declared()->type, {})))
    return broken("dynamic-reshape gives an array of its operand's type, got {} of {}", show(*in.declared()), show(in.operand(0)));
  for (size_t i = 1; i < in.count(); ++i) {
    if (!is_integer(in.operand(i).type) || !in.operand(i).dims.empty())
      return broken("dynamic-reshape takes sizes of s32[], got {}", show(in.operand(i)));
  }
  if (in.count() - 1 != in.declared()->dims.size())
    return broken("dynamic-reshape to {} takes {} sizes, got {}", show(*in.declared()), in.declared()->rank(), in.count() - 1);
  return follows(*in.declared());
}

struct SpecialRow {
  Op op;
  Rule rule;
};
constexpr SpecialRow kSpecialRows[] = {
    {Op::cholesky, cholesky},
    {Op::triangular_solve, triangular_solve},
    {Op::batch_norm_training, batch_norm_training},
    {Op::batch_norm_inference, batch_norm_inference},
    {Op::batch_norm_grad, batch_norm_grad},
    {Op::select_and_scatter, select_and_scatter},
    {Op::rng_bit_generator, rng_bit_generator},
    {Op::rng, rng},
    {Op::topk, topk},
    {Op::dynamic_reshape, dynamic_reshape},
};

}  // namespace

Rule special_rule(Op op) {
  const auto row = std::ranges::find(kSpecialRows, op, &SpecialRow::op);
  return row == std::end(kSpecialRows) ? nullptr : row->rule;
}

}  // namespace ir::rules
