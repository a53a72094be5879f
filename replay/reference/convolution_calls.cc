// cuDNN's convolutions by their definition. Window and labels are those of the forward convolution y = x ∗ w in all three:
//   y[n, o, p]  =  Σ_{i, q} x[n, i, p·stride + q·dilation − pad] · w[q, i, o]
// A gradient sums the same products into another of the three arrays.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <span>

#include <fmt/format.h>
#include "replay/reference/contract.h"
#include "src/base/text.h"

namespace replay::reference {
namespace {

struct Forward {
  ir::ConvDims dims;
  std::vector<ir::WindowDim> window;
  const ir::Shape *x, *w, *y;
  int64_t groups = 1;
};

/// `backend_config` without quotes, underscores and case: it is JSON with keys in two spellings ("convResultScale", "conv_result_scale"),
/// in XLA's own tests also without quotes.
std::string config_of(const ir::Module& module, const ir::Instr& instr) {
  std::string text(ir::attr_text(module, instr, "backend_config").value_or(""));
  std::erase_if(text, [](char c) { return c == '"' || c == '\\' || c == '_' || c == ' '; });
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

double number_after(const Call& call, const std::string& key, double otherwise) {
  const std::string text = config_of(call.module(), call.instr);
  const size_t at = text.find(key + ":");
  return at == std::string::npos ? otherwise : std::strtod(text.c_str() + at + key.size() + 1, nullptr);
}

/// The activation: cuDNN's number, or its name in lower case.
std::string activation_of(const ir::Module& module, const ir::Instr& instr) {
  const std::string text = config_of(module, instr), key = "activationmode:";
  const size_t at = text.find(key);
  return at == std::string::npos ? "" : text.substr(at + key.size(), text.find_first_of(",}", at) - at - key.size());
}

base::Result<Forward> forward_of(const Call& call, const ir::Shape& x, const ir::Shape& w, const ir::Shape& y) {
  Forward f{{}, {}, &x, &w, &y};
  ASSIGN_OR_RETURN(f.dims, ir::attr_conv_dims(call.module(), call.instr));
  ASSIGN_OR_RETURN(f.window, ir::attr_window(call.module(), call.instr));
  const size_t spatial = f.dims.in_spatial.size();
  if (f.window.empty()) f.window.resize(spatial);
  f.groups = std::max<int64_t>(1, ir::attr_int(call.module(), call.instr, "feature_group_count").value_or(1));
  const auto rank = static_cast<int>(spatial) + 2;
  if (f.window.size() != spatial || x.rank() != rank || w.rank() != rank || y.rank() != rank)
    return base::Error{"has dimension labels, a window and operands of different ranks"};
  const auto dim = [](const ir::Shape& shape, int64_t d) { return shape.dims[static_cast<size_t>(d)]; };
  bool fits = dim(w, f.dims.kernel_in) * f.groups == dim(x, f.dims.in_feature) && dim(w, f.dims.kernel_out) == dim(y, f.dims.out_feature) &&
              dim(x, f.dims.in_batch) == dim(y, f.dims.out_batch);
  fits = fits && dim(y, f.dims.out_feature) % f.groups == 0;
  for (size_t s = 0; s < spatial; ++s) fits = fits && dim(w, f.dims.kernel_spatial[s]) == f.window[s].size;
  if (!fits) return base::Error{"has arrays that do not fit its dimension labels"};
  return f;
}

/// Calls add(place in x, in w, in y) for every product.
template <typename Add>
void for_each_product(const Forward& f, const Add& add) {
  const Indices xs = row_major(f.x->dims), ws = row_major(f.w->dims), ys = row_major(f.y->dims);
  const auto of = [](const Indices& list, int64_t d) { return list[static_cast<size_t>(d)]; };
  Indices sizes;
  for (const ir::WindowDim& dim : f.window) sizes.push_back(dim.size);
  const int64_t places = ir::elements(ir::array_shape(ir::Type::u8, sizes)), features = of(f.w->dims, f.dims.kernel_in);
  const int64_t per_group = std::max<int64_t>(1, of(f.y->dims, f.dims.out_feature) / f.groups);
  Walker outputs(f.y->dims);
  for (int64_t i = 0; i < ir::elements(*f.y); ++i) {
    const Indices at = outputs.move_to(i);
    const int64_t out_feature = of(at, f.dims.out_feature);
    const int64_t x_base =
        of(at, f.dims.out_batch) * of(xs, f.dims.in_batch) + out_feature / per_group * features * of(xs, f.dims.in_feature);
    const int64_t w_base = out_feature * of(ws, f.dims.kernel_out);
    Walker window(sizes);
    for (int64_t p = 0; p < places; ++p) {
      const Indices& q = window.move_to(p);
      int64_t x = x_base, w = w_base;
      bool inside = true;
      for (size_t s = 0; s < q.size() && inside; ++s) {
        const ir::WindowDim& dim = f.window[s];
        const int64_t place = of(at, f.dims.out_spatial[s]) * dim.stride + q[s] * dim.window_dilation - dim.pad_low;
        const int64_t d = f.dims.in_spatial[s];
        inside = place >= 0 && place % dim.base_dilation == 0 && place / dim.base_dilation < of(f.x->dims, d);
        x += place / dim.base_dilation * of(xs, d);
        w += (dim.reversed ? dim.size - 1 - q[s] : q[s]) * of(ws, f.dims.kernel_spatial[s]);
      }
      for (int64_t k = 0; inside && k < features; ++k) add(x + k * of(xs, f.dims.in_feature), w + k * of(ws, f.dims.kernel_in), i);
    }
  }
}

/// Sums, as the first leaf; the workspace after it is zero.
std::vector<Values> leaves_of(const Call& call, const ir::Shape& shape, const std::vector<Sum>& sums, double scale) {
  Values out = zeros(sum_type(call), sums.size());
  for (size_t i = 0; i < sums.size(); ++i) store_sum(call, out, i, sums[i]);
  for (double& v : out.re) v *= scale;
  for (double& v : out.bound) v *= std::fabs(scale);
  std::vector<Values> leaves;
  leaves.push_back(converted(std::move(out), shape.type));
  const ir::Shape& result = call.module().shape(call.instr);
  for (int leaf = 1; leaf < call.in.leaf_count(result); ++leaf) {
    const ir::Shape& more = call.in.leaf_shape(result, leaf);
    leaves.push_back(zeros(more.type, more.is_array() ? static_cast<size_t>(ir::elements(more)) : 0));
  }
  return leaves;
}

const ir::Shape& result_of(const Call& call) { return call.in.leaf_shape(call.module().shape(call.instr), 0); }

enum class Part : uint8_t { x, w, y };

/// Operands 0 and 1 are the two arrays that `part` is not, in the order x, w, y; or y, w for the gradient of x.
std::vector<Values> summed(const Call& call, Part part) {
  const ir::Shape &first = call.operand_shape(0), &second = call.operand_shape(1), &result = result_of(call);
  const auto forward = part == Part::y   ? forward_of(call, first, second, result)
                       : part == Part::x ? forward_of(call, result, second, first)
                                         : forward_of(call, first, result, second);
  if (!forward.ok()) return call.fail(forward.error().message), std::vector<Values>();
  const Batch a = summable(call, call.whole(0)), b = summable(call, call.whole(1));
  std::vector<Sum> sums(static_cast<size_t>(ir::elements(result)));
  if (call.in.failed()) return {};
  for_each_product(*forward, [&](int64_t x, int64_t w, int64_t y) {
    const int64_t to = part == Part::y ? y : part == Part::x ? x : w;
    const int64_t i = part == Part::x ? y : x, j = part == Part::w ? y : w;
    add_product(sums[static_cast<size_t>(to)], *a, static_cast<size_t>(i), *b, static_cast<size_t>(j));
  });
  return leaves_of(call, result, sums, number_after(call, "convresultscale", 1));
}

using Function = double (*)(double, double);

struct Activation {
  std::string_view name, number;
  Function apply;
};
constexpr Activation kActivations[] = {
    {"", "", [](double v, double) { return v; }},
    {"knone", "0", [](double v, double) { return v; }},
    {"ksigmoid", "1", [](double v, double) { return 1 / (1 + std::exp(-v)); }},
    {"krelu", "2", [](double v, double) { return v > 0 ? v : 0 * v; }},
    {"krelu6", "3", [](double v, double) { return std::clamp(v, 0.0, 6.0); }},
    {"ktanh", "5", [](double v, double) { return std::tanh(v); }},
    {"kelu", "7", [](double v, double) { return v > 0 ? v : std::expm1(v); }},
    {"kleakyrelu", "8", [](double v, double alpha) { return v > 0 ? v : alpha * v; }},
};

const Activation* find_activation(const std::string& called) {
  const auto row = std::ranges::find_if(kActivations, [&](const Activation& a) { return a.name == called || a.number == called; });
  return row == std::end(kActivations) ? nullptr : row;
}

}  // namespace

/// Arrays of vectors of 4 or 32 features have a dimension more than dim_labels names.
std::string unknown_convolution(const ir::Module& module, ir::InstrRef at) {
  const ir::Instr& instr = module.instr(at.comp, at.instr);
  const std::string target = ir::attr_string(module, instr, "custom_call_target"), activation = activation_of(module, instr);
  const auto labels = ir::attr_conv_dims(module, instr);
  if (!labels.ok()) return labels.error().message;
  const auto named = static_cast<int>(labels->in_spatial.size()) + 2;
  for (const ir::InstrId operand : std::span(instr.operands).first(std::min<size_t>(2, instr.operands.size())))
    if (const int rank = module.shape(module.instr(at.comp, operand)).rank(); rank != named)
      return fmt::format("custom-call {} of arrays of {} dimensions, of which dim_labels names {}", target, rank, named);
  return find_activation(activation) != nullptr ? "" : fmt::format("custom-call {} with activation {}", target, base::escaped(activation));
}

std::vector<Values> cudnn_forward(const Call& call) {
  std::vector<Values> leaves = summed(call, Part::y);
  if (leaves.empty() || call.instr.operands.size() < 3) return leaves;
  const Activation* row = find_activation(activation_of(call.module(), call.instr));
  const auto dims = ir::attr_conv_dims(call.module(), call.instr);
  const ir::Shape& result = result_of(call);
  const bool has_side = call.instr.operands.size() > 3;
  const Values bias = converted(*call.whole(2), ir::Type::f64);
  const Values side = has_side ? converted(*call.whole(3), ir::Type::f64) : Values();
  const double side_scale = number_after(call, "sideinputscale", has_side ? 1 : 0), alpha = number_after(call, "leakyrelualpha", 0);
  Values out = converted(std::move(leaves[0]), ir::Type::f64);
  if (bias.re.size() != static_cast<size_t>(result.dims[static_cast<size_t>(dims->out_feature)]) ||
      (has_side && side.re.size() != out.re.size())) {
    return call.fail("has a bias or a side input of another size"), std::vector<Values>();
  }
  Walker walker(result.dims);
  for (size_t i = 0; i < out.re.size(); ++i) {
    const auto feature = static_cast<size_t>(walker.move_to(static_cast<int64_t>(i))[static_cast<size_t>(dims->out_feature)]);
    out.re[i] = row->apply(out.re[i] + (has_side ? side_scale * side.re[i] : 0) + bias.re[feature], alpha);
  }
  leaves[0] = converted(std::move(out), result.type);
  return leaves;
}

std::vector<Values> cudnn_backward_input(const Call& call) { return summed(call, Part::x); }
std::vector<Values> cudnn_backward_filter(const Call& call) { return summed(call, Part::w); }

}  // namespace replay::reference
