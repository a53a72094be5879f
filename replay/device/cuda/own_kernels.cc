// Texts with sizes and strides as literals, so that a compiler divides by constants; placeholders are filled by name.
#include "replay/device/cuda/own_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "replay/device/cuda/own_elements.h"
#include "src/base/math.h"

namespace replay::cuda {
namespace {

using base::Error;
using base::Result;

constexpr int64_t kTile = 64;

/// tanh in terms of exp2 is right to 3 units of f32 here, because it is never taken near 0 alone: 1 is added to it.
constexpr std::string_view kActivation = R"(#ifndef PROFILE_GELU
#define PROFILE_GELU
DEVICE float gelu(float x) {
  const float y = 0.7978845608f * (x + 0.044715f * x * x * x), e = exp2f(-2.885390082f * (y < 0 ? -y : y));
  const float t = (1 - e) / (1 + e);
  return 0.5f * x * (1 + (y < 0 ? -t : t));
}
#endif
)";

/// {acc}: of the sums; {ai}, {aj}: which of a tile's rows and of its steps element i is, whichever lie next to each other in memory.
constexpr std::string_view kProduct = R"(KERNEL(256) k0({params}) {{
  BLOCK_MEMORY({memory});
  {acc}* const a = ({acc}*)block_memory;
  {acc}* const b = a + 16 * 65;
  const i64 m0 = (i64)(BLOCK / {tiles_n} % {tiles_m}) * 64, n0 = (i64)(BLOCK % {tiles_n}) * 64, batch = BLOCK / {tiles};
  const int row = THREAD / 16, column = THREAD % 16;
  {acc} sums[4][4];
  for (int r = 0; r < 4; ++r) for (int c = 0; c < 4; ++c) sums[r][c] = {acc}{{}};
  for (i64 k0 = 0; k0 < {k}; k0 += 16) {{
    for (int i = THREAD; i < 1024; i += 256) {{
      const int m = {am}, k = {ak};
      a[k * 65 + m] = m0 + m < {m} && k0 + k < {k} ? ({acc}){load_a} : {acc}{{}};
    }}
    for (int i = THREAD; i < 1024; i += 256) {{
      const int n = {bn}, k = {bk};
      b[k * 65 + n] = n0 + n < {n} && k0 + k < {k} ? ({acc}){load_b} : {acc}{{}};
    }}
    meet();
    for (int k = 0; k < 16; ++k) {{
      {acc} x[4], y[4];
      for (int r = 0; r < 4; ++r) x[r] = a[k * 65 + row + 16 * r];
      for (int c = 0; c < 4; ++c) y[c] = b[k * 65 + column + 16 * c];
      for (int r = 0; r < 4; ++r) for (int c = 0; c < 4; ++c) sums[r][c] += x[r] * y[c];
    }}
    meet();
  }}
  for (int r = 0; r < 4; ++r) for (int c = 0; c < 4; ++c) {{
    const i64 m = m0 + row + 16 * r, n = n0 + column + 16 * c;
    if (m < {m} && n < {n}) {{ {store} }}
  }}
}}
)";

constexpr std::string_view kPermute = R"(KERNEL(256) k0(char* p0, char* p1) {{
  i64 left = (i64)BLOCK * 256 + THREAD;
  if (left >= {elements}) return;
  i64 from = {offset}, to = 0;
{steps}  at<{type}>(p1, to, {to_bytes}) = at<{type}>(p0, from, {from_bytes});
}}
)";

/// Bytes up to the last element of an operand of `rows` × `columns`.
int64_t bytes_of(const Gemm::Operand& o, int64_t batch, int64_t rows, int64_t columns) {
  const int64_t last = (batch - 1) * o.batch_stride + (rows - 1) * o.row_stride + (columns - 1) * o.column_stride;
  return (last + 1) * ir::bytes(o.type);
}

/// at<float>(p0, batch * 6 + (m0 + m) * 3 + (k0 + k), bytes)
std::string at(const Gemm::Operand& o, int number, std::string_view row, std::string_view column, int64_t bytes) {
  return fmt::format("at<{}>(p{}, batch * {}ll + ({}) * {}ll + ({}) * {}ll, {}ll)", element_of(o.type)->stored, number, o.batch_stride, row,
                     o.row_stride, column, o.column_stride, bytes);
}

