// Jobs on the other thread: in order, and what goes wrong there is told here.
#include "src/model/background.h"

#include <gtest/gtest.h>

#include <new>
#include <vector>

namespace model {
namespace {

TEST(Background, DoesJobsInOrder) {
  std::vector<int> done;
  Background background;
  for (int i = 0; i < 100; ++i) {
    background.submit([&done, i]() -> base::Status {
      done.push_back(i);
      return {};
    });
  }
  ASSERT_TRUE(background.wait().ok());
  ASSERT_EQ(done.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[static_cast<size_t>(i)], i);
}

TEST(Background, AfterAFailureNoOtherJobRuns) {
  Background background;
  background.submit([]() -> base::Status { return base::Error{"full"}; });
  bool ran = false;
  background.submit([&ran]() -> base::Status {
    ran = true;
    return {};
  });
  const base::Status ended = background.wait();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().message, "full");
  EXPECT_FALSE(ran);
}

TEST(Background, WhatAJobThrowsIsThrownToTheOneWhoWaits) {
  Background background;
  background.submit([]() -> base::Status { throw std::bad_alloc(); });
  EXPECT_THROW((void)background.wait(), std::bad_alloc);
  EXPECT_THROW((void)background.status(), std::bad_alloc);
}

}  // namespace
}  // namespace model
