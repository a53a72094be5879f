// The part of TensorFlow's op registry that training and inference graphs are made of. What launches follows traces of V100s: nodes that
// hand on, read or store a buffer start no kernel; nodes whose results are shapes and indices have host kernels ("_kernel": "host",
// HostMemory).
#include "importers/tensorflow/op_types.h"

#include <algorithm>
#include <unordered_map>

namespace importers::tensorflow {
namespace {

using model::Launches;

struct Group {
  Launches launches;
  bool auxiliary;
  std::string_view names;  ///< separated by blanks
};

constexpr Group kGroups[] = {
    {Launches::nothing, true,
     "Const HostConst Placeholder PlaceholderV2 PlaceholderWithDefault _Arg _Retval _DeviceArg _DeviceRetval VarHandleOp VariableV2 "
     "Variable "
     "TemporaryVariable DestroyTemporaryVariable ImmutableConst NoOp ControlTrigger Assert LoopCond VarIsInitializedOp "
     "IsVariableInitialized "
     "DummySeedGenerator AnonymousIterator AnonymousIteratorV2 AnonymousIteratorV3 DeleteIterator HashTableV2 MutableHashTableV2"},
    {Launches::nothing, false,
     "Identity IdentityN StopGradient PreventGradient Snapshot CheckNumerics ReadVariableOp AssignVariableOp Reshape ExpandDims Squeeze "
     "Bitcast "
     "Switch RefSwitch Merge RefMerge Enter RefEnter Exit RefExit NextIteration RefNextIteration If StatelessIf While StatelessWhile Case "
     "StatelessCase PartitionedCall StatefulPartitionedCall SymbolicGradient RemoteCall EagerPyFunc PyFunc PyFuncStateless "
     "StackV2 StackPushV2 StackPopV2 StackCloseV2 TensorListReserve TensorListSetItem TensorListElementShape EmptyTensorList "
     "TensorListPopBack "
     "TensorListPushBack XlaRun _XlaRun _XlaCompile _XlaMerge XlaLaunch CollectiveInitializeCommunicator CollectiveAssignGroupV2"},
    {Launches::host, true,
     "Shape ShapeN Size Rank BroadcastGradientArgs BroadcastArgs ConcatOffset InvertPermutation DataFormatVecPermute DataFormatDimMap "
     "DynamicStitch MergeSummary ScalarSummary HistogramSummary ImageSummary SaveV2 RestoreV2 MergeV2Checkpoints ShardedFilename "
     "StringJoin "
     "StringFormat Print PrintV2 Timestamp RandomShuffle UniqueV2 Unique Where LookupTableFindV2 LookupTableImportV2"},
    {Launches::host, false,
     "_Send _Recv _HostSend _HostRecv Send Recv IteratorGetNext IteratorGetNextSync IteratorV2 MakeIterator IteratorToStringHandle "
     "OptionalGetValue OptionalHasValue OptionalFromValue IteratorGetNextAsOptional QueueDequeueV2 QueueDequeueManyV2 QueueEnqueueV2 "
     "FIFOQueueV2 "
     "ParseExampleV2 ParseSingleExample DecodeJpeg DecodePng ReadFile TensorDataset BatchDatasetV2 MapDataset PrefetchDataset RangeDataset "
     "StagingArea Stage Unstage ConsumeMutexLock MutexLock"},
    // Arithmetic of two and more tensors.
    {Launches::device, false,
     "Add AddV2 AddN AccumulateNV2 Sub Mul MulNoNan Div DivNoNan RealDiv FloorDiv TruncateDiv Mod FloorMod TruncateMod Pow Maximum Minimum "
     "SquaredDifference Atan2 Xdivy Xlogy Xlog1py Igamma Igammac Zeta Polygamma Betainc NextAfter LeftShift RightShift BitwiseAnd "
     "BitwiseOr "
     "BitwiseXor Equal NotEqual Greater GreaterEqual Less LessEqual ApproximateEqual LogicalAnd LogicalOr LogicalNot Select SelectV2 "
     "ClipByValue "
     "Cross Complex"},
    // Of one.
    {Launches::device, false,
     "Abs Neg Sign Square Sqrt Rsqrt Reciprocal Inv Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh "
     "Sigmoid Erf "
     "Erfc Erfinv Ndtri Lgamma Digamma Floor Ceil Round Rint IsNan IsInf IsFinite Invert PopulationCount Real Imag Conj Angle ComplexAbs "
     "Cast "
     "Softplus Softsign Relu Relu6 LeakyRelu Elu Selu Softmax LogSoftmax BesselI0e BesselI1e ZerosLike OnesLike DeepCopy"},
    // Gradients.
    {Launches::device, false,
     "ReluGrad Relu6Grad LeakyReluGrad EluGrad SeluGrad SoftplusGrad SoftsignGrad SigmoidGrad TanhGrad SqrtGrad RsqrtGrad ReciprocalGrad "
     "InvGrad "
     "BiasAddGrad Conv2DBackpropInput Conv2DBackpropFilter Conv2DBackpropInputV2 Conv2DBackpropFilterV2 Conv3DBackpropInputV2 "
     "Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropInput DepthwiseConv2dNativeBackpropFilter Dilation2DBackpropInput "
     "Dilation2DBackpropFilter MaxPoolGrad MaxPoolGradV2 MaxPoolGradGrad MaxPool3DGrad AvgPoolGrad AvgPool3DGrad FusedBatchNormGrad "
     "FusedBatchNormGradV2 FusedBatchNormGradV3 LRNGrad StridedSliceGrad ResizeBilinearGrad ResizeNearestNeighborGrad ResizeBicubicGrad "
     "MirrorPadGrad CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3 SegmentSumGrad CropAndResizeGradImage "
     "FakeQuantWithMinMaxVarsGradient BatchNormWithGlobalNormalizationGrad"},
    // Products, windows, normalisation, losses, recurrent nets.
    {Launches::device, false,
     "MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 SparseMatMul SparseTensorDenseMatMul Einsum Conv2D Conv3D Conv DepthwiseConv2dNative "
     "Dilation2D BiasAdd BiasAddV1 FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 LRN L2Loss MaxPool MaxPoolV2 MaxPool3D "
     "MaxPoolWithArgmax "
     "AvgPool AvgPool3D FractionalMaxPool FractionalAvgPool SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits CTCLoss "
     "CTCLossV2 "
     "CudnnRNN CudnnRNNV2 CudnnRNNV3 LSTMBlockCell BlockLSTM BlockLSTMV2 GRUBlockCell _FusedConv2D _FusedMatMul _FusedBatchNormEx "
     "_FusedBatchNormGradEx _FusedDepthwiseConv2dNative _FusedBatchMatMulV2 Cholesky MatrixInverse MatrixSolve Qr Svd FFT IFFT RFFT IRFFT "
     "FFT2D "
     "RFFT2D IRFFT2D"},
    // Reductions and scans.
    {Launches::device, false,
     "Sum Mean Prod Max Min All Any ArgMax ArgMin EuclideanNorm Cumsum Cumprod CumulativeLogsumexp TopK TopKV2 InTopK InTopKV2 "
     "UnsortedSegmentSum "
     "UnsortedSegmentMax SegmentSum SegmentSumV2 SparseSegmentSum SparseSegmentMean Bincount DenseBincount"},
    // Movement.
    {Launches::device, false,
     "Transpose ConjugateTranspose Concat ConcatV2 Split SplitV Pack Unpack ParallelConcat Slice StridedSlice Gather GatherV2 GatherNd "
     "ResourceGather ResourceGatherNd ScatterNd "
     "TensorScatterUpdate TensorScatterAdd Tile Pad PadV2 MirrorPad Reverse ReverseV2 ReverseSequence Roll Fill Range LinSpace OneHot "
     "BroadcastTo "
     "BatchToSpaceND SpaceToBatchND BatchToSpace SpaceToBatch DepthToSpace SpaceToDepth Diag DiagPart MatrixDiag MatrixDiagV2 MatrixDiagV3 "
     "MatrixDiagPart MatrixDiagPartV3 MatrixBandPart MatrixSetDiag Copy EnsureShape DynamicPartition ParallelDynamicStitch ResizeBilinear "
     "ResizeNearestNeighbor "
     "ResizeBicubic ResizeArea CropAndResize NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 CombinedNonMaxSuppression "
     "ExtractImagePatches TensorListStack TensorListFromTensor TensorListGetItem TensorListConcatV2 TensorArrayV3 TensorArrayGatherV3 "
     "TensorArrayScatterV3 TensorArrayReadV3 TensorArrayWriteV3"},
    // Random numbers.
    {Launches::device, false,
     "RandomUniform RandomUniformInt RandomStandardNormal TruncatedNormal RandomGamma Multinomial StatelessRandomUniform "
     "StatelessRandomUniformV2 "
     "StatelessRandomNormal StatelessRandomNormalV2 StatelessTruncatedNormal StatelessTruncatedNormalV2 StatelessRandomUniformInt "
     "StatelessRandomUniformFullIntV2 StatelessRandomGetKeyCounter StatelessRandomGetAlg StatelessMultinomial"},
    // Variables.
    {Launches::device, false,
     "Assign AssignAdd AssignSub AssignAddVariableOp AssignSubVariableOp ResourceScatterAdd ResourceScatterUpdate ResourceScatterSub "
     "ScatterAdd "
     "ScatterUpdate ScatterSub ApplyGradientDescent ApplyMomentum ApplyAdam ApplyAdagrad ApplyRMSProp ApplyFtrl ApplyAdadelta "
     "ResourceApplyGradientDescent ResourceApplyMomentum ResourceApplyKerasMomentum ResourceApplyAdam ResourceApplyAdamWithAmsgrad "
     "ResourceApplyAdagrad ResourceApplyAdagradV2 ResourceApplyAdaMax ResourceApplyRMSProp ResourceApplyCenteredRMSProp ResourceApplyFtrl "
     "ResourceApplyFtrlV2 ResourceApplyAdadelta ResourceApplyProximalGradientDescent ResourceSparseApplyMomentum "
     "ResourceSparseApplyAdagrad "
     "ResourceSparseApplyAdam"},
    // Between machines and devices.
    {Launches::device, false,
     "HorovodAllreduce HorovodAllgather HorovodBroadcast HorovodAlltoall HorovodReducescatter HorovodGroupedAllreduce BytepsPushPull "
     "BytepsBroadcast "
     "CollectiveReduce CollectiveReduceV2 CollectiveReduceV3 CollectiveGather CollectiveGatherV2 CollectiveBcastSend CollectiveBcastRecv "
     "CollectiveAllToAllV2 NcclAllReduce NcclReduce NcclBroadcast _NcclReduceSend _NcclReduceRecv _NcclBroadcastSend _NcclBroadcastRecv "
     "CrossReplicaSum"},
};

using Table = std::unordered_map<std::string_view, OpType>;

Table make_table() {
  Table table;
  for (const Group& group : kGroups) {
    std::string_view rest = group.names;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(' '), rest.size());
      table.emplace(rest.substr(0, end), OpType{rest.substr(0, end), group.launches, group.auxiliary});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return table;
}

}  // namespace

const OpType* find_op_type(std::string_view name) {
  static const Table table = make_table();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace importers::tensorflow
