// Images get adjacent features, kernels of convolutions keep theirs, and the program computes what it did.
#include "importers/lowering/layout.h"

#include <gtest/gtest.h>

#include "importers/hlo/hlo.h"
#include "importers/lowering/builder.h"
#include "replay/inputs.h"
#include "replay/reference/reference.h"
#include "src/ir/print.h"
#include "src/ir/verify.h"

namespace importers::lowering {
namespace {

ir::Shape f32_shape(Dims dims) { return ir::array_shape(ir::Type::f32, std::move(dims)); }

/// A convolution, its statistics by feature, a relu with a second result, a pool, and the gradients of filter and image.
ir::Module network() {
  Program program("net");
  const Value x = program.parameter("x", f32_shape({2, 3, 9, 9})), w = program.parameter("w", f32_shape({3, 3, 3, 4}));
  const std::vector<ir::WindowDim> same(2, ir::WindowDim{3, 1, 1, 1});
  const Value y = program.entry().convolution(x, w, {same, "bf01_01io->bf01"});
  const Values relu = program.fuse({{y}}, [](Body& body, std::span<const Value> in) {
    const Value sum = body.reduce(ir::Op::add, in[0], {0, 2, 3});
    const Value centred = body.binary(ir::Op::subtract, in[0], body.broadcast(sum, body.dims(in[0]), {1}));
    return Values{body.binary(ir::Op::maximum, centred, 0), sum};
  });
  const std::vector<ir::WindowDim> pool = {{}, {}, {2, 2}, {2, 2}};
  const Value pooled =
      program.fuse1({{relu[0]}}, [&](Body& body, std::span<const Value> in) { return body.reduce_window(ir::Op::maximum, in[0], pool); });
  // dW: the batch is what is summed over, and the gradient is the window.
  const std::vector<ir::WindowDim> whole(2, ir::WindowDim{9, 1, 1, 1});
  const Value dw = program.entry().convolution(x, relu[0], {whole, "fb01_io01->01bf"});
  const Value step =
      program.fuse1({{w, dw}}, [](Body& body, std::span<const Value> in) { return body.binary(ir::Op::subtract, in[0], in[1]); });
  program.result(program.entry().reshape(pooled, {2, 64}));
  program.result(relu[1]);
  program.result_in_place(step, w);
  auto module = program.finish();
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message);
  return *module;
}

std::vector<std::vector<std::byte>> outputs(const ir::Module& module) {
  const replay::InputOptions options;
  const replay::Chooser chooser(module, options);
  std::vector<replay::Tensor> inputs;
  const ir::Computation& entry = module.comp(module.entry);
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    const ir::Shape& shape = module.shape(entry.instrs[static_cast<size_t>(entry.parameters[i])]);
    const auto number = static_cast<int64_t>(i);
    inputs.push_back(replay::generate(chooser.parameter(number, {{}, &shape}).recipe, shape, 1, replay::input_name(number, {})));
  }
  const auto result = replay::reference::Evaluator(module, replay::Rounding::each).run(module.entry, inputs);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  std::vector<std::vector<std::byte>> data;
  for (const replay::Tensor& element : result->elements) data.push_back(element.data);
  return data;
}

TEST(ChannelsLast, ImagesChangeTheirOrderAndNothingElse) {
  const ir::Module before = network();
  ir::Module after = before;
  channels_last(after);
  for (const ir::Finding& finding : ir::judge(after).broken) ADD_FAILURE() << finding.what;
  const std::string text = ir::print(after);
  EXPECT_TRUE(hlo::parse(text, "printed").ok());
  EXPECT_NE(text.find("%x = f32[2,3,9,9]{1,3,2,0} parameter(0)"), std::string::npos) << text;
  EXPECT_NE(text.find("%w = f32[3,3,3,4]{3,2,1,0} parameter(1)"), std::string::npos) << text;
  EXPECT_EQ(text.find("f32[2,4,9,9]{3,2,1,0}"), std::string::npos) << text;
  EXPECT_EQ(text.find("f32[2,4,4,4]{3,2,1,0}"), std::string::npos) << text;
  EXPECT_EQ(text.find("bitcast"), std::string::npos) << text;  // of an image that lies otherwise now
  EXPECT_EQ(outputs(before), outputs(after));
}

TEST(ChannelsLast, WhatHasFeaturesLastAlreadyStays) {
  Program program("nhwc");
  const Value x = program.parameter("x", f32_shape({2, 9, 9, 3})), w = program.parameter("w", f32_shape({3, 3, 3, 4}));
  program.result(program.entry().convolution(x, w, {std::vector<ir::WindowDim>(2, ir::WindowDim{3, 1, 1, 1}), "b01f_01io->b01f"}));
  const ir::Module before = *program.finish();
  ir::Module after = before;
  channels_last(after);
  EXPECT_TRUE(before == after);
}

}  // namespace
}  // namespace importers::lowering
