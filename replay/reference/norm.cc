// Batch normalisation: statistics over all dimensions but one, in f64.
#include <algorithm>
#include <cmath>

#include "replay/reference/ops.h"

namespace replay::reference {
namespace {

/// The feature that each element belongs to, and the elements a feature has.
struct Features {
  Indices of;
  size_t count = 0;
  double each = 1, epsilon = 0;
};

Features features_of(const Call& call) {
  const ir::Shape& shape = call.operand_shape(0);
  const int64_t d = ir::attr_int(call.module(), call.instr, "feature_index").value_or(0);
  Features features;
  if (d < 0 || d >= shape.rank() || kind_of(shape.type) != Kind::real) {
    call.fail("takes floats and a feature dimension of them");
    return features;
  }
  Indices strides(shape.dims.size(), 0), all(static_cast<size_t>(ir::elements(shape)));
  strides[static_cast<size_t>(d)] = 1;
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  features.of = affine(shape.dims, strides, 0, all);
  features.count = static_cast<size_t>(shape.dims[static_cast<size_t>(d)]);
  features.each = features.count == 0 ? 1 : static_cast<double>(all.size()) / static_cast<double>(features.count);
  const std::string epsilon(ir::attr_text(call.module(), call.instr, "epsilon").value_or("0"));
  features.epsilon = std::strtod(epsilon.c_str(), nullptr);
  return features;
}

/// Mean over the elements of each feature of term(i).
template <typename Term>
std::vector<double> sums(const Features& features, Term term) {
  std::vector<double> out(features.count, 0.0);
  for (size_t i = 0; i < features.of.size(); ++i) out[static_cast<size_t>(features.of[i])] += term(i);
  return out;
}

Values bounded(const Call& call, ir::Type type, std::vector<double> values, double terms) {
  Values out;
  out.type = type;
  out.re = std::move(values);
  double largest = 0;
  for (const double v : out.re) largest = std::isfinite(v) ? std::max(largest, std::fabs(v)) : largest;
  for (size_t i = 0; call.in.bounds() && i < out.re.size(); ++i) set_bound(out, i, (16 + 4 * std::sqrt(terms)) * unit(type) * largest);
  return out;
}

/// Operand k, checked to have one value a feature.
Batch per_feature(const Call& call, size_t k, const Features& features) {
  const Batch values = call.whole(k);
  if (values->re.size() != features.count) call.fail("has statistics that do not fit its features");
  return values;
}

std::vector<double> normalised(const Features& features, const Values& x, const std::vector<double>& scale,
                               const std::vector<double>& offset, const std::vector<double>& mean, const std::vector<double>& variance) {
  std::vector<double> out(x.re.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const auto f = static_cast<size_t>(features.of[i]);
    out[i] = scale[f] * (x.re[i] - mean[f]) / std::sqrt(variance[f] + features.epsilon) + offset[f];
  }
  return out;
}

}  // namespace

std::vector<Values> batch_norm_training(const Call& call) {
  const Features features = features_of(call);
  const Batch x = call.whole(0), scale = per_feature(call, 1, features), offset = per_feature(call, 2, features);
  if (call.in.failed()) return {};
  std::vector<double> mean = sums(features, [&](size_t i) { return x->re[i] / features.each; });
  std::vector<double> variance = sums(features, [&](size_t i) {
    const double d = x->re[i] - mean[static_cast<size_t>(features.of[i])];
    return d * d / features.each;
  });
  std::vector<Values> out;
  out.push_back(bounded(call, x->type, normalised(features, *x, scale->re, offset->re, mean, variance), features.each));
  out.push_back(bounded(call, scale->type, std::move(mean), features.each));
  out.push_back(bounded(call, scale->type, std::move(variance), features.each));
  return out;
}

std::vector<Values> batch_norm_inference(const Call& call) {
  const Features features = features_of(call);
  const Batch x = call.whole(0), scale = per_feature(call, 1, features), offset = per_feature(call, 2, features);
  const Batch mean = per_feature(call, 3, features), variance = per_feature(call, 4, features);
  if (call.in.failed()) return {};
  std::vector<Values> out;
  out.push_back(bounded(call, x->type, normalised(features, *x, scale->re, offset->re, mean->re, variance->re), 1));
  return out;
}

std::vector<Values> batch_norm_grad(const Call& call) {
  const Features features = features_of(call);
  const Batch x = call.whole(0), scale = per_feature(call, 1, features), mean = per_feature(call, 2, features);
  const Batch variance = per_feature(call, 3, features), grad = call.whole(4);
  if (call.in.failed() || grad->re.size() != x->re.size()) return {};
  const auto centred = [&](size_t i) { return x->re[i] - mean->re[static_cast<size_t>(features.of[i])]; };
  std::vector<double> offset_grad = sums(features, [&](size_t i) { return grad->re[i]; });
  const std::vector<double> products = sums(features, [&](size_t i) { return grad->re[i] * centred(i); });
  std::vector<double> scale_grad(features.count), x_grad(x->re.size());
  for (size_t f = 0; f < features.count; ++f) scale_grad[f] = products[f] / std::sqrt(variance->re[f] + features.epsilon);
  for (size_t i = 0; i < x_grad.size(); ++i) {
    const auto f = static_cast<size_t>(features.of[i]);
    const double total = variance->re[f] + features.epsilon;
    x_grad[i] =
        scale->re[f] / std::sqrt(total) * (grad->re[i] - offset_grad[f] / features.each - centred(i) * products[f] / features.each / total);
  }
  std::vector<Values> out;
  out.push_back(bounded(call, x->type, std::move(x_grad), features.each));
  out.push_back(bounded(call, scale->type, std::move(scale_grad), features.each));
  out.push_back(bounded(call, scale->type, std::move(offset_grad), features.each));
  return out;
}

}  // namespace replay::reference
