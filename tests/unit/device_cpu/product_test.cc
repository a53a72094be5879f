// Products against three plain loops in long double: the error of every element stays within 4·√K·ε·Σ|terms| and one rounding.
#include "replay/device/cpu/product.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "product_data.h"
#include "replay/device/cpu/dnnl.h"
#include "replay/device/cpu/packed.h"

namespace {

using namespace product_data;
using replay::cpu::Isa;
using replay::cpu::Product;
using Made = base::Result<std::unique_ptr<Product>>;

std::shared_ptr<replay::cpu::Scratch> scratch() { return std::make_shared<replay::cpu::Scratch>(); }

/// Half the distance between neighbours of a type, relative to the value; and the smallest step it has at all.
struct Grid {
  long double relative, smallest;
};
Grid grid(Type type) {
  if (type == Type::f32 || type == Type::c64) return {0x1p-24L, 0x1p-149L};
  if (type == Type::f64 || type == Type::c128) return {0x1p-53L, 0x1p-1074L};
  const base::FloatFormat& format = *ir::info(type).small;
  return {std::ldexp(1.0L, -format.mantissa - 1), std::ldexp(1.0L, 1 - format.bias - format.mantissa)};
}

std::string describe(const Gemm& g) {
  return fmt::format("{}×[{}×{}×{}] {}·{}→{} a({},{}) b({},{}) d({},{}) alpha {} beta {}", g.batch, g.m, g.n, g.k, ir::text(g.a.type),
                     ir::text(g.b.type), ir::text(g.d.type), g.a.row_stride, g.a.column_stride, g.b.row_stride, g.b.column_stride,
                     g.d.row_stride, g.d.column_stride, g.alpha, g.beta);
}

bool whole(Type type) { return ir::is_integer(type) || type == Type::pred; }

/// The whole operands of one product and what must come out, computed once for all implementations. A large result is sampled.
struct Trial {
  Gemm g;
  Data a, b, before, d;
  struct Element {
    int64_t q, i, j;
    Number value;  ///< floats
    long double bound;
    uint64_t bits;  ///< integers
  };
  std::vector<Element> expected;

  explicit Trial(const Gemm& gemm)
      : g(gemm), a(g.a, g.batch, g.m, g.k), b(g.b, g.batch, g.k, g.n), before(g.d, g.batch, g.m, g.n), d(before) {
    a.fill(1), b.fill(2), before.fill(3);
  }

  void run(Product& product) {
    d = before;
    product.run(a.data(), b.data(), d.data());
  }

  /// Reads the operands as they are now.
  void expect() {
    expected.clear();
    const int64_t step = std::max<int64_t>(1, g.batch * g.m * g.n * g.k / 2'000'000) | 1;
    for (int64_t q = 0; q < g.batch; ++q) {
      whole(g.d.type) ? expect_integers(q, step) : expect_floats(q, step);
    }
  }

 private:
  void expect_floats(int64_t q, int64_t step) {
    const auto x = values<Number>(a, q, g.m, g.k, &Data::get), y = values<Number>(b, q, g.k, g.n, &Data::get);
    const bool wide = grid(g.a.type).relative < 0x1p-30L || grid(g.b.type).relative < 0x1p-30L || grid(g.d.type).relative < 0x1p-30L;
    const Grid type = grid(g.d.type);
    const long double rule = 4 * std::sqrt(static_cast<long double>(std::max<int64_t>(g.k, 1))) * (wide ? 0x1p-53L : 0x1p-24L);
    for (int64_t at = 0; at < g.m * g.n; at += step) {
      const int64_t i = at / g.n, j = at % g.n;
      long double re = 0, im = 0, size = 0;
      for (int64_t p = 0; p < g.k; ++p) {
        const Number& u = x[static_cast<size_t>(i * g.k + p)];
        const Number& v = y[static_cast<size_t>(p * g.n + j)];
        re += u.real() * v.real() - u.imag() * v.imag(), im += u.real() * v.imag() + u.imag() * v.real();
        size += (std::abs(u.real()) + std::abs(u.imag())) * (std::abs(v.real()) + std::abs(v.imag()));
      }
      const Number c = g.beta == 0 ? 0 : before.get(q, i, j) * static_cast<long double>(g.beta);
      const Number value = Number(re, im) * static_cast<long double>(g.alpha) + c;
      const long double bound =
          rule * (size * std::abs(g.alpha) + std::abs(c)) + std::abs(value) * type.relative * 1.001L + type.smallest / 2;
      expected.push_back({q, i, j, value, bound, 0});
    }
  }

