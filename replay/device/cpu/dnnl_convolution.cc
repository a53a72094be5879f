// oneDNN's convolutions. An HLO convolution is one of three passes of a network's convolution, told by its numbers: the gradient of the
// input is a convolution of a dilated operand with the turned window, that of the weights one whose window is the other gradient's
// extent. Operands are described by their own strides where the library is quick on them (features adjacent), else reordered at every run
// into what it prefers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "replay/device/cpu/dnnl.h"
#include "replay/device/cpu/dnnl_engine.h"

namespace replay::cpu {
namespace {

using Memory = dnnl::memory;
using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

enum class Pass : uint8_t { forward, data, weights };  ///< data, weights: gradients of the input, of the weights

/// The pass in the library's terms. Memories: 0 = HLO's X, 1 = its W, 2 = its Y.
struct Form {
  Pass pass = Pass::forward;
  Desc memory[3];
  std::array<bool, 3> adjacent{};  ///< features adjacent: quick as they lie
  Dims strides, dilations, pad_low, pad_high;
  bool turned = false;  ///< the window must be reversed first
};

/// Pads so that `out` results of windows of `extent` are `stride` apart over `in`; false where the library's rules are broken. What a
/// stride leaves over at the end is no negative padding to the library: it rounds down.
bool add_dim(Form& form, int64_t in, int64_t out, int64_t window, int64_t stride, int64_t dilation, int64_t pad_low) {
  const int64_t extent = (window - 1) * dilation + 1, reach = (out - 1) * stride + extent - in - pad_low;
  const int64_t pad_high = std::max<int64_t>(reach, 0);
  form.strides.push_back(stride);
  form.dilations.push_back(dilation - 1);
  form.pad_low.push_back(pad_low);
  form.pad_high.push_back(pad_high);
  return pad_low >= 0 && reach > -stride && pad_low < extent && pad_high < extent + stride;
}

bool all_of(const Convolution& c, auto predicate) { return std::ranges::all_of(c.dims, predicate); }

/// Dense, features innermost: the library knows it by a tag, whatever the strides of dimensions of size 1 are.
std::optional<Desc> adjacent_features(const Dims& sizes, const Dims& strides) {
  static constexpr Memory::format_tag kTags[] = {Memory::format_tag::nwc, Memory::format_tag::nhwc, Memory::format_tag::ndhwc};
  int64_t expected = sizes[1];
  if (sizes[1] > 1 && strides[1] != 1) return std::nullopt;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (d == 1) continue;
    if (sizes[d] > 1 && strides[d] != expected) return std::nullopt;
    expected *= sizes[d];
  }
  return Desc(sizes, Memory::data_type::f32, kTags[sizes.size() - 3]);
}

Desc image(const Convolution& c, const Convolution::Operand& o, int64_t outer, int64_t features, int64_t Convolution::Dim::*size,
           int64_t Convolution::Dim::*stride, bool& adjacent) {
  Dims sizes{outer, features}, strides{o.outer, o.inner};
  for (const auto& d : c.dims) sizes.push_back(d.*size), strides.push_back(d.*stride);
  const auto known = adjacent_features(sizes, strides);
  adjacent = known.has_value();
  return known ? *known : Desc(sizes, Memory::data_type::f32, strides);
}

Desc kernel(const Convolution& c, Dims sizes, Dims strides, int64_t Convolution::Dim::*size, int64_t Convolution::Dim::*stride,
            int64_t group) {
  for (const auto& d : c.dims) sizes.push_back(d.*size), strides.push_back(d.*stride);
  if (c.groups > 1) sizes.insert(sizes.begin(), c.groups), strides.insert(strides.begin(), group);
  return {sizes, Memory::data_type::f32, strides};
}

/// Groups must be groups of features in both images.
bool feature_groups(const Convolution& c) { return c.groups == 1 || c.x.group == c.in_features * c.x.inner; }

using D = Convolution::Dim;

std::optional<Form> forward(const Convolution& c) {
  if (!feature_groups(c) || !all_of(c, [](const D& d) { return d.base_dilation == 1; })) return std::nullopt;
  Form form;
  const int64_t turned = std::ranges::count_if(c.dims, [](const D& d) { return d.reversed && d.window > 1; });
  form.turned = turned > 0;
  if (turned > 0 && !all_of(c, [](const D& d) { return d.reversed || d.window == 1; })) return std::nullopt;
  form.memory[0] = image(c, c.x, c.batch, c.groups * c.in_features, &D::in, &D::x, form.adjacent[0]);
  form.memory[1] = kernel(c, {c.out_features, c.in_features}, {c.w.outer, c.w.inner}, &D::window, &D::w, c.w.group);
  form.memory[2] = image(c, c.y, c.batch, c.groups * c.out_features, &D::out, &D::y, form.adjacent[2]);
  const bool fits = all_of(c, [&](const D& d) { return add_dim(form, d.in, d.out, d.window, d.stride, d.window_dilation, d.pad_low); });
  return fits ? std::optional(form) : std::nullopt;
}

/// Y is the gradient of an input whose result's gradient is X: place y of Y meets place x of X where y = x·base_dilation + k − pad.
std::optional<Form> data(const Convolution& c) {
  if (!feature_groups(c) || !all_of(c, [](const D& d) { return d.stride == 1; })) return std::nullopt;
  Form form;
  form.pass = Pass::data;
  form.turned = all_of(c, [](const D& d) { return !d.reversed || d.window == 1; });
  if (!form.turned && !all_of(c, [](const D& d) { return d.reversed || d.window == 1; })) return std::nullopt;
  form.memory[0] = image(c, c.x, c.batch, c.groups * c.in_features, &D::in, &D::x, form.adjacent[0]);
  form.memory[1] = kernel(c, {c.in_features, c.out_features}, {c.w.inner, c.w.outer}, &D::window, &D::w, c.w.group);
  form.memory[2] = image(c, c.y, c.batch, c.groups * c.out_features, &D::out, &D::y, form.adjacent[2]);
  const bool fits = all_of(c, [&](const D& d) {
    return add_dim(form, d.out, d.in, d.window, d.base_dilation, d.window_dilation, (d.window - 1) * d.window_dilation - d.pad_low);
  });
  return fits ? std::optional(form) : std::nullopt;
}

/// Y holds gradients of weights: X's features are the batch there, its batch the in features; W is the gradient of the result.
std::optional<Form> weights(const Convolution& c) {
  const bool batch_groups = c.groups == 1 || c.x.group == c.batch * c.x.outer;
  if (!batch_groups || !all_of(c, [](const D& d) { return d.base_dilation == 1 && (!d.reversed || d.window == 1); })) return std::nullopt;
  Form form;
  form.pass = Pass::weights;
  Convolution turned = c;
  std::swap(turned.x.outer, turned.x.inner);
  std::swap(turned.w.outer, turned.w.inner);
  form.memory[0] = image(turned, turned.x, c.in_features, c.groups * c.batch, &D::in, &D::x, form.adjacent[0]);
  form.memory[1] = image(turned, turned.w, c.in_features, c.groups * c.out_features, &D::window, &D::w, form.adjacent[1]);
  form.memory[2] = kernel(c, {c.out_features, c.batch}, {c.y.inner, c.y.outer}, &D::out, &D::y, c.y.group);
  const bool fits = all_of(c, [&](const D& d) { return add_dim(form, d.in, d.window, d.out, d.window_dilation, d.stride, d.pad_low); });
  return fits ? std::optional(form) : std::nullopt;
}

/// Which pass the numbers speak for; the others are no forms of it that a library is quick at.
std::optional<Form> form_of(const Convolution& c) {
  double window = 1, out = 1;
  for (const D& d : c.dims) window *= static_cast<double>(d.window), out *= static_cast<double>(d.out);
  if (window > out) {
    if (auto form = weights(c)) return form;
  }
  if (auto form = forward(c)) return form;
  return data(c);
}

dnnl::convolution_forward::primitive_desc forward_desc(const Form& f, dnnl::algorithm algorithm, const Desc& x, const Desc& w,
                                                       const Desc& y, const dnnl::primitive_attr& attributes) {
  const auto kind = f.pass == Pass::forward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  return dnnl_describe<dnnl::convolution_forward>(attributes, kind, algorithm, x, w, y, f.strides, f.dilations, f.pad_low, f.pad_high);
}

/// A primitive with the descriptions it wants, in HLO's order X, W, Y.
struct Made {
  dnnl::primitive primitive;
  Desc wants[3];
  Desc scratchpad;
  std::string implementation;
};

Made made(const auto& description, const dnnl::primitive& primitive, std::array<Desc, 3> wants) {
  return {primitive, {wants[0], wants[1], wants[2]}, description.scratchpad_desc(), description.impl_info_str()};
}

Desc any_like(const Desc& desc) { return {dnnl_sizes(desc), Memory::data_type::f32, Memory::format_tag::any}; }

Made make(const Form& f, DnnlFormats formats) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  std::array<Desc, 3> d;
  for (size_t i = 0; i < 3; ++i) {
    const bool image = formats == DnnlFormats::images_as_they_lie && f.adjacent[i];
    d[i] = image || formats == DnnlFormats::as_they_lie ? f.memory[i] : any_like(f.memory[i]);
  }
  const auto algorithm = formats == DnnlFormats::winograd ? dnnl::algorithm::convolution_winograd : dnnl::algorithm::convolution_direct;
  if (f.pass == Pass::forward) {
    const auto p = forward_desc(f, algorithm, d[0], d[1], d[2], attributes);
    return made(p, dnnl::convolution_forward(p), {p.src_desc(), p.weights_desc(), p.dst_desc()});
  }
  if (f.pass == Pass::data) {
    const auto hint = forward_desc(f, algorithm, d[2], d[1], d[0], attributes);
    const auto p = dnnl_describe_backward<dnnl::convolution_backward_data>(attributes, hint, algorithm, d[2], d[1], d[0], f.strides,
                                                                           f.dilations, f.pad_low, f.pad_high);
    return made(p, dnnl::convolution_backward_data(p), {p.diff_dst_desc(), p.weights_desc(), p.diff_src_desc()});
  }
  const auto hint = forward_desc(f, algorithm, d[0], d[2], d[1], attributes);
  const auto p = dnnl_describe_backward<dnnl::convolution_backward_weights>(attributes, hint, algorithm, d[0], d[2], d[1], f.strides,
                                                                            f.dilations, f.pad_low, f.pad_high);
  return made(p, dnnl::convolution_backward_weights(p), {p.src_desc(), p.diff_dst_desc(), p.diff_weights_desc()});
}

