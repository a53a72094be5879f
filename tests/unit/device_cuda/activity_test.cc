// Records of CUPTI, walked by NVIDIA's own function where it is installed, and the steps that they are shared out to.
#include "replay/device/cuda/activity.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>

namespace replay::cuda {
namespace {

using Bytes = std::vector<uint8_t>;

template <typename T>
void set(Bytes& buffer, size_t at, T value) {
  std::memcpy(buffer.data() + at, &value, sizeof value);
}
/// Adds a record of `bytes` and gives the place where it begins.
size_t add(Bytes& buffer, uint32_t kind, size_t bytes) {
  const size_t at = buffer.size();
  buffer.resize(at + bytes);
  set(buffer, at, kind);
  return at;
}
void add_kernel(Bytes& buffer, uint32_t correlation, int64_t begin, int64_t end, uint64_t node = 0) {
  const size_t at = add(buffer, 10, 216);
  set(buffer, at + 16, begin), set(buffer, at + 24, end), set(buffer, at + 92, correlation), set(buffer, at + 144, node);
}
void add_copy(Bytes& buffer, uint32_t kind, uint32_t correlation, int64_t begin, int64_t end) {
  const size_t at = add(buffer, kind, kind == 1 ? 96 : 88);
  set(buffer, at + 16, begin), set(buffer, at + 24, end), set(buffer, at + 44, correlation);
}
void add_id(Bytes& buffer, uint32_t correlation, uint64_t id, uint32_t kind = 3) {
  const size_t at = add(buffer, 39, 24);
  set(buffer, at + 4, kind), set(buffer, at + 8, id), set(buffer, at + 16, correlation);
}

NextRecord real_next() {
  static void* const library = dlopen("/usr/local/cuda/lib64/libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<NextRecord>(dlsym(library, "cuptiActivityGetNextRecord"));
}

class CudaActivity : public testing::Test {
 protected:
  void SetUp() override {
    if (real_next() == nullptr) GTEST_SKIP() << "no libcupti.so.13 in /usr/local/cuda";
  }
};

TEST_F(CudaActivity, IdsMayStandInALaterBufferThanWhatTheyBelongTo) {
  std::vector<Bytes> buffers(2);
  add_kernel(buffers[0], 1, 1000, 1500);
  add_copy(buffers[0], 1, 2, 2000, 2100);
  add_copy(buffers[0], 2, 2, 2100, 2150);
  add_kernel(buffers[0], 77, 9000, 9100);  // of nobody
  add_id(buffers[1], 1, 11);
  add_id(buffers[1], 2, 12);
  add_id(buffers[1], 77, 99, 2);  // another's kind of id
  const Activity activity = read_activity(buffers, real_next());
  EXPECT_EQ(activity.operations.size(), 4u);
  const std::vector<Started> started{{5, 1, 1, 11}, {6, 2, 2, 12}};
  const auto samples = samples_of(activity, started);
  ASSERT_TRUE(samples.ok()) << samples.error().message;
  ASSERT_EQ(samples->size(), 2u);
  EXPECT_EQ((*samples)[0].step, 5);
  EXPECT_EQ((*samples)[0].begin_ns, 1000);
  EXPECT_EQ((*samples)[0].duration_ns, 500);
  EXPECT_EQ((*samples)[1].executions, 2);
  EXPECT_EQ((*samples)[1].duration_ns, 150);
}

TEST_F(CudaActivity, StepsOfAGraphHaveItsOperationsInTheirOrder) {
  std::vector<Bytes> buffers(1);
  add_kernel(buffers[0], 8, 3000, 3010, 702);  // records need not come in order
  add_kernel(buffers[0], 8, 1000, 1001, 700);
  add_kernel(buffers[0], 8, 2000, 2005, 701);
  add_id(buffers[0], 8, 4);
  const Activity activity = read_activity(buffers, real_next());
  EXPECT_TRUE(activity.operations[0].of_graph);
  const auto samples = samples_of(activity, std::vector<Started>{{0, 1, 2, 4}, {1, 1, 0, 4}, {2, 1, 1, 4}});
  ASSERT_TRUE(samples.ok()) << samples.error().message;
  EXPECT_EQ((*samples)[0].duration_ns, 6);
  EXPECT_EQ((*samples)[1].duration_ns, 0);
  EXPECT_EQ((*samples)[2].duration_ns, 10);
  EXPECT_EQ(samples_of(activity, std::vector<Started>{{0, 1, 1, 4}, {2, 1, 1, 4}}).error().message,
            "a graph of 2 operations has 3 records; use --mode stream");
}

TEST_F(CudaActivity, LostRecordsAreSaid) {
  std::vector<Bytes> buffers(1);
  add_kernel(buffers[0], 1, 1000, 1500);
  add_id(buffers[0], 1, 11);
  EXPECT_EQ(samples_of(read_activity(buffers, real_next()), std::vector<Started>{{3, 1, 2, 11}}).error().message,
            "step 3: CUPTI recorded 1 of 2 operations; use --mode events");
  add_kernel(buffers[0], 2, 0, 0);
  EXPECT_EQ(samples_of(read_activity(buffers, real_next()), {}).error().message,
            "CUPTI has no times for 1 operations: the GPU's own buffers were full; use --mode events");
  Bytes reversed;
  add_kernel(reversed, 1, 2000, 1500);
  EXPECT_EQ(read_activity(std::vector<Bytes>{reversed}, real_next()).without_times, 1);
}

TEST_F(CudaActivity, TimeSpentLoadingIsCounted) {
  std::vector<Bytes> buffers(1);
  const size_t at = add(buffers[0], 17, 56);
  set(buffers[0], at + 4, uint32_t{5u << 16}), set(buffers[0], at + 24, int64_t{1}), set(buffers[0], at + 32, int64_t{101});
  EXPECT_EQ(read_activity(buffers, real_next()).loading_ns, 100);
}

}  // namespace
}  // namespace replay::cuda