  void expect_integers(int64_t q, int64_t step) {
    const auto x = values<uint64_t>(a, q, g.m, g.k, &Data::whole), y = values<uint64_t>(b, q, g.k, g.n, &Data::whole);
    for (int64_t at = 0; at < g.m * g.n; at += step) {
      const int64_t i = at / g.n, j = at % g.n;
      uint64_t sum = 0;
      for (int64_t p = 0; p < g.k; ++p) sum += x[static_cast<size_t>(i * g.k + p)] * y[static_cast<size_t>(p * g.n + j)];
      sum *= static_cast<uint64_t>(static_cast<int64_t>(g.alpha));
      if (g.beta != 0) sum += static_cast<uint64_t>(static_cast<int64_t>(g.beta)) * before.whole(q, i, j);
      expected.push_back({q, i, j, 0, 0, g.d.type == Type::pred ? sum != 0 : wrapped(g.d.type, sum)});
    }
  }

  template <typename Value>
  static std::vector<Value> values(const Data& data, int64_t q, int64_t rows, int64_t columns,
                                   Value (Data::*get)(int64_t, int64_t, int64_t) const) {
    std::vector<Value> result;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) result.push_back((data.*get)(q, i, j));
    }
    return result;
  }
};

void judge(const Trial& trial) {
  int wrong = 0;
  for (const Trial::Element& e : trial.expected) {
    bool right = false;
    if (whole(trial.g.d.type)) {
      right = trial.d.whole(e.q, e.i, e.j) == e.bits;
    } else {
      const Number got = trial.d.get(e.q, e.i, e.j);
      right = std::abs(got.real() - e.value.real()) <= e.bound && std::abs(got.imag() - e.value.imag()) <= e.bound;
    }
    if (right) continue;
    ADD_FAILURE() << describe(trial.g) << ": element " << e.q << "," << e.i << "," << e.j << " is "
                  << static_cast<double>(trial.d.get(e.q, e.i, e.j).real()) << " instead of " << static_cast<double>(e.value.real());
    if (++wrong == 3) return;
  }
}

void check(Trial& trial, const Made& made) {
  ASSERT_TRUE(made.ok()) << describe(trial.g) << ": " << made.error().message;
  trial.run(**made);
  judge(trial);
  const Data first = trial.d;
  trial.run(**made);
  EXPECT_TRUE(first.bytes() == trial.d.bytes()) << describe(trial.g) << ": two runs differ";
}

void check_chosen(Trial& trial) {
  for (int threads : {1, 2, 3}) check(trial, replay::cpu::make_product(trial.g, threads));
}
void check_packed(Trial& trial) {
  for (Isa isa : replay::cpu::kIsas) {
    if (replay::cpu::packed_kernels(isa) == nullptr) continue;
    for (int threads : {1, 3}) check(trial, replay::cpu::make_packed(trial.g, threads, scratch(), isa));
  }
}
void check_chosen(const Gemm& g) {
  Trial trial(g);
  trial.expect();
  check_chosen(trial);
}
void check_packed(const Gemm& g) {
  Trial trial(g);
  trial.expect();
  check_packed(trial);
}
void check_both(const Gemm& g) {
  Trial trial(g);
  trial.expect();
  check_packed(trial);
  check_chosen(trial);
}

constexpr int64_t kSizes[] = {1, 2, 3, 7, 13, 17, 31, 97};

