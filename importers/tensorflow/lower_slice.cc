// Parts of arrays and their gradients. Where parts begin and end is told by constants; an operator with several parts is one kernel.
#include <fmt/format.h>

#include <algorithm>

#include "importers/tensorflow/lower_rules.h"

namespace importers::tensorflow {
namespace {

using ir::Op;

constexpr int64_t kMostParts = 1 << 12;

std::vector<ir::SliceDim> whole(const Dims& dims) {
  std::vector<ir::SliceDim> slices;
  for (const int64_t size : dims) slices.push_back({0, size, 1});
  return slices;
}

/// Operand k as the only one of a kernel.
template <typename Write>
Values of_one(Lowering& l, size_t k, const Write& write) {
  return {l.program.fuse1({{l.in(k)}}, [&](Body& b, std::span<const Value> x) { return write(b, x[0]); })};
}

/// (input, begin, size); a size of -1 reaches to the end.
Values slice(Lowering& l) {
  const Dims from = l.dims(0), begin = l.integers(1), size = l.integers(2);
  if (!l.error.empty() || begin.size() != from.size() || size.size() != from.size()) return l.fail("where it begins and ends is not known");
  std::vector<ir::SliceDim> slices;
  for (size_t d = 0; d < from.size(); ++d) {
    if (begin[d] < 0 || begin[d] > from[d] || size[d] > from[d] - begin[d]) return l.fail("reaches beyond its input");
    slices.push_back({begin[d], size[d] < 0 ? from[d] : begin[d] + size[d], 1});
  }
  return of_one(l, 0, [&](Body& b, Value x) { return b.slice(x, slices); });
}

Strides strides_of(Lowering& l, const Dims& dims, size_t first) {
  const Dims begin = l.integers(first), end = l.integers(first + 1), step = l.integers(first + 2);
  Strides strides;
  if (l.error.empty()) strides = strides_of(l.node, dims, begin, end, step);
  if (l.error.empty()) l.error = strides.error;
  return strides;
}

Values strided_slice(Lowering& l) {
  const Strides strides = strides_of(l, l.dims(0), 1);
  if (!l.error.empty()) return {};
  return of_one(l, 0, [&](Body& b, Value x) {
    const Value turned = strides.reversed.empty() ? x : b.reverse(x, strides.reversed);
    return b.reshape(b.slice(turned, strides.slices), strides.sizes);
  });
}

/// (sizes of the input, begin, end, strides, gradient): zeros but where the slice was.
Values strided_slice_grad(Lowering& l) {
  const Dims input = l.integers(0);
  const Strides strides = strides_of(l, input, 1);
  if (!l.error.empty()) return {};
  Dims sizes;
  std::vector<ir::PadDim> pads;
  for (size_t d = 0; d < input.size(); ++d) {
    const ir::SliceDim& s = strides.slices[d];
    sizes.push_back(s.limit == s.start ? 0 : (s.limit - s.start - 1) / s.stride + 1);
    pads.push_back({s.start, input[d] - s.limit, s.stride - 1});
  }
  return of_one(l, 4, [&](Body& b, Value gradient) {
    const Value padded = b.pad(b.reshape(gradient, sizes), b.constant(b.type(gradient), 0), pads);
    return strides.reversed.empty() ? padded : b.reverse(padded, strides.reversed);
  });
}

enum class Dimension : uint8_t { kept, gone };

/// Parts of these sizes along dimension d of operand k.
Values parts_of(Lowering& l, size_t k, int64_t d, const Dims& sizes, Dimension dimension = Dimension::kept) {
  const Dims from = l.dims(k);
  return l.program.fuse({{l.in(k)}}, [&](Body& b, std::span<const Value> x) {
    Values parts;
    int64_t at = 0;
    for (const int64_t size : sizes) {
      std::vector<ir::SliceDim> slices = whole(from);
      slices[static_cast<size_t>(d)] = {at, at + size, 1};
      at += size;
      const Value part = b.slice(x[0], slices);
      Dims rest = from;
      rest.erase(rest.begin() + d);
      parts.push_back(dimension == Dimension::kept ? part : b.reshape(part, rest));
    }
    return parts;
  });
}

/// A dimension given by a constant or an attribute, within `rank`; -1 and an error elsewhere.
int64_t checked(Lowering& l, int64_t d, int64_t rank) {
  d = from_end(d, rank);
  if (d >= 0 && d < rank) return d;
  l.fail("has a dimension out of range");
  return -1;
}
int64_t dimension_of(Lowering& l, size_t k, int64_t rank) {
  const Dims at = l.integers(k);
  if (l.error.empty() && at.size() != 1) l.fail("its dimension is not known");
  return l.error.empty() ? checked(l, at[0], rank) : -1;
}

/// (dimension, value): `num_split` equal parts.
Values split(Lowering& l) {
  const int64_t d = dimension_of(l, 0, l.shape(1).rank()), parts = attribute(l.node, "num_split", int64_t{1});
  if (!l.error.empty()) return {};
  const int64_t size = l.dims(1)[static_cast<size_t>(d)];
  if (parts < 1 || parts > kMostParts || size % parts != 0) return l.fail(fmt::format("splits {} into {} parts", size, parts));
  return parts_of(l, 1, d, Dims(static_cast<size_t>(parts), size / parts));
}

/// (value, sizes, dimension); one size may be -1: what is left.
Values split_by_sizes(Lowering& l) {
  Dims sizes = l.integers(1);
  const int64_t d = dimension_of(l, 2, l.shape(0).rank());
  if (!l.error.empty()) return {};
  int64_t left = l.dims(0)[static_cast<size_t>(d)];
  for (const int64_t size : sizes) left -= std::clamp<int64_t>(size, 0, left + 1);
  for (int64_t& size : sizes) {
    if (size == -1) size = left, left = 0;
  }
  if (left != 0 || sizes.empty() || std::ranges::min(sizes) < 0) return l.fail("its sizes do not add up");
  return parts_of(l, 0, d, sizes);
}

Values unpack(Lowering& l) {
  const int64_t d = checked(l, attribute(l.node, "axis", int64_t{0}), l.shape(0).rank());
  if (!l.error.empty()) return {};
  const int64_t size = l.dims(0)[static_cast<size_t>(d)];
  if (size < 1 || size > kMostParts) return l.fail(fmt::format("unpacks {} parts", size));
  return parts_of(l, 0, d, Dims(static_cast<size_t>(size), 1), Dimension::gone);
}

Values reverse(Lowering& l) {
  Dims dims = l.integers(1);
  for (int64_t& d : dims) d = checked(l, d, l.shape(0).rank());
  if (!l.error.empty()) return {};
  return of_one(l, 0, [&](Body& b, Value x) { return b.reverse(x, dims); });
}

/// The array between its mirror images; REFLECT does not repeat the edge, SYMMETRIC does.
Values mirror_pad(Lowering& l) {
  const Dims amounts = l.integers(1), from = l.dims(0);
  const int64_t edge = attribute(l.node, "mode", std::string("REFLECT")) == "REFLECT" ? 1 : 0;
  if (!l.error.empty() || amounts.size() != 2 * from.size()) return l.fail("its paddings are not known");
  for (size_t k = 0; k < amounts.size(); ++k) {
    if (amounts[k] < 0 || amounts[k] > from[k / 2] - edge) return l.fail("mirrors more than its input has");
  }
  return of_one(l, 0, [&](Body& b, Value x) {
    for (size_t d = 0; d < from.size(); ++d) {
      const auto mirrored = [&](int64_t begin, int64_t end) {
        std::vector<ir::SliceDim> slices = whole(b.dims(x));
        slices[d] = {begin, end, 1};
        return b.reverse(b.slice(x, slices), {static_cast<int64_t>(d)});
      };
      const int64_t low = amounts[2 * d], high = amounts[2 * d + 1];
      Values parts;
      if (low > 0) parts.push_back(mirrored(edge, low + edge));
      parts.push_back(x);
      if (high > 0) parts.push_back(mirrored(from[d] - high - edge, from[d] - edge));
      x = b.concatenate(parts, static_cast<int64_t>(d));
    }
    return x;
  });
}

constexpr Rule kSliceRules[] = {
    {"Slice", slice, 3},       {"StridedSlice", strided_slice, 4}, {"StridedSliceGrad", strided_slice_grad, 5},
    {"Split", split, 2},       {"SplitV", split_by_sizes, 3},      {"Unpack", unpack},
    {"ReverseV2", reverse, 2}, {"MirrorPad", mirror_pad, 2},
};

/// One entry of begin, end and stride on a dimension of this size.
struct Cut {
  int64_t from, to, step;
  int64_t count() const {
    return step > 0 ? std::max<int64_t>(0, (to - from + step - 1) / step) : std::max<int64_t>(0, (from - to - step - 1) / -step);
  }
  /// As a slice of the dimension, or of its mirror image.
  ir::SliceDim slice(int64_t size) const {
    const int64_t first = step > 0 ? from : size - 1 - from, stride = step > 0 ? step : -step, n = count();
    return {n == 0 ? 0 : first, n == 0 ? 0 : first + (n - 1) * stride + 1, stride};
  }
};

}  // namespace

std::span<const Rule> slice_rules() { return kSliceRules; }

Strides strides_of(const Node& node, const Dims& dims, const Dims& begin, const Dims& end, const Dims& step) {
  Strides out;
  const auto fail = [&](std::string_view why) { return Strides{{}, {}, {}, std::string(why)}; };
  const auto bit = [&](std::string_view mask, size_t i) { return ((attribute(node, mask, int64_t{0}) >> i) & 1) != 0; };
  const auto is_new = [&](size_t i) { return bit("new_axis_mask", i) || bit("ellipsis_mask", i); };
  if (begin.size() > 32 || end.size() != begin.size() || step.size() != begin.size())
    return fail("begin, end and strides differ in length");
  size_t named = 0;  // entries that take a dimension of the input
  for (size_t i = 0; i < begin.size(); ++i) named += is_new(i) ? 0 : 1;
  if (named > dims.size()) return fail("slices more dimensions than there are");
  const auto take_whole = [&] {
    out.sizes.push_back(dims[out.slices.size()]);
    out.slices.push_back({0, out.sizes.back(), 1});
  };
  size_t ellipses = dims.size() - named;  // dimensions that the first ellipsis stands for
  for (size_t i = 0; i < begin.size(); ++i) {
    if (bit("ellipsis_mask", i)) {
      for (; ellipses > 0; --ellipses) take_whole();
      continue;
    }
    if (bit("new_axis_mask", i)) {
      out.sizes.push_back(1);
      continue;
    }
    const size_t d = out.slices.size();
    const int64_t size = dims[d], low = step[i] > 0 ? 0 : -1, high = step[i] > 0 ? size : size - 1;
    if (step[i] == 0 || step[i] == INT64_MIN) return fail("a stride of 0");
    if (bit("shrink_axis_mask", i)) {
      const int64_t at = from_end(begin[i], size);
      if (at < 0 || at >= size) return fail("an index out of range");
      out.slices.push_back({at, at + 1, 1});
      continue;
    }
    const bool forward = step[i] > 0;
    const Cut cut{bit("begin_mask", i) ? (forward ? 0 : size - 1) : std::clamp(from_end(begin[i], size), low, high),
                  bit("end_mask", i) ? (forward ? size : -1) : std::clamp(from_end(end[i], size), low, high),
                  std::clamp(step[i], -size - 1, size + 1)};
    if (!forward) out.reversed.push_back(static_cast<int64_t>(d));
    out.slices.push_back(cut.slice(size));
    out.sizes.push_back(cut.count());
  }
  while (out.slices.size() < dims.size()) take_whole();
  return out;
}

}  // namespace importers::tensorflow
