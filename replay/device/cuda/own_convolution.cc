// A convolution by its definition. Neighbouring threads take results that lie next to each other; where there are too few for a GPU's
// threads, as of a gradient of weights, whose sums go over a whole batch, the threads of a block share each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "replay/device/cuda/own_elements.h"
#include "replay/device/cuda/own_kernels.h"
#include "src/base/math.h"

namespace replay::cuda {
namespace {

using base::Error;
using base::Result;
using Dim = Convolution::Dim;

/// {results}: a thread's or a block's; {first}, {step}: of the terms that a thread adds; {share}: what the threads of a block do together.
/// Unrolled, which compilers do to a few hundred terms, it takes more registers than there are.
constexpr std::string_view kConvolution = R"(KERNEL(256) k0({params}) {{
{memory}  i64 left = {which}, x0 = 0, w0 = 0, y0 = 0, feature = 0;
  if (left >= {results}ll) return;
{places}  {acc} sum = {acc}{{}};
#ifdef __CUDACC_RTC__
#pragma unroll 1
#endif
  for ({index} term = {first}; term < {terms}; term += {step}) {{
    {index} rest = term;
    i64 x = x0, w = w0;
{window}    sum += ({acc}){load_x} * ({acc}){load_w};
  }}
{share}  {store}
}}
)";
constexpr std::string_view kShare = R"(  sums[THREAD] = sum;
  meet();
  for (int by = 128; by > 0; by /= 2) {
    if (THREAD < by) sums[THREAD] += sums[THREAD + by];
    meet();
  }
  if (THREAD != 0) return;
  sum = sums[0];
)";
constexpr int64_t kThreadsOfGpu = 1 << 17;  ///< as many keep any GPU of today busy

/// A size with what a step along it adds to places.
struct Axis {
  int64_t size = 1, y = 0;
  std::string text;  ///< of what else it does; `i` is the place along it
};

int64_t span(std::initializer_list<std::pair<int64_t, int64_t>> sizes_and_strides) {
  int64_t last = 0;
  for (const auto& [size, stride] : sizes_and_strides) last += (size - 1) * stride;
  return last;
}

struct Bytes {
  int64_t x, w, y;
};
/// Up to the last element of each array.
Bytes bytes_of(const Convolution& c) {
  int64_t x = span({{c.groups, c.x.group}, {c.batch, c.x.outer}, {c.in_features, c.x.inner}}),
          w = span({{c.groups, c.w.group}, {c.out_features, c.w.outer}, {c.in_features, c.w.inner}}),
          y = span({{c.groups, c.y.group}, {c.batch, c.y.outer}, {c.out_features, c.y.inner}});
  for (const Dim& d : c.dims) x += span({{d.in, d.x}}), w += span({{d.window, d.w}}), y += span({{d.out, d.y}});
  return {(x + 1) * ir::bytes(c.x.type), (w + 1) * ir::bytes(c.w.type), (y + 1) * ir::bytes(c.y.type)};
}

/// The place of one result: axes taken off its number, those that lie closest first.
std::string places_of(const Convolution& c) {
  std::vector<Axis> axes{
      {c.groups, c.y.group, fmt::format("x0 += i * {}ll, w0 += i * {}ll, feature += i * {}", c.x.group, c.w.group, c.out_features)},
      {c.batch, c.y.outer, fmt::format("x0 += i * {}ll", c.x.outer)},
      {c.out_features, c.y.inner, fmt::format("w0 += i * {}ll, feature += i", c.w.outer)}};
  std::string text;
  for (size_t k = 0; k < c.dims.size(); ++k) {
    const Dim& d = c.dims[k];
    text += fmt::format("  i64 q{} = {}ll;\n", k, -d.pad_low);
    axes.push_back({d.out, d.y, fmt::format("q{} += i * {}", k, d.stride)});
  }
  std::ranges::stable_sort(axes, std::less(), &Axis::y);
  for (const Axis& axis : axes) {
    if (axis.size == 1) continue;
    text += fmt::format("  {{ const i64 i = left % {0}ll; left /= {0}ll, y0 += i * {1}ll, {2}; }}\n", axis.size, axis.y, axis.text);
  }
  return text;
}

/// The places of one term in X and W, or none: padding and what lies between elements is 0.
std::string window_of(const Convolution& c) {
  std::string text;
  if (c.in_features > 1)
    text += fmt::format("    {{ const i64 i = rest % {0}; rest /= {0}, x += i * {1}ll, w += i * {2}ll; }}\n", c.in_features, c.x.inner,
                        c.w.inner);
  for (size_t k = 0; k < c.dims.size(); ++k) {
    const Dim& d = c.dims[k];
    text += fmt::format("    {{ const i64 i = rest % {0}, q = q{1} + i * {2}; rest /= {0};\n", d.window, k, d.window_dilation);
    text += fmt::format("      if (q < 0 || q > {}ll{}) continue;\n", (d.in - 1) * d.base_dilation,
                        d.base_dilation > 1 ? fmt::format(" || q % {} != 0", d.base_dilation) : "");
    text += fmt::format("      x += q / {} * {}ll, w += {} * {}ll; }}\n", d.base_dilation, d.x,
                        d.reversed ? fmt::format("({} - i)", d.window - 1) : "i", d.w);
  }
  return text;
}

