// Convolutions. A result is a sum of products over the places of its window and the in features of its group.
#include <algorithm>
#include <optional>

#include "replay/reference/contract.h"

namespace replay::reference {
namespace {

/// A convolution's numbers, ready for one result after another.
struct Convolution {
  ir::ConvDims dims;
  std::vector<ir::WindowDim> window;
  Indices in, kernel;  ///< strides
  Indices window_sizes;
  int64_t window_places = 1, features = 1, groups = 1, batch_groups = 1;
};

base::Result<Convolution> convolution_of(const Call& call) {
  Convolution conv;
  ASSIGN_OR_RETURN(conv.dims, ir::attr_conv_dims(call.module(), call.instr));
  ASSIGN_OR_RETURN(conv.window, ir::attr_window(call.module(), call.instr));
  const ir::Shape &in = call.operand_shape(0), &kernel = call.operand_shape(1);
  const size_t spatial = conv.dims.in_spatial.size();
  if (conv.window.empty()) conv.window.resize(spatial);
  if (conv.window.size() != spatial || static_cast<size_t>(in.rank()) != spatial + 2 || in.rank() != kernel.rank() ||
      kernel.rank() != call.shape.rank()) {
    return base::Error{"has dimension labels, a window and operands of different ranks"};
  }
  conv.in = row_major(in.dims);
  conv.kernel = row_major(kernel.dims);
  conv.groups = std::max<int64_t>(1, ir::attr_int(call.module(), call.instr, "feature_group_count").value_or(1));
  conv.batch_groups = std::max<int64_t>(1, ir::attr_int(call.module(), call.instr, "batch_group_count").value_or(1));
  conv.features = kernel.dims[static_cast<size_t>(conv.dims.kernel_in)];
  for (size_t s = 0; s < spatial; ++s) {
    conv.window_sizes.push_back(conv.window[s].size);
    conv.window_places *= conv.window[s].size;
  }
  return conv;
}

/// Offset of the input under a place of the window, and of the kernel there; nothing in the padding.
std::optional<std::pair<int64_t, int64_t>> place_under(const Convolution& conv, const ir::Shape& from, const Indices& at,
                                                       const Indices& place) {
  int64_t in = 0, kernel = 0;
  for (size_t s = 0; s < place.size(); ++s) {
    const ir::WindowDim& dim = conv.window[s];
    const auto d = static_cast<size_t>(conv.dims.in_spatial[s]);
    const int64_t dilated = at[static_cast<size_t>(conv.dims.out_spatial[s])] * dim.stride + place[s] * dim.window_dilation - dim.pad_low;
    if (dilated < 0 || dilated % dim.base_dilation != 0 || dilated / dim.base_dilation >= from.dims[d]) return std::nullopt;
    in += dilated / dim.base_dilation * conv.in[d];
    kernel += (dim.reversed ? dim.size - 1 - place[s] : place[s]) * conv.kernel[static_cast<size_t>(conv.dims.kernel_spatial[s])];
  }
  return std::pair{in, kernel};
}

Sum convolve(const Convolution& conv, const Call& call, const Values& x, const Values& w, const Indices& at) {
  const int64_t out_feature = at[static_cast<size_t>(conv.dims.out_feature)], out_batch = at[static_cast<size_t>(conv.dims.out_batch)];
  const int64_t out_features = call.shape.dims[static_cast<size_t>(conv.dims.out_feature)],
                batches = call.shape.dims[static_cast<size_t>(conv.dims.out_batch)];
  const int64_t group = out_feature / std::max<int64_t>(1, out_features / conv.groups);
  const int64_t batch_group = out_feature / std::max<int64_t>(1, out_features / conv.batch_groups);
  const int64_t in_base = (batch_group * batches + out_batch) * conv.in[static_cast<size_t>(conv.dims.in_batch)] +
                          group * conv.features * conv.in[static_cast<size_t>(conv.dims.in_feature)] * (conv.groups > 1 ? 1 : 0);
  const int64_t kernel_base = out_feature * conv.kernel[static_cast<size_t>(conv.dims.kernel_out)];
  const int64_t in_step = conv.in[static_cast<size_t>(conv.dims.in_feature)],
                kernel_step = conv.kernel[static_cast<size_t>(conv.dims.kernel_in)];
  const bool quick = plain(x) && plain(w);
  Sum sum;
  Walker places(conv.window_sizes);
  for (int64_t p = 0; p < conv.window_places; ++p) {
    const auto under = place_under(conv, call.operand_shape(0), at, places.move_to(p));
    if (!under) continue;
    const int64_t first = in_base + under->first, second = kernel_base + under->second;
    if (quick) {
      add_row(sum, x.re.data() + first, in_step, w.re.data() + second, kernel_step, conv.features);
    } else {
      for (int64_t f = 0; f < conv.features; ++f) {
        add_product(sum, x, static_cast<size_t>(first + f * in_step), w, static_cast<size_t>(second + f * kernel_step));
      }
    }
  }
  return sum;
}

/// All results at once, of real numbers without bounds: what large convolutions spend their time in. Weights stand as [place of the
/// window][group][in feature][out feature], so that the innermost loop adds a multiple of a row to the out features of a group.
class DenseConvolution {
 public:
  DenseConvolution(const Convolution& conv, const Call& call) : conv_(conv), from_(call.operand_shape(0)), to_(call.shape) {
    groups_ = conv.groups * conv.batch_groups;
    outs_ = to_.dims[static_cast<size_t>(conv.dims.out_feature)] / std::max<int64_t>(1, groups_);
  }

