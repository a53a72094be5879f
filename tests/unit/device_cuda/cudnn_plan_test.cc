// Convolutions as cuDNN is asked for them: a table of exact descriptions, and random convolutions computed twice, by what a replay's
// convolution means and by what cuDNN's manual says of the description.
#include "replay/device/cuda/cudnn_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "importers/hlo/hlo.h"

namespace replay::cuda {
namespace {

struct Wording {
  const char* name;
  const char* text;  ///< parameters and the root
  const char* planned;
};

/// Of the entry's root: what cuDNN is asked for, or why it is not.
std::string described(const std::string& text) {
  const auto module = importers::hlo::parse("HloModule m\nENTRY e {\n" + text + "\n}\n", "test");
  if (!module.ok()) return "not parsed: " + module.error().message;
  const auto op = library_op(*module, {module->entry, module->comp(module->entry).root});
  if (!op.ok()) return "no convolution: " + op.error().message;
  const auto graph = plan_convolution(std::get<Convolution>(**op));
  return graph.ok() ? text_of(*graph) : graph.error().message;
}

TEST(CudnnPlan, OfForwardConvolutions) {
  const Wording cases[] = {
      {"features last",
       "x = f16[8,56,56,64] parameter(0)\n w = f16[3,3,64,128]{2,1,0,3} parameter(1)\n ROOT y = f16[8,56,56,128] "
       "convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
       "forward f16, x 8x64x56x56 by 200704 1 3584 64, w 128x64x3x3 by 576 1 192 64, y 8x128x56x56 by 401408 1 7168 128, pad 1x1_1x1, "
       "stride 1x1"},
      {"features first, a stride that does not reach the end",
       "x = f32[2,3,224,224] parameter(0)\n w = f32[64,3,7,7] parameter(1)\n ROOT y = f32[2,64,112,112] convolution(x, w), "
       "window={size=7x7 stride=2x2 pad=3_3x3_3}, dim_labels=bf01_oi01->bf01",
       "forward f32, x 2x3x224x224 by 150528 50176 224 1, w 64x3x7x7 by 147 49 7 1, y 2x64x112x112 by 802816 12544 112 1, pad 3x3_3x3, "
       "stride 2x2"},
      {"more padding behind",
       "x = f32[1,4,4,1] parameter(0)\n w = f32[3,3,1,1] parameter(1)\n ROOT y = f32[1,4,4,1] convolution(x, w), "
       "window={size=3x3 pad=0_2x1_1}, dim_labels=b01f_01io->b01f",
       "forward f32, x 1x1x4x4 by 16 1 4 1, w 1x1x3x3 by 1 1 3 1, y 1x1x4x4 by 16 1 4 1, pad 0x1_2x1, stride 1x1"},
      {"one dimension of places",
       "x = f64[1,4,1] parameter(0)\n w = f64[2,1,1] parameter(1)\n ROOT y = f64[1,5,1] convolution(x, w), "
       "window={size=2 pad=1_1}, dim_labels=b0f_0io->b0f",
       "forward f64, x 1x1x1x4 by 4 1 4 1, w 1x1x1x2 by 1 1 2 1, y 1x1x1x5 by 5 1 5 1, pad 0x1_0x1, stride 1x1"},
      {"no dimension of places",
       "x = bf16[2,3] parameter(0)\n w = bf16[3,4] parameter(1)\n ROOT y = bf16[2,4] convolution(x, w), dim_labels=bf_io->bf",
       "forward bf16, x 2x3x1x1 by 3 1 3 3, w 4x3x1x1 by 1 4 12 12, y 2x4x1x1 by 4 1 4 4, pad 0x0_0x0, stride 1x1"},
      {"three dimensions, groups, dilation",
       "x = f16[1,3,4,5,4] parameter(0)\n w = f16[2,2,2,2,6] parameter(1)\n ROOT y = f16[1,2,3,3,6] convolution(x, w), "
       "window={size=2x2x2 rhs_dilate=1x1x2}, dim_labels=b012f_012io->b012f, feature_group_count=2",
       "forward f16, x 1x4x3x4x5 by 240 1 80 20 4, w 6x2x2x2x2 by 1 6 48 24 12, y 1x6x2x3x3 by 108 1 54 18 6, pad 0x0x0_0x0x0, stride "
       "1x1x1, dilation 1x1x2"},
  };
  for (const Wording& one : cases) EXPECT_EQ(described(one.text), one.planned) << one.name;
}

TEST(CudnnPlan, OfGradients) {
  const Wording cases[] = {
      {"of the input, by its dilation",
       "g = f32[2,2,1,1] parameter(0)\n w = f32[1,1,1,2] parameter(1)\n ROOT d = f32[2,1,2,2] convolution(g, w), window={size=1x1 "
       "pad=0_1x0_1 lhs_dilate=2x2 rhs_reversal=1x1}, dim_labels=bf01_01oi->bf01",
       "gradient of the input f32, x 2x1x2x2 by 4 4 2 1, w 2x1x1x1 by 1 2 2 2, y 2x2x1x1 by 2 1 1 1, pad 0x0_0x0, stride 2x2"},
      {"of the input, by its window",
       "g = f32[1,5,5,4] parameter(0)\n w = f32[3,3,2,4] parameter(1)\n ROOT d = f32[1,5,5,2] convolution(g, w), window={size=3x3 "
       "pad=1_1x1_1 rhs_reversal=1x1}, dim_labels=b01f_01oi->b01f",
       "gradient of the input f32, x 1x2x5x5 by 50 1 10 2, w 4x2x3x3 by 1 4 24 8, y 1x4x5x5 by 100 1 20 4, pad 1x1_1x1, stride 1x1"},
      {"of the weights, by its large window",
       "x = f32[8,14,14,32] parameter(0)\n g = f32[8,14,14,64] parameter(1)\n ROOT d = f32[3,3,32,64] convolution(x, g), "
       "window={size=14x14 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf",
       "gradient of the weights f32, x 8x32x14x14 by 6272 1 448 32, w 64x32x3x3 by 1 64 6144 2048, y 8x64x14x14 by 12544 1 896 64, pad "
       "1x1_1x1, stride 1x1"},
      {"of the weights, because nothing else says it",
       "x = f32[2,1,2,2] parameter(0)\n g = f32[2,2,1,1] parameter(1)\n ROOT d = f32[1,1,1,2] convolution(x, g), window={size=1x1 "
       "pad=0_-1x0_-1 rhs_dilate=2x2}, dim_labels=fb01_io01->01bf",
       "gradient of the weights f32, x 2x1x2x2 by 4 4 2 1, w 2x1x1x1 by 1 2 2 2, y 2x2x1x1 by 2 1 1 1, pad 0x0_0x0, stride 2x2"},
      {"of the weights, by groups of the batch",
       "x = f32[4,5,3] parameter(0)\n w = f32[3,3,4] parameter(1)\n ROOT d = f32[2,3,4] convolution(x, w), window={size=3 stride=2 "
       "pad=1_1}, dim_labels=b0f_0io->b0f, batch_group_count=2",
       "gradient of the weights f32, x 3x4x1x5 by 1 15 15 3, w 4x2x1x3 by 1 12 12 4, y 3x4x1x3 by 4 1 36 12, pad 0x1_0x1, stride 1x1, "
       "dilation 1x2"},
  };
  for (const Wording& one : cases) EXPECT_EQ(described(one.text), one.planned) << one.name;
}

/// Operands of another order of memory are brought into one that cuDNN has engines for: that of the images.
TEST(CudnnPlan, OfArraysInOtherOrders) {
  const auto moved = [](const std::string& text) {
    const auto module = importers::hlo::parse("HloModule m\nENTRY e {\n" + text + "\n}\n", "test");
    const ArrangedConvolution as =
        arranged(std::get<Convolution>(**library_op(*module, {module->entry, module->comp(module->entry).root})));
    std::string out;
    for (const auto& [name, how] : {std::pair{"first", as.first}, std::pair{"second", as.second}, std::pair{"result", as.result}}) {
      if (!how) continue;
      out += std::string(name) + " by";
      for (const Permute::Dim& d : how->dims) out += " " + std::to_string(d.from) + ">" + std::to_string(d.to);
      out += ", ";
    }
    return out + text_of(*plan_convolution(as.op));
  };
  EXPECT_EQ(moved("x = f32[2,5,5,3] parameter(0)\n w = f32[3,3,3,4] parameter(1)\n ROOT y = f32[2,5,5,4] convolution(x, w), "
                  "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
            "second by 1>27 4>1 36>9 12>3, forward f32, x 2x3x5x5 by 75 1 15 3, w 4x3x3x3 by 27 1 9 3, y 2x4x5x5 by 100 1 20 4, pad "
            "1x1_1x1, stride 1x1");
  EXPECT_EQ(moved("x = f32[8,4,4,2] parameter(0)\n g = f32[8,4,4,6] parameter(1)\n ROOT d = f32[3,3,2,6] convolution(x, g), "
                  "window={size=4x4 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf"),
            "result by 18>1 1>6 6>36 2>12, gradient of the weights f32, x 8x2x4x4 by 32 1 8 2, w 6x2x3x3 by 18 1 6 2, y 8x6x4x4 by 96 1 "
            "24 6, pad 1x1_1x1, stride 1x1");
  EXPECT_EQ(moved("x = f32[2,3,5,5] parameter(0)\n w = f32[4,3,3,3] parameter(1)\n ROOT y = f32[2,4,5,5]{1,3,2,0} convolution(x, w), "
                  "window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01"),
            "result by 100>100 25>1 5>20 1>4, forward f32, x 2x3x5x5 by 75 25 5 1, w 4x3x3x3 by 27 9 3 1, y 2x4x5x5 by 100 25 5 1, pad "
            "1x1_1x1, stride 1x1");
}

/// A call says what it is, and its window and labels are those of the forward convolution.
TEST(CudnnPlan, OfCudnnsOwnCalls) {
  const std::string end = ", window={size=1x1}, dim_labels=bf01_oi01->bf01, custom_call_target=\"__cudnn$conv";
  const std::string sizes = "x 2x3x1x1 by 3 1 1 1, w 4x3x1x1 by 3 1 1 1, y 2x4x1x1 by 4 1 1 1, pad 0x0_0x0, stride 1x1";
  const std::string x = "x = f32[2,3,1,1] parameter(0)\n", w = "w = f32[4,3,1,1] parameter(1)\n", y = "y = f32[2,4,1,1] parameter(2)\n";
  EXPECT_EQ(described(x + w + "ROOT r = (f32[2,4,1,1], u8[0]) custom-call(x, w)" + end + "Forward\""), "forward f32, " + sizes);
  EXPECT_EQ(described(w + "y = f32[2,4,1,1] parameter(0)\nROOT r = (f32[2,3,1,1], u8[0]) custom-call(y, w)" + end + "BackwardInput\""),
            "gradient of the input f32, " + sizes);
  EXPECT_EQ(described(x + "y = f32[2,4,1,1] parameter(1)\nROOT r = (f32[4,3,1,1], u8[0]) custom-call(x, y)" + end + "BackwardFilter\""),
            "gradient of the weights f32, " + sizes);
}

TEST(CudnnPlan, OfWhatCannotBeSaid) {
  const auto with = [](const char* in, const char* out, const char* window) {
    return std::string("x = ") + in + "[1,6,6,1] parameter(0)\n w = " + in + "[2,2,1,1] parameter(1)\n ROOT y = " + out +
           " convolution(x, w), window={size=2x2 " + window + "}, dim_labels=b01f_01io->b01f";
  };
  const std::pair<std::string, const char*> cases[] = {
      {with("s32", "s32[1,5,5,1]", ""), "cuDNN does not convolve s32 with s32 into s32"},
      {with("c64", "c64[1,5,5,1]", ""), "cuDNN does not convolve c64 with c64 into c64"},
      {with("f16", "f32[1,5,5,1]", ""), "cuDNN does not convolve f16 with f16 into f32"},
      {with("f32", "f32[1,4,4,1]", "pad=-1_0x-1_0 stride=1x1"), "negative padding"},
      {with("f32", "f32[1,5,5,1]", "lhs_dilate=2x2 stride=2x2"), "places between the input's elements"},
      {with("f32", "f32[1,5,5,1]", "rhs_reversal=1x0"), "a window that is read from its end in some dimensions only"},
      {"x = f32[1,2,2,2,2,1] parameter(0)\n w = f32[1,1,1,1,1,1] parameter(1)\n ROOT y = f32[1,2,2,2,2,1] convolution(x, w), "
       "window={size=1x1x1x1}, dim_labels=b0123f_0123io->b0123f",
       "windows of 4 dimensions"},
      {"x = f32[0,2,2,1] parameter(0)\n w = f32[1,1,1,1] parameter(1)\n ROOT y = f32[0,2,2,1] convolution(x, w), window={size=1x1}, "
       "dim_labels=b01f_01io->b01f",
       "a size of 0"},
  };
  for (const auto& [text, why] : cases) EXPECT_EQ(described(text), why) << text;
}

// ---- random convolutions

using Values = std::vector<double>;

/// Sizes of an array laid out in a random order of its dimensions: strides by dimension.
struct Laid {
  std::vector<int64_t> strides;
  Values values;
};
Laid laid(const std::vector<int64_t>& sizes, std::mt19937& random) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  Laid made{std::vector<int64_t>(sizes.size()), {}};
  int64_t all = 1;
  for (const size_t d : order) made.strides[d] = std::exchange(all, all * sizes[d]);
  for (int64_t k = 0; k < all; ++k) made.values.push_back(static_cast<double>((k * 7 + 3) % 11 - 5));
  return made;
}

int64_t pick(std::mt19937& random, int64_t from, int64_t to) { return std::uniform_int_distribution<int64_t>(from, to)(random); }

struct Random {
  Convolution c;
  Values x, w;
  size_t results = 0;
};

Random random_convolution(std::mt19937& random) {
  Random made;
  Convolution& c = made.c;
  c.groups = pick(random, 1, 2), c.batch = pick(random, 1, 2), c.in_features = pick(random, 1, 3), c.out_features = pick(random, 1, 2);
  const bool of_batch = c.groups > 1 && pick(random, 0, 1) == 1, plain = pick(random, 0, 1) == 1;
  std::vector<int64_t> x{c.batch * (of_batch ? c.groups : 1), c.in_features * (of_batch ? 1 : c.groups)},
      w{c.groups * c.out_features, c.in_features}, y{c.batch, c.groups * c.out_features};
  for (int64_t k = pick(random, 0, 3); k > 0; --k) {
    Convolution::Dim d;
    d.in = pick(random, 1, 5), d.window = pick(random, 1, 3), d.stride = pick(random, 1, 2), d.pad_low = pick(random, plain ? 0 : -1, 2);
    d.base_dilation = plain ? 1 : pick(random, 1, 2), d.window_dilation = pick(random, 1, 2), d.reversed = !plain && pick(random, 0, 3) > 0;
    if (!plain && d.base_dilation > 1 && pick(random, 0, 3) > 0) d.stride = 1;
    d.out = pick(random, 1, 4);
    x.push_back(d.in), w.push_back(d.window), y.push_back(d.out);
    c.dims.push_back(d);
  }
  const Laid lx = laid(x, random), lw = laid(w, random), ly = laid(y, random);
  c.x = {ir::Type::f32, of_batch ? c.batch * lx.strides[0] : c.in_features * lx.strides[1], lx.strides[0], lx.strides[1]};
  c.w = {ir::Type::f32, c.out_features * lw.strides[0], lw.strides[0], lw.strides[1]};
  c.y = {ir::Type::f32, c.out_features * ly.strides[1], ly.strides[0], ly.strides[1]};
  for (size_t k = 0; k < c.dims.size(); ++k)
    c.dims[k].x = lx.strides[k + 2], c.dims[k].w = lw.strides[k + 2], c.dims[k].y = ly.strides[k + 2];
  made.x = lx.values, made.w = lw.values, made.results = ly.values.size();
  return made;
}

/// Calls f(coordinates) for every element of a box.
template <typename F>
void each(const std::vector<int64_t>& sizes, const F& f) {
  int64_t all = 1;
  for (const int64_t size : sizes) all *= size;
  std::vector<int64_t> at(sizes.size());
  for (int64_t n = 0; n < all; ++n) {
    int64_t left = n;
    for (size_t k = sizes.size(); k-- > 0; left /= sizes[k]) at[k] = left % sizes[k];
    f(at);
  }
}

/// By the definition in library.h.
Values by_definition(const Random& r) {
  const Convolution& c = r.c;
  std::vector<int64_t> sizes{c.groups, c.batch, c.out_features, c.in_features};
  for (const auto& d : c.dims) sizes.push_back(d.out);
  for (const auto& d : c.dims) sizes.push_back(d.window);
  Values y(r.results, 0);
  each(sizes, [&](const std::vector<int64_t>& at) {
    int64_t x = at[0] * c.x.group + at[1] * c.x.outer + at[3] * c.x.inner, w = at[0] * c.w.group + at[2] * c.w.outer + at[3] * c.w.inner,
            to = at[0] * c.y.group + at[1] * c.y.outer + at[2] * c.y.inner;
    bool inside = true;
    for (size_t k = 0; k < c.dims.size(); ++k) {
      const auto& d = c.dims[k];
      const int64_t p = at[4 + k], tap = at[4 + c.dims.size() + k], place = p * d.stride + tap * d.window_dilation - d.pad_low;
      inside = inside && place >= 0 && place % d.base_dilation == 0 && place / d.base_dilation < d.in;
      x += place / d.base_dilation * d.x, w += (d.reversed ? d.window - 1 - tap : tap) * d.w, to += p * d.y;
    }
    if (inside) y.at(static_cast<size_t>(to)) += r.x.at(static_cast<size_t>(x)) * r.w.at(static_cast<size_t>(w));
  });
  return y;
}

/// By the manual: y = x ∗ w over the places of the padded x, and for a gradient the sums of the same products.
Values by_manual(const ConvolutionGraph& g, const Random& r) {
  std::vector<int64_t> sizes = g.y.dims;
  sizes.insert(sizes.end(), g.w.dims.begin() + 1, g.w.dims.end());
  const size_t places = g.strides.size();
  const int64_t per_group = g.w.dims[0] / (g.x.dims[1] / g.w.dims[1]);
  Values out(r.results, 0);
  each(sizes, [&](const std::vector<int64_t>& at) {
    const int64_t feature = at[places + 2], x_feature = at[1] / per_group * g.w.dims[1] + feature;
    int64_t x = at[0] * g.x.strides[0] + x_feature * g.x.strides[1], w = at[1] * g.w.strides[0] + feature * g.w.strides[1],
            y = at[0] * g.y.strides[0] + at[1] * g.y.strides[1];
    bool inside = true;
    for (size_t k = 0; k < places; ++k) {
      const int64_t tap = at[places + 3 + k], place = at[k + 2] * g.strides[k] + tap * g.dilations[k] - g.pad_before[k];
      inside = inside && place >= 0 && place < g.x.dims[k + 2];
      x += place * g.x.strides[k + 2], w += (g.turned ? g.w.dims[k + 2] - 1 - tap : tap) * g.w.strides[k + 2];
      y += at[k + 2] * g.y.strides[k + 2];
    }
    if (!inside) return;
    const auto of = [](const Values& values, int64_t place) { return values.at(static_cast<size_t>(place)); };
    if (g.gradient == Gradient::none) out.at(static_cast<size_t>(y)) += of(r.x, x) * of(r.w, w);
    if (g.gradient == Gradient::input) out.at(static_cast<size_t>(x)) += of(r.x, y) * of(r.w, w);
    if (g.gradient == Gradient::weights) out.at(static_cast<size_t>(w)) += of(r.x, x) * of(r.w, y);
  });
  return out;
}

/// The library refuses a result that the padded input does not give.
void expect_sizes(const ConvolutionGraph& g) {
  for (size_t k = 0; k < g.strides.size(); ++k) {
    const int64_t padded = g.x.dims[k + 2] + g.pad_before[k] + g.pad_after[k];
    ASSERT_EQ((padded - (g.w.dims[k + 2] - 1) * g.dilations[k] - 1) / g.strides[k] + 1, g.y.dims[k + 2]) << text_of(g);
    ASSERT_GE(std::min(g.pad_before[k], g.pad_after[k]), 0) << text_of(g);
  }
}

TEST(CudnnPlan, EveryConvolutionIsRightOrRefused) {
  std::mt19937 random(7);
  std::map<Gradient, int> right;
  std::map<std::string, int> refused;
  for (int n = 0; n < 4000; ++n) {
    Random one = random_convolution(random);
    if (n % 4 == 3) one.c.gradient = static_cast<Gradient>(pick(random, 0, 2));
    const auto graph = plan_convolution(one.c);
    if (!graph.ok()) {
      ++refused[graph.error().message];
      continue;
    }
    ++right[graph->gradient];
    ASSERT_NO_FATAL_FAILURE(expect_sizes(*graph));
    ASSERT_EQ(by_manual(*graph, one), by_definition(one)) << text_of(*graph) << "\n" << text_of(LibraryOp(one.c));
  }
  for (const Gradient gradient : {Gradient::none, Gradient::input, Gradient::weights}) EXPECT_GT(right[gradient], 150);
  for (const char* why :
       {"negative padding", "places between the input's elements", "groups that are no run of features",
        "a window that is read from its end in some dimensions only", "a gradient of weights that are read from their end"})
    EXPECT_GT(refused[why], 0) << why;
}

}  // namespace
}  // namespace replay::cuda
