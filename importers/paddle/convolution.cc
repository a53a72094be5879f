// Convolutions of two and three dimensions and their gradients: each a library call. Filters are OIHW.
#include <algorithm>
#include <numeric>
#include <string>

#include "importers/paddle/lower.h"

namespace importers::paddle {
namespace {

struct Conv {
  std::vector<ir::WindowDim> window;  ///< of each dimension of space
  bool channels_last = false;
  int64_t groups = 1;

  size_t first() const { return channels_last ? 1 : 2; }  ///< of the dimensions of space
  /// Letters of image, filter and result (https://openxla.org/xla/operation_semantics#conv_convolution), '#' for the dimensions of space.
  std::string labels(std::string_view spelled) const {
    std::string text;
    for (const char letter : spelled) text += letter == '#' ? std::string("012").substr(0, window.size()) : std::string(1, letter);
    return text;
  }
};

/// Batch, channels and two or three dimensions of space.
std::optional<size_t> space_of(Call& c, const Dims& input, const Dims& filter) {
  if ((input.size() == 4 || input.size() == 5) && filter.size() == input.size()) return input.size() - 2;
  return c.fail("only convolutions of two or three dimensions are lowered"), std::nullopt;
}
bool channels_last(Call& c) { return c.text("data_format").ends_with('C'); }
/// One number a dimension, or one before and one behind each.
bool are_paddings(const Dims& paddings, size_t space) { return paddings.size() == space || paddings.size() == 2 * space; }

/// SAME pads so that the result has ⌈size / stride⌉; explicit paddings are [h, w] or [top, bottom, left, right].
std::optional<Conv> conv_of(Call& c, const Dims& input, const Dims& filter) {
  const auto space = space_of(c, input, filter);
  if (!space) return std::nullopt;
  Conv conv;
  conv.channels_last = channels_last(c);
  conv.groups = c.integer("groups", 1);
  const Dims strides = c.sizes("strides").value_or(Dims(*space, 1)), dilations = c.sizes("dilations").value_or(Dims(*space, 1));
  const Dims paddings = c.sizes("paddings").value_or(Dims(*space, 0));
  if (strides.size() != *space || dilations.size() != *space || !are_paddings(paddings, *space) || conv.groups < 1)
    return c.fail("has strides, dilations or paddings of another rank"), std::nullopt;
  if (!fit_windows(strides) || !fit_windows(dilations) || !fit_windows(paddings) || !fit_windows({conv.groups}))
    return c.fail("has a window that is too large"), std::nullopt;
  const int64_t of_group = conv.channels_last ? input.back() : input[1];
  if (filter[1] * conv.groups != of_group) return c.fail("the filter has other channels than the input"), std::nullopt;
  const std::string_view algorithm = c.text("padding_algorithm");
  for (size_t i = 0; i < *space; ++i) {
    if (strides[i] < 1 || dilations[i] < 1) return c.fail("has a stride below 1"), std::nullopt;
    const int64_t size = input[conv.first() + i], kernel = (filter[i + 2] - 1) * dilations[i] + 1;
    const bool alike = paddings.size() == *space;
    ir::WindowDim dim{filter[i + 2], strides[i], paddings[alike ? i : 2 * i], paddings[alike ? i : 2 * i + 1], 1, dilations[i], false};
    if (algorithm == "VALID") dim.pad_low = dim.pad_high = 0;
    if (algorithm == "SAME") {
      const int64_t all = std::max<int64_t>(((size + strides[i] - 1) / strides[i] - 1) * strides[i] + kernel - size, 0);
      dim.pad_low = all / 2, dim.pad_high = all - all / 2;
    }
    if (size + dim.pad_low + dim.pad_high < kernel) return c.fail("the window is larger than the input"), std::nullopt;
    conv.window.push_back(dim);
  }
  return conv;
}

Value convolved(Call& c, const Conv& conv, Value input, Value filter) {
  return c.entry().convolution(input, filter,
                               {conv.window, conv.labels(conv.channels_last ? "b#f_oi#->b#f" : "bf#_oi#->bf#"), conv.groups});
}

/// [g·o, i, h, w] → [o, g·i, h, w]: the filter with inputs and results exchanged in each group.
Value exchanged(Call& c, Value filter, int64_t groups) {
  Body& entry = c.entry();
  const Dims f = entry.dims(filter);
  Dims apart{groups, f[0] / groups, f[1]}, together{f[0] / groups, groups * f[1]}, order(f.size() + 1);
  apart.insert(apart.end(), f.begin() + 2, f.end());
  together.insert(together.end(), f.begin() + 2, f.end());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  return entry.reshape(entry.transpose(entry.reshape(filter, apart), order), together);
}

/// How far dOut reaches when it is spread by the strides, and the filter by its dilations.
struct Reach {
  int64_t kernel, spread;
};
Reach reach_of(const ir::WindowDim& w, int64_t out) { return {(w.size - 1) * w.window_dilation + 1, (out - 1) * w.stride + 1}; }

/// dInput: dOut spread by the strides, convolved with the reversed filter, in the form that XLA gives it
/// (https://github.com/openxla/xla, conv backprop).
Value input_gradient(Call& c, const Conv& conv, const Dims& input, Value dout, Value filter) {
  const size_t first = conv.first();
  std::vector<ir::WindowDim> window;
  for (size_t i = 0; i < conv.window.size(); ++i) {
    const ir::WindowDim& w = conv.window[i];
    const Reach r = reach_of(w, c.entry().dims(dout)[first + i]);
    const int64_t low = r.kernel - 1 - w.pad_low;
    window.push_back({w.size, 1, low, input[first + i] - 1 + r.kernel - r.spread - low, w.stride, w.window_dilation, true});
  }
  const Value turned = conv.groups == 1 ? filter : exchanged(c, filter, conv.groups);
  return c.entry().convolution(dout, turned, {window, conv.labels(conv.channels_last ? "b#f_io#->b#f" : "bf#_io#->bf#"), conv.groups});
}

/// dFilter: the input convolved with dOut, batch and channels exchanged; groups of channels are groups of the batch there.
Value filter_gradient(Call& c, const Conv& conv, Value input, Value dout) {
  const size_t first = conv.first();
  std::vector<ir::WindowDim> window;
  for (size_t i = 0; i < conv.window.size(); ++i) {
    const ir::WindowDim& w = conv.window[i];
    const int64_t out = c.entry().dims(dout)[first + i];
    const Reach r = reach_of(w, out);
    const int64_t high = r.kernel + r.spread - 1 - c.entry().dims(input)[first + i] - w.pad_low;
    window.push_back({out, w.window_dilation, w.pad_low, high, 1, w.stride, false});
  }
  return c.entry().convolution(input, dout, {window, conv.labels(conv.channels_last ? "f#b_i#o->fb#" : "fb#_io#->fb#"), 1, conv.groups});
}

void convolution(Call& c) {
  if (const auto conv = conv_of(c, c.dims("Input"), c.dims("Filter"))) c.set("Output", convolved(c, *conv, c.in("Input"), c.in("Filter")));
}

void convolution_grad(Call& c) {
  const auto conv = conv_of(c, c.dims("Input"), c.dims("Filter"));
  if (!conv) return;
  const Value dout = c.in("Output@GRAD");
  if (c.dims("Filter")[0] % conv->groups != 0) return c.fail("the groups do not divide the results");
  if (c.wants("Input@GRAD")) c.set("Input@GRAD", input_gradient(c, *conv, c.dims("Input"), dout, c.in("Filter")));
  if (c.wants("Filter@GRAD")) c.set("Filter@GRAD", filter_gradient(c, *conv, c.in("Input"), dout));
}

/// A transposed convolution is the gradient that a convolution of its result has: Input [n, ci, h, w], Filter [ci, co / groups, kh, kw].
struct Transposed {
  Conv conv;
  Dims out;
};
std::optional<Transposed> transposed_of(Call& c) {
  const Dims input = c.dims("Input"), filter = c.dims("Filter");
  const auto space = space_of(c, input, filter);
  if (!space) return std::nullopt;
  if (c.text("padding_algorithm") == "SAME") return c.fail("SAME is not lowered"), std::nullopt;
  const Dims strides = c.sizes("strides").value_or(Dims(*space, 1)), dilations = c.sizes("dilations").value_or(Dims(*space, 1));
  const bool valid = c.text("padding_algorithm") == "VALID";
  const Dims paddings = valid ? Dims(*space, 0) : c.sizes("paddings").value_or(Dims(*space, 0)),
             more = c.sizes("output_padding").value_or(Dims{});
  const Dims given = c.sizes("output_size", {"OutputSize"}).value_or(Dims{});
  if (strides.size() != *space || dilations.size() != *space || !are_paddings(paddings, *space) || !fit_windows(strides) ||
      !fit_windows(dilations) || !fit_windows(paddings) || !fit_windows(more) || !fit_windows(filter) || !fit_windows(input))
    return c.fail("has strides, dilations or paddings of another rank"), std::nullopt;
  const bool last = channels_last(c);
  const size_t first = last ? 1 : 2;
  Transposed t{{}, input};
  t.out[last ? *space + 1 : 1] = filter[1] * std::max<int64_t>(c.integer("groups", 1), 1);
  for (size_t i = 0; i < *space; ++i) {
    const int64_t pads = paddings.size() == *space ? 2 * paddings[i] : paddings[2 * i] + paddings[2 * i + 1];
    const int64_t least = (input[first + i] - 1) * strides[i] - pads + (filter[i + 2] - 1) * dilations[i] + 1;
    t.out[first + i] = given.size() == *space ? given[i] : least + (more.size() == *space ? more[i] : more.size() == 1 ? more[0] : 0);
    if (t.out[first + i] < std::max<int64_t>(least, 1)) return c.fail("the result's size is not known"), std::nullopt;
  }
  auto conv = conv_of(c, t.out, filter);
  if (!conv) return std::nullopt;
  if (input[last ? *space + 1 : 1] != filter[0] || filter[0] % conv->groups != 0)
    return c.fail("the filter has other channels than the input"), std::nullopt;
  t.conv = *std::move(conv);
  return t;
}

void transposed_convolution(Call& c) {
  if (const auto t = transposed_of(c)) c.set("Output", input_gradient(c, t->conv, t->out, c.in("Input"), c.in("Filter")));
}
void transposed_convolution_grad(Call& c) {
  const auto t = transposed_of(c);
  if (!t) return;
  if (c.dims("Output@GRAD") != t->out) return c.fail("the gradient has another size than the result");
  const Value dout = c.in("Output@GRAD");
  if (c.wants("Input@GRAD")) c.set("Input@GRAD", convolved(c, t->conv, dout, c.in("Filter")));
  if (c.wants("Filter@GRAD")) c.set("Filter@GRAD", filter_gradient(c, t->conv, dout, c.in("Input")));
}

constexpr Row kConvolutionRows[] = {
    {"conv2d", convolution, "Input Filter"},
    {"conv2d_grad", convolution_grad, "Input Filter Output@GRAD"},
    {"conv2d_transpose", transposed_convolution, "Input Filter"},
    {"conv2d_transpose_grad", transposed_convolution_grad, "Input Filter Output@GRAD"},
    {"conv3d", convolution, "Input Filter"},
    {"conv3d_grad", convolution_grad, "Input Filter Output@GRAD"},
    {"conv3d_transpose", transposed_convolution, "Input Filter"},
    {"conv3d_transpose_grad", transposed_convolution_grad, "Input Filter Output@GRAD"},
    {"depthwise_conv2d", convolution, "Input Filter"},
    {"depthwise_conv2d_grad", convolution_grad, "Input Filter Output@GRAD"},
    {"depthwise_conv2d_transpose", transposed_convolution, "Input Filter"},
    {"depthwise_conv2d_transpose_grad", transposed_convolution_grad, "Input Filter Output@GRAD"},
};

}  // namespace

std::span<const Row> convolution_rows() { return kConvolutionRows; }

}  // namespace importers::paddle