TEST(Product, OddSizesOfEveryDimension) {
  for (int64_t m : kSizes) {
    for (int64_t n : kSizes) {
      for (int64_t k : {1, 3, 17, 97, 300}) {
        check_packed(gemm(1, m, n, k, Type::f16));
        check_chosen(gemm(1, m, n, k, Type::f32));
      }
    }
  }
}

TEST(Product, EveryCombinationOfLayouts) {
  for (Type type : {Type::f32, Type::f16, Type::s8}) {
    for (Layout a : kLayouts) {
      for (Layout b : kLayouts) {
        for (Layout d : kLayouts) {
          const Gemm g = gemm(2, 29, 37, replay::cpu::kDepth + 5, type, a, b, d);
          check_both(g);
        }
      }
    }
  }
}

TEST(Product, SeveralStepsOfKInSmallFloats) {
  for (Layout a : kLayouts)
    for (Layout b : kLayouts) check_packed(gemm(1, 45, 67, 1700, Type::f16, a, b, Layout::row));
  for (Type type : {Type::bf16, Type::f8e4m3fn}) check_packed(gemm(2, 45, 67, 1700, type));
}

TEST(Product, BatchesOwnAndShared) {
  for (Type type : {Type::f32, Type::f16}) {
    for (Batch a : {Batch::own, Batch::shared}) {
      for (Batch b : {Batch::own, Batch::shared}) {
        Gemm g = gemm(5, 33, 34, 35, type);
        g.a = operand(type, g.m, g.k, Layout::row, a);
        g.b = operand(type, g.k, g.n, Layout::column, b);
        check_both(g);
      }
    }
  }
}

TEST(Product, AlphaAndBeta) {
  for (Type type : {Type::f32, Type::f16, Type::bf16, Type::f64, Type::c64, Type::s32}) {
    for (double alpha : {1.0, -2.0, 0.0}) {
      for (double beta : {0.0, 1.0, 3.0}) {
        for (Layout d : {Layout::row, Layout::column, Layout::scattered}) {
          Gemm g = gemm(2, 19, 33, 40, type, Layout::row, Layout::row, d);
          g.alpha = alpha, g.beta = beta;
          check_both(g);
        }
      }
    }
  }
  Gemm mnist = gemm(1, 32, 128, 10, Type::f32, Layout::row, Layout::column);
  mnist.alpha = 1.25;
  check_chosen(mnist);
}

TEST(Product, NothingToAddLeavesBetaTimesC) {
  for (Type type : {Type::f32, Type::f16, Type::s32, Type::c128}) {
    for (double beta : {0.0, 1.0, 2.0}) {
      Gemm g = gemm(2, 20, 40, 0, type);
      g.beta = beta;
      check_both(g);
    }
  }
}

TEST(Product, NothingToWriteWritesNothing) {
  for (Type type : {Type::f32, Type::f16}) {
    check_chosen(gemm(3, 0, 5, 7, type));
    check_chosen(gemm(3, 5, 0, 7, type));
    check_chosen(gemm(0, 5, 5, 7, type));
  }
}

TEST(Product, AllTypesThatHaveAProduct) {
  const Type floats[] = {Type::f16, Type::bf16, Type::f32, Type::f64, Type::f8e5m2, Type::f8e4m3fn, Type::f8e4m3b11fnuz, Type::f4e2m1fn};
  for (Type a : floats) {
    for (Type b : floats) {
      for (Type d : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
        Gemm g = gemm(1, 15, 33, 64, a);
        g.b.type = b, g.d.type = d;
        check_both(g);
      }
    }
  }
  const Type integers[] = {Type::pred, Type::s4,  Type::u4,  Type::s8,  Type::u8, Type::s16,
                           Type::u16,  Type::s32, Type::u32, Type::s64, Type::u64};
  for (Type a : integers) {
    for (Type b : integers) {
      for (Type d : integers) {
        Gemm g = gemm(1, 15, 33, 31, a, Layout::row, Layout::column);
        g.b.type = b, g.d.type = d;
        check_packed(g);
      }
    }
  }
}