bool slow(const std::string& implementation) {
  return implementation.find("ref") != std::string::npos || implementation.find("gemm") != std::string::npos;
}

class DnnlConvolution final : public Native {
 public:
  DnnlConvolution(Form form, Made made, std::unique_ptr<Native> turn, int threads, std::shared_ptr<Scratch> scratch,
                  std::unique_ptr<Native> fallback)
      : form_(std::move(form)),
        made_(std::move(made)),
        turn_(std::move(turn)),
        threads_(threads),
        scratch_(std::move(scratch)),
        fallback_(std::move(fallback)),
        stream_(dnnl_engine()) {
    for (size_t i = 0; i < 3; ++i) {
      given_[i] = Memory(form_.memory[i], dnnl_engine(), nullptr);
      wanted_[i] = Memory(made_.wants[i], dnnl_engine(), nullptr);
      same_[i] = form_.memory[i] == made_.wants[i];
      if (!same_[i]) reorders_[i] = i < 2 ? dnnl::reorder(given_[i], wanted_[i]) : dnnl::reorder(wanted_[i], given_[i]);
      places_[i + 1] = places_[i] + (same_[i] ? 0 : rounded(made_.wants[i].get_size()));
    }
    places_[4] = places_[3] + rounded(made_.scratchpad.get_size());
    places_[5] = places_[4] + (form_.turned ? rounded(form_.memory[1].get_size()) : 0);
    scratchpad_ = Memory(made_.scratchpad, dnnl_engine(), nullptr);
    static constexpr std::array<int, 3> kArguments[] = {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                                                        {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC},
                                                        {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS}};
    const auto& names = kArguments[static_cast<size_t>(form_.pass)];
    for (size_t i = 0; i < 3; ++i) arguments_[i] = {names[i], (same_[i] ? given_[i] : wanted_[i]).get()};
    arguments_[3] = {DNNL_ARG_SCRATCHPAD, scratchpad_.get()};
  }