  Values results(const Values& x, const Values& w) const {
    Values out = zeros(to_.type, static_cast<size_t>(ir::elements(to_)));
    const std::vector<double> weights = packed(w);
    const Indices strides = row_major(to_.dims);
    Indices one = to_.dims;  // places in space
    one[static_cast<size_t>(conv_.dims.out_batch)] = one[static_cast<size_t>(conv_.dims.out_feature)] = 1;
    const int64_t places = ir::elements(out.re.empty() ? ir::array_shape(to_.type, {0}) : ir::array_shape(to_.type, one));
    Walker walker(one);
    for (int64_t p = 0; p < places; ++p) {
      const Indices& at = walker.move_to(p);
      int64_t base = 0;
      for (size_t d = 0; d < at.size(); ++d) base += at[d] * strides[d];
      add_place(out.re.data() + base, strides, under(at), x.re.data(), weights.data());
    }
    return out;
  }

 private:
  /// A place of the window that lies on the input: offset there, and the place's number.
  struct Under {
    int64_t offset, place;
  };

  std::vector<double> packed(const Values& w) const {
    std::vector<double> out;
    out.reserve(w.re.size());
    Walker walker(conv_.window_sizes);
    for (int64_t p = 0; p < conv_.window_places; ++p) {
      const Indices& place = walker.move_to(p);
      int64_t base = 0;
      for (size_t s = 0; s < place.size(); ++s) {
        const ir::WindowDim& dim = conv_.window[s];
        base += (dim.reversed ? dim.size - 1 - place[s] : place[s]) * conv_.kernel[static_cast<size_t>(conv_.dims.kernel_spatial[s])];
      }
      for (int64_t g = 0; g < groups_; ++g) {
        for (int64_t i = 0; i < conv_.features; ++i) {
          for (int64_t o = 0; o < outs_; ++o)
            out.push_back(w.re[static_cast<size_t>(base + i * conv_.kernel[static_cast<size_t>(conv_.dims.kernel_in)] +
                                                   (g * outs_ + o) * conv_.kernel[static_cast<size_t>(conv_.dims.kernel_out)])]);
        }
      }
    }
    return out;
  }

