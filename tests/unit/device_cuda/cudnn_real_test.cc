// cuDNN itself, where it is installed: what is declared by hand against its header, and plans that it makes, as it does without a GPU for a
// device that is described to it. Nothing is run.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "importers/hlo/hlo.h"
#include "replay/device/cuda/cudnn.h"
#include "replay/device/cuda/own_kernels.h"
#include "replay/plan.h"
#if __has_include(<cudnn.h>)
#define CUDNN_HEADER 1
#include <cudnn.h>

#include <type_traits>
#endif

namespace replay::cuda {
namespace {

/// An H100 as cuDNN 9 describes one; each of these it asks for.
constexpr const char* kH100 =
    R"({"version":"1.0","maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,"multiProcessorCount":132,)"
    R"("warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":232448,"reservedSharedMemoryPerBlock":1024,)"
    R"("maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":0,"isTccDriver":0,)"
    R"("supportCoopLaunch":1,"totalGlobalMem":85899345920,"smClockRateKHz":1980000,"memClockRateKHz":2619000,"l2CacheSize":52428800,)"
    R"("cudaDeviceId":0,"deviceVer":900,"driverVer":13000,"deviceName":"NVIDIA H100 80GB HBM3"})";

class CudnnReal : public testing::Test {
 protected:
  void SetUp() override {
    static const auto opened = Cudnn::open_for(system_opener(), kH100);
    if (!opened.ok()) GTEST_SKIP() << opened.error().message;
    cudnn_ = opened->get();
  }
  /// What it would run the root of a program by, or why it does not.
  std::string chosen(const std::string& text) {
    const auto module = importers::hlo::parse("HloModule m\nENTRY e {\n" + text + "\n}\n", "test");
    if (!module.ok()) return module.error().message;
    const auto op = library_op(*module, {module->entry, module->comp(module->entry).root});
    if (!op.ok()) return op.error().message;
    const ArrangedConvolution as = arranged(std::get<Convolution>(**op));
    const auto graph = plan_convolution(as.op);
    if (!graph.ok()) return graph.error().message;
    const auto routine = cudnn_->convolution(*graph, {}, int64_t{512} << 20);
    return routine.ok() ? (*routine)->implementation() : routine.error().message;
  }
  Cudnn* cudnn_ = nullptr;
};

std::string in_type(std::string text, const std::string& type) {
  for (size_t at = text.find("TYPE"); at != std::string::npos; at = text.find("TYPE", at)) text.replace(at, 4, type);
  return text;
}

TEST_F(CudnnReal, HasAPlanForEveryPassInEveryOrderAndType) {
  const char* const passes[] = {
      "x = TYPE[8,28,28,64] parameter(0)\n w = TYPE[3,3,64,128] parameter(1)\n ROOT y = TYPE[8,14,14,128] convolution(x, w), "
      "window={size=3x3 stride=2x2 pad=0_1x0_1}, dim_labels=b01f_01io->b01f",
      "x = TYPE[8,64,28,28] parameter(0)\n w = TYPE[128,64,3,3] parameter(1)\n ROOT y = TYPE[8,128,28,28] convolution(x, w), "
      "window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01",
      "g = TYPE[8,14,14,128] parameter(0)\n w = TYPE[3,3,64,128] parameter(1)\n ROOT d = TYPE[8,28,28,64] convolution(g, w), "
      "window={size=3x3 pad=2_1x2_1 lhs_dilate=2x2 rhs_reversal=1x1}, dim_labels=b01f_01oi->b01f",
      "x = TYPE[8,28,28,64] parameter(0)\n g = TYPE[8,28,28,128] parameter(1)\n ROOT d = TYPE[3,3,64,128] convolution(x, g), "
      "window={size=28x28 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf",
      "x = TYPE[8,64,28] parameter(0)\n w = TYPE[128,64,3] parameter(1)\n ROOT y = TYPE[8,128,28] convolution(x, w), "
      "window={size=3 pad=1_1}, dim_labels=bf0_oi0->bf0",
      "x = TYPE[8,28,28,64] parameter(0)\n w = TYPE[3,3,1,64] parameter(1)\n ROOT y = TYPE[8,28,28,64] convolution(x, w), "
      "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=64",
  };
  for (const char* type : {"f32", "f16", "bf16"})
    for (const char* pass : passes) {
      const std::string text = in_type(pass, type), made = chosen(text);
      EXPECT_EQ(made.substr(0, 6) + made.substr(made.find(':'), 16), "cuDNN : configuration ") << text << "\n" << made;
      EXPECT_TRUE(std::string_view(type) != "f32" || made.find("tensor cores") == std::string::npos) << made;
    }
}

/// The calls of tools/gpu-check.sh, one with a bias among them.
TEST_F(CudnnReal, HasAPlanForEveryCallOfTheCheckOnAGpu) {
  std::ifstream file(SOURCE_DIR "/tests/gpu/convolutions.hlo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto module = importers::hlo::parse(text, "convolutions");
  ASSERT_TRUE(module.ok()) << module.error().message;
  PlanOptions how;
  how.target.language = kernel::Language::cuda;
  how.accepts = accepts, how.arranges = arranged;
  const auto plan = make_plan(*module, how);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  int planned = 0;
  for (const Step* step : plan->steps)
    for (const Launch& launch : step->launches) {
      const auto* call = std::get_if<LibraryCall>(&launch);
      const auto* convolution = call == nullptr ? nullptr : std::get_if<Convolution>(call->op.get());
      if (convolution == nullptr) continue;
      const auto graph = plan_convolution(*convolution);
      ASSERT_TRUE(graph.ok()) << step->name << ": " << graph.error().message;
      const auto routine = cudnn_->convolution(*graph, {}, int64_t{512} << 20);
      EXPECT_TRUE(routine.ok()) << step->name << ": " << routine.error().message;
      ++planned;
    }
  EXPECT_EQ(planned, 8);
}

TEST_F(CudnnReal, RefusesAResultOfAnotherSize) {
  ConvolutionGraph graph;
  graph.x = {CudnnType::f16, {1, 8, 8, 8}, {512, 1, 64, 8}};
  graph.w = {CudnnType::f16, {8, 8, 3, 3}, {72, 1, 24, 8}};
  graph.y = {CudnnType::f16, {1, 8, 7, 7}, {392, 1, 56, 8}};
  graph.pad_before = graph.pad_after = graph.strides = graph.dilations = {1, 1};
  const auto routine = cudnn_->convolution(graph, {}, 1 << 20);
  ASSERT_FALSE(routine.ok());
  EXPECT_EQ(routine.error().message.substr(0, 43), "cudnnBackendFinalize: CUDNN_STATUS_BAD_PARA") << routine.error().message;
}

#ifdef CUDNN_HEADER

template <typename Ours, typename Theirs>
constexpr bool kPassedAlike = (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) ||
                              (!std::is_pointer_v<Ours> && !std::is_pointer_v<Theirs> && sizeof(Ours) == sizeof(Theirs));
template <typename... Ours, typename Status, typename... Theirs>
constexpr bool passed_alike(const Function<Ours...>&, Status (*)(Theirs...)) {
  if constexpr (sizeof...(Ours) != sizeof...(Theirs))
    return false;
  else
    return (kPassedAlike<Ours, Theirs> && ...);
}

#define EXPECT_ALIKE_DNN(member, function) EXPECT_TRUE(passed_alike(table.member, &::function)) << #function

TEST(CudnnInterface, FunctionsTakeWhatTheHeaderSays) {
  const CudnnTable table;
  EXPECT_ALIKE_DNN(create, cudnnCreate);
  EXPECT_ALIKE_DNN(destroy, cudnnDestroy);
  EXPECT_ALIKE_DNN(set_stream, cudnnSetStream);
  EXPECT_ALIKE_DNN(make, cudnnBackendCreateDescriptor);
  EXPECT_ALIKE_DNN(drop, cudnnBackendDestroyDescriptor);
  EXPECT_ALIKE_DNN(set, cudnnBackendSetAttribute);
  EXPECT_ALIKE_DNN(get, cudnnBackendGetAttribute);
  EXPECT_ALIKE_DNN(finalize, cudnnBackendFinalize);
  EXPECT_ALIKE_DNN(execute, cudnnBackendExecute);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

TEST(CudnnInterface, NumbersAreTheHeaders) {
  const auto same = [](auto ours, int theirs) { EXPECT_EQ(static_cast<int>(ours), theirs); };
  same(CudnnType::f32, CUDNN_DATA_FLOAT), same(CudnnType::f64, CUDNN_DATA_DOUBLE), same(CudnnType::f16, CUDNN_DATA_HALF);
  same(CudnnType::bf16, CUDNN_DATA_BFLOAT16);
  using enum DescriptorKind;
  same(pointwise, CUDNN_BACKEND_POINTWISE_DESCRIPTOR), same(convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  same(engine, CUDNN_BACKEND_ENGINE_DESCRIPTOR), same(configuration, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  same(heuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR), same(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  same(forward, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  same(gradient_of_weights, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
  same(gradient_of_input, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
  same(pointwise_operation, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR), same(graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  same(arguments, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR), same(tensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  same(device, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
}

TEST(CudnnInterface, KindsOfValuesAreTheHeaders) {
  const auto same = [](ValueKind ours, int theirs) { EXPECT_EQ(static_cast<int>(ours), theirs); };
  using enum ValueKind;
  same(handle, CUDNN_TYPE_HANDLE), same(type, CUDNN_TYPE_DATA_TYPE), same(flag, CUDNN_TYPE_BOOLEAN), same(integer, CUDNN_TYPE_INT64);
  same(single, CUDNN_TYPE_FLOAT), same(real, CUDNN_TYPE_DOUBLE), same(pointer, CUDNN_TYPE_VOID_PTR);
  same(convolution_mode, CUDNN_TYPE_CONVOLUTION_MODE), same(heuristics_mode, CUDNN_TYPE_HEUR_MODE);
  same(numerical_note, CUDNN_TYPE_NUMERICAL_NOTE), same(pointwise_mode, CUDNN_TYPE_POINTWISE_MODE);
  same(descriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR), same(text, CUDNN_TYPE_CHAR);
}

TEST(CudnnInterface, AttributesAreTheHeaders) {
  const auto same = [](CudnnAttribute ours, int theirs) { EXPECT_EQ(static_cast<int>(ours), theirs); };
  using enum CudnnAttribute;
  same(CudnnAttribute::pointwise_mode, CUDNN_ATTR_POINTWISE_MODE), same(pointwise_sums, CUDNN_ATTR_POINTWISE_MATH_PREC);
  same(relu_lower, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP), same(relu_upper, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP);
  same(relu_slope, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE), same(convolution_sums, CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  same(CudnnAttribute::convolution_mode, CUDNN_ATTR_CONVOLUTION_CONV_MODE), same(dilations, CUDNN_ATTR_CONVOLUTION_DILATIONS);
  same(strides, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES), same(pad_after, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  same(pad_before, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS), same(places, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
  same(CudnnAttribute::heuristics_mode, CUDNN_ATTR_ENGINEHEUR_MODE), same(heuristics_graph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  same(heuristics_results, CUDNN_ATTR_ENGINEHEUR_RESULTS), same(heuristics_device, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
  same(configuration_engine, CUDNN_ATTR_ENGINECFG_ENGINE), same(plan_handle, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
  same(plan_configuration, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG), same(plan_workspace, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  same(plan_device, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP), same(graph_handle, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  same(graph_operations, CUDNN_ATTR_OPERATIONGRAPH_OPS), same(tensor_alignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  same(tensor_type, CUDNN_ATTR_TENSOR_DATA_TYPE), same(tensor_dims, CUDNN_ATTR_TENSOR_DIMENSIONS);
  same(tensor_strides, CUDNN_ATTR_TENSOR_STRIDES), same(tensor_id, CUDNN_ATTR_TENSOR_UNIQUE_ID);
  same(tensor_is_virtual, CUDNN_ATTR_TENSOR_IS_VIRTUAL), same(argument_ids, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  same(argument_pointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS), same(argument_workspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  same(engine_number, CUDNN_ATTR_ENGINE_GLOBAL_INDEX), same(engine_notes, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
  same(device_text, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
}

TEST(CudnnInterface, AttributesOfOperationsAreTheHeaders) {
  const auto same = [](CudnnAttribute ours, int theirs) { EXPECT_EQ(static_cast<int>(ours), theirs); };
  using enum CudnnAttribute;
  same(forward_alpha, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA), same(forward_beta, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
  same(forward_convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
  same(forward_w, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W), same(forward_x, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
  same(forward_y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y), same(input_alpha, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA);
  same(input_beta, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA), same(input_w, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W);
  same(input_convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC);
  same(input_dx, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX), same(input_dy, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
  same(weights_alpha, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA),
      same(weights_beta, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA);
  same(weights_convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC);
  same(weights_dw, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW), same(weights_x, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X);
  same(weights_dy, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY), same(operation_pointwise, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  same(operation_x, CUDNN_ATTR_OPERATION_POINTWISE_XDESC), same(operation_b, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  same(operation_y, CUDNN_ATTR_OPERATION_POINTWISE_YDESC), same(operation_alpha1, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1);
  same(operation_alpha2, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2);
}

#endif

}  // namespace
}  // namespace replay::cuda
