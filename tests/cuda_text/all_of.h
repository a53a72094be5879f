// Modules of a test, on the host; what can't be planned is a failure of the test.
#pragma once

#include <gtest/gtest.h>

#include "tests/cuda_text/on_host.h"

namespace cuda_text {

inline void add_all(OnHost& run, const std::vector<std::string>& modules) {
  for (const std::string& text : modules) {
    const base::Status added = run.add(text);
    EXPECT_TRUE(added.ok()) << added.error().message << text;
  }
}

}  // namespace cuda_text