TEST(Product, IntegersWithAFloatResultAreSummedExactly) {
  Gemm g = gemm(1, 9, 10, 500, Type::s8);
  g.d.type = Type::f32;
  Trial trial(g);
  auto made = replay::cpu::make_product(g, 2);
  ASSERT_TRUE(made.ok());
  trial.run(**made);
  int64_t expected = 0;
  for (int64_t p = 0; p < g.k; ++p) expected += static_cast<int64_t>(trial.a.whole(0, 4, p) * trial.b.whole(0, p, 5));
  EXPECT_EQ(static_cast<float>(trial.d.get(0, 4, 5).real()), static_cast<float>(expected));
}

TEST(Product, BytesDoNotSaturate) {  // 127·127·1024 = 16,516,096: 16-bit intermediate sums would give 130,560
  for (Type type : {Type::s8, Type::u8}) {
    Gemm g = gemm(1, 4, 4, 1024, Type::s8);
    g.b.type = type, g.d.type = Type::s32;
    Trial trial(g);
    for (int64_t p = 0; p < g.k; ++p) trial.a.set(0, 1, p, 127), trial.b.set(0, p, 2, type == Type::s8 ? 127 : 255);
    auto made = replay::cpu::make_product(g, 2);
    ASSERT_TRUE(made.ok());
    trial.run(**made);
    EXPECT_EQ(trial.d.whole(0, 1, 2), type == Type::s8 ? 16'516'096u : 33'162'240u);
  }
}

TEST(Product, ComplexAndRealOperands) {
  for (Type a : {Type::c64, Type::c128, Type::f32}) {
    for (Type b : {Type::c64, Type::f64, Type::f32}) {
      for (Layout layout : {Layout::row, Layout::column}) {
        Gemm g = gemm(2, 17, 35, replay::cpu::kDepth + 1, a, layout);
        g.b.type = b;
        g.d.type = a == Type::c128 || b == Type::f64 ? Type::c128 : Type::c64;
        g.beta = 1;
        check_both(g);
      }
    }
  }
}

TEST(Product, ShapesOfTheSamplesScaledDown) {
  struct Shape {
    int64_t batch, m, n, k;
    Layout a, b;
    double alpha, beta;
  };
  constexpr Layout N = Layout::row, T = Layout::column;
  const Shape shapes[] = {{1, 512, 48, 48, N, N, 1, 0},      {1, 512, 192, 48, N, T, 1, 0},  {1, 192, 48, 512, T, N, 1, 0},
                          {1, 48, 48, 512, N, N, 1, 0},      {1, 76, 1908, 48, N, T, 1, 0},  {1, 76, 48, 1908, N, N, 1, 0},
                          {1, 1908, 48, 76, T, N, 1, 0},     {24, 128, 128, 64, N, N, 1, 0}, {24, 128, 64, 128, T, N, 1, 0},
                          {24, 128, 64, 128, N, N, .125, 0}, {24, 64, 128, 128, N, N, 1, 0}, {1, 76, 48, 48, N, N, 1, 1},
                          {1, 512, 48, 8, N, N, 1, 0},       {1, 8, 48, 512, T, N, 1, 0},    {1, 16, 48, 48, N, T, 1, 1},
                          {1, 16, 8, 48, N, N, 1, 0},        {1, 32, 128, 784, N, N, 1, 1},  {1, 32, 10, 128, N, N, 1, 1},
                          {1, 32, 128, 10, N, T, 1.25, 0},   {1, 784, 128, 32, T, N, 1, 0},  {1, 128, 10, 32, T, N, 1, 0}};
  for (const Shape& s : shapes) {
    for (Type type : {Type::f32, Type::f16, Type::bf16}) {
      Gemm g = gemm(s.batch, s.m, s.n, s.k, type, s.a, s.b);
      g.alpha = s.alpha, g.beta = s.beta;
      check_chosen(g);
    }
  }
}

TEST(Product, LongSumsStayWithinTheRule) {
  for (Type type : {Type::f32, Type::f16, Type::bf16}) {
    Gemm g = gemm(1, 4, 40, 30528, type);
    g.d.type = Type::f32;
    check_chosen(g);
  }
}

