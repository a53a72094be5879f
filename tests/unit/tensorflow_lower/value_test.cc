// Operators against values that were worked out by hand, or that TensorFlow's documentation gives.
#include <cmath>
#include <functional>
#include <limits>

#include "tests/unit/tensorflow_lower/small_graph.h"

namespace importers::tensorflow {
namespace {

TEST(Slices, TakeWhatMasksSay) {
  const Numbers x{0, 1, 2, 3, 4, 5};
  const auto strided = [&](const Dims& begin, const Dims& end, const Dims& step, const Attributes& masks) {
    return of({2, 3}, x, [&](SmallGraph& s, int in) {
      s.op("StridedSlice", {in, s.integers(begin), s.integers(end), s.integers(step)}, masks);
    });
  };
  EXPECT_EQ(strided({1}, {2}, {1}, {}), (Numbers{3, 4, 5}));
  EXPECT_EQ(strided({0, -1}, {2, -4}, {1, -1}, {}), (Numbers{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(strided({0, 1}, {0, 0}, {1, 1}, {{"begin_mask", int64_t{1}}, {"end_mask", int64_t{3}}}), (Numbers{1, 2, 4, 5}));
  EXPECT_EQ(strided({0, 0, 2}, {0, 0, 3}, {1, 1, 1}, {{"ellipsis_mask", int64_t{1}}, {"new_axis_mask", int64_t{2}}}), (Numbers{2, 5}));
  EXPECT_EQ(strided({-1, 0}, {0, 3}, {1, 2}, {{"shrink_axis_mask", int64_t{1}}}), (Numbers{3, 5}));
}

TEST(Slices, SplitAndUnpackGiveAllParts) {
  EXPECT_EQ(of({2, 3}, {0, 1, 2, 3, 4, 5},
               [](SmallGraph& s, int in) {
                 const int parts = s.op("SplitV", {in, s.integers({1, -1}), s.integers({1}, true)}, {});
                 s.op("Identity", {Output(parts, 1)});
               }),
            (Numbers{1, 2, 4, 5}));
  EXPECT_EQ(of({2, 3}, {0, 1, 2, 3, 4, 5},
               [](SmallGraph& s, int in) {
                 const int parts = s.op("Unpack", {in}, {{"axis", int64_t{1}}, {"num", int64_t{3}}});
                 s.op("Sub", {Output(parts, 2), Output(parts, 0)});
               }),
            (Numbers{2, 2}));
}

TEST(Slices, MirrorsRepeatTheEdgeOnlyIfSymmetric) {
  const auto mirrored = [](const std::string& mode) {
    return of({3}, {1, 2, 3}, [&](SmallGraph& s, int in) {
      const int pads = s.op("Reshape", {s.integers({2, 1}), s.integers({1, 2})});
      s.op("MirrorPad", {in, pads}, {{"mode", mode}});
    });
  };
  EXPECT_EQ(mirrored("REFLECT"), (Numbers{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(mirrored("SYMMETRIC"), (Numbers{2, 1, 1, 2, 3, 3}));
}

TEST(Indices, GatherAlongAnyDimensionAndInBatches) {
  const Numbers x{0, 1, 2, 3, 4, 5};
  const auto gathered = [&](int64_t axis, int64_t batch, const Dims& dims, const Dims& indices) {
    return of({2, 3}, x, [&](SmallGraph& s, int in) {
      const int at = s.op("Reshape", {s.integers(indices), s.integers(dims)});
      s.op("GatherV2", {in, at, s.integers({axis}, true)}, {{"batch_dims", batch}});
    });
  };
  EXPECT_EQ(gathered(0, 0, {1}, {1}), (Numbers{3, 4, 5}));
  EXPECT_EQ(gathered(-1, 0, {2}, {2, 0}), (Numbers{2, 0, 5, 3}));
  EXPECT_EQ(gathered(1, 1, {2, 1}, {2, 0}), (Numbers{2, 3}));
}

TEST(Indices, GatherNdScatterNdAndSegments) {
  EXPECT_EQ(of({2, 3}, {0, 1, 2, 3, 4, 5},
               [](SmallGraph& s, int in) {
                 s.op("GatherNd", {in, s.op("Reshape", {s.integers({1, 2, 0, 0}), s.integers({2, 2})})});
               }),
            (Numbers{5, 0}));
  EXPECT_EQ(of({3}, {7, 8, 9},
               [](SmallGraph& s, int in) {
                 s.op("ScatterNd", {s.op("Reshape", {s.integers({3, 0, 3}), s.integers({3, 1})}), in, s.integers({4})});
               }),
            (Numbers{8, 0, 0, 16}));
  EXPECT_EQ(of({3, 2}, {1, 2, 3, 4, 5, 6},
               [](SmallGraph& s, int in) {
                 s.op("UnsortedSegmentSum", {in, s.integers({1, 0, 1}), s.integers({2}, true)});
               }),
            (Numbers{3, 4, 6, 8}));
}

TEST(Indices, TheFirstOfEqualMaximaIsTheirPlace) {
  EXPECT_EQ(of({2, 3}, {1, 7, 7, 5, 2, 0}, [](SmallGraph& s, int in) { s.op("ArgMax", {in, s.integers({1}, true)}); }), (Numbers{1, 0}));
  EXPECT_EQ(of({2, 3}, {1, 7, 7, 5, 2, 0}, [](SmallGraph& s, int in) { s.op("ArgMin", {in, s.integers({0}, true)}); }), (Numbers{0, 1, 1}));
}

TEST(Indices, RunningSumsIncludeOrExcludeTheirPlace) {
  const auto summed = [](bool exclusive, bool reverse) {
    return of({4}, {1, 2, 3, 4}, [&](SmallGraph& s, int in) {
      s.op("Cumsum", {in, s.integers({0}, true)}, {{"exclusive", exclusive}, {"reverse", reverse}});
    });
  };
  EXPECT_EQ(summed(false, false), (Numbers{1, 3, 6, 10}));
  EXPECT_EQ(summed(true, false), (Numbers{0, 1, 3, 6}));
  EXPECT_EQ(summed(false, true), (Numbers{10, 9, 7, 4}));
  EXPECT_EQ(summed(true, true), (Numbers{9, 7, 4, 0}));
}

TEST(Indices, OneHotStandsWhereTheAxisSays) {
  const auto hot = [](int64_t axis) {
    return of(
        {2}, {2, 0},
        [&](SmallGraph& s, int in) {
          s.op("OneHot", {in, s.integers({3}, true), s.integers({1}, true), s.integers({0}, true)}, {{"axis", axis}});
        },
        ir::Type::s32);
  };
  EXPECT_EQ(hot(-1), (Numbers{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(hot(0), (Numbers{0, 1, 0, 0, 1, 0}));
}

TEST(Indices, LaterRowsOfAStitchWin) {
  EXPECT_EQ(of({2, 2}, {1, 2, 3, 4},
               [](SmallGraph& s, int in) {
                 s.op("DynamicStitch", {s.integers({2, 0}), s.integers({1, 2}), in, in});
               }),
            (Numbers{3, 4, 1, 2, 3, 4}));
}

TEST(Arithmetic, DivisionOfIntegersRoundsDown) {
  const auto divided = [](const std::string& type) {
    return of(
        {4}, {7, -7, 6, -1},
        [&](SmallGraph& s, int in) {
          s.op(type, {in, s.integers({2, 2, -4, 3})});
        },
        ir::Type::s32);
  };
  EXPECT_EQ(divided("FloorDiv"), (Numbers{3, -4, -2, -1}));
  EXPECT_EQ(divided("FloorMod"), (Numbers{1, 1, -2, 2}));
  EXPECT_EQ(divided("TruncateDiv"), (Numbers{3, -3, -1, 0}));
}

TEST(Arithmetic, ZeroTakesPartInNothing) {
  const auto two = [](const std::string& type) {
    return of({3}, {0, 2, 0}, [&](SmallGraph& s, int in) {
      s.op(type, {in, s.op("Cast", {s.integers({0, 4, 4})}, {{"DstT", ir::Type::f32}})});
    });
  };
  EXPECT_EQ(two("DivNoNan"), (Numbers{0, 0.5, 0}));
  EXPECT_EQ(two("Xdivy"), (Numbers{0, 0.5, 0}));
}

TEST(Images, BlocksBecomeChannelsAndBack) {
  const Numbers x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  const Numbers deep{1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 13, 14, 11, 12, 15, 16};
  EXPECT_EQ(of({1, 4, 4, 1}, x, [](SmallGraph& s, int in) { s.op("SpaceToDepth", {in}, {{"block_size", int64_t{2}}}); }), deep);
  EXPECT_EQ(of({1, 2, 2, 4}, deep, [](SmallGraph& s, int in) { s.op("DepthToSpace", {in}, {{"block_size", int64_t{2}}}); }), x);
}

TEST(Images, AveragesDoNotCountPadding) {
  EXPECT_EQ(of({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9},
               [](SmallGraph& s, int in) {
                 s.op("AvgPool", {in}, {{"padding", std::string("SAME")}, {"ksize", Dims{1, 2, 2, 1}}, {"strides", Dims{1, 2, 2, 1}}});
               }),
            (Numbers{3, 4.5, 7.5, 9}));
}

TEST(Products, StacksOfMatricesAreBroadcast) {
  const auto product = [](bool matrix_first, const Attributes& turned) {
    return of({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}, [&](SmallGraph& s, int stack) {
      const int matrix = s.op("Cast", {s.op("Reshape", {s.integers({1, 2, 3, 4}), s.integers({2, 2})})}, {{"DstT", ir::Type::f32}});
      s.op("BatchMatMulV2", {matrix_first ? matrix : stack, matrix_first ? stack : matrix}, turned);
    });
  };
  EXPECT_EQ(product(false, {}), (Numbers{7, 10, 15, 22, 23, 34, 31, 46}));
  EXPECT_EQ(product(true, {}), (Numbers{7, 10, 15, 22, 19, 22, 43, 50}));
  EXPECT_EQ(product(false, {{"adj_y", true}}), (Numbers{5, 11, 11, 25, 17, 39, 23, 53}));
  EXPECT_EQ(product(false, {{"adj_x", true}}), (Numbers{10, 14, 14, 20, 26, 38, 30, 44}));
}

TEST(Products, StacksThatDoNotFitAreNotLowered) {
  SmallGraph s;
  s.op("BatchMatMulV2", {s.feed("a", {2, 4, 4}), s.feed("b", {3, 4, 4})});
  s.graph.nodes.back().shapes = {ir::array_shape(ir::Type::f32, {2, 4, 4})};
  const auto lowered = lower(s.graph);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  ASSERT_EQ(lowered->notes.size(), 1U);
  EXPECT_EQ(lowered->notes[0].code, "not-lowered");
}

TEST(Arithmetic, WhatErfLacks) {
  const Numbers y = of({2}, {0, 1}, [](SmallGraph& s, int in) { s.op("Erfc", {in}); });
  EXPECT_EQ(y[0], 1);
  EXPECT_NEAR(y[1], 0.15729921, 1e-6);
}

TEST(Images, BlocksBecomeBatchesAndBack) {
  const Numbers x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  const Numbers batches{0, 1, 3, 0, 9, 11, 0, 2, 4, 0, 10, 12, 0, 5, 7, 0, 13, 15, 0, 6, 8, 0, 14, 16};  // TensorFlow's documentation
  const auto in_blocks = [](const std::string& type, const Dims& dims, const Numbers& values) {
    return of(dims, values, [&](SmallGraph& s, int in) {
      s.op(type, {in, s.integers({2, 2}), s.op("Reshape", {s.integers({0, 0, 2, 0}), s.integers({2, 2})})});
    });
  };
  EXPECT_EQ(in_blocks("SpaceToBatchND", {2, 2, 4, 1}, x), batches);
  EXPECT_EQ(in_blocks("BatchToSpaceND", {8, 1, 3, 1}, batches), x);
}

TEST(Images, NewPlacesLieBetweenOldOnes) {
  const auto wide = [](const Attributes& places) {
    return of({1, 1, 2, 1}, {0, 6}, [&](SmallGraph& s, int in) { s.op("ResizeBilinear", {in, s.integers({1, 4})}, places); });
  };
  EXPECT_EQ(wide({}), (Numbers{0, 3, 6, 6}));
  EXPECT_EQ(wide({{"half_pixel_centers", true}}), (Numbers{0, 1.5, 4.5, 6}));
  const Numbers corners = wide({{"align_corners", true}}), expected{0, 2, 4, 6};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(corners[i], expected[i], 1e-6);
}

TEST(Variables, RowsAreReadAndUpdatedInPlace) {
  const auto updated = [](const std::string& type) {
    SmallGraph s;
    const int w = s.variable("w", {3, 2}), rows = s.feed("rows", {2}, ir::Type::s32);
    s.op(type, {w, rows, s.op("ResourceGather", {w, s.integers({0, 1})})});
    return computed(s.graph, {{"w", {1, 2, 3, 4, 5, 6}}, {"rows", {2, 0}}})[0];
  };
  EXPECT_EQ(updated("ResourceScatterSub"), (Numbers{-2, -2, 3, 4, 4, 4}));
  EXPECT_EQ(updated("ResourceScatterAdd"), (Numbers{4, 6, 3, 4, 6, 8}));
  EXPECT_EQ(updated("ResourceScatterUpdate"), (Numbers{3, 4, 3, 4, 1, 2}));
  EXPECT_EQ(updated("ResourceScatterMax"), (Numbers{3, 4, 3, 4, 5, 6}));
}

/// A handle that is an argument tells no shape: rows that some node reads whole do, else they are assumed, and that is noted.
TEST(Variables, ATableOfUnknownRowsIsAssumed) {
  for (const bool is_read : {false, true}) {
    SmallGraph s;
    const int w = s.feed("w", {});
    s.graph.nodes.back().attributes.set("dtype", ir::Type::opaque);
    s.op("ResourceGather", {w, s.feed("rows", {7}, ir::Type::s32)});
    s.graph.nodes.back().shapes = {ir::array_shape(ir::Type::f32, {7, 16})};
    if (is_read) {
      s.op("ReadVariableOp", {w});
      s.graph.nodes.back().shapes = {ir::array_shape(ir::Type::f32, {50, 16})};
    }
    const auto lowered = lower(s.graph);
    ASSERT_TRUE(lowered.ok()) << lowered.error().message;
    EXPECT_EQ(lowered->notes.size(), is_read ? 0U : 1U);
    const std::string text = ir::print(lowered->module);
    EXPECT_NE(text.find(is_read ? "f32[50,16]" : "f32[10000,16]"), std::string::npos) << text;
  }
}

TEST(Loops, SayThatTheyAreNotLowered) {
  const auto why = [](SmallGraph& s) {
    const auto lowered = lower(s.graph);
    return lowered.ok() ? std::string() : lowered.error().message;
  };
  SmallGraph lists;
  lists.op("Neg", {lists.op("TensorListFromTensor", {lists.feed("x", {2})})});
  lists.graph.nodes[1].launches = model::Launches::device;
  EXPECT_NE(why(lists).find("(TensorListFromTensor): lists of tensors, which loops fill, are not lowered"), std::string::npos)
      << why(lists);
  SmallGraph frames;
  frames.op("Merge", {1});
  frames.op("NextIteration", {0});
  EXPECT_NE(why(frames).find("it stands in a loop, and loops are not lowered"), std::string::npos) << why(frames);
}

TEST(Folding, ShapesNeverBecomeInstructions) {
  SmallGraph s;
  const int x = s.feed("x", {4, 6});
  const int shape = s.op("Shape", {x}), zero = s.integers({0}), one = s.integers({1}), two = s.integers({2}), step = s.integers({1});
  const int rows = s.op("StridedSlice", {shape, zero, one, step}, {{"shrink_axis_mask", int64_t{1}}});
  const int columns = s.op("StridedSlice", {shape, one, two, step}, {{"shrink_axis_mask", int64_t{1}}});
  const int all = s.op("Mul", {rows, columns}), half = s.op("FloorDiv", {all, s.integers({2}, true)});
  s.op("Reshape", {x, s.op("Pack", {half, s.integers({-1}, true)})});
  const auto lowered = lower(s.graph);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  const ir::Module& module = lowered->module;
  const ir::Computation& entry = module.comp(module.entry);
  ASSERT_EQ(entry.instrs.size(), 3U) << ir::print(module);
  EXPECT_EQ(entry.instrs[1].op, ir::Op::bitcast);
  EXPECT_EQ(module.shape(entry.instrs[1]).dims, (Dims{12, 2}));
}

TEST(Folding, PaddingsArePutTogetherAlongAnyDimension) {
  SmallGraph s;
  const auto matrix = [&](const Dims& values, const Dims& dims) { return s.op("Reshape", {s.integers(values), s.integers(dims)}); };
  const int x = s.feed("x", {1, 2});
  const int rows = s.op("ConcatV2", {matrix({0, 0}, {1, 2}), matrix({1, 2}, {1, 2}), s.integers({0}, true)});
  const int columns = s.op("ConcatV2", {matrix({0, 1}, {2, 1}), matrix({1, 0}, {2, 1}), s.integers({-1}, true)});
  s.op("Pad", {s.op("Pad", {x, rows}), columns});
  EXPECT_EQ(computed(s.graph, {{"x", {5, 6}}})[0], (Numbers{0, 0, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Folding, TheGradientOfAPaddingTakesAColumnOfIt) {
  SmallGraph s;
  const int x = s.feed("x", {3, 4});
  const int paddings = s.op("Pack", {s.integers({0, 0}), s.integers({1, 2})});
  const int before = s.op("Slice", {paddings, s.integers({0, 0}), s.integers({2, 1})});
  s.op("Slice", {x, s.op("Reshape", {before, s.integers({-1})}), s.integers({3, 1})});
  EXPECT_EQ(computed(s.graph, {{"x", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}})[0], (Numbers{2, 6, 10}));
}

TEST(Folding, SizesBeyondAllNumbersAreNotWorkedOut) {
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
  SmallGraph s;
  const int two = s.integers({1, 2}), x = s.feed("x", {2});
  s.op("Reshape", {x, s.op("Reshape", {two, s.integers({kMost, kMost, kMost, -1})})});
  s.op("Reshape", {x, s.op("Slice", {two, s.integers({kLeast}), s.integers({kMost})})});
  const auto lowered = lower(s.graph);
  EXPECT_TRUE(!lowered.ok() || !lowered->notes.empty());
}

TEST(Folding, GradientsOfBroadcastsKnowWhatTheySum) {
  SmallGraph s;
  const int x = s.feed("x", {3, 4});
  const int sums = s.op("BroadcastGradientArgs", {s.integers({3, 4}), s.integers({4})});
  s.op("Sum", {x, Output(sums, 1)});
  EXPECT_EQ(computed(s.graph, {{"x", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}})[0], (Numbers{15, 18, 21, 24}));
}

TEST(Variables, AdagradAndRmsPropFollowTheirFormulas) {
  SmallGraph s;
  const int w = s.variable("w", {1}), v = s.variable("v", {1}), m = s.variable("m", {1}), g = s.feed("g", {1}), r = s.feed("rate", {});
  s.op("ResourceApplyRMSProp", {w, v, m, r, r, r, r, g});
  // v = 4 + (9 − 4)·(1 − 0.5) = 6.5; m = 0.5·0 + 0.5·3/√(6.5 + 0.5); w = 1 − m
  const auto results = computed(s.graph, {{"w", {1}}, {"v", {4}}, {"m", {0}}, {"g", {3}}, {"rate", {0.5}}});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_NEAR(results[0][0], 1 - 1.5 / std::sqrt(7.0), 1e-6);
  EXPECT_NEAR(results[1][0], 6.5, 1e-6);
}

TEST(Moves, EachIdentityOfManyIsItsInput) {
  EXPECT_EQ(of({2}, {1, 2},
               [](SmallGraph& s, int in) {
                 s.op("Neg", {Output(s.op("IdentityN", {s.integers({7, 8}), in}), 1)});
               }),
            (Numbers{-1, -2}));
}

/// Which numbers they are is nothing that a time depends on: their key is not asked for. Mean and variance are those of the distribution.
TEST(Randoms, AreSpreadAsTheirTypeSays) {
  const auto moments = [](const std::string& type) {
    SmallGraph s;
    const int key = s.op("StatelessRandomGetKeyCounter", {s.integers({1, 2})});
    s.op(type, {s.integers({100, 200}), key, Output(key, 1), s.integers({1}, true)}, {{"dtype", ir::Type::f32}});
    double sum = 0, squares = 0;
    const auto results = computed(s.graph, {});
    for (const double x : results.at(0)) sum += x / 20000, squares += x * x / 20000;
    return std::pair(sum, squares - sum * sum);
  };
  const auto uniform = moments("StatelessRandomUniformV2"), normal = moments("StatelessRandomNormalV2");
  EXPECT_NEAR(uniform.first, 0.5, 0.01);
  EXPECT_NEAR(uniform.second, 1.0 / 12, 0.003);
  EXPECT_NEAR(normal.first, 0, 0.03);
  EXPECT_NEAR(normal.second, 1, 0.03);
}

TEST(Transfers, AReceiveGetsWhatIsSentUnderItsName) {
  SmallGraph s;
  const int received = s.op("_Recv", {}, {{"tensor_name", std::string("edge_7_x")}});
  s.op("Neg", {received});
  s.op("_Send", {s.feed("x", {2})}, {{"tensor_name", std::string("edge_7_x")}});
  EXPECT_EQ(computed(s.graph, {{"x", {1, 2}}})[0], (Numbers{-1, -2}));
}

TEST(OneDnn, RewrittenTypesAreTheFrameworks) {
  EXPECT_TRUE(is_lowered("_MklMatMul"));
  EXPECT_TRUE(is_lowered("_MklNativeFusedConv2D"));
  EXPECT_TRUE(is_lowered("_MklNativeConv2DBackpropInput"));
  EXPECT_FALSE(is_lowered("_MklUnheard"));
}

TEST(Steps, InitialValuesAndCheckpointsAreNoPartOfOne) {
  SmallGraph s;
  const int w = s.variable("w", {2});
  const int start = s.op("RandomUniform", {s.integers({2})});
  s.graph.nodes.back().name = "w/Initializer/random_uniform/RandomUniform";
  s.op("Assign", {w, start});
  s.graph.nodes.back().name = "w/Assign";
  s.op("SaveV2", {w});
  s.op("Neg", {s.op("ReadVariableOp", {w})});
  const auto lowered = lower(s.graph);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  ASSERT_EQ(lowered->notes.size(), 1U);
  EXPECT_EQ(lowered->notes[0].code, "outside-step");
  EXPECT_EQ(ir::print(lowered->module).find("rng"), std::string::npos);
}

}  // namespace
}  // namespace importers::tensorflow