  void run(std::span<const void* const> in, std::span<void* const> out) override {
    const DnnlThreads scope(threads_);
    if (!execute(in[0], in[1], out[0])) fallback_->run(in, out);
  }
  std::string implementation() const override {
    static constexpr std::string_view kPasses[] = {"forward", "backward data", "backward weights"};
    return fmt::format("oneDNN {} {}", kPasses[static_cast<size_t>(form_.pass)], made_.implementation);
  }
  std::string precision() const override { return "f32×f32→f32→f32"; }

 private:
  static int64_t rounded(size_t bytes) { return (static_cast<int64_t>(bytes) + 63) / 64 * 64; }

  static bool run(const dnnl::primitive& primitive, const dnnl::stream& stream, const dnnl_exec_arg_t* arguments, int count) {
    return dnnl_primitive_execute(primitive.get(), stream.get(), count, arguments) == dnnl_success;
  }
  bool reorder(size_t i) const {
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, (i < 2 ? given_[i] : wanted_[i]).get()},
                                         {DNNL_ARG_TO, (i < 2 ? wanted_[i] : given_[i]).get()}};
    return run(reorders_[i], stream_, arguments, 2);
  }

  bool execute(const void* x, const void* w, void* y) {
    std::byte* const base = scratch_->pieces(1, places_[5]).front();
    if (form_.turned) {
      operands_[0] = w;
      turned_[0] = base + places_[4];
      turn_->run(operands_, turned_);
      w = base + places_[4];
    }
    void* const data[] = {const_cast<void*>(x), const_cast<void*>(w), y};
    for (size_t i = 0; i < 3; ++i) {
      if (dnnl_memory_set_data_handle(given_[i].get(), data[i]) != dnnl_success) return false;
      if (!same_[i] && dnnl_memory_set_data_handle(wanted_[i].get(), base + places_[i]) != dnnl_success) return false;
    }
    if (dnnl_memory_set_data_handle(scratchpad_.get(), base + places_[3]) != dnnl_success) return false;
    const bool computed = (same_[0] || reorder(0)) && (same_[1] || reorder(1)) && run(made_.primitive, stream_, arguments_.data(), 4) &&
                          (same_[2] || reorder(2));
    return computed && dnnl_stream_wait(stream_.get()) == dnnl_success;
  }

  Form form_;
  Made made_;
  std::unique_ptr<Native> turn_;  ///< reverses the window
  int threads_;
  std::shared_ptr<Scratch> scratch_;
  std::unique_ptr<Native> fallback_;
  Memory given_[3], wanted_[3], scratchpad_;
  bool same_[3] = {};
  dnnl::reorder reorders_[3];
  dnnl::stream stream_;
  std::array<dnnl_exec_arg_t, 4> arguments_{};
  std::vector<const void*> operands_{nullptr};  ///< of the turn
  std::vector<void*> turned_{nullptr};
  std::array<int64_t, 6> places_{};  ///< in the scratch: wanted X, W, Y, the library's own, the turned window
};

}  // namespace