TEST(Product, MoreThanOneBlockOfRowsAndColumns) {
  check_chosen(gemm(1, 1700, 1100, 400, Type::f16));
  check_chosen(gemm(1, 1100, 1700, 400, Type::bf16, Layout::column, Layout::column));
}

TEST(Product, BitsDoNotDependOnThreads) {
  const Gemm g = gemm(3, 200, 100, 600, Type::f16);
  Trial one(g), three(g);
  auto by_one = replay::cpu::make_packed(g, 1, scratch()), by_three = replay::cpu::make_packed(g, 3, scratch());
  ASSERT_TRUE(by_one.ok() && by_three.ok());
  one.run(**by_one), three.run(**by_three);
  EXPECT_EQ(one.d.bytes(), three.d.bytes());
}

TEST(Product, WithoutBetaDIsNotRead) {
  for (Type type : {Type::f32, Type::f16, Type::bf16, Type::f64}) {
    const Gemm g = gemm(2, 20, 40, 30, type);
    for (int threads : {1, 2}) {
      Trial trial(g);
      for (int64_t q = 0; q < g.batch; ++q) {
        for (int64_t i = 0; i < g.m; ++i) {
          for (int64_t j = 0; j < g.n; ++j) trial.before.set(q, i, j, std::numeric_limits<long double>::quiet_NaN());
        }
      }
      auto made = replay::cpu::make_product(g, threads);
      ASSERT_TRUE(made.ok());
      trial.expect();
      trial.run(**made);
      judge(trial);
    }
  }
}

TEST(Product, NanAndInfinityReachTheirRowAndColumn) {
  constexpr long double kNan = std::numeric_limits<long double>::quiet_NaN(), kInfinity = std::numeric_limits<long double>::infinity();
  for (Type type : {Type::f32, Type::f16, Type::bf16, Type::f64}) {
    const Gemm g = gemm(1, 20, 40, 50, type);
    Trial trial(g);
    trial.a.set(0, 3, 5, kNan);
    for (int64_t j = 0; j < g.n; ++j) trial.b.set(0, 5, j, 0);  // 0·NaN is NaN
    trial.a.set(0, 7, 11, kInfinity);
    for (int64_t j = 0; j < g.n; ++j) trial.b.set(0, 11, j, j % 3 - 1);
    auto made = replay::cpu::make_product(g, 2);
    ASSERT_TRUE(made.ok());
    trial.run(**made);
    for (int64_t j = 0; j < g.n; ++j) {
      EXPECT_TRUE(std::isnan(trial.d.get(0, 3, j).real())) << ir::text(type);
      const long double at = trial.d.get(0, 7, j).real();
      EXPECT_TRUE(j % 3 == 1 ? std::isnan(at) : at == (j % 3 == 0 ? -kInfinity : kInfinity))
          << ir::text(type) << " " << static_cast<double>(at);
      EXPECT_TRUE(std::isfinite(trial.d.get(0, 4, j).real())) << ir::text(type);
    }
  }
}

TEST(Product, SubnormalsAreKept) {
  for (int64_t k : {1, 64}) {
    for (const auto& [type, a, b] : {std::tuple(Type::f16, 0x1p-24L, 0x1p-24L), std::tuple(Type::bf16, 0x1p-130L, 1.0L)}) {
      Gemm g = gemm(1, 17, 33, k, type);
      g.d.type = Type::f32;
      Trial trial(g);
      for (int64_t p = 0; p < k; ++p) {
        for (int64_t i = 0; i < g.m; ++i) trial.a.set(0, i, p, a);
        for (int64_t j = 0; j < g.n; ++j) trial.b.set(0, p, j, b);
      }
      auto made = replay::cpu::make_product(g, 1);
      ASSERT_TRUE(made.ok());
      trial.run(**made);
      EXPECT_EQ(trial.d.get(0, 2, 32).real(), static_cast<long double>(k) * a * b) << ir::text(type) << " " << k;
    }
  }
}

