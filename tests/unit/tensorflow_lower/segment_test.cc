// Rows that belong together, and others that their number names, against values of TensorFlow 2.21.
#include "tests/unit/tensorflow_lower/small_graph.h"

namespace importers::tensorflow {
namespace {

const Numbers kRows{1, -2, 3, 4, -5, 6, 7, 8};

/// Rows [4, 2] in segments 0, 0, 2, 2; `told`: how many there are, 0: nobody says.
Numbers in_segments(const std::string& type, int64_t told) {
  SmallGraph s;
  s.op(type, {s.feed("x", {4, 2}), s.feed("ids", {4}, ir::Type::s32)});
  if (told > 0) s.graph.nodes.back().shapes = {ir::array_shape(ir::Type::f32, {told, 2})};
  return computed(s.graph, {{"x", kRows}, {"ids", {0, 0, 2, 2}}}, told > 0 ? 0 : 1)[0];
}

TEST(Segments, OfSortedIds) {
  EXPECT_EQ(in_segments("SegmentSum", 3), (Numbers{4, 2, 0, 0, 2, 14}));
  EXPECT_EQ(in_segments("SegmentMean", 3), (Numbers{2, 1, 0, 0, 1, 7}));
  EXPECT_EQ(in_segments("SegmentMax", 3), (Numbers{3, 4, 0, 0, 7, 8}));
  EXPECT_EQ(in_segments("SegmentMin", 3), (Numbers{1, -2, 0, 0, -5, 6}));
  EXPECT_EQ(in_segments("SegmentProd", 3), (Numbers{3, -8, 1, 1, -35, 48}));
  EXPECT_EQ(in_segments("SegmentMax", 0), (Numbers{3, 4, 0, 0, 7, 8, 0, 0}));  // the bound, and a note that says so
}

TEST(Segments, OfRowsThatAreNamed) {
  const auto sparse = [](const std::string& type) {
    SmallGraph s;
    s.op(type, {s.feed("x", {4, 2}), s.integers({3, 1, 1}), s.integers({0, 0, 1})});
    s.graph.nodes.back().shapes = {ir::array_shape(ir::Type::f32, {2, 2})};
    return computed(s.graph, {{"x", kRows}})[0];
  };
  expect_near(sparse("SparseSegmentSum"), {10, 12, 3, 4}, "Sum");
  expect_near(sparse("SparseSegmentMean"), {5, 6, 3, 4}, "Mean");
  expect_near(sparse("SparseSegmentSqrtN"), {7.071068, 8.485281, 3, 4}, "SqrtN");
}

TEST(Sequences, TurnSoManyElements) {
  Numbers x(12);
  std::iota(x.begin(), x.end(), 0);
  const Numbers y = of({2, 3, 2}, x, [](SmallGraph& s, int in) {
    s.op("ReverseSequence", {in, s.integers({2, 3})}, {{"seq_dim", int64_t{1}}, {"batch_dim", int64_t{0}}});
  });
  EXPECT_EQ(y, (Numbers{2, 3, 0, 1, 4, 5, 10, 11, 8, 9, 6, 7}));
}

TEST(Variables, OfTensorFlow1GiveThemselvesOn) {
  SmallGraph s;
  const int w = s.variable("w", {3, 2});
  s.graph.nodes.back().type = "VariableV2";
  const int after = s.op("ScatterAdd", {w, s.integers({2, 0}), s.feed("x", {2, 2})});
  const int place = s.op("Reshape", {s.integers({1, 0}), s.integers({1, 2})}), sum = s.op("Sum", {after, s.integers({0, 1})});
  s.op("ScatterNdUpdate", {w, place, s.op("Reshape", {sum, s.integers({1})})});
  const auto results = computed(s.graph, {{"w", {1, 2, 3, 4, 5, 6}}, {"x", {10, 20, 30, 40}}}, 0);
  ASSERT_FALSE(results.empty());
  EXPECT_EQ(results.back(), (Numbers{31, 42, 121, 4, 15, 26}));
}

TEST(Factors, TriangularSystemsAreSolved) {
  const auto solved = [](const Numbers& a, const Attributes& attributes) {
    SmallGraph s;
    s.op("MatrixTriangularSolve", {s.feed("a", {2, 2}), s.feed("b", {2, 1})}, attributes);
    return computed(s.graph, {{"a", a}, {"b", {2, 9}}})[0];
  };
  expect_near(solved({2, 0, 1, 4}, {}), {1, 2}, "lower");
  expect_near(solved({2, 5, 7, 4}, {{"adjoint", true}}), {-6.875, 2.25}, "adjoint");
  expect_near(solved({2, 5, 7, 4}, {{"lower", false}}), {-4.625, 2.25}, "upper");
}

TEST(Complex, NumbersHaveParts) {
  const auto part = [](const std::string& type) {
    SmallGraph s;
    const int z = s.op("Complex", {s.feed("re", {2}), s.feed("im", {2})});
    if (type == "Conj")
      s.op("Imag", {s.op(type, {z})});
    else
      s.op(type, {z});
    return computed(s.graph, {{"re", {3, -1}}, {"im", {4, 2}}})[0];
  };
  expect_near(part("ComplexAbs"), {5, 2.236068}, "abs");
  expect_near(part("Angle"), {0.9272952, 2.034444}, "angle");
  expect_near(part("Conj"), {-4, -2}, "conjugate");
  expect_near(part("Real"), {3, -1}, "real");
}

TEST(Reductions, RootsOfSquares) {
  expect_near(of({4, 2}, kRows,
                 [](SmallGraph& s, int in) {
                   s.op("EuclideanNorm", {in, s.integers({1})});
                 }),
              {2.236068, 5, 7.81025, 10.63015}, "EuclideanNorm");
}

}  // namespace
}  // namespace importers::tensorflow