base::Result<std::unique_ptr<Native>> make_dnnl_convolution(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch,
                                                            std::unique_ptr<Native> fallback, DnnlFormats formats) {
  const auto refuse = [](std::string_view why) { return base::Error{fmt::format("oneDNN convolution: {}", why)}; };
  const bool f32 = op.x.type == ir::Type::f32 && op.w.type == ir::Type::f32 && op.y.type == ir::Type::f32;
  if (!f32 || op.dims.empty() || op.dims.size() > 3 || op.flops() == 0) return refuse("not f32, no elements, or no 1 to 3 dimensions");
  if (!all_of(op, [](const D& d) { return d.in > 0; })) return refuse("no elements");
  const DnnlThreads scope(threads);
  try {
    const auto form = form_of(op);
    if (!form) return refuse("none of its passes");
    const bool choose = formats == DnnlFormats::chosen;
    Made chosen = make(*form, choose ? DnnlFormats::images_as_they_lie : formats);
    if (choose && slow(chosen.implementation)) chosen = make(*form, DnnlFormats::preferred);
    // Its products for gradients of inputs are as slow as the reference: 3.3 s where gathering takes milliseconds.
    const bool unusable = form->pass == Pass::data ? slow(chosen.implementation) : chosen.implementation.find("ref") != std::string::npos;
    if (unusable) return refuse("only a slow implementation");
    std::unique_ptr<Native> turn;
    if (form->turned) {
      Permute reverse;
      reverse.dims = {
          {op.groups, op.w.group, op.w.group}, {op.out_features, op.w.outer, op.w.outer}, {op.in_features, op.w.inner, op.w.inner}};
      for (const D& d : op.dims) {
        reverse.dims.push_back({d.window, -d.w, d.w});
        reverse.from_offset += (d.window - 1) * d.w;
      }
      ASSIGN_OR_RETURN(turn, make_permute(reverse, threads, scratch));
    }
    return std::unique_ptr<Native>(
        std::make_unique<DnnlConvolution>(*form, std::move(chosen), std::move(turn), threads, std::move(scratch), std::move(fallback)));
  } catch (const dnnl::error& error) {
    return refuse(error.what());
  }
}

}  // namespace replay::cpu