TEST(Product, ResultsBeyondARangeBecomeInfinite) {
  const Gemm g = gemm(1, 2, 33, 100, Type::f16);
  Trial trial(g);
  for (int64_t p = 0; p < g.k; ++p) {
    trial.a.set(0, 0, p, 60000);
    trial.a.set(0, 1, p, 60000);
    for (int64_t j = 0; j < g.n; ++j) trial.b.set(0, p, j, 1);
  }
  auto made = replay::cpu::make_product(g, 1);
  ASSERT_TRUE(made.ok());
  trial.run(**made);
  EXPECT_EQ(trial.d.get(0, 1, 32).real(), std::numeric_limits<long double>::infinity());
}

TEST(Product, BetweenTheElementsOfDNothingChanges) {
  for (Type type : {Type::f32, Type::f16}) {
    for (Layout layout : {Layout::padded_row, Layout::padded_column, Layout::scattered}) {
      const Gemm g = gemm(2, 33, 47, 20, type, Layout::row, Layout::row, layout);
      Trial trial(g);
      auto made = replay::cpu::make_product(g, 2);
      ASSERT_TRUE(made.ok());
      trial.run(**made);
      Data expected = trial.before;
      for (int64_t q = 0; q < g.batch; ++q) {
        for (int64_t i = 0; i < g.m; ++i) {
          for (int64_t j = 0; j < g.n; ++j) expected.set(q, i, j, trial.d.get(q, i, j).real());
        }
      }
      EXPECT_EQ(expected.bytes(), trial.d.bytes()) << describe(g);
    }
  }
}

TEST(Product, OneScratchServesManyProducts) {
  const auto shared = scratch();
  const Gemm small = gemm(1, 20, 20, 20, Type::f16), large = gemm(2, 300, 300, 600, Type::f16);
  auto first = replay::cpu::make_product(small, 2, shared), second = replay::cpu::make_product(large, 2, shared);
  ASSERT_TRUE(first.ok() && second.ok());
  Trial a(small), b(large);
  a.expect(), b.expect();
  a.run(**first), b.run(**second), a.run(**first);
  judge(a);
  judge(b);
  EXPECT_GE(shared->bytes(), (*second)->scratch_bytes());
}

TEST(Product, SaysWhatRan) {
  auto half = replay::cpu::make_product(gemm(8, 64, 64, 64, Type::f16), 2);
  ASSERT_TRUE(half.ok());
  EXPECT_EQ((*half)->precision(), "f16×f16→f32→f16");
  auto single = replay::cpu::make_product(gemm(1, 64, 64, 64, Type::f32), 2);
  ASSERT_TRUE(single.ok());
  EXPECT_TRUE((*single)->implementation().starts_with("oneDNN")) << (*single)->implementation();
  auto bytes = replay::cpu::make_packed(gemm(1, 64, 64, 64, Type::s8), 1, scratch(), Isa::baseline);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ((*bytes)->implementation(), "packed s32 baseline");
}

TEST(Product, RefusesWhatHasNoMeaning) {
  const auto refused = [](Gemm g, const char* why) {
    auto made = replay::cpu::make_product(g, 2);
    ASSERT_FALSE(made.ok()) << describe(g);
    EXPECT_NE(made.error().message.find(why), std::string::npos) << made.error().message;
  };
  Gemm g = gemm(1, 4, 4, 4, Type::f32);
  g.d.type = Type::s32;
  refused(g, "integer result of floats");
  g = gemm(1, 4, 4, 4, Type::c64);
  g.d.type = Type::f32;
  refused(g, "no real result");
  g = gemm(1, 4, 4, 4, Type::f32);
  g.a.type = Type::token;
  refused(g, "without numbers");
  g = gemm(1, 4, 4, 4, Type::s32);
  g.alpha = 0.5;
  refused(g, "whole numbers");
  g = gemm(1, 4, 4, 4, Type::f32);
  g.m = -1;
  refused(g, "negative");
  g.m = int64_t{1} << 40, g.n = int64_t{1} << 40;
  refused(g, "too many");
  g = gemm(2, 4, 4, 4, Type::f32);
  g.d.batch_stride = 0;
  refused(g, "broadcast");
}

}  // namespace
