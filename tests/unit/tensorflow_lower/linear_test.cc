// Einstein sums against their definition; diagonals, transforms, sorted heads and scattered places against values worked out by hand.
#include <cmath>
#include <functional>

#include "tests/unit/tensorflow_lower/small_graph.h"

namespace importers::tensorflow {
namespace {

/// What the sizes of the letters of an equation make of two operands filled with numbers: Σ over letters that the result lacks.
struct Sum {
  std::string operands[2], result;
  std::map<char, int64_t> sizes;

  int64_t index(const std::string& labels, const std::map<char, int64_t>& at) const {
    int64_t out = 0;
    for (const char label : labels) out = out * sizes.at(label) + at.at(label);
    return out;
  }
  int64_t count(const std::string& labels) const {
    int64_t out = 1;
    for (const char label : labels) out *= sizes.at(label);
    return out;
  }
  Dims dims(const std::string& labels) const {
    Dims out;
    for (const char label : labels) out.push_back(sizes.at(label));
    return out;
  }
  Numbers of(const Numbers& a, const Numbers& b) const {
    Numbers out(static_cast<size_t>(count(result)), 0.0);
    std::map<char, int64_t> at;
    const std::function<void(std::map<char, int64_t>::const_iterator)> walk = [&](auto label) {
      if (label == sizes.end()) {
        const double right = operands[1].empty() ? 1 : b[static_cast<size_t>(index(operands[1], at))];
        out[static_cast<size_t>(index(result, at))] += a[static_cast<size_t>(index(operands[0], at))] * right;
        return;
      }
      for (at[label->first] = 0; at[label->first] < label->second; ++at[label->first]) walk(std::next(label));
    };
    walk(sizes.begin());
    return out;
  }
};

Numbers counted(int64_t count, double start) {
  Numbers out;
  for (int64_t i = 0; i < count; ++i) out.push_back(start + static_cast<double>(i * 7 % 11));
  return out;
}

TEST(Einsum, IsTheSumThatItsEquationSays) {
  struct Case {
    const char* equation;
    Sum sum;  ///< with letters for dots
  };
  const std::map<char, int64_t> sizes{{'a', 2}, {'b', 3}, {'c', 4}, {'d', 5}, {'e', 2}};
  const auto with = [&](const std::string& letters) {
    std::map<char, int64_t> some;
    for (const char letter : letters) some[letter] = sizes.at(letter);
    return some;
  };
  const Case cases[] = {
      {"ab,bc->ac", {{"ab", "bc"}, "ac", with("abc")}},
      {"ab,bc->ca", {{"ab", "bc"}, "ca", with("abc")}},
      {"ab,cb->ac", {{"ab", "cb"}, "ac", with("abc")}},
      {"abc,cde->abde", {{"abc", "cde"}, "abde", with("abcde")}},
      {"aecd,abcd->acbe", {{"aecd", "abcd"}, "acbe", with("abcde")}},
      {"acbe,aecd->abcd", {{"acbe", "aecd"}, "abcd", with("abcde")}},
      {"...b,bc->...c", {{"adb", "bc"}, "adc", with("abcd")}},
      {"a...c, c d->a...d", {{"abc", "cd"}, "abd", with("abcd")}},
      {"a,b->ba", {{"a", "b"}, "ba", with("ab")}},
      {"abc->ca", {{"abc", ""}, "ca", with("abc")}},
      {"ab->ba", {{"ab", ""}, "ba", with("ab")}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.equation);
    const Sum& sum = c.sum;
    SmallGraph s;
    std::vector<Output> in{s.feed("x", sum.dims(sum.operands[0]))};
    const Numbers x = counted(sum.count(sum.operands[0]), -5);
    std::map<std::string, Numbers> inputs{{"x", x}};
    const Numbers y = counted(sum.count(sum.operands[1]), -3);
    if (!sum.operands[1].empty()) in.push_back(s.feed("y", sum.dims(sum.operands[1]))), inputs["y"] = y;
    s.op("Einsum", in, {{"equation", std::string(c.equation)}});
    EXPECT_EQ(computed(s.graph, inputs).at(0), sum.of(x, y));
  }
}

TEST(Einsum, WhatIsNoProductOfTwoSaysSo) {
  for (const auto& [equation, why] :
       {std::pair("ab,bc->b", "sums over a dimension of one operand alone"), std::pair("aa,ab->b", "names a dimension of an operand twice"),
        std::pair("ab,bc->ad", "its result has a dimension of no operand"),
        std::pair("abc,bc->a", "has labels for other dimensions than its operands"),
        std::pair("ab,bc", "its equation does not fit its operands")}) {
    SmallGraph s;
    s.op("Einsum", {s.feed("x", {2, 2}), s.feed("y", {2, 2})}, {{"equation", std::string(equation)}});
    const auto lowered = lower(s.graph);
    ASSERT_TRUE(lowered.ok()) << lowered.error().message;
    ASSERT_EQ(lowered->notes.size(), 1U) << equation;
    EXPECT_NE(lowered->notes[0].text.find(why), std::string::npos) << lowered->notes[0].text;
  }
}

TEST(Diagonals, AreMadeTakenAndBanded) {
  SmallGraph s;
  const int x = s.feed("x", {2}), m = s.feed("m", {3, 2});
  s.op("MatrixDiagV3", {x, s.integers({0}, true), s.integers({-1}, true), s.integers({-1}, true), s.integers({0}, true)});
  s.op("MatrixDiagPartV3", {m, s.integers({0}, true), s.integers({0}, true)});
  s.op("MatrixBandPart", {m, s.integers({1}, true), s.integers({0}, true)});
  s.op("MatrixBandPart", {m, s.integers({0}, true), s.integers({-1}, true)});
  const auto results = computed(s.graph, {{"x", {5, 7}}, {"m", {1, 2, 3, 4, 5, 6}}});
  EXPECT_EQ(results.at(0), (Numbers{5, 0, 0, 7}));
  EXPECT_EQ(results.at(1), (Numbers{1, 4}));
  EXPECT_EQ(results.at(2), (Numbers{1, 0, 3, 4, 0, 6}));
  EXPECT_EQ(results.at(3), (Numbers{1, 2, 0, 4, 0, 0}));
}

TEST(Transforms, RealOnesTakeTheLengthThatIsAskedFor) {
  SmallGraph s;
  const int x = s.feed("x", {4});
  for (const int64_t length : {4, 2, 6})
    s.op("IRFFT", {s.op("RFFT", {x, s.integers({length})}, {{"Tcomplex", ir::Type::c64}}), s.integers({length})},
         {{"Treal", ir::Type::f32}});
  const auto results = computed(s.graph, {{"x", {1, 2, 3, 5}}});
  const Numbers expected[] = {{1, 2, 3, 5}, {1, 2}, {1, 2, 3, 5, 0, 0}};
  for (size_t k = 0; k < 3; ++k) {
    ASSERT_EQ(results.at(k).size(), expected[k].size());
    for (size_t i = 0; i < expected[k].size(); ++i) EXPECT_NEAR(results[k][i], expected[k][i], 1e-6) << k;
  }
}

TEST(Factors, CholeskyTakesTheLowerTriangle) {
  SmallGraph s;
  s.op("Cholesky", {s.feed("a", {2, 2})});
  const Numbers l = computed(s.graph, {{"a", {4, 2, 2, 10}}}).at(0);
  EXPECT_EQ(l, (Numbers{2, 0, 1, 3}));
}

TEST(Places, TheGreatestRolledAndScattered) {
  SmallGraph s;
  const int x = s.feed("x", {2, 3}), at = s.feed("at", {2, 1}, ir::Type::s32), rows = s.feed("rows", {2, 3});
  const int top = s.op("TopKV2", {x, s.integers({2}, true)}, {{"index_type", ir::Type::s64}});
  s.op("Neg", {Output(top, 0)});
  s.op("Cast", {Output(top, 1)}, {{"DstT", ir::Type::f32}});
  s.op("Roll", {x, s.integers({1, -1}), s.integers({1, 0})});
  s.op("TensorScatterAdd", {x, at, rows});
  s.op("TensorScatterUpdate", {x, at, rows});
  s.op("TensorScatterMax", {x, at, rows});
  const auto results = computed(s.graph, {{"x", {1, 9, 5, 8, 2, 4}}, {"at", {1, 0}}, {"rows", {3, 3, 3, 6, 6, 6}}});
  EXPECT_EQ(results.at(0), (Numbers{-9, -5, -8, -4}));
  EXPECT_EQ(results.at(1), (Numbers{1, 2, 0, 2}));
  EXPECT_EQ(results.at(2), (Numbers{4, 8, 2, 5, 1, 9}));
  EXPECT_EQ(results.at(3), (Numbers{7, 15, 11, 11, 5, 7}));
  EXPECT_EQ(results.at(4), (Numbers{6, 6, 6, 3, 3, 3}));
  EXPECT_EQ(results.at(5), (Numbers{6, 9, 6, 8, 3, 4}));
}

TEST(Reductions, OfIntegersBeginAtTheEndsOfTheirType) {
  SmallGraph s;
  const int ints = s.feed("ints", {3}, ir::Type::s32), bytes = s.feed("bytes", {3}, ir::Type::u8),
            small = s.feed("small", {3}, ir::Type::s8);
  for (const int x : {ints, bytes, small}) s.op("Min", {x, s.integers({0})}), s.op("Max", {x, s.integers({0})});
  const int ids = s.feed("ids", {3}, ir::Type::s32);
  s.op("UnsortedSegmentMin", {ints, ids, s.integers({2}, true)});
  s.op("UnsortedSegmentMax", {bytes, ids, s.integers({2}, true)});
  const auto results = computed(s.graph, {{"ints", {3, -7, 9}}, {"bytes", {200, 3, 250}}, {"small", {-5, -6, -7}}, {"ids", {0, 0, 0}}});
  const Numbers expected[] = {{-7}, {9}, {3}, {250}, {-7}, {-5}, {-7, 2147483647}, {250, 0}};
  for (size_t k = 0; k < std::size(expected); ++k) EXPECT_EQ(results.at(k), expected[k]) << k;
}

/// Rows of a table that are looked up more than once have one gradient: what the sparse optimizers of Keras do.
TEST(Places, NumbersOnceInTheirOrderWithTheirBound) {
  SmallGraph s;
  const int x = s.feed("x", {5}, ir::Type::s32), rows = s.feed("rows", {5});
  const int once = s.op("Unique", {x});
  const int size =
      s.op("StridedSlice", {s.op("Shape", {once}), s.integers({0}), s.integers({1}), s.integers({1})}, {{"shrink_axis_mask", int64_t{1}}});
  s.op("Cast", {once}, {{"DstT", ir::Type::f32}});
  s.op("Cast", {Output(once, 1)}, {{"DstT", ir::Type::f32}});
  s.op("UnsortedSegmentSum", {rows, Output(once, 1), size});
  const auto results = computed(s.graph, {{"x", {5, 3, 5, 9, 3}}, {"rows", {1, 2, 4, 8, 16}}}, 1);
  EXPECT_EQ(results.at(0), (Numbers{5, 3, 9, -1, -1}));
  EXPECT_EQ(results.at(1), (Numbers{0, 1, 0, 2, 1}));
  EXPECT_EQ(results.at(2), (Numbers{5, 18, 8, 0, 0}));
}

TEST(Variables, WhatIsAddedTellsTheShapeOfATable) {
  SmallGraph s;
  const int table = s.op("Placeholder", {}, {{"dtype", ir::Type::opaque}}), at = s.feed("at", {1}, ir::Type::s32);
  const int rows = s.op("ResourceGather", {table, at}, {{"dtype", ir::Type::f32}});
  s.graph.nodes[static_cast<size_t>(rows)].shapes = {ir::array_shape(ir::Type::f32, {1, 2})};
  s.op("Neg", {rows});
  s.op("AssignSubVariableOp", {table, s.feed("step", {3, 2})});
  const std::string name = s.graph.nodes[static_cast<size_t>(table)].name;
  const auto results = computed(s.graph, {{name, {1, 2, 3, 4, 5, 6}}, {"at", {1}}, {"step", {1, 1, 1, 1, 1, 1}}});
  EXPECT_EQ(results.at(0), (Numbers{-3, -4}));
  EXPECT_EQ(results.at(1), (Numbers{0, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace importers::tensorflow