  std::vector<Under> under(const Indices& at) const {
    std::vector<Under> out;
    Walker walker(conv_.window_sizes);
    for (int64_t p = 0; p < conv_.window_places; ++p) {
      if (const auto place = place_under(conv_, from_, at, walker.move_to(p))) out.push_back({place->first, p});
    }
    return out;
  }

  /// One place in space of every image of the batch.
  void add_place(double* out, const Indices& strides, const std::vector<Under>& under, const double* x, const double* weights) const {
    const auto in = [&](int64_t d) { return conv_.in[static_cast<size_t>(d)]; };
    const int64_t batches = to_.dims[static_cast<size_t>(conv_.dims.out_batch)];
    const int64_t batch_step = strides[static_cast<size_t>(conv_.dims.out_batch)],
                  feature_step = strides[static_cast<size_t>(conv_.dims.out_feature)];
    std::vector<double> sums(static_cast<size_t>(outs_));
    for (int64_t n = 0; n < batches; ++n) {
      for (int64_t g = 0; g < groups_; ++g) {
        const double* from = x + (conv_.batch_groups > 1 ? (g * batches + n) * in(conv_.dims.in_batch)
                                                         : n * in(conv_.dims.in_batch) + g * conv_.features * in(conv_.dims.in_feature));
        std::fill(sums.begin(), sums.end(), 0);
        for (const Under& u : under) add_products(sums, from + u.offset, weights + (u.place * groups_ + g) * conv_.features * outs_);
        for (int64_t o = 0; o < outs_; ++o) out[n * batch_step + (g * outs_ + o) * feature_step] = sums[static_cast<size_t>(o)];
      }
    }
  }

  void add_products(std::vector<double>& sums, const double* x, const double* w) const {
    const int64_t step = conv_.in[static_cast<size_t>(conv_.dims.in_feature)];
    for (int64_t i = 0; i < conv_.features; ++i) {
      const double value = x[i * step];
#pragma omp simd
      for (size_t o = 0; o < sums.size(); ++o) sums[o] += value * w[static_cast<size_t>(i * outs_) + o];
    }
  }

  const Convolution& conv_;
  const ir::Shape &from_, &to_;
  int64_t groups_ = 1, outs_ = 1;
};

/// Made at the first request and kept in the frame.
Batch dense_results(const Convolution& conv, const Call& call, const Values& x, const Values& w) {
  std::shared_ptr<void>& note = call.frame.notes[call.id];
  if (note == nullptr) note = std::make_shared<Values>(DenseConvolution(conv, call).results(x, w));
  return share(take(*static_cast<const Values*>(note.get()), *call.at));
}

}  // namespace

Batch convolution(const Call& call) {
  const auto conv = convolution_of(call);
  if (!conv.ok()) return call.fail(conv.error().message);
  const ir::Shape& in = call.operand_shape(0);
  const int64_t features = in.dims[static_cast<size_t>(conv->dims.in_feature)];
  const int64_t batches = call.shape.dims[static_cast<size_t>(conv->dims.out_batch)];
  if (conv->features * conv->groups != features || batches * conv->batch_groups != in.dims[static_cast<size_t>(conv->dims.in_batch)]) {
    return call.fail("has group counts that do not fit its operands");
  }
  if (ir::elements(in) > (1 << 28)) return call.fail("has an input that is too large for the reference");
  const Batch x = summable(call, call.whole(0)), w = summable(call, call.whole(1));
  if (!call.in.bounds() && plain(*x) && plain(*w) && sum_type(call) == call.shape.type && !call.in.failed())
    return dense_results(*conv, call, *x, *w);
  Values out = zeros(sum_type(call), call.count());
  Walker walker(call.shape.dims);
  for (size_t i = 0; i < call.count() && !call.in.failed(); ++i)
    store_sum(call, out, i, convolve(*conv, call, *x, *w, walker.move_to((*call.at)[i])));
  return share(converted(std::move(out), call.shape.type));
}

}  // namespace replay::reference