/// Buffers of a product in the order of its kernel's args; those that are not there are left out.
std::vector<BufferId> operands_of(const Gemm& g) {
  std::vector<BufferId> all{g.a.buffer, g.b.buffer, g.d.buffer};
  for (const BufferId more : {g.after.bias.buffer, g.after.aux, g.after.a_scale, g.after.b_scale})
    if (more >= 0) all.push_back(more);
  return all;
}

/// One result from sums[r][c]: factors, C, bias, activation.
std::string stored(const Gemm& g, const Accumulator& acc) {
  const Element& d = *element_of(g.d.type);
  const int64_t bytes = bytes_of(g.d, g.batch, g.m, g.n);
  const std::string target = at(g.d, 2, "m", "n", bytes);
  const auto written = [&](const char* value) { return fmt::format(fmt::runtime(d.written), value); };
  int next = 3;
  const int bias = g.after.bias.buffer >= 0 ? next++ : 0, aux = g.after.aux >= 0 ? next++ : 0;
  std::string text = fmt::format("{} x = {}sums[r][c]; ", acc.result, acc.end);
  for (const BufferId factor : {g.after.a_scale, g.after.b_scale})
    if (factor >= 0) text += fmt::format("x *= at<float>(p{}, 0, 4ll); ", next++);
  if (g.alpha != 1) text += fmt::format("x *= ({}){:a}; ", acc.factor, g.alpha);
  if (g.beta != 0) text += fmt::format("x += ({}){:a} * {}; ", acc.factor, g.beta, fmt::format(fmt::runtime(d.read), target));
  if (bias > 0) {
    const Element& element = *element_of(g.after.bias.type);
    const std::string read = fmt::format("at<{}>(p{}, n, {}ll)", element.stored, bias, g.n * ir::bytes(g.after.bias.type));
    text += fmt::format("x += {}; ", fmt::format(fmt::runtime(element.read), read));
  }
  if (aux > 0) text += fmt::format("{} = {}; ", at(g.d, aux, "m", "n", bytes), written("x"));
  if (g.after.activation == Epilogue::Activation::relu) text += "x = x < 0 ? 0 : x; ";
  if (g.after.activation == Epilogue::Activation::gelu) text += "x = gelu(x); ";
  return text + fmt::format("{} = {};", target, written("x"));
}

/// Only floats below f64 have something to follow, and only 1-byte floats factors.
base::Status check_epilogue(const Gemm& g) {
  const Epilogue& after = g.after;
  if (after == Epilogue()) return {};
  if (element_of(g.d.type)->sums != Sums::real || g.d.type == ir::Type::f64)
    return Error{"no product kernel with an epilogue of this type"};
  const Element* bias = after.bias.buffer >= 0 ? element_of(after.bias.type) : element_of(ir::Type::f32);
  if (bias == nullptr || bias->sums != Sums::real || after.d_scale >= 0) return Error{"no product kernel with this epilogue"};
  return {};
}

}  // namespace

Result<kernel::Kernel> product_kernel(const Gemm& g) {
  if (!multiplies(g.a.type, g.b.type, g.d.type))
    return Error{fmt::format("no product kernel of {} and {} into {}", ir::text(g.a.type), ir::text(g.b.type), ir::text(g.d.type))};
  RETURN_IF_ERROR(check_epilogue(g));
  const Element &a = *element_of(g.a.type), &b = *element_of(g.b.type);
  const ir::Type bias = g.after.bias.buffer >= 0 ? g.after.bias.type : g.d.type;
  const Accumulator acc = accumulator_of({g.a.type, g.b.type, bias, g.d.type});
  const int64_t tiles_m = base::ceil_div(g.m, kTile), tiles_n = base::ceil_div(g.n, kTile), blocks = tiles_m * tiles_n * g.batch;
  RETURN_IF_ERROR(check_blocks(blocks));
  const std::string load_a = at(g.a, 0, "m0 + m", "k0 + k", bytes_of(g.a, g.batch, g.m, g.k));
  const std::string load_b = at(g.b, 1, "k0 + k", "n0 + n", bytes_of(g.b, g.batch, g.k, g.n));
  std::string params = "char* p0";
  for (size_t k = 1; k < operands_of(g).size(); ++k) params += fmt::format(", char* p{}", k);
  const bool a_along_k = g.a.column_stride == 1, b_along_n = g.b.column_stride == 1;
  using fmt::arg;
  std::string code = fmt::format(
      fmt::runtime(kProduct), arg("memory", 2 * 16 * 65 * acc.bytes), arg("acc", acc.text), arg("tiles_n", tiles_n),
      arg("tiles_m", tiles_m), arg("tiles", tiles_m * tiles_n), arg("m", g.m), arg("n", g.n), arg("k", g.k),
      arg("am", a_along_k ? "i / 16" : "i % 64"), arg("ak", a_along_k ? "i % 16" : "i / 64"), arg("bn", b_along_n ? "i % 64" : "i / 16"),
      arg("bk", b_along_n ? "i / 64" : "i % 16"), arg("load_a", fmt::format(fmt::runtime(a.read), load_a)),
      arg("load_b", fmt::format(fmt::runtime(b.read), load_b)), arg("store", stored(g, acc)), arg("params", params));
  code.insert(0, functions_for({g.a.type, g.b.type, g.d.type, bias}));
  if (g.after.activation == Epilogue::Activation::gelu) code.insert(0, kActivation);
  return kernel_of(fmt::format("product_{}_{}x{}x{}x{}", ir::text(g.d.type), g.batch, g.m, g.n, g.k), std::move(code), blocks,
                   static_cast<int>(operands_of(g).size()) - 1, true);
}