std::string load(const Element& element, int number, std::string_view place, int64_t bytes) {
  return fmt::format(fmt::runtime(element.read), fmt::format("at<{}>(p{}, {}, {}ll)", element.stored, number, place, bytes));
}

std::string stored(const Convolution& c, const Accumulator& acc, int64_t y_bytes) {
  const Element& y = *element_of(c.y.type);
  const ConvolutionEpilogue& after = c.after;
  int next = 2;
  std::string text;
  if (after.scale != 1) text += fmt::format("sum *= ({}){:a}; ", acc.factor, after.scale);
  if (after.bias)
    text +=
        fmt::format("sum += {}; ", load(*element_of(*after.bias), next++, "feature", c.groups * c.out_features * ir::bytes(*after.bias)));
  if (after.side) text += fmt::format("sum += ({}){:a} * {}; ", acc.factor, after.side_scale, load(y, next++, "y0", y_bytes));
  if (after.activates) {
    text += fmt::format("sum = sum < 0 ? {} : sum; ", after.slope == 0 ? "0" : fmt::format("({}){:a} * sum", acc.text, after.slope));
    if (std::isfinite(after.upper)) text += fmt::format("sum = sum > {0:a} ? ({1}){0:a} : sum; ", after.upper, acc.text);
  }
  return text + fmt::format("at<{}>(p{}, y0, {}ll) = {};", y.stored, next, y_bytes,
                            fmt::format(fmt::runtime(y.written), fmt::format("{}sum", acc.end)));
}

base::Status check_types(const Convolution& c) {
  const auto real = [](ir::Type type) { return element_of(type) != nullptr && element_of(type)->sums == Sums::real; };
  const bool ends = c.after == ConvolutionEpilogue() || (real(c.x.type) && real(c.after.bias.value_or(c.x.type)));
  if (!multiplies(c.x.type, c.w.type, c.y.type) || !ends)
    return Error{fmt::format("no convolution kernel of {} and {} into {}", ir::text(c.x.type), ir::text(c.w.type), ir::text(c.y.type))};
  return {};
}

}  // namespace

Result<kernel::Kernel> convolution_kernel(const Convolution& c) {
  RETURN_IF_ERROR(check_types(c));
  int64_t results = c.groups * c.batch * c.out_features, terms = c.in_features;
  for (const Dim& d : c.dims) results *= d.out, terms *= d.window;
  if (terms == 0 || results == 0) return Error{"a convolution of nothing"};
  const bool shared = results < kThreadsOfGpu && terms >= 8 * kOwnThreads;
  const int64_t blocks = shared ? results : base::ceil_div(results, kOwnThreads);
  RETURN_IF_ERROR(check_blocks(blocks));
  const Accumulator acc = accumulator_of({c.x.type, c.w.type, c.y.type});
  const Bytes bytes = bytes_of(c);
  const int operands = 2 + (c.after.bias ? 1 : 0) + (c.after.side ? 1 : 0);
  std::string params = "char* p0";
  for (int k = 1; k <= operands; ++k) params += fmt::format(", char* p{}", k);
  using fmt::arg;
  const int64_t memory = kOwnThreads * acc.bytes;
  std::string code = fmt::format(
      fmt::runtime(kConvolution), arg("params", params), arg("results", results), arg("terms", terms), arg("acc", acc.text),
      arg("memory", shared ? fmt::format("  BLOCK_MEMORY({});\n  {}* const sums = ({}*)block_memory;\n", memory, acc.text, acc.text) : ""),
      arg("which", shared ? "BLOCK" : "(i64)BLOCK * 256 + THREAD"), arg("first", shared ? "THREAD" : "0"), arg("step", shared ? 256 : 1),
      arg("index", terms < (int64_t{1} << 30) ? "int" : "i64"), arg("places", places_of(c)), arg("window", window_of(c)),
      arg("share", shared ? kShare : ""), arg("load_x", load(*element_of(c.x.type), 0, "x", bytes.x)),
      arg("load_w", load(*element_of(c.w.type), 1, "w", bytes.w)), arg("store", stored(c, acc, bytes.y)));
  code.insert(0, functions_for({c.x.type, c.w.type, c.y.type, c.after.bias.value_or(c.y.type)}));
  return kernel_of(name_of(LibraryOp(c)), std::move(code), blocks, operands, shared);
}

}  // namespace replay::cuda
