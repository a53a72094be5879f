// Linear algebra beyond plain products: Einstein sums, diagonals and bands, factorisations, Fourier transforms.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "importers/tensorflow/lower_rules.h"

namespace importers::tensorflow {
namespace {

using ir::Direction;
using ir::Op;

/// "ab,bc->ac" with the sizes of its operands: each dimension is a letter. What "..." stands for becomes letters that no equation has.
struct Equation {
  std::string operands[2], result, error{};
};

/// Capital letters are an equation's own too, so dots become digits and what follows them, aligned at the end.
std::string spelled(std::string_view labels, int64_t rank, std::string& error) {
  std::string out;
  const size_t dots = labels.find("...");
  const auto named = static_cast<int64_t>(labels.size()) - (dots == std::string_view::npos ? 0 : 3);
  const int64_t open = rank - named;
  if (open < 0 || (dots == std::string_view::npos && open != 0) || open > 8) error = "has labels for other dimensions than its operands";
  if (!error.empty()) return out;
  out = labels.substr(0, dots);
  for (int64_t d = 0; d < open; ++d) out += static_cast<char>('9' - open + 1 + d);
  if (dots != std::string_view::npos) out += labels.substr(dots + 3);
  for (const char label : out)
    if (std::ranges::count(out, label) > 1) error = "names a dimension of an operand twice";
  return out;
}

Equation equation_of(Lowering& l) {
  Equation made;
  std::string text = attribute(l.node, "equation", std::string());
  std::erase(text, ' ');
  const size_t arrow = text.find("->"), comma = text.find(',');
  const size_t count = comma < arrow ? 2 : 1;
  if (arrow == std::string::npos || count != l.node.inputs.size()) return made.error = "its equation does not fit its operands", made;
  const std::string_view all = text;
  made.operands[0] = spelled(all.substr(0, std::min(comma, arrow)), l.shape(0).rank(), made.error);
  if (count == 2) made.operands[1] = spelled(all.substr(comma + 1, arrow - comma - 1), l.shape(1).rank(), made.error);
  const auto digits = [](const std::string& labels) { return std::ranges::count_if(labels, [](char c) { return c >= '0' && c <= '9'; }); };
  const std::string_view result = all.substr(arrow + 2);
  const int64_t open = result.find("...") == std::string_view::npos ? 0 : std::max(digits(made.operands[0]), digits(made.operands[1]));
  const auto named = static_cast<int64_t>(result.size()) - (result.find("...") == std::string_view::npos ? 0 : 3);
  made.result = spelled(result, named + open, made.error);
  return made;
}

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }
int64_t place(const std::string& labels, char label) { return static_cast<int64_t>(labels.find(label)); }

/// `labels` in the order of `to`.
Dims permutation(const std::string& labels, const std::string& to) {
  Dims order;
  for (const char label : to) order.push_back(place(labels, label));
  return order;
}

Values sum_of_one(Lowering& l, const Equation& e) {
  return l.program.fuse({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    Dims summed;
    std::string left;
    for (const char label : e.operands[0]) {
      if (has(e.result, label))
        left += label;
      else
        summed.push_back(place(e.operands[0], label));
    }
    const Value sum = summed.empty() ? x[0] : b.reduce(Op::add, x[0], summed);
    return Values{left == e.result ? sum : b.transpose(sum, permutation(left, e.result))};
  });
}

/// A product of two whose result is in the order that the library gives, the operands either way round, or transposed.
Values einsum(Lowering& l) {
  const Equation e = equation_of(l);
  if (!e.error.empty()) return l.fail(e.error);
  for (const char label : e.result)
    if (!has(e.operands[0], label) && !has(e.operands[1], label)) return l.fail("its result has a dimension of no operand");
  if (l.node.inputs.size() == 1) return sum_of_one(l, e);
  std::string batch, left, right;
  for (const char label : e.result) (has(e.operands[0], label) ? has(e.operands[1], label) ? batch : left : right) += label;
  const bool swapped = !left.empty() && !right.empty() && place(e.result, right[0]) < place(e.result, left[0]);
  const size_t a = swapped ? 1 : 0, c = 1 - a;
  ir::DotDims dims;
  for (const char label : batch)
    dims.lhs_batch.push_back(place(e.operands[a], label)), dims.rhs_batch.push_back(place(e.operands[c], label));
  for (const char label : e.operands[a]) {
    if (has(e.result, label)) continue;
    if (!has(e.operands[c], label)) return l.fail("sums over a dimension of one operand alone");
    dims.lhs_contracting.push_back(place(e.operands[a], label)), dims.rhs_contracting.push_back(place(e.operands[c], label));
  }
  for (const char label : e.operands[c])
    if (!has(e.result, label) && !has(e.operands[a], label)) return l.fail("sums over a dimension of one operand alone");
  std::string made = batch;
  for (const size_t k : {a, c})
    for (const char label : e.operands[k])
      if (has(e.result, label) && !has(batch, label)) made += label;
  const Value product = l.entry().dot(l.in(a), l.in(c), dims);
  return {made == e.result ? product : l.entry().transpose(product, permutation(made, e.result))};
}

struct Matrices {
  Dims dims;
  int64_t row, column;  ///< dimensions
};
/// The last two dimensions of an array of these sizes.
Matrices last_two(const Dims& dims) {
  const auto rank = static_cast<int64_t>(dims.size());
  return {dims, rank - 2, rank - 1};
}
Value on_diagonal(Body& b, const Matrices& m) {
  return b.compare(Direction::EQ, b.iota(ir::Type::s32, m.dims, m.row), b.iota(ir::Type::s32, m.dims, m.column));
}
bool is_main_diagonal(Lowering& l) { return l.node.inputs.size() < 2 || l.integers(1) == Dims{0}; }

/// (diagonal[, k, rows, columns, padding]): square matrices with nothing but a diagonal.
Values matrix_diag(Lowering& l) {
  Dims dims = l.dims(0);
  const int64_t n = dims.empty() ? 0 : dims.back();
  dims.push_back(n);
  for (size_t k = 2; k < std::min<size_t>(4, l.node.inputs.size()); ++k)
    if (const Dims size = l.integers(k); size != Dims{-1} && size != Dims{n}) return l.fail("is not square");
  if (!is_main_diagonal(l) || l.shape(0).rank() < 1 || !are_sane(dims)) return l.fail("has other than the main diagonal");
  return l.program.fuse({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    const Dims at = counting(0, static_cast<int64_t>(dims.size() - 1));
    const Value wide = b.broadcast(x[0], dims, at);
    return Values{b.select(on_diagonal(b, last_two(dims)), wide, b.like(wide, 0))};
  });
}
Values matrix_diag_part(Lowering& l) {
  const Matrices m = last_two(l.dims(0));
  if (m.row < 0 || !is_main_diagonal(l)) return l.fail("takes other than the main diagonal");
  const int64_t n = std::min(m.dims[static_cast<size_t>(m.row)], m.dims[static_cast<size_t>(m.column)]);
  return l.program.fuse({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    std::vector<ir::SliceDim> square;
    for (size_t d = 0; d < m.dims.size(); ++d) square.push_back({0, static_cast<int64_t>(d) >= m.row ? n : m.dims[d], 1});
    const Value part = b.slice(x[0], square);
    return Values{b.reduce(Op::add, b.select(on_diagonal(b, last_two(b.dims(part))), part, b.like(part, 0)), {m.column})};
  });
}

/// (x, lower, upper): what lies farther from the diagonal is 0; negative: nothing does.
Values matrix_band_part(Lowering& l) {
  const Matrices m = last_two(l.dims(0));
  const Dims lower = l.integers(1), upper = l.integers(2);
  if (m.row < 0 || lower.size() != 1 || upper.size() != 1) return l.fail("its band is not known");
  return l.program.fuse({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    const Value row = b.iota(ir::Type::s64, m.dims, m.row), column = b.iota(ir::Type::s64, m.dims, m.column);
    Value kept = x[0];
    for (const auto& [from, to, most] : {std::tuple(row, column, lower[0]), std::tuple(column, row, upper[0])}) {
      if (most < 0) continue;
      const Value distance = b.binary(Op::subtract, from, to);
      kept = b.select(b.compare(Direction::LE, distance, b.like(distance, static_cast<double>(most))), kept, b.like(kept, 0));
    }
    return Values{kept};
  });
}

/// Of one dimension and two: of more, TensorFlow doubles all.
Values diag(Lowering& l) { return l.shape(0).rank() == 1 ? matrix_diag(l) : l.fail("is no vector"); }
Values diag_part(Lowering& l) { return l.shape(0).rank() == 2 ? matrix_diag_part(l) : l.fail("is no matrix"); }

/// (triangular matrices a, b): x of a·x = b.
Values triangular_solve(Lowering& l) {
  const bool lower = attribute(l.node, "lower", true), adjoint = attribute(l.node, "adjoint", false);
  return {l.entry().op(Op::triangular_solve, {{l.in(0), l.in(1)}},
                       {{"left_side", "true"},
                        {"lower", lower ? "true" : "false"},
                        {"unit_diagonal", "false"},
                        {"transpose_a", adjoint ? "ADJOINT" : "NO_TRANSPOSE"}})};
}

Values cholesky(Lowering& l) { return {l.entry().op(Op::cholesky, {{l.in(0)}}, {{"lower", "true"}})}; }

/// Cut, or with zeros behind, so that the last dimensions have these sizes.
Value fitted(Lowering& l, const Dims& last) {
  const Dims dims = l.dims(0);
  Dims to = dims;
  std::copy(last.begin(), last.end(), to.end() - static_cast<std::ptrdiff_t>(last.size()));
  if (to == dims) return l.in(0);
  return l.program.fuse1({{l.in(0)}}, [&](Body& b, std::span<const Value> x) {
    std::vector<ir::SliceDim> cut;
    std::vector<ir::PadDim> more(dims.size());
    for (size_t d = 0; d < dims.size(); ++d)
      cut.push_back({0, std::min(dims[d], to[d]), 1}), more[d].high = std::max<int64_t>(0, to[d] - dims[d]);
    return b.pad(b.slice(x[0], cut), b.constant(b.type(x[0]), 0), more);
  });
}

/// (x[, lengths of the real side]): over the last `kRank` dimensions.
template <const char* kKind, int64_t kRank>
Values fourier(Lowering& l) {
  const std::string_view kind = kKind;
  const Dims dims = l.dims(0);
  if (l.shape(0).rank() < kRank) return l.fail("has fewer dimensions than it transforms");
  Dims lengths(dims.end() - kRank, dims.end());
  if (kind.ends_with("RFFT")) {
    lengths = l.integers(1);
    if (lengths.size() != kRank || !are_sane(lengths)) return l.fail("its lengths are not known");
  }
  Dims given = lengths;
  if (kind == "IRFFT") given.back() = lengths.back() / 2 + 1;
  const lowering::Attrs attrs{{"fft_type", std::string(kind)}, {"fft_length", fmt::format("{{{}}}", fmt::join(lengths, ","))}};
  return {l.entry().op(Op::fft, {{fitted(l, given)}}, attrs)};
}
constexpr char kForward[] = "FFT", kInverse[] = "IFFT", kReal[] = "RFFT", kRealInverse[] = "IRFFT";

constexpr Rule kLinearRules[] = {
    {"Einsum", einsum},
    {"MatrixDiag", matrix_diag},
    {"MatrixDiagV2", matrix_diag},
    {"MatrixDiagV3", matrix_diag},
    {"MatrixDiagPart", matrix_diag_part},
    {"MatrixDiagPartV2", matrix_diag_part},
    {"MatrixDiagPartV3", matrix_diag_part},
    {"MatrixBandPart", matrix_band_part, 3},
    {"Diag", diag},
    {"DiagPart", diag_part},
    {"Cholesky", cholesky},
    {"MatrixTriangularSolve", triangular_solve, 2},
    {"FFT", fourier<kForward, 1>},
    {"FFT2D", fourier<kForward, 2>},
    {"FFT3D", fourier<kForward, 3>},
    {"IFFT", fourier<kInverse, 1>},
    {"IFFT2D", fourier<kInverse, 2>},
    {"IFFT3D", fourier<kInverse, 3>},
    {"RFFT", fourier<kReal, 1>, 2},
    {"RFFT2D", fourier<kReal, 2>, 2},
    {"RFFT3D", fourier<kReal, 3>, 2},
    {"IRFFT", fourier<kRealInverse, 1>, 2},
    {"IRFFT2D", fourier<kRealInverse, 2>, 2},
    {"IRFFT3D", fourier<kRealInverse, 3>, 2},
};

}  // namespace

std::span<const Rule> linear_rules() { return kLinearRules; }

}  // namespace importers::tensorflow
