// .npy files: what numpy reads and writes, and bytes that are none.
#include "replay/tensor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "src/base/file.h"

namespace replay {
namespace {

std::string temporary(const std::string& bytes) {
  const std::string path = testing::TempDir() + "tensor_test" + std::to_string(::getpid()) + ".npy";  // tests run at the same time
  EXPECT_TRUE(base::write_file(path, bytes).ok());
  return path;
}

Tensor counting(ir::Type type, std::vector<int64_t> dims) {
  Tensor out;
  out.shape = ir::array_shape(type, std::move(dims));
  out.data.resize(static_cast<size_t>(ir::bytes(out.shape)));
  for (size_t i = 0; i < out.data.size(); ++i) out.data[i] = static_cast<std::byte>(i);
  return out;
}

TEST(Npy, ReadsWhatItWrites) {
  for (const ir::Type type : {ir::Type::f32, ir::Type::bf16, ir::Type::pred, ir::Type::c128, ir::Type::s4, ir::Type::u64}) {
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {3}, {2, 0}, {2, 3, 4}}) {
      const Tensor made = counting(type, dims);
      const auto back = read_npy(temporary(npy(made)), made.shape);
      ASSERT_TRUE(back.ok()) << back.error().message;
      EXPECT_EQ(back->data, made.data);
    }
  }
}

TEST(Npy, HeaderIsTheOneOfNumpy) {
  const std::string bytes = npy(counting(ir::Type::f32, {5}));
  EXPECT_EQ(bytes.size(), 128u + 20u);
  EXPECT_NE(bytes.find("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }"), std::string::npos);
}

TEST(Npy, ReadsFortranOrder) {
  std::string bytes = npy(counting(ir::Type::u8, {2, 3}));
  bytes.replace(bytes.find("False, "), 7, "True,  ");
  const auto back = read_npy(temporary(bytes), ir::array_shape(ir::Type::u8, {2, 3}));
  ASSERT_TRUE(back.ok()) << back.error().message;
  const uint8_t expected[] = {0, 2, 4, 1, 3, 5};
  EXPECT_EQ(std::memcmp(back->data.data(), expected, 6), 0);
}

TEST(Npy, MismatchNamesBothSides) {
  const auto back = read_npy(temporary(npy(counting(ir::Type::f32, {2, 3}))), ir::array_shape(ir::Type::f64, {3, 2}));
  ASSERT_FALSE(back.ok());
  EXPECT_NE(back.error().message.find("<f4[2,3]"), std::string::npos) << back.error().message;
  EXPECT_NE(back.error().message.find("<f8[3,2]"), std::string::npos) << back.error().message;
}

TEST(Npy, AnyDamageIsAnError) {
  const std::string good = npy(counting(ir::Type::f32, {2, 3}));
  for (size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_FALSE(read_npy(temporary(good.substr(0, cut)), ir::array_shape(ir::Type::f32, {2, 3})).ok());
  for (size_t i = 0; i < 64; ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x55);
    (void)read_npy(temporary(bad), ir::array_shape(ir::Type::f32, {2, 3})).ok();  // an Error or the array, no crash
  }
}

}  // namespace
}  // namespace replay