Result<kernel::Kernel> permute_kernel(const Permute& op) {
  constexpr std::pair<int64_t, std::string_view> kTypes[] = {{1, "u8"}, {2, "u16"}, {4, "u32"}, {8, "u64"}, {16, "vec<u64, 2>"}};
  const auto type = std::ranges::find(kTypes, op.element_bytes, [](const auto& row) { return row.first; });
  if (type == std::end(kTypes)) return Error{fmt::format("no copy kernel of elements of {} bytes", op.element_bytes)};
  std::vector<Permute::Dim> dims = op.dims;
  std::ranges::stable_sort(dims, std::less(), &Permute::Dim::to);  // fastest first
  int64_t elements = 1, to_last = 0, from_last = op.from_offset;
  std::string steps;
  for (const Permute::Dim& d : dims) {
    if (d.size == 1) continue;
    steps += fmt::format("  from += left % {0}ll * {1}ll, to += left % {0}ll * {2}ll, left /= {0}ll;\n", d.size, d.from, d.to);
    elements *= d.size;
    to_last += (d.size - 1) * d.to;
    from_last += std::max<int64_t>(0, (d.size - 1) * d.from);
  }
  const int64_t blocks = base::ceil_div(elements, kOwnThreads);
  RETURN_IF_ERROR(check_blocks(blocks));
  using fmt::arg;
  std::string code = fmt::format(fmt::runtime(kPermute), arg("elements", elements), arg("offset", op.from_offset), arg("steps", steps),
                                 arg("type", type->second), arg("to_bytes", (to_last + 1) * op.element_bytes),
                                 arg("from_bytes", (from_last + 1) * op.element_bytes));
  return kernel_of(fmt::format("permute_{}x{}_bytes", elements, op.element_bytes), std::move(code), blocks, 1, false);
}

Result<kernel::Kernel> own_kernel(const Launch& launch) {
  if (const auto* gemm = std::get_if<Gemm>(&launch)) return product_kernel(*gemm);
  if (const auto* call = std::get_if<LibraryCall>(&launch)) {
    if (const auto* permute = std::get_if<Permute>(call->op.get())) return permute_kernel(*permute);
    if (const auto* convolution = std::get_if<Convolution>(call->op.get())) return convolution_kernel(*convolution);
    return Error{fmt::format("{}: no kernel of ours, and no library of GPUs is used for it", name_of(*call->op))};
  }
  return Error{"no launch of a library"};
}

std::vector<BufferId> args_of(const Launch& launch) {
  if (const auto* call = std::get_if<KernelCall>(&launch)) return call->args;
  if (const auto* gemm = std::get_if<Gemm>(&launch)) return operands_of(*gemm);
  const auto& call = std::get<LibraryCall>(launch);
  std::vector<BufferId> args = call.in;
  args.push_back(call.out.at(0));
  return args;
}

base::Status accepts(const Launch& launch) {
  RETURN_IF_ERROR(own_kernel(launch));
  return {};
}

}  // namespace replay::cuda
